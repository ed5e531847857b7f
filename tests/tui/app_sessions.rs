//! Opening, listing, renaming and deleting sessions from the screen.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use tiller::agent::session::{Found, HistoryFacts, SessionState};
use tiller::agent::tool::CommandDetails;
use tiller::agent::undo::Direction;
use tiller::agent::{AgentEvent, RunOutcome, RunState};
use tiller::app::host::CommandEnd;
use tiller::app::sessions::{
    Choice, Recent, Refusal, Refused, SessionFacts, SessionRow, SessionScope,
};
use tiller::app::tui::app::{SessionInfo, Start};
use tiller::app::tui::effects::effect::{DraftChange, Effect, TerminalEffect};
use tiller::app::tui::effects::session_effect::{SessionEffect, SessionResult};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::options::ExitKind;
use tiller::app::tui::popups::{Overlay, TextSearch};
use tiller::app::tui::terminal::input::InputEvent;
use tiller::app::tui::terminal::screen_mode::ScreenMode;
use tiller::llm::{AssistantMessage, Content, Message, StopReason};

use super::app_kit::{TestTui, prompt, run_command};
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

fn session(effect: SessionEffect) -> Effect {
    Effect::Session(effect)
}

fn result(result: SessionResult) -> Msg {
    Msg::Done(EffectResult::Session(result))
}

