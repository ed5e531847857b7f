//! The parity matrix: the same scenarios with each vendor's model, over its wire and with its
//! editing tool. The tools and files are real. The rows are in `scenarios`; the mock server checks
//! each request against the vendor's rules.

mod scenarios;
mod stage;
mod wires;

use tiller::agent::RunOutcome;
use tiller::llm::ThinkingLevel;

use stage::{Played, Profile, Stage};

/// What the user does.
#[derive(Clone, Copy, Debug)]
pub enum UserAction {
    /// Sends the prompt once.
    Asks,
    /// Sends this while the first tool runs, then lets the tool end by creating the file `go`.
    Steers(&'static str),
    /// Sends the prompt, raises the thinking level, sends it again.
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

#[tokio::test]
async fn each_vendors_model_completes_every_scenario() {
    for row in scenarios::ROWS {
        for profile in Profile::ALL {
            let played = play(profile, row).await;
            played.events_are_whole(row.name);
            (row.check)(&played);
        }
    }
}

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

// Another model can have another editing tool, from the next call on.
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
