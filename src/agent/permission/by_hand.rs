//! How users can allow a command for which tiller suggests no rule: with a rule for exactly this
//! command, which they write themselves. Such a rule could still send data, so tiller doesn't offer it as
//! an answer.

use super::decision::{Confinement, Decision, Verdict};
use super::outside::is_alone;
use super::read_only::is_read_only;
use super::remotes;
use super::rule::{Action, Origin, Rule};
use super::shell::{Word, read};

/// How users can allow a command by hand.
#[derive(Clone, Debug, PartialEq)]
pub enum ByHand {
    /// With this rule.
    Rule(Box<Rule>),
    /// A rule can let this command out of the sandbox only if it is alone on its line.
    RunAlone(String),
}

impl Decision {
    /// How users can allow the command line `text`, if a built-in rule asks about it and tiller suggests
    /// no rule.
    pub fn by_hand(&self, text: &str) -> Option<ByHand> {
        let built_in = |rule: &Rule| rule.origin == Origin::BuiltIn;
        let Verdict::Ask(wanted) = self.verdict else {
            return None;
        };
        let asking = self.rule.as_ref().filter(|rule| built_in(rule))?;
        let (sandbox, network) = (asking.sandbox, asking.network);
        if !self.suggestions.is_empty() || sandbox && !network {
            return None;
        }
        let line = read(text);
        let is_free = wanted == Confinement::Free;
        if is_free && !is_alone(&line, text) {
            return self.flagged().into_iter().next().map(ByHand::RunAlone);
        }
        let commands = line.commands.iter().zip(&self.commands);
        let (asked, others): (Vec<_>, Vec<_>) =
            commands.partition(|(_, judged)| judged.action == Action::Ask);
        let [(command, _)] = asked.as_slice() else {
            return None;
        };
        let is_plain = line.doubts.is_empty()
            && line.writes.is_empty()
            && line.sets.is_empty()
            && !line.calculates;
        let can_leave = is_free || is_plain && others.iter().all(|(one, _)| is_read_only(one));
        if !can_leave || command.wraps || command.raises || remotes::is_about(command) {
            return None;
        }
        let words: Option<Vec<String>> = command.words.iter().map(Word::exact).collect();
        Some(ByHand::Rule(Box::new(Rule {
            prefix: words?,
            exact: true,
            sandbox: !is_free,
            network: !is_free,
            ..Rule::of_tool(&asking.tool, Action::Allow, Origin::Session)
        })))
    }
}
