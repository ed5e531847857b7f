//! Going on with another session from the screen.

use std::path::PathBuf;
use std::sync::Arc;

use tiller::agent::session::SessionState;
use tiller::agent::{AgentEvent, RunOutcome, RunState};
use tiller::app::sessions::{Choice, Refusal, Refused, SessionRow, SessionScope};
use tiller::app::tui::app::SessionInfo;
use tiller::app::tui::effect::Effect;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::llm::Message;

use super::app_kit::TestTui;
use super::transcript_support::branch;

fn test_tui() -> TestTui {
    TestTui::new(80, 24)
}

fn stored() -> TestTui {
    let mut tui = test_tui();
    tui.app.status.session = Some(SessionInfo {
        file: "/s/own.jsonl".into(),
        ..SessionInfo::default()
    });
    tui
}

fn row(name: &str, title: &str, state: SessionState, now: i64) -> SessionRow {
    SessionRow {
        path: format!("/s/{name}.jsonl").into(),
        id: name.into(),
        name: None,
        title: title.into(),
        cwd: "/home/me/shop".into(),
        changed: now - 3 * 3_600_000,
        size: 1000,
        state,
    }
}

fn list(tui: &mut TestTui) {
    tui.write("/resume");
    assert_eq!(
        tui.key("enter"),
        [Effect::ListSessions(SessionScope::Folder)]
    );
    assert!(tui.frame().contains("Reading…"));
    let now = tui.now;
    let rows = vec![
        row("own", "This one", SessionState::Idle, now),
        row("a", "Fix the login", SessionState::Closed, now),
        row("b", "Write the docs", SessionState::Idle, now),
    ];
    tui.send(Msg::Done(EffectResult::Sessions(Ok(rows))));
}

fn opened(first_prompt: &str, name: Option<&str>) -> AgentEvent {
    AgentEvent::SessionOpened {
        messages: Vec::new(),
        branch: branch(&[Arc::new(Message::user(first_prompt, 1))]),
        path: Some("/s/b.jsonl".into()),
        name: name.map(str::to_owned),
        first_prompt: Some(first_prompt.into()),
    }
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
    let chosen = Effect::OpenSession(Choice::Open("/s/b.jsonl".into()));
    assert_eq!(tui.key("enter"), [chosen]);
    assert!(tui.app.overlays.is_empty());

    tui.agent(opened("Write the docs", Some("Docs")));
    assert!(tui.frame().contains("❯ Write the docs"));
    assert_eq!(
        tui.app.status.session.as_ref().unwrap().file,
        PathBuf::from("/s/b.jsonl")
    );
    let effects = tui.send_all(Msg::Done(EffectResult::Opened(Ok(vec!["cut off".into()]))));
    assert_eq!(effects, []);
    assert!(tui.frame().contains("cut off"));
}

#[test]
fn nothing_of_the_session_before_stays_on_the_screen() {
    let mut tui = stored();
    tui.agent(AgentEvent::TurnStart { iteration: 1 });
    tui.agent(AgentEvent::AgentEnd {
        messages: Vec::new(),
        outcome: RunOutcome::LimitReached { limit: 1 },
    });
    tui.key("alt+i");
    assert!(!tui.frame().contains("No model was called yet"));
    tui.key("esc");
    tui.agent(opened("Write the docs", None));
    // Neither its iterations, nor that Enter goes on with its last run.
    tui.key("alt+i");
    let frame = tui.frame();
    assert!(frame.contains("No model was called yet"), "{frame}");
    tui.key("esc");
    assert_eq!(tui.key("enter"), []);
}

#[test]
fn the_status_line_names_the_session() {
    let mut tui = stored();
    let status = |tui: &mut TestTui| tui.frame().lines().last().unwrap().to_owned();
    tui.agent(AgentEvent::MessageEnd {
        message: Arc::new(Message::user("# Fix the login.\nnow", 1)),
    });
    assert!(status(&mut tui).contains("Fix the login"));
    tui.agent(opened("Write the docs", None));
    assert!(status(&mut tui).contains("Write the docs"));
    tui.agent(opened("Write the docs", Some("Docs")));
    let line = status(&mut tui);
    assert!(
        line.contains("Docs") && !line.contains("Write the docs"),
        "{line}"
    );
}

#[test]
fn a_session_that_cannot_be_opened_is_told() {
    let mut tui = stored();
    let refused = Refused {
        path: "/s/b.jsonl".into(),
        why: Refusal::Other,
        message: "cannot open the session /s/b.jsonl: broken".into(),
    };
    tui.send(Msg::Done(EffectResult::Opened(Err(refused))));
    assert!(tui.frame().contains("/s/b.jsonl: broken"));
}

#[test]
fn a_new_session_begins_unless_something_runs_or_nothing_is_stored() {
    let mut tui = stored();
    tui.write("/new");
    assert_eq!(tui.key("enter"), [Effect::OpenSession(Choice::New)]);
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
