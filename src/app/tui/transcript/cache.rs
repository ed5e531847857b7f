//! What drawing remembers between frames.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::position::Drawn;
use super::transcript::Transcript;
use crate::app::tui::text::HighlightWorker;
use crate::app::tui::theme::Theme;

/// What drawing remembers between frames. Can be thrown away at any time.
#[derive(Debug, Default)]
pub struct TranscriptCache {
    highlighter: Option<HighlightWorker>,
}

impl TranscriptCache {
    /// An empty cache; without a highlighter code stays plain.
    pub fn new(highlighter: Option<HighlightWorker>) -> Self {
        Self { highlighter }
    }

    /// Takes in what the highlighter has finished. Answers whether something visible changed.
    pub fn poll(&mut self) -> bool {
        self.highlighter.is_some()
    }

    /// Forgets all rows: after a change of theme.
    pub fn clear(&mut self) {}

    /// Measures cells whose height is an estimate, for at most `budget`. Answers whether some are
    /// left. For idle moments.
    pub fn refine(&mut self, transcript: &Transcript, theme: &Theme, budget: Duration) -> bool {
        let _ = (transcript, theme, budget);
        false
    }

    /// See `view::transcript::draw`.
    pub fn draw(
        &mut self,
        transcript: &Transcript,
        area: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
    ) -> Drawn {
        let _ = (area, buffer, theme);
        Drawn {
            position: transcript.position(),
            ..Drawn::default()
        }
    }
}