pub(super) fn row(name: &str, title: &str, state: SessionState, now: i64) -> SessionRow {
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

#[test]
fn enter_resumes_the_last_session_only_while_the_screen_offers_it() {
    let recent = || {
        SessionResult::Recent(Some(Recent {
            session: row("b", "Fix it", SessionState::Closed, 0),
            others: 0,
        }))
    };
    let mut tui = stored();
    tui.send(result(recent()));
    let frame = tui.frame();
    assert!(frame.contains("Enter continue"), "{frame}");
    assert!(!frame.contains("send, or steer"), "{frame}");
    assert!(frame.contains("Ctrl+J   new line"), "{frame}");
    let open = SessionEffect::Open(Choice::Open("/s/b.jsonl".into()));
    assert_eq!(tui.key("enter"), [session(open)]);
    // Its changes may be those to undo.
    let mut tui = stored();
    tui.send(result(recent()));
    tui.send(Msg::Done(EffectResult::Undo(Direction::Undo, None)));
    let frame = tui.frame();
    assert!(
        frame.contains("Nothing to undo in this new session"),
        "{frame}"
    );
    let mut tui = stored();
    tui.send(result(recent()));
    tui.send(Msg::Done(EffectResult::Failed("No such thing".into())));
    assert_eq!(tui.key("enter"), []);
}

fn list(tui: &mut TestTui) {
    tui.write("/resume");
    assert_eq!(
        tui.key("enter"),
        [session(SessionEffect::List(SessionScope::Folder))]
    );
    assert!(tui.frame().contains("Reading…"));
    let now = tui.now;
    let rows = vec![
        row("own", "This one", SessionState::Idle, now),
        row("a", "Fix the login", SessionState::Closed, now),
        row("b", "Write the docs", SessionState::Idle, now),
    ];
    tui.send(result(SessionResult::List(SessionScope::Folder, Ok(rows))));
}

#[test]
fn words_after_the_command_search_the_list() {
    let mut tui = stored();
    tui.write("/resume docs");
    tui.key("enter");
    let now = tui.now;
    let rows = vec![
        row("a", "Fix the login", SessionState::Closed, now),
        row("b", "Write the docs", SessionState::Idle, now),
    ];
    tui.send(result(SessionResult::List(SessionScope::Folder, Ok(rows))));
    let frame = tui.frame();
    assert!(frame.contains("Write the docs"), "{frame}");
    assert!(!frame.contains("Fix the login"), "{frame}");
}

#[test]
fn command_output_stays_with_its_session() {
    let mut tui = stored();
    tui.app.status.session.as_mut().unwrap().title = "Fix it".into();
    let end = |tui: &mut TestTui, id: &str| {
        let end = CommandEnd {
            details: CommandDetails::default(),
            failure: None,
        };
        tui.send(Msg::Done(EffectResult::Shell(id.into(), end)));
    };
    tui.write("!ls");
    tui.key("enter");
    end(&mut tui, "shell-1");
    tui.write("!make");
    tui.key("enter");
    list(&mut tui);
    tui.write("docs");
    tui.key("enter");
    arrive(&mut tui, opened("Write the docs", None));
    end(&mut tui, "shell-2");
    tui.now += 500;
    tui.write("hi");
    assert_eq!(tui.key("enter"), [prompt("hi")]);
}

/// A command's output belongs to the session it ran in. A new session doesn't get it, a copy does.
#[test]
fn command_output_does_not_go_to_a_new_session() {
    for (command, is_told) in [("/new", false), ("/fork", true)] {
        let mut tui = stored();
        tui.write("!ls");
        tui.key("enter");
        let end = CommandEnd {
            details: CommandDetails::default(),
            failure: None,
        };
        tui.send(Msg::Done(EffectResult::Shell("shell-1".into(), end)));
        tui.write(command);
        tui.key("enter");
        arrive(&mut tui, opened("", None));
        tui.now += 500;
        tui.write("hi");
        let effects = tui.key("enter");
        assert_eq!(
            effects == [prompt("hi")],
            !is_told,
            "{command}: {effects:?}"
        );
    }
}

fn opened(first_prompt: &str, name: Option<&str>) -> AgentEvent {
    AgentEvent::SessionOpened {
        facts: Arc::default(),
        branch: branch(&[Arc::new(Message::user(first_prompt, 1))]),
        path: Some("/s/b.jsonl".into()),
        name: name.map(str::to_owned),
        first_prompt: Some(first_prompt.into()),
        read_only: false,
    }
}

/// Pressing Enter to wake the terminal must not cost money.
#[test]
fn enter_on_the_empty_editor_starts_a_run_only_after_a_visible_failure() {
    let user = Arc::new(Message::user("hi", 1));
    let failed = Arc::new(Message::Assistant(AssistantMessage {
        stop_reason: StopReason::Error,
        ..AssistantMessage::default()
    }));
    for (said, waiting, costs) in [
        (vec![Arc::clone(&user)], &[][..], true),
        (vec![user, failed], &[], true),
        (Vec::new(), &["steered"], false),
    ] {
        let mut tui = stored();
        let mut event = opened("hi", None);
        if let AgentEvent::SessionOpened { facts, .. } = &mut event {
            *facts = Arc::new(HistoryFacts::of(&said));
        }
        arrive(&mut tui, event);
        tui.waiting(waiting, &[]);
        let key = if costs { "Enter" } else { "Ctrl+Enter" };
        let offer = format!("\n {key} ");
        let frame = tui.frame();
        assert!(frame.contains(&offer), "{frame}");
        assert_eq!(
            frame.contains("The run was cut off"),
            said.len() == 1,
            "{frame}"
        );
        // With text in the prompt, the key would send it.
        tui.write("x");
        assert!(!tui.frame().contains(&offer), "{}", tui.frame());
        tui.key("backspace");
        let effects = tui.key("enter");
        assert_eq!(effects == [Effect::GoOn], costs, "{said:?}: {effects:?}");
        if !costs {
            assert_eq!(tui.key("ctrl+enter"), [Effect::GoOn], "{said:?}");
        }
    }
}

/// The agent sends the opened session, and the switch completes.
fn arrive(tui: &mut TestTui, event: AgentEvent) {
    tui.agent(event);
    tui.send(result(SessionResult::Opened(Ok(Vec::new()))));
}

#[test]
fn a_session_is_opened_from_the_list() {
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
    let chosen = SessionEffect::Open(Choice::Open("/s/b.jsonl".into()));
    assert_eq!(
        tui.key("enter"),
        [session(SessionEffect::StopReading), session(chosen)]
    );
    assert!(tui.app.overlays.is_empty());

    tui.agent(opened("Write the docs", Some("Docs")));
    assert!(tui.frame().contains("❯ Write the docs"));
    assert_eq!(
        tui.app.status.session.as_ref().unwrap().file,
        PathBuf::from("/s/b.jsonl")
    );
    let effects = tui.send_all(result(SessionResult::Opened(Ok(vec!["cut off".into()]))));
    assert_eq!(effects, []);
    assert!(tui.frame().contains("cut off"));
}

#[test]
fn nothing_of_the_previous_session_stays_on_the_screen() {
    let mut tui = stored();
    tui.agent(AgentEvent::TurnStart { iteration: 1 });
    tui.agent(AgentEvent::AgentEnd {
        totals: tiller::agent::RunTotals::default(),
        messages: Vec::new().into(),
        outcome: RunOutcome::LimitReached { limit: 1 },
    });
    tui.write("/iterations");
    tui.key("enter");
    assert!(!tui.frame().contains("No model calls yet"));
    tui.key("esc");
    tui.app.screen = ScreenMode::Reading;
    tui.agent(opened("Write the docs", None));
    assert_eq!(tui.app.screen, ScreenMode::Inline);
    // The iterations are gone, and Enter no longer retries the previous session's run.
    tui.write("/iterations");
    tui.key("enter");
    tui.send(Msg::Done(EffectResult::Iterations(Ok(Arc::default()))));
    let frame = tui.frame();
    assert!(frame.contains("No model calls yet"), "{frame}");
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
fn a_failure_to_open_a_session_shows_its_reason() {
    let mut tui = stored();
    let refused = Refused {
        path: "/s/b.jsonl".into(),
        label: String::new(),
        why: Refusal::Other,
        reason: "broken".into(),
    };
    tui.send(result(SessionResult::Opened(Err(refused))));
    assert!(tui.frame().contains("/s/b.jsonl: broken"));
}

/// If a session doesn't open, text typed ahead is a normal draft. Until then it is saved.
#[test]
fn keys_work_again_when_a_session_fails_to_open() {
    let mut tui = stored();
    tui.write("/new");
    tui.key("enter");
    tui.write("hi");
    tui.key("enter");
    tui.now += 1000;
    let saved = tui.send_all(Msg::Tick);
    let keeps = |effect: &Effect| matches!(effect, Effect::SaveDraft(draft) if draft.text == "hi");
    assert!(saved.iter().any(keeps), "{saved:?}");
    let why = "3 entries of this session are only in memory";
    tui.send(result(SessionResult::NotOpened(why.into())));
    assert_eq!(tui.text(), "hi");
    assert!(tui.frame().contains(why), "{}", tui.frame());
    tui.write(" there");
    assert_eq!(tui.key("enter"), [prompt("hi there")]);
}

/// Editing keys typed ahead still work. Keys that send or open something do nothing.
#[test]
fn editing_keys_typed_ahead_work_when_a_session_fails_to_open() {
    let mut tui = stored();
    tui.write("/new");
    tui.key("enter");
    tui.write("fixx");
    tui.key("backspace");
    tui.write(" it");
    for key in ["ctrl+w", "n", "o", "shift+enter", "w", "f1", "enter"] {
        tui.key(key);
    }
    tui.send(result(SessionResult::NotOpened("broken".into())));
    assert_eq!(tui.text(), "fix no\nw");
    assert!(tui.app.overlays.is_empty());
}

/// The question about a session that another program has open.
pub(super) fn asks() -> TestTui {
    let mut tui = stored();
    let asks = SessionResult::Opened(Err(refused(Refusal::InUse { pid: None })));
    tui.send(result(asks));
    assert!(tui.frame().contains("Read only"));
    tui
}

#[test]
fn a_digit_in_a_text_does_not_answer() {
    let mut tui = asks();
    for keys in ["use port ", "2"] {
        take_answers(&mut tui);
        tui.write(keys);
    }
    take_answers(&mut tui);
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "use port 2");
    // A digit that follows text typed ahead doesn't answer either.
    let mut tui = stored();
    tui.write("/new");
    tui.key("enter");
    tui.write("use port ");
    let in_use = refused(Refusal::InUse { pid: None });
    tui.send(result(SessionResult::Opened(Err(in_use))));
    take_answers(&mut tui);
    tui.write("2");
    take_answers(&mut tui);
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "use port 2");
}

