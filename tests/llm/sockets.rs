//! Exchanges over real sockets: answers, and everything that can go wrong on the way.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::json;
use tiller::llm::{
    BlockKind, Catalog, CatalogOptions, Client, Content, ErrorClass, Keys, Message, Provider,
    StopReason, StreamEvent,
};

use super::kit::{answer, error, model, request, wires};
use crate::support::model_server::{Cut, Failure, ModelServer, Reply, Said, Script, Usage, Wire};

fn hello(wire: Wire, server: &ModelServer) -> tiller::llm::Request {
    request(
        model(wire, &server.url(wire)),
        vec![Message::user("hello", 0)],
    )
}

#[tokio::test]
async fn an_answer_arrives_whole_on_every_wire() {
    for wire in Wire::ALL {
        let usage = Usage {
            input: 100,
            output: 20,
            cache_read: 50,
            cache_write: 0,
            reasoning: 0,
        };
        let reply = Reply::new()
            .think("Let me see. é€")
            .say("I look at two files. 🎉")
            .and_call("read", json!({ "path": "ä.rs" }))
            .and_call("grep", json!({ "path": "b" }))
            .usage(usage)
            .in_pieces_of(3);
        let server = ModelServer::start(Script::of([reply]));
        let (message, events) = answer(&wires(&server), hello(wire, &server)).await;
        assert!(
            matches!(events.first(), Some(StreamEvent::Start { .. })),
            "{wire:?}"
        );
        assert_eq!(
            message.stop_reason,
            StopReason::ToolUse,
            "{wire:?} {events:?}"
        );
        let calls: Vec<_> = message
            .tool_calls()
            .map(|call| (call.name.as_str(), call.arguments.clone()))
            .collect();
        assert_eq!(
            calls,
            [
                ("read", json!({ "path": "ä.rs" })),
                ("grep", json!({ "path": "b" }))
            ]
        );
        assert_eq!(
            Message::Assistant(message.clone()).text(),
            "I look at two files. 🎉"
        );
        assert!(
            matches!(&message.content[0], Content::Thinking(thinking) if thinking.thinking == "Let me see. é€")
        );
        assert_eq!(
            (
                message.usage.input,
                message.usage.output,
                message.usage.cache_read
            ),
            (100, 20, 50),
            "{wire:?}"
        );
        let sent = server.request(0);
        assert_eq!(sent.last_user(), "hello");
        assert_eq!(sent.tools(), ["read", "grep"]);
        assert!(sent.header("user-agent").unwrap().starts_with("tiller/"));
    }
}

#[tokio::test]
async fn the_next_request_sends_everything_back() {
    for wire in Wire::ALL {
        let first = Reply::new()
            .think("Hm.")
            .say("Reading.")
            .and_call("read", json!({ "path": "a" }));
        let server = ModelServer::start(Script::of([first, Reply::text("Done.")]));
        let wires = wires(&server);
        let (message, _) = answer(&wires, hello(wire, &server)).await;
        let call = message.tool_calls().next().unwrap().id.clone();
        let messages = vec![
            Message::user("hello", 0),
            Message::Assistant(message),
            super::kit::result(&call, vec![super::kit::text("contents")], false),
        ];
        let (message, _) = answer(&wires, request(model(wire, &server.url(wire)), messages)).await;
        assert_eq!(Message::Assistant(message).text(), "Done.");
        let said = server.request(1).said();
        assert!(
            said.iter().any(|said| matches!(said, Said::Assistant { text, thinking, calls }
                if text == "Reading." && thinking == "Hm." && calls == &[("read".to_owned(), json!({ "path": "a" }))])),
            "{wire:?} {said:?}"
        );
        assert!(
            !server.request(1).text().contains("never sent"),
            "details must not be sent"
        );
    }
}

