//! Every kind of exchange over all four wires, from one table. The next request must say the same
//! on each wire and follow its vendor's rules. The mock server rejects what the vendor would, so a
//! violation fails the test.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tiller::agent::{AgentEvent, RunOutcome};
use tiller::llm::{BlockKind, Content, Image, StreamEvent};

use super::stage::{Profile, Reply, Stage};
use crate::support::model_server::{Recorded, Said, Step};

const WIRES: [Profile; 4] = [
    Profile::Anthropic,
    Profile::OpenAiChat,
    Profile::OpenAi,
    Profile::Gemini,
];
/// An image of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// What the user does before saying "Again".
#[derive(Clone, Copy, Debug)]
enum UserAction {
    /// Sends a prompt and waits for the answer.
    Asks,
    /// Sends a prompt with two images, one before the text.
    Shows,
    /// Steers with this text while the first command runs.
    Steers,
    /// Stops the run while the model answers.
    StopsWords,
    /// Stops the run while a command runs.
    StopsTool,
}

struct Row {
    name: &'static str,
    user: UserAction,
    replies: fn() -> Vec<Reply>,
    /// The conversation in the request after "Again".
    expected: &'static [&'static str],
    /// Texts in that request, and how often each one occurs.
    holds: &'static [(&'static str, usize)],
}

fn reads(path: &str) -> Reply {
    Reply::call("read", json!({ "file_path": path }))
}

const ROWS: &[Row] = &[
    Row {
        name: "text",
        user: UserAction::Asks,
        replies: || vec![Reply::text("größe 日本 🦀 \"quoted\"\n\tand so on")],
        expected: &[
            "user: Please",
            "model: größe 日本 🦀 \"quoted\" / \tand so on",
            "user: Again",
        ],
        holds: &[],
    },
    Row {
        name: "signed thinking",
        user: UserAction::Asks,
        replies: || vec![Reply::new().think("Hm.").say("Yes.")],
        expected: &["user: Please", "model: (Hm.) Yes.", "user: Again"],
        holds: &[("<thinking>", 0)],
    },
    Row {
        name: "withheld thinking before a call",
        user: UserAction::Asks,
        replies: || {
            let withheld = Reply::new().step(Step::Redacted("b3BhcXVl".into()));
            vec![
                withheld.and_call("read", json!({ "file_path": "a.txt" })),
                Reply::text("Yes."),
            ]
        },
        expected: &[
            "user: Please",
            "model: [read {\"file_path\":\"a.txt\"}]",
            "result: alpha",
            "model: Yes.",
            "user: Again",
        ],
        holds: &[],
    },
    Row {
        name: "one tool",
        user: UserAction::Asks,
        replies: || {
            vec![
                Reply::text("Reading.").and_call("read", json!({ "file_path": "a.txt" })),
                Reply::text("Read."),
            ]
        },
        expected: &[
            "user: Please",
            "model: Reading. [read {\"file_path\":\"a.txt\"}]",
            "result: alpha",
            "model: Read.",
            "user: Again",
        ],
        holds: &[],
    },
    Row {
        name: "parallel tools",
        user: UserAction::Asks,
        replies: || {
            vec![
                Reply::new()
                    .think("All at once.")
                    .and_call("read", json!({ "file_path": "a.txt" }))
                    .and_call("read", json!({ "file_path": "b.txt" }))
                    .and_call("read", json!({ "file_path": "a.txt" })),
                Reply::text("Read."),
            ]
        },
        expected: &[
            "user: Please",
            "model: (All at once.) [read {\"file_path\":\"a.txt\"}] [read {\"file_path\":\"b.txt\"}] [read {\"file_path\":\"a.txt\"}]",
            "result: alpha",
            "result: beta",
            "result: alpha",
            "model: Read.",
            "user: Again",
        ],
        holds: &[],
    },
    Row {
        name: "three rounds",
        user: UserAction::Asks,
        replies: || {
            vec![
                Reply::new()
                    .think("One.")
                    .and_call("read", json!({ "file_path": "a.txt" })),
                Reply::new()
                    .think("Two.")
                    .say("And")
                    .and_call("read", json!({ "file_path": "b.txt" })),
                Reply::call("ls", json!({})),
                Reply::text("Done."),
            ]
        },
        expected: &[
            "user: Please",
            "model: (One.) [read {\"file_path\":\"a.txt\"}]",
            "result: alpha",
            "model: (Two.) And [read {\"file_path\":\"b.txt\"}]",
            "result: beta",
            "model: [ls {}]",
            "result: a.txt / b.txt / pic.png",
            "model: Done.",
            "user: Again",
        ],
        holds: &[],
    },
    Row {
        name: "pictures in the prompt",
        user: UserAction::Shows,
        replies: || vec![Reply::text("A pixel.")],
        expected: &["user: Please", "model: A pixel.", "user: Again"],
        holds: &[(PIXEL, 2)],
    },
    Row {
        name: "a picture as a result",
        user: UserAction::Asks,
        replies: || vec![reads("pic.png"), Reply::text("A pixel.")],
        expected: &[],
        holds: &[("iVBORw0KGgo", 1)],
    },
    Row {
        name: "steering",
        user: UserAction::Steers,
        replies: || {
            vec![
                Reply::call(
                    "bash",
                    json!({ "command": "until test -e go; do sleep 0.01; done; echo went" }),
                )
                .and_call("read", json!({ "file_path": "a.txt" })),
                Reply::text("As you like."),
            ]
        },
        expected: &[
            "user: Please",
            "model: [bash {\"command\":\"until test -e go; do sleep 0.01; done; echo went\"}] [read {\"file_path\":\"a.txt\"}]",
            "result: went",
            "result: Skipped due to user message.",
            "user: Look here",
            "model: As you like.",
            "user: Again",
        ],
        holds: &[],
    },
    Row {
        name: "abort in the middle of the words",
        user: UserAction::StopsWords,
        replies: || vec![Reply::new().think("Hm.").say("Half an").gate("never")],
        expected: &[],
        holds: &[
            ("Half an", 1),
            ("[interrupted by the user]", 1),
            ("<thinking>", 0),
        ],
    },
    Row {
        name: "abort of a command",
        user: UserAction::StopsTool,
        replies: || {
            vec![
                Reply::call("bash", json!({ "command": "echo on; sleep 1000" }))
                    .and_call("read", json!({ "file_path": "a.txt" })),
            ]
        },
        expected: &[
            "user: Please",
            "model: [bash {\"command\":\"echo on; sleep 1000\"}] [read {\"file_path\":\"a.txt\"}]",
            "result: Execution cancelled / on",
            "result: Execution cancelled before start",
            "user: Again",
        ],
        holds: &[],
    },
    Row {
        name: "cut by the output limit",
        user: UserAction::Asks,
        replies: || {
            vec![
                Reply::text("First")
                    .and_call("read", json!({ "file_path": "a.txt" }))
                    .stop("length"),
                Reply::text("Shorter."),
            ]
        },
        expected: &[],
        holds: &[("alpha", 0), ("Shorter.", 1)],
    },
];

