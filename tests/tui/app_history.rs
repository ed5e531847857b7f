//! Searching earlier prompts.

use insta::assert_snapshot;
use tiller::app::tui::composer::History;
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::{EffectResult, Msg};

use super::app_kit::TestTui;

/// A screen with these prompts in its history, the oldest first.
fn test_tui(prompts: &[&str]) -> TestTui {
    let mut tui = TestTui::new(80, 24);
    let prompts = prompts.iter().map(|prompt| (*prompt).to_owned()).collect();
    tui.send(Msg::Done(EffectResult::History(History::new(prompts))));
    tui
}

const PROMPTS: [&str; 6] = [
    "Fix the login bug in auth.rs",
    "Explain this:\n\nfn main() {\n    login(\"me\");\n    run();\n}\n\nand say what it prints",
    "Write a changelog",
    "fix the login BUG in auth.rs",
    "Fix the login bug in auth.rs",
    "List the open files",
];

#[test]
fn search_marks_its_matches_and_shows_long_prompts() {
    let mut tui = test_tui(&PROMPTS);
    tui.key("ctrl+r");
    assert_snapshot!("history_all", tui.frame());
    tui.write("login");
    tui.key("up");
    tui.key("up");
    assert_snapshot!("history_words", tui.styled_frame());
    tui.key("ctrl+u");
    tui.write("wrchl");
    assert_snapshot!("history_letters", tui.frame());
    tui.key("ctrl+u");
    tui.write("lgnbugz");
    assert!(tui.frame().contains("No match"));
    tui.key("ctrl+u");
    tui.write("prints fn");
    assert_eq!(tui.key("enter"), [Effect::Warm]);
    assert_eq!(tui.text(), PROMPTS[1]);
}

#[test]
fn it_fits_every_size() {
    for (width, height) in [(40, 10), (20, 6), (200, 60), (3, 2)] {
        let mut tui = test_tui(&PROMPTS);
        tui.app.size = (width, height).into();
        tui.key("ctrl+r");
        tui.write("o");
        tui.frame();
    }
}
