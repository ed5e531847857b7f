//! The cost of a stream, and whether it depends on the length of earlier text. Measures the fold of
//! a delta and the layout of a token at 1 KB and at 1 MB, a frame at 100 and at 100,000 lines, a
//! change of width, and scrolling over a picture. Also measures a long reply that comes at once:
//! prose, code, a table, a deep quote.
//!
//! `cargo bench --bench stream`

use std::fmt::Write as _;
use std::io::Cursor;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use divan::{Bencher, black_box};
use image::{ImageFormat, Rgba, RgbaImage};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use tiller::agent::tool::TextDetails;
use tiller::agent::{AgentEvent, Details, ToolStatus};
use tiller::app::tui::picture::{PictureLayout, Protocol};
use tiller::app::tui::theme::{ColorDepth, Theme};
use tiller::app::tui::transcript::{Drawn, ScrollBy, Transcript};
use tiller::app::tui::view::transcript::{TranscriptCache, draw};
use tiller::llm::{
    AssistantMessage, BlockKind, Content, Image, Message, StopReason, StreamEvent, UserMessage,
};

fn main() {
    divan::main();
}

const AREA: Rect = Rect::new(0, 0, 120, 40);

/// The kind of text in a reply.
#[derive(Clone, Copy, Debug)]
enum Text {
    Paragraphs,
    OneParagraph,
    Code,
    List,
    Table,
    DeepQuote,
}

const TEXTS: [Text; 6] = [
    Text::Paragraphs,
    Text::OneParagraph,
    Text::Code,
    Text::List,
    Text::Table,
    Text::DeepQuote,
];
const KB: usize = 1_000;
const MB: usize = 1_000_000;

impl Text {
    fn of_len(self, len: usize) -> String {
        let mut text = match self {
            Self::Code => "```rust\n".to_owned(),
            Self::Table => "| number | words |\n|---|---|\n".to_owned(),
            Self::DeepQuote => "> ".repeat(200) + "quoted\n",
            _ => String::new(),
        };
        let mut line = 0;
        while text.len() < len {
            line += 1;
            let _ = match self {
                Self::Paragraphs => text.write_str(
                    "A paragraph with *some* words, `code` and a [link](https://example.org).\n\n",
                ),
                Self::OneParagraph => {
                    text.write_str("words of one paragraph that does not end and ")
                }
                Self::Code => {
                    writeln!(
                        text,
                        "    let value_{line} = compute({line}, \"text\"); // why"
                    )
                }
                Self::List => writeln!(text, "- item {line} with **a few** words"),
                Self::Table => writeln!(text, "| {line} | a few words |"),
                Self::DeepQuote => writeln!(text, "line {line} of it\\"),
            };
        }
        text
    }

    /// The next piece, a token at a time.
    fn token(self, number: usize) -> &'static str {
        let tokens: &[&str] = match self {
            Self::Paragraphs => &["And", " more", " *words*", ".", "\n\n"],
            Self::OneParagraph => &["and", " more", " words", " ", "of it "],
            Self::Code => &["    let", " x", " = ", "1;", "\n"],
            Self::List => &["- and", " an", " item", " more", "\n"],
            Self::Table => &["| and", " a | ", "row", " |", "\n"],
            Self::DeepQuote => &["and", " a", " line", " more", "\\\n"],
        };
        tokens[number % tokens.len()]
    }
}

/// A transcript and everything that draws it.
struct Stage {
    transcript: Transcript,
    cache: TranscriptCache,
    theme: Theme,
    buffers: [Buffer; 2],
}

impl Stage {
    fn new(transcript: Transcript) -> Self {
        Self {
            transcript,
            cache: TranscriptCache::new(None),
            theme: Theme::load("dark", ColorDepth::TrueColor).expect("a built-in theme"),
            buffers: [Buffer::empty(AREA), Buffer::empty(AREA)],
        }
    }

    /// A transcript that already streamed `text` and will get more.
    fn streaming(text: &str) -> Self {
        let mut stage = Self::new(Transcript::new());
        let message = Arc::new(Message::Assistant(AssistantMessage::default()));
        stage
            .transcript
            .apply(&AgentEvent::MessageStart { message }, 0);
        stage.stream(StreamEvent::BlockStart {
            index: 0,
            block: Content::text(""),
        });
        for piece in text.as_bytes().chunks(4_096) {
            stage.delta(&String::from_utf8_lossy(piece));
            stage.frame(AREA);
        }
        stage
    }