#[tokio::test]
async fn errors_before_the_stream_are_classified() {
    let cases = [
        (Failure::RateLimit, ErrorClass::Retryable),
        (Failure::Overloaded, ErrorClass::Retryable),
        (Failure::Server, ErrorClass::Retryable),
        (Failure::Auth, ErrorClass::Auth),
        (Failure::Overflow, ErrorClass::Overflow),
        (Failure::Quota, ErrorClass::Quota),
        (Failure::NotFound, ErrorClass::NoModel),
        (Failure::Invalid, ErrorClass::Client),
    ];
    for wire in Wire::ALL {
        // OpenAI's 403 is about the country; the others' is about the key.
        let forbidden = match wire {
            Wire::Chat | Wire::Responses => ErrorClass::Client,
            Wire::Anthropic | Wire::Google => ErrorClass::Auth,
        };
        let all = cases.into_iter().chain([(Failure::Forbidden, forbidden)]);
        for (failure, class) in all {
            let server = ModelServer::start(Script::of([
                Reply::error(failure).header("retry-after", "7")
            ]));
            let (message, events) = answer(&wires(&server), hello(wire, &server)).await;
            let error = error(&events);
            assert_eq!(error.class, class, "{wire:?} {failure:?}: {error}");
            assert_eq!(error.retry_after_ms, Some(7000));
            assert!(error.status.is_some());
            assert_eq!(message.stop_reason, StopReason::Error);
            if class == ErrorClass::Auth {
                assert!(
                    error.hint.as_deref().unwrap().contains("export "),
                    "{error}"
                );
            }
        }
        for (failure, class) in cases {
            let reply = Reply::text("Half an ans").fail(failure);
            let server = ModelServer::start(Script::of([reply]));
            let (message, events) = answer(&wires(&server), hello(wire, &server)).await;
            assert_eq!(
                error(&events).class,
                class,
                "{wire:?} {failure:?} in mid-stream: {}",
                error(&events)
            );
            assert_eq!(
                Message::Assistant(message).text(),
                "Half an ans",
                "the partial answer was lost"
            );
        }
    }
}

#[tokio::test]
async fn a_response_without_a_stream_is_reported() {
    let cases = [
        (
            502,
            "text/html",
            "<html><h1>Bad Gateway</h1></html>",
            ErrorClass::Retryable,
            "a web page: Bad Gateway",
        ),
        (
            200,
            "text/html",
            "<html>Log in</html>",
            ErrorClass::Client,
            "a web page instead of an event stream",
        ),
        (
            200,
            "application/json",
            "{}",
            ErrorClass::Client,
            "plain JSON instead of an event stream",
        ),
        (
            200,
            "application/json",
            r#"{"error":{"message":"overloaded"}}"#,
            ErrorClass::Retryable,
            "overloaded",
        ),
        (
            500,
            "text/plain",
            "",
            ErrorClass::Retryable,
            "the server failed (500)",
        ),
        (
            404,
            "text/plain",
            "no such route",
            ErrorClass::Client,
            "no such route",
        ),
        (
            200,
            "text/event-stream",
            "",
            ErrorClass::Retryable,
            "stream ended early",
        ),
        (
            200,
            "text/event-stream",
            "data: {oops\n\ndata: {}\n\n",
            ErrorClass::Retryable,
            "invalid JSON",
        ),
        (
            200,
            "text/event-stream",
            ": nothing but a comment\n\n",
            ErrorClass::Retryable,
            "stream ended early",
        ),
        (307, "text/plain", "", ErrorClass::Client, "redirected"),
    ];
    for wire in Wire::ALL {
        for (status, kind, body, class, words) in cases {
            let server = ModelServer::start(Script::of([Reply::http(status, kind, body)]));
            let (_, events) = answer(&wires(&server), hello(wire, &server)).await;
            let error = error(&events);
            assert_eq!(error.class, class, "{wire:?} {status} {body}: {error}");
            assert!(
                error.message.contains(words),
                "{wire:?} {status} {body}: {error}"
            );
            assert_eq!(events.len(), 1, "{events:?}");
        }
    }
}

#[tokio::test]
async fn only_the_start_of_an_endless_error_body_is_read() {
    let body = "x".repeat(5_000_000);
    let server = ModelServer::start(Script::of([Reply::http(500, "text/plain", &body)]));
    let (_, events) = answer(&wires(&server), hello(Wire::Chat, &server)).await;
    assert!(error(&events).message.len() < 1000);
}

