//! The system prompt, rendered once for a session (see `session_prompt`). It does not name the
//! model, so that models that edit in the same way share it.

use std::fmt::Write;
use std::path::PathBuf;

use super::environment::Environment;
use super::system_files::SystemFiles;
use crate::llm::{EditFormat, ToolSpec};

/// The built-in prompt. A line that begins with `[a|b]` is kept only when one of these tools is
/// there, `[a&b]` only when all are; `{a|b}` in a line names those of them that are. `@edit`,
/// `@apply_patch` and `@replace` stand for the models that edit so, whatever tools they have.
const BUILT_IN: &str = include_str!("../../../assets/system.md");

/// Makes system prompts.
#[derive(Clone, Debug)]
pub struct SystemPrompt {
    /// Replaces the built-in prompt.
    pub base: Option<String>,
    /// Paragraphs at the end, where nothing overrides them.
    pub append: Vec<String>,
    /// The folder the tools work in.
    pub cwd: PathBuf,
    /// What is known of that place.
    pub environment: Environment,
    /// What replaces the built-in prompt when `base` does not, and what is added before `append`.
    pub files: SystemFiles,
    /// The section of the instruction files, or nothing.
    pub instructions: String,
}

impl SystemPrompt {
    /// The prompt of `date` for models that edit in `format` and are offered `tools`.
    pub fn render(
        &self,
        tools: &[ToolSpec],
        format: EditFormat,
        date: jiff::civil::Date,
    ) -> String {
        let mut tools: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        tools.push(match format {
            EditFormat::Edit => "@edit",
            EditFormat::ApplyPatch => "@apply_patch",
            EditFormat::Replace => "@replace",
        });
        let mut out = match self.base.as_ref().or(self.files.base.as_ref()) {
            Some(base) => base.trim_end().to_owned(),
            None => fit_to_tools(BUILT_IN, &tools),
        };
        out.push_str(&self.instructions);
        let _ = write!(
            out,
            "\n\n# Environment\n\nWorking directory: {}\nPlatform: {} {}\n",
            self.cwd.display(),
            std::env::consts::OS,
            std::env::consts::ARCH,
        );
        let Environment {
            shell,
            repository,
            git,
        } = &self.environment;
        if !shell.is_empty() && tools.contains(&"bash") {
            let _ = writeln!(out, "Shell: {shell}");
        }
        let git = git.as_deref().unwrap_or_default();
        let _ = write!(out, "Date: {date}\n{repository}{git}");
        for paragraph in self.files.append.iter().chain(&self.append) {
            let _ = write!(out, "\n{}\n", paragraph.trim_end());
        }
        out
    }
}

/// Drops the lines, and then the headings, that speak of tools that are not there.
fn fit_to_tools(text: &str, tools: &[&str]) -> String {
    let mut out = String::new();
    let mut skipping = false;
    for line in text.trim_end().lines() {
        if line.starts_with('#') {
            skipping = line == "# Tools" && tools.iter().all(|name| name.starts_with('@'));
        }
        let kept = match line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] "))
        {
            Some((condition, line)) if holds(condition, tools) => line,
            Some(_) => continue,
            None => line,
        };
        if !skipping {
            out.push_str(&name_tools(kept, tools));
            out.push('\n');
        }
    }
    out.trim_end().to_owned()
}

fn holds(condition: &str, tools: &[&str]) -> bool {
    let there = |name: &str| tools.contains(&name);
    if condition.contains('&') {
        condition.split('&').all(there)
    } else {
        condition.split('|').any(there)
    }
}

/// Fills in `{a|b}`: those of the names that are there, joined by "and".
fn name_tools(line: &str, tools: &[&str]) -> String {
    let Some((before, rest)) = line.split_once('{') else {
        return line.to_owned();
    };
    let Some((names, after)) = rest.split_once('}') else {
        return line.to_owned();
    };
    let present: Vec<_> = names
        .split('|')
        .filter(|name| tools.contains(name))
        .collect();
    format!("{before}{}{after}", present.join(" and "))
}
