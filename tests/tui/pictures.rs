//! Pictures in the conversation: their place, their content, and files that aren't pictures.

use std::io::Cursor;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::Color;
use tiller::agent::AgentEvent;
use tiller::agent::ToolStatus;
use tiller::agent::tool::{Details, TextDetails};
use tiller::app::tui::picture::{PictureLayout, Protocol};
use tiller::app::tui::text::link::LinkTable;
use tiller::app::tui::theme::ColorDepth;
use tiller::app::tui::transcript::{CellClass, Fold, Unit};
use tiller::app::tui::view::transcript::{Printed, Ready, print, unprinted};
use tiller::llm::{Content, Image, Message, ToolResultMessage, UserMessage};

use super::transcript_support::{Stage, picture as text_of};

/// A picture of four squares: red, green, blue and transparent.
pub fn fields(width: u32, height: u32) -> RgbaImage {
    RgbaImage::from_fn(width, height, |x, y| {
        match (x < width / 2, y < height / 2) {
            (true, true) => Rgba([200, 0, 0, 255]),
            (false, true) => Rgba([0, 200, 0, 255]),
            (true, false) => Rgba([0, 0, 200, 255]),
            (false, false) => Rgba([90, 90, 90, 0]),
        }
    })
}

pub fn encode(picture: &RgbaImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    let picture = DynamicImage::ImageRgba8(picture.clone());
    let picture = match format {
        ImageFormat::Jpeg => DynamicImage::ImageRgb8(picture.to_rgb8()),
        _ => picture,
    };
    picture
        .write_to(&mut Cursor::new(&mut bytes), format)
        .unwrap();
    bytes
}

pub fn png(width: u32, height: u32) -> Vec<u8> {
    encode(&fields(width, height), ImageFormat::Png)
}

pub fn image(bytes: &[u8]) -> Content {
    Content::Image(Image {
        data: BASE64_STANDARD.encode(bytes),
        mime_type: "image/png".into(),
    })
}

/// A file whose header claims this size.
fn claiming(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png(4, 4);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let mut crc = u32::MAX;
    for byte in &bytes[12..29] {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (0_u32.wrapping_sub(crc & 1)));
        }
    }
    bytes[29..33].copy_from_slice(&(!crc).to_be_bytes());
    bytes
}

pub fn layout(protocol: Protocol) -> PictureLayout {
    PictureLayout {
        protocol,
        cell: (10, 20),
        rows: 16,
        ground: (0, 0, 0),
        depth: ColorDepth::TrueColor,
    }
}

impl Stage {
    pub fn pictures(&mut self, protocol: Protocol) {
        self.transcript.set_pictures(Some(layout(protocol)));
    }

    fn prompt(&mut self, content: Vec<Content>) {
        let message = Arc::new(Message::User(UserMessage {
            content,
            origin: None,
            queue_id: None,
            timestamp: 0,
        }));
        self.apply(AgentEvent::MessageStart { message });
    }

    /// A `read` call that returned a picture.
    fn read_picture(&mut self, path: &str, bytes: &[u8]) {
        self.read_picture_and_text(path, bytes, "");
    }

    /// The same with a text, as in sessions of other programs.
    fn read_picture_and_text(&mut self, path: &str, bytes: &[u8], text: &str) {
        let details = Arc::new(Details::Text(TextDetails {
            path: path.into(),
            text: text.into(),
            note: Some("image/png 40x40".into()),
            ..TextDetails::default()
        }));
        let content = vec![Content::text("Picture"), image(bytes)];
        let call_id = format!("read {path}");
        self.apply(AgentEvent::ToolEnd {
            call_id: call_id.clone(),
            name: "read".into(),
            status: ToolStatus::Ok,
            content: content.clone(),
            details,
            duration_ms: Some(1),
            rule: None,
        });
        let message = Arc::new(Message::ToolResult(ToolResultMessage {
            tool_call_id: call_id,
            tool_name: "read".into(),
            content,
            details: None,
            is_error: false,
            duration_ms: None,
            timestamp: 0,
        }));
        self.apply(AgentEvent::MessageEnd { message });
    }

    /// Draws until all pictures have loaded.
    fn settle(&mut self) -> Buffer {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let (_, buffer) = self.draw();
            if !self.cache.pictures.is_busy() {
                return buffer;
            }
            while !self.cache.poll() {
                assert!(Instant::now() < deadline, "the picture never arrived");
                std::thread::yield_now();
            }
        }
    }
}

/// The first row that contains `what`.
fn find(text: &str, what: &str) -> usize {
    let found = text.lines().position(|line| line.contains(what));
    found.unwrap_or_else(|| panic!("no {what} in\n{text}"))
}

