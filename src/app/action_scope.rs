//! Where the keys of an action count, and under which heading it stands in the help.

/// Where the keys of an action count. Those of a popup come before those that count everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In the editor and in every popup.
    Everywhere,
    /// In every popup, and in the list of answers to a question.
    Popup,
    /// In a list that can be filtered by typing.
    List,
    /// In the tree of the session, which is a list too.
    Tree,
    /// In the list of sessions, which is a list too.
    Sessions,
    /// While text of the conversation is selected with the keys.
    Selecting,
    /// In a popup that is only read.
    Pager,
}

impl Scope {
    /// The scope whose bindings are looked at after its own.
    pub fn outer(self) -> Option<Self> {
        match self {
            Self::Everywhere => None,
            Self::Popup => Some(Self::Everywhere),
            Self::Sessions | Self::Tree => Some(Self::List),
            Self::List | Self::Selecting | Self::Pager => Some(Self::Popup),
        }
    }

    /// The section of a key file that its actions are in.
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

/// The heading an action stands under in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Sending and stopping.
    Talking,
    /// Who answers.
    Model,
    /// Looking at the transcript.
    Looking,
    /// Writing in the editor.
    Writing,
    /// Keys that count in a popup only.
    Popups,
    /// The program itself.
    Program,
}

impl Group {
    /// All groups in the order of the help.
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
