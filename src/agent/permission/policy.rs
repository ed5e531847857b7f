//! The mode and the rules in force.

use std::sync::{Arc, LazyLock};

use super::mode::PermissionMode;
use super::rule::{Action, Origin, Rule};
use super::rules_text::parse_rules;

/// The rules that came with the program. Read when the first call is judged, not at the start.
static BUILT_IN: LazyLock<Vec<Arc<Rule>>> = LazyLock::new(|| {
    let text = include_str!("../../../assets/permission.toml");
    let rules = parse_rules(text, |_| Origin::BuiltIn);
    let rules = rules.expect("assets/permission.toml is checked by a test");
    rules.into_iter().map(Arc::new).collect()
});

/// What is decided by. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Policy {
    /// How much is done without a question.
    pub mode: PermissionMode,
    /// Why no sandbox works on this machine; `None` where one does, or nobody knows yet.
    pub no_sandbox: Option<String>,
    own: Arc<Vec<Arc<Rule>>>,
}

impl Policy {
    /// A policy of the built-in rules and `own`.
    pub fn new(mode: PermissionMode, own: Vec<Rule>) -> Self {
        Self {
            mode,
            no_sandbox: None,
            own: Arc::new(own.into_iter().map(Arc::new).collect()),
        }
    }

    /// All rules, the built-in ones first.
    pub fn rules(&self) -> impl Iterator<Item = &Arc<Rule>> {
        BUILT_IN.iter().chain(self.own.iter())
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: Rule) {
        Arc::make_mut(&mut self.own).push(Arc::new(rule));
    }

    /// Whether it counts for calls of `tool` what the file system says of their paths and of the
    /// repository. Not for ordinary calls in full mode, which are judged at once.
    pub fn looks_at_files(&self, tool: &str) -> bool {
        let about = |rule: &Arc<Rule>| rule.path.is_some() && rule.is_about(tool);
        self.mode != PermissionMode::Full || self.has_own_command_rules() || self.rules().any(about)
    }

    /// Whether a rule of somebody's own may stop a command.
    pub(super) fn has_own_command_rules(&self) -> bool {
        self.own.iter().any(|rule| {
            rule.action != Action::Allow && (rule.is_about_commands() || rule.path.is_some())
        })
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(PermissionMode::default(), Vec::new())
    }
}
