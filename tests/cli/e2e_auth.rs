//! `tiller auth` and which key is sent, end to end with its own home.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::sandbox::{Ran, Sandbox};
use crate::support::screen::Launch;

const KEY: &str = "sk-ant-test-0123456789wxyz";

#[track_caller]
fn check(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:#?}");
    let all = format!("{}{}", ran.stdout, ran.stderr);
    for word in words {
        assert!(all.contains(word), "{word:?} is missing: {all}");
    }
    assert!(!all.contains("0123456789"), "a key is shown: {all}");
}

#[test]
fn a_key_is_stored_listed_and_removed() {
    let sandbox = Sandbox::new();
    check(&sandbox.run(&["auth", "list"]), 0, &["tiller auth add"]);
    let ran = sandbox.run_with(&["auth", "add", "anthropic"], Some(&format!("{KEY}\n")));
    check(&ran, 0, &["anthropic", "auth.toml"]);
    let file = sandbox.config().join("auth.toml");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);

    let ran = sandbox.run(&["auth", "list"]);
    check(&ran, 0, &[]);
    assert_eq!(ran.stdout, "anthropic  ***wxyz    auth.toml\n");
    let ran = sandbox.run(&["auth", "list", "--json"]);
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        list,
        json!([{ "provider": "anthropic", "source": "file", "masked": "***wxyz" }])
    );

    // tiller closes a file that others can read, and says so.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    check(&sandbox.run(&["auth", "list"]), 0, &["mode 644", "***wxyz"]);

    check(
        &sandbox.run(&["auth", "remove", "anthropic"]),
        0,
        &["Removed the stored key"],
    );
    check(
        &sandbox.run(&["auth", "remove", "anthropic"]),
        1,
        &["no stored key for anthropic"],
    );
    assert!(!std::fs::read_to_string(&file).unwrap().contains("sk-"));
}

#[test]
fn auth_lists_every_source_of_a_key() {
    let mut sandbox = Sandbox::new();
    let models = format!(
        "[providers.a]\napi = \"openai-chat\"\nbase_url = \"http://x/v1\"\napi_key = \"{KEY}\"\n\
         [[providers.a.models]]\nid = \"m\"\n\
         [providers.b]\napi = \"openai-chat\"\nbase_url = \"http://x/v1\"\napi_key = \"$B_KEY\"\n\
         [[providers.b.models]]\nid = \"m\"\n\
         [providers.c]\napi = \"openai-chat\"\nbase_url = \"http://x/v1\"\napi_key = \"!touch ran\"\n\
         [[providers.c.models]]\nid = \"m\"\n\
         [providers.d]\napi = \"openai-chat\"\nbase_url = \"http://x/v1\"\n\
         [[providers.d.models]]\nid = \"m\"\n"
    );
    std::fs::write(sandbox.config().join("models.toml"), models).unwrap();
    sandbox.set("B_KEY", KEY);
    sandbox.set("OPENAI_API_KEY", "short");
    let ran = sandbox.run(&["auth", "list"]);
    assert_eq!(
        ran.stdout,
        "a       ***wxyz    models.toml\n\
         b       ***wxyz    models.toml, variable B_KEY\n\
         c       -          models.toml, a command\n\
         d       -          needs no key\n\
         openai  ***        environment variable OPENAI_API_KEY\n"
    );
    assert!(
        !sandbox.config().join("ran").exists(),
        "the list runs no commands"
    );
    // What tiller doesn't use is marked.
    let ran = sandbox.run_with(&["auth", "add", "a"], Some(KEY));
    assert!(
        ran.stderr.contains("models.toml has api_key for a"),
        "{ran:#?}"
    );
    sandbox.run_with(&["auth", "add", "openai"], Some(KEY));
    let list = sandbox.run(&["auth", "list"]).stdout;
    for line in [
        "a       ***wxyz    models.toml; not used: auth.toml\n",
        "openai  ***wxyz    auth.toml; not used: OPENAI_API_KEY\n",
    ] {
        assert!(list.contains(line), "{list}");
    }
}

#[test]
fn an_invalid_key_or_provider_is_rejected_with_the_reason() {
    let sandbox = Sandbox::new();
    for (arguments, stdin, words) in [
        (
            &["auth", "add", KEY][..],
            None,
            &["command line", "history"][..],
        ),
        (
            &["auth", "add", "anthropic", KEY],
            None,
            &["command line", "tiller auth add anthropic"],
        ),
        (
            &["auth", "add", "anthropic", "--", KEY],
            None,
            &["command line"],
        ),
        (
            &["auth", "add", "claude"],
            Some(KEY),
            &["did you mean 'anthropic'?", "subscription"],
        ),
        (
            &["auth", "add", "ChatGPT"],
            None,
            &["did you mean 'openai'?"],
        ),
        (&["auth", "add"], None, &["Providers: anthropic, openai"]),
        (
            &["auth", "add", "antropic"],
            Some(KEY),
            &["did you mean 'anthropic'?"],
        ),
        (&["auth", "remove", KEY], None, &["looks like a key"]),
        (
            &["auth", "check", "opnai"],
            None,
            &["did you mean 'openai'?"],
        ),
        (
            &["auth", "add", "openai"],
            Some(" \n"),
            &["no key. Type it"],
        ),
        (
            &["auth", "add", "openai"],
            Some("0123456789 one\ntwo"),
            &["doesn't look like an API key"],
        ),
    ] {
        check(&sandbox.run_with(arguments, stdin), 2, words);
    }
    assert!(!sandbox.config().join("auth.toml").exists());
}

