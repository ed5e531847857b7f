//! MCP servers, end to end: the real binary starts a server from the user's files, offers its tools, and
//! calls them. The server is `support/mcp_server.py`.

use std::fs;
use std::path::Path;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::support::marked::DEADLINE;
use crate::support::model_server::{ModelServer, Recorded, Reply, Script, Wire};
use crate::support::rpc::RpcClient;
use crate::support::sandbox::{Ran, Sandbox};
use crate::support::screen::Launch;

pub(super) const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/mcp_server.py");

/// A sandbox whose model makes these calls, one a turn, and then says "final".
pub(super) fn stage(calls: &[(&str, Value)]) -> (ModelServer, Sandbox) {
    let calls = calls.iter();
    let calls = calls.map(|(name, args)| Reply::call(name, args.clone()));
    let server = ModelServer::start(Script::of(calls.chain([Reply::text("final").repeat()])));
    let mut sandbox = Sandbox::new();
    sandbox.use_server(&server);
    (server, sandbox)
}

/// The entry of the test's server, with these options.
pub(super) fn lab(sandbox: &Sandbox, options: &[&str]) -> Value {
    let log = sandbox.path().join("log");
    let mut args = vec![SERVER.to_owned(), log.display().to_string()];
    args.extend(options.iter().map(|&option| option.to_owned()));
    json!({"command": "python3", "args": args})
}

pub(super) fn write_servers(file: &Path, servers: &Value) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, json!({"mcpServers": servers}).to_string()).unwrap();
}

/// Gives the user one server, with these options.
fn use_lab(sandbox: &Sandbox, options: &[&str]) {
    let file = sandbox.config().join("mcp.json");
    write_servers(&file, &json!({"lab": lab(sandbox, options)}));
}

fn ask(sandbox: &Sandbox, mode: &str) -> Ran {
    let ran = sandbox.run(&[
        "-p",
        "--permission",
        mode,
        "-m",
        Wire::Anthropic.model(),
        "go",
    ]);
    sandbox.wait_no_processes(&[]);
    ran
}

/// What the server noted.
pub(super) fn log(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.path().join("log")).unwrap_or_default();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(super) fn starts(sandbox: &Sandbox) -> usize {
    let is_start = |note: &&Value| !note["start"].is_null();
    log(sandbox).iter().filter(is_start).count()
}

fn is_of_server(name: &str) -> bool {
    name.starts_with("mcp")
}

