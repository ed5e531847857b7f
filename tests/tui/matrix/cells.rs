//! Scenes with everything that the transcript and its surroundings can show.

use std::sync::Arc;

use image::ImageFormat;
use serde_json::{Value, json};
use tiller::agent::session::HistoryFacts;
use tiller::agent::{
    AgentEvent, BudgetLimit, BudgetReached, CompactionOutcome, CompactionReason, Details,
    NoticeLevel, Phase, QueueKind, RunOutcome, RunState, ToolStatus,
};
use tiller::app::tui::app::{SessionInfo, Start};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::terminal::input::{InputEvent, TerminalReport};
use tiller::llm::message::Cost;
use tiller::llm::{
    AssistantMessage, BlockKind, Content, Message, StopReason, StreamEvent, Thinking, ToolCall,
    Usage, UserMessage,
};

use super::super::app_kit::{START, TestTui, queued};
use super::super::pictures::{encode, fields, image};
use super::super::transcript_support::{branch, stored};
use super::Scene;

pub const SCENES: &[Scene] = &[
    ("first_screen", first_screen),
    ("first_screen_demo", |tui| {
        tui.app.status.model = Arc::new(tiller::llm::Model {
            provider: "demo".into(),
            ..(*tui.app.status.model).clone()
        });
        tui.app.start.demo = Some(("Fix the bug".into(), 0));
    }),
    ("first_screen_no_key", |tui| {
        tui.app.start.no_key = Some("anthropic".into());
    }),
    ("user", user),
    ("thinking", |tui| {
        begin(tui, "Why is it slow?");
        think(tui);
        tui.now += 9_000;
        tui.send(Msg::Tick);
    }),
    ("thought_opened", |tui| {
        begin(tui, "Why is it slow?");
        think(tui);
        tui.now += 9_000;
        said(tui, StopReason::Stop, "Because it **waits**.");
        end(tui, RunOutcome::Done);
        tui.frame();
        tui.key("ctrl+t");
    }),
    ("answer", |tui| {
        begin(tui, "Explain it");
        said(tui, StopReason::Stop, ANSWER);
        end(tui, RunOutcome::Done);
    }),
    ("answer_table", |tui| {
        begin(tui, "Show it");
        said(tui, StopReason::Stop, TABLE);
        end(tui, RunOutcome::Done);
    }),
    ("answer_half_arrived", |tui| {
        begin(tui, "Explain it");
        text_delta(tui, "It is a list:\n\n- one\n- `two\n\n```rust\nfn half(");
    }),
    ("looking", looking),
    ("looking_opened", |tui| {
        looking(tui);
        tui.frame();
        tui.key("ctrl+o");
    }),
    ("diff", |tui| {
        begin(tui, "Mend it");
        call(tui, "edit", &edit(), Some("ok"));
    }),
    ("new_and_deleted_files", |tui| {
        begin(tui, "Mend it");
        call(tui, "write", &write(), Some("ok"));
        call(tui, "apply_patch", &patch(), Some("ok"));
        call(tui, "edit", &edit(), Some("failed"));
    }),
    ("commands", commands),
    ("commands_opened", |tui| {
        commands(tui);
        tui.frame();
        tui.key("ctrl+o");
    }),
    ("calls_under_way", under_way),
    ("other_tools", |tui| {
        begin(tui, "Look at the picture");
        let picture = json!({"kind": "attachment", "path": "shot.png", "media": "image/png",
            "title": "picture, 800x600", "description": "A login form"});
        call(tui, "read", &picture, Some("ok"));
        let other = json!({"kind": "other", "title": "Weather in Oslo",
            "value": {"city": "Oslo", "days": [1, 2, 3]}});
        call(tui, "weather", &other, Some("ok"));
        call(tui, "weather", &other, Some("failed"));
    }),
    ("pictures", |tui| {
        let attributes = TerminalReport::PrimaryAttributes;
        tui.send(Msg::Input(InputEvent::Report(attributes)));
        let picture = image(&encode(&fields(8, 8), ImageFormat::Png));
        let user = |content: Vec<Content>| {
            Message::User(UserMessage {
                content,
                origin: None,
                queue_id: None,
                timestamp: START,
            })
        };
        let content = vec![Content::text("What is in @docs/fields.png?"), picture];
        message(tui, user(content));
        message(tui, user(vec![Content::text("And this?"), image(b"no")]));
    }),
    ("todo", |tui| {
        begin(tui, "Move the settings");
        let items = |done: usize| -> Vec<Value> {
            let status = |at: usize| match at {
                at if at < done => "completed",
                at if at == done => "in_progress",
                _ => "pending",
            };
            let text = [
                "Find who reads them",
                "Move them, one file after the other",
                "Run the tests",
                "Write it down",
            ];
            let texts = text.iter().enumerate();
            texts
                .map(|(at, text)| json!({"content": text, "status": status(at)}))
                .collect()
        };
        for done in [0, 1] {
            call(
                tui,
                "todo",
                &json!({"kind": "todo", "items": items(done)}),
                Some("ok"),
            );
        }
    }),
    ("notices", notices),
    ("retry", |tui| {
        begin(tui, "Do it");
        let error = "lab/m1: the server is overloaded (529): Overloaded";
        tui.agent(AgentEvent::RetryStart {
            attempt: 2,
            max_attempts: 5,
            delay_ms: 3_500,
            error: error.into(),
        });
        tui.running(Phase::Retrying {
            attempt: 2,
            max_attempts: 5,
            at: tui.now + 3_500,
            reason: "the server is overloaded (529)".into(),
        });
    }),
    ("compaction", |tui| {
        begin(tui, "Before");
        said(tui, StopReason::Stop, "Yes.");
        compacted(tui);
        begin(tui, "After");
        tui.running(Phase::Compacting);
    }),
    ("compaction_opened", |tui| {
        begin(tui, "Before");
        compacted(tui);
        end(tui, RunOutcome::Done);
        tui.frame();
        tui.key("alt+o");
    }),
    ("ends_done", |tui| ended(tui, RunOutcome::Done)),
    ("ends_stopped", |tui| ended(tui, RunOutcome::Aborted)),
    ("ends_cut", |tui| ended(tui, RunOutcome::Truncated)),
    ("ends_failed", |tui| {
        ended(
            tui,
            RunOutcome::Failed {
                message:
                    "anthropic: the provider refused the key (401)\nSet it with: tiller auth add anthropic"
                        .into(),
            },
        );
    }),
    ("ends_at_limit", |tui| {
        ended(tui, RunOutcome::LimitReached { limit: 100 });
    }),
    ("ends_at_budget", |tui| {
        let reached = BudgetReached {
            limit: BudgetLimit::Usd(5.0),
            spent: BudgetLimit::Usd(5.04),
            next: BudgetLimit::Usd(10.0),
        };
        ended(tui, RunOutcome::BudgetReached(reached));
    }),
    ("ends_without_answer", |tui| {
        begin(tui, "Say something");
        said(tui, StopReason::Stop, "");
        end(tui, RunOutcome::Done);
    }),
    ("queue_and_draft", |tui| {
        begin(tui, "Fix the login");
        call(tui, "bash", &command(1, None), None);
        tui.waiting(
            &["use the subtle crate instead of a helper"],
            &["update the changelog\n\nand tag"],
        );
        tui.running(Phase::Tools(vec!["bash".into()]));
        tui.wait(72_000);
        tui.write("a draft 日本語");
    }),
    ("stopping", |tui| {
        begin(tui, "Fix the login");
        tui.state(RunState::Stopping { processes: 2 });
    }),
    ("long_draft", |tui| {
        for line in 1..=14 {
            tui.write(&format!(
                "line {line} of a draft that is longer than the editor is high"
            ));
            tui.key("shift+enter");
        }
        tui.send(Msg::Input(InputEvent::Paste("pasted\n".repeat(200))));
    }),
    ("scrolled_away", |tui| {
        begin(tui, "Count");
        let lines: Vec<String> = (1..=90).map(|line| format!("{line}\n\n")).collect();
        text_delta(tui, &lines.concat());
        tui.frame();
        tui.key("ctrl+home");
        tui.frame();
        text_delta(tui, "one more\n\nand another");
    }),
    ("shell", |tui| {
        tui.write("!cargo build");
        tui.key("enter");
    }),
    ("resumed", |tui| {
        let messages = stored();
        tui.agent(AgentEvent::SessionOpened {
            facts: Arc::new(HistoryFacts::of(&messages)),
            branch: branch(&messages),
            path: Some("/s/login.jsonl".into()),
            name: Some("Login".into()),
            first_prompt: Some("Fix the login".into()),
            read_only: false,
        });
    }),
    ("narrow_status", |tui| {
        tui.app.status.branch = Some("a-very-long-branch-name/that-does-not-fit".into());
        tui.app.status.cwd = "/home/me/work/customers/one/of/them/shop".into();
        tui.app.status.session = Some(SessionInfo {
            name: Some("Login and everything around it".into()),
            ..SessionInfo::default()
        });
        tui.app.status.context = 161_000;
        tui.app.status.total = usage();
    }),
];

