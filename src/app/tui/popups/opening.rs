//! The question about a session that couldn't be opened, and the ways to open it.

use std::path::PathBuf;

use super::{DocsRows, Overlay, Popup, PopupDrawn, PopupKeys, PopupView, split, topmost};
use crate::app::action::Action;
use crate::app::humanize::abbreviate_home;
use crate::app::sessions::{Choice, Refusal, Refused};
use crate::app::tui::answer_delay::AnswerDelay;
use crate::app::tui::answers::{Answers, Pressed};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::effects::session_effect::SessionEffect;
use crate::app::tui::options::ExitKind;
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::{editor, sessions, stop};
use crate::app::tui::view::answers;
use crate::app::tui::view::line::StyledLine;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    pub path: PathBuf,
    pub reason: String,
    pub ways: Vec<Way>,
    pub waits: bool,
    /// Whether there is typed text. Then a digit is part of it.
    pub is_written: bool,
    pub answers: Answers,
    /// Until this is over, Esc was meant for the previous screen.
    pub appeared: AnswerDelay,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    Open,
    /// Shows the screen of the program that has it open.
    Attach,
    /// Opens it and switches tiller to the session's folder.
    There(PathBuf),
    Copy,
    ReadOnly,
    /// Opens it once no other program has it open.
    Wait,
}

impl Opening {
    /// The question about a session that couldn't be opened, from `now` on.
    pub fn of(refused: &Refused, now: i64) -> Self {
        let ways = match &refused.why {
            Refusal::InUse { .. } => vec![Way::Attach, Way::ReadOnly, Way::Copy, Way::Wait],
            Refusal::OtherFolder(folder) => {
                vec![Way::There(folder.clone()), Way::Copy, Way::ReadOnly]
            }
            Refusal::FolderGone(_) => vec![Way::Copy, Way::ReadOnly],
            Refusal::Denied | Refusal::NoEntry | Refusal::Other => vec![Way::ReadOnly, Way::Copy],
        };
        let label = match refused.label.as_str() {
            "" => "This session".to_owned(),
            label => format!("“{label}”"),
        };
        let reason = format!("{label}: {}", refused.reason);
        let answers = Answers::starting(now, None);
        Self::new(refused.path.clone(), reason, ways, answers, now)
    }

    /// The question when the user sends a message in a read-only session.
    pub fn of_read_only(path: PathBuf, now: i64) -> Self {
        let reason = "This session is open read-only".to_owned();
        let answers = Answers::asked_for(now, None);
        Self::new(path, reason, vec![Way::Copy, Way::Open], answers, now)
    }

    fn new(path: PathBuf, reason: String, ways: Vec<Way>, answers: Answers, now: i64) -> Self {
        Self {
            path,
            reason,
            ways,
            waits: false,
            is_written: false,
            answers,
            appeared: AnswerDelay::starting(now),
        }
    }
}

pub fn ask(app: &mut App, refused: &Refused) {
    app.overlays.retain(|it| !matches!(it, Overlay::Opening(_)));
    app.overlays.push(Opening::of(refused, app.now).into());
}

pub fn ask_to_write(app: &mut App) {
    if let Some(session) = &app.status.session {
        let opening = Opening::of_read_only(session.file.clone(), app.now);
        app.overlays.push(opening.into());
    }
}

impl PopupKeys for Opening {
    fn answers(&mut self) -> Option<(&mut Answers, usize)> {
        (!self.waits).then_some((&mut self.answers, self.ways.len()))
    }

    fn next_wake(&self, now: i64) -> Option<i64> {
        self.answers.next_wake(now)
    }

