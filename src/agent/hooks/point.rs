//! The points at which hooks run.

use std::time::Duration;

/// A point at which hooks run. The names are Claude Code's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookPoint {
    /// The user's prompt is about to join the conversation. May block it or add context.
    UserPromptSubmit,
    /// A slash command of the user's own was expanded into the prompt. May block it or add context.
    UserPromptExpansion,
    /// The first prompt of a session that was begun, opened or compacted. May add context.
    SessionStart,
    /// A valid call is about to be judged. May refuse it, allow it, ask about it or change its arguments.
    PreToolUse,
    /// The user is about to be asked about a call. May answer first.
    PermissionRequest,
    /// A call has succeeded. May tell the model something, or stop the run.
    PostToolUse,
    /// A call has failed. May tell the model something.
    PostToolUseFailure,
    /// All calls of an answer have ended. May stop the run, or tell the model something.
    PostToolBatch,
    /// The model has answered, and nothing is left to do. May make it continue.
    Stop,
    /// The run ends because the model can't be reached or refuses. Nobody waits for these hooks.
    StopFailure,
    /// The conversation is about to be compacted. May cancel that, or say what to keep.
    PreCompact,
    /// The conversation was compacted.
    PostCompact,
    /// The user is wanted. Nobody waits for these hooks.
    Notification,
    /// The session ends.
    SessionEnd,
}

impl HookPoint {
    /// All points, in the order in which a session reaches them.
    pub const ALL: [Self; 14] = [
        Self::SessionStart,
        Self::UserPromptExpansion,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PostToolBatch,
        Self::Notification,
        Self::PreCompact,
        Self::PostCompact,
        Self::Stop,
        Self::StopFailure,
        Self::SessionEnd,
    ];

    /// Its name in settings and on standard input.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SessionStart => "SessionStart",
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::UserPromptExpansion => "UserPromptExpansion",
            Self::PostToolBatch => "PostToolBatch",
            Self::Stop => "Stop",
            Self::StopFailure => "StopFailure",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::Notification => "Notification",
            Self::SessionEnd => "SessionEnd",
        }
    }

    /// How long its hooks may take unless they set a `timeout`.
    pub(super) const fn time_limit(self) -> Duration {
        match self {
            Self::SessionEnd => Duration::from_millis(1500),
            Self::UserPromptSubmit => Duration::from_secs(30),
            _ => Duration::from_mins(1),
        }
    }

    /// Whether plain text on standard output is meant for the model.
    pub(super) const fn reads_text(self) -> bool {
        matches!(
            self,
            Self::SessionStart
                | Self::UserPromptExpansion
                | Self::UserPromptSubmit
                | Self::PreCompact
        )
    }

    /// Whether `matcher` means anything.
    pub(super) const fn has_matcher(self) -> bool {
        !matches!(
            self,
            Self::UserPromptSubmit | Self::PostToolBatch | Self::Stop
        )
    }

    /// Whether it is about one call of a tool.
    pub(super) const fn has_tool(self) -> bool {
        matches!(
            self,
            Self::PreToolUse
                | Self::PermissionRequest
                | Self::PostToolUse
                | Self::PostToolUseFailure
        )
    }
}