/// Output that arrives after a switch belongs to the session where the command ran.
/// Text typed for the session stays with it, even if another screen starts a new one.
#[test]
fn text_stays_with_its_session_when_another_screen_opens_one() {
    for (title, stays) in [("Fix it", true), ("", false)] {
        let mut tui = stored();
        tui.app.status.session.as_mut().unwrap().title = title.into();
        tui.write("half a thought");
        let effects = tui.agent(opened("", None));
        let is_left = |effect: &Effect| {
            matches!(effect, Effect::ChangeDraft(DraftChange::Stays(draft), _)
            if draft.text == "half a thought")
        };
        assert_eq!(effects.iter().any(is_left), stays, "{effects:?}");
        let frame = tui.frame();
        assert_eq!(frame.contains("stays with the previous"), stays, "{frame}");
        assert_eq!(frame.contains("│ half a thought"), !stays, "{frame}");
    }
}

#[test]
fn late_command_output_stays_with_its_session() {
    let mut tui = stored();
    tui.write("!make");
    tui.key("enter");
    let details = CommandDetails {
        command: "make".into(),
        output: "half".into(),
        ..CommandDetails::default()
    };
    tui.send(Msg::Done(EffectResult::ShellOutput(
        "shell-1".into(),
        details,
    )));
    tui.write("/new");
    tui.key("enter");
    let effects = tui.agent(opened("", None));
    let stays = |effect: &Effect| {
        matches!(effect, Effect::ChangeDraft(DraftChange::Stays(draft), _)
            if draft.told.len() == 1 && draft.told[0].contains("half"))
    };
    assert!(effects.iter().any(stays), "{effects:?}");
}

#[test]
fn new_starts_a_session_unless_busy_or_nothing_is_stored() {
    let mut tui = stored();
    tui.write("/new");
    assert_eq!(
        tui.key("enter"),
        [session(SessionEffect::Open(Choice::New))]
    );
    arrive(&mut tui, opened("", None));
    tui.state(RunState::Running {
        phase: tiller::agent::Phase::Requesting,
    });
    tui.write("/new");
    assert_eq!(tui.key("enter"), []);
    assert!(tui.frame().contains("Esc stops it"), "{}", tui.frame());

    let mut unstored = test_tui();
    unstored.app.status.session = None;
    unstored.write("/resume");
    assert_eq!(unstored.key("enter"), []);
    assert!(unstored.frame().contains("This run isn't stored"));
}

#[test]
fn an_unreadable_sessions_folder_shows_its_error() {
    let mut tui = stored();
    tui.write("/resume");
    tui.key("enter");
    let denied = SessionResult::List(SessionScope::Folder, Err("/s: denied".into()));
    tui.send(result(denied));
    assert!(tui.app.overlays.is_empty());
    assert!(tui.frame().contains("/s: denied"));
}

