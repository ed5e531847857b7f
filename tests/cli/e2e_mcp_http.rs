//! MCP servers behind a URL, end to end. The server is `support/mcp_http.rs`.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::marked::DEADLINE;
use crate::support::mcp_http::{McpHttp, Seen};
use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::rpc::RpcClient;
use crate::support::sandbox::{Ran, Sandbox};
use tiller::agent::ToolSettings;
use tiller::agent::mcp::{FoundServers, Launch, Mcp, McpSource, McpState, read_servers};
use tiller::agent::process::{Orphans, Processes};
use tiller::llm::http::Http;

const KEY: &str = "tok-4711-secret";

/// A sandbox whose model calls the server's tool as often, and then says "final".
fn stage(server: &McpHttp, calls: usize) -> (ModelServer, Sandbox) {
    let call = Reply::call("mcp__web__t", json!({"a": "v"}));
    let replies = std::iter::repeat_n(call, calls).chain([Reply::text("final").repeat()]);
    let model = ModelServer::start(Script::of(replies));
    let mut sandbox = Sandbox::new();
    sandbox.use_server(&model);
    sandbox.set("LAB_HEADER", KEY);
    use_url(&sandbox, &server.url());
    (model, sandbox)
}

fn use_url(sandbox: &Sandbox, url: &str) {
    let headers = json!({"Authorization": "Bearer ${LAB_HEADER}", "X-Lab": "${LAB_NONE:-dflt}"});
    let servers = json!({"mcpServers": {"web": {"type": "http", "url": url, "headers": headers}}});
    fs::write(sandbox.config().join("mcp.json"), servers.to_string()).unwrap();
}

fn ask(sandbox: &Sandbox) -> Ran {
    let model = Wire::Anthropic.model();
    sandbox.run(&["-p", "--permission", "full", "-m", model, "go"])
}

/// The result of the only call.
fn result(model: &ModelServer, ran: &Ran) -> String {
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    model.requests()[1].results()[0].clone()
}

#[test]
fn a_server_behind_a_url_is_asked_as_the_protocol_says() {
    for options in [&[][..], &["sse"]] {
        let server = McpHttp::start(options);
        let (model, sandbox) = stage(&server, 1);
        let ran = ask(&sandbox);
        assert_eq!(result(&model, &ran), "OVER HTTP");
        assert_eq!(ran.stderr, "");
        let seen = server.seen();
        let mut asked: Vec<&str> = seen.iter().map(Seen::what).collect();
        let listens = asked.iter().position(|it| *it == "GET").unwrap();
        assert!(listens >= 2, "{asked:?}");
        asked.remove(listens);
        let expected = [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
            "DELETE",
        ];
        assert_eq!(asked, expected);
        for it in &seen {
            let header = |name: &str| it.headers.get(name).map(String::as_str);
            let later = it.what() != "initialize";
            assert_eq!(header("authorization"), Some(&*format!("Bearer {KEY}")));
            assert_eq!(header("x-lab"), Some("dflt"));
            assert_eq!(header("mcp-session-id"), later.then_some("S1"), "{it:?}");
            assert_eq!(
                header("mcp-protocol-version"),
                later.then_some("2025-06-18")
            );
            if it.method == "POST" {
                assert_eq!(
                    header("accept"),
                    Some("application/json, text/event-stream")
                );
            }
        }
    }
}

#[test]
fn faults_of_a_server_fail_its_call_and_nothing_else() {
    for (option, expected) in [
        ("cut", "lost the connection to http://127.0.0.1:"),
        (
            "page",
            "it answered with text/html instead of JSON. Check its url",
        ),
        ("huge", "it sent more than 32 MB in one message"),
    ] {
        let server = McpHttp::start(&[option]);
        let (model, sandbox) = stage(&server, 1);
        let ran = ask(&sandbox);
        let result = result(&model, &ran);
        assert!(
            result.starts_with(&format!("MCP server web: {expected}")),
            "{result}"
        );
    }
}

#[test]
fn a_session_that_the_server_forgot_begins_anew_once() {
    let server = McpHttp::start(&["forget"]);
    let (model, sandbox) = stage(&server, 1);
    let ran = ask(&sandbox);
    assert_eq!(result(&model, &ran), "OVER HTTP");
    let calls = server.seen_of("tools/call");
    let sessions: Vec<&str> = calls
        .iter()
        .map(|it| &*it.headers["mcp-session-id"])
        .collect();
    assert_eq!(sessions, ["S1", "S3"]);
}

