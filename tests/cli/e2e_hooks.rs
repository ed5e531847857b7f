//! Hooks, end to end: the real binary runs them from the user's files, and does what they answer.
//!
//! `conformance/hooks/answers.jsonl` holds what Claude Code 2.1 did with each answer, recorded from its
//! program: whether the command ran, how many requests the model got, and what it read.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::sandbox::{Ran, Sandbox};

const ANSWERS: &str = include_str!("../conformance/hooks/answers.jsonl");

/// A sandbox whose model calls `bash` with `command`, if any, and then says "final".
fn stage(command: Option<&str>) -> (ModelServer, Sandbox) {
    let call = command.map(|command| Reply::call("bash", json!({"command": command})));
    let last = Reply::text("final").repeat();
    let server = ModelServer::start(Script::of(call.into_iter().chain([last])));
    let mut sandbox = Sandbox::new();
    sandbox.use_server(&server);
    (server, sandbox)
}

fn ask(sandbox: &Sandbox, mode: &str) -> Ran {
    let model = Wire::Anthropic.model();
    sandbox.run(&["-p", "--permission", mode, "-m", model, "go"])
}

fn write_hooks(file: &Path, event: &str, group: &Value) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let hooks = json!({"hooks": {event: [group]}});
    fs::write(file, hooks.to_string()).unwrap();
}

