//! The server: one thread with its own runtime, and one task per connection. A test uses blocking
//! calls with a deadline.

use std::collections::{HashMap, HashSet};
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};

use super::anthropic::{self, Prefix};
use super::failure::Failure;
use super::http::{Broken, Incoming, Outgoing, Raw};
use super::play::Stage;
use super::record::Recorded;
use super::script::{Cut, Reply, Script, Usage};
use super::wire::Wire;

/// How long any wait may take. Generous, for loaded machines.
const DEADLINE: Duration = Duration::from_mins(2);

/// A running server. Stops when dropped.
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the tasks and the test share.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Wakes tests: something was recorded.
    changed: Condvar,
    /// Wakes tasks: a gate was opened.
    opened: Notify,
}

struct State {
    script: Script,
    used: Vec<bool>,
    requests: Vec<Recorded>,
    /// Gates that are open, and gates that a reply has reached.
    open: HashSet<String>,
    reached: HashSet<String>,
    /// Thinking signatures this server issued, with the thinking each one signs.
    issued: HashMap<String, String>,
    /// What preceded each signature, on the wire that binds them.
    made: HashMap<String, Vec<Prefix>>,
    /// Drops mismatched thinking if the client asks for it. Otherwise the server rejects a changed
    /// prefix anyway: no test may change one by mistake.
    drop_mismatches: bool,
    /// Checks requests against no rules.
    is_lenient: bool,
    expect_refusals: bool,
    /// Maximum tokens of a request, if the server counts them.
    window: Option<u64>,
    /// Tokens of the largest request that it answered.
    largest: u64,
}

/// This many bytes of a request are one token.
const BYTES_PER_TOKEN: u64 = 4;
/// How many bodies to keep while counting tokens. Such tests send thousands of requests.
const KEPT_BODIES: usize = 4;

impl ModelServer {
    pub fn start(script: Script) -> Self {
        Self::start_at(script, "127.0.0.1:0")
    }

