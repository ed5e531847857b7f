//! The page about the JSON records: the meaning of each, with an example made by the program.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::agent::permission::PermissionMode;
use crate::agent::session::{Header, Session};
use crate::agent::tool::{CommandDetails, TextDetails};
use crate::agent::{
    AgentEvent, Budget, CompactionOutcome, CompactionReason, Details, Event, NoticeLevel,
    PermissionSubject, Question, QueueKind, Queued, RunId, RunOutcome, RunTotals, Subject,
    ToolStatus,
};
use crate::app::records::Recorder;
use crate::llm::{
    Api, AssistantMessage, BlockKind, Content, Message, Model, StopReason, StreamEvent,
    ThinkingLevel, ToolCall, ToolResultMessage, Usage,
};

const TIME: i64 = 1_790_000_000_000;

/// Keys that many records share, with their meaning.
const KEYS: &str = "\n## Keys of many records\n\n\
    | Key | Meaning |\n| --- | --- |\n\
    | `seq`, `time` | the number of the record, with gaps; when it was written, in Unix milliseconds |\n\
    | `run` | the number of the run in this session, the same in all of its records that have one |\n\
    | `toolCallId`, `callId` | which call; the same in all records about it |\n\
    | `message.role` | `user`, `assistant` or `toolResult` |\n\
    | `message.origin` | absent if you typed the message; `steer` if another program sent it; `note`, `summary` or \
    another word if tiller wrote it |\n\
    | `content` | blocks by `type`: `text`, `thinking`, `image` or `toolCall` |\n\
    | `stopReason` | why the model stopped: `stop` (done), `toolUse` (it made calls), `length` (output limit), `error` \
    (see `errorMessage`), `aborted` (you stopped it); `pending` while it streams |\n\
    | `usage` | tokens of one model call: `input` (not cached), `cacheRead`, `cacheWrite`, `output`, `totalTokens` |\n\
    | `usage.cost` | US dollars, 0 if the price is unknown |\n\
    | `details` | what the screen shows, by `kind`: `command`, `diff`, `matches`, `files`, `text` and others |\n\
    | `isError` | true if a call failed |\n";

/// What the record of `event` means. None for events without a record. A new event needs a line
/// here.
fn meaning(event: &AgentEvent) -> Option<&'static str> {
    Some(match event {
        AgentEvent::AgentStart => "A run starts.",
        AgentEvent::AgentEnd { .. } => {
            "A run ended. `messages` holds every message that it added to the conversation. `outcome` says why \
             it ended: `done`; `refused` (done, but a call wasn't permitted); `truncated` (the answer reached \
             the output limit); `limit_reached` (`agent.max_iterations`); `budget_reached`; `timed_out` \
             (`--timeout`); `aborted` (you stopped it); or `failed`."
        }
        AgentEvent::AgentSettled { .. } => {
            "Nothing is left to do: no queued message, no retry, no compaction. `aborted` is true if you \
             stopped the run. Wait for this record to know that tiller is idle."
        }
        AgentEvent::TurnStart { .. } => "A model call and its tool calls start.",
        AgentEvent::TurnEnd { .. } => {
            "A model call and its tool calls ended: the answer and the results, in the order of the calls."
        }
        AgentEvent::MessageStart { .. } => {
            "A message starts. Prompts and tool results are already complete here; an answer is still empty."
        }
        AgentEvent::MessageUpdate { .. } => {
            "The answer grew. `assistantMessageEvent` has a `type`: `text_start`, `text_delta`, `text_end`, \
             and the same three for `thinking` and `toolcall`. A delta holds only the new text. \
             `contentIndex` says which block of the answer grew."
        }
        AgentEvent::MessageEnd { .. } => {
            "A message is complete, and saved if the session is. Read this one if you don't need deltas."
        }
        AgentEvent::ToolStart { .. } => "A tool call starts, with its arguments.",
        AgentEvent::ToolUpdate { .. } => {
            "A tool reports progress: a command's output so far, for example. Each replaces the one before."
        }
        AgentEvent::ToolEnd { .. } => {
            "A tool call ended. `content` is what the model gets, `details` what the screen shows. \
             `durationMs` is absent if the call never ran. If a permission rule refused it, `rule` names the rule."
        }
        AgentEvent::QueueUpdate { .. } => "The queued messages changed. Both queues are complete.",
        AgentEvent::ModelChanged { .. } => "The model or its thinking level changed.",
        AgentEvent::RetryStart { .. } => {
            "A model call failed, and tiller will retry it after `delayMs` milliseconds."
        }
        AgentEvent::RetryEnd { .. } => {
            "The retries ended. If they all failed, `success` is false and `finalError` says why."
        }
        AgentEvent::CompactionStart { .. } => {
            "tiller starts to summarise the conversation. `reason` is `manual`, `threshold` (the window is \
             nearly full) or `overflow` (the provider refused the conversation as too long)."
        }
        AgentEvent::CompactionEnd { .. } => {
            "The summary is in place. `result` is null if there is none; `errorMessage` then says why, \
             unless you stopped it."
        }
        AgentEvent::Notice { .. } => {
            "Something you should know. `level` is `info`, `refusal`, `warning` or `error`."
        }
        AgentEvent::PermissionMode(_) => "The permission mode changed.",
        AgentEvent::Budget(_) => "The budget changed. 0 means no limit.",
        AgentEvent::SessionNamed(_) => "The session has another name, or none: `null`.",
        AgentEvent::QueueReturned { .. } => {
            "Queued messages came back, because the run was stopped. They were not sent."
        }
        AgentEvent::Refused(_) => {
            "A call needed permission, and there was no one to ask, so tiller refused it. \
             The exit code is 3 if a run had such a record."
        }
        AgentEvent::Questions { .. } => {
            "The open permission requests changed. Only with someone to answer them: in RPC mode, and in the \
             file of `--events` beside the full screen."
        }
        AgentEvent::SessionOpened { .. } => {
            "Another session is open now. Only in RPC mode, and in the file of `--events`."
        }
        AgentEvent::Moved { .. } => {
            "The conversation continues from another entry of its session. `prompt` is the prompt there, to edit \
             and send again."
        }
        AgentEvent::Spent { .. } => {
            "Tokens were spent outside the conversation, on the summary of a branch or on a failed summary. \
             `purpose` says on which."
        }
        AgentEvent::ApiCallStart { .. }
        | AgentEvent::ApiCallEnd { .. }
        | AgentEvent::State(_)
        | AgentEvent::FilesUndone { .. }
        | AgentEvent::Trial(_) => return None,
    })
}

