//! Reads the git branch and the number of changed files for the status line. It reads only on
//! request, and merges requests during a reading.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;
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
    /// Whether the project is trusted; `None` if there is none.
    trusted: Option<watch::Receiver<bool>>,
    /// The channel to the counting task; `None` before the first request.
    requests: Option<mpsc::Sender<()>>,
}

impl GitReader {
    /// Reads about `cwd`, nothing yet. Programs of the repository's config need trust. Reports each decision
    /// about that, which may be made on another screen.
    pub(super) fn new(
        cwd: &Path,
        trusted: Option<watch::Receiver<bool>>,
        results: UnboundedSender<EffectResult>,
    ) -> Self {
        if let Some(decisions) = &trusted {
            tokio::spawn(report(decisions.clone(), results.clone()));
        }
        Self {
            cwd: cwd.to_owned(),
            results,
            trusted,
            requests: None,
        }
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
        let (cwd, results, trusted) =
            (self.cwd.clone(), self.results.clone(), self.trusted.clone());
        tokio::spawn(async move {
            while requests.recv().await.is_some() {
                let began = Instant::now();
                let trusted = trusted.as_ref().is_some_and(|it| *it.borrow());
                let changes = count_changes(&cwd, trusted).await;
                let _ = results.send(EffectResult::Changes(changes));
                sleep(PAUSE.max(10 * began.elapsed())).await;
            }
        });
        sender
    }
}

/// Reports decisions until the screen ends.
async fn report(mut decisions: watch::Receiver<bool>, results: UnboundedSender<EffectResult>) {
    loop {
        tokio::select! {
            () = results.closed() => return,
            decided = decisions.changed() => {
                if decided.is_err() || results.send(EffectResult::TrustDecided).is_err() {
                    return;
                }
            }
        }
    }
}
