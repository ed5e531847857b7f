//! The session tree on the screen: display, search, folding, labels and jumps.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tiller::agent::session::{Body, HistoryFacts, NodeId, Session};
use tiller::agent::{AgentEvent, Leaving, Phase};
use tiller::app::branches::Outline;
use tiller::app::sessions::Choice;
use tiller::app::tui::app::SessionInfo;
use tiller::app::tui::effects::effect::{Effect, TreeEffect};
use tiller::app::tui::effects::session_effect::SessionEffect;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::llm::{Content, Message};

use super::app_kit::TestTui;
use super::transcript_support::branch;

fn say(session: &mut Session, message: &serde_json::Value) -> NodeId {
    let message: Message = serde_json::from_value(message.clone()).expect("a message");
    let message = Arc::new(message);
    session.append(Body::Message { message });
    session.tree().leaf().expect("said")
}

fn user(session: &mut Session, text: &str) -> NodeId {
    say(
        session,
        &json!({"role": "user", "content": text, "timestamp": 1}),
    )
}

fn answer(session: &mut Session, text: &str, calls: &[&str]) -> NodeId {
    let text = json!({"type": "text", "text": text});
    let calls = calls.iter().map(|name| {
        json!({"type": "toolCall", "id": name, "name": name, "arguments": {"path": "src/a.rs"}})
    });
    let content: Vec<_> = std::iter::once(text).chain(calls).collect();
    say(
        session,
        &json!({"role": "assistant", "content": content, "api": "scripted", "provider": "lab",
            "model": "m", "stopReason": "stop", "timestamp": 1}),
    )
}

fn result(session: &mut Session, tool: &str) -> NodeId {
    say(
        session,
        &json!({"role": "toolResult", "toolCallId": tool, "toolName": tool, "content": [],
            "isError": false, "timestamp": 1}),
    )
}

/// A session with two branches, currently at the end of the first.
pub(super) fn session() -> Session {
    let mut session = Session::unstored(Path::new("/w"));
    user(&mut session, "Fix the login");
    answer(&mut session, "", &["grep", "read"]);
    result(&mut session, "grep");
    result(&mut session, "read");
    let fork = answer(&mut session, "There are two ways.", &[]);
    user(&mut session, "Take the first");
    let first = answer(&mut session, "First way taken.", &[]);
    session.go_to(Some(fork));
    user(&mut session, "Take the second");
    let second = answer(&mut session, "Second way taken.", &[]);
    let target_id = session.tree().id(second).to_owned();
    let label = Some(String::from("green"));
    session.append(Body::Label { target_id, label });
    session.go_to(Some(first));
    session
}

fn open(session: &Session) -> TestTui {
    let mut tui = TestTui::new(80, 30);
    tui.write("/tree");
    assert_eq!(tui.key("enter"), [Effect::Tree(TreeEffect::Read)]);
    assert!(tui.frame().contains("Reading…"));
    let outline = Box::new(Outline::of(&session.snapshot()));
    tui.send(Msg::Done(EffectResult::Tree(outline)));
    tui
}

