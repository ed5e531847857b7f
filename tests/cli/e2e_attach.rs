//! Several programs at one session: `tiller attach`, with and without `--mode rpc`.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::job;
use crate::support::model_server::{Failure, Reply, Wire};
use crate::support::rpc::RpcClient;
use crate::support::screen::Launch;

fn model() -> &'static str {
    Wire::Anthropic.model()
}

/// The events among the records of a client, without those before its first prompt.
fn events(client: &RpcClient) -> Vec<&Value> {
    let numbered = client.records.iter().filter(|it| it["seq"].is_number());
    numbered
        .skip_while(|it| it["type"] != "agent_start")
        .collect()
}

#[test]
fn three_clients_see_the_same_events_in_the_same_order() {
    let push = Reply::call("bash", json!({"command": "git push origin main"}));
    let slow = Reply::text("a b c d").gate("on");
    let replies = vec![Reply::text("Hello."), push, Reply::text("Refused."), slow];
    let (server, sandbox) = job::stage_with(replies);
    let sandbox = sandbox.with_default_mode();
    sandbox.git_init();
    let mut owner = RpcClient::start(&sandbox, &["-m", model()]);
    owner.data(json!({"type": "get_state"}));
    let mut second = RpcClient::attach(&sandbox);
    let mut third = RpcClient::attach(&sandbox);
    for client in [&mut second, &mut third] {
        let state = client.data(json!({"type": "get_state"}));
        assert_eq!(state["isStreaming"], false);
    }
    second.prompt("Greet me.");
    owner.until_type("agent_settled");
    third.until_type("agent_settled");

    // Each sees the question, one answers it.
    third.data(json!({"type": "prompt", "message": "Push."}));
    let asked = owner.until_type("extension_ui_request");
    assert_eq!(second.until_type("extension_ui_request"), asked);
    let answer = json!({"type": "extension_ui_response", "id": asked["id"], "value": "No"});
    second.write(&answer.to_string());
    for client in [&mut owner, &mut second, &mut third] {
        client.until_type("agent_settled");
    }
    // An answer that comes late is none.
    owner.write(&answer.to_string());

    // One starts a run, another queues a message, the third stops the run. Only the owner sends on what the
    // stop returned.
    server.push(Reply::text("Later."));
    owner.data(json!({"type": "prompt", "message": "Count."}));
    third.until(|it| it["type"] == "message_update");
    second.data(json!({"type": "follow_up", "message": "And then?"}));
    third.data(json!({"type": "abort"}));
    for client in [&mut owner, &mut second, &mut third] {
        client.until(|it| it["type"] == "message_end" && it.to_string().contains("Later."));
        client.until_type("agent_settled");
    }
    let sent = server.requests();
    assert!(sent[4].last_user().ends_with("And then?"));
    assert_eq!(sent.len(), 5);

    let seen = events(&owner);
    assert_eq!(seen, events(&second));
    assert_eq!(seen, events(&third));
    // One leaves; the session goes on.
    assert_eq!(third.close(), Some(0));
    let listed = second.data(json!({"type": "get_messages"}));
    assert!(listed.to_string().contains("Greet me."));
    // The owner leaves, and with it the session.
    assert_eq!(owner.close(), Some(0));
    assert_eq!(second.close(), Some(0));
}

