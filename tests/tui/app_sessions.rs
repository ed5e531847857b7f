//! Going on with another session from the screen.

use std::path::PathBuf;
use std::sync::Arc;

use tiller::agent::{AgentEvent, RunState};
use tiller::app::sessions::SessionRow;
use tiller::app::tui::app::SessionInfo;
use tiller::app::tui::effect::Effect;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::llm::Message;

use super::app_kit::TestTui;

fn test_tui() -> TestTui {
    TestTui::new(80, 24)
}

fn stored() -> TestTui {
    let mut tui = test_tui();
    tui.app.status.session = Some(SessionInfo {
        name: None,
        file: "/s/own.jsonl".into(),
    });
    tui
}

fn row(name: &str, title: &str, is_open: bool, now: i64) -> SessionRow {
    SessionRow {
        path: format!("/s/{name}.jsonl").into(),
        title: title.into(),
        changed: now - 3 * 3_600_000,
        is_open,
    }
}

fn list(tui: &mut TestTui) {
    tui.write("/resume");
    assert_eq!(tui.key("enter"), [Effect::ListSessions]);
    assert!(tui.frame().contains("Reading…"));
    let now = tui.now;
    let rows = vec![
        row("own", "This one", true, now),
        row("a", "Fix the login", false, now),
        row("b", "Write the docs", true, now),
    ];
    tui.send(Msg::Done(EffectResult::Sessions(Ok(rows))));
}

#[test]
fn another_session_is_chosen_from_the_list() {
    let mut tui = stored();
    list(&mut tui);
    let frame = tui.frame();
    assert!(
        frame.contains("Fix the login") && frame.contains("3 h"),
        "{frame}"
    );
    assert!(frame.contains("open elsewhere"), "{frame}");
    assert!(
        !frame.contains("This one"),
        "the own one is open already: {frame}"
    );
    tui.write("docs WRITE");
    let chosen = Effect::OpenSession(Some(PathBuf::from("/s/b.jsonl")));
    assert_eq!(tui.key("enter"), [chosen]);
    assert!(tui.app.overlays.is_empty());

    tui.agent(AgentEvent::SessionOpened {
        messages: vec![Arc::new(Message::user("Write the docs", 1))],
        path: Some("/s/b.jsonl".into()),
        name: Some("Docs".into()),
    });
    assert!(tui.frame().contains("❯ Write the docs"));
    assert_eq!(
        tui.app.status.session.as_ref().unwrap().file,
        PathBuf::from("/s/b.jsonl")
    );
    let opened = EffectResult::Opened(vec!["cut off".into()], Some("lab/other".into()));
    let effects = tui.send_all(Msg::Done(opened));
    assert_eq!(effects, [Effect::FindModel("lab/other".into())]);
    assert!(tui.frame().contains("cut off"));
}

#[test]
fn a_new_session_begins_unless_something_runs_or_nothing_is_stored() {
    let mut tui = stored();
    tui.write("/new");
    assert_eq!(tui.key("enter"), [Effect::OpenSession(None)]);
    tui.state(RunState::Running {
        phase: tiller::agent::Phase::Requesting,
    });
    tui.write("/new");
    assert_eq!(tui.key("enter"), []);
    assert!(tui.frame().contains("stops it"));

    let mut unstored = test_tui();
    unstored.app.status.session = None;
    unstored.write("/resume");
    assert_eq!(unstored.key("enter"), []);
    assert!(unstored.frame().contains("Nothing is stored"));
}

#[test]
fn a_folder_that_cannot_be_read_is_told() {
    let mut tui = stored();
    tui.write("/resume");
    tui.key("enter");
    tui.send(Msg::Done(EffectResult::Sessions(Err("/s: denied".into()))));
    assert!(tui.app.overlays.is_empty());
    assert!(tui.frame().contains("/s: denied"));
}

#[test]
fn a_session_gets_a_name_and_loses_it() {
    let mut tui = stored();
    tui.write("/name  Login and docs ");
    let named = Effect::NameSession("Login and docs".into());
    assert_eq!(tui.key("enter"), [named]);
    assert!(tui.frame().contains("Login and docs"));
    tui.write("/name");
    assert_eq!(tui.key("enter"), [Effect::NameSession(String::new())]);
    assert!(!tui.frame().contains("Login and docs"));
}
