//! Local model servers, played by small test servers. Their answers are those of real servers (the
//! files in `local/`). Some servers are something else, slow or broken.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use tiller::llm::local::{self, Address, DiscoveredServer, LocalServer, ServerAddrs};
use tiller::llm::{Model, ThinkingLevel, WindowSource, window_check};

use crate::support::local_server::{LLAMA, LM_STUDIO, PROPS, ROUTER, SHOW, TAGS, ollama, play};

/// Long enough for a busy machine.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(20);

fn at<const N: usize>(servers: [(LocalServer, u16); N]) -> ServerAddrs {
    let address = |port: u16| Address::parse(&port.to_string(), 1).unwrap();
    ServerAddrs {
        wanted: true,
        addresses: servers.map(|(server, port)| (server, address(port))).into(),
        ollama_window: None,
    }
}

fn ollama_at(port: u16) -> ServerAddrs {
    at([(LocalServer::Ollama, port)])
}

fn llama_at(port: u16) -> ServerAddrs {
    at([(LocalServer::LlamaCpp, port)])
}

fn models(found: &[DiscoveredServer]) -> Vec<&Model> {
    let models = found.iter().flat_map(|found| &found.models);
    models.map(|local| &local.model).collect()
}

#[tokio::test]
async fn ollama_reports_its_models_windows_and_capabilities() {
    let server = ollama();
    let found = local::discover(&ollama_at(server.port), DISCOVERY_TIMEOUT).await;
    let models = models(&found);
    let told: Vec<_> = models
        .iter()
        .map(|model| {
            let can = (model.vision, model.tools, model.reasoning);
            let window = (model.context_window, model.window_source.as_str());
            (model.full_id(), window, can)
        })
        .collect();
    assert_eq!(
        told,
        [
            // The window in its Modelfile, the window that Ollama loads a model with, and the
            // window in memory.
            (
                "ollama/deepseek-r1:latest".to_owned(),
                (24_576, "model"),
                (false, false, true)
            ),
            (
                "ollama/llava:13b".to_owned(),
                (4096, "estimate"),
                (true, false, false)
            ),
            (
                "ollama/qwen3:8b".to_owned(),
                (32_768, "model"),
                (false, true, true)
            ),
        ]
    );
    assert_eq!(models[0].name, "deepseek-r1:latest (7.6B, Q4_K_M)");
    assert_eq!(
        models[2].base_url,
        format!("http://127.0.0.1:{}/v1", server.port)
    );
    assert_eq!(models[2].thinking_word(ThinkingLevel::Off), Some("none"));
    let best = local::best(&found).expect("a model");
    assert_eq!(best.id, "qwen3:8b", "the loaded model must be the best");
}

#[tokio::test]
async fn the_window_of_an_ollama_model_is_an_estimate_until_it_is_loaded() {
    let server = play(&[
        ("/api/tags", TAGS.to_owned()),
        ("/api/show", SHOW.to_owned()),
    ]);
    for (variable, tokens) in [
        (None, 4096),
        (Some("8192"), 8192),
        (Some(" 8192 "), 8192),
        // More than the model supports.
        (Some("131072"), 40_960),
        (Some("0"), 4096),
        (Some("much"), 4096),
    ] {
        let addresses = ollama_at(server.port)
            .with_ollama_env(|name| variable.filter(|_| name == "OLLAMA_CONTEXT_LENGTH"));
        let found = local::discover(&addresses, DISCOVERY_TIMEOUT).await;
        let model = models(&found)[2].clone();
        assert_eq!(model.context_window, tokens, "{variable:?}");
        assert_eq!(model.window_source, WindowSource::Estimate);
        // An estimated window causes no errors and no warnings.
        assert_eq!(
            window_check::check_min(&model, window_check::MIN_CONTEXT),
            None
        );
        assert_eq!(window_check::warning(&model), None);
        assert_eq!(
            local::loaded_window(model.clone()).await,
            None,
            "the model is not loaded"
        );
        let loaded = ollama();
        let model = Model {
            base_url: format!("http://127.0.0.1:{}/v1", loaded.port),
            ..model
        };
        assert_eq!(local::loaded_window(model.clone()).await, Some(32_768));
        let known = Model {
            window_source: WindowSource::Model,
            ..model
        };
        assert_eq!(
            local::loaded_window(known).await,
            None,
            "a known window was asked again"
        );
    }
}