    fn stream(&mut self, event: StreamEvent) {
        self.transcript
            .apply(&AgentEvent::MessageUpdate { event }, 0);
    }

    fn delta(&mut self, text: &str) {
        self.stream(StreamEvent::BlockDelta {
            kind: BlockKind::Text,
            index: 0,
            delta: text.to_owned(),
        });
    }

    /// Draws a frame and finds the changes, as the canvas does.
    fn frame(&mut self, area: Rect) -> usize {
        self.buffers.swap(0, 1);
        let [now, before] = &mut self.buffers;
        now.resize(area);
        now.reset();
        let drawn = draw(&self.transcript, &mut self.cache, area, now, &self.theme);
        self.transcript.after_draw(&drawn);
        if before.area == now.area {
            before.diff(now).len()
        } else {
            0
        }
    }
}

/// A conversation of about `lines` rows.
fn conversation(lines: usize) -> Transcript {
    let mut messages = Vec::new();
    for turn in 0..lines / 20 {
        messages.push(Arc::new(Message::user(
            format!("Prompt number {turn} of this conversation"),
            0,
        )));
        let mut text = format!("## Answer {turn}\n\nSome *words* first.\n\n```rust\n");
        for line in 0..8 {
            let _ = writeln!(text, "let value_{line} = {turn};");
        }
        text.push_str("```\n\n- one\n- two\n");
        messages.push(Arc::new(Message::Assistant(AssistantMessage {
            content: vec![Content::text(text)],
            stop_reason: StopReason::Stop,
            ..AssistantMessage::default()
        })));
    }
    let mut transcript = Transcript::new();
    for message in messages {
        let start = AgentEvent::MessageStart {
            message: Arc::clone(&message),
        };
        transcript.apply(&start, 0);
        transcript.apply(&AgentEvent::MessageEnd { message }, 0);
    }
    transcript.after_draw(&Drawn::default());
    transcript
}

/// Only the fold of one delta.
#[divan::bench(args = [KB, MB], sample_count = 50, sample_size = 1000)]
fn fold_of_a_delta(bencher: Bencher<'_, '_>, len: usize) {
    let mut stage = Stage::streaming(&Text::Paragraphs.of_len(len));
    let event = AgentEvent::MessageUpdate {
        event: StreamEvent::BlockDelta {
            kind: BlockKind::Text,
            index: 0,
            delta: "word ".to_owned(),
        },
    };
    bencher.bench_local(move || stage.transcript.apply(black_box(&event), 0));
}

/// One more token and the frame that shows it, with the difference to the previous frame.
#[divan::bench_group(sample_count = 200, sample_size = 10)]
mod frame_of_a_token {
    use super::*;

    fn run(bencher: Bencher<'_, '_>, text: Text, len: usize) {
        let mut stage = Stage::streaming(&text.of_len(len));
        let mut number = 0;
        bencher.bench_local(move || {
            number += 1;
            stage.delta(text.token(number));
            stage.frame(AREA)
        });
    }

    #[divan::bench(args = TEXTS)]
    fn at_1_kb(bencher: Bencher<'_, '_>, text: Text) {
        run(bencher, text, KB);
    }

    #[divan::bench(args = TEXTS)]
    fn at_1_mb(bencher: Bencher<'_, '_>, text: Text) {
        run(bencher, text, MB);
    }
}

/// A frame without changes.
#[divan::bench(args = [100, 100_000], sample_count = 200, sample_size = 10)]
fn frame(bencher: Bencher<'_, '_>, lines: usize) {
    let mut stage = Stage::new(conversation(lines));
    stage.frame(AREA);
    bencher.bench_local(move || stage.frame(AREA));
}

/// A frame of a run that read this many files in sequence, while more text arrives.
#[divan::bench(args = [10, 1_000], sample_count = 200, sample_size = 10)]
fn frame_of_looking(bencher: Bencher<'_, '_>, calls: usize) {
    let mut stage = Stage::new(Transcript::new());
    for call in 0..calls {
        let path = format!("src/folder/file{call}.rs");
        let details = Details::Text(TextDetails {
            path,
            text: "one\ntwo".to_owned(),
            first_line: 1,
            line_count: 2,
            ..TextDetails::default()
        });
        let end = AgentEvent::ToolEnd {
            call_id: call.to_string(),
            name: "read".to_owned(),
            status: ToolStatus::Ok,
            content: Vec::new(),
            details: Arc::new(details),
            duration_ms: Some(3),
            rule: None,
        };
        stage.transcript.apply(&end, 0);
    }
    let message = Arc::new(Message::Assistant(AssistantMessage::default()));
    stage
        .transcript
        .apply(&AgentEvent::MessageStart { message }, 0);
    stage.stream(StreamEvent::BlockStart {
        index: 0,
        block: Content::text(""),
    });
    stage.frame(AREA);
    bencher.bench_local(move || {
        stage.delta("word ");
        stage.frame(AREA)
    });
}