#[test]
fn a_screen_is_watched_and_steered_as_text() {
    let call = Reply::call(
        "ask_user",
        json!({"question": "Which?", "choices": ["red", "blue"]}),
    );
    let (_server, sandbox) = job::stage_with(vec![call, Reply::text("Blue it is.")]);
    let screen = Launch::new(&sandbox).args(&["-m", model()]).start();
    screen.wait_for("─ runs everything");
    RpcClient::attach(&sandbox).close();
    let mut attached = sandbox.tiller(&["attach"]);
    let mut attached = attached.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = attached.stdin.take().unwrap();
    let mut lines = BufReader::new(attached.stdout.take().unwrap()).lines();
    let mut until = |end: &str| -> Vec<String> {
        let mut read = Vec::new();
        while read.last().is_none_or(|line| line != end) {
            read.push(lines.next().unwrap().unwrap());
        }
        read
    };
    stdin.write_all("Ask me.\n".as_bytes()).unwrap();
    let end = "Type a number or a text.";
    let read = until(end).join("\n");
    let asked = "> Ask me.\n• ask_user Which?\n? Which?\n  1. red\n  2. blue\n";
    assert!(read.ends_with(&format!("{asked}{end}")), "{read}");
    // A number this soon might be meant for something else.
    stdin.write_all("blue\n".as_bytes()).unwrap();
    screen.wait_for("Blue it is.");
    until("Blue it is.");
    // During a run it would ask first.
    screen.wait_gone("Esc stops");
    screen.keys("/quit\r");
    assert_eq!(attached.wait().unwrap().code(), Some(0));
}

#[test]
fn a_second_screen_shows_and_steers_the_same_session() {
    let call = Reply::call("bash", json!({"command": "git push origin main"}));
    let replies = vec![Reply::text("Hello."), call];
    let (server, sandbox) = job::stage_with(replies);
    let sandbox = sandbox.with_default_mode();
    sandbox.git_init();
    let first = Launch::new(&sandbox).args(&["-m", model()]).start();
    first.wait_for("Ask for anything");
    first.keys("Greet me.<enter>");
    first.wait_for("Hello.");
    RpcClient::attach(&sandbox).close();

    let second = Launch::new(&sandbox).args(&["attach"]).size(60, 20).start();
    second.wait_for("Hello.");
    second.keys("Push.<enter>");
    // Both ask; the answer of one closes the other's question.
    first.wait_for("Yes, once");
    second.wait_for("Yes, once");
    second.resize(100, 30);
    second.wait_until("the new size", |view| view.size() == (100, 30));
    second.keys("<esc>");
    first.wait_gone("Yes, once");
    second.wait_gone("Yes, once");

    // What it queued comes back to it alone.
    server.push(Reply::text("a b c").gate("on"));
    second.keys("Count.<enter>");
    server.wait_gate("on");
    second.keys("and later<a-enter>");
    first.wait_for("and later");
    second.keys("<esc>");
    second.wait_for("│ and later");
    first.wait_gone("and later");
    second.keys("<c-c>");
    second.wait_for("Ask for anything");

    // It leaves without stopping anything, and gives the terminal back.
    second.keys("<c-d>");
    assert_eq!(second.wait_exit().code, 0);
    assert_eq!(second.leftovers(), Vec::<String>::new());
    first.keys("still here");
    first.wait_for("still here");
    first.keys("<c-c>");

    // The session ends while a screen is attached, even by SIGKILL.
    let third = Launch::new(&sandbox).args(&["attach"]).start();
    third.wait_for("Hello.");
    first.signal(Signal::SIGKILL);
    third.wait_exit();
    assert_eq!(third.leftovers(), Vec::<String>::new());
    assert!(
        third.text().contains("lost the connection to the session"),
        "{}",
        third.text()
    );
}

/// The dialog about a session that is open elsewhere leads there.
#[test]
fn a_screen_leaves_its_session_to_attach_to_another() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("Hello.")]);
    let first = Launch::new(&sandbox).args(&["-m", model()]).start();
    first.wait_for("Ask for anything");
    first.keys("Greet me.<enter>");
    first.wait_for("Hello.");
    RpcClient::attach(&sandbox).close();

    let second = Launch::new(&sandbox).args(&["-m", model()]).start();
    second.wait_for("Ask for anything");
    second.keys("/resume<enter>");
    second.wait_for("Greet me.");
    second.keys("<enter>");
    second.wait_for("Continue in a copy");
    second.wait_for("Esc cancel");
    second.keys("<down>");
    second.wait_for("Enter confirm");
    second.keys("<enter>");
    second.wait_for("Hello.");
    second.keys("typed there");
    second.wait_for("typed there");
    second.keys("<c-c><c-d>");
    assert_eq!(second.wait_exit().code, 0);
    assert_eq!(second.leftovers(), Vec::<String>::new());
    first.keys("still here");
    first.wait_for("still here");
}

