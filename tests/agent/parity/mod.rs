//! The parity matrix: the same scenarios with every make of model, over its own wire and in its own
//! shape of editing, with real tools on real files. The rows are `scenarios`; the server holds each
//! request against the vendor's rules.

mod scenarios;
mod stage;
mod wires;

use tiller::agent::RunOutcome;
use tiller::llm::ThinkingLevel;

use stage::{Played, Profile, Stage};

/// What the user does.
#[derive(Clone, Copy, Debug)]
pub enum UserAction {
    /// Asks once.
    Asks,
    /// Says this while the first tool runs, and lets it go on by making the file `go`.
    Steers(&'static str),
    /// Asks, has the model think harder, asks again.
    WantsMoreThought,
}

async fn play(profile: Profile, row: &scenarios::Row) -> Played {
    let mut stage = Stage::new(profile, (row.replies)(profile));
    for (path, text) in row.files {
        stage.write(path, text);
    }
    stage.agent.prompt("Please");
    match row.user {
        UserAction::Asks => {}
        UserAction::Steers(text) => {
            stage.tool_started().await;
            stage.agent.steer(text);
            stage.queued().await;
            stage.write("go", "");
        }
        UserAction::WantsMoreThought => {
            let outcome = stage.agent.settled().await;
            assert_eq!(outcome, RunOutcome::Done, "{profile:?}");
            stage.agent.handle.set_thinking(ThinkingLevel::High);
            stage.agent.prompt("Again");
        }
    }
    let outcome = stage.agent.settled().await;
    assert_eq!(outcome, RunOutcome::Done, "{profile:?} {}", row.name);
    stage.played()
}

// Q 9 to 11, 9.12 a to o
#[tokio::test]
async fn every_make_of_model_does_every_job() {
    for row in scenarios::ROWS {
        for profile in Profile::ALL {
            let played = play(profile, row).await;
            played.events_are_whole(row.name);
            (row.check)(&played);
        }
    }
}

// M5, Q 9 to 12
#[tokio::test]
async fn the_first_request_is_small() {
    for profile in Profile::ALL.into_iter().chain([Profile::OpenAiChat]) {
        let mut stage = Stage::new(profile, vec![stage::Reply::text("ok")]);
        stage.agent.prompt("hi");
        stage.agent.settled().await;
        let played = stage.played();
        let request = &played.requests[0];
        println!("{profile:?}: {} bytes", request.raw_body.len());
        assert!(request.raw_body.len() <= 10_000, "{profile:?}");
        let text = request.text();
        let shape = profile.editing();
        assert!(text.contains(&format!("Use {shape} for changes")), "{text}");
        let tools = request.tools();
        for other in ["edit", "apply_patch", "replace"] {
            let offered = tools.iter().any(|tool| tool == other);
            assert_eq!(offered, other == shape, "{profile:?}: {tools:?}");
        }
        assert!(tools.iter().any(|tool| tool == "write"), "{tools:?}");
    }
}

// K23, M4, M8: another model, another shape of editing, from the next call on.
#[tokio::test]
async fn switching_the_model_switches_the_editing_tool() {
    let replies = || {
        vec![
            stage::Reply::text("one"),
            stage::Reply::text("two"),
            stage::Reply::text("three"),
        ]
    };
    let mut stage = Stage::new(Profile::Anthropic, replies());
    for (index, profile) in [Profile::Anthropic, Profile::OpenAi, Profile::Gemini]
        .into_iter()
        .enumerate()
    {
        if index > 0 {
            let model = stage.model(profile);
            stage.agent.handle.set_model(model);
        }
        stage.agent.prompt("go");
        stage.agent.settled().await;
        let tools = stage.server.request(index).tools();
        assert!(
            tools.iter().any(|tool| tool == profile.editing()),
            "{profile:?}: {tools:?}"
        );
    }
}
