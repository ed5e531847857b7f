//! A client of `tiller acp`: sends requests, and keeps everything it reads.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use super::marked::DEADLINE;
use super::sandbox::Sandbox;

/// A running program and its client.
pub struct AcpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Everything read so far.
    pub records: Vec<Value>,
    requests: u64,
}

impl AcpClient {
    /// Starts tiller and introduces itself.
    pub fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = sandbox.tiller(&[&["acp"], arguments].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
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
        let mut client = Self {
            stdin: child.stdin.take(),
            child,
            lines,
            records: Vec::new(),
            requests: 0,
        };
        let params = json!({"protocolVersion": 1, "clientCapabilities": {}});
        let answer = client.result("initialize", params);
        assert_eq!(answer["protocolVersion"], 1);
        client
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Writes a line as it is.
    pub fn write(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a request and returns its id.
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&request.to_string());
        id
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let notification = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.write(&notification.to_string());
    }

    /// Waits for the response to the request with this id.
    #[track_caller]
    pub fn response(&mut self, id: u64) -> Value {
        self.until(|record| record["id"] == id && record.get("method").is_none())
    }

    /// The result of a request that succeeds.
    #[track_caller]
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let response = self.response(id);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// Code and message of a request that fails.
    #[track_caller]
    pub fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let id = self.send(method, params);
        let response = self.response(id);
        let error = &response["error"];
        assert!(error.is_object(), "{response}");
        let message = error["message"].as_str().unwrap().to_owned();
        (error["code"].as_i64().unwrap(), message)
    }

    /// Opens a new session in the sandbox's project and returns its id.
    #[track_caller]
    pub fn new_session(&mut self, sandbox: &Sandbox) -> String {
        let params = json!({"cwd": sandbox.path(), "mcpServers": []});
        let opened = self.result("session/new", params);
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    /// Sends a prompt and returns the id of the request.
    pub fn send_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        let params = json!({"sessionId": session, "prompt": prompt});
        self.send("session/prompt", params)
    }

    /// Sends a prompt, waits for its end, and returns the stop reason and the updates.
    #[track_caller]
    pub fn prompt(&mut self, session: &str, text: &str) -> (String, Vec<Value>) {
        let before = self.records.len();
        let id = self.send_prompt(session, text);
        let response = self.response(id);
        let reason = response["result"]["stopReason"].as_str();
        let reason = reason.unwrap_or_else(|| panic!("{response}")).to_owned();
        (reason, self.updates(before, session))
    }

    /// The session's updates among the records from `first` on.
    pub fn updates(&self, first: usize, session: &str) -> Vec<Value> {
        let records = self.records[first..].iter();
        let updates = records.filter(|record| {
            record["method"] == "session/update" && record["params"]["sessionId"] == session
        });
        updates
            .map(|record| record["params"]["update"].clone())
            .collect()
    }

    /// Waits for the next update of this kind.
    #[track_caller]
    pub fn until_update(&mut self, kind: &str) -> Value {
        self.until(|record| record["params"]["update"]["sessionUpdate"] == kind)["params"]["update"]
            .clone()
    }

    /// Waits for the next request for permission, and answers with this option of it. Returns the
    /// request.
    #[track_caller]
    pub fn permit(&mut self, option: &str) -> Value {
        let request = self.until(|record| record["method"] == "session/request_permission");
        let outcome = json!({"outcome": "selected", "optionId": option});
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}});
        self.write(&answer.to_string());
        request["params"].clone()
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

    /// Closes stdin and waits for the exit code.
    pub fn close(mut self) -> Option<i32> {
        self.stdin = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for AcpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The joined texts of the updates of this kind.
pub fn text_of(updates: &[Value], kind: &str) -> String {
    let chunks = updates.iter().filter(|it| it["sessionUpdate"] == kind);
    let texts = chunks.filter_map(|it| it["content"]["text"].as_str());
    texts.collect()
}
