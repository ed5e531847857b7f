//! MCP servers, end to end: the real binary starts a server from the user's files, offers its tools, and
//! calls them. The server is `support/mcp_server.py`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::sandbox::{Ran, Sandbox};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/mcp_server.py");

/// A sandbox whose model makes these calls, one a turn, and then says "final".
fn stage(calls: &[(&str, Value)]) -> (ModelServer, Sandbox) {
    let calls = calls.iter();
    let calls = calls.map(|(name, args)| Reply::call(name, args.clone()));
    let server = ModelServer::start(Script::of(calls.chain([Reply::text("final").repeat()])));
    let mut sandbox = Sandbox::new();
    sandbox.use_server(&server);
    (server, sandbox)
}

/// The entry of the test's server, with these options.
fn lab(sandbox: &Sandbox, options: &[&str]) -> Value {
    let log = sandbox.path().join("log");
    let mut args = vec![SERVER.to_owned(), log.display().to_string()];
    args.extend(options.iter().map(|&option| option.to_owned()));
    json!({"command": "python3", "args": args})
}

fn write_servers(file: &Path, servers: &Value) {
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
fn log(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.path().join("log")).unwrap_or_default();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn starts(sandbox: &Sandbox) -> usize {
    let is_start = |note: &&Value| !note["start"].is_null();
    log(sandbox).iter().filter(is_start).count()
}

fn is_of_server(name: &&String) -> bool {
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
    let listed: Vec<String> = tools.into_iter().filter(|it| is_of_server(&it)).collect();
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
