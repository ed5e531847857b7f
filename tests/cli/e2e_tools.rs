//! Tools of the user, end to end: the real binary offers programs of the user's folders, and runs them like
//! commands.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::rpc::RpcClient;
use crate::support::sandbox::{Ran, Sandbox};

/// A sandbox whose model makes these calls, one a turn, and then says "final".
fn stage(calls: &[(&str, Value)]) -> (ModelServer, Sandbox) {
    let calls = calls.iter();
    let calls = calls.map(|(name, args)| Reply::call(name, args.clone()));
    let server = ModelServer::start(Script::of(calls.chain([Reply::text("final").repeat()])));
    let mut sandbox = Sandbox::new();
    sandbox.use_server(&server);
    (server, sandbox)
}

fn own(sandbox: &Sandbox) -> PathBuf {
    sandbox.config().join("tools")
}

/// Writes a tool: a shell script with a manifest of these lines.
fn write_tool(folder: &Path, name: &str, manifest: &[&str], script: &str) {
    fs::create_dir_all(folder).unwrap();
    let lines = ["description = \"Does it.\""];
    let lines = lines.iter().chain(manifest);
    let lines: Vec<String> = lines.map(|line| format!("# {line}")).collect();
    let lines = lines.join("\n");
    let text = format!("#!/bin/sh\n# /// tool\n{lines}\n# ///\n{script}\n");
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn ask(sandbox: &Sandbox, mode: &str, more: &[&str]) -> Ran {
    let mut words = vec!["-p", "--permission", mode, "-m", Wire::Anthropic.model()];
    words.extend(more);
    words.push("go");
    let ran = sandbox.run(&words);
    sandbox.wait_no_processes(&[]);
    ran
}

const CITY: &[&str] = &[
    "[parameters]",
    "required = [\"city\"]",
    "[parameters.properties]",
    "city = {type = \"string\"}",
];

#[test]
fn a_tool_gets_its_arguments_and_its_output_is_the_result() {
    let city = json!({"city": "Bonn 'am Rhein'"});
    let (server, sandbox) = stage(&[
        ("weather", city.clone()),
        ("weather", json!({"town": "Bonn"})),
        ("fails", json!({})),
        ("says", json!({})),
        ("lies", json!({})),
    ]);
    let folder = own(&sandbox);
    let script = "cat; echo \"$TILLER_ARG_CITY\"; pwd; echo noise >&2";
    write_tool(&folder, "weather.sh", CITY, script);
    write_tool(&folder, "fails", &[], "echo out; echo why >&2; exit 3");
    let said = r#"echo '{"content": "short", "details": {"rows": 7}}'"#;
    write_tool(&folder, "says", &[], said);
    let lies = r#"echo '{"content": "no", "is_error": true}'"#;
    write_tool(&folder, "lies", &[], lies);
    let ran = ask(&sandbox, "auto", &[]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:#?}");
    let requests = server.requests();
    let offered = requests[0].tools();
    assert_eq!(
        offered[offered.len() - 4..],
        ["fails", "lies", "says", "weather"]
    );
    let results = requests[5].results();
    let cwd = sandbox.path();
    let expected = format!("{city}\nBonn 'am Rhein'\n{}", cwd.display());
    assert_eq!(results[0], expected);
    assert!(results[1].contains("city"), "{results:?}");
    assert_eq!(results[2], "out\nwhy\n[exit code 3]");
    assert_eq!(results[3..], ["short", "no"]);
    let messages = sandbox.session_messages().into_iter();
    let results: Vec<Value> = messages.filter(|it| it["role"] == "toolResult").collect();
    let errors: Vec<&Value> = results.iter().map(|it| &it["isError"]).collect();
    assert_eq!(errors, [false, true, true, false, true]);
    assert!(results[3].to_string().contains(r#""rows":7"#));
}

#[test]
fn a_tool_runs_in_the_sandbox_and_may_do_what_it_declares() {
    let none = json!({});
    let calls = ["writes", "reads", "outside", "settings"].map(|name| (name, none.clone()));
    let (server, sandbox) = stage(&calls);
    if !sandbox.machine_confines() {
        return;
    }
    let folder = own(&sandbox);
    let write = "echo x > made-$0 2>/dev/null; ls";
    let write = write.replace("$0", "$(basename \"$0\")");
    write_tool(&folder, "writes", &[], &write);
    write_tool(&folder, "reads", &["effects = \"reads\""], &write);
    let outside = sandbox.config().with_file_name("outside");
    let line = format!("echo x > {}; echo done", outside.display());
    write_tool(&folder, "outside", &[], &line);
    fs::write(folder.join("helper"), "help\n").unwrap();
    let line = "cat \"$(dirname \"$0\")/helper\"; cat \"$(dirname \"$0\")/../config.toml\" || true";
    write_tool(&folder, "settings", &[], line);
    fs::write(
        sandbox.config().join("config.toml"),
        "[models]\nlocal = false\n",
    )
    .unwrap();
    let ran = ask(&sandbox, "auto", &[]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let results = server.requests()[4].results();
    assert_eq!(results[0], "made-writes");
    // The second didn't add one.
    assert_eq!(results[1], "made-writes");
    assert!(results[2].starts_with("done"), "{results:?}");
    assert!(!outside.exists());
    assert_eq!(results[3], "help");
}

#[test]
fn each_mode_and_rules_decide_about_a_tool() {
    let none = json!({});
    let calls = ["looks", "changes", "sends"].map(|name| (name, none.clone()));
    let allow = "[[permission.rules]]\ntool = \"sends\"\naction = \"allow\"\nnetwork = true\n";
    let deny = "[[permission.rules]]\ntool = \"changes\"\naction = \"deny\"\n";
    let no = "Not permitted";
    for (mode, rules, expected) in [
        (
            "plan",
            "",
            ["ok", "Not permitted: Plan mode changes nothing", no],
        ),
        (
            "ask",
            "",
            ["ok", "Not permitted: ask mode asks before tools", no],
        ),
        (
            "auto",
            "",
            ["ok", "ok", "Not permitted: it uses the network"],
        ),
        ("auto", allow, ["ok", "ok", "ok"]),
        ("full", deny, ["ok", "Not permitted: a rule applies", "ok"]),
    ] {
        let (server, sandbox) = stage(&calls);
        if !sandbox.machine_confines() {
            return;
        }
        let folder = own(&sandbox);
        write_tool(&folder, "looks", &["effects = \"reads\""], "echo ok");
        write_tool(&folder, "changes", &[], "echo ok");
        write_tool(&folder, "sends", &["effects = \"network\""], "echo ok");
        let settings = format!("[models]\nlocal = false\n{rules}");
        fs::write(sandbox.config().join("config.toml"), settings).unwrap();
        ask(&sandbox, mode, &[]);
        let results = server.requests()[3].results();
        for (result, expected) in results.iter().zip(expected) {
            assert!(result.starts_with(expected), "{mode} {rules}: {result}");
        }
        if rules.is_empty() && mode == "auto" {
            assert!(results[2].contains("tool = \"sends\""), "{results:?}");
            assert!(results[2].contains("network = true"), "{results:?}");
        }
    }
}

#[test]
fn a_projects_tool_needs_trust_and_may_replace_a_built_in_one() {
    let path = json!({"path": "README.md"});
    let (server, sandbox) = stage(&[("read", path)]);
    write_tool(&own(&sandbox), "read", &[], "echo user");
    let folder = sandbox.path().join(".tiller/tools");
    let manifest = ["[parameters.properties]", "path = {type = \"string\"}"];
    write_tool(&folder, "read", &manifest, "echo project");
    fs::write(folder.join("Bad.toml"), "description = 'x'").unwrap();
    let ran = ask(&sandbox, "auto", &["--trust"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let requests = server.requests();
    assert_eq!(requests[1].results(), ["project"]);
    let tools = requests[0].tools();
    assert_eq!(tools.iter().filter(|it| *it == "read").count(), 1);
    assert_eq!(tools[0], "read");
    let replaced = "/.tiller/tools/read replaces the built-in tool read";
    assert!(ran.stderr.contains(replaced), "{}", ran.stderr);
    assert!(ran.stderr.contains("Bad.toml: there is no program 'Bad'"));
    let listed = sandbox.run(&["-p", "/tools"]).stdout;
    for line in [
        "  read: replaced by yours",
        ".tiller/tools, off until you trust this project: /trust",
    ] {
        assert!(listed.contains(line), "{line}: {listed}");
    }
    assert!(!listed.contains("Bad.toml"), "{listed}");
}

#[test]
fn a_set_of_reading_tools_takes_only_replacements_that_read() {
    for (effects, replaces) in [("writes", false), ("reads", true)] {
        let (server, sandbox) = stage(&[("read", json!({"file_path": "README.md"}))]);
        let folder = sandbox.path().join(".tiller/tools");
        let effects = format!("effects = \"{effects}\"");
        let file_path = "file_path = {type = \"string\"}";
        let manifest = [&*effects, "[parameters.properties]", file_path];
        write_tool(&folder, "read", &manifest, "echo project");
        let ran = ask(&sandbox, "auto", &["--trust", "--tools", "read_only"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let results = server.requests()[1].results();
        assert_eq!(results == ["project"], replaces, "{results:?}");
    }
}

#[test]
fn a_tool_can_be_switched_off_and_a_new_one_joins_with_the_next_message() {
    let (server, sandbox) = stage(&[]);
    write_tool(&own(&sandbox), "weather", &[], "echo ok");
    ask(&sandbox, "auto", &["--tools", "all,-weather"]);
    ask(&sandbox, "auto", &["--tools", "read,weather"]);
    let wrong = ask(&sandbox, "auto", &["--tools", "wether"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    let requests = server.requests();
    assert!(!requests[0].tools().contains(&"weather".to_owned()));
    assert_eq!(requests[1].tools(), ["read", "weather"]);

    let (server, sandbox) = stage(&[]);
    let mut rpc = RpcClient::start(&sandbox, &["-m", Wire::Anthropic.model()]);
    let mut say = |text: &str| drop(rpc.prompt(text));
    say("one");
    write_tool(&own(&sandbox), "later", &[], "echo ok");
    say("two");
    fs::remove_file(own(&sandbox).join("later")).unwrap();
    say("three");
    let requests = server.requests();
    let has = |at: usize| requests[at].tools().contains(&"later".to_owned());
    assert_eq!([has(0), has(1)], [false, true]);
    // The list only grows; a note says what is gone.
    assert!(has(2));
    let gone = "Tools no longer available: later";
    assert!(requests[2].text().contains(gone), "{}", requests[2].text());
}

#[test]
fn tools_that_hang_flood_and_write_garbage_end_in_time() {
    let none = json!({});
    let calls = ["hangs", "floods", "garbage", "complains"].map(|name| (name, none.clone()));
    let (server, sandbox) = stage(&calls);
    let folder = own(&sandbox);
    let hangs = "sleep 1000 & trap '' TERM; sleep 1000";
    write_tool(&folder, "hangs", &["timeout = 1"], hangs);
    write_tool(
        &folder,
        "floods",
        &[],
        "head -c 100000000 /dev/zero | tr '\\0' x",
    );
    write_tool(
        &folder,
        "garbage",
        &[],
        "head -c 3000 /dev/urandom; printf '\\033[2J'",
    );
    let complains = "head -c 20000000 /dev/zero | tr '\\0' y >&2; exit 1";
    write_tool(&folder, "complains", &[], complains);
    let ran = ask(&sandbox, "auto", &[]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let results = server.requests()[4].results();
    assert!(results[0].contains("[timed out after 1 s]"), "{results:?}");
    assert!(results[1].len() < 40_000, "{}", results[1].len());
    assert!(results[1].contains("full output"), "{}", results[1]);
    assert!(!results[2].contains('\u{1b}'), "{}", results[2]);
    assert!(results[3].len() < 40_000 && results[3].ends_with("[exit code 1]"));
}

/// The examples of the documentation.
#[test]
fn the_documented_tools_work() {
    let calls = [
        ("word_count", json!({"file": "README.md"})),
        ("notes", json!({"count": 1})),
    ];
    let (server, sandbox) = stage(&calls);
    sandbox.write("README.md", "one two three");
    sandbox.write("notes/a.md", "");
    let page = include_str!("../../docs/src/tools.md");
    let folder = own(&sandbox);
    fs::create_dir_all(&folder).unwrap();
    for (language, name) in [("python", "word_count.py"), ("bash", "notes.sh")] {
        let (_, block) = page.split_once(&format!("```{language}\n")).unwrap();
        let (script, _) = block.split_once("```").unwrap();
        let file = folder.join(name);
        fs::write(&file, script).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let ran = ask(&sandbox, "auto", &[]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(server.requests()[2].results(), ["3 words", "a.md"]);
}
