//! Settings that were changed on the screen.

use std::path::PathBuf;

use crate::agent::NoticeLevel;
use crate::app::tui::app::App;

/// How long it is told that something was kept, in milliseconds.
const SAY_MS: i64 = 3000;

/// A setting was written, or not.
pub fn saved(app: &mut App, saved: Result<(String, PathBuf), String>) {
    match saved {
        Ok((key, file)) => app.say(format!("{key} is kept in {}", file.display()), SAY_MS),
        Err(error) => {
            let text = format!("It counts until tiller ends, but was not kept: {error}");
            app.transcript.push_notice(NoticeLevel::Error, text);
        }
    }
}
