//! Scenes with every question.

use std::sync::Arc;

use tiller::agent::permission::PermissionMode;
use tiller::agent::{AgentEvent, Phase, RunOutcome, RunState};
use tiller::app::tui::app::Start;
use tiller::llm::{AssistantMessage, Content, Message, StopReason};

use super::super::app_kit::TestTui;
use super::super::app_questions::{ask, change, choice, command, with_rule};
use super::super::app_trials::trial;
use super::Scene;

pub const SCENES: &[Scene] = &[
    ("asks_command", |tui| {
        asked(tui, &[command(1, "cargo publish --dry-run"), choice(2)]);
    }),
    ("asks_with_rule", |tui| {
        asked(tui, &[with_rule(1, "cargo test")]);
    }),
    ("asks_rule_selected", |tui| {
        asked(tui, &[with_rule(1, "cargo test")]);
        tui.key("2");
    }),
    ("asks_long_command", |tui| {
        asked(tui, &[command(1, &"echo a long word ".repeat(60))]);
    }),
    ("asks_change", |tui| asked(tui, &[change(1, 40)])),
    ("asks_choice", |tui| asked(tui, &[choice(1)])),
    ("asks_and_text_is_typed", |tui| {
        asked(tui, &[command(1, "make")]);
        tui.write("use ninja");
    }),
    ("asks_rule_edited", |tui| {
        asked(tui, &[with_rule(1, "cargo test")]);
        edit_rule(tui);
    }),
    ("asks_rule_faulty", |tui| {
        asked(tui, &[with_rule(1, "cargo test")]);
        edit_rule(tui);
        tui.now += 500;
        tui.write("\nsandbox = 3");
        tui.key("enter");
    }),
    ("asks_call_shown", |tui| {
        asked(tui, &[change(1, 40)]);
        tui.frame();
        tui.key("ctrl+o");
    }),
    ("asks_trust", |tui| {
        tui.app.start = Start {
            asks_trust: true,
            ..Start::default()
        };
    }),
    ("asks_trial", |tui| {
        tui.agent(trial());
    }),
    ("asks_to_quit", |tui| {
        tui.running(Phase::Streaming);
        tui.key("ctrl+d");
    }),
    ("asks_to_quit_again", |tui| {
        tui.key("ctrl+c");
    }),
    ("asks_full", |tui| {
        tui.app.status.permission = PermissionMode::Ask;
        tui.write("/permission full");
        tui.key("enter");
    }),
    ("plan_is_there", |tui| {
        tui.app.status.permission = PermissionMode::Plan;
        tui.agent(AgentEvent::AgentStart);
        let prompt = Arc::new(Message::user("Plan the fix", tui.now));
        let plan = Arc::new(Message::Assistant(AssistantMessage {
            content: vec![Content::text(PLAN)],
            stop_reason: StopReason::Stop,
            ..AssistantMessage::default()
        }));
        for message in [&prompt, &plan] {
            let message = Arc::clone(message);
            tui.agent(AgentEvent::MessageStart {
                message: Arc::clone(&message),
            });
            tui.agent(AgentEvent::MessageEnd { message });
        }
        tui.running(Phase::Streaming);
        tui.agent(AgentEvent::AgentEnd {
            totals: tiller::agent::RunTotals::default(),
            messages: vec![plan].into(),
            outcome: RunOutcome::Done,
        });
        tui.state(RunState::Idle);
        tui.wait(1_000);
    }),
    ("mode_auto", |tui| {
        tui.app.status.permission = PermissionMode::Auto;
    }),
    ("mode_ask", |tui| {
        tui.app.status.permission = PermissionMode::Ask;
    }),
    ("mode_plan", |tui| {
        tui.app.status.permission = PermissionMode::Plan;
    }),
];

const PLAN: &str = "## Plan\n\n1. **Compare in constant time** in `src/auth.rs`.\n2. Add tests for an empty \
and an expired token.\n3. Run the tests and clippy.\n\nNothing else compares tokens.";

fn edit_rule(tui: &mut TestTui) {
    tui.key("2");
    tui.key("right");
    tui.key("tab");
}

/// These questions have been open long enough to be answered.
fn asked(tui: &mut TestTui, questions: &[Arc<tiller::agent::Question>]) {
    tui.app.status.permission = PermissionMode::Ask;
    ask(tui, questions);
    tui.now += 500;
}
