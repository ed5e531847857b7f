//! Checks that a rule makes sense: it can match something, and it matches its own examples.

use crate::tool::MCP_PREFIX;
use std::path::Path;

use super::matching::{Holds, holds};
use super::rule::{Action, Origin, Rule, host_pattern, path_pattern};
use super::shell::{is_wrapper, read};
use crate::tools::WEB_FETCH;
use crate::tools::own::is_tool_name;
use crate::word_list::{WordList, like};
use tiller_llm::nearest::typo_of;

/// Programs that run any code they get.
const INTERPRETERS: WordList =
    WordList("python python2 python3 node deno bun perl ruby php lua npx uvx");
const COMMANDS: &str = "bash";

impl Rule {
    /// Checks the rule; `tools` are the names of all tools.
    ///
    /// # Errors
    /// What is wrong with it, and how to fix it.
    pub fn check(&self, tools: &[&str]) -> Result<(), String> {
        self.check_tool(tools)?;
        self.check_subject()?;
        self.check_freedom()?;
        self.check_examples()
    }

    fn check_tool(&self, tools: &[&str]) -> Result<(), String> {
        let tool = &self.tool;
        let known = tools.iter().any(|name| like(name, tool));
        if !known && !tool.starts_with(MCP_PREFIX) {
            let meant = other_name(tool);
            let typo = typo_of(tool, tools.iter().copied());
            let is_meant = tools.contains(&&*meant);
            // A tool of the user, which may be in another project.
            if is_tool_name(tool) && typo.is_none() && !is_meant {
                return Ok(());
            }
            let instead = if is_meant {
                format!("write '{meant}'")
            } else {
                format!("use one of {}", tools.join(", "))
            };
            return Err(format!("unknown tool '{tool}'; {instead}"));
        }
        if self.action == Action::Allow && *tool == "*" {
            return Err(String::from(
                "it would allow every tool; name a tool, or set permission.mode",
            ));
        }
        Ok(())
    }

    fn check_subject(&self) -> Result<(), String> {
        let never = |why: &str| Err(format!("it can never match: {why}"));
        let runs_commands = like(COMMANDS, &self.tool);
        if !self.prefix.is_empty() {
            if !runs_commands {
                return never("only 'bash' runs commands; remove `prefix`");
            }
            if self.path.is_some() {
                return never("it has both a prefix and a path; split it into two rules");
            }
        }
        if self.prefix.is_empty() && !(self.with.is_empty() && self.unless.is_empty()) {
            return never("`with` and `unless` need a `prefix`");
        }
        if self.exact
            && (self.prefix.is_empty() || !(self.with.is_empty() && self.unless.is_empty()))
        {
            return never("`exact` needs a `prefix`, and no `with` or `unless`");
        }
        if self.exact && self.action != Action::Allow {
            return never(
                "`exact` works only with `allow`: another spelling would get around the rule",
            );
        }
        let wildcards = |word: &&String| !self.exact && has_wildcard(word);
        if let Some(word) = self.prefix.iter().find(wildcards) {
            let words = self.prefix.iter().flat_map(|word| word.split_whitespace());
            let words = words.map(|word| word.trim_end_matches(":*"));
            let words = words.filter(|word| !word.is_empty() && *word != "*");
            let words: Vec<String> = words.map(|word| format!("{word:?}")).collect();
            let instead = match words.as_slice() {
                [] => String::from("the first words of the command"),
                words => words.join(", "),
            };
            return never(&format!("{word:?}: no wildcards here; write {instead}"));
        }
        for word in self.prefix.iter().filter(|_| !self.exact) {
            let parts: Vec<&str> = word.split_whitespace().collect();
            if parts.len() > 1 {
                let words = parts.iter().map(|part| format!("\"{part}\""));
                let words: Vec<String> = words.collect();
                return never(&format!(
                    "the word '{word}' contains a space; write {}",
                    words.join(", ")
                ));
            }
            if word.split('|').any(str::is_empty) {
                return never("`prefix` has an empty word");
            }
        }
        if self.with.iter().chain(&self.unless).any(String::is_empty) {
            return never("`with` or `unless` has an empty word");
        }
        if let Some(program) = self.prefix.first()
            && self.action != Action::Allow
            && program.contains('/')
        {
            return never("name the program without its folder");
        }
        let Some(path) = &self.path else {
            return Ok(());
        };
        if self.tool.starts_with(MCP_PREFIX)
            || self.tool == COMMANDS && self.action == Action::Allow
        {
            return never(&format!(
                "tiller can't tell which files '{}' touches",
                self.tool
            ));
        }
        if path.is_empty() || path.split('/').any(|part| part == "..") {
            return never("`path` must not be empty or contain '..'");
        }
        if self.is_about_hosts() && host_pattern(path).is_none() {
            return never(&format!(
                "'{path}' isn't a host: write only its name, as in \"example.org\" or \"*.example.org\""
            ));
        }
        match path_pattern(path, None) {
            Some(_) => Ok(()),
            None => Err(format!("the path '{path}' is not a valid pattern")),
        }
    }