#[test]
fn a_session_is_named_and_unnamed() {
    let mut tui = stored();
    tui.write("/name  Login and docs ");
    assert_eq!(tui.key("enter"), [run_command("/name Login and docs")]);
    tui.agent(AgentEvent::SessionNamed(Some("Login and docs".into())));
    assert!(tui.frame().contains("Login and docs"));
    tui.write("/name");
    assert_eq!(tui.key("enter"), [run_command("/name")]);
    tui.agent(AgentEvent::SessionNamed(None));
    assert!(!tui.frame().contains("Login and docs"));
}

/// The labels of the matching rows in order.
fn fitting(tui: &TestTui) -> Vec<String> {
    let Some(Overlay::Sessions(list)) = tui.app.overlays.last() else {
        panic!("the list must be open");
    };
    let rows = list.rows.as_deref().unwrap_or_default();
    let label = |row: &usize| rows[*row].label().to_owned();
    list.picker.matches().iter().map(label).collect()
}

fn listed(tui: &mut TestTui, rows: Vec<SessionRow>) {
    tui.write("/resume");
    tui.key("enter");
    tui.send(result(SessionResult::List(SessionScope::Folder, Ok(rows))));
}

#[test]
fn title_matches_rank_above_text_and_text_above_letters() {
    let mut tui = stored();
    let closed = SessionState::Closed;
    let rows = ["Fix it", "Idea of two", "Write the docs", "To do it all"];
    let rows = rows.iter().enumerate();
    let rows = rows.map(|(at, title)| row(&at.to_string(), title, closed, 0));
    listed(&mut tui, rows.collect());
    assert_eq!(fitting(&tui).len(), 4);
    tui.write("it");
    assert_eq!(
        fitting(&tui),
        ["Fix it", "Write the docs", "To do it all", "Idea of two"]
    );
    // The full-text search starts once the user stops typing.
    assert_eq!(tui.app.next_wake(), Some(tui.now + 60));
    tui.now += 150;
    let effects = tui.send(Msg::Tick);
    let search = session(SessionEffect::Search("it".into(), SessionScope::Folder));
    assert!(effects.contains(&search), "{effects:?}");
    let found = |query: &str, path: &str| {
        let found = Found {
            entry: "e".into(),
            role: "user",
            line: "where is it kept".into(),
            at: 9,
        };
        let found = vec![(PathBuf::from(path), found)];
        result(SessionResult::Found(query.into(), found, TextSearch::Done))
    };
    tui.send(found("of before", "/s/1.jsonl"));
    assert_eq!(fitting(&tui).last().unwrap(), "Idea of two");
    tui.key("down");
    tui.send(found("it", "/s/1.jsonl"));
    assert_eq!(
        fitting(&tui),
        ["Fix it", "Write the docs", "To do it all", "Idea of two"]
    );
    let frame = tui.frame();
    assert!(frame.contains("where is it kept"), "{frame}");
    assert!(frame.contains('4'), "{frame}");
}

/// Lists sessions of which only the letters of the last match the query, and not yet its text.
fn list_a_match_by_letters(tui: &mut TestTui) {
    let rows = [
        ("0", "Tidy up"),
        ("1", "Idea of two"),
        ("2", "To do it all"),
    ];
    let rows = rows.map(|(id, title)| row(id, title, SessionState::Closed, 0));
    listed(tui, rows.into());
    tui.write("tdo");
    assert_eq!(fitting(tui), ["To do it all"]);
}

/// The text of another session matches: it is the better one.
fn find_a_better_match(tui: &mut TestTui) {
    let found = Found {
        entry: "e".into(),
        role: "user",
        line: "tdo".into(),
        at: 0,
    };
    let found = vec![(PathBuf::from("/s/1.jsonl"), found)];
    let found = SessionResult::Found("tdo".into(), found, TextSearch::Done);
    tui.send(result(found));
    assert_eq!(fitting(tui), ["Idea of two", "To do it all"]);
}

#[test]
fn the_best_match_stays_selected_until_the_user_selects_another() {
    let mut tui = stored();
    list_a_match_by_letters(&mut tui);
    find_a_better_match(&mut tui);
    let Some(Overlay::Sessions(list)) = tui.app.overlays.last() else {
        panic!("the list must be open");
    };
    assert_eq!(list.chosen().map(SessionRow::label), Some("Idea of two"));
}

#[test]
fn a_better_match_does_not_change_the_session_in_question() {
    let mut tui = stored();
    list_a_match_by_letters(&mut tui);
    tui.key("ctrl+d");
    find_a_better_match(&mut tui);
    let frame = tui.frame();
    assert!(
        frame.contains("Move “To do it all” to the trash?"),
        "{frame}"
    );
    take_answers(&mut tui);
    let removed = SessionEffect::Remove("/s/2.jsonl".into());
    assert_eq!(tui.key("enter"), [session(removed)]);

    let mut tui = stored();
    list_a_match_by_letters(&mut tui);
    tui.key("ctrl+r");
    find_a_better_match(&mut tui);
    let renamed = SessionEffect::Rename("/s/2.jsonl".into(), "To do it all".into());
    assert_eq!(tui.key("enter"), [session(renamed)]);
}

