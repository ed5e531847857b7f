//! An open trial: typing never ends it, and no letter is lost.

use std::sync::Arc;

use serde_json::json;
use tiller::agent::trial::Trial;
use tiller::agent::{AgentEvent, QueueKind, RunState, TrialEvent};
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::Msg;

use super::app_kit::{TestTui, prompt, queued, run_command};

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
    let frame = tui.frame();
    assert!(frame.contains("/keep · /discard"), "{frame}");
    let place = "Your own ! commands still run in ~/shop";
    assert!(frame.contains(place), "{frame}");
    tui
}

#[test]
fn only_its_commands_end_a_trial() {
    for typed in ["/keep", "/discard"] {
        let mut tui = open_trial();
        // The model asked "a, b, c or d?".
        for letter in ["d", "k"] {
            tui.write(letter);
            tui.now += 1000;
            assert_eq!(tui.key("enter"), [prompt(letter)]);
            tui.state(RunState::Idle);
        }
        tui.write(typed);
        assert_eq!(tui.key("enter"), [run_command(typed)]);
    }
}

#[test]
fn a_trial_that_did_not_begin_returns_as_its_command() {
    let mut tui = TestTui::new(80, 24);
    let messages = queued(QueueKind::Trial, &["repair it"]);
    let id = messages[0].id;
    let waits = AgentEvent::QueueUpdate {
        steering: Vec::new(),
        follow_up: messages.clone(),
    };
    assert_eq!(tui.agent(waits.clone()), [Effect::TakeBack(Some(id))]);
    assert!(tui.frame().contains("▸ try    repair it"));
    tui.agent(AgentEvent::QueueReturned { messages, to: 0 });
    assert_eq!(tui.text(), "/try repair it");
    // Only the program's own screen does that.
    tui.app.start.client = 1;
    assert_eq!(tui.agent(waits), []);
}

#[test]
fn no_trial_starts_when_the_agent_has_stopped() {
    let mut tui = TestTui::new(80, 24);
    tui.send(Msg::AgentGone);
    tui.write("/try it");
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "/try it");
    assert!(!tui.app.is_running());
}