#[test]
fn trust_on_one_screen_ends_the_offer_on_the_other() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    sandbox.write("AGENTS.md", "Use tabs.");
    let first = Launch::new(&sandbox).args(&["-m", model()]).start();
    first.wait_for("/trust no dismiss");
    RpcClient::attach(&sandbox).close();
    let second = Launch::new(&sandbox).args(&["attach"]).start();
    second.wait_for("Ask for anything");
    second.keys("/trust<enter>");
    second.wait_for("From your next message on: AGENTS.md");
    first.wait_gone("/trust no dismiss");
}

#[test]
fn what_follows_a_killed_inline_screen_is_below_it() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("Hello.")]);
    let arguments = ["--inline", "-m", model()];
    let first = Launch::new(&sandbox).args(&arguments).start();
    first.keys("Greet me.<enter>");
    first.wait_for("Hello.");
    RpcClient::attach(&sandbox).close();
    let second = Launch::new(&sandbox).args(&["attach"]).start();
    second.wait_for("Ask for anything");
    first.signal(Signal::SIGKILL);
    second.wait_exit();
    assert_eq!(second.leftovers(), Vec::<String>::new());
    let text = second.text();
    let row = |wanted: &str| text.lines().position(|line| line.contains(wanted));
    let (prompt, after) = (row("Ask for anything"), row("lost the connection"));
    assert!(prompt.is_some() && prompt < after, "{text}");
}

#[test]
fn what_came_back_to_a_screen_that_hangs_up_is_kept() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("a b c").gate("on")]);
    let first = Launch::new(&sandbox).args(&["-m", model()]).start();
    first.wait_for("Ask for anything");
    RpcClient::attach(&sandbox).close();
    let second = Launch::new(&sandbox).args(&["attach"]).start();
    second.wait_for("Ask for anything");
    second.keys("Count.<enter>");
    server.wait_gate("on");
    second.keys("and later<a-enter>");
    first.wait_for("and later");
    second.keys("<esc>");
    second.wait_for("│ and later");
    first.wait_gone("and later");
    second.signal(Signal::SIGKILL);
    second.wait_exit();
    first.signal(Signal::SIGTERM);
    first.wait_exit();
    // From the draft of either screen, or the session's queue.
    let args = ["-c", "-m", model()];
    let again = Launch::new(&sandbox).args(&args).start();
    again.wait_for("and later");
}

#[test]
fn a_screen_whose_session_ends_shows_what_was_not_sent() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let mut owner = RpcClient::start(&sandbox, &["-m", model()]);
    owner.data(json!({"type": "get_state"}));
    RpcClient::attach(&sandbox).close();
    let screen = Launch::new(&sandbox).args(&["attach"]).start();
    screen.wait_for("Ask for anything");
    screen.keys("half a thought");
    screen.wait_for("half a thought");
    assert_eq!(owner.close(), Some(0));
    assert_eq!(screen.wait_exit().code, 0);
    let shown = screen.text();
    assert!(shown.contains("not sent, comes back"), "{shown}");
    assert!(shown.contains("half a thought"));
    assert_eq!(screen.leftovers(), Vec::<String>::new());

    let screen = Launch::new(&sandbox).args(&["-m", model()]).start();
    screen.wait_for("half a thought");
}

