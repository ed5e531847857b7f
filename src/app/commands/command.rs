//! One slash command.

use std::fmt;
use std::hash::{Hash, Hasher};

use futures_util::future::BoxFuture;

use super::prompts::ADDED;
use super::{compact, thinking};
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;

/// A slash command.
pub struct SlashCommand {
    /// Its row of the table: name, help, argument.
    pub spec: ActionSpec,
    /// Arguments to suggest, each with an explanation.
    pub arguments: &'static [(&'static str, &'static str)],
    /// What it does.
    pub run: Run,
}

/// What a command does.
#[derive(Clone, Copy)]
pub enum Run {
    /// Sends this prompt to the model, with the argument below it.
    Prompt(&'static str),
    /// Commands the agent, whose events show what it does. The returned text is for front ends without a
    /// screen; the screen drops it.
    Agent(RunFn),
    /// Everything else. Only the returned text shows what it does.
    Host(RunFn),
}

/// Runs a command with its argument. Returns a text for the user.
///
/// Sends its commands to the agent before it waits for anything, so that later ones don't overtake them.
pub type RunFn = for<'a> fn(&'a Host, &'a str) -> Running<'a>;

/// A running command.
pub type Running<'a> = BoxFuture<'a, Result<String, String>>;

impl SlashCommand {
    /// A command that only sends a prompt.
    pub(super) const fn of_prompt(
        this: &'static Self,
        name: &'static str,
        help: &'static str,
        argument: Option<&'static str>,
        prompt: &'static str,
    ) -> Self {
        Self {
            spec: ActionSpec {
                action: Action::Command(this),
                name,
                help,
                scope: Scope::Everywhere,
                group: Group::Sending,
                slash: Some(name),
                argument,
            },
            arguments: &[],
            run: Run::Prompt(prompt),
        }
    }

    /// The name, without the slash.
    pub fn name(&self) -> &'static str {
        self.spec.slash.unwrap_or(self.spec.name)
    }

    /// Whether it asks the model, or is about its abilities.
    pub fn needs_model(&self) -> bool {
        let is_prompt = matches!(self.run, Run::Prompt(_));
        is_prompt || [&compact::COMMAND, &thinking::COMMAND].contains(&self)
    }

    /// Runs it with its argument. Commands that send a prompt do nothing here.
    pub fn start<'a>(&self, host: &'a Host, argument: &'a str) -> Running<'a> {
        match self.run {
            Run::Agent(run) | Run::Host(run) => run(host, argument),
            Run::Prompt(_) => Box::pin(async { Ok(String::new()) }),
        }
    }

    /// The prompt that it sends, if that's what it does.
    pub fn prompt(&self, argument: &str) -> Option<String> {
        let Run::Prompt(prompt) = self.run else {
            return None;
        };
        let prompt = prompt.trim_end();
        Some(match argument.trim() {
            "" => prompt.to_owned(),
            added => format!("{prompt}{ADDED}{added}"),
        })
    }
}

impl fmt::Debug for SlashCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for SlashCommand {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for SlashCommand {}

impl Hash for SlashCommand {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