    /// Starts a server at this address. With `:0` the system chooses the port.
    pub fn start_at(script: Script, address: &str) -> Self {
        let listener = StdListener::bind(address).expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                used: vec![false; script.replies.len()],
                script,
                requests: Vec::new(),
                open: HashSet::new(),
                reached: HashSet::new(),
                issued: HashMap::new(),
                made: HashMap::new(),
                drop_mismatches: false,
                is_lenient: false,
                expect_refusals: false,
                window: None,
                largest: 0,
            }),
            changed: Condvar::new(),
            opened: Notify::new(),
        });
        let (stop, stopped) = oneshot::channel();
        let served = shared.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).expect("a listener");
                tokio::select! {
                    () = accept(listener, served) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            shared,
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL of a wire, as its environment variable expects it.
    pub fn url(&self, wire: Wire) -> String {
        match wire {
            Wire::Anthropic | Wire::Google => format!("http://{}", self.address),
            Wire::Chat | Wire::Responses => format!("http://{}/v1", self.address),
        }
    }

    /// The environment variables that point tiller to this server.
    pub fn env(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ANTHROPIC_BASE_URL", self.url(Wire::Anthropic)),
            ("ANTHROPIC_API_KEY", "test-key-anthropic".to_owned()),
            ("OPENAI_BASE_URL", self.url(Wire::Responses)),
            ("OPENAI_API_KEY", "test-key-openai".to_owned()),
            ("GROQ_BASE_URL", self.url(Wire::Chat)),
            ("GROQ_API_KEY", "test-key-groq".to_owned()),
            ("GEMINI_BASE_URL", self.url(Wire::Google)),
            ("GEMINI_API_KEY", "test-key-google".to_owned()),
        ]
    }

    /// Adds a reply after the others.
    pub fn push(&self, reply: Reply) {
        let mut state = self.shared.lock();
        state.script.replies.push(reply);
        state.used.push(false);
    }

    /// Drops thinking whose prefix changed, if the client asks for that.
    pub fn drop_mismatches(&self) {
        self.shared.lock().drop_mismatches = true;
    }

    /// Checks requests against no rules, for programs other than tiller.
    pub fn be_lenient(&self) {
        let mut state = self.shared.lock();
        (state.is_lenient, state.expect_refusals) = (true, true);
    }

    /// Rejected and unexpected requests don't fail this test.
    pub fn expect_refusals(&self) {
        self.shared.lock().expect_refusals = true;
    }

    /// Counts and reports the tokens of each request. Rejects a request of more than `window`
    /// tokens as too long. Keeps only the bodies of the last requests.
    pub fn count_tokens(&self, window: u64) {
        self.shared.lock().window = Some(window);
    }

    /// Tokens of the largest request that it answered, while it counts them.
    pub fn largest(&self) -> u64 {
        self.shared.lock().largest
    }

    /// Opens a gate permanently.
    pub fn release(&self, gate: &str) {
        self.shared.lock().open.insert(gate.to_owned());
        self.shared.opened.notify_waiters();
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.lock().requests.clone()
    }

    /// Waits for request `number` (from 0).
    #[track_caller]
    pub fn request(&self, number: usize) -> Recorded {
        self.wait_requests(number + 1).swap_remove(number)
    }

    /// Waits for request `number` without a deadline. For people, not for tests.
    pub fn next_request(&self, number: usize) -> Recorded {
        let mut state = self.shared.lock();
        loop {
            if let Some(request) = state.requests.get(number) {
                return request.clone();
            }
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for `count` requests and returns all.
    #[track_caller]
    pub fn wait_requests(&self, count: usize) -> Vec<Recorded> {
        self.wait(&format!("{count} requests"), |state| {
            (state.requests.len() >= count).then(|| state.requests.clone())
        })
    }

    /// Waits until the client closes the connection of request `number` before the answer is
    /// complete. Returns when that was.
    #[track_caller]
    pub fn wait_disconnect(&self, number: usize) -> Instant {
        self.wait(&format!("request {number} to be given up"), |state| {
            state
                .requests
                .get(number)
                .and_then(|request| request.hung_up)
        })
    }

    /// Waits until the answer to request `number` is complete.
    #[track_caller]
    pub fn wait_answered(&self, number: usize) -> Instant {
        self.wait(&format!("request {number} to be answered"), |state| {
            state
                .requests
                .get(number)
                .and_then(|request| request.answered)
        })
    }

    /// True if a reply waits at a gate.
    pub fn has_reached(&self, gate: &str) -> bool {
        let state = self.shared.lock();
        state.reached.contains(gate) && !state.open.contains(gate)
    }

    /// Waits until a reply reaches a gate.
    #[track_caller]
    pub fn wait_gate(&self, gate: &str) {
        self.wait(&format!("a reply at gate {gate}"), |state| {
            state.reached.contains(gate).then_some(())
        });
    }

    #[track_caller]
    fn wait<T>(&self, what: &str, ready: impl Fn(&State) -> Option<T>) -> T {
        let end = Instant::now() + DEADLINE;
        let mut state = self.shared.lock();
        loop {
            if let Some(found) = ready(&state) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "timed out waiting for {what}; requests so far: {:#?}",
                summary(&state.requests)
            );
            state = self
                .shared
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let state = self.shared.lock();
        let refused: Vec<String> = summary(&state.requests)
            .into_iter()
            .filter(|line| line.contains("REFUSED"))
            .collect();
        assert!(
            refused.is_empty() || state.expect_refusals || std::thread::panicking(),
            "requests broke their vendor's rules: {refused:#?}"
        );
    }
}

fn summary(requests: &[Recorded]) -> Vec<String> {
    let line = |request: &Recorded| {
        let refused = request.refused.as_deref();
        format!(
            "{} {} {:?}{}",
            request.method,
            request.path,
            request.last_user().chars().take(60).collect::<String>(),
            refused.map_or(String::new(), |why| format!(" REFUSED: {why}"))
        )
    };
    requests.iter().map(line).collect()
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Returns when the gate is open.
    pub async fn pass(&self, gate: &str) {
        self.change(|state| {
            state.reached.insert(gate.to_owned());
        });
        loop {
            let opened = self.opened.notified();
            tokio::pin!(opened);
            opened.as_mut().enable();
            if self.lock().open.contains(gate) {
                return;
            }
            opened.await;
        }
    }

    /// Remembers a thinking signature in an answer to `request`, after the thinking in `behind`.
    pub fn issue(&self, signature: &str, thinking: &str, request: &Recorded, behind: &[String]) {
        let mut state = self.lock();
        state
            .issued
            .insert(signature.to_owned(), thinking.to_owned());
        if request.wire == Some(Wire::Anthropic) {
            let prefix = Prefix::of_answer(&request.body, behind);
            state
                .made
                .entry(signature.to_owned())
                .or_default()
                .push(prefix);
        }
    }

    /// Records a request and chooses its reply.
    fn receive(&self, raw: Raw) -> (usize, Recorded, Script, Option<Reply>) {
        let mut state = self.lock();
        let mut request = Recorded {
            wire: Wire::of_path(&raw.path).filter(|_| raw.method == "POST"),
            body: serde_json::from_slice(&raw.body).unwrap_or(Value::Null),
            method: raw.method,
            path: raw.path,
            headers: raw.headers,
            raw_body: raw.body,
            began: raw.began,
            at: raw.at,
            refused: None,
            hung_up: None,
            answered: None,
        };
        let mut reply = None;
        if let Some(wire) = request.wire {
            let issued = |signature: &str, text: &str| {
                state
                    .issued
                    .get(signature)
                    .is_some_and(|known| known == text)
            };
            let made = |signature: &str| state.made.get(signature).cloned().unwrap_or_default();
            let bound = match wire {
                Wire::Anthropic
                    if !(state.drop_mismatches && anthropic::drops_mismatches(&request)) =>
                {
                    anthropic::check_binding(&request.body, &made)
                }
                _ => Ok(()),
            };
            let checked = wire.check(&request, &issued);
            let checked = checked.and(bound.map_err(|message| (400, message)));
            match checked.or_else(|broken| state.is_lenient.then_some(()).ok_or(broken)) {
                Err((status, message)) => {
                    request.refused = Some(message.clone());
                    let body = wire.refusal(status, &message);
                    reply = Some(Reply::http(status, "application/json", &body));
                }
                Ok(()) if state.window.is_some_and(|window| tokens(&request) > window) => {
                    reply = Some(Reply::error(Failure::Overflow));
                }
                Ok(()) => match choose(&mut state, &request.last_user()) {
                    Some(chosen) => reply = Some(state.counted(&request, chosen)),
                    None => {
                        let message = "the script has no reply left for this request";
                        request.refused = Some(message.to_owned());
                        let body = wire.refusal(400, message);
                        reply = Some(Reply::http(400, "application/json", &body));
                    }
                },
            }
        }
        state.requests.push(request.clone());
        let number = state.requests.len() - 1;
        state.forget_bodies();
        let pace = Script {
            replies: Vec::new(),
            ..state.script
        };
        let answer = (number, request, pace, reply);
        drop(state);
        self.changed.notify_all();
        answer
    }
}

/// The tokens of a request.
fn tokens(request: &Recorded) -> u64 {
    request.raw_body.len() as u64 / BYTES_PER_TOKEN
}

impl State {
    /// Adds the request's tokens to the reply, if the server counts them.
    fn counted(&mut self, request: &Recorded, reply: Reply) -> Reply {
        if self.window.is_none() || reply.error.is_some() || reply.usage.is_some() {
            return reply;
        }
        self.largest = self.largest.max(tokens(request));
        reply.usage(Usage {
            input: tokens(request),
            output: 50,
            ..Usage::default()
        })
    }

    fn forget_bodies(&mut self) {
        if self.window.is_none() {
            return;
        }
        if let Some(old) = self.requests.len().checked_sub(KEPT_BODIES + 1) {
            self.requests[old].body = Value::Null;
            self.requests[old].raw_body = Vec::new();
        }
        let mut used = std::mem::take(&mut self.used).into_iter();
        (self.script.replies).retain(|_| used.next().is_some_and(|used| !used));
        self.used = vec![false; self.script.replies.len()];
    }
}

/// The first unused reply that matches.
fn choose(state: &mut State, last_user: &str) -> Option<Reply> {
    let fits = |reply: &Reply| {
        reply
            .when
            .as_deref()
            .is_none_or(|text| last_user.contains(text))
    };
    let at =
        (0..state.used.len()).find(|at| !state.used[*at] && fits(&state.script.replies[*at]))?;
    let reply = state.script.replies[at].clone();
    state.used[at] = !reply.repeat;
    Some(reply)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept().await {
        tokio::spawn(serve(socket, shared.clone()));
    }
}

/// Serves one connection: request after request until one side closes it.
async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    let _ = socket.set_nodelay(true);
    let (socket, mut out) = socket.into_split();
    let mut incoming = Incoming {
        socket,
        buffer: Vec::new(),
        began: Instant::now(),
    };
    // Kept until the next request. Freeing a long conversation takes milliseconds, which would show
    // in measurements.
    let mut last = None;
    while let Ok(Some(raw)) = incoming.request().await {
        let (number, request, script, reply) = shared.receive(raw);
        let (request, script) = &*last.insert((request, script));
        let reply = reply.unwrap_or_else(|| {
            let body = r#"{"error":{"type":"not_found_error","message":"Not Found"}}"#;
            Reply::http(404, "application/json", body)
        });
        let mut outgoing = Outgoing {
            socket: &mut out,
            write_bytes: reply.write_bytes,
            write_delay: Duration::from_millis(reply.write_delay_ms),
            left: reply.cut_at,
            cut: reply.cut,
        };
        let stage = Stage {
            shared: &shared,
            request,
            number,
            wire: request.wire.unwrap_or(Wire::Anthropic),
            script,
            reply: &reply,
        };
        let result = tokio::select! {
            biased;
            result = stage.play(&mut outgoing) => result,
            () = incoming.hung_up() => Err(Broken::Gone),
        };
        match result {
            Ok(()) => shared.change(|state| {
                state.requests[number].answered = Some(Instant::now());
            }),
            Err(Broken::Gone) => {
                shared.change(|state| state.requests[number].hung_up = Some(Instant::now()));
                return;
            }
            Err(Broken::Cut(how)) => {
                shared.change(|state| state.requests[number].answered = Some(Instant::now()));
                match how {
                    Cut::Close => return,
                    Cut::Reset => {
                        let _ = out.as_ref().set_zero_linger();
                        // Dropping one half sends a FIN first, so the client wouldn't see a reset.
                        out.forget();
                        return;
                    }
                    Cut::End => {
                        let _ = out.write_all(b"0\r\n\r\n").await;
                    }
                }
            }
        }
    }
}
