//! The list of popups, and what each can do. A popup is a struct: [`PopupKeys`] handles its keys, and
//! [`PopupView`] draws it.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::{DocsRows, Pager, Picker, Popup, PopupDrawn, list};
use crate::app::action::{Action, Scope};
use crate::app::tui::answers::Answers;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::terminal::input::KeyPress;

/// The keys of a popup. In the functions without `self`, it is the topmost of `app.overlays`.
pub trait PopupKeys {
    /// The bindings that work while it receives the keys.
    fn scope(&self) -> Scope {
        Scope::List
    }

    /// The list to choose from or the line to type in, if it has one.
    fn picker(&mut self) -> Option<&mut Picker> {
        None
    }

    /// The text to read, if it shows one.
    fn pager(&mut self) -> Option<&mut Pager> {
        None
    }

    /// The answers and their number, if it is a question.
    fn answers(&mut self) -> Option<(&mut Answers, usize)> {
        None
    }

    /// When it needs something read, or its keys start to work (Unix ms).
    fn next_wake(&self, _now: i64) -> Option<i64> {
        None
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        list::press(app, press, action)
    }

    /// Pastes into it; `None` if it takes no text.
    fn paste(app: &mut App, text: &str) -> Option<Vec<Effect>> {
        list::paste(app, text)
    }

    /// Searches again after a changed query.
    fn query_changed(_app: &mut App) {}

    /// Enter or a click on the selected entry.
    fn choose(_app: &mut App) -> Vec<Effect> {
        Vec::new()
    }
}

/// The picture of a popup.
pub trait PopupView {
    fn draw(&self, popup: &mut Popup<'_>, docs: &mut DocsRows) -> Option<PopupDrawn>;
}

macro_rules! popups {
    ($($(#[$about:meta])* $kind:ident($popup:ty),)*) => {
        /// Something over the screen that receives the keys.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Overlay {
            $($(#[$about])* $kind(Box<$popup>),)*
        }

        $(impl From<$popup> for Overlay {
            fn from(popup: $popup) -> Self {
                Self::$kind(Box::new(popup))
            }
        })*

        impl Overlay {
            pub(crate) fn scope(&self) -> Scope {
                match self { $(Self::$kind(it) => it.scope(),)* }
            }

            pub(crate) fn picker(&mut self) -> Option<&mut Picker> {
                match self { $(Self::$kind(it) => it.picker(),)* }
            }

            pub(crate) fn pager(&mut self) -> Option<&mut Pager> {
                match self { $(Self::$kind(it) => it.pager(),)* }
            }

            pub(crate) fn answers(&mut self) -> Option<(&mut Answers, usize)> {
                match self { $(Self::$kind(it) => it.answers(),)* }
            }

            pub(crate) fn next_wake(&self, now: i64) -> Option<i64> {
                match self { $(Self::$kind(it) => it.next_wake(now),)* }
            }

            pub(crate) fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
                match app.overlays.last() {
                    $(Some(Self::$kind(_)) => <$popup as PopupKeys>::press(app, press, action),)*
                    None => Vec::new(),
                }
            }

            pub(crate) fn paste(app: &mut App, text: &str) -> Option<Vec<Effect>> {
                match app.overlays.last()? {
                    $(Self::$kind(_) => <$popup as PopupKeys>::paste(app, text),)*
                }
            }

            pub(crate) fn query_changed(app: &mut App) {
                match app.overlays.last() {
                    $(Some(Self::$kind(_)) => <$popup as PopupKeys>::query_changed(app),)*
                    None => {}
                }
            }

            pub(crate) fn choose(app: &mut App) -> Vec<Effect> {
                match app.overlays.last() {
                    $(Some(Self::$kind(_)) => <$popup as PopupKeys>::choose(app),)*
                    None => Vec::new(),
                }
            }

            /// Draws it at the bottom of `area`.
            pub(crate) fn draw(
                &self,
                app: &App,
                docs: &mut DocsRows,
                area: Rect,
                buffer: &mut Buffer,
            ) -> Option<PopupDrawn> {
                let mut popup = Popup::new(app, area, buffer);
                let drawn = match self { $(Self::$kind(it) => it.draw(&mut popup, docs),)* };
                let caret = popup.caret;
                drawn.map(|drawn| PopupDrawn { caret, ..drawn })
            }
        }
    };
}

popups! {
    /// The whole call in the question strip.
    Call(super::call::CallPage),
    /// Cost, context window, session and model calls.
    Status(super::status::StatusPopup),
    /// All keys and commands.
    Help(super::help::HelpList),
    /// A page of the documentation.
    Docs(super::docs::DocsPage),
    /// The settings.
    Settings(super::settings::SettingsPicker),
    /// Adding an API key.
    Login(super::login::Login),
    /// A question to confirm what the user has just requested.
    Confirm(super::confirm::Confirm),
    /// Whether to undo or redo.
    Undo(super::undo::UndoQuestion),
    /// The prompts to go back to.
    Rewind(super::undo::RewindPicker),
    /// Earlier prompts.
    HistorySearch(super::history::HistoryPicker),
    /// The search in the conversation.
    Search(super::search::SearchBar),
    /// Keyboard selection in the conversation.
    Selecting(super::selecting::Selecting),
    /// Things to copy.
    Copy(super::copy::CopyPicker),
    /// The models.
    Models(super::models::ModelPicker),
    /// The themes.
    Themes(super::themes::ThemePicker),
    /// The tree of the session.
    Tree(super::tree::TreePicker),
    /// The stored sessions.
    Sessions(super::sessions::SessionPicker),
    /// The question about a session that couldn't be opened.
    Opening(super::opening::Opening),
}

impl Overlay {
    /// Whether it shows something of the open session.
    pub(crate) fn is_of_session(&self) -> bool {
        matches!(
            self,
            Self::Call(_)
                | Self::Status(_)
                | Self::Undo(_)
                | Self::Rewind(_)
                | Self::Search(_)
                | Self::Selecting(_)
                | Self::Copy(_)
                | Self::Tree(_)
        )
    }
}

/// The topmost popup if it's of this kind; otherwise returns from the function.
macro_rules! topmost {
    ($app:ident, $kind:ident) => {
        match $app.overlays.last_mut() {
            Some($crate::app::tui::popups::Overlay::$kind(topmost)) => topmost,
            _ => return Default::default(),
        }
    };
}
pub(crate) use topmost;
