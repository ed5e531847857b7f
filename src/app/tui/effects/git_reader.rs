//! Reads the git branch and the number of changed files for the status line. It reads only on
//! request, and merges requests during a reading.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::time::{Instant, sleep};

use crate::agent::git::git_head;
use crate::agent::memory::count_changes;
use crate::app::tui::msg::EffectResult;

/// Minimum time between two counts, and at least ten times as long as one takes. Quick turns must
/// not recount a large repository.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct GitReader {
    cwd: PathBuf,
    results: UnboundedSender<EffectResult>,
    trusted: bool,
    /// The channel to the counting task; `None` before the first request.
    requests: Option<mpsc::Sender<()>>,
}

impl GitReader {
    /// Reads about `cwd`, nothing yet. Programs of the repository's config need `trusted`.
    pub(super) fn new(cwd: &Path, trusted: bool, results: UnboundedSender<EffectResult>) -> Self {
        Self {
            cwd: cwd.to_owned(),
            results,
            trusted,
            requests: None,
        }
    }

    pub(super) fn trust(&mut self, trusted: bool) {
        self.trusted = trusted;
        self.requests = None;
    }

    pub(super) fn read(&mut self) {
        let (cwd, results) = (self.cwd.clone(), self.results.clone());
        tokio::task::spawn_blocking(move || {
            let head = git_head(&cwd).map(|head| head.to_string());
            let _ = results.send(EffectResult::Branch(head));
        });
        let requests = match &self.requests {
            Some(requests) => requests,
            None => self.requests.insert(self.start()),
        };
        // A waiting request covers this one, too.
        let _ = requests.try_send(());
    }

    /// Starts the counting task; it ends when this is dropped.
    fn start(&self) -> mpsc::Sender<()> {
        let (sender, mut requests) = mpsc::channel(1);
        let (cwd, results, trusted) = (self.cwd.clone(), self.results.clone(), self.trusted);
        tokio::spawn(async move {
            while requests.recv().await.is_some() {
                let began = Instant::now();
                let changes = count_changes(&cwd, trusted).await;
                let _ = results.send(EffectResult::Changes(changes));
                sleep(PAUSE.max(10 * began.elapsed())).await;
            }
        });
        sender
    }
}
