//! `/context`: what fills the context window, and how to free space.

use tiller::agent::{ContextKind, ContextPart, ContextUsage};
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::{EffectResult, Msg};

use super::app_kit::*;

pub(super) fn usage() -> ContextUsage {
    let parts = [
        (ContextKind::Prompt, 1_240, 0),
        (ContextKind::Tools, 2_100, 9),
        (ContextKind::Instructions, 3_000, 1),
        (ContextKind::Summaries, 1_800, 1),
        (ContextKind::User, 12_000, 14),
        (ContextKind::Replies, 19_900, 61),
        (ContextKind::Thinking, 300, 3),
        (ContextKind::Results, 46_000, 58),
    ];
    let part = |(kind, tokens, count)| ContextPart {
        kind,
        tokens,
        count,
    };
    ContextUsage {
        model: "anthropic/claude-sonnet-5-5".to_owned(),
        is_first: false,
        window: 200_000,
        limit: Some(160_000),
        total: 86_340,
        parts: parts.map(part).into(),
        files: vec![
            "/home/me/shop/AGENTS.md".to_owned(),
            "/etc/AGENTS.md".to_owned(),
        ],
        after_compaction: Some(25_100),
        old_results: 31_000,
    }
}

#[test]
fn the_parts_of_the_context_window_are_shown() {
    for (name, usage) in [
        ("full", usage()),
        (
            "unknown",
            ContextUsage {
                window: 0,
                limit: None,
                after_compaction: None,
                old_results: 0,
                ..usage()
            },
        ),
        (
            "first",
            ContextUsage {
                is_first: true,
                after_compaction: None,
                old_results: 0,
                ..usage()
            },
        ),
        ("empty", ContextUsage::default()),
    ] {
        let mut tui = TestTui::new(80, 30);
        tui.write("/context");
        assert_eq!(tui.key("enter"), [Effect::ReadContext]);
        assert!(tui.frame().contains("Counting…"));
        tui.send(Msg::Done(EffectResult::Context(Some(usage))));
        insta::assert_snapshot!(format!("context_{name}"), tui.frame());
        tui.key("esc");
        assert!(tui.app.overlays.is_empty());
    }
}
