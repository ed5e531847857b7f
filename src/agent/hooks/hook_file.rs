//! Files with hooks: `hooks.json`, or `settings.json` of Claude Code.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::matcher::Matcher;
use super::point::HookPoint;
use tiller_llm::nearest::typo_of;

/// One command to run at one point.
#[derive(Clone, Debug)]
pub struct Hook {
    /// When it runs.
    pub point: HookPoint,
    /// What it is for, as written: names of tools, a regular expression, or nothing for all.
    pub matcher: String,
    /// For `sh -c`.
    pub command: String,
    /// How long it may run.
    pub timeout: Duration,
    /// Whether it runs in the background (`async`).
    pub in_background: bool,
    /// The file that has it.
    pub file: PathBuf,
    /// Whether that is a file of the project.
    pub of_project: bool,
    pub(super) accepts: Matcher,
}

impl Hook {
    /// What it does when, in one line.
    pub fn what(&self) -> String {
        let matcher = match self.matcher.as_str() {
            "" => String::new(),
            matcher => format!(" ({matcher})"),
        };
        let command = self.command.replace('\n', "⏎");
        format!("{}{matcher}: {command}", self.point.name())
    }
}

/// What a file has.
#[derive(Clone, Debug, Default)]
pub struct HookFile {
    /// Its hooks, in order.
    pub hooks: Vec<Hook>,
    /// What tiller can't use, and why.
    pub faults: Vec<String>,
    /// Whether no hook of any file shall run.
    pub disables_all: bool,
    /// Whether it has no key `hooks`.
    pub has_none: bool,
    /// Whether it can't be read at all, for now.
    pub is_broken: bool,
}

/// Reads the `hooks` of a JSON file with `text`. Other keys mean nothing here. An entry with an error
/// doesn't count, and the others do.
pub fn read_hooks(file: &Path, of_project: bool, text: &str) -> HookFile {
    let mut found = HookFile::default();
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            found.faults.push(format!("not valid JSON: {error}"));
            found.is_broken = true;
            return found;
        }
    };
    found.disables_all = value["disableAllHooks"] == true;
    let Some(hooks) = value.get("hooks") else {
        found.has_none = true;
        return found;
    };
    let Value::Object(points) = hooks else {
        found.faults.push("hooks: expected an object".to_owned());
        return found;
    };
    for (name, groups) in points {
        let Some(point) = HookPoint::ALL.into_iter().find(|it| it.name() == name) else {
            let near = typo_of(name, HookPoint::ALL.map(HookPoint::name));
            let near = near.map(|near| format!("; did you mean {near}?"));
            let near = near.unwrap_or_default();
            let fault = format!("hooks.{name}: tiller has no such event{near}");
            found.faults.push(fault);
            continue;
        };
        let Value::Array(groups) = groups else {
            found.faults.push(format!("hooks.{name}: expected a list"));
            continue;
        };
        for (at, group) in groups.iter().enumerate() {
            read_group(
                (file, of_project),
                point,
                group,
                &format!("hooks.{name}[{at}]"),
                &mut found,
            );
        }
    }
    found
}

fn read_group(
    (file, of_project): (&Path, bool),
    point: HookPoint,
    group: &Value,
    place: &str,
    found: &mut HookFile,
) {
    let matcher = match group.get("matcher") {
        Some(Value::String(matcher)) if point.has_matcher() => matcher.as_str(),
        None | Some(Value::Null | Value::String(_)) => "",
        Some(_) => {
            let fault = format!("{place}.matcher: expected a text");
            found.faults.push(fault);
            return;
        }
    };
    let accepts = match Matcher::parse(matcher) {
        Ok(accepts) => accepts,
        Err(why) => {
            found.faults.push(format!("{place}: {why}"));
            return;
        }
    };
    let Some(Value::Array(hooks)) = group.get("hooks") else {
        found.faults.push(format!("{place}.hooks: expected a list"));
        return;
    };
    for (at, hook) in hooks.iter().enumerate() {
        match read_hook(point, hook) {
            Ok((command, timeout)) => found.hooks.push(Hook {
                point,
                matcher: matcher.to_owned(),
                command,
                timeout,
                in_background: hook["async"] == true,
                file: file.to_owned(),
                of_project,
                accepts: accepts.clone(),
            }),
            Err(why) => found.faults.push(format!("{place}.hooks[{at}]{why}")),
        }
    }
}