#[test]
fn a_call_that_may_have_done_something_is_not_sent_again() {
    let server = McpHttp::start(&["doubt"]);
    let (model, sandbox) = stage(&server, 1);
    let ran = ask(&sandbox);
    let result = result(&model, &ran);
    assert!(
        result.ends_with("it answered with status 400: no such session in your database"),
        "{result}"
    );
    assert_eq!(server.seen_of("tools/call").len(), 1);
}

#[test]
fn headers_go_to_no_other_host_and_the_same_host_may_redirect() {
    let target = McpHttp::start(&[]);
    let server = McpHttp::start(&[&format!("to={}", target.url())]);
    let (_model, sandbox) = stage(&server, 0);
    let ran = ask(&sandbox);
    let why = format!(
        "MCP server web didn't start: it redirects to {}.",
        target.url()
    );
    assert!(ran.stderr.contains(&why), "{}", ran.stderr);
    assert!(target.seen().is_empty());

    let server = McpHttp::start(&["to=/mcp/"]);
    let (model, sandbox) = stage(&server, 1);
    assert_eq!(result(&model, &ask(&sandbox)), "OVER HTTP");
}

#[test]
fn values_of_headers_are_never_shown() {
    let server = McpHttp::start(&["quote"]);
    let (_model, sandbox) = stage(&server, 0);
    let ran = ask(&sandbox);
    let why = "MCP server web didn't start: it answered with status 500: not with ***";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    let listed = sandbox.run(&["-p", "/mcp"]).stdout;
    assert!(listed.contains("status 500"), "{listed}");
    assert!(
        !ran.stderr.contains(KEY) && !listed.contains(KEY),
        "{listed}"
    );

    let server = McpHttp::start(&["refuse"]);
    use_url(&sandbox, &server.url());
    let ran = ask(&sandbox);
    let why = "it refuses access (401). Check the headers of its entry in mcp.json";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    let bare = json!({"mcpServers": {"web": {"url": server.url()}}});
    fs::write(sandbox.config().join("mcp.json"), bare.to_string()).unwrap();
    let ran = ask(&sandbox);
    let why = r#"(401). Write "headers" into its entry in mcp.json, such as "Authorization": "Bearer ${TOKEN}""#;
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
}

#[test]
fn requests_on_the_stream_of_notifications_are_answered() {
    let server = McpHttp::start(&["listen"]);
    let (_model, sandbox) = stage(&server, 0);
    let model = Wire::Anthropic.model();
    let mut client = RpcClient::start(&sandbox, &["-m", model]);
    client.prompt("go");
    let is_answer = |it: &Value| it["id"] == "p" && it["result"] == json!({});
    wait(|| server.seen().iter().any(|it| is_answer(&it.body)));
    client.close();
}

#[test]
fn an_abort_cancels_the_call_over_http_too() {
    let server = McpHttp::start(&["hang"]);
    let (_model, sandbox) = stage(&server, 1);
    let model = Wire::Anthropic.model();
    let mut client = RpcClient::start(&sandbox, &["--permission", "full", "-m", model]);
    client.data(json!({"type": "prompt", "message": "go"}));
    wait(|| !server.seen_of("tools/call").is_empty());
    client.send(json!({"type": "abort"}));
    client.until_type("agent_settled");
    wait(|| !server.seen_of("notifications/cancelled").is_empty());
    let cancelled =
        server.seen_of("notifications/cancelled")[0].body["params"]["requestId"].clone();
    assert_eq!(cancelled, server.seen_of("tools/call")[0].body["id"]);
    client.close();
}

fn wait(mut is_done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_done() {
        assert!(started.elapsed() < DEADLINE);
        std::thread::yield_now();
    }
}

struct Fixed(Option<FoundServers>);

impl McpSource for Fixed {
    fn changed(&mut self) -> Option<FoundServers> {
        self.0.take()
    }
}

#[tokio::test]
async fn a_silent_server_fails_once_the_limit_is_over() {
    let server = McpHttp::start(&["silent"]);
    let found = read_servers(&json!({"web": {"url": server.url()}}));
    let source = Fixed(Some(FoundServers {
        servers: found.servers,
        notices: Vec::new(),
    }));
    let launch = Launch {
        processes: Processes::with_supervisor(crate::support::program(), Orphans::Leave),
        environment: Vec::new(),
        cwd: "/".into(),
        http: Http::with_idle_timeout(Duration::from_millis(50)),
    };
    let mcp = Mcp::new(Box::new(source), launch, ToolSettings::default());
    mcp.begin().await;
    mcp.settled().await;
    let status = mcp.states().remove(0);
    let McpState::Failed(why) = status.state else {
        panic!("{status:?}");
    };
    assert!(why.ends_with("sent nothing for 0.05 s"), "{why}");
}
