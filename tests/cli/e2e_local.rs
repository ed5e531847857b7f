//! Local models, end to end: tiller finds them without a key, `-m` names them, and errors say
//! what's missing.

use std::net::TcpListener;

use crate::support::local_server::{self, Played};
use crate::support::sandbox::Sandbox;

/// A port without a listener.
fn closed() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A project on a machine with only this Ollama.
fn with(server: &Played) -> Sandbox {
    let mut sandbox = Sandbox::new();
    let settings = format!(
        "[models.servers]\nllamacpp = \"{0}\"\nlmstudio = \"{0}\"\n",
        closed()
    );
    std::fs::write(sandbox.config().join("config.toml"), settings).unwrap();
    sandbox.set("OLLAMA_HOST", &format!("0.0.0.0:{}", server.port));
    sandbox
}

#[test]
fn without_a_key_a_local_model_answers() {
    let server = local_server::ollama();
    let sandbox = with(&server);
    let ran = sandbox.run(&["-p", "who are you?"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "I am local.\n"),
        "{ran:#?}"
    );
    let ran = sandbox.run(&["--mode", "json", "who are you?"]);
    let records = ran.records();
    let said = records.iter().find(|it| it["message"]["model"].is_string());
    assert_eq!(
        said.unwrap()["message"]["model"],
        "qwen3:8b",
        "the model that is loaded in memory"
    );
}

#[test]
fn a_local_model_can_be_named() {
    let server = local_server::ollama();
    let sandbox = with(&server);
    for name in [
        "ollama/llava:13b",
        "ollama/deepseek-r1",
        "qwen3:8b",
        "ollama",
    ] {
        let ran = sandbox.run(&["-p", "-m", name, "who are you?"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "I am local.\n"),
            "{name} {ran:#?}"
        );
    }
}

#[test]
fn local_models_are_listed() {
    let server = local_server::ollama();
    let sandbox = with(&server);
    let ran = sandbox.run(&["models", "--available"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for id in [
        "ollama/deepseek-r1:latest",
        "ollama/llava:13b",
        "ollama/qwen3:8b",
    ] {
        assert!(ran.stdout.contains(id), "{id} {ran:#?}");
    }
    let ran = sandbox.run(&["models", "--json", "qwen3:8b", "ollama"]);
    assert!(ran.stdout.contains("32768"), "{ran:#?}");
}

#[test]
fn a_missing_local_server_is_reported_with_a_hint() {
    let server = Played { port: closed() };
    let sandbox = with(&server);
    for (name, says) in [
        ("ollama/qwen3:8b", "ollama serve"),
        ("lmstudio/x", "lms server start"),
        ("llamacpp/x", "models.servers.llamacpp=HOST:PORT"),
        ("LlamaCpp", "llama.cpp doesn't answer at"),
        ("ollma/x", "did you mean 'ollama'?"),
    ] {
        let ran = sandbox.run(&["-p", "-m", name, "go"]);
        assert_eq!(ran.code, Some(2), "{name} {ran:#?}");
        assert!(ran.stderr.contains(says), "{name} {ran:#?}");
    }
    let ran = sandbox.run(&["-p", "go"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.stderr.contains("no model server"), "{ran:#?}");
}

#[test]
fn another_program_at_the_address_is_reported_as_such() {
    let server = local_server::play(&[("/nothing", String::new())]);
    let sandbox = with(&server);
    let ran = sandbox.run(&["-p", "-m", "ollama/x", "go"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    for told in ["doesn't answer as Ollama does", "api = \"openai-chat\""] {
        assert!(ran.stderr.contains(told), "{ran:#?}");
    }
}

#[test]
fn with_local_models_off_none_are_looked_for() {
    let server = local_server::ollama();
    let sandbox = with(&server);
    let ran = sandbox.run(&["-p", "--config", "models.local=false", "go"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let off = [
        "-p",
        "--config",
        "models.local=false",
        "-m",
        "ollama/x",
        "go",
    ];
    let ran = sandbox.run(&off);
    let told = "To look for it: tiller config unset models.local";
    assert!(ran.stderr.contains(told), "{ran:#?}");
}

#[test]
fn a_bare_name_means_the_running_model_before_one_of_a_host() {
    let server = local_server::ollama();
    let mut sandbox = with(&server);
    sandbox.set("GROQ_API_KEY", "unused");
    let ran = sandbox.run(&["-p", "-m", "qwen3", "who are you?"]);
    assert_eq!(ran.stdout, "I am local.\n", "{ran:#?}");
}
