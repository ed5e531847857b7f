//! The system prompt, rendered once for a session (see `session_prompt`). It does not name the
//! model, so that models that edit in the same way share it.

use std::fmt::Write;
use std::path::PathBuf;

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
    /// Paragraphs behind it.
    pub append: Vec<String>,
    /// The folder the tools work in.
    pub cwd: PathBuf,
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
        let mut out = match &self.base {
            Some(base) => base.trim_end().to_owned(),
            None => fit_to_tools(BUILT_IN, &tools),
        };
        for paragraph in &self.append {
            out.push_str("\n\n");
            out.push_str(paragraph.trim_end());
        }
        let _ = write!(
            out,
            "\n\n# Environment\n\nWorking directory: {}\nPlatform: {} {}\nDate: {date}\n",
            self.cwd.display(),
            std::env::consts::OS,
            std::env::consts::ARCH,
        );
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

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt() -> SystemPrompt {
        SystemPrompt {
            base: None,
            append: Vec::new(),
            cwd: PathBuf::from("/home/me/shop"),
        }
    }

    const DAY: jiff::civil::Date = jiff::civil::date(2026, 11, 21);
    const LOOKING: [&str; 4] = ["read", "grep", "find", "ls"];
    const DOING: [&str; 2] = ["write", "bash"];
    const SHAPES: [(&str, EditFormat); 3] = [
        ("edit", EditFormat::Edit),
        ("apply_patch", EditFormat::ApplyPatch),
        ("replace", EditFormat::Replace),
    ];

    fn text(prompt: &SystemPrompt, tools: &[&str], format: EditFormat) -> String {
        let spec = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            ..ToolSpec::default()
        };
        let tools: Vec<_> = tools.iter().map(spec).collect();
        prompt.render(&tools, format, DAY)
    }

    fn all(shape: &'static str) -> Vec<&'static str> {
        [&LOOKING[..], &DOING, &[shape]].concat()
    }

    #[test]
    fn speaks_only_of_tools_that_are_there() {
        for (shape, format) in SHAPES {
            let every = text(&prompt(), &all(shape), format);
            assert!(every.contains("Search with grep and find before"));
            // Q 12, 39 to 41
            for (other, _) in SHAPES {
                let told = every.contains(&format!("Use {other} for"));
                assert_eq!(told, other == shape, "{other} in {every}");
            }
            assert!(!every.contains('['), "conditions are left in: {every}");
            // M5
            let some = text(&prompt(), &["read", "find"], format);
            assert!(some.contains("Search with find before"));
            for gone in ["edit", "bash", "grep", "apply_patch", "replace"] {
                assert!(!some.contains(gone), "{gone} in {some}");
            }
            let none = text(&prompt(), &[], format);
            assert!(!none.contains("# Tools"));
            assert!(none.contains("# How to answer"));
        }
    }

    #[test]
    fn is_short_and_stable() {
        for (shape, format) in SHAPES {
            let once = text(&prompt(), &all(shape), format);
            assert_eq!(once, text(&prompt(), &all(shape), format));
            assert!(once.len() < 3_500, "{} bytes", once.len());
            assert!(once.ends_with("\nDate: 2026-11-21\n"));
            assert!(once.contains("Working directory: /home/me/shop\n"));
        }
    }

    #[test]
    fn can_be_replaced_and_added_to() {
        let prompt = SystemPrompt {
            base: Some("Be brief.\n".into()),
            append: vec!["One.".into(), "Two.\n".into()],
            ..prompt()
        };
        let text = text(&prompt, &all("edit"), EditFormat::Edit);
        assert!(text.starts_with("Be brief.\n\nOne.\n\nTwo.\n\n# Environment\n"));
    }
}
