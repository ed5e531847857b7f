//! A transcript and its screen, without a terminal.

use std::path::Path;
use std::sync::Arc;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use serde_json::json;
use tiller::agent::session::{Body, Session, SessionBranch};
use tiller::agent::tool::{CommandDetails, DiffDetails, FilesDetails, MatchesDetails, TextDetails};
use tiller::agent::{AgentEvent, Details, RunOutcome, RunTotals, ToolStatus};
use tiller::app::tui::theme::{ColorDepth, Theme};
use tiller::app::tui::transcript::{Drawn, Transcript};
use tiller::app::tui::view::transcript::{TranscriptCache, draw};
use tiller::llm::{
    AssistantMessage, BlockKind, Content, Message, StopReason, StreamEvent, Thinking, ToolCall,
};

/// A transcript drawn the way the program draws it.
pub struct Stage {
    pub transcript: Transcript,
    pub cache: TranscriptCache,
    pub theme: Theme,
    pub width: u16,
    pub height: u16,
    pub time: i64,
}

impl Stage {
    pub fn new(width: u16, height: u16) -> Self {
        Self {
            transcript: Transcript::new(),
            cache: TranscriptCache::new(None),
            theme: Theme::load("dark", ColorDepth::TrueColor).expect("a built-in theme"),
            width,
            height,
            time: 1_000_000,
        }
    }

    /// Draws, after loading all pages that the view needs.
    pub fn draw(&mut self) -> (Drawn, Buffer) {
        loop {
            let frame = self.draw_once();
            match self.transcript.request() {
                Some(request) => self.transcript.insert(request.load()),
                None => return frame,
            }
        }
    }

    pub fn draw_once(&mut self) -> (Drawn, Buffer) {
        let area = Rect::new(0, 0, self.width, self.height);
        let mut buffer = Buffer::empty(area);
        let drawn = draw(
            &self.transcript,
            &mut self.cache,
            area,
            &mut buffer,
            &self.theme,
        );
        self.transcript.after_draw(&drawn);
        (drawn, buffer)
    }

    pub fn text(&mut self) -> String {
        picture(&self.draw().1)
    }

    pub fn apply(&mut self, event: AgentEvent) {
        self.transcript.apply(&event, self.time);
    }

    pub fn wait(&mut self, millis: i64) {
        self.time += millis;
        self.transcript.tick(self.time);
    }

    pub fn user(&mut self, text: &str) {
        let message = Arc::new(Message::user(text, self.time));
        self.apply(AgentEvent::MessageStart {
            message: Arc::clone(&message),
        });
        self.apply(AgentEvent::MessageEnd { message });
    }

    pub fn stream(&mut self, event: StreamEvent) {
        self.apply(AgentEvent::MessageUpdate { event });
    }

    pub fn begin(&mut self) {
        self.apply(AgentEvent::MessageStart {
            message: Arc::new(Message::Assistant(AssistantMessage::default())),
        });
    }

    /// Streams a whole assistant text in pieces of `step` bytes.
    pub fn say(&mut self, text: &str, step: usize) {
        self.begin();
        self.stream(StreamEvent::BlockStart {
            index: 0,
            block: Content::text(""),
        });
        let mut at = 0;
        while at < text.len() {
            let end = text.ceil_char_boundary((at + step).min(text.len()));
            self.stream(StreamEvent::BlockDelta {
                kind: BlockKind::Text,
                index: 0,
                delta: text[at..end].to_owned(),
            });
            at = end;
        }
        self.end(vec![Content::text(text)], StopReason::Stop);
    }

    pub fn end(&mut self, content: Vec<Content>, stop_reason: StopReason) {
        let message = AssistantMessage {
            content,
            stop_reason,
            ..AssistantMessage::default()
        };
        self.apply(AgentEvent::MessageEnd {
            message: Arc::new(Message::Assistant(message)),
        });
    }

    pub fn tool_start(&mut self, id: &str, name: &str, details: Details) {
        self.apply(AgentEvent::ToolStart {
            call_id: id.to_owned(),
            name: name.to_owned(),
            args: Arc::new(json!({"ignored": true})),
            details: Arc::new(details),
        });
    }