#[tokio::test]
async fn lm_studio_and_llama_cpp_report_their_models() {
    let studio = play(&[("/api/v0/models", LM_STUDIO.to_owned())]);
    let llama = play(&[
        ("/v1/models", LLAMA.to_owned()),
        ("/props", PROPS.to_owned()),
    ]);
    let addrs = at([
        (LocalServer::LlamaCpp, llama.port),
        (LocalServer::LmStudio, studio.port),
    ]);
    let found = local::discover(&addrs, DISCOVERY_TIMEOUT).await;
    let told: Vec<_> = models(&found)
        .iter()
        .map(|model| (model.full_id(), model.context_window, model.vision))
        .collect();
    assert_eq!(
        told,
        [
            (
                "llamacpp/SmolLM2-135M-Instruct.Q4_1".to_owned(),
                8192,
                false
            ),
            ("lmstudio/qwen2-vl-7b-instruct".to_owned(), 32_768, true),
            (
                "lmstudio/meta-llama-3.1-8b-instruct".to_owned(),
                8192,
                false
            ),
        ]
    );
    assert!(found[1].models[1].loaded && !found[1].models[0].loaded);
}

#[tokio::test]
async fn a_llama_cpp_with_many_models_keeps_their_names() {
    let router = play(&[("/v1/models", ROUTER.to_owned())]);
    let found = local::discover(&llama_at(router.port), DISCOVERY_TIMEOUT).await;
    let told: Vec<_> = found[0]
        .models
        .iter()
        .map(|local| {
            (
                local.model.id.as_str(),
                local.model.context_window,
                local.loaded,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("ggml-org/gemma-3-4b-it-GGUF:Q4_K_M", 4096, true),
            ("ggml-org/Qwen3-0.6B-GGUF", 0, false),
        ]
    );
}

#[tokio::test]
async fn other_servers_have_no_models() {
    // Any program can use port 8080.
    for body in [
        "<html>hello</html>",
        "",
        "{}",
        "[]",
        "null",
        r#"{"data":"x","models":7}"#,
        r#"{"object":"list","data":[{"id":"gpt-5","owned_by":"openai","type":3}]}"#,
    ] {
        let paths = [
            "/api/tags",
            "/api/ps",
            "/v1/models",
            "/props",
            "/api/v0/models",
        ];
        let server = play(&paths.map(|path| (path, body.to_owned())));
        for addrs in [
            llama_at(server.port),
            at([(LocalServer::LmStudio, server.port)]),
            ollama_at(server.port),
        ] {
            let found = local::discover(&addrs, DISCOVERY_TIMEOUT).await;
            assert_eq!(models(&found), Vec::<&Model>::new(), "{body} {addrs:?}");
            assert_eq!(local::best(&found), None);
        }
    }
}

#[tokio::test]
async fn a_silent_or_missing_server_costs_no_more_than_the_timeout() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let addrs = at(LocalServer::ALL.map(|server| (server, port)));
    let began = Instant::now();
    assert_eq!(local::discover(&addrs, local::DISCOVERY_TIMEOUT).await, []);
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    assert!(local::is_listening(&addrs));
    drop(silent);
    assert!(!local::is_listening(&addrs));
    let unwanted = ServerAddrs {
        wanted: false,
        ..ollama_at(ollama().port)
    };
    assert!(!local::is_listening(&unwanted));
    assert_eq!(local::discover(&unwanted, DISCOVERY_TIMEOUT).await, []);
}

