//! Where an action's keys work, and its heading in the help.

/// Where an action's keys work. A popup's keys take precedence over global ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In the editor and in every popup.
    Everywhere,
    /// In every popup, and in a question's list of answers.
    Popup,
    /// In a list that filters as you type.
    List,
    /// In the session tree, which is also a list.
    Tree,
    /// In the list of sessions, which is also a list.
    Sessions,
    /// While keys select text in the conversation.
    Selecting,
    /// In a read-only popup.
    Pager,
}

impl Scope {
    /// The scope to search after this one.
    pub fn outer(self) -> Option<Self> {
        match self {
            Self::Everywhere => None,
            Self::Popup => Some(Self::Everywhere),
            Self::Sessions | Self::Tree => Some(Self::List),
            Self::List | Self::Selecting | Self::Pager => Some(Self::Popup),
        }
    }

    /// The section of its actions in a key file.
    pub fn section(self, group: Group) -> &'static str {
        match self {
            Self::Everywhere if group == Group::Writing => "editor",
            Self::Everywhere => "global",
            Self::Popup => "popup",
            Self::List => "list",
            Self::Tree => "tree",
            Self::Sessions => "sessions",
            Self::Selecting => "selection",
            Self::Pager => "pager",
        }
    }
}

/// The heading of an action in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Sending and stopping.
    Talking,
    /// Choosing the model.
    Model,
    /// Browsing the transcript.
    Looking,
    /// Writing in the editor.
    Writing,
    /// Keys that work only in popups.
    Popups,
    /// The program itself.
    Program,
}

impl Group {
    /// All groups, in the order of the help.
    pub const ALL: [Self; 6] = [
        Self::Talking,
        Self::Model,
        Self::Looking,
        Self::Writing,
        Self::Popups,
        Self::Program,
    ];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Talking => "Talking to the model",
            Self::Model => "Choosing the model",
            Self::Looking => "Browsing",
            Self::Writing => "Writing",
            Self::Popups => "In lists and questions",
            Self::Program => "The program",
        }
    }
}
