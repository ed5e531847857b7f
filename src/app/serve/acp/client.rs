//! The way to the client: answers, updates, and tiller's own requests.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::wire::Answer;
use crate::app::out::Writer;
use crate::app::records::to_line;
use crate::app::serve::lines::while_read;

/// Lines that may wait for the writer.
const WAITING: usize = 64;

/// Writes to the client. Cheap to clone; each clone waits while the client doesn't read.
#[derive(Clone, Debug)]
pub(super) struct Client {
    lines: mpsc::Sender<String>,
    asked: Arc<Mutex<Asked>>,
    knows_forms: Arc<AtomicBool>,
}

/// Requests without an answer, by id.
#[derive(Debug, Default)]
struct Asked {
    last: u64,
    waiting: HashMap<u64, oneshot::Sender<Option<Value>>>,
}

impl Client {
    /// Starts the writer. Its task ends when all clones are gone and everything is written, or with
    /// an error.
    pub fn start() -> io::Result<(Self, JoinHandle<io::Result<()>>)> {
        let mut writer = Writer::stdout()?;
        let (lines, mut waiting) = mpsc::channel(WAITING);
        let written = tokio::spawn(async move {
            while let Some(line) = waiting.recv().await {
                while_read(writer.write(line)).await?;
            }
            while_read(writer.finish()).await
        });
        let client = Self {
            lines,
            asked: Arc::default(),
            knows_forms: Arc::default(),
        };
        Ok((client, written))
    }

    /// Notes what the client says of itself in `initialize`.
    pub fn learn(&self, params: &Value) {
        let form = params.pointer("/clientCapabilities/elicitation/form");
        let knows = form.is_some_and(Value::is_object);
        self.knows_forms.store(knows, Ordering::Relaxed);
    }

    /// Whether it can show forms (`elicitation/create`).
    pub fn knows_forms(&self) -> bool {
        self.knows_forms.load(Ordering::Relaxed)
    }

    /// Answers a request.
    pub async fn answer(&self, id: Value, answer: Answer) {
        self.write(match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error.to_json()}),
        })
        .await;
    }

    /// Sends a `session/update` of this kind.
    pub async fn update(&self, session: &str, kind: &str, mut update: Value) {
        update["sessionUpdate"] = json!(kind);
        let params = json!({"sessionId": session, "update": update});
        self.notify("session/update", params).await;
    }

    pub async fn notify(&self, method: &str, params: Value) {
        self.write(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Sends a request. Returns its id and the answer to come, which is `None` if it fails.
    pub async fn ask(
        &self,
        method: &str,
        params: Value,
    ) -> (u64, oneshot::Receiver<Option<Value>>) {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut asked = self.asked();
            asked.last += 1;
            let id = asked.last;
            asked.waiting.insert(id, answer);
            id
        };
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(request).await;
        (id, answered)
    }

    /// Takes the answer to one of tiller's requests. An answer to nothing does nothing.
    pub fn answered(&self, id: &Value, result: Option<Value>) {
        let waiting = id.as_u64().and_then(|id| self.asked().waiting.remove(&id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(result);
        }
    }

    /// Takes a request back.
    pub async fn take_back(&self, id: u64) {
        if self.asked().waiting.remove(&id).is_some() {
            let params = json!({"requestId": id});
            self.notify("$/cancel_request", params).await;
        }
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, message: Value) {
        // The server learns of a closed stdout from the writer's task.
        let _ = self.lines.send(to_line(&message)).await;
    }
}
