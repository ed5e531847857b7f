//! What kinds of entries there are: what the tree knows of an entry without reading what it holds.

// The `customType`s of entries; [`Kind`] says what they are.
pub(super) const PROMPT: &str = "tiller.prompt";
pub(super) const THINKING_FROM: &str = "tiller.thinking_from";
pub(super) const TRIAL: &str = "tiller.try";
pub(super) const UNCOMPACTED: &str = "tiller.uncompacted";
pub(super) const UNDO: &str = "tiller.undo";

pub(super) const QUEUED: &str = "tiller.queued";
pub(super) const UNQUEUED: &str = "tiller.unqueued";

pub(super) const RUN: &str = "tiller.run";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message of the user, or of the program in their place.
    User,
    Assistant,
    ToolResult,
    /// A message of another role, as pi and its extensions write them.
    OtherMessage,
    /// A message an extension put into the context.
    CustomMessage,
    Compaction,
    BranchSummary,
    /// Another content for an earlier entry, or none.
    ContextEdit,
    ModelChange,
    ThinkingLevelChange,
    /// System prompt and tools of the requests from here on.
    Prompt,
    /// Thinking before it is not sent any more.
    ThinkingFrom,
    Trial,
    Uncompacted,
    /// A turn began to change files.
    Undo,
    /// Tokens were spent beside the conversation.
    Usage,
    RunEnd,
    Queued,
    Unqueued,
    /// Anything else, which is no part of a context.
    Other,
}

impl Kind {
    /// Whether it says something to the user.
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
            | Self::Queued
            | Self::Unqueued
            | Self::Other => false,
        }
    }

    /// Whether tokens may have been spent on it.
    pub fn may_have_usage(self) -> bool {
        matches!(
            self,
            Self::Assistant | Self::Compaction | Self::BranchSummary | Self::Usage
        )
    }

    /// The kind of an entry of this `type`, with the `role` of its message or its `customType`.
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
            ("custom", _, Some(QUEUED)) => Self::Queued,
            ("custom", _, Some(UNQUEUED)) => Self::Unqueued,
            _ => Self::Other,
        }
    }
}
