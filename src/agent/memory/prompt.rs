//! The system prompt, made anew before each model call from what is true then, and the same byte
//! for byte while nothing of that changes, so that prompt caches hit: the date counts by the day,
//! and nothing volatile (branch, time, file lists) is in it.

use std::fmt::Write;
use std::path::PathBuf;

use crate::agent::toolbox::Toolbox;

/// The built-in prompt. A line that begins with `[a|b]` is kept only when one of these tools is
/// there, `[a&b]` only when all are; `{a|b}` in a line names those of them that are.
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
    /// The prompt for a call that offers `toolbox`.
    pub fn render(&self, toolbox: &Toolbox) -> String {
        let names: Vec<&str> = toolbox
            .tools()
            .iter()
            .map(|tool| tool.spec().name.as_str())
            .collect();
        self.render_on(&names, jiff::Zoned::now().date())
    }

    fn render_on(&self, tools: &[&str], date: jiff::civil::Date) -> String {
        let mut out = match &self.base {
            Some(base) => base.trim_end().to_owned(),
            None => fit_to_tools(BUILT_IN, tools),
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
            skipping = line == "# Tools" && tools.is_empty();
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
    const ALL: [&str; 7] = ["read", "write", "edit", "bash", "grep", "find", "ls"];

    #[test]
    fn speaks_only_of_tools_that_are_there() {
        let all = prompt().render_on(&ALL, DAY);
        assert!(all.contains("Search with grep and find before"));
        assert!(all.contains("Use edit"));
        assert!(!all.contains('['), "conditions are left in: {all}");
        // M5
        let some = prompt().render_on(&["read", "find"], DAY);
        assert!(some.contains("Search with find before"));
        for gone in ["edit", "bash", "grep"] {
            assert!(!some.contains(gone), "{gone} in {some}");
        }
        let none = prompt().render_on(&[], DAY);
        assert!(!none.contains("# Tools"));
        assert!(none.contains("# How to answer"));
    }

    #[test]
    fn is_short_and_stable() {
        let text = prompt().render_on(&ALL, DAY);
        assert_eq!(text, prompt().render_on(&ALL, DAY));
        assert!(text.len() < 3_500, "{} bytes", text.len());
        assert!(text.ends_with("Date: 2026-11-21\n"));
        assert!(text.contains("Working directory: /home/me/shop\n"));
    }

    #[test]
    fn can_be_replaced_and_added_to() {
        let prompt = SystemPrompt {
            base: Some("Be brief.\n".into()),
            append: vec!["One.".into(), "Two.\n".into()],
            ..prompt()
        };
        let text = prompt.render_on(&ALL, DAY);
        assert!(text.starts_with("Be brief.\n\nOne.\n\nTwo.\n\n# Environment\n"));
    }
}
