//! A connection to a server: sends requests, and hands each answer to its request. A transport, `stdio` or `http`,
//! carries the messages.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::message::{self, Incoming};
use crate::lock::lock;
use tiller_llm::auth::Redactor;

/// The longest message of a server, in bytes. A picture is some megabytes.
pub(super) const MAX_MESSAGE: usize = 32 << 20;
/// Messages that wait until the server reads them.
const MAX_WAITING: usize = 1_000;
/// Why a connection ends that is no longer needed.
pub(super) const STOPPED: &str = "it was stopped";

/// Dropping it ends the server.
pub(super) struct Connection {
    shared: Arc<Shared>,
    end: CancellationToken,
    _end: DropGuard,
}

/// Why a request has no result.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// The server answered with an error.
    Refused(String),
    /// This request has no answer, for this reason. Others may have one.
    Unanswered(String),
    /// The server is gone, for this reason.
    Gone(String),
    /// The server has forgotten the session, and has done nothing.
    Expired,
}

/// Receives what a server says about a call's progress.
pub(super) type OnProgress = Box<dyn Fn(&Value) + Send>;

/// What a call receives before its result.
pub(super) struct Listener {
    pub on_progress: OnProgress,
    /// Questions to the user: the id and the parameters of each.
    pub questions: mpsc::Sender<(Value, Value)>,
}

/// A message to the server.
pub(super) struct Outgoing {
    /// Of a request.
    pub id: Option<u64>,
    /// One line of JSON.
    pub text: String,
    /// Cancelled once nothing waits for its answer.
    pub dropped: CancellationToken,
}

/// The part of a connection that its transport sees.
pub(super) struct Shared {
    redactor: Redactor,
    outgoing: mpsc::Sender<Outgoing>,
    requests: Mutex<Requests>,
    last_id: AtomicU64,
    offers_changed: Arc<Notify>,
    /// The protocol version that the server chose.
    version: OnceLock<String>,
}

#[derive(Default)]
struct Requests {
    open: HashMap<u64, OpenRequest>,
    /// Why the server is gone.
    gone: Option<Failure>,
}

struct OpenRequest {
    answer: oneshot::Sender<Result<Value, Failure>>,
    listener: Option<Listener>,
}

impl Connection {
    /// Starts `transport`, which carries messages until its token is cancelled. What the server says goes
    /// through `redactor`.
    pub fn new<T>(
        redactor: &Redactor,
        transport: impl FnOnce(Arc<Shared>, mpsc::Receiver<Outgoing>, CancellationToken) -> T,
    ) -> Self
    where
        T: Future<Output = ()> + Send + 'static,
    {
        let (outgoing, to_send) = mpsc::channel(MAX_WAITING);
        let shared = Arc::new(Shared {
            redactor: redactor.clone(),
            outgoing,
            requests: Mutex::default(),
            last_id: AtomicU64::new(0),
            offers_changed: Arc::default(),
            version: OnceLock::new(),
        });
        let end = CancellationToken::new();
        tokio::spawn(transport(Arc::clone(&shared), to_send, end.clone()));
        Self {
            shared,
            _end: end.clone().drop_guard(),
            end,
        }
    }

    /// Sends a request and waits for its result. Dropping the future cancels the request.
    pub async fn request(
        &self,
        method: &str,
        mut params: Value,
        listener: Option<Listener>,
    ) -> Result<Value, Failure> {
        let shared = &self.shared;
        let id = shared.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        if listener.is_some() {
            params["_meta"] = json!({"progressToken": id});
        }
        let (answer, answered) = oneshot::channel();
        {
            let mut requests = lock(&shared.requests);
            if let Some(why) = &requests.gone {
                return Err(why.clone());
            }
            let open = OpenRequest { answer, listener };
            requests.open.insert(id, open);
        }
        let dropped = CancellationToken::new();
        let _cancel = CancelOnDrop {
            shared,
            id,
            dropped: dropped.clone(),
        };
        let text = message::request(id, method, &params);
        shared.send(Some(id), text, dropped)?;
        let gone = || Failure::Gone(STOPPED.to_owned());
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Sends the result of a request of the server.
    pub fn answer(&self, id: &Value, result: &Value) -> Result<(), Failure> {
        self.shared.tell(message::result(id, result))
    }

    pub fn notify(&self, method: &str) -> Result<(), Failure> {
        let text = message::notification(method, &json!({}));
        self.shared.tell(text)
    }

    /// Sets the protocol version that the server chose.
    pub fn agree_on(&self, version: &str) {
        let _ = self.shared.version.set(version.to_owned());
    }

    /// Why the server is gone, if it is.
    pub fn gone(&self) -> Option<String> {
        let gone = lock(&self.shared.requests).gone.clone();
        gone.map(Failure::text)
    }

    /// Signals that its offers have changed, or that it is gone.
    pub fn offers_changed(&self) -> Arc<Notify> {
        Arc::clone(&self.shared.offers_changed)
    }

    /// Ends it, and waits until the server knows.
    pub async fn end(&self) {
        self.end.cancel();
        self.shared.outgoing.closed().await;
    }
}

/// Tells the server that the request no longer matters, unless it was answered.
struct CancelOnDrop<'a> {
    shared: &'a Shared,
    id: u64,
    dropped: CancellationToken,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if lock(&self.shared.requests).open.remove(&self.id).is_some() {
            self.dropped.cancel();
            let params = json!({"requestId": self.id, "reason": "the user stopped it"});
            let text = message::notification("notifications/cancelled", &params);
            let _ = self.shared.tell(text);
        }
    }
}