#[test]
fn the_selected_sessions_preview_shows_once_read() {
    let mut tui = TestTui::new(100, 40);
    tui.app.status.session = stored().app.status.session;
    let closed = SessionState::Closed;
    let now = tui.now;
    listed(
        &mut tui,
        vec![row("a", "One", closed, now), row("b", "Two", closed, now)],
    );
    tui.key("down");
    tui.now += 60;
    let wanted = session(SessionEffect::Preview("/s/b.jsonl".into()));
    assert_eq!(tui.send(Msg::Tick), [wanted]);
    let facts = SessionFacts {
        cwd: "/home/me/shop".into(),
        model: Some("lab/one".into()),
        prompts: 2,
        answers: 3,
        branches: 2,
        size: 1_200_000,
        first_prompt: "The first thing".into(),
        last_prompt: "The last thing".into(),
        last_answer: "An answer\nin two lines".into(),
        ..SessionFacts::default()
    };
    let preview = |path: &str| {
        let facts = Ok(Arc::new(facts.clone()));
        result(SessionResult::Preview(path.into(), facts))
    };
    tui.send(preview("/s/a.jsonl"));
    assert!(
        !tui.frame().contains("The first thing"),
        "this is another session's preview"
    );
    tui.send(preview("/s/b.jsonl"));
    let frame = tui.frame();
    for text in [
        "2 prompts · 3 answers · 2 branches · 1.2 MB",
        "~/shop · lab/one",
        "❯ The first thing",
        "❯ The last thing",
        "  An answer in two lines",
    ] {
        assert!(frame.contains(text), "{text}: {frame}");
    }
}

#[test]
fn sessions_with_the_same_name_show_their_ids() {
    let mut tui = TestTui::new(80, 24);
    tui.app.status.session = stored().app.status.session;
    let now = tui.now;
    let row = |id, title| row(id, title, SessionState::Closed, now);
    let rows = vec![row("1a2b", "Twin"), row("3c4d", "Twin"), row("5e6f", "One")];
    listed(&mut tui, rows);
    let frame = tui.frame();
    for (name, has) in [
        ("Twin  1a2b ", true),
        ("Twin  3c4d ", true),
        ("5e6f", false),
    ] {
        assert_eq!(frame.contains(name), has, "{name}: {frame}");
    }
    assert!(frame.contains(" 3 h ago"), "{frame}");
}

#[test]
fn a_listed_session_is_renamed_and_moved_to_the_trash() {
    let mut tui = stored();
    let now = tui.now;
    listed(
        &mut tui,
        vec![
            row("a", "One", SessionState::Closed, now),
            row("b", "Two", SessionState::Processing, now),
        ],
    );
    tui.key("ctrl+r");
    tui.write(" more");
    assert!(tui.frame().contains("One more"));
    let renamed = SessionEffect::Rename("/s/a.jsonl".into(), "One more".into());
    assert_eq!(tui.key("enter"), [session(renamed)]);
    tui.send(result(SessionResult::Renamed(
        "/s/a.jsonl".into(),
        "One more".into(),
        Ok(()),
    )));
    assert_eq!(fitting(&tui), ["One more", "Two"]);
    // Esc closes the question, not the list.
    tui.key("ctrl+d");
    assert!(tui.frame().contains("Move “One more” to the trash?"));
    assert_eq!(tui.key("esc"), []);
    // Letters search for another session, and an immediate Enter doesn't confirm.
    tui.key("ctrl+d");
    tui.write("y");
    assert!(tui.frame().contains("› y"), "{}", tui.frame());
    tui.key("backspace");
    tui.key("ctrl+d");
    assert_eq!(tui.key("enter"), []);
    take_answers(&mut tui);
    let removed = session(SessionEffect::Remove("/s/a.jsonl".into()));
    assert_eq!(tui.key("enter"), [removed]);
    let trash = Ok("/trash/x".into());
    tui.send(result(SessionResult::Removed("/s/a.jsonl".into(), trash)));
    assert_eq!(fitting(&tui), ["Two"]);
    // A session that is open elsewhere is refused.
    tui.key("ctrl+d");
    let frame = tui.frame();
    assert!(frame.contains("close it there first"), "{frame}");
    assert!(frame.contains("working"), "{frame}");
    // Its state is read again every second.
    tui.now += 1000;
    let effects = tui.send(Msg::Tick);
    assert!(effects.contains(&session(SessionEffect::ReadStates)));
    tui.send(result(SessionResult::States(HashMap::new())));
    assert!(!tui.frame().contains("working"));
}

#[test]
fn the_session_in_question_stays_selected_when_others_change() {
    let mut tui = stored();
    let rows = ["a", "b", "c"].map(|name| row(name, name, SessionState::Closed, 0));
    listed(&mut tui, rows.to_vec());
    tui.key("down");
    tui.key("ctrl+d");
    // The answers to earlier requests arrive late.
    let renamed = SessionResult::Renamed("/s/c.jsonl".into(), "Third".into(), Ok(()));
    tui.send(result(renamed));
    let trash = Ok("/trash/x".into());
    tui.send(result(SessionResult::Removed("/s/a.jsonl".into(), trash)));
    assert_eq!(fitting(&tui), ["b", "Third"]);
    assert!(tui.frame().contains("Move “b” to the trash?"));
    let removed = session(SessionEffect::Remove("/s/b.jsonl".into()));
    take_answers(&mut tui);
    assert_eq!(tui.key("enter"), [removed]);
}