    pub fn tool_end(
        &mut self,
        id: &str,
        name: &str,
        status: ToolStatus,
        text: &str,
        details: Details,
        ms: Option<u64>,
    ) {
        self.apply(AgentEvent::ToolEnd {
            call_id: id.to_owned(),
            name: name.to_owned(),
            status,
            content: vec![Content::text(text)],
            details: Arc::new(details),
            duration_ms: ms,
            rule: None,
        });
    }

    pub fn done(&mut self) {
        self.apply(AgentEvent::AgentEnd {
            totals: RunTotals::default(),
            messages: Vec::new().into(),
            outcome: RunOutcome::Done,
        });
    }
}

/// A buffer as text without trailing spaces.
pub fn picture(buffer: &Buffer) -> String {
    let area = buffer.area;
    let mut out = String::new();
    for y in 0..area.height {
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..area.width {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            skip = tiller::app::tui::text::width(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

pub fn grep_details() -> Details {
    Details::Matches(MatchesDetails {
        pattern: "verify_token".to_owned(),
        path: "src".to_owned(),
        lines: vec![
            "src/auth.rs:41: fn verify_token(&self, token: &str) -> bool {".to_owned(),
            "src/auth.rs-42-     token == self.token".to_owned(),
            "src/auth.rs:88:     if !self.verify_token(t) {".to_owned(),
        ],
        count: 2,
        ..MatchesDetails::default()
    })
}

pub fn edit_details() -> Details {
    Details::Diff(DiffDetails {
        path: "src/auth.rs".to_owned(),
        diff: " 40 impl Session {\n-41     fn verify_token(&self, token: &str) -> bool { token == self.token }\n+41     fn verify_token(&self, token: &str) -> bool {\n+42         constant_time_eq(token.as_bytes(), self.token.as_bytes())\n+43     }\n 44 }\n    ...\n 60 // the end".to_owned(),
        first_changed_line: Some(41),
        added: 3,
        removed: 1,
        old_lines: 60,
        new_lines: 62,
        files: Vec::new(),
        ..DiffDetails::default()
    })
}

pub fn command_details(lines: usize, ended: bool) -> Details {
    let output: Vec<_> = (1..=lines)
        .map(|line| format!("test auth::case_{line} ... ok"))
        .collect();
    Details::Command(CommandDetails {
        command: "cargo test auth".to_owned(),
        output: output.join("\n"),
        total_lines: lines as u64,
        exit_code: ended.then_some(0),
        duration_ms: ended.then_some(6_240),
        ..CommandDetails::default()
    })
}

pub fn read_details() -> Details {
    let text: Vec<_> = (30..60)
        .map(|line| format!("let value_{line} = {line};\t// 行"))
        .collect();
    Details::Text(TextDetails {
        path: "src/main.rs".to_owned(),
        text: text.join("\n"),
        first_line: 30,
        line_count: 30,
        total_lines: Some(400),
        note: None,
    })
}

pub fn find_details() -> Details {
    Details::Files(FilesDetails {
        pattern: "*.rs".to_owned(),
        path: "src".to_owned(),
        files: (0..30).map(|file| format!("src/file_{file}.rs")).collect(),
        truncated: true,
    })
}

/// One run with everything in it, as the agent sends it.
pub fn play(stage: &mut Stage) {
    stage.user("Fix the login bug in auth.rs; keep the tests green");
    stage.begin();
    stage.stream(StreamEvent::BlockStart {
        index: 0,
        block: Content::Thinking(Thinking::default()),
    });
    stage.stream(StreamEvent::BlockDelta {
        kind: BlockKind::Thinking,
        index: 0,
        delta: "Where are tokens **checked**?".to_owned(),
    });
    stage.wait(4_200);
    stage.stream(StreamEvent::BlockEnd {
        kind: BlockKind::Thinking,
        index: 0,
        signature: None,
    });
    stage.stream(StreamEvent::BlockStart {
        index: 1,
        block: Content::text(""),
    });
    stage.stream(StreamEvent::BlockDelta {
        kind: BlockKind::Text,
        index: 1,
        delta: "I'll look at how tokens are ".to_owned(),
    });
    stage.stream(StreamEvent::BlockDelta {
        kind: BlockKind::Text,
        index: 1,
        delta: "checked first.".to_owned(),
    });
    for (index, (id, name)) in CALLS.iter().enumerate() {
        let index = index + 2;
        stage.stream(StreamEvent::BlockStart {
            index,
            block: Content::ToolCall(ToolCall {
                id: (*id).to_owned(),
                name: (*name).to_owned(),
                ..ToolCall::default()
            }),
        });
        stage.stream(StreamEvent::BlockEnd {
            kind: BlockKind::ToolCall,
            index,
            signature: None,
        });
    }
    stage.end(content(), StopReason::ToolUse);
    for result in results() {
        stage.tool_start(&result.id, &result.name, result.details.clone());
        stage.tool_end(
            &result.id,
            &result.name,
            result.status,
            &result.text,
            result.details,
            result.ms,
        );
    }
    stage.say("Done: tokens are compared in **constant time** now.", 7);
    stage.done();
}

const CALLS: [(&str, &str); 7] = [
    ("c1", "grep"),
    ("c2", "read"),
    ("c3", "edit"),
    ("c4", "bash"),
    ("c5", "find"),
    ("c6", "bash"),
    ("c7", "edit"),
];

fn content() -> Vec<Content> {
    let mut content = vec![
        Content::Thinking(Thinking {
            thinking: "Where are tokens **checked**?".to_owned(),
            ..Thinking::default()
        }),
        Content::text("I'll look at how tokens are checked first."),
    ];
    content.extend(CALLS.map(|(id, name)| {
        Content::ToolCall(ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            // The screen must work without the arguments.
            arguments: json!({}),
            ..ToolCall::default()
        })
    }));
    content
}

struct CallResult {
    id: String,
    name: String,
    status: ToolStatus,
    text: String,
    details: Details,
    ms: Option<u64>,
}

fn results() -> Vec<CallResult> {
    let failed = Details::Command(CommandDetails {
        command: "cargo clippy --all-targets -- -D warnings".to_owned(),
        output: "error: unused variable\n".to_owned(),
        total_lines: 1,
        exit_code: Some(101),
        duration_ms: Some(900),
        ..CommandDetails::default()
    });
    let nothing = Details::Diff(DiffDetails {
        path: "src/lib.rs".to_owned(),
        ..DiffDetails::default()
    });
    [
        (ToolStatus::Ok, "", grep_details(), Some(12)),
        (ToolStatus::Ok, "", read_details(), Some(3)),
        (
            ToolStatus::Ok,
            "Successfully edited src/auth.rs",
            edit_details(),
            Some(8),
        ),
        (ToolStatus::Ok, "", command_details(14, true), Some(6_240)),
        (ToolStatus::Ok, "", find_details(), Some(41)),
        (ToolStatus::Error, "[exit code 101]", failed, Some(900)),
        (
            ToolStatus::Skipped,
            "Skipped due to user message.",
            nothing,
            None,
        ),
    ]
    .into_iter()
    .zip(CALLS)
    .map(|((status, text, details, ms), (id, name))| CallResult {
        id: id.to_owned(),
        name: name.to_owned(),
        status,
        text: text.to_owned(),
        details,
        ms,
    })
    .collect()
}

/// A conversation as a session gives it to the screen.
pub fn branch(messages: &[Arc<Message>]) -> Arc<SessionBranch> {
    let mut session = Session::unstored(Path::new("/w"));
    for message in messages {
        let message = Arc::clone(message);
        session.append(Body::Message { message });
    }
    Arc::new(session.branch())
}

/// The same run as `play`, as it is stored.
pub fn stored() -> Vec<Arc<Message>> {
    let assistant = |content: Vec<Content>, stop_reason| {
        Arc::new(Message::Assistant(AssistantMessage {
            content,
            stop_reason,
            ..AssistantMessage::default()
        }))
    };
    let mut messages = vec![
        Arc::new(Message::user(
            "Fix the login bug in auth.rs; keep the tests green",
            0,
        )),
        assistant(content(), StopReason::ToolUse),
    ];
    for result in results() {
        messages.push(Arc::new(Message::ToolResult(
            tiller::llm::ToolResultMessage {
                tool_call_id: result.id,
                tool_name: result.name,
                content: vec![Content::text(result.text)],
                details: Some(result.details.to_json()),
                is_error: result.status.is_error(),
                duration_ms: result.ms,
                timestamp: 0,
            },
        )));
    }
    messages.push(assistant(
        vec![Content::text(
            "Done: tokens are compared in **constant time** now.",
        )],
        StopReason::Stop,
    ));
    messages
}
