//! Editing the rule that an answer adds, before it takes effect.

use super::questions;
use crate::agent::permission::{Rule, rules_to_toml};
use crate::agent::{Answer, Subject};
use crate::app::config::read_answer;
use crate::app::rule_store::RuleScope;
use crate::app::tui::app::App;
use crate::app::tui::composer::Composer;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::layout::editor_size;
use crate::app::tui::rule_draft::RuleDraft;

/// Opens an editor with the rules that would answer the question.
pub fn open(app: &mut App) {
    let question = app.asks().map(|question| &question.subject);
    let Some(Subject::Permission(subject)) = question else {
        return;
    };
    let text = rules_to_toml(&subject.suggestions);
    let (width, rows) = editor_size(app.size);
    let mut composer = Composer::new(width, rows);
    composer.set(text.trim_end());
    app.hint = None;
    app.rule = Some(Box::new(RuleDraft {
        scope: app.strip.scope,
        message: std::mem::replace(&mut app.composer, composer),
        fault: None,
    }));
}

/// Enter: answers the question with the edited rules, or shows what's wrong with them.
pub fn submit(app: &mut App) -> Vec<Effect> {
    let Some(rule) = &mut app.rule else {
        return Vec::new();
    };
    if app.composer.break_at_backslash() {
        return Vec::new();
    }
    let rules = match read_answer(&app.composer.text()) {
        Ok(rules) => rules,
        Err(fault) => {
            rule.fault = Some((fault, app.composer.revision()));
            return Vec::new();
        }
    };
    let scope = rule.scope;
    if !questions::is_shown(app) {
        return Vec::new();
    }
    answer(app, scope, rules)
}

/// Allows the call and adds these rules.
pub fn answer(app: &mut App, scope: RuleScope, rules: Vec<Rule>) -> Vec<Effect> {
    let answer = Answer::Allow {
        rules: rules.clone(),
    };
    let mut effects = questions::give(app, answer);
    if scope != RuleScope::Session {
        effects.push(Effect::KeepRules(scope, rules));
    }
    effects
}