#[test]
fn a_session_open_elsewhere_is_not_renamed() {
    let mut tui = stored();
    listed(&mut tui, vec![row("b", "Two", SessionState::Idle, 0)]);
    tui.key("ctrl+r");
    let frame = tui.frame();
    assert!(frame.contains("rename it there"), "{frame}");
    assert!(!frame.contains("Name ›"), "{frame}");
}

#[test]
fn the_list_is_as_high_as_its_content() {
    let height = |tui: &mut TestTui| {
        let frame = tui.frame();
        let edge = |corner: char| frame.lines().position(|line| line.starts_with(corner));
        edge('╰').unwrap() - edge('╭').unwrap() + 1
    };
    for (sessions, rows) in [(0, 4), (1, 13), (2, 14), (3, 15), (100, 20)] {
        let mut tui = stored();
        let all = (0..sessions).map(|at| row(&at.to_string(), "Two\nlines", SessionState::Idle, 0));
        listed(&mut tui, all.collect());
        let before = tui.frame();
        assert_eq!(height(&mut tui), rows, "{sessions}: {before}");
        // The height stays the same while filtering.
        tui.write("zz");
        assert_eq!(height(&mut tui), rows, "{sessions}");
        let shown = before.contains("Two ⏎ lines");
        assert_eq!(shown, sessions > 0, "{before}");
    }
}

#[test]
fn a_key_lists_the_sessions_of_all_folders() {
    let mut tui = stored();
    listed(&mut tui, Vec::new());
    assert!(tui.frame().contains("No other sessions in this folder"));
    tui.write("x");
    let effects = tui.key("tab");
    assert!(effects.contains(&session(SessionEffect::List(SessionScope::All))));
    let mut other = row("c", "Box", SessionState::Closed, tui.now);
    other.cwd = "/home/me/other".into();
    // A late result for the other scope is ignored.
    tui.send(result(SessionResult::List(
        SessionScope::Folder,
        Ok(vec![]),
    )));
    assert!(tui.frame().contains("Reading…"));
    tui.send(result(SessionResult::List(
        SessionScope::All,
        Ok(vec![other]),
    )));
    let frame = tui.frame();
    assert!(frame.contains("Sessions in all folders"), "{frame}");
    assert!(frame.contains("~/other"), "{frame}");
}

pub(super) fn refused(why: Refusal) -> Refused {
    Refused {
        path: "/s/b.jsonl".into(),
        label: "Write the docs".into(),
        why,
        reason: "it cannot be opened".into(),
    }
}

/// Questions ignore keys for this long after they appear.
const ANSWERS_MS: i64 = 400;

/// Selects an answer and confirms it.
fn choose(tui: &mut TestTui, number: &str) -> Vec<Effect> {
    assert_eq!(tui.key(number), []);
    take_answers(tui);
    tui.key("enter")
}

/// Waits until the question accepts keys.
fn take_answers(tui: &mut TestTui) {
    tui.now += ANSWERS_MS;
    tui.send(Msg::Tick);
}

#[test]
fn keys_typed_as_a_question_appears_do_not_answer() {
    // Once the question accepts keys, Esc closes it even right after another key.
    let mut tui = asks();
    take_answers(&mut tui);
    tui.key("2");
    tui.key("esc");
    assert!(tui.app.overlays.is_empty());
    for way in 0..2 {
        let mut tui = stored();
        let asks = SessionResult::Opened(Err(refused(Refusal::InUse { pid: None })));
        tui.send(result(asks));
        tui.now += ANSWERS_MS - 1;
        for key in ["enter", "esc", "down"] {
            assert_eq!(tui.key(key), [], "{key}");
        }
        // A click doesn't answer either.
        let frame = tui.frame();
        assert!(!frame.contains("confirm"), "{frame}");
        let row = frame.lines().position(|line| line.contains("Read only"));
        let row = row.unwrap() as u16;
        assert_eq!(tui.click(40, row), []);
        // A user who is typing keeps typing and loses no letter.
        for letter in ["y", "n", "1"] {
            let effects = tui.key(letter);
            assert!(effects.iter().all(|it| *it == Effect::Warm), "{effects:?}");
            tui.now += ANSWERS_MS - 1;
        }
        assert_eq!(tui.text(), "yn1");
        tui.send(Msg::Tick);
        assert_eq!(tui.app.next_wake(), Some(tui.now + 1));
        tui.now += 1;
        tui.send(Msg::Tick);
        assert!(tui.app.next_wake().is_none_or(|at| at > tui.now));
        assert!(!tui.frame().contains("confirm"), "nothing is selected");
        assert_eq!(tui.key("enter"), []);
        take_answers(&mut tui);
        let look = session(SessionEffect::Open(Choice::Look("/s/b.jsonl".into())));
        let selected = if way == 0 {
            tui.key("down");
            tui.key("down")
        } else {
            tui.click(40, row)
        };
        assert_eq!(selected, []);
        take_answers(&mut tui);
        assert_eq!(tui.key("enter"), [look]);
    }
}