fn command(output: &str) -> Arc<Details> {
    Arc::new(Details::Command(CommandDetails {
        command: "cargo test".into(),
        output: output.into(),
        ..CommandDetails::default()
    }))
}

/// One event for each kind of record, as a run would send it.
fn events() -> Vec<AgentEvent> {
    let usage = Usage {
        input: 812,
        output: 31,
        total_tokens: 843,
        ..Usage::default()
    };
    let call = ToolCall {
        id: "call_1".into(),
        name: "bash".into(),
        arguments: json!({"command": "cargo test"}),
        ..ToolCall::default()
    };
    let answer = |content, stop_reason| {
        Arc::new(Message::Assistant(AssistantMessage {
            content,
            api: "anthropic-messages".into(),
            provider: "anthropic".into(),
            model: "claude-sonnet-5-5".into(),
            usage: usage.clone(),
            stop_reason,
            timestamp: TIME,
            ..AssistantMessage::default()
        }))
    };
    let calls = answer(vec![Content::ToolCall(call)], StopReason::ToolUse);
    let last = answer(vec![Content::text("All tests pass.")], StopReason::Stop);
    let content = vec![Content::text("test result: ok. 12 passed")];
    let result = Arc::new(Message::ToolResult(ToolResultMessage {
        tool_call_id: "call_1".into(),
        tool_name: "bash".into(),
        content: content.clone(),
        duration_ms: Some(2140),
        timestamp: TIME,
        ..ToolResultMessage::default()
    }));
    let question = Question {
        id: 1,
        call_id: "call_1".into(),
        tool: "bash".into(),
        subject: Subject::Permission(PermissionSubject {
            reason: "it needs the network".into(),
            again: None,
            details: command(""),
            network: false,
            rule: Some("ask bash \"curl|wget\" (built in)".into()),
            flagged: Vec::new(),
            by_hand: None,
            suggestions: Vec::new(),
        }),
    };
    let question = Arc::new(question);
    let queued = Queued {
        id: 1,
        kind: QueueKind::Steering,
        content: vec![Content::text("Mind the tests")],
        origin: None,
    };
    let model = Model::new("anthropic", "claude-sonnet-5-5", Api::AnthropicMessages, "");
    let reason = CompactionReason::Threshold;
    vec![
        AgentEvent::AgentStart,
        AgentEvent::TurnStart { iteration: 1 },
        AgentEvent::MessageStart {
            message: Arc::new(Message::user("Do the tests pass?", TIME)),
        },
        AgentEvent::MessageUpdate {
            event: StreamEvent::BlockDelta {
                index: 0,
                kind: BlockKind::Text,
                delta: "All tests".into(),
            },
        },
        AgentEvent::MessageEnd {
            message: last.clone(),
        },
        AgentEvent::ToolStart {
            call_id: "call_1".into(),
            name: "bash".into(),
            args: Arc::new(json!({"command": "cargo test"})),
            details: command(""),
        },
        AgentEvent::ToolUpdate {
            call_id: "call_1".into(),
            details: command("running 12 tests"),
        },
        AgentEvent::ToolEnd {
            call_id: "call_1".into(),
            name: "bash".into(),
            status: ToolStatus::Ok,
            content,
            details: Arc::new(Details::Text(TextDetails {
                text: "test result: ok. 12 passed".into(),
                ..TextDetails::default()
            })),
            duration_ms: Some(2140),
            rule: None,
        },
        AgentEvent::TurnEnd {
            message: calls,
            tool_results: vec![result],
        },
        AgentEvent::AgentEnd {
            messages: vec![last].into(),
            outcome: RunOutcome::Done,
            totals: RunTotals::default(),
        },
        AgentEvent::AgentSettled { aborted: false },
        AgentEvent::QueueUpdate {
            steering: vec![queued.clone()],
            follow_up: Vec::new(),
        },
        AgentEvent::QueueReturned {
            to: 0,
            messages: vec![queued],
        },
        AgentEvent::Refused(question.clone()),
        AgentEvent::Questions {
            open: vec![question],
        },
        AgentEvent::RetryStart {
            attempt: 1,
            max_attempts: 5,
            delay_ms: 1000,
            error: "529: overloaded".into(),
        },
        AgentEvent::RetryEnd {
            attempt: 1,
            final_error: None,
        },
        AgentEvent::CompactionStart {
            reason,
            tokens_before: 160_000,
        },
        AgentEvent::CompactionEnd {
            reason,
            outcome: CompactionOutcome::Done {
                summary: "You asked for a faster parser. ...".into(),
                first_kept_entry_id: "a1b2c3d4".into(),
                tokens_before: 160_000,
                tokens_after: 24_000,
                usage: usage.clone(),
            },
        },
        AgentEvent::SessionOpened {
            facts: Arc::default(),
            branch: Arc::new(Session::unstored(Path::new("/home/me/shop")).branch()),
            path: Some("/home/me/.local/share/tiller/sessions/shop/b.jsonl".into()),
            name: Some("release".into()),
            first_prompt: None,
            read_only: false,
        },
        AgentEvent::Moved {
            facts: Arc::default(),
            branch: Arc::new(Session::unstored(Path::new("/home/me/shop")).branch()),
            prompt: Some(vec![Content::text("Make the parser faster")]),
            to: 0,
        },
        AgentEvent::Spent {
            kind: "branch_summary",
            model: Arc::new(model.clone()),
            usage,
        },
        AgentEvent::Notice {
            level: NoticeLevel::Warning,
            text: "The model repeats itself".into(),
        },
        AgentEvent::ModelChanged {
            model: Arc::new(model),
            thinking: ThinkingLevel::High,
        },
        AgentEvent::PermissionMode(PermissionMode::Auto),
        AgentEvent::SessionNamed(Some("Fix the login".into())),
        AgentEvent::Budget(Budget {
            usd: 2.0,
            tokens: 0,
        }),
    ]
}

