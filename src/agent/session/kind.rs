//! The kinds of entries: what the tree knows of an entry without reading its content.

// The `customType`s of entries; see [`Kind`].
pub(super) const PROMPT: &str = "tiller.prompt";
pub(super) const THINKING_FROM: &str = "tiller.thinking_from";
pub(super) const TRIAL: &str = "tiller.try";
pub(super) const UNCOMPACTED: &str = "tiller.uncompacted";
pub(super) const UNDO: &str = "tiller.undo";

pub(super) const QUEUED: &str = "tiller.queued";
pub(super) const UNQUEUED: &str = "tiller.unqueued";

pub(super) const RUN: &str = "tiller.run";

pub(super) const BUDGET: &str = "tiller.budget";

pub(super) const PERMISSION: &str = "tiller.permission";

/// The kind of an entry, which the tree knows without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message from the user, or from tiller in the user's role.
    User,
    /// A model's answer.
    Assistant,
    /// The result of a tool call.
    ToolResult,
    /// A message with another role, from pi or an extension.
    OtherMessage,
    /// A message that an extension added to the context.
    CustomMessage,
    /// A summary that replaces the entries before it.
    Compaction,
    /// A summary of an abandoned branch.
    BranchSummary,
    /// New content for an earlier entry, or its removal.
    ContextEdit,
    /// Another model from here on.
    ModelChange,
    /// Another thinking level from here on.
    ThinkingLevelChange,
    /// System prompt and tools for the requests from here on.
    Prompt,
    /// Earlier thinking is left out from here on.
    ThinkingFrom,
    /// A trial began or ended.
    Trial,
    /// The user undid the last compaction.
    Uncompacted,
    /// A turn began to change files.
    Undo,
    /// Tokens used outside the conversation.
    Usage,
    /// How a run ended, with its totals.
    RunEnd,
    /// The budget that the user set.
    Budget,
    /// The permission mode that the user chose.
    Permission,
    /// A message waits in a queue.
    Queued,
    /// Queued messages no longer wait.
    Unqueued,
    /// Anything else; not part of a context.
    Other,
}

impl Kind {
    /// True if the user sees it.
    pub fn is_shown(self) -> bool {
        match self {
            Self::User
            | Self::Assistant
            | Self::ToolResult
            | Self::OtherMessage
            | Self::CustomMessage
            | Self::Compaction
            | Self::BranchSummary => true,
            Self::ContextEdit
            | Self::ModelChange
            | Self::ThinkingLevelChange
            | Self::Prompt
            | Self::ThinkingFrom
            | Self::Trial
            | Self::Uncompacted
            | Self::Undo
            | Self::Usage
            | Self::RunEnd
            | Self::Budget
            | Self::Permission
            | Self::Queued
            | Self::Unqueued
            | Self::Other => false,
        }
    }

    /// True if it may report tokens.
    pub fn may_have_usage(self) -> bool {
        matches!(
            self,
            Self::Assistant | Self::Compaction | Self::BranchSummary | Self::Usage
        )
    }

    /// The kind for this `type` and the message's `role` or the entry's `customType`.
    pub(super) fn of(r#type: &str, role: Option<&str>, custom_type: Option<&str>) -> Self {
        match (r#type, role, custom_type) {
            ("message", Some("user"), _) => Self::User,
            ("message", Some("assistant"), _) => Self::Assistant,
            ("message", Some("toolResult"), _) => Self::ToolResult,
            ("message", Some(_), _) => Self::OtherMessage,
            ("custom_message", ..) => Self::CustomMessage,
            ("compaction", ..) => Self::Compaction,
            ("branch_summary", ..) => Self::BranchSummary,
            ("context_edit", ..) => Self::ContextEdit,
            ("usage", ..) => Self::Usage,
            ("model_change", ..) => Self::ModelChange,
            ("thinking_level_change", ..) => Self::ThinkingLevelChange,
            ("custom", _, Some(PROMPT)) => Self::Prompt,
            ("custom", _, Some(THINKING_FROM)) => Self::ThinkingFrom,
            ("custom", _, Some(TRIAL)) => Self::Trial,
            ("custom", _, Some(UNCOMPACTED)) => Self::Uncompacted,
            ("custom", _, Some(UNDO)) => Self::Undo,
            ("custom", _, Some(RUN)) => Self::RunEnd,
            ("custom", _, Some(BUDGET)) => Self::Budget,
            ("custom", _, Some(PERMISSION)) => Self::Permission,
            ("custom", _, Some(QUEUED)) => Self::Queued,
            ("custom", _, Some(UNQUEUED)) => Self::Unqueued,
            _ => Self::Other,
        }
    }
}