    /// Handles a key of the question. Typed text goes to the editor.
    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let opening = topmost!(app, Opening);
        if matches!(action, Some(Action::Back | Action::Interrupt)) {
            if !opening.appeared.is_over(app.now) {
                return Vec::new();
            }
            let effects = stop_waiting(app);
            app.overlays.pop();
            return effects;
        }
        // After typed text, a digit is text as well.
        let is_text = opening.waits || opening.is_written && action.is_none();
        let count = if is_text { 0 } else { opening.ways.len() };
        match opening.answers.press(action, press.text(), count, app.now) {
            Pressed::Confirmed(at) => return choose_way(app, at),
            Pressed::Text(digit) => {
                opening.is_written = true;
                for c in digit.into_iter().chain(press.text()) {
                    editor::insert(app, c);
                }
            }
            Pressed::NotYet | Pressed::Selected | Pressed::Nothing => {}
        }
        Vec::new()
    }
}

pub fn stop_waiting(app: &App) -> Vec<Effect> {
    let waits = |it: &Overlay| matches!(it, Overlay::Opening(opening) if opening.waits);
    let stop = app.overlays.iter().any(waits);
    let stop = stop.then_some(Effect::Session(SessionEffect::StopWaiting));
    stop.into_iter().collect()
}

fn choose_way(app: &mut App, at: usize) -> Vec<Effect> {
    let opening = topmost!(app, Opening);
    let Some(way) = opening.ways.get(at).cloned() else {
        return Vec::new();
    };
    let path = opening.path.clone();
    if way == Way::Wait {
        opening.waits = true;
        app.switch.arriving = sessions::arriving(app, &Choice::Open(path.clone()));
        return vec![Effect::Session(SessionEffect::Wait(path))];
    }
    app.overlays.pop();
    match way {
        Way::Open | Way::Wait => sessions::open(app, Choice::Open(path)),
        Way::Copy => sessions::open(app, Choice::Fork(path)),
        Way::ReadOnly => sessions::open(app, Choice::Look(path)),
        Way::Attach => stop::end(app, ExitKind::Attach(path)),
        Way::There(_) => stop::end(app, ExitKind::Reopen(path)),
    }
}

/// Width of a row that is cut, not wrapped.
const LONG: usize = 1000;

impl PopupView for Opening {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let reason = StyledLine::wrapped(&self.reason, app.theme.popup, popup.text_columns());
        let head = reason.len() + 1;
        let rows = head + if self.waits { 1 } else { self.ways.len() };
        let esc = app.key(Action::Back);
        let (title, note) = if self.waits {
            ("Waiting", format!(" {esc} stop waiting "))
        } else {
            let confirms = popup.confirm_key(&self.answers);
            let note = format!(" ↑↓ select · {esc} cancel{confirms} ");
            ("Open session", note)
        };
        let area = popup.open(title, rows, &[note])?;
        // On a low screen the choices take precedence over the reason.
        let shown = usize::from(area.height)
            .saturating_sub(rows - head)
            .min(head);
        let (head, list) = split(area, shown as u16);
        popup.text(&reason, head);
        if self.waits {
            let text = "Waiting for the other tiller to close it";
            popup.line(&StyledLine::of(text, popup.quiet()), list);
            return Some(PopupDrawn::default());
        }
        let styles = answers::on_popup(&app.theme);
        let selected = self.answers.selected();
        for ((row, way), at) in list.rows().zip(&self.ways).zip(0..) {
            let (what, more) = words(app, way);
            let label = format!("{what:<18}  {more}");
            let answer = answers::one(&label, at, selected == Some(at), styles, LONG);
            popup.line(&answer[0], row);
        }
        Some(PopupDrawn {
            list,
            ..PopupDrawn::default()
        })
    }
}

fn words(app: &App, way: &Way) -> (&'static str, String) {
    match way {
        Way::Open => (
            "Open it",
            "and write to it, if nothing else has it open".to_owned(),
        ),
        Way::Attach => ("Attach", "join it here, and leave this session".to_owned()),
        Way::There(folder) => {
            let folder = abbreviate_home(folder, app.status.home.as_deref());
            ("Continue there", format!("tiller moves to {folder}"))
        }
        Way::Copy => {
            let here = app.status.place();
            (
                "Continue in a copy",
                format!("here, in {here}; the original is untouched"),
            )
        }
        Way::ReadOnly => ("Read only", "nothing sent or saved".to_owned()),
        Way::Wait => ("Wait", "until it's free, then open it".to_owned()),
    }
}