#[test]
fn a_command_of_the_session_cannot_attach() {
    let attach = format!("setsid {} attach --mode rpc", env!("CARGO_BIN_EXE_tiller"));
    let call = Reply::call("bash", json!({"command": attach}));
    let (server, sandbox) = job::stage_with(vec![call, Reply::text("Refused.")]);
    let mut client = RpcClient::start(&sandbox, &["-m", model()]);
    RpcClient::attach(&sandbox).close();
    client.prompt("Approve it yourself.");
    let result = server.requests()[1].results().concat();
    assert!(
        result.contains("a command of a session can't attach"),
        "{result}"
    );
}

#[test]
fn attaching_fails_with_a_reason() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("one").gate("on")]);
    let ran = sandbox.run(&["attach"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(
        ran.stderr.contains("no session is running"),
        "{}",
        ran.stderr
    );
    let mut print = sandbox.tiller(&["-p", "-m", model(), "Count."]);
    let print = print.spawn().unwrap();
    server.wait_gate("on");
    RpcClient::attach(&sandbox).close();
    let ran = sandbox.run(&["attach"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(
        ran.stderr.contains("prints one answer and ends"),
        "{}",
        ran.stderr
    );
    server.release("on");
    assert_eq!(print.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn what_is_piped_in_is_answered() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let mut owner = RpcClient::start(&sandbox, &["-m", model()]);
    owner.data(json!({"type": "get_state"}));
    RpcClient::attach(&sandbox).close();
    let ran = sandbox.run_with(&["attach"], Some("/status\n"));
    assert!(ran.stdout.contains(model()), "{ran:#?}");
    let status = json!({"type": "prompt", "message": "/status", "id": 1});
    let ran = sandbox.run_with(&["attach", "--mode", "rpc"], Some(&format!("{status}\n")));
    assert!(ran.stdout.contains("\"handled\""), "{ran:#?}");

    // A command may come with the request to attach.
    let status = sandbox.run(&["status", "--json"]).stdout;
    let status: Value = serde_json::from_str(&status).unwrap();
    let mut stream = UnixStream::connect(status[0]["socket"].as_str().unwrap()).unwrap();
    let lines = "{\"type\":\"tiller_attach\"}\n{\"id\":7,\"type\":\"get_state\"}\n";
    stream.write_all(lines.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let last = lines.last().unwrap();
    assert!(last.contains("\"id\":7"), "{last}");
}

#[test]
fn a_clients_command_ends_with_it() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let mut owner = RpcClient::start(&sandbox, &["-m", model()]);
    owner.data(json!({"type": "get_state"}));
    let mut guest = RpcClient::attach(&sandbox);
    guest.send(json!({"type": "bash", "command": "echo up; sleep 1000"}));
    guest.until_type("bash_execution_update");
    drop(guest);
    sandbox.wait_no_processes(&[owner.pid()]);
}

#[test]
fn a_killed_session_is_a_failure() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let mut owner = RpcClient::start(&sandbox, &["-m", model()]);
    owner.data(json!({"type": "get_state"}));
    let mut guest = RpcClient::attach(&sandbox);
    guest.data(json!({"type": "get_state"}));
    owner.end_by(Signal::SIGKILL);
    assert_eq!(guest.wait_exit(), Some(1));
}

#[test]
fn retries_that_a_client_turned_off_can_be_turned_on_again() {
    let replies = vec![Reply::error(Failure::Overloaded), Reply::text("Back.")];
    let (_server, sandbox) = job::stage_with(replies);
    let quick = ["-m", model(), "--config", "retry.base_ms=1"];
    let mut owner = RpcClient::start(&sandbox, &quick);
    owner.data(json!({"type": "get_state"}));
    let mut guest = RpcClient::attach(&sandbox);
    guest.data(json!({"type": "set_auto_retry", "enabled": false}));
    guest.close();
    owner.data(json!({"type": "set_auto_retry", "enabled": true}));
    owner.prompt("hi");
    let said = owner.data(json!({"type": "get_last_assistant_text"}));
    assert_eq!(said["text"], "Back.");
}
