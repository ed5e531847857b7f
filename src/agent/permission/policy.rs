//! The mode and the rules in force.

use std::sync::Arc;

use super::mode::PermissionMode;
use super::rule::{Action, Origin, Rule};
use super::rules_text::parse_rules;

/// The rules that came with the program.
const BUILT_IN: &str = include_str!("../../../assets/permission.toml");

/// What is decided by. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Policy {
    /// How much is done without a question.
    pub mode: PermissionMode,
    /// Why no sandbox works on this machine; `None` where one does, or nobody knows yet.
    pub no_sandbox: Option<String>,
    /// All rules, the built-in ones first.
    rules: Arc<Vec<Arc<Rule>>>,
}

impl Policy {
    /// A policy of the built-in rules and `rules`.
    pub fn new(mode: PermissionMode, rules: Vec<Rule>) -> Self {
        let built_in = parse_rules(BUILT_IN, |_| Origin::BuiltIn);
        let built_in = built_in.expect("assets/permission.toml is checked by a test");
        let rules = built_in.into_iter().chain(rules).map(Arc::new).collect();
        Self {
            mode,
            no_sandbox: None,
            rules: Arc::new(rules),
        }
    }

    /// All rules.
    pub fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: Rule) {
        Arc::make_mut(&mut self.rules).push(Arc::new(rule));
    }

    /// Whether a rule of somebody's own may stop a command.
    pub(super) fn has_own_command_rules(&self) -> bool {
        self.rules.iter().any(|rule| {
            rule.origin != Origin::BuiltIn
                && rule.action != Action::Allow
                && (rule.is_about_commands() || rule.path.is_some())
        })
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(PermissionMode::default(), Vec::new())
    }
}
