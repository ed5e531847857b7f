//! A headless Chromium, driven over a pair of pipes with the DevTools protocol. A test opens a
//! page, inspects it and presses keys as a user would. No other program and no network is needed.
//!
//! Not every machine has a browser. Where it's missing, [`Browser::start`] says so and the test
//! that wanted it ends.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Names the browser to use.
const VARIABLE: &str = "TILLER_CHROMIUM";
const PROGRAMS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
const TIMEOUT: Duration = Duration::from_mins(1);

/// A browser with one page.
pub struct Browser {
    child: Child,
    orders: ChildStdin,
    messages: Receiver<Value>,
    /// What the page did, until somebody looks.
    events: VecDeque<Value>,
    number: u64,
    page: Value,
    _home: TempDir,
}

impl Browser {
    /// Starts a browser. Returns none, with a note on stderr, where there's no Chromium.
    #[expect(
        clippy::print_stderr,
        reason = "a skipped test must not look like one that passed"
    )]
    pub fn start() -> Option<Self> {
        let Some(program) = find() else {
            eprintln!("SKIPPED: no Chromium; set {VARIABLE} to one, or put it on PATH");
            return None;
        };
        let home = tempfile::tempdir().unwrap();
        // The browser reads commands from descriptor 3 and answers on 4.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            ])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--disable-dev-shm-usage", "--disable-background-networking"])
            .arg("--host-resolver-rules=MAP * ~NOTFOUND")
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", home.path().display()))
            .env("HOME", home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in answers.split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            child,
            orders,
            messages,
            events: VecDeque::new(),
            number: 0,
            page: Value::Null,
            _home: home,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.page = browser.call("Target.attachToTarget", attach)["sessionId"].take();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.set_size(1280, 900);
        Some(browser)
    }

    /// Opens a file and waits until it's fully loaded.
    pub fn open(&mut self, file: &Path) {
        let file = file.canonicalize().unwrap();
        self.events.clear();
        let url = format!("file://{}", file.display());
        self.call("Page.navigate", json!({"url": url}));
        self.wait_for("Page.loadEventFired");
    }

    /// The value of a JavaScript expression. Awaits promises.
    pub fn eval(&mut self, expression: &str) -> Value {
        let order = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
        });
        let mut answer = self.call("Runtime.evaluate", order);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer:#}"
        );
        answer["result"]["value"].take()
    }

    /// Waits until a JavaScript expression is true.
    pub fn wait_until(&mut self, expression: &str) {
        let promise = format!(
            "new Promise((done) => {{ const look = () => ({expression}) ? done(true) : \
             requestAnimationFrame(look); setTimeout(() => done(false), 10000); look(); }})"
        );
        assert_eq!(self.eval(&promise), true, "never true: {expression}");
    }

    /// Presses a key: a letter, or a named key such as `Enter`.
    pub fn key(&mut self, key: &str) {
        let (text, code) = match key {
            "Enter" => ("\r", 13),
            "Escape" => ("", 27),
            "Tab" => ("", 9),
            letter => (letter, 0),
        };
        let mut order = json!({
            "type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code,
        });
        self.call("Input.dispatchKeyEvent", order.clone());
        order["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", order);
    }

    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Overrides a media feature, such as `prefers-color-scheme`.
    pub fn set_media(&mut self, feature: &str, value: &str) {
        let features = json!([{"name": feature, "value": value}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Switches JavaScript on or off for pages opened after this.
    pub fn set_scripts(&mut self, on: bool) {
        self.call(
            "Emulation.setScriptExecutionDisabled",
            json!({"value": !on}),
        );
    }

    /// Sets the width and height of the window.
    pub fn set_size(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// What the page did that our pages must never do: dialogs, windows, requests, errors, and
    /// anything the content security policy blocked.
    pub fn misdeeds(&mut self) -> Vec<String> {
        // Once this is answered, the browser has reported everything that happened before.
        self.eval("1");
        let mut misdeeds = Vec::new();
        for event in &self.events {
            let params = &event["params"];
            let local = |url: &Value| {
                let url = url.as_str().unwrap_or_default();
                url.starts_with("file:") || url.starts_with("data:image/")
            };
            let bad = match event["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => !local(&params["request"]["url"]),
                "Page.javascriptDialogOpening"
                | "Page.windowOpen"
                | "Runtime.exceptionThrown"
                | "Runtime.consoleAPICalled"
                | "Log.entryAdded" => true,
                _ => false,
            };
            if bad {
                misdeeds.push(event.to_string());
            }
        }
        misdeeds
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let mut order = json!({"id": self.number, "method": method, "params": params});
        if !self.page.is_null() {
            order["sessionId"] = self.page.clone();
        }
        let mut order = order.to_string().into_bytes();
        order.push(0);
        self.orders.write_all(&order).unwrap();
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let mut message = self.message(deadline, method);
            if message["id"] == self.number {
                assert!(message["error"].is_null(), "{method}: {message:#}");
                return message["result"].take();
            }
            self.note(message);
        }
    }

    fn wait_for(&mut self, event: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while !self.events.iter().any(|it| it["method"] == event) {
            let message = self.message(deadline, event);
            self.note(message);
        }
    }

    fn note(&mut self, event: Value) {
        // A dialog blocks the page until somebody answers it.
        if event["method"] == "Page.javascriptDialogOpening" {
            self.number += 1;
            let order = json!({"id": self.number, "sessionId": self.page,
                "method": "Page.handleJavaScriptDialog", "params": {"accept": false}});
            self.orders
                .write_all(format!("{order}\0").as_bytes())
                .unwrap();
        }
        self.events.push_back(event);
    }

    fn message(&self, deadline: Instant, wanted: &str) -> Value {
        let left = deadline.saturating_duration_since(Instant::now());
        let message = self.messages.recv_timeout(left);
        message.unwrap_or_else(|error| panic!("the browser never answered {wanted}: {error}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self
            .orders
            .write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        // The child is the browser itself; its helpers exit with it.
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline
            && self.messages.recv_timeout(Duration::from_secs(5)).is_ok()
        {}
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find() -> Option<OsString> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(named);
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut programs = PROGRAMS
        .iter()
        .flat_map(|name| folders.iter().map(move |it| it.join(name)));
    programs
        .find(|program| program.is_file())
        .map(PathBuf::into_os_string)
}