impl Shared {
    fn tell(&self, text: String) -> Result<(), Failure> {
        self.send(None, text, CancellationToken::new())
    }

    fn send(
        &self,
        id: Option<u64>,
        text: String,
        dropped: CancellationToken,
    ) -> Result<(), Failure> {
        let sent = self.outgoing.try_send(Outgoing { id, text, dropped });
        sent.map_err(|_| Failure::Gone("it doesn't read its input".to_owned()))
    }

    /// The protocol version, once it is known.
    pub fn version(&self) -> Option<&str> {
        self.version.get().map(String::as_str)
    }

    /// Returns `true` if the request has no answer yet.
    pub fn waits_for(&self, id: u64) -> bool {
        lock(&self.requests).open.contains_key(&id)
    }

    /// Takes the values of headers out of what a server says: some repeat them.
    fn redact(&self, incoming: &mut Incoming) {
        match incoming {
            Incoming::Answer(_, Ok(value))
            | Incoming::Request(_, _, value)
            | Incoming::Notification(_, value) => redact(&self.redactor, value),
            Incoming::Answer(_, Err(_)) => {}
        }
    }

    /// Handles the messages in a text of the server.
    pub fn receive(&self, text: &[u8]) {
        for mut incoming in message::parse(text) {
            if !self.redactor.is_empty() {
                self.redact(&mut incoming);
            }
            match incoming {
                Incoming::Answer(id, answer) => self.answer(id, answer.map_err(Failure::Refused)),
                // A server that sends requests and reads no answers must not fill the queue.
                Incoming::Request(id, method, params)
                    if method == message::ELICITATION && self.ask(&id, &params) => {}
                Incoming::Request(id, method, _) if self.outgoing.capacity() > MAX_WAITING / 2 => {
                    let _ = self.tell(message::answer(&id, &method));
                }
                Incoming::Request(..) => {}
                Incoming::Notification(method, params) => self.notified(&method, &params),
            }
        }
    }

    /// Hands a question of the server to the latest call. Returns `false` if no call can ask.
    fn ask(&self, id: &Value, params: &Value) -> bool {
        let requests = lock(&self.requests);
        let calls = requests.open.iter();
        let calls = calls.filter_map(|(id, open)| Some((id, open.listener.as_ref()?)));
        let latest = calls.max_by_key(|(id, _)| **id);
        latest.is_some_and(|(_, it)| it.questions.try_send((id.clone(), params.clone())).is_ok())
    }

    /// Ends the request, if it is open.
    pub fn answer(&self, id: u64, answer: Result<Value, Failure>) {
        let open = lock(&self.requests).open.remove(&id);
        if let Some(open) = open {
            let _ = open.answer.send(answer);
        }
    }

    fn notified(&self, method: &str, params: &Value) {
        match method {
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => self.offers_changed.notify_one(),
            "notifications/progress" => {
                let requests = lock(&self.requests);
                let id = params["progressToken"].as_u64();
                let open = id.and_then(|id| requests.open.get(&id));
                if let Some(listener) = open.and_then(|open| open.listener.as_ref()) {
                    (listener.on_progress)(params);
                }
            }
            _ => {}
        }
    }

    /// Ends all requests.
    pub fn close(&self, why: Failure) {
        let mut requests = lock(&self.requests);
        for (_, open) in requests.open.drain() {
            let _ = open.answer.send(Err(why.clone()));
        }
        requests.gone = Some(why);
        drop(requests);
        self.offers_changed.notify_one();
    }

    /// Refuses further requests. Those that are open go on.
    pub fn expire(&self) {
        lock(&self.requests).gone = Some(Failure::Expired);
        self.offers_changed.notify_one();
    }
}

fn redact(redactor: &Redactor, value: &mut Value) {
    match value {
        Value::String(text) => *text = redactor.redact_result(text).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(|value| redact(redactor, value)),
        Value::Object(map) => map.values_mut().for_each(|value| redact(redactor, value)),
        _ => {}
    }
}

impl Failure {
    pub fn text(self) -> String {
        match self {
            Self::Refused(text) => format!("it answered with an error: {text}"),
            Self::Unanswered(why) | Self::Gone(why) => why,
            Self::Expired => "it has ended the session".to_owned(),
        }
    }
}