const ANSWER: &str = "# What happens\n\nA request **waits** for the *lock*, see `Session::open` and \
[the manual](https://docs.example/x).\n\n1. It asks\n2. It waits\n   - for the lock\n   - for ~~nothing~~ else\n\n\
- [x] measured\n- [ ] mended\n\n> A quote that goes on and on, so that it has to be wrapped at the usual widths of \
screens, which it is.\n\n---\n\n```rust\n/// Opens it.\nfn open(path: &Path) -> Result<Session, Error> {\n    \
let file = File::open(path)?; // waits\n    Ok(Session { file, count: 42, name: \"größe 日本 🦀\" })\n}\n```\n\nThe end.";

const TABLE: &str = "| Name | Type | What it is for |\n| --- | :---: | ---: |\n\
| `ui.theme` | text | The colors of the screen, by name |\n| `ui.mouse` | yes or no | Whether the mouse is ours |\n\
| 日本語 | `⚠️` | A row with wide characters |\n";

fn first_screen(tui: &mut TestTui) {
    tui.app.start = Start {
        notices: vec!["Folder not trusted, so tiller ignores: AGENTS.md".into()],
        asks_trust: true,
        ..Start::default()
    };
}

fn usage() -> Usage {
    Usage {
        input: 41_200,
        output: 6_100,
        cache_read: 38_000,
        cost: Cost {
            total: 0.21,
            ..Cost::default()
        },
        ..Usage::default()
    }
}

