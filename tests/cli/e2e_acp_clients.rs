//! An editor's session beside other programs, signals and an editor that doesn't read.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc::channel;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::support::acp::{AcpClient, text_of};
use crate::support::job;
use crate::support::marked::DEADLINE;
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::rpc::RpcClient;
use crate::support::sandbox::Sandbox;

fn start(replies: Vec<Reply>) -> (ModelServer, Sandbox, AcpClient) {
    let (server, sandbox) = job::stage_with(replies);
    let client = AcpClient::start(&sandbox, &["-m", Wire::Anthropic.model()]);
    (server, sandbox, client)
}

fn sleep() -> Reply {
    Reply::call("bash", json!({"command": "sleep 1000"}))
}

#[test]
fn the_editor_stops_a_run_that_another_program_started() {
    let (_server, sandbox, mut client) = start(vec![sleep()]);
    let session = client.new_session(&sandbox);
    let mut other = RpcClient::attach(&sandbox);
    other.data(json!({"type": "prompt", "message": "wait"}));
    client.until_update("tool_call");
    client.notify("session/cancel", json!({"sessionId": session}));
    other.until_type("agent_settled");
    sandbox.wait_no_processes(&[client.pid(), other.pid()]);
}

#[test]
fn what_another_program_sent_goes_on_after_a_stop() {
    let (server, sandbox, mut client) = start(vec![sleep(), Reply::text("Later.")]);
    let session = client.new_session(&sandbox);
    RpcClient::attach(&sandbox).close();
    let id = client.send_prompt(&session, "wait");
    client.until_update("tool_call");
    let ran = sandbox.run(&["steer", &session, "Mind the tests"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.response(id)["result"]["stopReason"], "cancelled");
    client.until(|record| record.to_string().contains("Later."));
    assert_eq!(server.request(1).last_user(), "Mind the tests");
}

#[test]
fn a_thread_keeps_its_session() {
    let (_server, sandbox, mut client) = start(Vec::new());
    let session = client.new_session(&sandbox);
    let (_, updates) = client.prompt(&session, "/new");
    let said = text_of(&updates, "agent_message_chunk");
    assert!(said.contains("a thread of an editor"), "{said}");
    let mut other = RpcClient::attach(&sandbox);
    let refused = other.error(json!({"type": "new_session"}));
    assert!(refused.contains("a thread of an editor"), "{refused}");
}

#[test]
fn a_closed_session_loads_again_at_once() {
    let (_server, sandbox, mut client) = start(vec![Reply::text("ok")]);
    let session = client.new_session(&sandbox);
    client.prompt(&session, "hello");
    let closed = client.send("session/close", json!({"sessionId": session}));
    let params = json!({"sessionId": session, "cwd": sandbox.path(), "mcpServers": []});
    let loaded = client.send("session/load", params);
    for id in [closed, loaded] {
        let response = client.response(id);
        assert!(response.get("error").is_none(), "{response}");
    }
}

#[test]
fn a_steering_signal_ends_nothing() {
    let (_server, sandbox, mut client) = start(Vec::new());
    kill(Pid::from_raw(client.pid()), Signal::SIGUSR1).unwrap();
    client.new_session(&sandbox);
    assert_eq!(client.close(), Some(0));
}

#[test]
fn an_editor_that_does_not_read_can_stop_tiller() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let mut command = sandbox.tiller(&["acp"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (written, count) = channel();
    std::thread::spawn(move || {
        let params = json!({"pad": "x".repeat(1000)});
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        while stdin.write_all(format!("{line}\n").as_bytes()).is_ok() && written.send(()).is_ok() {}
    });
    // More than tiller can answer if nobody reads.
    for _ in 0..300 {
        count.recv_timeout(DEADLINE).unwrap();
    }
    // Only the first answer is read.
    let mut stdout = child.stdout.take().unwrap();
    let mut byte = [0];
    while byte != *b"\n" {
        stdout.read_exact(&mut byte).unwrap();
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
}