/// Returns the command and its time limit, or what is wrong.
fn read_hook(point: HookPoint, hook: &Value) -> Result<(String, Duration), String> {
    let Value::Object(fields) = hook else {
        return Err(": expected an object".to_owned());
    };
    match fields.get("type").and_then(Value::as_str) {
        Some("command") => {}
        Some(kind) => {
            return Err(format!(
                ".type: tiller runs only 'command' hooks, not '{kind}'"
            ));
        }
        None => return Err(".type: missing; write \"type\": \"command\"".to_owned()),
    }
    if fields.contains_key("if") {
        return Err(".if: tiller doesn't read it; use matcher, and look at the input".to_owned());
    }
    let command = fields.get("command").and_then(Value::as_str);
    let command = command.filter(|command| !command.trim().is_empty());
    let command = command.ok_or(".command: missing")?;
    let timeout = match fields.get("timeout") {
        None => point.time_limit(),
        Some(seconds) => seconds
            .as_f64()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .filter(|limit| !limit.is_zero())
            .ok_or(".timeout: expected seconds")?,
    };
    Ok((with_arguments(command, fields)?, timeout))
}

/// With `args`, the command is a program and no shell line.
fn with_arguments(command: &str, fields: &Map<String, Value>) -> Result<String, String> {
    let Some(args) = fields.get("args") else {
        return Ok(command.to_owned());
    };
    let words = args.as_array().ok_or(".args: expected a list")?;
    let mut line = quoted(command);
    for word in words {
        let word = word.as_str().ok_or(".args: expected texts")?;
        line.push(' ');
        line.push_str(&quoted(word));
    }
    Ok(line)
}

/// `word` as one word of a shell line.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_with_errors_are_named_and_the_others_count() {
        let text = r#"{"model": "opus", "hooks": {
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [
                    {"type": "command", "command": "check", "timeout": 5},
                    {"type": "prompt", "prompt": "x"},
                    {"type": "command"}]},
                {"matcher": "(", "hooks": []},
                {"hooks": [{"type": "command", "command": "it's", "args": ["a b"], "async": true}]}],
            "WorktreeCreate": [],
            "Stop": 3}}"#;
        let found = read_hooks(Path::new("settings.json"), false, text);
        let read: Vec<_> = (found.hooks.iter())
            .map(|it| {
                (
                    it.matcher.as_str(),
                    it.command.as_str(),
                    it.timeout.as_secs(),
                )
            })
            .collect();
        assert_eq!(read, [("Bash", "check", 5), ("", r"'it'\''s' 'a b'", 60)]);
        assert!(found.hooks[1].in_background);
        let expected = [
            "hooks.PreToolUse[0].hooks[1].type: tiller runs only 'command' hooks, not 'prompt'",
            "hooks.PreToolUse[0].hooks[2].command: missing",
            "hooks.PreToolUse[1]: matcher '(' is not a regular expression",
            "hooks.WorktreeCreate: tiller has no such event",
            "hooks.Stop: expected a list",
        ];
        assert_eq!(found.faults.len(), expected.len(), "{:?}", found.faults);
        for (fault, expected) in found.faults.iter().zip(expected) {
            assert!(fault.starts_with(expected), "{fault}");
        }
        for (text, fault) in [
            ("{", "not valid JSON"),
            (r#"{"hooks": 3}"#, "hooks: expected"),
        ] {
            let faults = read_hooks(Path::new("x"), false, text).faults;
            assert!(faults[0].starts_with(fault), "{faults:?}");
        }
        assert!(read_hooks(Path::new("x"), false, r#"{"disableAllHooks": true}"#).disables_all);
    }
}
