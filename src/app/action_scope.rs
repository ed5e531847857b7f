//! Where the keys of an action work, and its heading in the help.

/// Where the keys of an action work. Keys of a popup take precedence over those that work everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In the editor and in every popup.
    Everywhere,
    /// In every popup, and in the answers of a question.
    Popup,
    /// In a list that filters as you type.
    List,
    /// In the session tree, which is also a list.
    Tree,
    /// In the list of sessions, which is also a list.
    Sessions,
    /// While the user selects text with the keyboard.
    Selecting,
    /// In a popup that shows a text.
    Pager,
}

impl Scope {
    /// The scope to search next.
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
    /// Sending messages.
    Sending,
    /// Stopping, undoing, trying.
    Stopping,
    /// Models, context and cost.
    Model,
    /// Sessions and their branches.
    Sessions,
    /// Permissions and trust.
    Permissions,
    /// Reading and copying.
    Looking,
    /// Editing the prompt.
    Writing,
    /// The program itself.
    Program,
    /// Keys that work in popups only.
    Popups,
}

impl Group {
    /// All groups in the order of the help.
    pub const ALL: [Self; 9] = [
        Self::Sending,
        Self::Stopping,
        Self::Model,
        Self::Sessions,
        Self::Permissions,
        Self::Looking,
        Self::Writing,
        Self::Program,
        Self::Popups,
    ];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Sending => "Send and steer",
            Self::Stopping => "Stop and go back",
            Self::Model => "Models, context and cost",
            Self::Sessions => "Sessions",
            Self::Permissions => "Permissions",
            Self::Looking => "Read and copy",
            Self::Writing => "Edit the prompt",
            Self::Program => "Settings and help",
            Self::Popups => "In lists and questions",
        }
    }
}
