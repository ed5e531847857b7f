//! Copying the selection, the last reply or an item of the copy list, and reporting the outcome.

use std::path::Path;
use std::sync::Arc;

use crate::agent::NoticeLevel;
use crate::app::action::Action;
use crate::app::clipboard::CopyOutcome;
use crate::app::humanize::{abbreviate_home, plural};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TerminalEffect};
use crate::app::tui::popups::{CopyItem, CopyKind, CopyPicker};
use crate::app::tui::transcript::Copied;

/// How long the report of a copy stays.
const SAID_MS: i64 = 3000;
/// How long it stays if the user has to do something.
const LONG_MS: i64 = 10_000;

pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    if action == Action::CopyList {
        let items: Vec<CopyItem> = CopyItem::all(&app.transcript).collect();
        if !items.is_empty() {
            app.overlays.push(CopyPicker::new(items).into());
            return Vec::new();
        }
    } else {
        let reply = CopyItem::all(&app.transcript).find(|item| item.kind == CopyKind::Reply);
        if let Some(reply) = reply {
            return copy(app, &reply, "the last reply");
        }
    }
    app.say_for("Nothing to copy yet", SAID_MS)
}

pub fn copy(app: &mut App, item: &CopyItem, what: &str) -> Vec<Effect> {
    app.transcript.deselect();
    let what = format!("{what}, {}", amount(&item.text));
    vec![Effect::Copy(Arc::clone(&item.text), what)]
}

pub fn selected(app: &mut App, copied: Copied) -> Effect {
    if copied.has_gap {
        app.transcript.push_notice(
            NoticeLevel::Warning,
            "Part of the selection is no longer in memory and was not copied\n\
             /export writes the whole conversation to a file",
        );
    }
    let what = amount(&copied.text);
    Effect::Copy(copied.text.into(), what)
}

fn amount(text: &str) -> String {
    match text.lines().count() as u64 {
        0 | 1 => plural(text.chars().count() as u64, "character", "characters"),
        lines => plural(lines, "line", "lines"),
    }
}

pub fn done(app: &mut App, what: &str, outcome: CopyOutcome) -> Vec<Effect> {
    let home = app.status.home.clone();
    let place = |file: &Path| abbreviate_home(file, home.as_deref());
    match outcome {
        CopyOutcome::Copied(program) => app.say_for(format!("Copied {what} ({program})"), SAID_MS),
        CopyOutcome::Tmux => app.say_for(
            format!("Copied {what} to tmux, which passes it to the terminal"),
            SAID_MS,
        ),
        CopyOutcome::Terminal(bytes, _) => {
            // Terminals don't confirm that they took it.
            app.say_for(format!("Copied {what} through the terminal"), SAID_MS);
            vec![Effect::Terminal(TerminalEffect::AskClipboard(bytes))]
        }
        CopyOutcome::TooLong(Ok(file)) => app.say_for(
            format!(
                "Too long for the clipboard: wrote {what} to {}",
                place(&file)
            ),
            LONG_MS,
        ),
        CopyOutcome::TooLong(Err(error)) => {
            let text = format!(
                "Nothing copied: found no clipboard program, and {what} are too long for the terminal\n\
                 Install wl-copy, xclip or xsel ({error})"
            );
            app.transcript.push_notice(NoticeLevel::Error, text);
            Vec::new()
        }
    }
}
