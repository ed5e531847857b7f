//! Colours for code, found on a thread of their own.

use crate::app::tui::theme::Theme;

/// The thread that highlights code.
#[derive(Debug)]
pub struct HighlightWorker {}

impl HighlightWorker {
    /// Starts the thread with the syntax rules of `theme`. `wake` is called from it whenever there
    /// is something for `TranscriptCache::poll`.
    pub fn start(theme: &Theme, wake: impl Fn() + Send + 'static) -> Self {
        let _ = (theme, wake);
        Self {}
    }
}
