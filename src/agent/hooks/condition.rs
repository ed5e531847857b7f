//! A hook's `if`: for which calls of a tool it runs. One permission rule in Claude Code's form, such as
//! `Bash(git push:*)` or `Edit(*.rs)`.

use std::path::{Path, PathBuf};

use ignore::gitignore::GitignoreBuilder;
use serde_json::{Map, Value};

use crate::paths::without_dots;
use crate::permission::may_run;
use crate::word_list::like;

/// Tools whose files a condition can name.
const OF_FILES: [&str; 4] = ["Read", "Edit", "Write", "MultiEdit"];

/// How lines of a patch name files.
const PATCHED: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// Which calls a hook is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// The tool, by the name that hooks see; `*` matches any text.
    tool: String,
    about: About,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum About {
    Everything,
    /// Simple commands, as patterns with `*`. One of them must match.
    Commands(Vec<String>),
    /// Files, as in `.gitignore`.
    Files(String),
}

impl Condition {
    /// Reads a rule.
    ///
    /// # Errors
    /// Returns what tiller can't read in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (tool, about) = match text.split_once('(') {
            None => (text, "*"),
            Some((tool, rest)) => {
                let about = rest.strip_suffix(')');
                (tool, about.ok_or("the ')' at the end is missing")?)
            }
        };
        let is_name = |c: char| c.is_alphanumeric() || "_-*".contains(c);
        if tool.is_empty() || !tool.chars().all(is_name) {
            let fault = format!("'{text}' is not one rule, such as Bash(git push:*) or Edit(*.rs)");
            return Err(fault);
        }
        let about = match about.trim() {
            "" | "*" => About::Everything,
            line if tool == "Bash" => About::Commands(commands(line)),
            path if OF_FILES.contains(&tool) => About::Files(path.to_owned()),
            _ => {
                return Err(format!(
                    "{tool}(...): tiller reads only what Bash, Read, Edit and Write are about"
                ));
            }
        };
        let tool = tool.to_owned();
        Ok(Self { tool, about })
    }

    /// Whether the hook runs for a call of the tool that has these `names`. `fields` is the hook's input.
    pub fn holds(
        &self,
        names: &[String],
        fields: &Map<String, Value>,
        (cwd, project): (&Path, &Path),
    ) -> bool {
        let of_server = format!("{}__*", self.tool);
        let is_meant = |name: &String| {
            like(name, &self.tool) || name.starts_with("mcp__") && like(name, &of_server)
        };
        let input = fields.get("tool_input").unwrap_or(&Value::Null);
        names.iter().any(is_meant)
            && match &self.about {
                About::Everything => true,
                About::Commands(patterns) => {
                    let line = input["command"].as_str().unwrap_or_default();
                    patterns.iter().any(|pattern| may_run(line, pattern))
                }
                About::Files(pattern) => {
                    let matches = |file: PathBuf| is_listed(&file, pattern, (cwd, project));
                    files(names, input, cwd).into_iter().any(matches)
                }
            }
    }
}

/// The patterns for the inside of `Bash(...)`. `git push:*` and `git push *` match `git push` too.
fn commands(line: &str) -> Vec<String> {
    let begins = line
        .strip_suffix(":*")
        .or_else(|| line.strip_suffix(" *"))
        .map(str::trim_end);
    match begins {
        Some(begins) => vec![begins.to_owned(), format!("{begins} *")],
        None => vec![line.to_owned()],
    }
}

/// The files that a call names.
fn files(names: &[String], input: &Value, cwd: &Path) -> Vec<PathBuf> {
    let paths: Vec<&str> = if names.iter().any(|name| name == "apply_patch") {
        let patch = input["command"].as_str().unwrap_or_default();
        let named = |line| {
            PATCHED
                .iter()
                .find_map(|mark| str::strip_prefix(line, mark))
        };
        patch.lines().map(str::trim).filter_map(named).collect()
    } else {
        let keys = ["file_path", "path"].iter();
        keys.filter_map(|key| input[key].as_str()).collect()
    };
    paths
        .iter()
        .map(|path| without_dots(&cwd.join(path)))
        .collect()
}