/// The user sends a prompt and a run starts.
fn begin(tui: &mut TestTui, prompt: &str) {
    tui.agent(AgentEvent::AgentStart);
    message(tui, Message::user(prompt, tui.now));
    tui.running(Phase::Streaming);
    tui.agent(AgentEvent::MessageStart {
        message: Arc::new(Message::Assistant(AssistantMessage::default())),
    });
}

fn message(tui: &mut TestTui, message: Message) {
    let message = Arc::new(message);
    tui.agent(AgentEvent::MessageStart {
        message: Arc::clone(&message),
    });
    tui.agent(AgentEvent::MessageEnd { message });
}

fn update(tui: &mut TestTui, event: StreamEvent) {
    tui.agent(AgentEvent::MessageUpdate { event });
}

fn think(tui: &mut TestTui) {
    update(
        tui,
        StreamEvent::BlockStart {
            index: 0,
            block: Content::Thinking(Thinking::default()),
        },
    );
    update(
        tui,
        StreamEvent::BlockDelta {
            kind: BlockKind::Thinking,
            index: 0,
            delta: THOUGHT.into(),
        },
    );
}

const THOUGHT: &str = "**Looking at the lock**\n\nWho holds it? Perhaps the *reader*.\n\n**Deciding on a fix**\n\n\
It should be given back before the wait.";

fn text_delta(tui: &mut TestTui, text: &str) {
    update(
        tui,
        StreamEvent::BlockStart {
            index: 0,
            block: Content::text(""),
        },
    );
    update(
        tui,
        StreamEvent::BlockDelta {
            kind: BlockKind::Text,
            index: 0,
            delta: text.into(),
        },
    );
}

/// The complete answer arrives.
fn said(tui: &mut TestTui, stop_reason: StopReason, text: &str) {
    let mut content = Vec::new();
    if tui.frame().contains('∴') {
        content.push(Content::Thinking(Thinking {
            thinking: THOUGHT.into(),
            ..Thinking::default()
        }));
    }
    if !text.is_empty() {
        content.push(Content::text(text));
    }
    let message = AssistantMessage {
        content,
        stop_reason,
        usage: usage(),
        ..AssistantMessage::default()
    };
    tui.agent(AgentEvent::MessageEnd {
        message: Arc::new(Message::Assistant(message)),
    });
}

fn end(tui: &mut TestTui, outcome: RunOutcome) {
    tui.now += 28_000;
    tui.agent(AgentEvent::AgentEnd {
        totals: tiller::agent::RunTotals::default(),
        messages: Vec::new().into(),
        outcome,
    });
    tui.state(RunState::Idle);
    tui.agent(AgentEvent::AgentSettled { aborted: false });
    tui.wait(5_000);
}

