//! A question to confirm what the user has just requested.

use super::{DocsRows, Popup, PopupDrawn, PopupKeys, PopupView, split, topmost};
use crate::app::action::Action;
use crate::app::tui::answers::{Answers, Pressed};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::{editor, permission, stop};
use crate::app::tui::view::answers;
use crate::app::tui::view::line::StyledLine;

/// The question and its answers: yes first, then no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm {
    pub about: ConfirmAbout,
    pub answers: Answers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmAbout {
    Leave,
    /// Whether to run everything without questions and without a sandbox.
    Full(FullFor),
}

/// How long full mode stays on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullFor {
    Session,
    /// In each new session, because it is a setting.
    NewSessions,
}

impl Confirm {
    pub const ANSWERS: usize = 2;

    /// Asks at `now` (Unix ms), with no selected.
    pub fn new(about: ConfirmAbout, now: i64) -> Self {
        Self {
            about,
            answers: Answers::asked_for(now, Some(1)),
        }
    }
}

impl PopupKeys for Confirm {
    fn answers(&mut self) -> Option<(&mut Answers, usize)> {
        Some((&mut self.answers, Self::ANSWERS))
    }

    fn next_wake(&self, now: i64) -> Option<i64> {
        self.answers.next_wake(now)
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let confirm = topmost!(app, Confirm);
        let about = confirm.about;
        if matches!(action, Some(Action::Back | Action::Interrupt)) {
            app.overlays.pop();
            return Vec::new();
        }
        match confirm
            .answers
            .press(action, press.text(), Self::ANSWERS, app.now)
        {
            Pressed::Confirmed(0) => {
                app.overlays.pop();
                match about {
                    ConfirmAbout::Leave => stop::leave(app),
                    ConfirmAbout::Full(how_long) => permission::confirm_full(app, how_long),
                }
            }
            Pressed::Confirmed(_) => {
                app.overlays.pop();
                Vec::new()
            }
            Pressed::Text(digit) => editor::write_on(app, digit, press),
            Pressed::NotYet | Pressed::Selected | Pressed::Nothing => Vec::new(),
        }
    }
}

impl PopupView for Confirm {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let full = (
            "Turn off all safety checks?",
            "tiller won't ask, and commands run without a sandbox.",
        );
        let ((title, text), labels) = match self.about {
            ConfirmAbout::Leave => (
                ("Quit?", "The agent is still working. Quit anyway?"),
                ["Yes, stop and quit", "No"],
            ),
            ConfirmAbout::Full(FullFor::Session) => (full, ["Yes, for this session", "No"]),
            ConfirmAbout::Full(FullFor::NewSessions) => (full, ["Yes, for all new sessions", "No"]),
        };
        let app = popup.app;
        let inside = popup.text_columns();
        let mut lines = StyledLine::wrapped(text, app.theme.popup, inside);
        // Even the smallest screen shows the answers.
        let height = popup.most_rows();
        lines.truncate(height.saturating_sub(Self::ANSWERS));
        if lines.len() + Self::ANSWERS < height {
            lines.push(StyledLine::new());
        }
        let labels = labels.map(str::to_owned);
        let selected = self.answers.selected();
        let styles = answers::on_popup(&app.theme);
        let list = answers::rows(&labels, selected, styles, inside);
        let (top, count) = (lines.len() as u16, list.len() as u16);
        lines.extend(list);
        let esc = app.key(Action::Back);
        let confirms = popup.confirm_key(&self.answers);
        let notes = [format!(" ↑↓ select · {esc} cancel{confirms} ")];
        let area = popup.open(title, lines.len(), &notes)?;
        popup.text(&lines, area);
        Some(PopupDrawn {
            list: split(split(area, top).1, count).0,
            ..PopupDrawn::default()
        })
    }
}
