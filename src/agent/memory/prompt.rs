//! The system prompt, rendered once per session (see `session_prompt`). It doesn't name the model,
//! so models with the same edit format share it.

use std::fmt::Write;
use std::path::PathBuf;

use super::environment::Environment;
use super::system_files::SystemFiles;
use tiller_llm::{EditFormat, ToolSpec};

/// The built-in prompt. A line starting with `[a|b]` appears only if one of these tools is
/// available, `[a&b]` only if all are. `{a|b}` in a line lists the available ones. `@edit`,
/// `@apply_patch` and `@replace` stand for models with that edit format, regardless of their tools.
const BUILT_IN: &str = include_str!("../../../assets/system.md");

/// Makes system prompts.
#[derive(Clone, Debug)]
pub struct SystemPrompt {
    /// Replaces the built-in prompt.
    pub base: Option<String>,
    /// Paragraphs at the end, where nothing overrides them.
    pub append: Vec<String>,
    /// The tools' working folder.
    pub cwd: PathBuf,
    /// Facts about the environment.
    pub environment: Environment,
    /// Replaces the built-in prompt if `base` doesn't, and adds text before `append`.
    pub files: SystemFiles,
    /// The section of instruction files, or empty.
    pub instructions: String,
}

impl SystemPrompt {
    /// The prompt on `date` for models that edit in `format` and have `tools`.
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

/// Drops lines about unavailable tools, then empty sections.
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

/// Replaces `{a|b}` with the available names, joined by "and".
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