/// A message as one line: thinking in parentheses, calls in brackets.
fn line(said: &Said) -> Option<String> {
    let flat = |text: &str| text.trim_end().replace("\n\n", "\n").replace('\n', " / ");
    Some(match said {
        Said::System(_) => return None,
        Said::User(text) => format!("user: {}", flat(text)),
        Said::Result { text, .. } => format!("result: {}", flat(text)),
        Said::Assistant {
            text,
            thinking,
            calls,
        } => {
            let mut parts = Vec::new();
            if !thinking.is_empty() {
                parts.push(format!("({thinking})"));
            }
            if !text.is_empty() {
                parts.push(flat(text));
            }
            parts.extend(calls.iter().map(|(name, args)| format!("[{name} {args}]")));
            format!("model: {}", parts.join(" "))
        }
    })
}

/// Checks what every request must contain.
#[track_caller]
fn required(wire: Profile, request: &Recorded) {
    let body = &request.body;
    let has = |key: &str| {
        let value = body.pointer(key);
        value.is_some_and(|value| !value.is_null())
    };
    let keys: &[&str] = match wire {
        Profile::Anthropic => {
            assert!(request.header("anthropic-version").is_some());
            let marks = request.text().matches("cache_control").count();
            assert!((3..=4).contains(&marks), "{marks} marks");
            &[
                "/model",
                "/max_tokens",
                "/system",
                "/tools/0/input_schema",
                "/thinking",
            ]
        }
        Profile::OpenAiChat => &[
            "/model",
            "/stream_options/include_usage",
            "/tools/0/function/parameters",
            "/reasoning_effort",
        ],
        Profile::OpenAi => {
            assert_eq!(body["store"], false);
            assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
            &[
                "/model",
                "/instructions",
                "/max_output_tokens",
                "/reasoning/summary",
                "/tools/0/name",
            ]
        }
        Profile::Gemini => {
            assert!(
                request.path.ends_with(":streamGenerateContent?alt=sse"),
                "{}",
                request.path
            );
            assert!(request.header("x-goog-api-key").is_some());
            &[
                "/systemInstruction/parts/0/text",
                "/generationConfig/maxOutputTokens",
                "/tools/0/functionDeclarations/0/parametersJsonSchema",
            ]
        }
    };
    for key in keys {
        assert!(has(key), "{wire:?}: no {key} in {}", request.text());
    }
}