#[test]
fn a_typed_key_is_not_shown() {
    let mut sandbox = Sandbox::new();
    // tiller checks the key immediately. Nothing listens there.
    sandbox.set("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    let screen = Launch::new(&sandbox)
        .args(&["auth", "add", "anthropic"])
        .start();
    screen.wait_for("API key for anthropic (hidden as you type):");
    screen.keys(KEY);
    screen.keys("<enter>");
    assert_eq!(screen.wait_exit().code, 0);
    assert!(!screen.text().contains("sk-ant"), "{}", screen.text());
    let stored = std::fs::read_to_string(sandbox.config().join("auth.toml")).unwrap();
    assert!(stored.contains(KEY));

    let screen = Launch::new(&sandbox)
        .args(&["auth", "add", "openai"])
        .start();
    screen.wait_for("API key for openai");
    screen.keys("sk-half<c-c>");
    assert_eq!(screen.wait_exit().code, 130);
    let stored = std::fs::read_to_string(sandbox.config().join("auth.toml")).unwrap();
    assert!(!stored.contains("openai"), "{stored}");
}

#[test]
fn a_stored_key_beats_the_environment_and_the_environment_beats_the_env_file() {
    let replies = (0..4).map(|_| Reply::text("Fine."));
    let server = ModelServer::start(Script::of(replies));
    let mut sandbox = Sandbox::new();
    sandbox.set("ANTHROPIC_BASE_URL", &server.url(Wire::Anthropic));
    sandbox.write(
        ".env",
        "export ANTHROPIC_API_KEY='from-env-file'\nANTHROPIC_BASE_URL=http://evil\n",
    );
    let run = |sandbox: &Sandbox| sandbox.run(&["-p", "-m", Wire::Anthropic.model(), "hi"]);

    check(
        &run(&sandbox),
        1,
        &["ANTHROPIC_API_KEY and ANTHROPIC_AUTH_TOKEN aren't set"],
    );
    let folder = sandbox.path().parent().unwrap().display().to_string();
    let settings = format!("[auth]\nenv_file_folders = [\"{folder}\"]\n");
    std::fs::write(sandbox.config().join("config.toml"), settings).unwrap();
    check(&run(&sandbox), 0, &["Fine."]);
    sandbox.set("ANTHROPIC_API_KEY", "from-environment");
    check(&run(&sandbox), 0, &["Fine."]);
    sandbox.run_with(&["auth", "add", "anthropic"], Some("from-store"));
    check(&run(&sandbox), 0, &["Fine."]);
    sandbox.add_provider("anthropic", &server, Wire::Anthropic);
    check(&run(&sandbox), 0, &["Fine."]);

    let requests = server.requests();
    let keys: Vec<_> = requests
        .iter()
        .map(|it| it.header("x-api-key").unwrap())
        .collect();
    assert_eq!(
        keys,
        [
            "from-env-file",
            "from-environment",
            "from-store",
            "literal-key"
        ]
    );
}

fn with_command(sandbox: &Sandbox, server: &ModelServer, command: &str) {
    sandbox.add_provider("lab", server, Wire::Chat);
    let file = sandbox.config().join("models.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(
        &file,
        text.replace("\"literal-key\"", &format!("'''!{command}'''")),
    )
    .unwrap();
}

#[test]
fn a_key_command_runs_once_and_again_after_the_key_is_rejected() {
    let refusal = || {
        Reply::http(
            401,
            "application/json",
            r#"{"error":{"message":"expired"}}"#,
        )
    };
    let call = Reply::call("ls", json!({}));
    // The command runs in the folder of models.toml, so its count is there.
    let counting = "echo x >> count; echo \"key-$(wc -l < count | tr -d ' ')\"";
    for (command, replies, code, sent) in [
        (
            counting,
            vec![call, Reply::text("Fine.")],
            0,
            &["key-1", "key-1"][..],
        ),
        (
            counting,
            vec![refusal(), Reply::text("Fine.")],
            0,
            &["key-1", "key-2"],
        ),
        (counting, vec![refusal(), refusal()], 1, &["key-1", "key-2"]),
        ("echo same", vec![refusal()], 1, &["same"]),
    ] {
        let server = ModelServer::start(Script::of(replies));
        let sandbox = Sandbox::new();
        with_command(&sandbox, &server, command);
        let ran = sandbox.run(&["-p", "-m", "lab/scripted", "hi"]);
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        let requests = server.requests();
        let header = |number: usize| requests[number].header("authorization").unwrap().to_owned();
        let got: Vec<String> = (0..requests.len()).map(header).collect();
        let sent: Vec<String> = sent.iter().map(|key| format!("Bearer {key}")).collect();
        assert_eq!(got, sent);
        sandbox.wait_no_processes(&[]);
    }
}

#[test]
fn a_failing_key_command_is_reported_with_its_stderr() {
    for (command, words) in [
        (
            "echo locked >&2; exit 3",
            &["exit code 3", "locked", "models.toml"][..],
        ),
        ("true", &["it printed nothing"]),
        (
            "no-such-program-here",
            &["exit code 127", "no-such-program-here"],
        ),
        ("sleep 60 & kill -9 $$", &["killed by signal 9"]),
    ] {
        let server = ModelServer::start(Script::of([]));
        let sandbox = Sandbox::new();
        with_command(&sandbox, &server, command);
        let ran = sandbox.run(&["-p", "-m", "lab/scripted", "hi"]);
        check(&ran, 1, words);
        assert_eq!(server.requests().len(), 0);
        sandbox.wait_no_processes(&[]);
    }
}

/// A server that gives every connection with the key the same answer.
fn answering(status: &'static str, body: &'static str) -> u16 {
    answering_to("0123456789wxyz", status, body)
}

fn answering_to(key: &'static str, status: &'static str, body: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).to_lowercase();
            let good = request.starts_with("get /v1/models ") && request.contains(key);
            let status = if good { status } else { "418 Teapot" };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    port
}