/// Whether `file` matches `pattern`: `//` begins an absolute path, `~/` one at home, `/` one in the project.
fn is_listed(file: &Path, pattern: &str, (cwd, project): (&Path, &Path)) -> bool {
    let home = std::env::home_dir().unwrap_or_default();
    let (root, pattern) = match (pattern.strip_prefix('~'), pattern.strip_prefix("./")) {
        _ if pattern.starts_with("//") => (Path::new("/"), &pattern[1..]),
        (Some(rest), _) => (&*home, rest),
        (_, Some(_)) => (cwd, &pattern[1..]),
        _ if pattern.starts_with('/') => (project, pattern),
        _ => (cwd, pattern),
    };
    let mut builder = GitignoreBuilder::new(root);
    let listed = builder.add_line(None, pattern).and_then(|it| it.build());
    file.starts_with(root)
        && listed.is_ok_and(|it| it.matched_path_or_any_parents(file, false).is_ignore())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn holds(condition: &str, name: &[&str], input: Value) -> bool {
        let fields = Map::from_iter([("tool_input".to_owned(), input)]);
        let names: Vec<String> = name.iter().map(|&name| name.to_owned()).collect();
        let places = (Path::new("/w/sub"), Path::new("/w"));
        let condition = Condition::parse(condition).unwrap();
        condition.holds(&names, &fields, places)
    }

    #[test]
    fn a_condition_is_one_permission_rule() {
        for (condition, expected) in [
            ("Bash", true),
            ("Bash(*)", true),
            ("Bash(echo:*)", true),
            ("Bash(echo *)", true),
            ("Bash(git push:*)", true),
            ("Bash(git pull:*)", false),
            ("Bash(git push)", false),
            ("Read(*)", false),
            ("Edit(*.rs)", false),
        ] {
            let input = json!({"command": "echo x; git push origin"});
            assert_eq!(
                holds(condition, &["Bash", "bash"], input),
                expected,
                "{condition}"
            );
        }
        for (condition, name, expected) in [
            ("mcp__lab__x", "mcp__lab__x", true),
            ("mcp__lab", "mcp__lab__x", true),
            ("mcp__lab__*", "mcp__lab__x", true),
            ("mcp__la", "mcp__lab__x", false),
        ] {
            assert_eq!(
                holds(condition, &[name], json!({})),
                expected,
                "{condition}"
            );
        }
        for fault in [
            "",
            "Write|Bash",
            "Bash(x",
            "bash(echo:*)",
            "WebFetch(domain:x)",
        ] {
            assert!(Condition::parse(fault).is_err(), "{fault}");
        }
    }

    #[test]
    fn a_condition_about_files_reads_like_a_gitignore_line() {
        for (condition, file, expected) in [
            ("Edit(*.rs)", "/w/sub/a.rs", true),
            ("Edit(*.rs)", "/w/sub/deep/a.rs", true),
            ("Edit(*.rs)", "/w/sub/a.md", false),
            ("Edit(*.rs)", "/elsewhere/a.rs", false),
            ("Edit(src/**)", "/w/sub/src/deep/a", true),
            ("Edit(./src)", "/w/sub/src/a", true),
            ("Edit(/docs/*.md)", "/w/docs/a.md", true),
            ("Edit(/docs/*.md)", "/w/sub/docs/a.md", false),
            ("Edit(//etc/**)", "/w/../etc/passwd", true),
            ("Read(*.rs)", "/w/sub/a.rs", false),
        ] {
            let input = json!({"file_path": file});
            assert_eq!(
                holds(condition, &["Edit"], input),
                expected,
                "{condition} {file}"
            );
        }
        let patch = "*** Begin Patch\n*** Update File: a.md\n*** Move to: b.rs\n*** End Patch";
        let names = ["apply_patch", "Edit", "Write"];
        assert!(holds("Edit(*.rs)", &names, json!({"command": patch})));
        assert!(!holds("Edit(*.toml)", &names, json!({"command": patch})));
    }
}