#[test]
fn a_picture_is_below_its_text_as_half_blocks() {
    let mut stage = Stage::new(60, 30);
    stage.pictures(Protocol::Blocks);
    stage.prompt(vec![
        Content::text("Look at @docs/fields.png here"),
        image(&png(40, 40)),
    ]);
    stage.say("I see it.", 100);
    // The space is reserved before the picture loads.
    let before = stage.text();
    let buffer = stage.settle();
    let after = text_of(&buffer);
    let caption = find(&after, "▣ fields.png  40x40  ");
    assert_eq!(find(&before, "I see it."), find(&after, "I see it."));
    assert_eq!(find(&after, "I see it."), caption + 16 + 2);
    // Red and green at the top, blue and nothing below.
    let (top, left) = (caption as u16 + 1, 3);
    let cell = |x: u16, y: u16| buffer[(left + x, top + y)].clone();
    let pixel = |x: u16, y: u16| (cell(x, y).symbol().to_owned(), cell(x, y).fg, cell(x, y).bg);
    let full = |color| ("▀".to_owned(), color, color);
    assert_eq!(pixel(0, 0), full(Color::Rgb(200, 0, 0)));
    assert_eq!(pixel(31, 0), full(Color::Rgb(0, 200, 0)));
    assert_eq!(pixel(0, 15), full(Color::Rgb(0, 0, 200)));
    assert_eq!(cell(31, 15).symbol(), " ");
    assert_eq!(cell(32, 0).symbol(), " ");
}

#[test]
fn a_picture_is_resized_with_the_screen_and_by_a_click() {
    let mut stage = Stage::new(80, 60);
    stage.pictures(Protocol::Blocks);
    stage.prompt(vec![Content::text("wide"), image(&png(400, 100))]);
    let columns = |stage: &mut Stage| {
        let buffer = stage.settle();
        let blocks = |y: u16| {
            let row = (0..buffer.area.width).filter(|x| buffer[(*x, y)].symbol() == "▀");
            row.count()
        };
        (0..buffer.area.height).map(blocks).max().unwrap()
    };
    assert_eq!(columns(&mut stage), 76);
    stage.width = 50;
    assert_eq!(columns(&mut stage), 46);
    stage.width = 20;
    assert_eq!(columns(&mut stage), 16);
    // A tall picture is cropped until it is opened.
    let mut stage = Stage::new(80, 60);
    stage.pictures(Protocol::Blocks);
    stage.prompt(vec![Content::text("high"), image(&png(100, 100))]);
    assert_eq!(columns(&mut stage), 32);
    let row = find(&stage.text(), "▀") as u16;
    assert!(stage.transcript.toggle_at(row));
    assert_eq!(columns(&mut stage), 64);
}

#[test]
fn a_read_that_returned_a_picture_has_its_own_cell() {
    let mut stage = Stage::new(80, 40);
    for shows in [false, true] {
        stage = Stage::new(80, 40);
        if shows {
            stage.pictures(Protocol::Blocks);
        }
        for path in ["a.png", "b.png"] {
            stage.read_picture(path, &png(8, 8));
        }
        let text = text_of(&stage.settle());
        // Read-only calls are grouped, except those that returned a picture.
        assert_eq!(text.contains("explored"), !shows, "{text}");
        assert_eq!(text.contains('▀'), shows, "{text}");
        if shows {
            assert!(text.contains("✓ read  a.png  image/png 40x40"), "{text}");
            assert_eq!(find(&text, "b.png"), find(&text, "a.png") + 4 + 2);
        }
    }
    stage.transcript.set_all(CellClass::Tool, Fold::Open);
    assert!(text_of(&stage.settle()).contains('▀'));
}

/// A picture is copied and searched as its caption.
#[test]
fn a_picture_is_copied_and_found_by_its_caption() {
    let mut stage = Stage::new(60, 60);
    stage.pictures(Protocol::Blocks);
    let caption = format!("▣ fields.png  8x8  {} B", png(8, 8).len());
    stage.prompt(vec![
        Content::text("first @fields.png\nsecond"),
        image(&png(8, 8)),
    ]);
    stage.read_picture("x/fields.png", &png(8, 8));
    stage.settle();
    let copied = |stage: &mut Stage, from: (u16, u16), to: (u16, u16)| {
        let [begin, end] = [from, to].map(|(x, y)| stage.transcript.spot(x, y));
        stage.transcript.select(begin, Unit::Character);
        stage.transcript.select_to(end);
        stage.transcript.copy_selection();
        stage.draw_once().0.copied.map(|it| it.text).unwrap()
    };
    let whole = format!("first @fields.png\nsecond\n{caption}");
    assert_eq!(copied(&mut stage, (0, 0), (50, 5)), whole);
    // From the middle of the picture to its end.
    assert_eq!(copied(&mut stage, (4, 4), (8, 6)), caption);
    let title = find(&stage.text(), "✓ read") as u16;
    let both = copied(&mut stage, (1, title), (50, title + 3));
    assert_eq!(
        both,
        format!("read  x/fields.png  image/png 40x40\n{caption}")
    );
}

