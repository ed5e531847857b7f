//! Models as a shell sees them: the list, aliases, the user's settings for a server, and the check
//! of the context window.

use std::fmt::Write;

use std::fs;
use std::io::{Read, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use serde_json::Value;

use crate::support::job;
use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::sandbox::Sandbox;

fn models_toml(sandbox: &Sandbox, text: &str) {
    fs::write(sandbox.config().join("models.toml"), text).unwrap();
}

/// A provider `lab` on the server's Chat wire, with the settings in `more`.
fn lab(server: &ModelServer, more: &str) -> String {
    let url = server.url(Wire::Chat);
    format!("[providers.lab]\napi = 'openai-chat'\nbase_url = '{url}'\napi_key = 'k'\n{more}\n")
}

#[test]
fn the_model_list_has_a_form_for_people_and_one_for_programs() {
    let mut sandbox = Sandbox::new();
    sandbox.set("XAI_API_KEY", "unused");
    models_toml(
        &sandbox,
        "[providers.lab]\napi = 'openai-chat'\nbase_url = 'http://127.0.0.1:1'\n\
         [[providers.lab.models]]\nid = 'quick'\ncontext_window = 32000\nmax_output = 8000\n\
         thinking = ['low', 'high']\ninput = ['text', 'image']\n\
         prices = { input = 0.5, output = 2, tiers = [{ above = 1000, input = 1, output = 4 }] }\n",
    );
    let ran = sandbox.run(&["models", "lab\tquick"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let lines: Vec<Vec<&str>> = ran
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        lines,
        [
            vec![
                "MODEL", "WINDOW", "OUTPUT", "$", "IN", "$", "OUT", "INPUT", "THINKING", "KEY"
            ],
            vec![
                "lab/quick",
                "32k",
                "8k",
                "0.5",
                "2",
                "text,image",
                "low,high",
                "yes"
            ],
        ]
    );

    let all = sandbox.run(&["models", "--json"]);
    let list: Value = serde_json::from_str(&all.stdout).unwrap();
    let list = list.as_array().unwrap();
    assert!(list.len() > 470, "{}", list.len());
    let find = |id: &str| list.iter().find(|it| it["id"] == id).unwrap();
    let quick = find("lab/quick");
    assert_eq!(quick["prices"]["tiers"][0]["above"], 1000);
    assert_eq!(quick["context_window_source"], "model");
    assert_eq!(quick["thinking"], serde_json::json!(["low", "high"]));
    assert_eq!(quick["has_key"], true);
    let sonnet = find("anthropic/claude-sonnet-5-5");
    assert_eq!(
        (&sonnet["has_key"], &sonnet["default"]),
        (&false.into(), &false.into())
    );
    assert_eq!(find("openai/gpt-6.1-sol")["edit_format"], "apply_patch");
    let defaults = list.iter().filter(|it| it["default"] == true);
    let defaults: Vec<&Value> = defaults.map(|it| &it["provider"]).collect();
    assert_eq!(defaults, ["xai"]);

    let ready = sandbox.run(&["models", "--available"]);
    let ids = ready.stdout.lines().skip(1);
    assert!(ids.clone().count() >= 5);
    for line in ids {
        assert!(
            line.starts_with("lab/") || line.starts_with("xai/"),
            "{line}"
        );
    }
    assert_eq!(
        ready.stdout.matches(" * ").count(),
        1,
        "the list must mark the default"
    );

    // Words match in any case and order. If none do, the name means what -m takes it for.
    let words = sandbox
        .run(&["models", "5.5", "Sonnet", "anthropic/"])
        .stdout;
    let mut rows = words.lines().skip(1).peekable();
    assert!(rows.peek().is_some(), "{words}");
    assert!(
        rows.all(|row| row.contains("anthropic/claude-sonnet-5")),
        "{words}"
    );
    let meant = sandbox.run(&["models", "quick:high"]).stdout;
    assert!(
        meant.lines().nth(1).unwrap().starts_with("lab/quick"),
        "{meant}"
    );
    for (name, code, told) in [
        ("lbquick", 2, "lab/quick"),
        ("lap", 2, "unknown model 'lap': did you mean lab?"),
        ("nosuchmodel", 2, "unknown model 'nosuchmodel'"),
        ("ollama", 1, "tiller doesn't look for Ollama"),
    ] {
        let none = sandbox.run(&["models", name]);
        assert_eq!(
            (none.code, none.stdout.as_str()),
            (Some(code), ""),
            "{name}"
        );
        assert!(none.stderr.contains(told), "{name}: {}", none.stderr);
        assert!(none.stderr.lines().count() < 12, "{}", none.stderr);
    }
    assert_eq!(
        sandbox.run(&["models", "nosuchmodel", "--json"]).stdout,
        "[]\n"
    );
}

#[test]
fn a_list_without_any_key_says_how_to_get_one() {
    let ran = Sandbox::new().run(&["models", "-a"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("tiller auth add"), "{}", ran.stderr);
}

#[test]
fn an_own_provider_without_models_is_named_by_the_error() {
    let sandbox = Sandbox::new();
    models_toml(
        &sandbox,
        "[providers.lab]\napi = 'openai-chat'\nbase_url = 'http://127.0.0.1:1'\n",
    );
    let told = "providers.lab has no models. Add models = [{ id = \"MODEL\" }] to it";
    for arguments in [&["-p", "hi"][..], &["-p", "-m", "lab", "hi"], &["doctor"]] {
        let ran = sandbox.run(arguments);
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains(told),
            "{ran:#?}"
        );
    }
}

#[test]
fn settings_define_model_aliases() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("ok").repeat()]);
    models_toml(
        &sandbox,
        &lab(
            &server,
            "[[providers.lab.models]]\nid = 'quick'\nthinking = ['low', 'high']\n",
        ),
    );
    fs::write(
        sandbox.config().join("config.toml"),
        "[models.aliases]\nfast = 'lab/quick:low'\n\"v1.5\" = 'fast'\na = 'b'\nb = 'a'\nlost = 'nowhere/x'\n",
    )
    .unwrap();
    let asked = |name: &str| {
        let ran = sandbox.run(&["-p", "-m", name, "hi"]);
        assert_eq!(ran.code, Some(0), "{name}: {ran:#?}");
        let body = server.requests().pop().unwrap().body.clone();
        (body["model"].clone(), body["reasoning_effort"].clone())
    };
    assert_eq!(asked("fast"), ("quick".into(), "low".into()));
    assert_eq!(asked("fast:high"), ("quick".into(), "high".into()));
    assert_eq!(asked("v1.5"), ("quick".into(), "low".into()));
    for (name, expected) in [
        ("a", "points back to itself: a -> b -> a"),
        (
            "lost",
            "the alias 'lost' means 'nowhere/x': unknown provider 'nowhere'",
        ),
        ("fats", "fast (an alias of lab/quick:low)"),
    ] {
        let ran = sandbox.run(&["-p", "-m", name, "hi"]);
        assert_eq!(ran.code, Some(2), "{name}");
        assert!(ran.stderr.contains(expected), "{name}: {}", ran.stderr);
    }
    let wrong = sandbox.run(&["-p", "-m", "quick:hihg", "hi"]);
    assert!(
        wrong.stderr.contains("unknown thinking level 'hihg'"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn the_users_settings_for_a_server_are_used() {
    let (server, mut sandbox) = job::stage_with(vec![Reply::text("ok").repeat()]);
    sandbox.set("TEAM", "blue");
    models_toml(
        &sandbox,
        &lab(
            &server,
            "headers = { x-team = '$TEAM', x-plain = 'a b' }\n\
             [providers.lab.quirks]\ndeveloper_role = true\ncompletion_tokens = true\nstream_usage = false\n\
             [[providers.lab.models]]\nid = 'm'\nthinking = true\nmax_output = 999\n\
             [[providers.lab.models]]\nid = 'n'\nthinking = true\nquirks = { developer_role = false, thinking = 'none' }\n",
        ),
    );
    let ran = sandbox.run(&["-p", "-m", "lab/m:high", "hi"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ran = sandbox.run(&["-p", "-m", "lab/n:high", "hi"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let requests = server.requests();
    assert_eq!(requests[0].header("x-team"), Some("blue"));
    assert_eq!(requests[0].header("x-plain"), Some("a b"));
    let body = &requests[0].body;
    assert_eq!(body["messages"][0]["role"], "developer");
    assert_eq!(body["max_completion_tokens"], 999);
    assert_eq!(body["reasoning_effort"], "high");
    assert_eq!(body.get("stream_options"), None);
    let body = &requests[1].body;
    assert_eq!(
        body["messages"][0]["role"], "system",
        "the model's setting beats the provider's"
    );
    assert_eq!(body.get("reasoning_effort"), None);
    assert!(body.get("max_completion_tokens").is_some());

    let mut bare = Sandbox::new();
    bare.set("NOTHING", "");
    models_toml(&bare, &lab(&server, "headers = { x-team = '$TEAM' }"));
    let ran = bare.run(&["-p", "-m", "lab/m", "hi"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("export TEAM=VALUE"), "{}", ran.stderr);
    assert_eq!(server.requests().len(), 2, "nothing was sent");
}

#[test]
fn a_context_window_that_is_too_small_is_an_error_and_a_small_one_a_warning() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("ok").repeat()]);
    let mut models = String::new();
    for tokens in [15_999, 16_000, 31_999, 32_000] {
        let _ = write!(
            models,
            "[[providers.lab.models]]\nid = 'w{tokens}'\ncontext_window = {tokens}\n"
        );
    }
    models += "[[providers.lab.models]]\nid = 'unknown'\n";
    models_toml(&sandbox, &lab(&server, &models));
    let low = |tokens: u32| {
        format!("Low context window for lab/w{tokens}: {tokens} tokens (warn threshold: 32000)")
    };
    for (name, expected) in [
        ("w16000", low(16_000)),
        ("w31999", low(31_999)),
        ("w32000", String::new()),
        ("unknown", String::new()),
    ] {
        let ran = sandbox.run(&["-p", "-m", &format!("lab/{name}"), "hi"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "ok\n"),
            "{name}: {ran:#?}"
        );
        assert!(ran.stderr.contains(&expected), "{name}: {}", ran.stderr);
        assert_eq!(
            ran.stderr.is_empty(),
            expected.is_empty(),
            "{name}: {}",
            ran.stderr
        );
    }
    let sent = server.requests().len();
    let text = "lab/w15999: Model context window too small (15999 tokens). Minimum is 16000.";
    let ran = sandbox.run(&["-p", "-m", "lab/w15999", "hi"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains(text), "{}", ran.stderr);
    assert!(!ran.stderr.contains("Low context"), "{}", ran.stderr);
    assert_eq!(server.requests().len(), sent, "nothing was sent");

    // Another model may answer.
    let stand_in = ["--config", "models.fallback=['lab/w32000']"];
    let ran = sandbox.run(&["-p", "-m", "lab/w15999", stand_in[0], stand_in[1], "hi"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "ok\n"),
        "{ran:#?}"
    );
    assert_eq!(server.requests().pop().unwrap().body["model"], "w32000");

    // The settings' window applies where the model doesn't say.
    let budget = ["--config", "models.context_window=15999"];
    let ran = sandbox.run(&["-p", "-m", "lab/unknown", budget[0], budget[1], "hi"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr
            .contains("lab/unknown: Model context window too small"),
        "{}",
        ran.stderr
    );
    let ran = sandbox.run(&["-p", "-m", "lab/w32000", budget[0], budget[1], "hi"]);
    assert_eq!(
        ran.code,
        Some(0),
        "the model's own window must win: {ran:#?}"
    );
}

#[test]
fn the_list_is_quick() {
    let sandbox = Sandbox::new();
    let runs = (0..3).map(|_| sandbox.run(&["models"]).took);
    // This allows for a debug build on a busy machine. A release build takes a few milliseconds.
    assert!(runs.min().unwrap() < Duration::from_secs(2));
}

/// Serves one answer on a local port.
fn serve(status: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/models.toml", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let _ = stream.read(&mut request);
        let _ = stream.write_all(answer.as_bytes());
    });
    url
}

#[test]
fn a_newer_catalogue_is_downloaded_checked_and_kept() {
    let mut sandbox = Sandbox::new();
    sandbox.set("ANTHROPIC_API_KEY", "unused");
    let fresh = include_str!("../llm/catalog.toml");
    let fresh = fresh
        .replace("2026-11-10", "2999-01-01")
        .replace("Claude Opus 5.5", "Claude Anew");
    let refresh = |url: &str| sandbox.run(&["models", &format!("--refresh={url}")]);
    let ran = refresh(&serve("200 OK", &fresh));
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains("models as of 2999-01-01"), "{ran:#?}");
    let listed = || {
        let ran = sandbox.run(&["models", "--json", "anthropic/claude-opus-5-5"]);
        let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
        rows[0]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(listed(), "Claude Anew");
    let ran = sandbox.run(&["models", "opus"]);
    assert!(ran.stderr.contains("as of 2999-01-01"), "{ran:#?}");
    // A failed download changes nothing.
    for (url, why) in [
        (serve("404 Not Found", ""), "status 404"),
        (serve("200 OK", "<html>"), "can't refresh the models"),
        ("http://127.0.0.1:1/m".to_owned(), "The list is unchanged"),
        ("http://h.example/m".to_owned(), "isn't https"),
        (String::new(), "models.catalogue_url"),
    ] {
        let ran = refresh(&url);
        assert!(
            ran.code != Some(0) && ran.stderr.contains(why),
            "{url}: {ran:#?}"
        );
        assert_eq!(listed(), "Claude Anew");
    }
    // An older catalogue doesn't replace the built-in one.
    let old = fresh.replace("2999-01-01", "2000-01-01");
    let ran = refresh(&serve("200 OK", &old));
    assert!(
        ran.stdout.contains("the built-in list is newer"),
        "{ran:#?}"
    );
    assert_ne!(listed(), "Claude Anew");
    // From a catalogue for a newer tiller, this tiller reads what it understands.
    let newer = fresh.replacen("api = ", "mood = \"good\"\napi = ", 3);
    let ran = refresh(&serve("200 OK", &newer));
    assert!(
        ran.stdout.contains("3 entries that are too new"),
        "{ran:#?}"
    );
    assert_eq!(listed(), "Claude Anew");
}

/// A model without a key is an error that says which setting chose it, and how to use another.
#[test]
fn a_model_without_a_key_says_how_to_use_another() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("Hi.")]);
    let with_key = lab(&server, "[[providers.lab.models]]\nid = 'm'");
    models_toml(&sandbox, &with_key);
    // The name of a provider alone means its default model.
    let ran = sandbox.run(&["-p", "--provider", "lab", "hi"]);
    assert_eq!(ran.stdout, "Hi.\n", "{ran:#?}");
    models_toml(&sandbox, &with_key.replace("'k'", "'$NOT_SET'"));
    let ran = sandbox.run(&["-p", "-c", "more"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    for part in [
        "$NOT_SET",
        "The session uses lab/m. To continue",
        "-m MODEL",
    ] {
        assert!(ran.stderr.contains(part), "{ran:#?}");
    }
    let ran = sandbox.run(&["-p", "--config", "models.default=lab/m", "hi"]);
    assert!(
        ran.stderr.contains("lab/m is your models.default"),
        "{ran:#?}"
    );
}

#[test]
fn a_prompt_never_goes_to_another_vendor_than_the_default_names() {
    let server = ModelServer::start(Script::of([Reply::text("Hi.")]));
    let mut sandbox = Sandbox::new();
    sandbox.set("GROQ_API_KEY", "unused");
    models_toml(
        &sandbox,
        &lab(&server, "[[providers.lab.models]]\nid = 'm'"),
    );
    let config = sandbox.config().join("config.toml");
    let own = "models.servers.ollama = \"127.0.0.1:9\"\n";
    for (default, why) in [
        ("\"ollama/qwen3:8b\"", "Ollama doesn't answer"),
        ("\"nobody-has-this\"", "unknown model 'nobody-has-this'"),
        ("7", "setting models.default"),
    ] {
        let text = format!("{own}models.default = {default}\n");
        fs::write(&config, &text).unwrap();
        for line in [
            &["-p", "hi"][..],
            &["--mode", "json", "hi"],
            &["--mode", "rpc"],
        ] {
            let ran = sandbox.run(line);
            assert_eq!(ran.code, Some(2), "{default}: {ran:#?}");
            assert!(ran.stderr.contains(why), "{default}: {ran:#?}");
        }
        fs::write(&config, format!("{text}models.fallback = [\"lab/m\"]\n")).unwrap();
        if default == "7" {
            let ran = sandbox.run(&["-p", "hi"]);
            assert_eq!(ran.stdout, "Hi.\n", "{ran:#?}");
        }
    }
}

#[test]
fn a_described_server_without_models_says_what_to_add() {
    let sandbox = Sandbox::new();
    let text = "[providers.ollama]\napi = 'openai-chat'\nbase_url = 'http://gpu:11434/v1'\n";
    models_toml(&sandbox, text);
    let ran = sandbox.run(&["-p", "-m", "ollama", "hi"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    let why = "providers.ollama has no models. Add models = ";
    assert!(ran.stderr.contains(why), "{ran:#?}");
}