#[test]
fn a_failed_rename_or_removal_shows_its_reason_in_the_list() {
    let failed = || Err("it cannot be written: No space left on device".to_owned());
    for answer in [
        SessionResult::Renamed("/s/a.jsonl".into(), "Other".into(), failed()),
        SessionResult::Removed("/s/a.jsonl".into(), failed().map(|()| PathBuf::new())),
    ] {
        let mut tui = stored();
        listed(&mut tui, vec![row("a", "One", SessionState::Closed, 0)]);
        tui.send(result(answer));
        let frame = tui.frame();
        let mut lines = frame.lines();
        let in_the_box = lines.any(|line| {
            line.starts_with('│') && line.contains("it cannot be written: No space left on device")
        });
        assert!(in_the_box, "{frame}");
        assert_eq!(fitting(&tui), ["One"]);
        // The next key hides the error.
        tui.key("down");
        assert!(!tui.frame().contains("No space"), "{}", tui.frame());
    }
}

#[test]
fn a_session_that_cannot_be_opened_asks_what_to_do() {
    let path = || PathBuf::from("/s/b.jsonl");
    let in_use = || Refusal::InUse { pid: Some(7) };
    let gone = || Refusal::FolderGone("/gone".into());
    let other = || Refusal::OtherFolder("/home/me/other".into());
    let look = || session(SessionEffect::Open(Choice::Look(path())));
    let copy = || session(SessionEffect::Open(Choice::Fork(path())));
    let attach = || Effect::Terminal(TerminalEffect::Exit(ExitKind::Attach(path())));
    for (why, keys, shown, effect) in [
        (in_use(), &["enter"][..], "Read only", None),
        (in_use(), &["down", "enter"], "Attach", Some(attach())),
        (in_use(), &["2", "enter"], "Read only", Some(look())),
        (in_use(), &["3", "enter"], "here, in ~/shop", Some(copy())),
        (
            in_use(),
            &["down", "down", "down", "enter"],
            "Continue in a copy",
            Some(copy()),
        ),
        (in_use(), &["esc"], "Esc cancel", None),
        (gone(), &["1", "enter"], "Continue in a copy", Some(copy())),
        (gone(), &["2", "enter"], "Read only", Some(look())),
        (
            other(),
            &["2", "enter"],
            "tiller moves to ~/other",
            Some(copy()),
        ),
        (Refusal::Denied, &["1", "enter"], "Read only", Some(look())),
    ] {
        let mut tui = stored();
        let opened = SessionResult::Opened(Err(refused(why.clone())));
        tui.send(result(opened));
        take_answers(&mut tui);
        let frame = tui.frame();
        assert!(
            frame.contains("“Write the docs”: it cannot be opened"),
            "{frame}"
        );
        assert!(frame.contains(shown), "{why:?}: {frame}");
        let mut effects = Vec::new();
        for key in keys {
            take_answers(&mut tui);
            effects = tui.key(key);
        }
        assert_eq!(effects, Vec::from_iter(effect), "{why:?} {keys:?}");
    }
    // Continuing in the session's own folder exits and starts another process.
    let mut tui = stored();
    tui.send(result(SessionResult::Opened(Err(refused(other())))));
    take_answers(&mut tui);
    let exit = Effect::Terminal(TerminalEffect::Exit(ExitKind::Reopen(path())));
    assert_eq!(choose(&mut tui, "1"), [exit]);
}

#[test]
fn the_user_can_wait_for_a_session_in_use() {
    let mut tui = stored();
    let in_use = refused(Refusal::InUse { pid: None });
    tui.send(result(SessionResult::Opened(Err(in_use.clone()))));
    take_answers(&mut tui);
    let wait = session(SessionEffect::Wait("/s/b.jsonl".into()));
    assert_eq!(choose(&mut tui, "4"), [wait]);
    assert!(tui.frame().contains("Waiting for the other tiller"));
    assert_eq!(tui.key("enter"), []);
    take_answers(&mut tui);
    assert_eq!(tui.key("esc"), [session(SessionEffect::StopWaiting)]);
    assert!(!tui.frame().contains("Waiting for the other tiller"));
    // When the session is free, the conversation replaces the question.
    tui.send(result(SessionResult::Opened(Err(in_use))));
    take_answers(&mut tui);
    choose(&mut tui, "3");
    tui.agent(opened("Write the docs", None));
    assert!(tui.app.overlays.is_empty());
}