async fn play(wire: Profile, row: &Row) -> Vec<Recorded> {
    let mut replies = (row.replies)();
    replies.push(Reply::text("The end."));
    let mut stage = Stage::new(wire, replies);
    stage.write("a.txt", "alpha\n");
    stage.write("b.txt", "beta\n");
    std::fs::write(
        stage.agent.cwd.join("pic.png"),
        STANDARD.decode(PIXEL).unwrap(),
    )
    .unwrap();
    let picture = || {
        Content::Image(Image {
            data: PIXEL.into(),
            mime_type: "image/png".into(),
        })
    };
    if let UserAction::Shows = row.user {
        let content = vec![picture(), Content::text("Please"), picture()];
        stage.agent.handle.prompt(content);
    } else {
        stage.agent.prompt("Please");
    }
    let mut outcome = RunOutcome::Done;
    match row.user {
        UserAction::Asks | UserAction::Shows => {}
        UserAction::Steers => {
            stage.tool_started().await;
            stage.agent.steer("Look here");
            stage.queued().await;
            stage.write("go", "");
        }
        UserAction::StopsWords => {
            let text = |event: &AgentEvent| {
                let AgentEvent::MessageUpdate { event } = event else {
                    return false;
                };
                matches!(
                    event,
                    StreamEvent::BlockDelta {
                        kind: BlockKind::Text,
                        ..
                    }
                )
            };
            stage.agent.until(text).await;
            stage.agent.handle.abort();
            outcome = RunOutcome::Aborted;
        }
        UserAction::StopsTool => {
            stage.tool_says_something().await;
            stage.agent.handle.abort();
            outcome = RunOutcome::Aborted;
        }
    }
    assert_eq!(
        stage.agent.settled().await,
        outcome,
        "{wire:?} {}",
        row.name
    );
    stage.agent.prompt("Again");
    assert_eq!(
        stage.agent.settled().await,
        RunOutcome::Done,
        "{wire:?} {}",
        row.name
    );
    stage.server.requests()
}

#[tokio::test]
async fn every_exchange_says_the_same_on_every_wire() {
    for row in ROWS {
        for wire in WIRES {
            let requests = play(wire, row).await;
            for request in &requests {
                required(wire, request);
            }
            let last = requests.last().unwrap();
            let lines: Vec<String> = last.said().iter().filter_map(line).collect();
            if !row.expected.is_empty() {
                assert_eq!(lines, row.expected, "{wire:?} {}", row.name);
            }
            let text = last.text();
            for (part, count) in row.holds {
                assert_eq!(
                    text.matches(part).count(),
                    *count,
                    "{wire:?} {}: {part}",
                    row.name
                );
            }
            if row.name.starts_with("withheld") {
                let keeps = matches!(wire, Profile::Anthropic | Profile::OpenAi);
                assert_eq!(text.contains("b3BhcXVl"), keeps, "{wire:?}");
            }
        }
    }
}

/// Vendors cache the common beginning of two requests. No request rewrites an earlier message, and
/// from the fifth turn on most of a request repeats the one before.
#[tokio::test]
async fn each_request_begins_with_the_one_before() {
    for wire in WIRES {
        let turn = |turn: usize| {
            let call = Reply::new()
                .think(format!("Thought {turn}."))
                .and_call("read", json!({ "file_path": "a.txt" }));
            [call, Reply::text(format!("Answer {turn}."))]
        };
        let mut stage = Stage::new(wire, (0..6).flat_map(turn).collect());
        stage.write("a.txt", &"alpha\n".repeat(40));
        for turn in 0..6 {
            stage.agent.prompt(&format!("Question {turn}"));
            assert_eq!(stage.agent.settled().await, RunOutcome::Done);
        }
        let requests = stage.server.requests();
        let bare = |request: &Recorded| {
            let text = request.text();
            let text = text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
            serde_json::from_str::<Value>(&text).unwrap()
        };
        let talk = |body: &Value| {
            let keys = ["messages", "input", "contents"];
            let talk = keys.iter().find_map(|key| body[*key].as_array());
            talk.unwrap().clone()
        };
        for (at, pair) in requests.windows(2).enumerate() {
            let (before, after) = (bare(&pair[0]), bare(&pair[1]));
            for key in ["tools", "system", "instructions", "systemInstruction"] {
                assert_eq!(before[key], after[key], "{wire:?} {at}");
            }
            let (before, after) = (talk(&before), talk(&after));
            assert_eq!(before[..], after[..before.len()], "{wire:?} {at}");
            if at >= 8 {
                let size = |talk: &[Value]| json!(talk).to_string().len();
                assert!(size(&before) * 2 > size(&after), "{wire:?} {at}");
            }
        }
    }
}

// On wires that support it, a tool takes free text. The result then has the form of that call.
#[tokio::test]
async fn free_text_calls_round_trip_on_wires_that_support_them() {
    for wire in [Profile::OpenAi, Profile::OpenAiChat] {
        let replies = vec![wire.creates("new.txt", "one"), Reply::text("Made.")];
        let mut stage = Stage::new(wire, replies);
        stage.agent.prompt("Please");
        stage.agent.settled().await;
        let made = std::fs::read_to_string(stage.agent.cwd.join("new.txt")).unwrap();
        assert_eq!(made, "one\n");
        let request = stage.server.request(1);
        let items = request.body["input"]
            .as_array()
            .or(request.body["messages"].as_array());
        let kinds: Vec<&Value> = items.unwrap().iter().map(|item| &item["type"]).collect();
        let custom = ["custom_tool_call", "custom_tool_call_output"];
        let count = kinds
            .iter()
            .filter(|kind| custom.iter().any(|name| ***kind == *name))
            .count();
        assert_eq!(
            count,
            if wire == Profile::OpenAi { 2 } else { 0 },
            "{kinds:?}"
        );
        assert_eq!(request.results(), ["Patch applied:\nA new.txt"]);
    }
}