fn command(command: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": command}]})
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The settings entry of a recorded hook, the `at`th of its case.
fn entry(hook: &Value, at: usize) -> Value {
    let line = match hook["raw"].as_str() {
        Some(raw) => raw.to_owned(),
        None => {
            let mut line = format!("cat >/dev/null; : {at}; ");
            if hook["once"] == true {
                line.push_str(&format!("test -e once{at} && exit 0; touch once{at}; "));
            }
            if let Some(seconds) = hook["sleep"].as_f64() {
                line.push_str(&format!("sleep {seconds}; "));
            }
            for (stream, to) in [("out", ""), ("err", ">&2")] {
                if let Some(text) = hook[stream].as_str() {
                    line.push_str(&format!("printf %s {} {to}; ", quoted(text)));
                }
            }
            match hook["kill"].as_i64() {
                Some(signal) => line.push_str(&format!("kill -{signal} $$")),
                None => line.push_str(&format!("exit {}", hook["rc"].as_i64().unwrap_or(0))),
            }
            line
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
    let wrong: Vec<String> = ANSWERS
        .lines()
        .filter_map(|line| difference(line).err())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Plays one recorded case. Returns what differs.
fn difference(line: &str) -> Result<(), String> {
    let case: Value = serde_json::from_str(line).unwrap();
    let id = case["id"].as_str().unwrap();
    let (server, sandbox) = stage(match case["script"].as_str().unwrap() {
        "bash" => Some("echo x >> RAN; echo out1"),
        "fail" => Some("echo x >> RAN; exit 3"),
        _ => None,
    });
    let hooks = case["hooks"].as_array().unwrap().iter().enumerate();
    let hooks: Vec<Value> = hooks.map(|(at, hook)| entry(hook, at)).collect();
    let group = json!({"matcher": case["matcher"], "hooks": hooks});
    let event = case["event"].as_str().unwrap();
    write_hooks(&sandbox.config().join("hooks.json"), event, &group);
    let ran = ask(&sandbox, case["mode"].as_str().unwrap());

    let times = fs::read_to_string(sandbox.path().join("RAN")).unwrap_or_default();
    let requests = server.requests();
    let counts = json!([times.lines().count(), requests.len()]);
    let expected = json!([case["tool_ran"], case["requests"]]);
    if counts != expected {
        return Err(format!(
            "{id}: calls and requests {counts}, not {expected}: {ran:?}"
        ));
    }
    let read = requests.last().map(|last| last.text()).unwrap_or_default();
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
    let mut results = requests.iter().flat_map(|it| it.results());
    if case["misses_output"] == true && results.any(|it| it.trim_end() == "out1") {
        return Err(format!("{id}: the model reads the output: {said}"));
    }
    Ok(())
}

/// Each event's fields are those that Claude Code sends, and scripts of its users find them by name.
#[test]
fn hooks_get_the_fields_that_scripts_expect() {
    let (_server, sandbox) = stage(Some("echo out1"));
    let seen = sandbox.path().join("seen");
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ];
    let groups = events.map(|event| {
        let line = format!(
            "cat >> {}; printf %s \"$CLAUDE_PROJECT_DIR\" > project",
            seen.display()
        );
        (event.to_owned(), json!([command(&line)]))
    });
    let hooks: serde_json::Map<String, Value> = groups.into_iter().collect();
    let file = sandbox.config().join("hooks.json");
    fs::write(file, json!({"hooks": hooks}).to_string()).unwrap();
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.code, Some(0), "{ran:#?}");

    let text = fs::read_to_string(&seen).unwrap();
    let inputs: Vec<Value> = (text.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let all = ["session_id", "transcript_path", "cwd", "hook_event_name"];
    let with_prompt = [&all[..], &["prompt_id"]].concat();
    let in_run = [&with_prompt[..], &["permission_mode"]].concat();
    let expected: [(&[&str], &[&str]); 6] = [
        (&all, &["source", "model"]),
        (&in_run, &["prompt"]),
        (&in_run, &["tool_name", "tool_input", "tool_use_id"]),
        (
            &in_run,
            &[
                "tool_name",
                "tool_input",
                "tool_response",
                "tool_use_id",
                "duration_ms",
            ],
        ),
        (
            &in_run,
            &[
                "stop_hook_active",
                "last_assistant_message",
                "background_tasks",
                "session_crons",
            ],
        ),
        (&with_prompt, &["reason"]),
    ];
    assert_eq!(inputs.len(), events.len(), "{text}");
    for ((input, event), (common, own)) in inputs.iter().zip(events).zip(expected) {
        assert_eq!(input["hook_event_name"], event);
        let mut keys: Vec<&str> = input
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let mut expected = [common, own].concat();
        keys.sort_unstable();
        expected.sort_unstable();
        assert_eq!(keys, expected, "{event}");
    }
    assert_eq!(inputs[0]["source"], "startup");
    assert_eq!(inputs[1]["prompt"], "go");
    assert_eq!(inputs[1]["permission_mode"], "bypassPermissions");
    assert_eq!(inputs[2]["tool_name"], "Bash");
    assert_eq!(inputs[2]["tool_input"], json!({"command": "echo out1"}));
    assert_eq!(
        inputs[3]["tool_response"]["stdout"]
            .as_str()
            .unwrap()
            .trim_end(),
        "out1"
    );
    assert_eq!(inputs[4]["last_assistant_message"], "final");
    assert_eq!(inputs[5]["reason"], "other");
    assert_eq!(inputs[1]["prompt_id"], inputs[4]["prompt_id"]);
    assert_eq!(inputs[0]["session_id"], inputs[5]["session_id"]);
    let transcript = inputs[5]["transcript_path"].as_str().unwrap();
    assert!(Path::new(transcript).is_file(), "{transcript}");
    let project = sandbox.read("project");
    assert_eq!(Path::new(&project), sandbox.path());
}

#[test]
fn hooks_of_a_project_run_once_they_are_approved_and_until_they_change() {
    let (_server, sandbox) = stage(None);
    let script = "echo x >> RAN";
    sandbox.write(".claude/check.sh", script);
    sandbox.git_init();
    let file = sandbox.path().join(".claude/settings.json");
    write_hooks(
        &file,
        "Stop",
        &command("sh \"$CLAUDE_PROJECT_DIR\"/.claude/check.sh"),
    );
    let times = || {
        let ran = ask(&sandbox, "full");
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let times = fs::read_to_string(sandbox.path().join("RAN")).unwrap_or_default();
        (times.lines().count(), ran.stderr)
    };
    let slash = |line: &str| sandbox.run(&["-p", line]);
    assert_eq!(times().0, 0);
    let trusted = format!("[trust]\n\"{}\" = \"trusted\"\n", sandbox.path().display());
    fs::write(sandbox.config().join("projects.toml"), trusted).unwrap();
    let (ran, said) = times();
    assert_eq!(ran, 0);
    assert!(
        said.contains("1 hook of this project won't run until you approve"),
        "{said}"
    );
    let listed = slash("/hooks").stdout;
    assert!(
        listed.contains(".claude/settings.json, waiting for your approval"),
        "{listed}"
    );
    assert!(
        listed.contains("  Stop: sh \"$CLAUDE_PROJECT_DIR\"/.claude/check.sh"),
        "{listed}"
    );
    let approved = slash("/hooks approve");
    assert_eq!(approved.code, Some(0), "{approved:#?}");
    assert_eq!(times(), (1, String::new()));

    // Neither a changed script nor a changed line runs.
    sandbox.write(".claude/check.sh", "echo changed >> RAN");
    assert_eq!(times().0, 1);
    sandbox.write(".claude/check.sh", script);
    assert_eq!(times().0, 2);
    write_hooks(&file, "Stop", &command("echo changed >> RAN"));
    assert_eq!(times().0, 2);
}