/// A whole run with one change.
fn ended(tui: &mut TestTui, outcome: RunOutcome) {
    begin(tui, "Fix the login");
    let cut = outcome == RunOutcome::Truncated;
    let stop = if cut {
        StopReason::Length
    } else {
        StopReason::ToolUse
    };
    said(tui, stop, "The token is compared in constant time now.");
    call(tui, "edit", &edit(), Some("ok"));
    end(tui, outcome);
}

/// A tool call; without `ended` it's still running.
fn call(tui: &mut TestTui, name: &str, details: &Value, ended: Option<&str>) {
    let details = Arc::new(Details::from_json(details.clone()));
    let call_id = format!("{name}{}", tui.now);
    tui.now += 1;
    tui.agent(AgentEvent::ToolStart {
        call_id: call_id.clone(),
        name: name.into(),
        // The screen must work without the arguments.
        args: Arc::new(Value::Null),
        details: Arc::clone(&details),
    });
    let Some(ended) = ended else {
        return;
    };
    let (status, text) = match ended {
        "failed" => (
            ToolStatus::Error,
            "src/auth.rs: the text to replace is not in it",
        ),
        "skipped" => (ToolStatus::Skipped, "Skipped due to user message."),
        "cancelled" => (ToolStatus::Cancelled, "Execution cancelled"),
        _ => (ToolStatus::Ok, ""),
    };
    tui.agent(AgentEvent::ToolEnd {
        call_id,
        name: name.into(),
        status,
        content: vec![Content::text(text)],
        details,
        duration_ms: Some(6_240),
        rule: None,
    });
}

fn edit() -> Value {
    json!({"kind": "diff", "path": "src/auth.rs", "added": 3, "removed": 1, "firstChangedLine": 41,
        "oldLines": 60, "newLines": 62, "diff":
        " 40 impl Session {\n-41     fn verify_token(&self, token: &str) -> bool { token == self.token }\n\
         +41     fn verify_token(&self, token: &str) -> bool {\n\
         +42         constant_time_eq(token.as_bytes(), self.token.as_bytes())\n+43     }\n 44 }\n    ...\n 60 // the end"})
}

fn write() -> Value {
    let lines: Vec<String> = (1..=14)
        .map(|line| format!("+{line:>2} let value_{line} = {line};"))
        .collect();
    json!({"kind": "diff", "path": "tests/auth.rs", "added": 14, "newLines": 14, "firstChangedLine": 1,
        "change": "added", "diff": lines.join("\n")})
}

fn patch() -> Value {
    json!({"kind": "diff", "path": "src/old.rs", "removed": 2, "oldLines": 2, "change": "deleted",
        "diff": "-1 // nothing\n-2 // here",
        "files": [{"path": "src/new name.rs", "movedFrom": "src/older.rs", "added": 1, "removed": 1,
            "oldLines": 9, "newLines": 9, "diff": "-3 let a = 1;\n+3 let a = 2;"}]})
}

fn command(lines: usize, exit: Option<i32>) -> Value {
    let output: Vec<String> = (1..=lines)
        .map(|line| format!("test auth::case_{line} ... ok"))
        .collect();
    json!({"kind": "command", "command": "cargo test auth --all-features", "description": "Run the tests",
        "output": output.join("\n"), "totalLines": lines, "exitCode": exit})
}

fn looking(tui: &mut TestTui) {
    begin(tui, "Where are tokens checked?");
    call(
        tui,
        "grep",
        &json!({"kind": "matches", "pattern": "verify_token", "path": "src", "count": 2,
            "lines": ["src/auth.rs:41: fn verify_token(&self) {", "src/auth.rs:88:   if !self.verify_token(t) {"]}),
        Some("ok"),
    );
    for file in ["auth", "main", "bytes", "server/handlers/login"] {
        call(
            tui,
            "read",
            &json!({"kind": "text", "path": format!("src/{file}.rs"), "text": "mod auth;\nfn main() {}",
                "firstLine": 1, "lineCount": 2, "totalLines": 400}),
            Some("ok"),
        );
    }
    let files: Vec<String> = (0..12).map(|file| format!("src/file_{file}.rs")).collect();
    call(
        tui,
        "find",
        &json!({"kind": "files", "pattern": "*.rs", "path": "src", "files": files, "truncated": true}),
        Some("ok"),
    );
    call(
        tui,
        "ls",
        &json!({"kind": "files", "pattern": "", "path": "nowhere", "files": []}),
        Some("failed"),
    );
}