#[tokio::test]
async fn a_broken_stream_is_a_retryable_error() {
    for wire in Wire::ALL {
        for cut in [Cut::Close, Cut::Reset, Cut::End] {
            let server = ModelServer::start(Script::of([Reply::text("Half an ans").cut(cut)]));
            let (message, events) = answer(&wires(&server), hello(wire, &server)).await;
            let error = error(&events);
            assert_eq!(
                error.class,
                ErrorClass::Retryable,
                "{wire:?} {cut:?}: {error}"
            );
            let words = if cut == Cut::End {
                "stream ended early"
            } else {
                "lost the connection"
            };
            assert!(error.message.contains(words), "{wire:?} {cut:?}: {error}");
            assert!(error.hint.is_some(), "{wire:?} {cut:?}: no hint");
            if cut != Cut::Reset {
                assert_eq!(Message::Assistant(message).text(), "Half an ans");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_server_times_out() {
    for wire in Wire::ALL {
        let silent = [
            Reply::text("Half").stall(),
            Reply::text("never").hold_headers("never"),
        ];
        for reply in silent {
            let server = ModelServer::start(Script::of([reply]));
            let wires = wires(&server).with_idle_timeout(Duration::from_millis(150));
            let (_, events) = answer(&wires, hello(wire, &server)).await;
            let error = error(&events);
            assert_eq!(error.class, ErrorClass::Retryable, "{error}");
            assert!(error.message.contains("sent nothing for 0.15 s"), "{error}");
            server.wait_disconnect(0);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_stream_closes_the_socket() {
    for wire in Wire::ALL {
        let server = ModelServer::start(Script::of([Reply::text("Hello").stall()]));
        let mut stream = wires(&server).stream(hello(wire, &server));
        loop {
            if let Some(StreamEvent::BlockDelta {
                kind: BlockKind::Text,
                ..
            }) = stream.next().await
            {
                break;
            }
        }
        let dropped = Instant::now();
        drop(stream);
        let closed = server.wait_disconnect(0);
        assert!(closed < dropped + Duration::from_secs(1), "{wire:?}");

        let server = ModelServer::start(Script::of([Reply::text("x").hold_headers("never")]));
        let mut stream = wires(&server).stream(hello(wire, &server));
        // The request leaves only while the stream is polled.
        while server.requests().is_empty() {
            let first = tokio::time::timeout(Duration::from_millis(20), stream.next()).await;
            assert!(first.is_err(), "the stream began before the headers");
        }
        drop(stream);
        server.wait_disconnect(0);
    }
}

#[tokio::test]
async fn a_finished_answer_leaves_its_connection_for_the_next() {
    for wire in Wire::ALL {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let body = match wire {
            Wire::Anthropic => {
                "data: {\"type\":\"message_start\",\"message\":{}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
            }
            Wire::Google => {
                "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]},\"finishReason\":\"STOP\"}]}\n\n"
            }
            Wire::Responses => {
                "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"
            }
            Wire::Chat => {
                "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
            }
        };
        // Answers twice on one connection and accepts no other.
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            drop(listener);
            for _ in 0..2 {
                read_request(&mut socket);
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                     transfer-encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n"
                );
                socket.write_all(answer.as_bytes()).unwrap();
            }
        });
        let mut model = model(wire, "");
        model.provider = "lab".into();
        model.base_url = format!("http://{address}");
        let wires = Client::new(Arc::default(), Keys::default(), None);
        for _ in 0..2 {
            let (message, events) = answer(
                &wires,
                request(model.clone(), vec![Message::user("hello", 0)]),
            )
            .await;
            assert_eq!(message.stop_reason, StopReason::Stop, "{wire:?} {events:?}");
            // The client reads the end of the body in the background, so give it time.
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
        }
        server.join().unwrap();
    }
}

fn read_request(socket: &mut impl Read) {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte).unwrap();
        bytes.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&bytes).to_lowercase();
    let length = head
        .split("content-length: ")
        .nth(1)
        .unwrap()
        .split("\r\n")
        .next()
        .unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    socket.read_exact(&mut body).unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut model = model(Wire::Chat, &format!("http://me:pw@{address}/v1"));
    model.provider = "lab".into();
    let wires = Client::new(Arc::default(), Keys::default(), None);
    let (_, events) = answer(
        &wires,
        request(model.clone(), vec![Message::user("hello", 0)]),
    )
    .await;
    let refused = error(&events);
    assert!(refused.retry_is_futile, "{refused}");
    let what = format!("nothing listens on http://{address}/v1/chat/completions");
    assert!(refused.message.contains(&what), "{refused}");
    assert!(!refused.message.contains("pw@"), "{refused}");

    model.base_url = "no address".into();
    let (_, events) = answer(&wires, request(model, vec![Message::user("hello", 0)])).await;
    assert_eq!(
        error(&events).class,
        ErrorClass::Client,
        "{}",
        error(&events)
    );
}

/// A label is too long to ask a name server about, so this needs no network.
#[tokio::test]
async fn a_host_that_does_not_exist_is_not_retried() {
    let host = format!("{}.example", "a".repeat(64));
    let mut model = model(Wire::Chat, &format!("http://{host}/v1"));
    model.provider = "lab".into();
    let wires = Client::new(Arc::default(), Keys::default(), None);
    let (_, events) = answer(&wires, request(model, vec![Message::user("hello", 0)])).await;
    let unknown = error(&events);
    assert!(unknown.retry_is_futile, "{unknown}");
    for words in [
        &*format!("cannot find the host {host} of http://"),
        "check base_url of providers.lab in models.toml",
    ] {
        assert!(unknown.to_string().contains(words), "{unknown}");
    }
}

#[tokio::test]
async fn tls_to_a_plain_server_fails_with_a_clear_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 512]);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let mut model = model(Wire::Chat, &format!("https://{address}/v1"));
    model.provider = "lab".into();
    let wires = Client::new(Arc::default(), Keys::default(), None);
    let (_, events) = answer(&wires, request(model, vec![Message::user("hello", 0)])).await;
    let text = error(&events).to_string();
    let told = format!(
        "no secure connection to https://{address}/v1/chat/completions: this port doesn't speak TLS"
    );
    assert!(
        text.contains(&told) && text.contains("Write http:// instead of https:// in base_url"),
        "{text}"
    );
    server.join().unwrap();
}