/// The rows of the list without their right-hand part.
fn rows(tui: &mut TestTui) -> Vec<String> {
    let frame = tui.frame();
    let lines = frame.lines().skip_while(|line| !line.contains("─ Tree ─"));
    let lines = lines.skip(2).map(|line| line.trim_matches(['│', ' ']));
    let lines = lines.take_while(|line| !line.starts_with("──") && !line.starts_with('╰'));
    let lines = lines.map(|line| line.trim_end_matches(['│', ' ']));
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

fn id(session: &Session, text: &str) -> String {
    let outline = Outline::of(&session.snapshot());
    let mut entries = outline.entries().iter();
    entries
        .find(|entry| entry.text == text)
        .expect(text)
        .id
        .clone()
}

#[test]
fn all_branches_are_shown_with_the_current_place() {
    let mut tui = open(&session());
    assert_eq!(
        rows(&mut tui),
        [
            "❯ Fix the login",
            "grep src/a.rs · read src/a.rs",
            "There are two ways.",
            "├─ ❯ Take the first",
            "● │  First way taken.",
            "└─ ❯ Take the second",
            "⟦green⟧ Second way taken."
        ]
    );
    for (filter, expected) in [
        (
            "no tools",
            &[
                "❯ Fix the login",
                "There are two ways.",
                "├─ ❯ Take the first",
                "● │  First way taken.",
                "└─ ❯ Take the second",
                "⟦green⟧ Second way taken.",
            ][..],
        ),
        (
            "prompts",
            &[
                "❯ Fix the login",
                "● ├─ ❯ Take the first",
                "└─ ❯ Take the second",
            ][..],
        ),
        ("labelled", &["⟦green⟧ Second way taken."][..]),
    ] {
        tui.key("tab");
        assert!(tui.frame().contains(filter));
        assert_eq!(rows(&mut tui), expected);
    }
    tui.key("tab");
    assert!(rows(&mut tui).iter().any(|row| row.contains("tiller.leaf")));
    tui.key("shift+tab");
    assert_eq!(rows(&mut tui), ["⟦green⟧ Second way taken."]);
}

#[test]
fn a_search_keeps_the_selection_and_branches_fold() {
    let mut tui = open(&session());
    tui.write("way");
    assert_eq!(
        rows(&mut tui),
        [
            "There are two ways.",
            "● ├─ First way taken.",
            "└─ ⟦green⟧ Second way taken."
        ]
    );
    tui.write(" green");
    assert_eq!(rows(&mut tui), ["⟦green⟧ Second way taken."]);
    tui.key("ctrl+u");
    // Left goes to the start of the branch, then folds it. From a folded branch it goes up, and
    // right goes back in.
    tui.key("end");
    for _ in 0..2 {
        tui.key("left");
    }
    let folded = rows(&mut tui);
    assert!(folded[5].starts_with("└─ ❯ Take the second"), "{folded:?}");
    assert!(
        folded[5].contains("+1 folded") && folded.len() == 6,
        "{folded:?}"
    );
    tui.key("left");
    tui.key("right");
    tui.key("right");
    tui.key("right");
    assert_eq!(rows(&mut tui).len(), 7, "{}", tui.frame());
}

#[test]
fn enter_jumps_to_an_entry_unless_a_run_is_active() {
    let session = session();
    let mut tui = open(&session);
    assert!(
        !tui.frame().contains("summary"),
        "this jump would leave nothing behind"
    );
    tui.key("up");
    assert!(tui.frame().contains("Alt+Enter continue with a summary"));
    let chosen = id(&session, "Take the first");
    let frame = tui.frame();
    assert!(frame.contains(&chosen), "the id for commands: {frame}");
    tui.running(Phase::Requesting);
    assert_eq!(tui.key("enter"), []);
    assert!(tui.frame().contains("Esc stops it"), "{}", tui.frame());
    tui.state(tiller::agent::RunState::Idle);
    tui.now += 300;
    assert_eq!(
        tui.key("enter"),
        [Effect::Tree(TreeEffect::GoTo(chosen, Leaving::Silently))]
    );
    assert!(tui.app.overlays.is_empty());

    let mut tui = open(&session);
    tui.key("home");
    let first = id(&session, "Fix the login");
    let jump = TreeEffect::GoTo(first, Leaving::WithSummary);
    assert_eq!(tui.key("alt+enter"), [Effect::Tree(jump)]);
}

#[test]
fn a_prompt_goes_into_the_editor_and_the_draft_into_the_history() {
    let mut tui = TestTui::new(80, 24);
    tui.write("my draft");
    let messages = vec![Arc::new(Message::user("Fix the login", 1))];
    let moved = |prompt: Option<&str>, to| AgentEvent::Moved {
        facts: Arc::new(HistoryFacts::of(&messages)),
        branch: branch(&messages),
        prompt: prompt.map(|prompt| vec![Content::text(prompt)]),
        to,
    };
    tui.agent(moved(None, 0));
    assert_eq!(tui.text(), "my draft", "no prompt replaces the draft");
    tui.agent(moved(Some("Of another screen"), 1));
    assert_eq!(tui.text(), "my draft");
    tui.agent(moved(Some("Take the first\nnow"), 0));
    assert_eq!(tui.text(), "Take the first\nnow");
    assert!(tui.frame().contains("❯ Fix the login"));
    assert_eq!(tui.app.composer.history().get(1), Some("my draft"));
}

#[test]
fn entries_are_labelled_in_the_tree() {
    let session = session();
    let mut tui = open(&session);
    tui.key("alt+l");
    tui.write("try me");
    assert!(tui.frame().contains("label › try me"));
    tui.key("esc");
    assert!(!tui.frame().contains("try me"), "the label was not saved");
    tui.key("alt+l");
    tui.write("  good ");
    let first = id(&session, "First way taken.");
    let label = |label: Option<&str>| {
        let label = label.map(str::to_owned);
        Effect::Tree(TreeEffect::Label(first.clone(), label))
    };
    assert_eq!(tui.key("enter"), [label(Some("good"))]);
    assert!(tui.frame().contains("⟦good⟧ First way taken."));
    tui.key("ctrl+b");
    tui.key("ctrl+u");
    assert_eq!(tui.key("enter"), [label(None)]);
    assert!(!tui.frame().contains("⟦good⟧"));
}

#[test]
fn a_key_takes_back_the_last_prompt() {
    let mut tui = TestTui::new(80, 24);
    assert_eq!(tui.key("alt+e"), [Effect::Tree(TreeEffect::EditLast)]);
    tui.running(Phase::Requesting);
    assert_eq!(tui.key("alt+e"), []);
}

#[test]
fn a_fork_starts_at_a_chosen_prompt() {
    let session = session();
    let mut tui = TestTui::new(80, 30);
    tui.write("/fork");
    assert_eq!(tui.key("enter"), [], "nothing is stored");
    tui.app.status.session = Some(SessionInfo {
        file: "/s/own.jsonl".into(),
        ..SessionInfo::default()
    });
    tui.write("/fork");
    assert_eq!(tui.key("enter"), [Effect::Tree(TreeEffect::Read)]);
    let outline = Box::new(Outline::of(&session.snapshot()));
    tui.send(Msg::Done(EffectResult::Tree(outline)));
    let frame = tui.frame();
    assert!(frame.contains("Fork into a new session") && !frame.contains("First way taken."));
    tui.write("second");
    let fork = Choice::ForkAt("/s/own.jsonl".into(), id(&session, "Take the second"));
    assert_eq!(
        tui.key("enter"),
        [Effect::Session(SessionEffect::Open(fork))]
    );
    tui.send(Msg::Done(EffectResult::Forked("Take the second".into())));
    assert_eq!(tui.text(), "Take the second");
}

/// The text that the model gets for a stopped call doesn't show below the user's notice.
#[test]
fn a_stopped_call_shows_one_message() {
    let mut session = Session::unstored(Path::new("/w"));
    user(&mut session, "Wait for it");
    answer(&mut session, "", &["bash"]);
    let content = json!([{"type": "text", "text": "Execution cancelled\nfirst line"}]);
    say(
        &mut session,
        &json!({"role": "toolResult", "toolCallId": "bash", "toolName": "bash", "content": content,
            "isError": true, "timestamp": 1}),
    );
    let outline = Outline::of(&session.snapshot());
    let texts: Vec<&str> = outline.entries().iter().map(|it| &*it.text).collect();
    assert!(texts.contains(&"bash stopped\nfirst line"), "{texts:?}");
}

#[test]
fn it_fits_every_screen() {
    let session = session();
    for (width, height) in [(1, 1), (20, 5), (40, 10), (60, 16), (200, 60)] {
        let mut tui = TestTui::new(width, height);
        tui.write("/tree");
        tui.key("enter");
        let outline = Box::new(Outline::of(&session.snapshot()));
        tui.send(Msg::Done(EffectResult::Tree(outline)));
        tui.frame();
        tui.key("alt+l");
        tui.frame();
    }
}

#[test]
fn the_tree_handles_ten_thousand_forks() {
    let mut session = Session::unstored(Path::new("/w"));
    for n in 0..5_000 {
        let at = session.tree().leaf();
        user(&mut session, &format!("left {n}"));
        session.go_to(at);
        user(&mut session, &format!("prompt {n}"));
    }
    let mut tui = open(&session);
    assert!(tui.frame().contains("10,000"));
    assert!(
        rows(&mut tui)
            .iter()
            .any(|row| row.contains("● …") && row.contains("prompt 4999"))
    );
    tui.write("prompt 49");
    tui.key("home");
    assert!(tui.frame().contains("prompt 49 "));
}