fn commands(tui: &mut TestTui) {
    begin(tui, "Test it");
    call(tui, "bash", &command(14, Some(0)), Some("ok"));
    call(
        tui,
        "bash",
        &json!({"kind": "command", "command": "cat > x <<'EOF'\none\ntwo\nEOF\ncargo clippy --all-targets -- -D warnings",
            "output": "error: unused variable", "totalLines": 1, "exitCode": 101}),
        Some("failed"),
    );
    call(
        tui,
        "bash",
        &json!({"kind": "command", "command": "sleep 100", "output": "", "timedOut": true}),
        Some("failed"),
    );
    call(tui, "bash", &command(0, None), Some("skipped"));
    call(tui, "bash", &command(2, None), Some("cancelled"));
    call(
        tui,
        "bash",
        &json!({"kind": "command", "command": "npm run dev &", "output": "ready", "totalLines": 1,
            "exitCode": 0, "stillRunning": ["node"]}),
        Some("ok"),
    );
}

fn under_way(tui: &mut TestTui) {
    begin(tui, "Do it all");
    update(
        tui,
        StreamEvent::BlockStart {
            index: 0,
            block: Content::ToolCall(ToolCall {
                id: "w".into(),
                name: "write".into(),
                ..ToolCall::default()
            }),
        },
    );
    update(
        tui,
        StreamEvent::BlockDelta {
            kind: BlockKind::ToolCall,
            index: 0,
            delta: "{\"file_path\": \"src/new.rs\", \"content\": \"fn one() {}\\nfn two() {}\\n"
                .into(),
        },
    );
    call(tui, "bash", &command(9, None), None);
    call(
        tui,
        "read",
        &json!({"kind": "text", "path": "src/a.rs"}),
        None,
    );
    tui.running(Phase::Tools(vec!["bash".into(), "read".into()]));
    tui.wait(6_240);
}

fn notices(tui: &mut TestTui) {
    for (level, text) in [
        (
            NoticeLevel::Info,
            "Good to know: `ui.theme` is kept in ~/.config/tiller/config.toml",
        ),
        (
            NoticeLevel::Warning,
            "The budget is nearly spent\n$4.60 of $5",
        ),
        (
            NoticeLevel::Error,
            "The session cannot be written: no space left on device\nIt goes on in memory",
        ),
    ] {
        let text = text.into();
        tui.agent(AgentEvent::Notice { level, text });
    }
    message(
        tui,
        Message::User(UserMessage {
            content: vec![Content::text("You have read the same file five times.")],
            queue_id: None,
            timestamp: tui.now,
            origin: Some(tiller::agent::LOOP_GUARD_ORIGIN.into()),
        }),
    );
    tui.send(Msg::Done(EffectResult::Failed(
        "The clipboard does not answer".into(),
    )));
}

fn compacted(tui: &mut TestTui) {
    tui.agent(AgentEvent::CompactionEnd {
        reason: CompactionReason::Threshold,
        outcome: CompactionOutcome::Done {
            summary: "## Task\nFix the *parser*.\n\nFiles read:\n- a.rs".into(),
            first_kept_entry_id: String::new(),
            tokens_before: 161_240,
            tokens_after: 3_120,
            usage: Usage::default(),
        },
    });
}

fn user(tui: &mut TestTui) {
    message(tui, Message::user("short", tui.now));
    message(
        tui,
        Message::user(
            "A prompt that is longer than the row of any screen that people work at, so that it has to be \
             wrapped, and it goes on for a good while yet, with 日本語 in it\n\nand a second part",
            tui.now,
        ),
    );
    message(
        tui,
        Message::User(UserMessage {
            content: vec![Content::text("from another program")],
            queue_id: None,
            timestamp: tui.now,
            origin: Some(tiller::agent::STEER_ORIGIN.into()),
        }),
    );
    tui.send(Msg::Input(InputEvent::Paste("a pasted line\n".repeat(300))));
    tui.write(" what is this?");
    tui.key("enter");
    tui.agent(AgentEvent::QueueUpdate {
        steering: queued(QueueKind::Steering, &[]),
        follow_up: Vec::new(),
    });
}
