//! Choosing a model in the real program: the list, the next call, the saved default, a changed
//! `models.toml`, and a local model.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::support::job;
use crate::support::local_server;
use crate::support::model_server::{Failure, ModelServer, Reply, Script, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

/// One server with two replies, reached through two providers of the same wire with one model each.
fn stage() -> (ModelServer, Sandbox) {
    let server = ModelServer::start(Script::of([Reply::text("First."), Reply::text("Second.")]));
    let sandbox = job::sandbox();
    providers(&sandbox, &server, &["alpha", "beta"]);
    (server, sandbox)
}

fn providers(sandbox: &Sandbox, server: &ModelServer, names: &[&str]) {
    let text: Vec<String> = names
        .iter()
        .map(|name| {
            format!(
                "[providers.{name}]\napi = \"{}\"\nbase_url = \"{}\"\napi_key = \"literal-key\"\n\
                 [[providers.{name}.models]]\nid = \"model-{name}\"\ncontext_window = 64000\n",
                Wire::Chat.api(),
                server.url(Wire::Chat)
            )
        })
        .collect();
    std::fs::write(sandbox.config().join("models.toml"), text.concat()).unwrap();
}

fn open(sandbox: &Sandbox, arguments: &[&str]) -> Screen {
    let screen = Launch::new(sandbox).args(arguments).size(100, 30).start();
    screen.wait_for("Ask for anything");
    screen
}

fn leave(screen: &Screen) {
    screen.wait_gone("Esc stops");
    screen.keys("<c-d>");
    assert_eq!(screen.wait_exit().code, 0);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
}

#[test]
fn a_chosen_model_gets_the_next_call_and_is_saved_only_on_request() {
    let (server, sandbox) = stage();
    let settings = sandbox.config().join("config.toml");
    std::fs::write(&settings, "# mine\n[models]\nlocal = false # not here\n").unwrap();
    let screen = open(&sandbox, &["-m", "alpha/model-alpha"]);
    screen.keys("one<enter>");
    screen.wait_for("First.");
    screen.keys("<c-l>");
    screen.wait_for("beta/model-beta");
    screen.keys("beta");
    screen.wait_for("window 64,000");
    screen.keys("<enter>");
    screen.wait_gone("─ Models");
    screen.keys("two<enter>");
    screen.wait_for("Second.");
    assert_eq!(server.request(0).body["model"], "model-alpha");
    assert_eq!(server.request(1).body["model"], "model-beta");
    let kept = std::fs::read_to_string(&settings).unwrap();
    assert!(!kept.contains("default"), "{kept}");

    // Changes to the file show the next time the list opens.
    providers(&sandbox, &server, &["alpha", "beta", "gamma"]);
    screen.keys("<c-l>");
    screen.keys("gamma");
    screen.wait_for("gamma/model-gamma");
    screen.keys("<c-s>");
    screen.wait_for("Saved as the default model");
    screen.keys("<esc>");
    screen.wait_gone("─ Models");
    leave(&screen);
    assert_eq!(
        std::fs::read_to_string(&settings).unwrap(),
        "# mine\n[models]\nlocal = false # not here\ndefault = \"gamma/model-gamma\"\n"
    );
    let screen = open(&sandbox, &[]);
    screen.wait_for("model-gamma");
    leave(&screen);
}

#[test]
fn keys_switch_favourites_and_thinking() {
    let (_server, sandbox) = stage();
    let settings =
        "[models]\nlocal = false\nfavorites = [\"alpha\", \"beta/model-beta\", \"nothing\"]\n";
    std::fs::write(sandbox.config().join("config.toml"), settings).unwrap();
    let screen = open(&sandbox, &["-m", "alpha/model-alpha"]);
    screen.keys("<c-p>");
    screen.wait_until("beta in the status line", |view| {
        view.lines()
            .last()
            .is_some_and(|line| line.contains("model-beta"))
    });
    screen.keys("<c-p>");
    screen.wait_until("alpha in the status line", |view| {
        view.lines()
            .last()
            .is_some_and(|line| line.contains("model-alpha"))
    });
    screen.keys("/model beta:high<enter>");
    screen.wait_until("beta again", |view| {
        view.lines()
            .last()
            .is_some_and(|line| line.contains("model-beta"))
    });
    screen.keys("/model alpha/none-such/x y<enter>");
    screen.wait_for("none-such");
    leave(&screen);
}

#[test]
fn a_local_model_is_listed_and_answers() {
    let ollama = local_server::ollama();
    let (_server, sandbox) = stage();
    let settings = format!(
        "[models.servers]\nollama = \"{}\"\nllamacpp = \"1\"\nlmstudio = \"1\"\n",
        ollama.port
    );
    std::fs::write(sandbox.config().join("config.toml"), settings).unwrap();
    let screen = open(&sandbox, &["-m", "alpha/model-alpha"]);
    screen.keys("<c-l>");
    screen.keys("qwen3:8b");
    screen.wait_for("in memory");
    screen.keys("<enter>");
    screen.wait_gone("─ Models");
    screen.keys("who are you?<enter>");
    screen.wait_for("I am local.");
    leave(&screen);
}

#[test]
fn a_key_added_or_replaced_during_the_session_is_used() {
    let refused = || Reply::error(Failure::Auth);
    let script = Script::of([refused(), refused(), Reply::text("Thank you.")]);
    let (server, sandbox) = (ModelServer::start(script), job::sandbox());
    let text = format!(
        "[providers.lab]\napi = \"openai-chat\"\nbase_url = \"{}\"\nenv = [\"LAB_KEY\"]\n\
         [[providers.lab.models]]\nid = \"m\"\ncontext_window = 64000\n",
        server.url(Wire::Chat)
    );
    std::fs::write(sandbox.config().join("models.toml"), text).unwrap();
    let store = |key: &str| {
        let file = sandbox.config().join("auth.toml");
        std::fs::write(&file, format!("[lab]\nkey = \"{key}\"\n")).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    };
    let screen = open(&sandbox, &["-m", "lab/m"]);
    screen.keys("hello<enter>");
    screen.wait_for("Enter retry");
    assert_eq!(server.requests().len(), 0, "there is no key yet");
    store("first-key");
    screen.keys("again<enter>");
    screen.wait_for("refused the key");
    store("second-key");
    screen.keys("again<enter>");
    screen.wait_for("Thank you.");
    let sent = server.requests();
    let sent: Vec<_> = sent
        .iter()
        .filter_map(|it| it.header("authorization"))
        .collect();
    assert_eq!(
        sent,
        ["first-key", "first-key", "second-key"].map(|key| format!("Bearer {key}"))
    );
    leave(&screen);
}

#[test]
fn the_status_line_shows_the_thinking_level_sent() {
    // The default level is medium, which this model doesn't support.
    let server = ModelServer::start(Script::of([Reply::text("First.")]));
    let sandbox = job::sandbox();
    let text = format!(
        "[providers.lab]\napi = \"openai-chat\"\nbase_url = \"{}\"\napi_key = \"k\"\n\
         [[providers.lab.models]]\nid = \"m\"\ncontext_window = 64000\nthinking = [\"low\", \"high\"]\n",
        server.url(Wire::Chat)
    );
    std::fs::write(sandbox.config().join("models.toml"), text).unwrap();
    let screen = open(&sandbox, &["-m", "lab/m"]);
    screen.keys("one<enter>");
    screen.wait_for("First.");
    screen.wait_for("m high");
    assert_eq!(server.request(0).body["reasoning_effort"], "high");
    leave(&screen);
}
