//! One hook: when it runs, and what.

use std::path::PathBuf;
use std::time::Duration;

use super::codex::Dialect;
use super::condition::Condition;
use super::matcher::Matcher;
use super::point::HookPoint;
use tiller_llm::http::shown;

/// What to run at one point.
#[derive(Clone, Debug)]
pub struct Hook {
    /// When it runs.
    pub point: HookPoint,
    /// What it is for, as written: names of tools, a regular expression, or nothing for all.
    pub matcher: String,
    /// Which calls it is for, as written (`if`), or nothing for all.
    pub condition: String,
    /// What it runs.
    pub action: HookAction,
    /// How long it may run.
    pub timeout: Duration,
    /// Whether it runs in the background (`async`).
    pub in_background: bool,
    /// Whether the model then reads its standard error after exit code 2 (`asyncRewake`).
    pub tells_block: bool,
    /// The file that has it.
    pub file: PathBuf,
    /// Whether that is a file of the project.
    pub of_project: bool,
    pub(super) dialect: Dialect,
    pub(super) accepts: Matcher,
    pub(super) holds: Option<Condition>,
}

/// What a hook runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HookAction {
    /// For `sh -c`.
    Command(String),
    /// A request to a server.
    Post(HookPost),
}

/// A request with the hook's input as its body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HookPost {
    /// Where it goes.
    pub url: String,
    /// Its headers. `$NAME` and `${NAME}` in a value stand for a variable.
    pub headers: Vec<(String, String)>,
    /// The variables that headers may use; others are empty there.
    pub variables: Vec<String>,
}

impl Hook {
    /// What it does when, in one line.
    pub fn what(&self) -> String {
        let matcher = match self.matcher.as_str() {
            "" => String::new(),
            matcher => format!(" ({matcher})"),
        };
        let condition = match self.condition.as_str() {
            "" => String::new(),
            condition => format!(" if {condition}"),
        };
        let action = self.name().replace('\n', "⏎");
        format!("{}{matcher}{condition}: {action}", self.point.name())
    }

    /// Its command, or its address without secrets.
    pub fn name(&self) -> String {
        match &self.action {
            HookAction::Command(command) => command.clone(),
            HookAction::Post(post) => format!("POST {}", shown(&post.url)),
        }
    }
}
