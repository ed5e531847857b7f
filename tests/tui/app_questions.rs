//! The question strip: what it shows, which keys answer, and that nothing typed is an answer.

use std::sync::Arc;

use tiller::agent::tool::{CommandDetails, Details};
use tiller::agent::{
    AgentEvent, Answer, ChoiceSubject, PermissionSubject, Phase, Question, QueueKind, RunState,
    Subject,
};
use tiller::app::tui::effect::Effect;
use tiller::llm::Content;

use super::app_kit::*;

fn command(id: u64, command: &str) -> Arc<Question> {
    Arc::new(Question {
        id,
        call_id: format!("c{id}"),
        tool: "bash".into(),
        subject: Subject::Permission(PermissionSubject {
            reason: "it needs the network".into(),
            details: Arc::new(Details::Command(CommandDetails {
                command: command.into(),
                ..CommandDetails::default()
            })),
            suggestions: Vec::new(),
        }),
    })
}

fn choice(id: u64) -> Arc<Question> {
    Arc::new(Question {
        id,
        call_id: format!("c{id}"),
        tool: "ask_user".into(),
        subject: Subject::Choice(ChoiceSubject {
            question: "Which database should it use?".into(),
            choices: vec!["Postgres".into(), "SQLite".into()],
        }),
    })
}

/// A screen on which these questions have been open for half a second.
fn asked(questions: &[Arc<Question>]) -> TestTui {
    let mut tui = TestTui::new(90, 24);
    ask(&mut tui, questions);
    tui.now += 500;
    tui
}

fn ask(tui: &mut TestTui, questions: &[Arc<Question>]) {
    tui.agent(AgentEvent::State(RunState::Running {
        phase: Phase::Asking,
    }));
    tui.agent(AgentEvent::Questions {
        open: questions.to_vec(),
    });
}

#[test]
fn it_shows_what_is_asked_why_and_how_to_answer() {
    let mut tui = asked(&[command(1, "cargo publish --dry-run"), choice(2)]);
    let frame = tui.frame();
    for words in [
        "? Run this command?  it needs the network  1 of 2",
        "│ cargo publish --dry-run",
        "y once · n no · or type why not",
        "waiting for your answer",
        "Esc stops",
    ] {
        assert!(frame.contains(words), "{words}: {frame}");
    }
    let mut tui = asked(&[choice(2)]);
    let frame = tui.frame();
    for words in [
        "? Which database should it use?",
        "1 Postgres",
        "2 SQLite",
        "a number chooses · or type an answer, Enter sends it",
    ] {
        assert!(frame.contains(words), "{words}: {frame}");
    }
}

#[test]
fn the_answers_stay_on_the_screen_however_long_the_command_and_small_the_screen() {
    let long = "echo a long word ".repeat(60);
    for (width, height) in [(90, 24), (40, 10), (20, 8)] {
        let mut tui = TestTui::new(width, height);
        ask(&mut tui, &[command(1, &long)]);
        let frame = tui.frame();
        assert!(frame.contains("y once · n no"), "{width}x{height}: {frame}");
        assert!(frame.contains("? Run"), "{width}x{height}: {frame}");
    }
}

#[test]
fn keys_answer_on_the_empty_editor_only_and_not_at_once() {
    let once = [Effect::Answer(1, Answer::once())];
    let refused = [Effect::Answer(1, Answer::Refuse { reason: None })];
    let mut tui = asked(&[command(1, "make")]);
    assert_eq!(tui.key("y"), once);
    let mut tui = asked(&[command(1, "make")]);
    assert_eq!(tui.key("n"), refused);
    let mut tui = asked(&[choice(1)]);
    assert_eq!(
        tui.key("2"),
        [Effect::Answer(1, Answer::Reply("SQLite".into()))]
    );

    // Typed as it appeared.
    for question in [command(1, "make"), choice(1)] {
        let mut tui = TestTui::new(90, 24);
        ask(&mut tui, &[question]);
        tui.now += 399;
        for key in ["y", "n", "2"] {
            assert_eq!(tui.key(key), []);
        }
        assert_eq!(tui.app.composer.text(), "yn2");
        tui.now += 2;
        assert_eq!(tui.key("y"), []);
        assert_eq!(tui.app.composer.text(), "yn2y");
    }
}

#[test]
fn a_text_refuses_the_call_and_says_why_or_is_the_answer() {
    let because = |text: &str| Answer::Refuse {
        reason: Some(text.into()),
    };
    let mut tui = asked(&[command(1, "make")]);
    tui.write("use ninja");
    assert_eq!(tui.key("enter"), [Effect::Answer(1, because("use ninja"))]);
    assert_eq!(tui.app.composer.text(), "");
    let mut tui = asked(&[choice(1)]);
    tui.write("none");
    assert_eq!(
        tui.key("enter"),
        [Effect::Answer(1, Answer::Reply("none".into()))]
    );

    // Sent before it could be read, it is a message like any other.
    let mut tui = TestTui::new(90, 24);
    tui.write("by the way");
    ask(&mut tui, &[command(1, "make")]);
    tui.now += 100;
    assert_eq!(
        tui.key("enter"),
        [Effect::Prompt(vec![Content::text("by the way")])]
    );
    // What is queued for later is no answer either.
    let mut tui = asked(&[command(1, "make")]);
    tui.write("then test");
    assert_eq!(
        tui.key("alt+enter"),
        [Effect::Queue(
            QueueKind::FollowUp,
            vec![Content::text("then test")]
        )]
    );
    assert_eq!(tui.key("esc"), [Effect::Abort]);
}

#[test]
fn the_next_question_wants_its_own_time() {
    let mut tui = asked(&[command(1, "make"), command(2, "make install")]);
    assert_eq!(tui.key("y"), [Effect::Answer(1, Answer::once())]);
    assert!(tui.frame().contains("make install"));
    assert_eq!(tui.key("y"), [], "meant for the first one");
    tui.key("backspace");
    tui.now += 500;
    assert_eq!(tui.key("y"), [Effect::Answer(2, Answer::once())]);
    assert!(!tui.frame().contains("Run this command?"));
}
