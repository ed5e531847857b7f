//! Files with hooks: `hooks.json`, or `settings.json` of Claude Code.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use super::codex::Dialect;
use super::condition::Condition;
use super::hook::{Hook, HookAction, HookPost};
use super::matcher::Matcher;
use super::point::HookPoint;
use tiller_llm::nearest::typo_of;

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
    let dialect = if file.ends_with(".codex/hooks.json") {
        Dialect::Codex
    } else {
        Dialect::Claude
    };
    let Some(Value::Array(hooks)) = group.get("hooks") else {
        found.faults.push(format!("{place}.hooks: expected a list"));
        return;
    };
    for (at, hook) in hooks.iter().enumerate() {
        match read_hook(point, of_project, hook) {
            Ok(read) => found.hooks.push(Hook {
                point,
                matcher: matcher.to_owned(),
                condition: hook["if"].as_str().unwrap_or_default().to_owned(),
                action: read.action,
                timeout: read.timeout,
                in_background: hook["async"] == true,
                tells_block: hook["asyncRewake"] == true,
                file: file.to_owned(),
                of_project,
                dialect,
                accepts: accepts.clone(),
                holds: read.condition,
            }),
            Err(why) => found.faults.push(format!("{place}.hooks[{at}]{why}")),
        }
    }
}

/// What an entry says about itself.
struct Entry {
    action: HookAction,
    timeout: Duration,
    condition: Option<Condition>,
}

/// Returns what the entry says, or what is wrong.
fn read_hook(point: HookPoint, of_project: bool, hook: &Value) -> Result<Entry, String> {
    let Value::Object(fields) = hook else {
        return Err(": expected an object".to_owned());
    };
    let action = match fields.get("type").and_then(Value::as_str) {
        Some("command") => HookAction::Command(command(fields)?),
        // It would send what the user does to a place that the project chose.
        Some("http") if of_project => {
            return Err(
                ".type: an 'http' hook of a project never runs; if you want it, copy it to your own hooks.json"
                    .to_owned(),
            );
        }
        Some("http") => HookAction::Post(post(fields)?),
        Some(kind) => {
            return Err(format!(
                ".type: tiller runs 'command' and 'http' hooks, not '{kind}'"
            ));
        }
        None => return Err(".type: missing; write \"type\": \"command\"".to_owned()),
    };
    let timeout = match fields.get("timeout") {
        None => point.time_limit(),
        Some(seconds) => seconds
            .as_f64()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .filter(|limit| !limit.is_zero())
            .ok_or(".timeout: expected seconds")?,
    };
    Ok(Entry {
        action,
        timeout,
        condition: condition(point, fields)?,
    })
}

fn condition(point: HookPoint, fields: &Map<String, Value>) -> Result<Option<Condition>, String> {
    let text = match fields.get("if") {
        None => return Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
        Some(text) => text.as_str().ok_or(".if: expected a text")?,
    };
    if !point.has_tool() {
        let event = point.name();
        return Err(format!(".if: {event} is about no tool call; remove it"));
    }
    let condition = Condition::parse(text);
    condition.map(Some).map_err(|why| format!(".if: {why}"))
}

fn command(fields: &Map<String, Value>) -> Result<String, String> {
    let command = fields.get("command").and_then(Value::as_str);
    let command = command.filter(|command| !command.trim().is_empty());
    with_arguments(command.ok_or(".command: missing")?, fields)
}

fn post(fields: &Map<String, Value>) -> Result<HookPost, String> {
    let url = fields
        .get("url")
        .and_then(Value::as_str)
        .ok_or(".url: missing")?;
    if !["http://", "https://"].iter().any(|it| url.starts_with(it)) {
        return Err(".url: expected http:// or https://".to_owned());
    }
    let headers = match fields.get("headers") {
        None => Vec::new(),
        Some(Value::Object(headers)) => {
            let text =
                |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
            let read: Option<Vec<_>> = headers.iter().map(text).collect();
            read.ok_or(".headers: expected texts")?
        }
        Some(_) => return Err(".headers: expected an object".to_owned()),
    };
    let names = match fields.get("allowedEnvVars") {
        None => Some(Vec::new()),
        Some(names) => names.as_array().and_then(|names| {
            let names = names.iter().map(|name| Some(name.as_str()?.to_owned()));
            names.collect()
        }),
    };
    Ok(HookPost {
        url: url.to_owned(),
        headers,
        variables: names.ok_or(".allowedEnvVars: expected a list of names")?,
    })
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
                    {"type": "command"},
                    {"type": "command", "command": "x", "if": "Write|Bash"},
                    {"type": "command", "command": "x", "if": "Bash(git push:*)"},
                    {"type": "http", "url": "ftp://x"},
                    {"type": "http", "url": "http://u:p@x/h?k=s", "headers": {"A": "$B"}}]},
                {"matcher": "(", "hooks": []},
                {"hooks": [{"type": "command", "command": "it's", "args": ["a b"], "async": true}]}],
            "Notification": [{"hooks": [{"type": "command", "command": "x", "if": "Bash"}]}],
            "WorktreeCreate": [],
            "Stop": 3}}"#;
        let found = read_hooks(Path::new("settings.json"), false, text);
        let read: Vec<_> = (found.hooks.iter())
            .map(|it| (it.what(), it.timeout.as_secs()))
            .collect();
        let expected = [
            ("PreToolUse (Bash): check", 5),
            ("PreToolUse (Bash) if Bash(git push:*): x", 60),
            ("PreToolUse (Bash): POST http://x/h", 60),
            (r"PreToolUse: 'it'\''s' 'a b'", 60),
        ];
        assert_eq!(read, expected.map(|(what, limit)| (what.to_owned(), limit)));
        assert!(found.hooks[3].in_background);
        let expected = [
            "hooks.PreToolUse[0].hooks[1].type: tiller runs 'command' and 'http' hooks, not 'prompt'",
            "hooks.PreToolUse[0].hooks[2].command: missing",
            "hooks.PreToolUse[0].hooks[3].if: 'Write|Bash' is not one rule",
            "hooks.PreToolUse[0].hooks[5].url: expected http:// or https://",
            "hooks.PreToolUse[1]: matcher '(' is not a regular expression",
            "hooks.Notification[0].hooks[0].if: Notification is about no tool call",
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
        let post = r#"{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "http://x"}]}]}}"#;
        assert_eq!(read_hooks(Path::new("x"), false, post).hooks.len(), 1);
        let of_project = read_hooks(Path::new("x"), true, post);
        assert!(of_project.hooks.is_empty());
        let fault = "hooks.Stop[0].hooks[0].type: an 'http' hook of a project never runs";
        assert!(of_project.faults[0].starts_with(fault), "{of_project:?}");
    }
}
