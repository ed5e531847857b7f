//! Hooks, end to end: the real binary runs them from the user's files. `e2e_hook_answers` has what it does with
//! each answer.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::sandbox::{Ran, Sandbox};

/// A sandbox whose model calls `bash` with `command`, if any, and then says "final".
pub(super) fn stage(command: Option<&str>) -> (ModelServer, Sandbox) {
    stage_call(command.map(|command| Reply::call("bash", json!({"command": command}))))
}

pub(super) fn stage_call(call: Option<Reply>) -> (ModelServer, Sandbox) {
    let last = Reply::text("final").repeat();
    let server = ModelServer::start(Script::of(call.into_iter().chain([last])));
    let mut sandbox = Sandbox::new();
    sandbox.use_server(&server);
    (server, sandbox)
}

pub(super) fn ask(sandbox: &Sandbox, mode: &str) -> Ran {
    ask_for(sandbox, mode, "go")
}

pub(super) fn ask_for(sandbox: &Sandbox, mode: &str, prompt: &str) -> Ran {
    let model = Wire::Anthropic.model();
    sandbox.run(&["-p", "--permission", mode, "-m", model, prompt])
}

pub(super) fn write_hooks(file: &Path, event: &str, group: &Value) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let hooks = json!({"hooks": {event: [group]}});
    fs::write(file, hooks.to_string()).unwrap();
}

pub(super) fn command(command: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": command}]})
}

pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
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
        "PostToolBatch",
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
    let expected: [(&[&str], &[&str]); 7] = [
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
        (&in_run, &["tool_calls"]),
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
    let call = &inputs[4]["tool_calls"][0];
    let keys: Vec<&String> = call.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["tool_name", "tool_input", "tool_use_id", "tool_response"]
    );
    assert_eq!(call["tool_response"].as_str().unwrap().trim_end(), "out1");
    assert_eq!(inputs[5]["last_assistant_message"], "final");
    assert_eq!(inputs[6]["reason"], "other");
    assert_eq!(inputs[1]["prompt_id"], inputs[5]["prompt_id"]);
    assert_eq!(inputs[0]["session_id"], inputs[6]["session_id"]);
    let transcript = inputs[6]["transcript_path"].as_str().unwrap();
    assert!(Path::new(transcript).is_file(), "{transcript}");
    let project = sandbox.read("project");
    assert_eq!(Path::new(&project), sandbox.path());
}

/// Scripts for Codex look for other fields.
#[test]
fn hooks_of_codex_get_what_codex_sends() {
    let (_server, sandbox) = stage(Some("echo out1"));
    let file = sandbox.config().join("../home/.codex/hooks.json");
    let line = "cat > SEEN; printf '|' >> SEEN";
    write_hooks(&file, "PostToolUse", &command(line));
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let seen = sandbox.read("SEEN");
    let text = seen.strip_suffix("}|").expect("no line break at the end");
    let input: Value = serde_json::from_str(&format!("{text}}}")).unwrap();
    assert_eq!(input["tool_response"].as_str().unwrap().trim_end(), "out1");
    assert_eq!(
        input["model"],
        Wire::Anthropic.model().split_once('/').unwrap().1
    );
    assert!(
        input["turn_id"].is_string() && input.get("prompt_id").is_none(),
        "{input}"
    );
}

/// A hook that waits for the session's start prepares the commands of the model.
#[test]
fn a_hook_sets_variables_for_the_commands_of_the_session() {
    let (server, sandbox) = stage(Some("echo \"$LAB-${LAB_API_KEY:-hidden}-$PAGER\""));
    let line = "cat > /dev/null; printf 'export LAB=v1\nLAB_API_KEY=x\nexport PAGER=\"$LAB $HOME\"\n' \
        > \"$CLAUDE_ENV_FILE\"";
    let file = sandbox.config().join("hooks.json");
    write_hooks(&file, "SessionStart", &command(line));
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let home = sandbox.config().parent().unwrap().join("home");
    let expected = format!("v1-hidden-v1 {}", home.display());
    assert_eq!(server.request(1).results()[0].trim_end(), expected);
}

/// An alert must go out although nobody waits for it.
#[test]
fn hooks_learn_of_a_run_that_fails() {
    let failure = Reply::http(
        401,
        "application/json",
        r#"{"error": {"message": "bad key"}}"#,
    );
    let (_server, sandbox) = stage_call(Some(failure));
    let line = "sleep 0.3; cat > FAILED";
    let group = json!({"matcher": "authentication_failed", "hooks": command(line)["hooks"]});
    let file = sandbox.config().join("hooks.json");
    write_hooks(&file, "StopFailure", &group);
    let ran = ask(&sandbox, "full");
    assert_ne!(ran.code, Some(0), "{ran:#?}");
    let input: Value = serde_json::from_str(&sandbox.read("FAILED")).unwrap();
    assert_eq!(input["error"], "authentication_failed");
    let said = input["last_assistant_message"].as_str().unwrap();
    assert!(said.contains("bad key"), "{input}");
    assert!(input.get("permission_mode").is_none(), "{input}");
}

/// Runs a project with `hooks` in `.claude/settings.json`, for one call of `bash`.
fn in_project(event: &str, line: &str, flags: &[&str]) -> (ModelServer, Sandbox, Ran) {
    let (server, sandbox) = stage(Some("echo x >> RAN; echo out1"));
    write_hooks(
        &sandbox.path().join(".claude/settings.json"),
        event,
        &command(line),
    );
    let mut words = vec!["-p", "-m", Wire::Anthropic.model()];
    words.extend(flags);
    words.push("go");
    let ran = sandbox.run(&words);
    assert_eq!(ran.stdout, "final\n", "{ran:#?}");
    (server, sandbox, ran)
}

