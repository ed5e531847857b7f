//! The overlays as plain data. `update::overlay` handles their keys, `view::overlay` draws them.

use super::confirm::Confirm;
use super::copy::CopyPicker;
use super::docs::DocsPage;
use super::help::HelpList;
use super::history::HistoryPicker;
use super::login::Login;
use super::models::ModelPicker;
use super::opening::Opening;
use super::picker::{Pager, Picker};
use super::sessions::{SessionMode, SessionPicker};
use super::settings::SettingsPicker;
use super::status::StatusPopup;
use super::themes::ThemePicker;
use super::tree::TreePicker;
use super::undo::{RewindPicker, UndoQuestion};
use crate::app::action::Scope;
use crate::app::tui::answers::Answers;
use crate::app::tui::transcript::Unit;

/// Something over the screen that receives the keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    /// The whole call in the question strip, and its scroll position.
    Call(Pager),
    /// Cost, context window, session and model calls.
    Status(Box<StatusPopup>),
    /// All keys and commands.
    Help(Box<HelpList>),
    /// A page of the documentation.
    Docs(Box<DocsPage>),
    /// The settings.
    Settings(Box<SettingsPicker>),
    /// Adding an API key.
    Login(Box<Login>),
    /// A question to confirm what the user has just requested.
    Confirm(Confirm),
    /// Whether to undo or redo.
    Undo(Box<UndoQuestion>),
    /// The prompts to go back to.
    Rewind(Box<RewindPicker>),
    /// Earlier prompts.
    HistorySearch(HistoryPicker),
    /// The search in the conversation.
    Search(Picker),
    /// Keyboard selection in the conversation by this unit; `None` while only the caret moves.
    Selecting(Option<Unit>),
    /// Things to copy.
    Copy(CopyPicker),
    /// The models.
    Models(ModelPicker),
    /// The themes.
    Themes(Box<ThemePicker>),
    /// The tree of the session.
    Tree(Box<TreePicker>),
    /// The stored sessions.
    Sessions(Box<SessionPicker>),
    /// The question about a session that couldn't be opened.
    Opening(Opening),
}

impl Overlay {
    /// The bindings that work while it receives the keys.
    pub fn scope(&self) -> Scope {
        match self {
            Self::Call(_) | Self::Status(_) => Scope::Pager,
            Self::Docs(page) if page.find.is_none() => Scope::Pager,
            Self::Tree(_) => Scope::Tree,
            Self::Selecting(_) => Scope::Selecting,
            Self::Sessions(list) if list.mode == SessionMode::Choosing => Scope::Sessions,
            _ => Scope::List,
        }
    }

    /// The list to choose from, if it has one.
    pub fn picker(&mut self) -> Option<&mut Picker> {
        match self {
            Self::Help(list) => Some(&mut list.picker),
            Self::Docs(page) => page.find.as_mut().map(|find| &mut find.line),
            Self::HistorySearch(list) => Some(&mut list.picker),
            Self::Copy(list) => Some(&mut list.picker),
            Self::Models(models) => Some(&mut models.picker),
            Self::Themes(themes) => Some(&mut themes.picker),
            Self::Settings(list) => Some(list.typing.as_mut().unwrap_or(&mut list.picker)),
            Self::Login(login) => Some(&mut login.picker).filter(|_| login.typing.is_none()),
            Self::Tree(tree) => Some(tree.label.as_mut().unwrap_or(&mut tree.picker)),
            Self::Sessions(list) => match &mut list.mode {
                SessionMode::Choosing => Some(&mut list.picker),
                SessionMode::Naming(text) => Some(text),
                SessionMode::Removing(_) => None,
            },
            Self::Rewind(list) => Some(match &mut list.chosen {
                Some(chosen) => &mut chosen.ways,
                None => &mut list.picker,
            }),
            _ => None,
        }
    }

    /// The answers and their number, if it is a question.
    pub fn answers(&mut self) -> Option<(&mut Answers, usize)> {
        match self {
            Self::Confirm(confirm) => Some((&mut confirm.answers, Confirm::ANSWERS)),
            Self::Opening(opening) if !opening.waits => {
                Some((&mut opening.answers, opening.ways.len()))
            }
            _ => None,
        }
    }

    /// The list or the name that receives typed text, if any.
    pub fn query(&mut self) -> Option<&mut Picker> {
        match self {
            Self::Rewind(list) if list.chosen.is_some() => None,
            other => other.picker(),
        }
    }

    /// When it needs something read, or its keys start to work (Unix ms).
    pub fn next_wake(&self, now: i64) -> Option<i64> {
        match self {
            Self::Opening(opening) => opening.answers.next_wake(now),
            Self::Confirm(confirm) => confirm.answers.next_wake(now),
            Self::Undo(question) => question.delay.next_wake(now),
            Self::Sessions(list) => list.due.next(),
            _ => None,
        }
    }

    /// The text to read, if it shows one.
    pub fn pager(&mut self) -> Option<&mut Pager> {
        match self {
            Self::Call(pager) => Some(pager),
            Self::Status(status) => Some(&mut status.pager),
            Self::Undo(question) => Some(&mut question.pager),
            Self::Docs(page) => Some(&mut page.pager),
            _ => None,
        }
    }
}
