//! MCP servers of a project: they run in the sandbox of the model's commands, or not at all.

use std::fs;
use std::net::TcpListener;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::e2e_mcp::{lab, log, stage, starts, write_servers};
use crate::support::marked::DEADLINE;
use crate::support::model_server::Wire;
use crate::support::rpc::RpcClient;
use crate::support::sandbox::{Ran, Sandbox};

const RULE: &str =
    "[models]\nlocal = false\n[[permission.rules]]\ntool = \"mcp__lab__*\"\naction = \"allow\"\n";
const NETWORK: &str = "[[permission.rules]]\ntool = \"bash\"\nprefix = [\"python3\"]\nnetwork = true\naction = \"allow\"\n";
const DENIED: &str =
    "[[permission.rules]]\ntool = \"bash\"\nprefix = [\"python3\"]\naction = \"deny\"\n";

fn settings(sandbox: &Sandbox, rules: &str) {
    fs::write(
        sandbox.config().join("config.toml"),
        format!("{RULE}{rules}"),
    )
    .unwrap();
}

fn use_lab(sandbox: &Sandbox, options: &[&str]) {
    let file = sandbox.path().join(".mcp.json");
    write_servers(&file, &json!({"lab": lab(sandbox, options)}));
}

fn ask(sandbox: &Sandbox, mode: &str) -> Ran {
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "--trust", "--permission", mode, "-m", model, "go"]);
    sandbox.wait_no_processes(&[]);
    ran
}

/// Whether this was noted.
fn noted(sandbox: &Sandbox, note: &Value) -> bool {
    log(sandbox).contains(note)
}

/// A project with a server that touches these files and connects to this port, called once in a trusted project.
fn called(rules: &str, mode: &str, options: &[&str]) -> (Sandbox, Ran) {
    let (_model, sandbox) = stage(&[("mcp__lab__tool0", json!({}))]);
    use_lab(&sandbox, options);
    settings(&sandbox, rules);
    let ran = ask(&sandbox, mode);
    (sandbox, ran)
}

#[test]
fn a_server_of_a_project_has_the_rights_of_the_models_commands() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let outside = outside.path().join("file").display().to_string();
    let paths = format!("inside,{outside}");
    let options = ["--touch", &paths, "--port", &port];
    let (sandbox, ran) = called("", "auto", &options);
    if !sandbox.machine_confines() {
        return;
    }
    assert_eq!(ran.stderr, "");
    assert!(noted(&sandbox, &json!({"touched": "inside"})));
    assert!(noted(&sandbox, &json!({"kept": outside})));
    assert!(noted(&sandbox, &json!({"connected": false})));

    let (sandbox, _) = called(NETWORK, "auto", &options);
    assert!(noted(&sandbox, &json!({"kept": outside})));
    assert!(noted(&sandbox, &json!({"connected": true})));

    let (_model, sandbox) = stage(&[("mcp__lab__tool0", json!({}))]);
    let mut with_variable = lab(&sandbox, &options);
    with_variable["env"] = json!({"PYTHONPATH": "evil"});
    write_servers(
        &sandbox.path().join(".mcp.json"),
        &json!({"lab": with_variable}),
    );
    settings(&sandbox, NETWORK);
    ask(&sandbox, "auto");
    assert!(noted(&sandbox, &json!({"connected": false})));

    let (sandbox, _) = called("", "full", &options);
    assert!(noted(&sandbox, &json!({"touched": outside})));
}

#[test]
fn a_server_of_a_project_needs_trust_and_a_sandbox_and_no_rule_against_it() {
    let (_model, mut sandbox) = stage(&[]);
    use_lab(&sandbox, &[]);
    settings(&sandbox, "");
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "--permission", "auto", "-m", model, "go"]);
    assert!(ran.stderr.contains(".mcp.json"), "{}", ran.stderr);
    let listed = sandbox.run(&["-p", "/mcp"]).stdout;
    assert!(
        listed.contains(".mcp.json, not started: /trust the project first"),
        "{listed}"
    );
    assert!(listed.contains("  lab: python3"), "{listed}");

    settings(&sandbox, DENIED);
    let ran = ask(&sandbox, "auto");
    let why = "MCP server lab didn't start: your rule denies its command:";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);

    settings(&sandbox, "");
    sandbox.set("TILLER_SANDBOX_WITHOUT", "namespaces,landlock,seccomp");
    let ran = ask(&sandbox, "auto");
    let why = "MCP server lab didn't start: servers of a project need the sandbox, which doesn't work here:";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    assert_eq!(starts(&sandbox), 0);
}

