//! The project of a running screen. `/trust` changes whether it is trusted: instruction files and
//! rules apply from the next message on, other settings after a restart.

use std::fmt::Write;
use std::path::PathBuf;

use tokio::sync::watch;

use super::config::{Layers, Settings, append_rules};
use super::rule_store::RuleScope;
use super::trust::Trust;
use crate::agent::AgentHandle;
use crate::agent::permission::Rule;

/// Settings that apply while tiller runs, including their sub-settings.
const LIVE: [&str; 4] = ["agent.", "compaction.", "retry.", "permission.rules"];

#[derive(Clone, Debug)]
pub struct Project {
    trust: Trust,
    layers: Layers,
    config_file: PathBuf,
    /// Whether it is trusted now. All screens of the session share it.
    trusted: watch::Sender<bool>,
}

impl Project {
    pub fn new(
        trust: Trust,
        layers: Layers,
        config_file: PathBuf,
        trusted: watch::Sender<bool>,
    ) -> Self {
        Self {
            trust,
            layers,
            config_file,
            trusted,
        }
    }

    /// Whether it is trusted, and each decision of the user about it.
    pub fn decisions(&self) -> watch::Receiver<bool> {
        self.trusted.subscribe()
    }

    /// Tells the agent whether to read the project's instruction files from its next run on, and the screens.
    pub fn tell(&self, trusted: bool, handle: &AgentHandle) {
        self.trusted.send_replace(trusted);
        handle.set_instructions(self.trust.sources(trusted));
    }

    /// Saves the user's decision and applies it to the agent's rules; returns a message. It applies
    /// to this session even if saving fails.
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

    /// Saves rules for later runs; returns a message. This session has them even if saving fails.
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

/// The changed settings that need a restart.
fn changed(before: &Layers, after: &Layers) -> Vec<String> {
    let live = |key: &str| LIVE.iter().any(|prefix| key.starts_with(prefix));
    let entries = after.entries().into_iter();
    let later = entries.filter(|(key, value, _)| {
        !live(key) && before.get(key).is_none_or(|(before, _)| before != *value)
    });
    later.map(|(key, ..)| key).collect()
}
