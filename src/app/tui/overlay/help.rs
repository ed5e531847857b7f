//! The help: a reading of the table of actions with the keys now in force.

use std::fmt::Write;

use crate::app::action::{ACTIONS, Action, Group};
use crate::app::tui::keymap::{Keymap, label};

/// One line of the help, before it is wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpLine {
    /// A heading.
    Heading(&'static str),
    /// An action.
    Action {
        /// Its keys, joined, or else its command; empty when it has neither.
        keys: String,
        /// What it does.
        help: String,
    },
    /// A line to breathe.
    Blank,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelpPage {
    /// The keys that matter, a line each.
    First,
    All,
}

/// The keys of the first page, and what they do in a few words.
pub const FIRST_KEYS: [(Action, &str); 14] = [
    (Action::Submit, "send; while a run is under way: steer it"),
    (Action::FollowUp, "queue it for when the run is done"),
    (Action::Newline, "new line"),
    (Action::Cancel, "stop the run"),
    (
        Action::Interrupt,
        "stop, else clear the editor, twice: leave",
    ),
    (Action::NextPermissionMode, "switch mode: plan, ask, auto"),
    (Action::Models, "choose the model"),
    (Action::ThinkingUp, "let the model think harder"),
    (Action::ToggleOutput, "show or hide tool output"),
    (Action::PageUp, "scroll up; the wheel too"),
    (Action::HistorySearch, "search earlier prompts"),
    (Action::TakeBack, "take waiting messages back"),
    (Action::ExternalEditor, "write in your own editor"),
    (Action::Help, "all keys and commands"),
];

/// All of the help.
pub fn help_lines(keymap: &Keymap) -> Vec<HelpLine> {
    let mut lines = Vec::with_capacity(ACTIONS.len() + 12);
    for group in Group::ALL {
        if !lines.is_empty() {
            lines.push(HelpLine::Blank);
        }
        lines.push(HelpLine::Heading(group.title()));
        for spec in ACTIONS.iter().filter(|spec| spec.group == group) {
            let keys: Vec<String> = keymap.keys(spec.action).map(label).collect();
            let mut keys = keys.join(", ");
            let mut help = spec.help.to_owned();
            if let Some(slash) = spec.slash {
                let mut command = format!("/{slash}");
                if let Some(argument) = spec.argument {
                    let _ = write!(command, ", /{slash} {argument}");
                }
                // Never a row that begins with nothing.
                if keys.is_empty() {
                    keys = command;
                } else {
                    let _ = write!(help, " ({command})");
                }
            }
            lines.push(HelpLine::Action { keys, help });
        }
    }
    lines.push(HelpLine::Blank);
    lines.push(HelpLine::Heading("Mouse"));
    lines.extend(MOUSE.map(|(keys, help)| HelpLine::Action {
        keys: keys.to_owned(),
        help: help.to_owned(),
    }));
    lines
}

/// What the mouse does; it has no actions of its own.
const MOUSE: [(&str, &str); 3] = [
    ("Wheel", "Scroll"),
    (
        "Click",
        "Open or fold an entry; put the caret; on the pill: to the end",
    ),
    ("Shift+drag", "Select text, as the terminal does it"),
];