#[test]
fn a_read_only_session_sends_nothing() {
    let mut tui = stored();
    let mut event = opened("Write the docs", None);
    if let AgentEvent::SessionOpened { read_only, .. } = &mut event {
        *read_only = true;
    }
    tui.agent(event);
    let frame = tui.frame();
    assert!(frame.contains("Read-only"), "{frame}");
    assert!(frame.contains("─ read-only ─"), "{frame}");
    tui.write("more");
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "more");
    take_answers(&mut tui);
    let copy = session(SessionEffect::Open(Choice::Fork("/s/b.jsonl".into())));
    assert_eq!(choose(&mut tui, "1"), [copy]);
    assert_eq!(tui.text(), "more");
    let refused = refused(Refusal::Other);
    tui.send(result(SessionResult::Opened(Err(refused))));
    for command in ["/name x", "/try x"] {
        tui.app.composer.set(command);
        tui.now += 1000;
        let mut effects = tui.key("enter");
        effects.retain(|effect| *effect != Effect::Warm);
        assert_eq!(effects, [], "{command}");
        assert!(tui.frame().contains("open read-only"), "{command}");
    }
    assert_eq!(tui.text(), "/try x");
    let name = &tui.app.status.session.as_ref().unwrap().name;
    assert_eq!(*name, None);
}

/// It would be lost there, yet look as if it had been sent.
#[test]
fn a_prompt_for_a_read_only_session_waits_in_the_editor() {
    let mut tui = stored();
    tui.app.status.session.as_mut().unwrap().is_read_only = true;
    tui.app.start.prompt = vec![Content::text("go on")];
    let effects = tui.send(Msg::Started);
    let sends = |effect: &Effect| matches!(effect, Effect::Prompt(_));
    assert!(!effects.iter().any(sends), "{effects:?}");
    assert_eq!(tui.text(), "go on");
}

#[test]
fn pasted_text_closes_the_question_about_opening_a_session() {
    let mut tui = stored();
    let in_use = refused(Refusal::InUse { pid: None });
    let paste = |text: &str| Msg::Input(InputEvent::Paste(text.into()));
    tui.send(result(SessionResult::Opened(Err(in_use.clone()))));
    assert_eq!(tui.send(paste("some")), [Effect::Warm]);
    assert_eq!(tui.text(), "some");
    assert!(tui.app.overlays.is_empty());
    // Typing closes the question and stops the wait, so no session opens later.
    tui.send(result(SessionResult::Opened(Err(in_use))));
    take_answers(&mut tui);
    choose(&mut tui, "4");
    let stop = session(SessionEffect::StopWaiting);
    assert_eq!(tui.send(paste(" more")), [stop]);
    assert_eq!(tui.text(), "some more");
}

#[test]
fn a_session_refused_at_the_start_asks_and_keeps_the_prompt() {
    let start = Start {
        prompt: vec![Content::text("go on")],
        refused: Some(refused(Refusal::FolderGone("/gone".into()))),
        ..Start::default()
    };
    let mut tui = TestTui::starting(80, 24, start);
    let effects = tui.send(Msg::Started);
    let sends = |effect: &Effect| matches!(effect, Effect::Prompt(_));
    assert!(!effects.iter().any(sends), "{effects:?}");
    assert!(
        tui.frame()
            .contains("“Write the docs”: it cannot be opened")
    );
    assert_eq!(tui.text(), "go on");
}

#[test]
fn session_commands_work() {
    let own = || PathBuf::from("/s/own.jsonl");
    let open = |choice| session(SessionEffect::Open(choice));
    for (title, command, effect, said) in [
        ("", "/clone", None, "Nothing to copy"),
        ("First", "/clone", Some(open(Choice::Clone(own()))), ""),
        (
            "",
            "/session",
            Some(session(SessionEffect::ReadFacts(own()))),
            "",
        ),
    ] {
        let mut tui = stored();
        tui.app.status.session.as_mut().unwrap().title = title.into();
        tui.write(command);
        assert_eq!(tui.key("enter"), Vec::from_iter(effect), "{command}");
        assert!(tui.frame().contains(said), "{command}: {}", tui.frame());
    }
}

#[test]
fn the_session_page_shows_all_its_facts() {
    let mut tui = TestTui::new(100, 40);
    let mut facts = SessionFacts {
        path: "/home/me/s/own.jsonl".into(),
        id: "0193".into(),
        cwd: "/home/me/shop".into(),
        size: 12_345,
        branches: 2,
        entries: 40,
        prompts: 1200,
        first_prompt: "Fix the login.".into(),
        ..SessionFacts::default()
    };
    facts.usage.input = 12_000;
    facts.usage.cost.total = 0.25;
    tui.write("/session");
    tui.key("enter");
    let known = SessionResult::Facts(Ok(Box::new(facts)));
    tui.send(result(known));
    let frame = tui.frame();
    for text in [
        "name      Fix the login (first prompt; /name renames it)",
        "file      ~/s/own.jsonl",
        "size      12 kB",
        "messages  1,200 prompts",
        "branches  2 · 40 entries",
        "tokens    12,000 in",
        "cost      $0.25",
    ] {
        assert!(frame.contains(text), "{text}: {frame}");
    }
    let none = SessionResult::Facts(Err("No session yet".into()));
    tui.send(result(none));
    assert!(tui.frame().contains("No session yet"));
}
