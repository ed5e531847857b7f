//! The real program with a model that runs commands: what reaches the model, and that no process
//! survives the run, however tiller ends.

use serde_json::json;

use crate::support::marked::MarkedProcesses;
use crate::support::model_server::{ModelServer, Reply, Script};
use crate::support::sandbox::Sandbox;

const MODEL: &str = "anthropic/claude-sonnet-5-5";

fn server(command: &str) -> ModelServer {
    ModelServer::start(Script::of([
        Reply::call("bash", json!({ "command": command })),
        Reply::text("Done."),
    ]))
}

fn sandbox(server: &ModelServer) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.use_server(server);
    sandbox.set("MY_SECRET_TOKEN", "hush");
    sandbox
}

#[tokio::test]
async fn background_processes_end_with_the_run() {
    let marked = MarkedProcesses::new();
    let server = server(&marked.script("env | grep -i secret; setsid SLEEP >&- 2>&- & echo ran"));
    let ran = sandbox(&server).run(&["-p", "go", "-m", MODEL]);
    assert_eq!(ran.stdout.trim(), "Done.");
    let results = server.request(1).results();
    assert!(
        results[0].starts_with("ran\n[still running: "),
        "{results:?}"
    );
    assert!(
        results[0].ends_with(" sleep; they end with this run]"),
        "{results:?}"
    );
    marked.wait_for_none().await;
}

#[tokio::test]
async fn a_command_that_kills_its_supervisor_is_ended() {
    let marked = MarkedProcesses::new();
    let server = server(&marked.script("echo before; setsid SLEEP & SLEEP & kill -9 $PPID; SLEEP"));
    let ran = sandbox(&server).run(&["-p", "go", "-m", MODEL]);
    assert_eq!(ran.stdout.trim(), "Done.");
    let results = server.request(1).results();
    assert!(results[0].starts_with("before\n"), "{results:?}");
    assert!(results[0].ends_with("[killed by signal 9]"), "{results:?}");
    marked.wait_for_none().await;
}

#[tokio::test]
async fn secrets_are_kept_from_commands() {
    let names = [
        "ANTHROPIC_API_KEY",
        "openai_api_key",
        "GITHUB_TOKEN",
        "MY_SECRET_THING",
        "PGPASSWORD",
        "AWS_CREDENTIALS_FILE",
        "AWS_SECRET_ACCESS_KEY",
        "Deploy_Private_Key",
        "TOKENS",
        "KEYBOARD",
        "[X",
    ];
    for (settings, seen) in [
        ("", "KEYBOARD TOKENS [X"),
        // An invalid glob is matched literally.
        (
            "tools.bash.secret_env = [\"tok*\", \"[x\", \"*_*\"]",
            "KEYBOARD PGPASSWORD",
        ),
    ] {
        let server = server(
            "tr '\\0' '\\n' < /proc/$$/environ | grep =hush | sed s/=hush// | LC_ALL=C sort | tr '\\n' ' '",
        );
        let mut sandbox = sandbox(&server);
        sandbox.write("../config/config.toml", settings);
        for name in names {
            sandbox.set(name, "hush");
        }
        sandbox.run(&["-p", "go", "-m", MODEL]);
        assert_eq!(server.request(1).results()[0].trim(), seen);
    }
}

#[tokio::test]
async fn signals_to_tiller_end_the_command() {
    for signal in [
        nix::sys::signal::SIGKILL,
        nix::sys::signal::SIGTERM,
        nix::sys::signal::SIGINT,
    ] {
        let marked = MarkedProcesses::new();
        let server = server(&marked.script("setsid SLEEP & env -i SLEEP & SLEEP"));
        let sandbox = sandbox(&server);
        let mut tiller = sandbox.tiller(&["-p", "go", "-m", MODEL]).spawn().unwrap();
        marked.wait_for(4).await;
        let pid = nix::unistd::Pid::from_raw(tiller.id() as i32);
        nix::sys::signal::kill(pid, signal).unwrap();
        marked.wait_for_none().await;
        tiller.wait().unwrap();
    }
}