/// At the end, pictures that were never on the screen are printed too.
#[test]
fn printing_the_last_rows_waits_for_their_pictures() {
    let mut stage = Stage::new(60, 40);
    stage.pictures(Protocol::Blocks);
    for side in [10, 12, 14, 16, 18] {
        stage.read_picture(&format!("{side}.png"), &png(side, side));
    }
    let printed = |stage: &mut Stage| {
        let (transcript, cache) = (&stage.transcript, &mut stage.cache);
        let before = Printed::before(transcript);
        let found = unprinted(transcript, cache, &stage.theme, 60, before, Ready::All);
        let rows = print(
            &found.rows,
            transcript,
            cache,
            &mut LinkTable::default(),
            60,
        );
        (0..rows.area.height)
            .filter(|y| rows[(5, *y)].symbol() == "▀")
            .count()
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        // `be_patient` waits up to a second, which may be too short on a busy machine.
        stage.cache.pictures.be_patient();
        if printed(&mut stage) == 5 + 6 + 7 + 8 + 9 {
            break;
        }
        assert!(Instant::now() < deadline, "a picture was not waited for");
    }
}

/// Text that came with a picture is copied once.
#[test]
fn a_picture_below_a_text_is_not_copied_with_it() {
    for bytes in [png(8, 8), b"no picture".to_vec()] {
        let mut stage = Stage::new(60, 40);
        stage.pictures(Protocol::Blocks);
        stage.read_picture_and_text("a.png", &bytes, "Read image file [image/png]");
        let text = text_of(&stage.settle());
        let row = find(&text, "Read image file") as u16;
        let [begin, end] = [(0, row), (50, row + 3)].map(|(x, y)| stage.transcript.spot(x, y));
        stage.transcript.select(begin, Unit::Character);
        stage.transcript.select_to(end);
        stage.transcript.copy_selection();
        let copied = stage.draw_once().0.copied.map(|it| it.text).unwrap();
        assert_eq!(copied.matches("Read image").count(), 1, "{copied}\n{text}");
        assert!(!copied.contains('▀'), "{copied}");
    }
}

/// The color of a placeholder cell identifies its picture, so the caret must replace the cell.
#[test]
fn the_caret_on_a_picture_replaces_its_cell() {
    let is_part = |cell: &Cell| cell.symbol().starts_with('\u{10eeee}');
    let mut stage = Stage::new(60, 40);
    stage.pictures(Protocol::Kitty);
    stage.read_picture("a.png", &png(100, 100));
    stage.settle();
    assert!(stage.transcript.begin_caret());
    let (drawn, buffer) = stage.draw_once();
    let (x, y) = drawn.caret_at.unwrap();
    assert!(is_part(&buffer[(x + 1, y)]), "{}", text_of(&buffer));
    assert!(!is_part(&buffer[(x, y)]));
}

/// Any bytes that aren't a picture get a single line that says what they are.
#[test]
fn files_that_are_not_pictures_are_reported() {
    let good = png(300, 300);
    let damaged = [&good[..good.len() / 2], &[0xff; 400]].concat();
    let cases: [(&str, Vec<u8>, &str); 10] = [
        ("nothing", Vec::new(), "not shown: unknown image"),
        (
            "text",
            b"hello, I am a text".to_vec(),
            "not shown: unknown image",
        ),
        (
            "only a head",
            good[..20].to_vec(),
            "not shown: unknown image",
        ),
        (
            "truncated",
            good[..good.len() / 2].to_vec(),
            "the file is damaged",
        ),
        ("damaged", damaged, "the file is damaged"),
        ("no pixels", claiming(0, 0), "not shown"),
        ("no width", claiming(0, 7), "not shown"),
        ("a bomb", claiming(20_000, 20_000), "20000x20000"),
        (
            "the largest",
            claiming(u32::MAX >> 1, u32::MAX >> 1),
            "not shown",
        ),
        ("more than that", claiming(1 << 31, 1 << 31), "not shown"),
    ];
    for (name, bytes, expected) in cases {
        for protocol in [Protocol::Blocks, Protocol::Kitty] {
            let mut stage = Stage::new(80, 40);
            stage.pictures(protocol);
            stage.prompt(vec![Content::text("look"), image(&bytes)]);
            stage.read_picture("x.png", &bytes);
            let text = text_of(&stage.settle());
            assert!(text.contains(expected), "{name} by {protocol:?}:\n{text}");
            assert!(!text.contains('▀'), "{name}");
            assert!(stage.cache.pictures.take_outgoing().is_empty(), "{name}");
        }
    }
    // Not even base64.
    let mut stage = Stage::new(80, 20);
    stage.pictures(Protocol::Blocks);
    for data in ["", "=", "\u{1b}[2J", "ÄÖÜ", "A", "AAAA====AAAA"] {
        stage.prompt(vec![Content::Image(Image {
            data: data.into(),
            mime_type: "image/png\u{1b}]0;x\u{7}".into(),
        })]);
    }
    let text = text_of(&stage.settle());
    assert!(
        !text.contains('\u{1b}') && text.contains("not shown"),
        "{text}"
    );
}

/// Every picture format that models support is shown upright.
#[test]
fn every_kind_of_picture_is_shown() {
    for format in [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::Gif,
        ImageFormat::WebP,
        ImageFormat::Bmp,
    ] {
        let mut stage = Stage::new(60, 30);
        stage.pictures(Protocol::Blocks);
        stage.prompt(vec![image(&encode(&fields(64, 32), format))]);
        let text = text_of(&stage.settle());
        assert!(
            text.contains("64x32") && text.contains('▀'),
            "{format:?}\n{text}"
        );
    }
}
