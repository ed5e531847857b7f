//! Pictures in whole frames: their background, and the cost of moving them.

use std::sync::Arc;

use image::{Rgba, RgbaImage};
use ratatui_core::layout::Size;
use ratatui_core::style::Color;
use tiller::agent::AgentEvent;
use tiller::app::manners::Images;
use tiller::app::tui::msg::Msg;
use tiller::app::tui::terminal::input::MouseEventKind;
use tiller::app::tui::terminal::screen_buffer::ScreenBuffer;
use tiller::llm::{Content, Message, UserMessage};

use super::app_kit::TestTui;
use super::pictures::{encode, image};

const SIZE: (u16, u16) = (60, 24);

fn say(tui: &mut TestTui, content: Vec<Content>) {
    let message = Arc::new(Message::User(UserMessage {
        content,
        origin: None,
        queue_id: None,
        timestamp: 0,
    }));
    tui.agent(AgentEvent::MessageStart { message });
}

/// The terminal moves a picture's rows, so a step of the wheel writes no more than over text.
#[test]
fn scrolling_a_picture_costs_what_scrolling_text_costs() {
    for wanted in [Images::Blocks, Images::Kitty] {
        let mut tui = TestTui::new(SIZE.0, SIZE.1);
        tui.app.graphics.cell = Some((10, 20));
        tui.app.graphics.wanted = wanted;
        tui.send(Msg::Resize(Size::new(SIZE.0, SIZE.1)));
        // Every pixel differs, so writing the picture again would be expensive.
        let noise = RgbaImage::from_fn(300, 120, |x, y| {
            Rgba([(x * 7 + y) as u8, (x + y * 5) as u8, (x * y) as u8, 255])
        });
        let picture = image(&encode(&noise, image::ImageFormat::Png));
        say(&mut tui, vec![Content::text("line\n\n".repeat(40))]);
        say(&mut tui, vec![Content::text("look"), picture]);
        say(&mut tui, vec![Content::text("line\n\n".repeat(5))]);
        tui.key("ctrl+end");
        tui.settle();
        let mut screen = ScreenBuffer::new(Size::new(SIZE.0, SIZE.1));
        let (whole, frame) = tui.bytes(&mut screen);
        assert_eq!(tui.outgoing().is_empty(), wanted == Images::Blocks);
        let parts = |it: &&ratatui_core::buffer::Cell| it.symbol().starts_with(['▀', '\u{10eeee}']);
        let shown = frame.content.iter().filter(parts).count();
        assert!(shown > 50, "the picture is on the screen: {shown}");
        for _ in 0..3 {
            tui.mouse(MouseEventKind::ScrollUp, 5, 3);
            tui.settle();
            assert!(tui.outgoing().is_empty(), "the picture is sent once");
            let (step, _) = tui.bytes(&mut screen);
            assert!(!step.is_empty());
            assert!(
                step.len() < 3_000 && step.len() * 3 < whole.len(),
                "{wanted:?}: {} of {} bytes",
                step.len(),
                whole.len()
            );
        }
    }
}

/// Transparent parts show the theme's background.
#[test]
fn transparent_pictures_show_the_themes_background() {
    let mut tui = TestTui::new(SIZE.0, SIZE.1);
    tui.app.graphics.wanted = Images::Blocks;
    tui.write("/theme gruvbox-light");
    tui.key("enter");
    let half = RgbaImage::from_pixel(20, 20, Rgba([0, 0, 0, 128]));
    let message = Arc::new(Message::User(UserMessage {
        content: vec![image(&encode(&half, image::ImageFormat::Png))],
        origin: None,
        queue_id: None,
        timestamp: 0,
    }));
    tui.agent(AgentEvent::MessageStart { message });
    tui.send(Msg::Resize(Size::new(SIZE.0, SIZE.1)));
    tui.settle();
    let (_, frame) = tui.bytes(&mut ScreenBuffer::new(Size::new(SIZE.0, SIZE.1)));
    let part = frame.content.iter().find(|cell| cell.symbol() == "▀");
    // The status line has the theme's background.
    let Some(Color::Rgb(r, g, b)) = frame.content.last().map(|cell| cell.bg) else {
        panic!("the theme must paint a background");
    };
    let [r, g, b] = [r, g, b].map(|channel| (u32::from(channel) * 127 / 255) as u8);
    assert_eq!(part.map(|cell| cell.fg), Some(Color::Rgb(r, g, b)));
}
