//! The permission modes.

use std::fmt;
use std::str::FromStr;

/// What needs no question, from strict to free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum PermissionMode {
    /// Changes nothing: file tools can't write, and commands run in a read-only sandbox.
    Plan,
    /// Asks about everything but reading.
    Ask,
    /// Edits the workspace freely; commands run in the sandbox.
    #[default]
    Auto,
    /// Everything is allowed, without a sandbox.
    Full,
}

impl PermissionMode {
    /// All modes, from strict to free.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::Auto, Self::Full];

    /// Its name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::Full => "full",
        }
    }

    /// Tells the user that a session continues in this mode.
    pub fn restored(self) -> String {
        format!(
            "Continuing in {self} mode, as you left this session; /permission or --permission changes it"
        )
    }

    /// A few words about the mode.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Plan => "reads only, then proposes a plan",
            Self::Ask => "asks before each change and command",
            Self::Auto => "edits the project, runs commands in a sandbox",
            Self::Full => "no limits and no sandbox",
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PermissionMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mode = Self::ALL.into_iter().find(|mode| mode.name() == text);
        mode.ok_or_else(|| format!("unknown mode '{text}': use plan, ask, auto or full"))
    }
}