#[test]
fn hooks_of_a_project_run_in_the_sandbox_once_it_is_trusted() {
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let file = outside.path().join("escaped");
    let line = format!(
        "cat > INPUT; echo said >&2; (echo x > {}) 2>/dev/null && echo ESCAPED > INPUT; exit 2",
        file.display()
    );
    let untrusted = in_project("PreToolUse", &line, &["--permission", "auto"]);
    assert!(!untrusted.1.path().join("INPUT").exists());
    let auto = ["--trust", "--permission", "auto"];
    let (server, sandbox, ran) = in_project("PreToolUse", &line, &auto);
    if !sandbox.machine_confines() {
        return;
    }
    assert!(sandbox.read("INPUT").contains("PreToolUse"), "{ran:#?}");
    assert!(!file.exists());
    let results = server.request(1).results();
    assert!(results[0].ends_with("said"), "{results:?}");
    assert!(!sandbox.path().join("RAN").exists());
}

/// The model could write such a hook's script.
#[test]
fn a_hook_of_a_project_allows_nothing() {
    let allow =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    let line = format!("cat >/dev/null; echo '{allow}'");
    let (_server, sandbox, _) =
        in_project("PreToolUse", &line, &["--trust", "--permission", "ask"]);
    assert!(!sandbox.path().join("RAN").exists());
}

/// Otherwise it could choose what the user's own hook allows.
#[test]
fn what_a_hook_of_a_project_changes_is_allowed_by_no_hook() {
    let answer = |fields: Value| {
        let mut own = json!({"hookEventName": "PreToolUse"});
        own.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let answer = json!({"hookSpecificOutput": own}).to_string();
        command(&format!("cat >/dev/null; printf %s {}", quoted(&answer)))
    };
    let changed = json!({"updatedInput": {"command": "echo y >> RAN"}});
    let (server, sandbox) = stage(Some("echo x >> RAN"));
    let files = [
        (
            sandbox.config().join("hooks.json"),
            json!({"permissionDecision": "allow"}),
        ),
        (sandbox.path().join(".claude/settings.json"), changed),
    ];
    for (file, fields) in files {
        write_hooks(&file, "PreToolUse", &answer(fields));
    }
    let words = ["--permission", "ask", "-m", Wire::Anthropic.model(), "go"];
    let ran = sandbox.run(&[&["-p", "--trust"], &words[..]].concat());
    if sandbox.machine_confines() {
        let results = server.request(1).results();
        assert!(
            results[0].contains("can't ask the user"),
            "{results:?} {ran:#?}"
        );
        assert!(!sandbox.path().join("RAN").exists());
    }
}

#[test]
fn a_guard_that_prints_broken_json_is_named() {
    let (_server, sandbox) = stage(Some("echo out1"));
    let line = "cat >/dev/null; echo '{\"decision\": block}'";
    write_hooks(
        &sandbox.config().join("hooks.json"),
        "PreToolUse",
        &command(line),
    );
    let ran = ask(&sandbox, "full");
    let why = "hook failed, so it decides nothing";
    assert!(
        ran.stderr.contains(why) && ran.stderr.contains("not valid JSON"),
        "{ran:#?}"
    );
}

/// A file that is half written must not switch a guard off, nor may hooks that go away keep messages.
#[test]
fn hooks_that_break_or_go_away_in_a_run_do_no_harm() {
    for (left, guards) in [("{\"hooks\": {", true), ("{}", false)] {
        let (server, sandbox) = stage(Some("echo x >> RAN; echo out1"));
        let file = sandbox.config().join("hooks.json");
        let guard = format!(
            "cat >/dev/null; printf %s {} > {}; exit 2",
            quoted(left),
            file.display()
        );
        let hooks = json!({"hooks": {
            "UserPromptSubmit": [command("cat >/dev/null; echo seen")],
            "PreToolUse": [command(&guard)],
        }});
        server.push(Reply::call("bash", json!({"command": "echo y >> RAN"})));
        fs::write(&file, hooks.to_string()).unwrap();
        let ran = ask(&sandbox, "full");
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let sent = server.requests().len();
        assert!(sent <= 3, "{sent} requests");
        let ran = fs::read_to_string(sandbox.path().join("RAN")).unwrap_or_default();
        assert!(
            !ran.contains('x') && (!guards || ran.is_empty()),
            "{left}: {ran}"
        );
    }
}

#[test]
fn a_blocked_prompt_is_never_sent_later() {
    let (server, sandbox) = stage(None);
    let file = sandbox.config().join("hooks.json");
    write_hooks(
        &file,
        "UserPromptSubmit",
        &command("cat >/dev/null; exit 2"),
    );
    let blocked = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), "PASSWORD"]);
    assert!(
        blocked.stderr.contains("A hook blocked your message"),
        "{blocked:#?}"
    );
    fs::remove_file(&file).unwrap();
    let ran = sandbox.run(&["-p", "-c", "-m", Wire::Anthropic.model(), "hi"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(!server.request(0).text().contains("PASSWORD"));
}

#[test]
fn a_slow_hook_at_the_end_fails_no_run() {
    let (_server, sandbox) = stage(None);
    let slow = "cat >/dev/null; sleep 1.2; echo ended > ENDED";
    write_hooks(
        &sandbox.config().join("hooks.json"),
        "SessionEnd",
        &command(slow),
    );
    let ran = ask(&sandbox, "full");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:#?}");
    assert_eq!(sandbox.read("ENDED"), "ended\n");
}