#[tokio::test]
async fn a_key_echoed_by_a_server_is_redacted() {
    let body = r#"{"error":{"message":"Incorrect API key provided: test-key-openai."}}"#;
    let server = ModelServer::start(Script::of([Reply::http(401, "application/json", body)]));
    let (message, events) = answer(&wires(&server), hello(Wire::Chat, &server)).await;
    let shown = format!("{} {events:?} {message:?}", error(&events));
    assert!(!shown.contains("test-key-openai"), "{shown}");
    assert!(
        shown.contains("Incorrect API key provided: ***."),
        "{shown}"
    );
    assert!(shown.contains("export OPENAI_API_KEY="), "{shown}");
}

#[tokio::test]
async fn every_wire_sends_the_headers_of_user_and_session() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("models.toml");
    for wire in Wire::ALL {
        let server = ModelServer::start(Script::of([Reply::text("ok")]));
        let text = format!(
            "[providers.lab]\napi = '{}'\nbase_url = '{}'\napi_key = 'k-1234567'\n\
             headers = {{ x-team = 'blue', x-own-session = 'mine' }}\n",
            wire.api(),
            server.url(wire)
        );
        std::fs::write(&file, text).unwrap();
        let catalog = Arc::new(Catalog::open(&file, CatalogOptions::default()).unwrap());
        let wires = Client::new(catalog, Keys::default(), None);
        let mut hello = hello(wire, &server);
        hello.model.provider = "lab".into();
        hello.session_id = Some("s-1".into());
        hello.model.quirks.session_headers = vec!["x-session-id".into(), "x-own-session".into()];
        let (message, events) = answer(&wires, hello).await;
        assert_eq!(message.stop_reason, StopReason::Stop, "{wire:?} {events:?}");
        for (name, value) in [
            ("x-team", "blue"),
            ("x-session-id", "s-1"),
            ("x-own-session", "mine"),
        ] {
            assert_eq!(server.request(0).header(name), Some(value), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn a_missing_key_fails_before_any_request() {
    let server = ModelServer::start(Script::of([]));
    let wires = Client::new(Arc::default(), Keys::default(), None);
    let (_, events) = answer(&wires, hello(Wire::Anthropic, &server)).await;
    assert_eq!(error(&events).class, ErrorClass::Auth);
    assert!(
        error(&events)
            .to_string()
            .contains("export ANTHROPIC_API_KEY=YOUR_KEY")
    );
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn an_empty_answer_is_an_error() {
    let server = ModelServer::start(Script::of([Reply::http(
        200,
        "text/event-stream",
        "data: [DONE]\n\n",
    )]));
    let (_, events) = answer(&wires(&server), hello(Wire::Chat, &server)).await;
    assert_eq!(error(&events).class, ErrorClass::Retryable);
    assert!(
        error(&events).message.contains("empty answer"),
        "{}",
        error(&events)
    );
}

// A server could take the warm-up for a request, and a nearby server doesn't need it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn warming_up_sends_nothing_to_a_plain_server() {
    let server = ModelServer::start(Script::of([Reply::text("ok")]));
    let wires = wires(&server);
    wires.warm(&model(Wire::Chat, &server.url(Wire::Chat)));
    let (message, _) = answer(&wires, hello(Wire::Chat, &server)).await;
    assert_eq!(Message::Assistant(message).text(), "ok");
    assert_eq!(server.requests().len(), 1);
}
