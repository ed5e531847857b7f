//! The project around a running screen: whether it is trusted, which `/trust` changes, and what that
//! means for the run: instruction files and rules from the next message on, all other settings after
//! a restart.

use std::fmt::Write;
use std::path::PathBuf;

use super::config::{Layers, Settings, append_rules};
use super::rule_store::RuleScope;
use super::trust::Trust;
use crate::agent::AgentHandle;
use crate::agent::permission::Rule;

/// Settings that count while tiller runs, with all below them.
const LIVE: [&str; 3] = ["agent.", "compaction.", "retry."];

#[derive(Clone, Debug)]
pub struct Project {
    trust: Trust,
    layers: Layers,
    config_file: PathBuf,
}

impl Project {
    pub fn new(trust: Trust, layers: Layers, config_file: PathBuf) -> Self {
        Self {
            trust,
            layers,
            config_file,
        }
    }

    pub fn is_trusted(&self) -> bool {
        self.trust.is_trusted()
    }

    /// Has the agent read the project's instruction files from its next run on, or not.
    pub fn tell_agent(&self, trusted: bool, handle: &AgentHandle) {
        handle.set_instructions(self.trust.sources(trusted));
    }

    /// Keeps what the user says, and has the agent go by the project's rules, or not; what to tell
    /// the user. It counts for this session also where it cannot be kept.
    pub fn decide(&self, trusted: bool, handle: &AgentHandle) -> Result<String, String> {
        let trust = self.trust.with_verdict(trusted);
        let mut layers = self.layers.clone().without_project();
        trust.add_settings(&mut layers);
        let settings = Settings::resolve(&layers)?;
        handle.set_rules(settings.rules);
        let mut text = (trust.keep()).map_err(|error| format!("For this session only: {error}"))?;
        if let Some(fault) = &layers.project_fault {
            return Err(format!(
                "{text}\ntiller ignores the project's settings: {fault}"
            ));
        }
        let later = changed(&self.layers, &layers);
        if !later.is_empty() {
            let _ = write!(text, "\nAfter a restart: {}", later.join(", "));
        }
        Ok(text)
    }

    /// Keeps rules for later runs; what to tell the user. They count for this session also where they
    /// cannot be kept.
    pub fn keep_rules(&self, scope: RuleScope, rules: &[Rule]) -> Result<String, String> {
        let kept = match scope {
            RuleScope::Session => return Ok(String::new()),
            RuleScope::Project => self.trust.keep_rules(rules),
            RuleScope::Always => {
                append_rules(&self.config_file, rules).map(|()| self.config_file.as_path())
            }
        };
        let file = kept.map_err(|error| format!("For this session only: {error}"))?;
        let rules: Vec<String> = rules.iter().map(Rule::what).collect();
        Ok(format!("Saved in {}: {}", file.display(), rules.join(", ")))
    }
}

/// The settings that differ and count after a restart only.
fn changed(before: &Layers, after: &Layers) -> Vec<String> {
    let live = |key: &str| LIVE.iter().any(|prefix| key.starts_with(prefix));
    let entries = after.entries().into_iter();
    let later = entries.filter(|(key, value, _)| {
        !live(key) && before.get(key).is_none_or(|(before, _)| before != *value)
    });
    later.map(|(key, ..)| key).collect()
}
