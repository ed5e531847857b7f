//! The summary printed on the normal screen at the end.

use super::app::App;
use crate::agent::session::StoredSession;
use crate::app::humanize::{dollars, grouped};
use crate::app::sessions::short_id;

/// The lines of the summary.
pub fn summary(app: &App) -> String {
    if app.start.client != 0 {
        let unsent = app.draft().text;
        return match app.session_file() {
            _ if unsent.trim().is_empty() => String::new(),
            Some(_) => format!("not sent, comes back with the session:\n{unsent}"),
            None => format!("not sent:\n{unsent}"),
        };
    }
    let mut lines = Vec::new();
    if let Some(session) = &app.status.session
        && session.file.exists()
    {
        let id = StoredSession::at(&session.file).id;
        lines.push(format!("resume   tiller --session {}", short_id(&id)));
    }
    if app.trial.is_some() {
        lines.push("trial    still open: resume the session to keep or discard it".to_owned());
    }
    let total = &app.status.total;
    // The demo's tokens cost nothing.
    if total.output > 0 && !app.status.is_demo() {
        let tokens = format!(
            "{} in, {} out",
            grouped(total.input + total.cache_read + total.cache_write),
            grouped(total.output)
        );
        lines.push(format!("tokens   {tokens}"));
    }
    if total.cost.total > 0.0 {
        lines.push(format!("cost     {}", dollars(total.cost.total)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ratatui_core::layout::Size;

    use super::*;
    use crate::app::tui::app::Status;
    use crate::app::tui::keymap::Keymap;
    use crate::app::tui::theme::{ColorDepth, Theme};
    use crate::llm::{Api, Model, ThinkingLevel, Usage};

    /// Tokens written to a cache were sent as well.
    #[test]
    fn all_sent_tokens_are_counted() {
        let model = Model::new("p", "m", Api::AnthropicMessages, "");
        let mut status = Status::new(Path::new("/w"), model, ThinkingLevel::Off);
        status.total = Usage {
            input: 1,
            cache_read: 20,
            cache_write: 45_300,
            output: 5,
            ..Usage::default()
        };
        let theme = Theme::load("dark", ColorDepth::None).unwrap();
        let app = App::new(Size::new(80, 24), 0, Keymap::default(), theme, status);
        assert_eq!(summary(&app), "tokens   45,321 in, 5 out");
    }
}
