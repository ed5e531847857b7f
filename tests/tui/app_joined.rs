//! A screen that joins a session, and one whose session another screen replaces.

use std::sync::Arc;

use tiller::agent::permission::PermissionMode;
use tiller::agent::session::HistoryFacts;
use tiller::agent::tool::{Details, DiffDetails};
use tiller::agent::{
    AgentEvent, Budget, PermissionSubject, Question, RunState, SessionInfo, Snapshot, Subject,
};
use tiller::app::sessions::SessionScope;
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::effects::session_effect::SessionEffect;
use tiller::app::tui::msg::Msg;
use tiller::llm::{AssistantMessage, Content, Message, StopReason, ThinkingLevel, Usage};

use super::app_kit::{TestTui, prompt};
use super::transcript_support::branch;

/// A screen in this mode that joins an idle session after an answer.
fn joined(permission: PermissionMode, answer: AssistantMessage) -> TestTui {
    let mut tui = TestTui::new(100, 24);
    tui.app.status.permission = permission;
    let prompt = Message::user("the prompt", 1);
    let messages = [prompt, Message::Assistant(answer)].map(Arc::new);
    let model = Arc::clone(&tui.app.status.model);
    tui.send(Msg::Joined(Arc::new(Snapshot {
        branch: branch(&messages),
        facts: Arc::new(HistoryFacts::of(&messages)),
        state: RunState::Idle,
        questions: Vec::new(),
        steering: Vec::new(),
        follow_up: Vec::new(),
        model,
        thinking: ThinkingLevel::Medium,
        permission,
        budget: Budget::default(),
        usage: Usage::default(),
        rules: Arc::default(),
        session: SessionInfo {
            id: String::new(),
            path: None,
            name: None,
            first_prompt: None,
            read_only: false,
        },
    })));
    tui
}

#[test]
fn enter_retries_a_failure_from_before_the_screen_joined() {
    let failed = AssistantMessage {
        stop_reason: StopReason::Error,
        error_message: Some("overloaded".into()),
        ..AssistantMessage::default()
    };
    let mut tui = joined(PermissionMode::Full, failed);
    let frame = tui.frame();
    assert!(frame.contains("Enter retry"), "{frame}");
    assert_eq!(tui.key("enter"), [Effect::GoOn]);
}

#[test]
fn enter_runs_a_plan_from_before_the_screen_joined() {
    let plan = AssistantMessage {
        content: vec![Content::text("## Plan\n\n1. Fix it\n2. Test it")],
        stop_reason: StopReason::Stop,
        ..AssistantMessage::default()
    };
    let mut tui = joined(PermissionMode::Plan, plan);
    tui.frame();
    tui.now += 2000;
    let run = [
        Effect::SetPermission(PermissionMode::Auto),
        prompt("Carry out the plan."),
    ];
    assert_eq!(tui.key("enter"), run);
}

/// It missed the start of the call, which names the file.
#[test]
fn a_call_that_waits_for_an_answer_shows_its_file() {
    let mut tui = TestTui::new(100, 24);
    let of = |path: &str, diff: &str| {
        Arc::new(Details::Diff(DiffDetails {
            path: path.into(),
            diff: diff.into(),
            ..DiffDetails::default()
        }))
    };
    tui.agent(AgentEvent::ToolStart {
        call_id: "c1".into(),
        name: "write".into(),
        args: Arc::default(),
        details: of("", ""),
    });
    assert!(!tui.frame().contains("notes.md"), "{}", tui.frame());
    let question = Question {
        id: 1,
        call_id: "c1".into(),
        tool: "write".into(),
        subject: Subject::Permission(PermissionSubject {
            rule: None,
            reason: "it writes".into(),
            again: None,
            details: of("notes.md", "+1 hello"),
            network: false,
            flagged: Vec::new(),
            by_hand: None,
            suggestions: Vec::new(),
        }),
    };
    let open = vec![Arc::new(question)];
    tui.agent(AgentEvent::Questions { open });
    let frame = tui.frame();
    assert!(frame.contains("? write notes.md"), "{frame}");
}

#[test]
fn popups_about_a_session_close_with_it() {
    let opened = |path: &str| AgentEvent::SessionOpened {
        facts: Arc::default(),
        branch: branch(&[]),
        path: Some(path.into()),
        name: None,
        first_prompt: None,
        read_only: false,
    };
    let mut tui = TestTui::new(100, 24);
    tui.agent(opened("/s/a.jsonl"));
    for (command, is_left) in [("/status", false), ("/help", true), ("/resume", true)] {
        tui.write(command);
        tui.key("enter");
        tui.agent(opened("/s/a.jsonl"));
        assert_eq!(tui.app.overlays.len(), 1, "{command}");
        let effects = tui.agent(opened("/s/b.jsonl"));
        assert_eq!(tui.app.overlays.len(), usize::from(is_left), "{command}");
        // The list doesn't offer the own session.
        let list = Effect::Session(SessionEffect::List(SessionScope::Folder));
        assert_eq!(effects.contains(&list), command == "/resume", "{effects:?}");
        tui.app.overlays.clear();
        tui.agent(opened("/s/a.jsonl"));
    }
}