/// A frame that scrolls by three rows, back and forth.
#[divan::bench(args = [100, 100_000], sample_count = 200, sample_size = 10)]
fn frame_with_scrolling(bencher: Bencher<'_, '_>, lines: usize) {
    let mut stage = Stage::new(conversation(lines));
    stage.frame(AREA);
    let mut rows = -3;
    bencher.bench_local(move || {
        stage.transcript.scroll(ScrollBy::Rows(rows));
        rows = -rows;
        stage.frame(AREA)
    });
}

/// The same over a picture. kitty gets the picture once, and other terminals get half blocks.
#[divan::bench(args = ["kitty", "blocks"], sample_count = 200, sample_size = 10)]
fn scrolling_over_a_picture(bencher: Bencher<'_, '_>, protocol: &str) {
    let noise = RgbaImage::from_fn(1_400, 900, |x, y| {
        Rgba([(x * 7) as u8, (y * 5) as u8, (x * y) as u8, 255])
    });
    let mut png = Cursor::new(Vec::new());
    noise.write_to(&mut png, ImageFormat::Png).expect("memory");
    let image = Image {
        data: BASE64_STANDARD.encode(png.into_inner()),
        mime_type: "image/png".into(),
    };
    let message = Arc::new(Message::User(UserMessage {
        content: vec![Content::text("look"), Content::Image(image)],
        origin: None,
        queue_id: None,
        timestamp: 0,
    }));
    let mut stage = Stage::new(conversation(100));
    let start = AgentEvent::MessageStart {
        message: Arc::clone(&message),
    };
    stage.transcript.apply(&start, 0);
    stage
        .transcript
        .apply(&AgentEvent::MessageEnd { message }, 0);
    stage.transcript.set_pictures(Some(PictureLayout {
        protocol: match protocol {
            "kitty" => Protocol::Kitty,
            _ => Protocol::Blocks,
        },
        cell: (10, 20),
        rows: 16,
        ground: (0, 0, 0),
        depth: ColorDepth::TrueColor,
    }));
    stage.frame(AREA);
    while stage.cache.pictures.is_busy() {
        stage.cache.poll();
    }
    let mut rows = -3;
    bencher.bench_local(move || {
        stage.transcript.scroll(ScrollBy::Rows(rows));
        rows = -rows;
        stage.frame(AREA)
    });
}

/// The first frame of a resumed conversation.
#[divan::bench(args = [100, 100_000], sample_count = 20)]
fn first_frame(bencher: Bencher<'_, '_>, lines: usize) {
    bencher
        .with_inputs(|| Stage::new(conversation(lines)))
        .bench_local_values(|mut stage| {
            stage.frame(AREA);
            stage
        });
}

/// The frame after a change of width.
#[divan::bench(args = [100, 100_000], sample_count = 50)]
fn change_of_width(bencher: Bencher<'_, '_>, lines: usize) {
    let mut stage = Stage::new(conversation(lines));
    stage.frame(AREA);
    stage.transcript.scroll(ScrollBy::Pages(-2));
    stage.frame(AREA);
    let mut width = 120;
    bencher.bench_local(move || {
        width = if width == 120 { 100 } else { 120 };
        stage.frame(Rect::new(0, 0, width, 40))
    });
}

/// 200 KB that arrive between two frames and end the message.
#[divan::bench(args = TEXTS, sample_count = 20)]
fn reply_of_200_kb_at_once(bencher: Bencher<'_, '_>, text: Text) {
    let reply = text.of_len(200 * KB);
    bencher
        .with_inputs(|| Stage::streaming(""))
        .bench_local_values(|mut stage| {
            stage.delta(&reply);
            stage.frame(AREA);
            let message = Arc::new(Message::Assistant(AssistantMessage {
                content: vec![Content::text(reply.as_str())],
                stop_reason: StopReason::Stop,
                ..AssistantMessage::default()
            }));
            stage
                .transcript
                .apply(&AgentEvent::MessageEnd { message }, 0);
            stage.frame(AREA);
            stage
        });
}
