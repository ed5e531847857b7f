//! A client of `--mode rpc`: writes commands, and keeps everything it reads.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::marked::DEADLINE;
use super::sandbox::Sandbox;

/// A running program and its client.
pub struct RpcClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Everything read so far, responses too.
    pub records: Vec<Value>,
    commands: usize,
}

impl RpcClient {
    pub fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::of(sandbox, &[&["--mode", "rpc"], arguments].concat())
    }

    /// Attaches to the running session, once its program can be reached.
    pub fn attach(sandbox: &Sandbox) -> Self {
        let started = Instant::now();
        while !sandbox
            .run(&["status", "--json"])
            .stdout
            .contains("\"socket\"")
        {
            assert!(started.elapsed() < DEADLINE, "no session to attach to");
        }
        Self::of(sandbox, &["attach", "--mode", "rpc"])
    }

    fn of(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = sandbox.tiller(arguments);
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let record = serde_json::from_str(&line.unwrap()).unwrap();
                if sender.send(record).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            records: Vec::new(),
            commands: 0,
        }
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Writes a line as it is.
    pub fn write(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Writes a command and returns its id.
    pub fn send(&mut self, mut command: Value) -> String {
        self.commands += 1;
        let id = format!("c{}", self.commands);
        command["id"] = json!(id);
        self.write(&command.to_string());
        id
    }

    /// Carries out a command and returns the response.
    #[track_caller]
    pub fn ask(&mut self, command: Value) -> Value {
        let id = self.send(command);
        self.response(&id)
    }

    /// The data of a command that succeeds.
    #[track_caller]
    pub fn data(&mut self, command: Value) -> Value {
        let response = self.ask(command);
        assert_eq!(response["success"], true, "{response}");
        response["data"].clone()
    }

    /// The error of a command that fails.
    #[track_caller]
    pub fn error(&mut self, command: Value) -> String {
        let response = self.ask(command);
        assert_eq!(response["success"], false, "{response}");
        response["error"].as_str().unwrap().to_owned()
    }

    /// Waits for the response to the command with this id.
    #[track_caller]
    pub fn response(&mut self, id: &str) -> Value {
        self.until(|record| record["type"] == "response" && record["id"] == id)
    }

    /// Waits for a record of this type.
    #[track_caller]
    pub fn until_type(&mut self, kind: &str) -> Value {
        self.until(|record| record["type"] == kind)
    }

    /// Waits for such a record.
    #[track_caller]
    pub fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let next = self.lines.recv_timeout(DEADLINE);
            let next = next.unwrap_or_else(|error| panic!("{error} after {:#?}", self.records));
            self.records.push(next.clone());
            if wanted(&next) {
                return next;
            }
        }
    }

    /// Sends a prompt, and waits until the agent is idle again. Returns the types of the events.
    #[track_caller]
    pub fn prompt(&mut self, text: &str) -> Vec<String> {
        let before = self.records.len();
        let sent = self.data(json!({"type": "prompt", "message": text}));
        assert_eq!(sent["disposition"], "started");
        self.until_type("agent_settled");
        let types = self.records[before..].iter();
        types
            .map(|record| record["type"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Closes stdin and waits for the exit code.
    pub fn close(mut self) -> Option<i32> {
        self.stdin = None;
        self.child.wait().unwrap().code()
    }

    /// Waits for the exit code, with stdin open.
    pub fn wait_exit(mut self) -> Option<i32> {
        let stdin = self.stdin.take();
        let status = self.child.wait().unwrap();
        drop(stdin);
        status.code()
    }

    /// Sends a signal and waits for the exit code.
    pub fn end_by(mut self, signal: Signal) -> Option<i32> {
        kill(Pid::from_raw(self.pid()), signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for RpcClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
