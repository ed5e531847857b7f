//! The current mode and rules.

use std::sync::{Arc, LazyLock};

use super::mode::PermissionMode;
use super::rule::{Action, Origin, Rule};
use super::rules_text::parse_rules;

/// The built-in rules. Parsed at the first call, not at startup.
static BUILT_IN: LazyLock<Vec<Arc<Rule>>> = LazyLock::new(|| {
    let text = include_str!("../../../assets/permission.toml");
    let rules = parse_rules(text, |_| Origin::BuiltIn);
    let rules = rules.expect("assets/permission.toml is checked by a test");
    rules.into_iter().map(Arc::new).collect()
});

/// The basis of decisions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The permission mode.
    pub mode: PermissionMode,
    /// True if opening a session in which the user chose a stricter mode doesn't restore that.
    pub keeps_mode: bool,
    /// Why no sandbox works on this machine; `None` if one does, or if that isn't known yet.
    pub no_sandbox: Option<String>,
    own: Arc<Vec<Arc<Rule>>>,
}

impl Policy {
    /// A policy of the built-in rules plus `own`.
    pub fn new(mode: PermissionMode, own: Vec<Rule>) -> Self {
        Self {
            mode,
            keeps_mode: false,
            no_sandbox: None,
            own: Arc::new(own.into_iter().map(Arc::new).collect()),
        }
    }

    /// All rules, the built-in ones first.
    pub fn rules(&self) -> impl Iterator<Item = &Arc<Rule>> {
        BUILT_IN.iter().chain(self.own.iter())
    }

    /// The rules of the user, the project and this session, without the answers that are stored too.
    pub fn own_rules(&self) -> impl Iterator<Item = &Arc<Rule>> {
        let is_stored = |rule: &Rule| self.stored().any(|it| it.says_same(rule));
        (self.own.iter()).filter(move |it| it.origin != Origin::Session || !is_stored(it))
    }

    fn stored(&self) -> impl Iterator<Item = &Arc<Rule>> {
        (self.own.iter()).filter(|it| it.origin != Origin::Session)
    }

    /// Removes the user's rules that say the same as `rule`, wherever they come from.
    pub fn remove(&mut self, rule: &Rule) {
        Arc::make_mut(&mut self.own)
            .retain(|own| !own.says_same(rule) || matches!(own.origin, Origin::Project(_)));
    }

    /// Replaces the stored rules with `stored`. An answer of this session stays, because without a sandbox it
    /// allows more than the same stored rule. It goes if it was stored too and the user has removed it there.
    /// Returns true if the rules say something else now.
    pub fn replace_stored(&mut self, stored: Vec<Rule>) -> bool {
        let mut own: Vec<Arc<Rule>> = stored.into_iter().map(Arc::new).collect();
        let says = |rules: &[Arc<Rule>], rule: &Rule| rules.iter().any(|it| it.says_same(rule));
        let answers = self.own.iter().filter(|it| it.origin == Origin::Session);
        let is_removed =
            |rule: &Rule| self.stored().any(|it| it.says_same(rule)) && !says(&own, rule);
        let answers: Vec<_> = answers.filter(|it| !is_removed(it)).cloned().collect();
        own.extend(answers);
        let is_changed = own.iter().any(|rule| !says(&self.own, rule))
            || self.own.iter().any(|rule| !says(&own, rule));
        self.own = Arc::new(own);
        is_changed
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: Rule) {
        Arc::make_mut(&mut self.own).push(Arc::new(rule));
    }

    /// Whether a call of `tool` needs lookups of its paths and repository. In full mode ordinary calls
    /// don't, so tiller decides them at once.
    pub fn looks_at_files(&self, tool: &str) -> bool {
        let about = |rule: &Arc<Rule>| rule.path.is_some() && rule.is_about(tool);
        self.mode != PermissionMode::Full || self.has_own_command_rules() || self.rules().any(about)
    }

    /// Whether a rule of the user or a project could stop a command.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(word: &str, origin: Origin) -> Rule {
        Rule {
            prefix: vec![word.to_owned()],
            ..Rule::of_tool("bash", Action::Allow, origin)
        }
    }

    #[test]
    fn stored_rules_are_replaced_and_answers_stay() {
        let user = || Origin::User(String::from("config.toml:1"));
        let own = vec![
            rule("make", user()),
            rule("ninja", Origin::Session),
            rule("just", Origin::Session),
        ];
        let mut policy = Policy::new(PermissionMode::Ask, own);
        let words = |policy: &Policy| {
            let words = policy.own_rules().map(|it| it.prefix.join(" "));
            words.collect::<Vec<_>>().join(" ")
        };
        // An answer that the file has now is the file's, so it goes when the file no longer has it.
        let stored = vec![rule("ninja", user()), rule("make", user())];
        assert!(!policy.replace_stored(stored));
        assert_eq!(words(&policy), "ninja make just");
        let is_answer = |it: &Arc<Rule>| it.prefix == ["ninja"] && it.origin == Origin::Session;
        assert!(policy.rules().any(is_answer));
        assert!(policy.replace_stored(Vec::new()));
        assert_eq!(words(&policy), "just");
    }
}