    fn check_freedom(&self) -> Result<(), String> {
        if self.action == Action::Deny && (!self.sandbox || self.network) {
            return Err(String::from(
                "`deny` can't have `sandbox` or `network`; remove them",
            ));
        }
        if self.action != Action::Allow {
            return Ok(());
        }
        let Some(program) = self.prefix.first() else {
            if like(COMMANDS, &self.tool) && !self.sandbox {
                return Err(String::from(
                    "it would allow every command without a sandbox; add a `prefix`, or set \
                     permission.mode = \"full\"",
                ));
            }
            return Ok(());
        };
        for name in program.split('|') {
            let name = name.rsplit('/').next().unwrap_or(name);
            if is_wrapper(name) {
                return Err(format!(
                    "'{name}' can run any command, so this would allow everything; allow the command it \
                     runs"
                ));
            }
            if self.prefix.len() == 1 && !self.sandbox && INTERPRETERS.contains(name) {
                return Err(format!(
                    "'{name}' would run any program without a sandbox; add what it can run to the \
                     prefix"
                ));
            }
        }
        Ok(())
    }

    /// Checks the rule against its examples.
    ///
    /// # Errors
    /// The first example that fails.
    pub fn check_examples(&self) -> Result<(), String> {
        let both = self
            .matches
            .iter()
            .find(|text| self.not_matches.contains(text));
        if let Some(example) = both {
            return Err(format!("'{example}' is in both match and not_match"));
        }
        for example in &self.matches {
            if !self.holds_of_example(example) {
                return Err(format!("it doesn't match '{example}', which is in match"));
            }
        }
        for example in &self.not_matches {
            if self.holds_of_example(example) {
                return Err(format!("it matches '{example}', which is in not_match"));
            }
        }
        Ok(())
    }

    /// Whether its `path` is a host.
    fn is_about_hosts(&self) -> bool {
        self.tool != "*" && like(WEB_FETCH, &self.tool)
    }

    fn holds_of_example(&self, example: &str) -> bool {
        if self.is_about_commands() {
            let line = read(example);
            let root = "/workspace";
            return line
                .commands
                .iter()
                .any(|one| holds(self, one, root) > Holds::No);
        }
        if self.path.is_some() && self.is_about_hosts() {
            return self.holds_of_host(example);
        }
        if self.path.is_some() {
            let (root, home) = (Path::new("/workspace"), Path::new("/home/user"));
            let path = match example.strip_prefix("~/") {
                Some(rest) => home.join(rest),
                None => root.join(example),
            };
            return self.holds_of_path(&path, root, Some(home));
        }
        self.is_about(example)
    }
}

/// Whether a word of a prefix is a wildcard as other agents write them: `*`, or `run:*`.
pub(super) fn has_wildcard(word: &str) -> bool {
    let mut parts = word.split([' ', '|']);
    parts.any(|part| part == "*" || part.ends_with(":*"))
}

/// The tool that other agents call `name`, as in `Bash(git:*)`, or that only its case keeps from matching.
fn other_name(name: &str) -> String {
    let (name, _) = name.split_once('(').unwrap_or((name, ""));
    match name.to_lowercase().as_str() {
        "glob" => String::from("find"),
        "webfetch" => String::from("web_fetch"),
        lower => lower.to_owned(),
    }
}

/// Keeps the project rules that make things stricter, and names the others.
pub fn tightened(rules: Vec<Rule>) -> (Vec<Rule>, Vec<String>) {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    for rule in rules {
        if matches!(rule.origin, Origin::Project(_)) && rule.action == Action::Allow {
            dropped.push(rule.summary());
        } else if matches!(rule.origin, Origin::Project(_)) {
            kept.push(Rule {
                sandbox: true,
                network: false,
                ..rule
            });
        } else {
            kept.push(rule);
        }
    }
    (kept, dropped)
}