#[test]
fn a_typed_key_is_checked_immediately() {
    let refusal = r#"{"error":{"message":"bad"}}"#;
    for (status, body, code, told) in [
        ("200 OK", r#"{"data":[]}"#, 0, "anthropic accepts the key"),
        ("401 No", refusal, 1, "tiller auth add anthropic"),
    ] {
        let port = answering(status, body);
        let mut sandbox = Sandbox::new();
        sandbox.set("ANTHROPIC_BASE_URL", &format!("http://127.0.0.1:{port}"));
        let screen = Launch::new(&sandbox)
            .args(&["auth", "add", "anthropic"])
            .start();
        screen.wait_for("API key for anthropic");
        screen.keys("0123456789wxyz");
        screen.keys("<enter>");
        assert_eq!(screen.wait_exit().code, code, "{}", screen.text());
        assert!(screen.text().contains(told), "{}", screen.text());
    }
}

#[test]
fn auth_check_tells_valid_rejected_and_unreachable_apart() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    for (variable, provider) in [("ANTHROPIC", "anthropic"), ("OPENAI", "openai")] {
        for (port, code, words) in [
            (answering("200 OK", "{\"data\":[]}"), 0, &["ok"][..]),
            (
                answering(
                    "401 No",
                    r#"{"error":{"message":"bad 0123456789wxyz, 0123456789\u0077xyz"}}"#,
                ),
                1,
                &["refused"],
            ),
            (
                answering("404 No", "no list here"),
                0,
                &["can't tell", "-p hi"],
            ),
            (answering("503 No", "down"), 3, &["unreachable"]),
            (closed, 3, &["unreachable", "127.0.0.1"]),
        ] {
            let mut sandbox = Sandbox::new();
            sandbox.set(&format!("{variable}_API_KEY"), "0123456789wxyz");
            let path = if variable == "OPENAI" { "/v1" } else { "" };
            sandbox.set(
                &format!("{variable}_BASE_URL"),
                &format!("http://127.0.0.1:{port}{path}"),
            );
            let ran = sandbox.run(&["auth", "check"]);
            check(&ran, code, words);
            assert_eq!(sandbox.run(&["auth", "check", provider]).stdout, ran.stdout);
        }
    }
    // The key is in the header that requests use.
    let sandbox = Sandbox::new();
    let port = answering_to("authorization: bearer 0123456789wxyz", "200 OK", "{}");
    let provider = format!(
        "[providers.lab]\napi = \"anthropic-messages\"\nbase_url = \"http://127.0.0.1:{port}\"\n\
         api_key = \"0123456789wxyz\"\nquirks = {{ bearer = true }}\n[[providers.lab.models]]\nid = \"m\"\n"
    );
    std::fs::write(sandbox.config().join("models.toml"), provider).unwrap();
    check(&sandbox.run(&["auth", "check", "lab"]), 0, &["ok"]);

    let sandbox = Sandbox::new();
    check(&sandbox.run(&["auth", "check"]), 1, &["tiller auth add"]);
    check(
        &sandbox.run(&["auth", "check", "openai"]),
        1,
        &["refused", "OPENAI_API_KEY"],
    );
}