#[tokio::test]
async fn names_resolve_to_the_servers_models() {
    let server = ollama();
    let addrs = ollama_at(server.port);
    let found = local::discover(&addrs, DISCOVERY_TIMEOUT).await;
    for (name, expected, level) in [
        ("ollama/qwen3:8b", "ollama/qwen3:8b", None),
        (
            "ollama/qwen3:8b:high",
            "ollama/qwen3:8b",
            Some(ThinkingLevel::High),
        ),
        ("ollama/deepseek-r1", "ollama/deepseek-r1:latest", None),
        ("ollama/qwen", "ollama/qwen3:8b", None),
        ("qwen3:low", "ollama/qwen3:8b", Some(ThinkingLevel::Low)),
        ("llava", "ollama/llava:13b", None),
        // A model pulled after the discovery.
        ("ollama/gemma3:1b", "ollama/gemma3:1b", None),
    ] {
        let (model, thinking) = local::resolve(name, &found, &addrs)
            .unwrap()
            .unwrap_or_else(|| panic!("{name}"));
        assert_eq!(
            (model.full_id().as_str(), thinking),
            (expected, level),
            "{name}"
        );
    }
    assert_eq!(local::resolve("sonnet", &found, &addrs), Ok(None));
    let error = local::resolve("ollama/", &found, &addrs).unwrap_err();
    assert!(error.contains("ollama/ID"), "{error}");
    let (best, _) = local::resolve("Ollama", &found, &addrs).unwrap().unwrap();
    assert_eq!(best.provider, "ollama");
    for name in ["lmstudio/x", "lmstudio", "LM Studio", "lm-studio:high"] {
        let error = local::resolve(name, &found, &addrs).unwrap_err();
        assert!(error.contains("LM Studio"), "{error}");
    }
    let error = local::resolve("llama.cpp", &found, &addrs).unwrap_err();
    assert!(error.contains("llama.cpp isn't"), "{error}");
    let error = local::resolve("ollama/x", &[], &addrs).unwrap_err();
    assert!(
        error.contains("doesn't answer as Ollama") && error.contains(&server.port.to_string()),
        "{error}"
    );
}

#[test]
fn local_addresses_are_parsed() {
    for (text, expected) in [
        ("127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("127.0.0.1", "http://127.0.0.1:7"),
        (":9000", "http://127.0.0.1:9000"),
        ("9000", "http://127.0.0.1:9000"),
        ("0.0.0.0", "http://127.0.0.1:7"),
        ("0.0.0.0:5", "http://127.0.0.1:5"),
        ("[::]:5", "http://127.0.0.1:5"),
        ("::", "http://127.0.0.1:7"),
        ("::1", "http://[::1]:7"),
        ("[::1]", "http://[::1]:7"),
        ("[::1]:5", "http://[::1]:5"),
        ("LocalHost:5", "http://localhost:5"),
        ("http://localhost:5/", "http://localhost:5"),
        ("http://localhost", "http://localhost:80"),
        ("HTTP://127.0.0.2:5/api", "http://127.0.0.2:5"),
        ("", "http://127.0.0.1:7"),
        (" 127.0.0.1:5 ", "http://127.0.0.1:5"),
    ] {
        let address = Address::parse(text, 7).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(address.url(), expected, "{text}");
    }
}

#[test]
fn other_machines_are_refused_with_a_hint() {
    for text in [
        "192.168.1.5:11434",
        "example.com",
        "localhost.example.com:1",
        "[2001:db8::1]:5",
        "user@127.0.0.1.example.com",
    ] {
        let error = Address::parse(text, 7).unwrap_err();
        assert!(error.contains("models.toml"), "{text}: {error}");
    }
    for text in [
        "https://127.0.0.1",
        "127.0.0.1:99999",
        "127.0.0.1:0",
        "127.0.0.1:x",
    ] {
        assert!(Address::parse(text, 7).is_err(), "{text}");
    }
}

#[test]
fn ollamas_own_variable_sets_its_address() {
    for (settled, host, expected) in [
        (None, None, Some("127.0.0.1:11434")),
        (None, Some("0.0.0.0:9"), Some("127.0.0.1:9")),
        (None, Some("192.168.1.5:9"), None),
        (Some(":8"), Some(":9"), Some("127.0.0.1:8")),
    ] {
        let settled_at = settled.and_then(|text| Address::parse(text, 7).ok());
        let addrs = ServerAddrs {
            addresses: settled_at
                .map(|address| (LocalServer::Ollama, address))
                .into_iter()
                .collect(),
            ..ServerAddrs::default()
        };
        let addrs = addrs.with_ollama_env(|name| host.filter(|_| name == "OLLAMA_HOST"));
        let found = addrs.addresses.get(&LocalServer::Ollama);
        let found = found.map(Address::to_string);
        assert_eq!(found.as_deref(), expected, "{settled:?} {host:?}");
    }
}
