//! Searches pages of the conversation that are not in memory: one search at a time, begun when no key has
//! been pressed for a moment, and given up when another is wanted.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{AbortHandle, spawn_blocking};
use tokio::time::sleep;

use super::msg::EffectResult;
use super::transcript::PageSearch;

/// How long nothing else must be typed before a search begins.
pub const PAUSE: Duration = Duration::from_millis(150);

/// Searches in a thread of its own.
#[derive(Debug)]
pub struct PageSearcher {
    results: UnboundedSender<EffectResult>,
    running: Option<AbortHandle>,
}

impl PageSearcher {
    /// Its results go to `results`.
    pub fn new(results: UnboundedSender<EffectResult>) -> Self {
        Self {
            results,
            running: None,
        }
    }

    /// Gives up what is searched now, and starts this search, if there is one.
    pub fn search(&mut self, search: Option<PageSearch>) {
        if let Some(older) = self.running.take() {
            older.abort();
        }
        let Some(search) = search else { return };
        let results = self.results.clone();
        let work = async move {
            sleep(PAUSE).await;
            // Lives as long as this task.
            let wanted = Arc::new(());
            let is_wanted = Arc::downgrade(&wanted);
            let search = spawn_blocking(move || search.run(|| is_wanted.strong_count() > 0));
            if let Ok(Some(found)) = search.await {
                let _ = results.send(EffectResult::PagesSearched(found));
            }
            drop(wanted);
        };
        self.running = Some(tokio::spawn(work).abort_handle());
    }
}
