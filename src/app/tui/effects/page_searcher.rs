//! Searches pages of the conversation that aren't loaded. There is one search at a time, after a
//! pause in typing; the next one cancels it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{AbortHandle, spawn_blocking};
use tokio::time::sleep;

use crate::app::tui::msg::EffectResult;
use crate::app::tui::transcript::PageSearch;

/// The pause in typing before a search starts.
pub const PAUSE: Duration = Duration::from_millis(150);

/// Searches in its own thread.
#[derive(Debug)]
pub struct PageSearcher {
    results: UnboundedSender<EffectResult>,
    running: Option<AbortHandle>,
}

impl PageSearcher {
    /// Sends its results to `results`.
    pub fn new(results: UnboundedSender<EffectResult>) -> Self {
        Self {
            results,
            running: None,
        }
    }

    /// Cancels the current search and starts this one, if any.
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
