//! The keys of an open trial: what is typed is never an answer, and no letter is lost.

use std::sync::Arc;

use serde_json::json;
use tiller::agent::trial::Trial;
use tiller::agent::{AgentEvent, TrialEvent};
use tiller::app::tui::effect::{Effect, TrialEffect};
use tiller::app::tui::input::InputEvent;
use tiller::app::tui::msg::Msg;

use super::app_kit::TestTui;

pub(super) fn trial() -> AgentEvent {
    let trial: Trial = serde_json::from_value(json!({
        "id": "t", "session": "/s/own.jsonl", "cwd": "/home/me/shop", "root": "/home/me/shop",
        "tree": "/try/t/shop", "folder": "/try/t", "commonDir": "/home/me/shop/.git", "gitDir": "/g",
    }))
    .unwrap();
    AgentEvent::Trial(TrialEvent::Open(Arc::new(trial)))
}

fn open_trial() -> TestTui {
    let mut tui = TestTui::new(80, 24);
    tui.agent(trial());
    assert!(tui.frame().contains("d discards"));
    tui
}

#[test]
fn only_enter_ends_a_trial_after_its_key() {
    for (key, ends) in [("k", TrialEffect::Keep), ("d", TrialEffect::Discard)] {
        let mut tui = open_trial();
        assert_eq!(tui.key(key), []);
        assert!(tui.frame().contains("the trial?"));
        assert_eq!(tui.key("esc"), []);
        assert_eq!(tui.text(), "");
        tui.key(key);
        assert_eq!(tui.key("enter"), [Effect::Trial(ends)]);
        assert_eq!(tui.text(), "");
    }
}

#[test]
fn no_trial_seems_to_begin_when_the_agent_is_gone() {
    let mut tui = TestTui::new(80, 24);
    tui.send(Msg::AgentGone);
    tui.write("/try it");
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "/try it");
    assert!(!tui.app.is_running());
}

#[test]
fn words_that_begin_with_the_keys_of_a_trial_are_written() {
    let ends = |effect: &Effect| matches!(effect, Effect::Trial(_));
    for word in ["dynamic", "dn", "dd", "know", "ky", "kk", "keep"] {
        let mut tui = open_trial();
        for letter in word.chars() {
            let effects = tui.key(&letter.to_string());
            assert!(!effects.iter().any(ends), "{word}: {effects:?}");
        }
        assert_eq!(tui.text(), word);
    }
    let mut tui = open_trial();
    tui.key("d");
    tui.send(Msg::Input(InputEvent::Paste("o it".into())));
    assert_eq!(tui.text(), "do it");
    let mut tui = open_trial();
    tui.key("d");
    tui.key("backspace");
    assert_eq!(tui.text(), "");
    assert!(!tui.frame().contains("the trial?"));
}