#[test]
fn a_project_gets_no_secrets_and_sends_nothing_to_its_urls() {
    let (_model, mut sandbox) = stage(&[]);
    sandbox.set("LAB_API_TOKEN", "tok-4711-secret");
    let mut with_secret = lab(&sandbox, &["--value", "${LAB_API_TOKEN}"]);
    let web = json!({"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"A": "${LAB_API_TOKEN}"}});
    let servers = json!({"lab": with_secret, "web": web});
    write_servers(&sandbox.path().join(".mcp.json"), &servers);
    settings(&sandbox, "");
    let ran = ask(&sandbox, "auto");
    assert_eq!(ran.stderr, "");
    assert_eq!(starts(&sandbox), 0);
    let listed = sandbox.run(&["-p", "--trust", "/mcp"]).stdout;
    for line in [
        "  lab: not started: the variable LAB_API_TOKEN isn't set, or is a secret that the project doesn't get",
        "  web: not started: a project can't choose where your data goes. If you trust the URL, copy the entry to",
    ] {
        assert!(listed.contains(line), "{listed}");
    }
    // The user's own server gets it.
    with_secret["args"][1] = json!(sandbox.path().join("log"));
    write_servers(
        &sandbox.config().join("mcp.json"),
        &json!({"lab": with_secret}),
    );
    ask(&sandbox, "auto");
    assert_eq!(
        log(&sandbox)[0]["args"],
        json!(["--value", "tok-4711-secret"])
    );
}

#[test]
fn a_server_of_a_project_starts_again_with_the_rights_of_another_mode() {
    let call = ("mcp__lab__look", json!({}));
    let (_model, sandbox) = stage(&[call]);
    if !sandbox.machine_confines() {
        return;
    }
    use_lab(&sandbox, &["--touch", "inside"]);
    settings(&sandbox, "");
    let model = Wire::Anthropic.model();
    let mut client = RpcClient::start(&sandbox, &["--trust", "--permission", "auto", "-m", model]);
    client.prompt("go");
    assert!(noted(&sandbox, &json!({"touched": "inside"})));
    let mut command =
        |line: &str| client.data(json!({"type": "prompt", "message": line}))["text"].to_string();
    command("/permission plan");
    fs::remove_file(sandbox.path().join("log")).unwrap();
    // It can't write its log now.
    wait_until(|| command("/mcp").contains("lab: failed: it exited with code 1; its last words:"));
    assert_eq!(starts(&sandbox), 0);
    client.close();
    sandbox.wait_no_processes(&[]);
}

#[test]
fn folders_of_a_killed_run_are_removed() {
    let (_model, mut sandbox) = stage(&[]);
    use_lab(&sandbox, &["--wait-at-start"]);
    settings(&sandbox, "");
    let tmp = sandbox.tmp();
    let folders = || {
        let entries = fs::read_dir(&tmp).unwrap().flatten();
        let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
        names.filter(|it| it.starts_with("tiller-")).count()
    };
    let model = Wire::Anthropic.model();
    let args = ["--trust", "--permission", "full", "-m", model];
    let mut client = RpcClient::start(&sandbox, &args);
    client.data(json!({"type": "prompt", "message": "go"}));
    wait_until(|| starts(&sandbox) == 1);
    kill(Pid::from_raw(client.pid()), Signal::SIGKILL).unwrap();
    client.close();
    sandbox.wait_no_processes(&[]);
    assert!(folders() > 0);
    fs::remove_file(sandbox.path().join(".mcp.json")).unwrap();
    let (second, _) = stage(&[("bash", json!({"command": "true"}))]);
    sandbox.use_server(&second);
    ask(&sandbox, "auto");
    wait_until(|| folders() == 0);
}

fn wait_until(mut is_done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_done() {
        assert!(started.elapsed() < DEADLINE);
        std::thread::yield_now();
    }
}