fn entry(out: &mut String, meaning: &str, record: &Value) {
    let name = record["type"].as_str().unwrap();
    let json = serde_json::to_string_pretty(record).unwrap();
    let _ = writeln!(out, "\n## `{name}`\n\n{meaning}\n\n```json\n{json}\n```");
}

pub fn page() -> String {
    let mut out = String::from(
        "# JSON records\n\
         `tiller --mode json` writes one JSON record a line to stdout, and `--events FILE` appends the same \
         records to a file. [Scripting](../scripting.md) shows how to use them. The shapes are those of pi \
         (`@earendil-works/pi-coding-agent`).\n\n\
         The first record is the session. Each one after it has a `type`, a `seq` that rises by one or more, \
         and a `time` in Unix milliseconds. The examples are broken over several lines here; in the \
         stream each is one line. Skip types and keys that you don't know: later versions may add some.\n",
    );
    out += KEYS;
    let mut session = serde_json::to_value(Header::new(Path::new("/home/me/shop"))).unwrap();
    session["id"] = json!("019a0c5e-0000-7000-8000-000000000000");
    session["timestamp"] = json!("2026-09-21T14:13:20.000Z");
    let about = "The session: its id, when it began, and its folder. It is the first record, without `seq` and `time`.";
    entry(&mut out, about, &session);
    let mut recorder = Recorder::default();
    for (seq, kind) in (1..).zip(events()) {
        let meaning = meaning(&kind).unwrap();
        let time = TIME;
        let run = Some(RunId::default());
        let event = Event {
            seq,
            time,
            run,
            kind,
        };
        let record = recorder.record(&event).unwrap();
        entry(&mut out, meaning, &record);
    }
    let about = "Only in the file of `--events`: `count` records are missing here, because the disk was full or a \
                 reader too slow. It has no `seq` and no `time`.";
    entry(&mut out, about, &json!({"type": "events_lost", "count": 3}));
    out
}

#[test]
fn every_record_has_an_example() {
    let source = include_str!("../../src/app/records.rs");
    let page = page();
    let (body, _) = source.split_once("/// The nested event").unwrap();
    for part in body.split("\"type\": \"").skip(1) {
        let (name, _) = part.split_once('"').unwrap();
        // A result's content has a type too.
        let has_example = name == "text" || page.contains(&format!("\n## `{name}`\n"));
        assert!(has_example, "{name}");
    }
}
