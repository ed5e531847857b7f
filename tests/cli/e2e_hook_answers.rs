//! What tiller does with the answers of hooks: as in `conformance/hooks`, recorded from Claude Code and Codex.

use std::fs;

use serde_json::{Value, json};

use super::e2e_hooks::{ask_for, quoted, stage_call, write_hooks};
use crate::support::hook_server::{HookServer, Play};
use crate::support::model_server::{Recorded, Reply};

const ANSWERS: &str = include_str!("../conformance/hooks/answers.jsonl");
const CODEX: &str = include_str!("../conformance/hooks/codex.jsonl");

/// The settings entry of a recorded hook, the `at`th of its case.
fn entry(hook: &Value, at: usize) -> Value {
    if let Some(status) = hook["http"].as_u64() {
        let body = hook["body"].as_str().unwrap_or_default();
        let server = HookServer::start(Play::answer(status as u16, body));
        return json!({"type": "http", "url": server.url});
    }
    let line = match hook["raw"].as_str() {
        Some(raw) => raw.to_owned(),
        None => {
            let mut steps = vec!["cat >/dev/null".to_owned(), format!(": {at}")];
            if hook["once"] == true {
                steps.push(format!("test -e once{at} && exit 0; touch once{at}"));
            }
            if let Some(seconds) = hook["sleep"].as_f64() {
                steps.push(format!("sleep {seconds}"));
            }
            for (stream, to) in [("out", ""), ("err", " >&2")] {
                if let Some(text) = hook[stream].as_str() {
                    steps.push(format!("printf %s {}{to}", quoted(text)));
                }
            }
            steps.push(match hook["kill"].as_i64() {
                Some(signal) => format!("kill -{signal} $$"),
                None => format!("exit {}", hook["rc"].as_i64().unwrap_or(0)),
            });
            steps.join("; ")
        }
    };
    let mut entry = json!({"type": "command", "command": line});
    for (key, value) in hook["entry"].as_object().into_iter().flatten() {
        entry[key] = value.clone();
    }
    entry
}

#[test]
fn recorded_answers_have_the_recorded_effects() {
    check(ANSWERS, "config/hooks.json");
}

#[test]
fn recorded_answers_to_codex_have_the_recorded_effects() {
    check(CODEX, "home/.codex/hooks.json");
}

fn check(cases: &str, file: &str) {
    let wrong = cases
        .lines()
        .filter_map(|line| difference(line, file).err());
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Plays one recorded case with its hooks in `file`. Returns what differs.
fn difference(line: &str, file: &str) -> Result<(), String> {
    let case: Value = serde_json::from_str(line).unwrap();
    let id = case["id"].as_str().unwrap();
    let bash = |line: &str| Reply::call("bash", json!({"command": line}));
    let (server, sandbox) = stage_call(match case["script"].as_str().unwrap() {
        "bash" => Some(bash("echo x >> RAN; echo out1")),
        "fail" => Some(bash("echo x >> RAN; exit 3")),
        "two" => {
            let read = json!({"file_path": "README.md"});
            Some(bash("echo x >> RAN; echo out1").and_call("read", read))
        }
        "bad" => Some(Reply::http(400, "text/plain", "lab bad request")),
        _ => None,
    });
    sandbox.write("README.md", "# lab project\n");
    let commands = sandbox.config().join("../home/.claude/commands");
    fs::create_dir_all(&commands).unwrap();
    fs::write(commands.join("hello.md"), "Hello $ARGUMENTS\n").unwrap();
    let hooks = case["hooks"].as_array().unwrap().iter().enumerate();
    let hooks: Vec<Value> = hooks.map(|(at, hook)| entry(hook, at)).collect();
    let group = json!({"matcher": case["matcher"], "hooks": hooks});
    let event = case["event"].as_str().unwrap();
    let file = sandbox.config().parent().unwrap().join(file);
    write_hooks(&file, event, &group);
    let prompt = case["prompt"].as_str().unwrap_or("go");
    let ran = ask_for(&sandbox, case["mode"].as_str().unwrap(), prompt);

    let times = fs::read_to_string(sandbox.path().join("RAN")).unwrap_or_default();
    let requests = server.requests();
    let counts = json!([times.lines().count(), requests.len()]);
    let expected = json!([case["tool_ran"], case["requests"]]);
    if counts != expected {
        return Err(format!(
            "{id}: calls and requests {counts}, not {expected}: {ran:?}"
        ));
    }
    if let Some(fired) = case["fired"].as_array() {
        let text = fs::read_to_string(sandbox.path().join("FIRED")).unwrap_or_default();
        let mut names: Vec<&str> = text.lines().collect();
        names.sort_unstable();
        if json!(names) != json!(fired) {
            return Err(format!("{id}: fired {names:?}, not {fired:?}"));
        }
    }
    let read = requests.last().map_or_else(String::new, Recorded::text);
    let said = read.rfind("\"messages\"").map_or(&*read, |at| &read[at..]);
    for part in case["sees"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|it| it.as_array().unwrap())
    {
        let part = part.to_string();
        let part = part.trim_matches('"');
        if !said.contains(part) {
            return Err(format!("{id}: {part} is not in {said}"));
        }
    }
    let mut results = requests.iter().flat_map(Recorded::results);
    if case["misses_output"] == true && results.any(|it| it.trim_end() == "out1") {
        return Err(format!("{id}: the model reads the output: {said}"));
    }
    Ok(())
}
