//! The transcript's area of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{Drawn, Transcript, TranscriptCache};

/// Draws what of the transcript is visible in `area`, which must be blank, and says what it found
/// out; give that to `Transcript::settle`.
pub fn draw(
    transcript: &Transcript,
    cache: &mut TranscriptCache,
    area: Rect,
    buffer: &mut Buffer,
    theme: &Theme,
) -> Drawn {
    cache.draw(transcript, area, buffer, theme)
}