#[test]
fn tools_of_a_server_are_offered_and_called() {
    let (server, sandbox) = stage(&[
        ("mcp__lab__tool0", json!({"a": "v"})),
        ("mcp__lab__tool1", json!({"a": 1})),
    ]);
    use_lab(
        &sandbox,
        &["--tools", "12", "--garbage", "--ask", "--twice"],
    );
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(ran.stderr, "");

    let requests = server.requests();
    let tools = requests[0].tools();
    // The 12th comes with the second page.
    let listed: Vec<String> = tools.into_iter().filter(|it| is_of_server(it)).collect();
    assert_eq!(listed.len(), 13);
    assert_eq!(listed[11], "mcp__lab__tool11");
    assert_eq!(requests[1].results(), [r#"MCPRESULT {"a": "v"}"#]);
    assert_eq!(requests[2].results()[1], r#"MCPRESULT {"a": "1"}"#);
    let results = sandbox.session_messages().into_iter();
    let errors: Vec<Value> = results
        .filter(|it| it["role"] == "toolResult")
        .map(|it| it["isError"].clone())
        .collect();
    assert_eq!(errors, [false, true]);
    let noted = log(&sandbox);
    assert_eq!(Path::new(noted[0]["cwd"].as_str().unwrap()), sandbox.path());
    let answers: Vec<&Value> = noted
        .iter()
        .filter(|it| it["in"]["method"].is_null())
        .collect();
    assert_eq!(answers[1]["in"]["error"]["code"], -32601, "{noted:?}");
    assert_eq!(answers[2]["in"]["result"], json!({}));
    assert_eq!(starts(&sandbox), 1);
}

#[test]
fn pictures_and_progress_of_a_call_arrive() {
    let (server, sandbox) = stage(&[("mcp__lab__tool0", json!({}))]);
    use_lab(&sandbox, &["--image", "--progress"]);
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["--mode", "json", "--permission", "full", "-m", model, "go"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let body = server.requests()[1].text();
    assert!(body.contains("image/png"), "{body}");
    let is_progress = |it: &Value| it.to_string().contains("1 of 2 half");
    assert!(ran.records().iter().any(is_progress), "{}", ran.stdout);
    sandbox.wait_no_processes(&[]);
}

#[test]
fn a_server_that_dies_is_started_again_three_times() {
    let call = ("mcp__lab__tool0", json!({}));
    let (server, sandbox) = stage(&vec![call; 5]);
    use_lab(&sandbox, &["--die"]);
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let results = server.requests()[5].results();
    let died = "MCP server lab: it exited with code 1; its last words: out of memory";
    for result in &results[..4] {
        assert_eq!(*result, format!("{died}. The next call starts it again"));
    }
    assert_eq!(results[4], format!("{died}; tiller has started it 4 times"));
    assert_eq!(starts(&sandbox), 4);
}

#[test]
fn a_server_that_floods_ends_and_disturbs_nothing_else() {
    let (server, sandbox) = stage(&[
        ("mcp__lab__tool0", json!({})),
        ("mcp__other__tool0", json!({})),
    ]);
    let servers = json!({"lab": lab(&sandbox, &["--flood"]), "other": lab(&sandbox, &[])});
    write_servers(&sandbox.config().join("mcp.json"), &servers);
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let results = server.requests()[2].results();
    let flooded = "MCP server lab: it sent more than 32 MB in one line";
    assert!(results[0].starts_with(flooded), "{results:?}");
    assert_eq!(results[1], "MCPRESULT {}");
}

#[test]
fn servers_that_do_not_start_are_named_once_and_change_no_request() {
    let (server, mut sandbox) = stage(&[]);
    assert_eq!(ask(&sandbox, "full").stderr, "");
    sandbox.set("LAB", "1");
    let servers = json!({
        "dead": lab(&sandbox, &["--die-at-start"]),
        "gone": {"command": "no-such-program"},
        "unset": {"command": "${LAB}", "args": ["${LAB_UNSET}"]},
        "web": {"type": "ws", "url": "https://example.org"},
    });
    write_servers(&sandbox.config().join("mcp.json"), &servers);
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for said in [
        "MCP server dead didn't start: it exited with code 3; its last words: no database",
        "MCP server gone didn't start: its command wasn't found",
        "MCP server unset doesn't start: the variable LAB_UNSET isn't set. Set it, or write a default into",
        "mcpServers.web.type: expected stdio or http",
    ] {
        assert_eq!(
            ran.stderr.matches(said).count(),
            1,
            "{said}: {}",
            ran.stderr
        );
    }
    let requests = server.requests();
    assert_eq!(requests[0].body["tools"], requests[1].body["tools"]);
    assert_eq!(requests[0].body["system"], requests[1].body["system"]);
}

#[test]
fn files_of_claude_code_count_and_the_first_server_of_a_name() {
    let (server, mut sandbox) = stage(&[]);
    sandbox.set("LAB_VALUE", "two words");
    let of = |name: &str| {
        let mut server = lab(&sandbox, &["--value", "${LAB_VALUE}"]);
        server["env"] = json!({"LAB_NAME": name, "LAB_DEFAULT": "${LAB_NONE:-none}"});
        server
    };
    use_lab(&sandbox, &[]);
    let cwd = sandbox.path().display().to_string();
    let claude = json!({
        "mcpServers": {"all": of("all"), "lab": of("lab"), "here": of("all")},
        "projects": {cwd: {"mcpServers": {"here": of("here")}}},
    });
    let home = sandbox.config().parent().unwrap().join("home");
    fs::write(home.join(".claude.json"), claude.to_string()).unwrap();
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let tools = server.requests()[0].tools();
    for tool in ["mcp__all__tool0", "mcp__here__tool0", "mcp__lab__tool0"] {
        assert!(tools.iter().any(|it| it == tool), "{tool}: {tools:?}");
    }
    let notes = log(&sandbox);
    let mut names: Vec<&str> = notes
        .iter()
        .filter_map(|it| it["env"]["LAB_NAME"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["all", "here"]);
    let note = notes
        .iter()
        .find(|it| it["env"]["LAB_NAME"] == "all")
        .unwrap();
    assert_eq!(note["env"]["LAB_DEFAULT"], "none");
    assert_eq!(note["args"], json!(["--value", "two words"]));
    assert_eq!(note["env"]["CLAUDE_PROJECT_DIR"], json!(sandbox.path()));
}

#[test]
fn a_call_needs_a_question() {
    let call = |name| (name, json!({}));
    let (server, sandbox) = stage(&[call("mcp__lab__tool0"), call("mcp__lab__look")]);
    use_lab(&sandbox, &[]);
    let ran = ask(&sandbox, "auto");
    let results = server.requests()[2].results();
    let why = "Not permitted: it may run outside the sandbox, and tiller can't know what it does.";
    assert!(results[0].starts_with(why), "{results:?}");
    assert!(
        results[0].contains("tool = \"mcp__lab__tool0\""),
        "{results:?}"
    );
    assert!(results[1].starts_with(why), "{results:?}");
    assert_eq!(ran.code, Some(3), "{ran:#?}");
}

#[test]
fn plan_mode_refuses_all_but_what_claims_to_read() {
    let (server, sandbox) = stage(&[
        ("mcp__lab__tool0", json!({})),
        ("mcp__lab__look", json!({})),
    ]);
    use_lab(&sandbox, &[]);
    ask(&sandbox, "plan");
    let results = server.requests()[2].results();
    assert!(
        results[0].starts_with("Not permitted: Plan mode"),
        "{results:?}"
    );
    assert!(
        results[1].contains("This run can't ask the user"),
        "{results:?}"
    );
}

#[test]
fn a_rule_allows_the_tools_of_a_server() {
    let (server, sandbox) = stage(&[("mcp__lab__tool0", json!({}))]);
    use_lab(&sandbox, &[]);
    let rule = "[models]\nlocal = false\n[[permission.rules]]\ntool = \"mcp__lab__*\"\naction = \"allow\"\n";
    fs::write(sandbox.config().join("config.toml"), rule).unwrap();
    let ran = ask(&sandbox, "auto");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(server.requests()[1].results(), ["MCPRESULT {}"]);
}

#[test]
fn of_too_many_tools_two_are_offered_which_find_and_call_the_others() {
    let args = json!({"name": "mcp__lab__tool42", "arguments": {"a": "v"}});
    let wrong = json!({"name": "mcp__lab__tool4200"});
    let (server, sandbox) = stage(&[
        ("mcp_search", json!({"words": "tool42"})),
        ("mcp_call", args),
        ("mcp_call", wrong),
    ]);
    use_lab(&sandbox, &["--tools", "100", "--desc", "200"]);
    let hook = json!({"command": "cat >> seen", "type": "command"});
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "mcp__lab__.*", "hooks": [hook]}]}});
    fs::write(sandbox.config().join("hooks.json"), hooks.to_string()).unwrap();
    let rule = "[models]\nlocal = false\n[[permission.rules]]\ntool = \"mcp__lab__tool42\"\naction = \"allow\"\n";
    fs::write(sandbox.config().join("config.toml"), rule).unwrap();
    let ran = ask(&sandbox, "auto");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let requests = server.requests();
    let offered: Vec<String> = requests[0]
        .tools()
        .into_iter()
        .filter(|it| is_of_server(it))
        .collect();
    assert_eq!(offered, ["mcp_search", "mcp_call"]);
    let results = requests[3].results();
    let first: Value = serde_json::from_str(results[0].lines().next().unwrap()).unwrap();
    assert_eq!(first["name"], "mcp__lab__tool42");
    assert_eq!(first["arguments"]["type"], "object");
    assert_eq!(results[1], r#"MCPRESULT {"a": "v"}"#);
    assert!(
        results[2].starts_with("There is no MCP tool 'mcp__lab__tool4200'."),
        "{results:?}"
    );
    let seen: Value = serde_json::from_str(&sandbox.read("seen")).unwrap();
    assert_eq!(seen["tool_name"], "mcp__lab__tool42");
    assert_eq!(seen["tool_input"], json!({"a": "v"}));
}

#[test]
fn an_abort_cancels_the_call_and_the_server_runs_on() {
    let (server, sandbox) = stage(&[("mcp__lab__tool0", json!({}))]);
    use_lab(&sandbox, &["--hang"]);
    let model = Wire::Anthropic.model();
    let mut client = RpcClient::start(&sandbox, &["--permission", "full", "-m", model]);
    client.data(json!({"type": "prompt", "message": "go"}));
    wait_for(&sandbox, "tools/call");
    client.send(json!({"type": "abort"}));
    client.until_type("agent_settled");
    let cancelled = wait_for(&sandbox, "notifications/cancelled");
    let call = wait_for(&sandbox, "tools/call");
    assert_eq!(cancelled["params"]["requestId"], call["id"]);
    client.prompt("again");
    let tools = server.requests()[1].tools();
    assert!(tools.iter().any(|it| it == "mcp__lab__tool0"));
    assert_eq!(starts(&sandbox), 1);
    assert_eq!(client.close(), Some(0));
    sandbox.wait_no_processes(&[]);
}

/// Waits until the server has received this method. Returns the message.
pub(super) fn wait_for(sandbox: &Sandbox, method: &str) -> Value {
    let started = Instant::now();
    loop {
        let is_it = |note: &Value| note["in"]["method"] == method;
        if let Some(note) = log(sandbox).into_iter().find(is_it) {
            return note["in"].clone();
        }
        assert!(started.elapsed() < DEADLINE, "no {method}");
        std::thread::yield_now();
    }
}

#[test]
fn new_tools_join_at_a_later_prompt() {
    let (server, sandbox) = stage(&[("mcp__lab__tool0", json!({}))]);
    use_lab(&sandbox, &["--change"]);
    let model = Wire::Anthropic.model();
    let mut client = RpcClient::start(&sandbox, &["--permission", "full", "-m", model]);
    client.prompt("go");
    let offers = || {
        let requests = server.requests();
        let has_new = |it: &Recorded| it.tools().iter().any(|it| it == "mcp__lab__newtool");
        requests.iter().map(has_new).collect::<Vec<_>>()
    };
    assert_eq!(offers(), [false, false]);
    let started = Instant::now();
    while !offers().contains(&true) {
        client.prompt("more");
        assert!(started.elapsed() < DEADLINE, "no new tool");
    }
    client.close();
    sandbox.wait_no_processes(&[]);
}

#[test]
fn a_server_ends_when_tiller_is_killed() {
    let (_server, sandbox) = stage(&[("mcp__lab__tool0", json!({}))]);
    use_lab(&sandbox, &["--hang"]);
    let model = Wire::Anthropic.model();
    let mut client = RpcClient::start(&sandbox, &["--permission", "full", "-m", model]);
    client.data(json!({"type": "prompt", "message": "go"}));
    wait_for(&sandbox, "tools/call");
    kill(Pid::from_raw(client.pid()), Signal::SIGKILL).unwrap();
    client.close();
    sandbox.wait_no_processes(&[]);
}

#[test]
fn the_question_names_the_server_and_its_answer_is_kept_for_the_project() {
    let call = ("mcp__lab__tool0", json!({"a": "vvv"}));
    let (server, sandbox) = stage(&[call.clone(), call]);
    let sandbox = sandbox.with_default_mode();
    use_lab(&sandbox, &[]);
    let model = Wire::Anthropic.model();
    let screen = Launch::new(&sandbox)
        .args(&["-m", model])
        .size(100, 40)
        .start();
    screen.wait_for("─ auto");
    screen.keys("go<enter>");
    screen.wait_for("Allow server lab: tool0?");
    screen.wait_for("\"a\": \"vvv\"");
    screen.keys("<down><down><right>");
    screen.wait_for("don't ask again for the tool mcp__lab__tool0 in this project");
    screen.wait_for("Enter confirm");
    screen.keys("<enter>");
    screen.wait_for("final");
    let results = server.requests()[2].results();
    assert_eq!(results, [r#"MCPRESULT {"a": "vvv"}"#; 2]);
    let kept = fs::read_to_string(sandbox.config().join("projects.toml")).unwrap();
    assert!(kept.contains("tool = \"mcp__lab__tool0\""), "{kept}");
    screen.keys("/mcp<enter>");
    screen.wait_for("lab: running, 3 tools");
    screen.keys("<c-d>");
    screen.wait_exit();
    sandbox.wait_no_processes(&[]);
}

/// The last user message that the model got.
fn last_message(server: &ModelServer) -> String {
    let requests = server.requests();
    let messages = requests.last().unwrap().body["messages"].clone();
    messages.as_array().unwrap().last().unwrap().to_string()
}

#[test]
fn a_prompt_of_a_server_is_a_slash_command_on_every_front_end() {
    let (server, sandbox) = stage(&[]);
    use_lab(&sandbox, &["--prompts"]);
    let model = Wire::Anthropic.model();
    let typed = "/mcp__lab__the_weather Paris FR now";
    let whole = "Is it raining in Paris, FR now?\\n\\nAssistant: It depends.\\n\\n[image left out]";

    let ran = sandbox.run(&["-p", "-m", model, typed]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        last_message(&server).contains(whole),
        "{}",
        last_message(&server)
    );

    for (typed, why) in [
        (
            "/mcp__lab__the_weather",
            "The prompt needs more arguments: CITY [STATE]",
        ),
        (
            "/mcp__lab__nothing",
            "No MCP server has the prompt /mcp__lab__nothing.",
        ),
    ] {
        let ran = sandbox.run(&["-p", "-m", model, typed]);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }

    let mut client = RpcClient::start(&sandbox, &["-m", model]);
    client.prompt("/mcp__lab__the_weather 'New York' NY");
    assert!(last_message(&server).contains("in New York, NY?"));
    let commands = client.data(json!({"type": "get_commands"}))["commands"].to_string();
    assert!(
        commands.contains(r#""name":"mcp__lab__the_weather""#),
        "{commands}"
    );
    client.close();

    let screen = Launch::new(&sandbox)
        .args(&["-m", model])
        .size(100, 40)
        .start();
    screen.wait_for("Ask for anything");
    screen.keys(&format!("{typed}<enter>"));
    screen.wait_for("final");
    // The screen shows what was typed.
    screen.wait_for("/mcp__lab__the_weather Paris FR now");
    assert!(last_message(&server).contains(whole));
    screen.keys("/mcp__lab");
    screen.wait_for("/mcp__lab__the_weather CITY [STATE]");
    screen.wait_for("Ask about the weather");
    screen.keys("<esc><c-u>@one");
    screen.wait_for("lab:lab://one");
    screen.keys("<esc><c-u>see @lab:lab://one<space><enter>");
    screen.wait_until("the second answer", |view| {
        view.text().matches("final").count() == 2
    });
    assert!(last_message(&server).contains("RESOURCEBODY"));
    screen.keys("<c-d>");
    screen.wait_exit();
    sandbox.wait_no_processes(&[]);
}

#[test]
fn a_mentioned_resource_is_attached_like_a_file() {
    let (server, sandbox) = stage(&[]);
    use_lab(&sandbox, &["--prompts"]);
    let model = Wire::Anthropic.model();
    let prompt =
        "see @lab:lab://one, @lab:lab://picture, @lab:lab://long, @lab:lab://none, @x:y://z";
    let ran = sandbox.run(&["-p", "-m", model, prompt]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let message = last_message(&server);
    let block = r#"<file path=\"lab:lab://one\">\nRESOURCEBODY\n</file>"#;
    assert!(message.contains(block), "{message}");
    assert!(message.contains("image/png"), "{message}");
    for left_out in [
        "tiller: not attached: @lab:lab://long (larger than 64 KiB)",
        "tiller: not attached: @lab:lab://none (MCP server lab: it answered with an error: no such resource)",
    ] {
        assert!(ran.stderr.contains(left_out), "{}", ran.stderr);
    }
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
    let ran = sandbox.run(&["-p", "-m", model, "@lab:lab://one"]);
    assert!(last_message(&server).contains(block), "{ran:#?}");
}

/// Its pipes hold some, tiller's queue the others, and neither grows.
#[test]
fn messages_of_a_server_that_starts_do_not_pile_up() {
    let (server, sandbox) = stage(&[("mcp__lab__tool0", json!({}))]);
    use_lab(&sandbox, &["--noise", "50000"]);
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(server.requests()[1].results(), ["MCPRESULT {}"]);
    let lists = log(&sandbox)
        .iter()
        .filter(|it| it["in"]["method"] == "tools/list")
        .count();
    assert!(lists < 100, "{lists}");
}

#[test]
fn servers_are_added_listed_and_removed() {
    let sandbox = Sandbox::new();
    let file = sandbox.config().join("mcp.json");
    let run = |words: &[&str]| {
        let ran = sandbox.run(&[&["mcp"], words].concat());
        (ran.code, ran.stdout + &ran.stderr)
    };
    let says = |words: &[&str], code: i32, said: &str| {
        let (found, text) = run(words);
        assert_eq!(found, Some(code), "{text}");
        assert!(text.contains(said), "{text}");
    };
    says(
        &["list"],
        0,
        "No MCP servers. To add one: tiller mcp add NAME -- COMMAND",
    );
    says(
        &["add", "db", "-e", "A=${B}", "--", "npx", "-y", "db"],
        0,
        "Added db to",
    );
    says(
        &[
            "add",
            "web",
            "--url",
            "https://a.example/mcp",
            "--header",
            "X-Key: ${KEY}",
        ],
        0,
        "Added web",
    );
    let written: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let expected = json!({"mcpServers": {
        "db": {"command": "npx", "args": ["-y", "db"], "env": {"A": "${B}"}},
        "web": {"type": "http", "url": "https://a.example/mcp", "headers": {"X-Key": "${KEY}"}},
    }});
    assert_eq!(written, expected);
    says(
        &["list"],
        0,
        "  db: npx -y db\n  web: https://a.example/mcp\n",
    );
    for (words, why) in [
        (
            &["add", "db", "x"][..],
            "has a server db already. To replace it: tiller mcp remove db",
        ),
        (&["add", "a b", "x"], "a b isn't a name"),
        (&["add", "c", "--url", "https://a.example", "x"], "not both"),
        (
            &["add", "c", "--header", "X: 1", "x"],
            "only a server with a --url has headers",
        ),
        (
            &["add", "c", "--env", "SECRET", "x"],
            "expected --env NAME=VALUE",
        ),
        (&["remove", "c"], "no server c. To see all: tiller mcp list"),
    ] {
        says(words, 2, why);
    }
    says(&["remove", "db"], 0, "Removed db from");
    fs::write(&file, "{").unwrap();
    says(&["add", "c", "x"], 2, "isn't valid JSON");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{");
}

#[test]
fn a_server_asks_the_user_during_a_call() {
    let call = ("mcp__lab__tool0", json!({}));
    let (server, sandbox) = stage(&[call.clone(), call]);
    use_lab(&sandbox, &["--elicit"]);
    let model = Wire::Anthropic.model();
    let answers = |sandbox: &Sandbox| {
        let notes = log(sandbox).into_iter();
        let answers = notes.filter(|it| it["in"]["id"] == "e");
        answers
            .map(|it| it["in"]["result"].clone())
            .collect::<Vec<_>>()
    };
    let mut client = RpcClient::start(&sandbox, &["--permission", "full", "-m", model]);
    client.data(json!({"type": "prompt", "message": "go"}));
    for value in ["dev", "many", "3", "main", "skip"] {
        let dialog = client.until_type("extension_ui_request");
        assert!(
            dialog.to_string().contains("MCP server lab asks: Where?"),
            "{dialog}"
        );
        let answer = json!({"type": "extension_ui_response", "id": dialog["id"], "value": value});
        client.write(&answer.to_string());
    }
    client.until_type("agent_settled");
    let expected = [
        json!({"action": "accept", "content": {"branch": "dev", "count": 3}}),
        json!({"action": "accept", "content": {"branch": "main"}}),
    ];
    assert_eq!(answers(&sandbox), expected);
    assert_eq!(server.requests()[1].results(), ["MCPRESULT {}"]);
    client.close();
    sandbox.wait_no_processes(&[]);

    // Without a user, the server learns that nobody answers.
    let (_server, sandbox) = stage(&[("mcp__lab__tool0", json!({}))]);
    use_lab(&sandbox, &["--elicit"]);
    ask(&sandbox, "full");
    assert_eq!(answers(&sandbox), [json!({"action": "cancel"})]);
}
