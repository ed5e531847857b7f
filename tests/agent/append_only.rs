//! The append-only law: each request of a session begins with the request before it, whatever
//! happens in between. On Anthropic's wire the mock server also rejects thinking whose prefix has
//! changed, so such a change fails the test.

use std::sync::{Arc, Mutex};

use jiff::civil::{Date, date};
use proptest::prelude::*;
use serde_json::json;
use tiller::agent::permission::PermissionMode;
use tiller::agent::{
    AgentEvent, CompactionRules, LoopRules, RetryRules, RunOutcome, ToolSettings, Toolbox,
};
use tiller::llm::{BlockKind, ErrorClass, LlmError, Model, StreamEvent};

use super::fixture::{
    Act, Gate, Setup, Step, TestAgent, agent, call_block, say, start, text_block,
};
use crate::llm::kit;
use crate::support::model_server::{Failure, ModelServer, Recorded, Reply, Said, Script, Wire};
use crate::support::prefix::{beginning, goes_on_from, unmark};

/// One session over one wire. Agents are replaced; the session file stays.
struct Session {
    server: ModelServer,
    wire: Wire,
    today: Arc<Mutex<Date>>,
    agent: TestAgent,
    /// The number of requests at each rewind or compaction.
    turned: Vec<usize>,
}

type Tools = Vec<(&'static str, bool, Act)>;

fn tools(names: &[&'static str]) -> Tools {
    let tool = |name: &&'static str| (*name, true, Act::Succeed("fine".into()));
    names.iter().map(tool).collect()
}

fn rules() -> LoopRules {
    LoopRules {
        retry: RetryRules {
            max: 2,
            base_ms: 1,
            ..RetryRules::default()
        },
        compaction: CompactionRules {
            keep_recent_tokens: 1,
            ..CompactionRules::default()
        },
        ..LoopRules::default()
    }
}

fn setup(server: &ModelServer, wire: Wire, today: &Arc<Mutex<Date>>) -> Setup {
    let today = Arc::clone(today);
    Setup {
        provider: Some(Arc::new(kit::wires(server))),
        model: Some(kit::model(wire, &server.url(wire))),
        tools: tools(&["read", "grep"]),
        rules: rules(),
        today: Some(Arc::new(move || *today.lock().unwrap())),
        ..Setup::default()
    }
}

impl Session {
    fn new(wire: Wire) -> Self {
        let server = ModelServer::start(Script::of([]));
        let today = Arc::new(Mutex::new(date(2026, 11, 22)));
        Self {
            agent: setup(&server, wire, &today).start(),
            server,
            wire,
            today,
            turned: Vec::new(),
        }
    }

    fn model(&self, id: &str) -> Model {
        Model {
            id: id.into(),
            ..kit::model(self.wire, &self.server.url(self.wire))
        }
    }

    async fn ask(&mut self, replies: impl IntoIterator<Item = Reply>) -> RunOutcome {
        replies
            .into_iter()
            .for_each(|reply| self.server.push(reply));
        self.agent.prompt("Please");
        self.agent.settled().await
    }

    async fn ask_and_abort(&mut self) {
        let half = think("Half.").and_call("grep", json!({})).say("Half an");
        self.server.push(half.stall());
        self.agent.prompt("Begin");
        let said = |event: &AgentEvent| {
            matches!(
                event,
                AgentEvent::MessageUpdate {
                    event: StreamEvent::BlockDelta {
                        kind: BlockKind::Text,
                        ..
                    }
                }
            )
        };
        self.agent.until(said).await;
        self.agent.handle.abort();
        assert_eq!(self.agent.settled().await, RunOutcome::Aborted);
    }

    async fn retry_or_continue(&mut self, reply: Reply) {
        // A complete answer needs no new request, and its position in the session can have changed.
        let turned = self.turned.last() == Some(&self.server.requests().len());
        let stored = self.agent.stored();
        if !turned
            && stored
                .last()
                .is_some_and(|last| !last.starts_with("assistant"))
        {
            self.server.push(reply);
            self.agent.handle.go_on();
            self.agent.settled().await;
        }
    }

    /// Sends a steering message while the model answers.
    async fn ask_and_steer(&mut self) {
        let gate = format!("steered-{}", self.server.requests().len());
        let half = think("Hm.").say("Half").gate(&gate).say(" and whole.");
        self.server.push(half);
        self.server.push(think("So.").say("Yes."));
        self.agent.prompt("Please");
        let said = |event: &AgentEvent| {
            matches!(
                event,
                AgentEvent::MessageUpdate {
                    event: StreamEvent::BlockDelta {
                        kind: BlockKind::Text,
                        ..
                    }
                }
            )
        };
        self.agent.until(said).await;
        self.agent.steer("Rather so");
        self.server.release(&gate);
        assert_eq!(self.agent.settled().await, RunOutcome::Done);
    }

    /// Compacts. With too little to summarize, no request is sent.
    async fn compact(&mut self) {
        let before = self.server.requests().len();
        self.server.push(Reply::text("A summary."));
        self.agent.handle.compact(None);
        let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
        self.agent.until(settled).await;
        self.turn();
        if self.server.requests().len() == before {
            self.ask([]).await;
        }
    }

    fn edit_last_prompt(&mut self) {
        self.agent.handle.edit_last_prompt();
        self.turn();
    }

    fn turn(&mut self) {
        self.turned.push(self.server.requests().len());
    }

    fn next_day(&self) {
        let mut today = self.today.lock().unwrap();
        *today = today.tomorrow().unwrap();
    }

    /// Starts another agent on the stored session, with another system prompt and these tools.
    async fn restart(&mut self, tools: Tools) {
        self.agent.handle.shutdown().await;
        self.agent = Setup {
            system_prompt: Some("The prompt of a later release.".into()),
            tools,
            resume: Some((Arc::clone(&self.agent.folder), self.agent.session.clone())),
            ..setup(&self.server, self.wire, &self.today)
        }
        .start();
    }

    /// The requests to the model `id`, each with its index.
    fn requests_to(&self, id: &str) -> Vec<(usize, Recorded)> {
        let to = |(_, request): &(usize, Recorded)| {
            request.body["model"] == id || (request.path.contains(&format!("{id}:")))
        };
        let requests = self.server.requests().into_iter().enumerate();
        requests.filter(to).collect()
    }

    #[track_caller]
    fn is_append_only(&self, id: &str) {
        let requests = self.requests_to(id);
        for wire in Wire::ALL.map(Some) {
            let over = requests.iter().filter(|(_, request)| request.wire == wire);
            let over: Vec<_> = over.collect();
            for pair in over.windows(2) {
                let ((first, before), (number, after)) = (pair[0], pair[1]);
                let between = first + 1..=*number;
                assert!(
                    self.turned.iter().any(|turn| between.contains(turn))
                        || goes_on_from(&before.body, &after.body),
                    "request {number} over {wire:?} does not begin with the one before:\n{}\n{}",
                    before.text(),
                    after.text(),
                );
            }
        }
    }
}

fn think(thought: &str) -> Reply {
    Reply::new().think(thought)
}

fn calls() -> Reply {
    think("Look.").and_call("read", json!({}))
}

fn users(request: &Recorded) -> Vec<String> {
    let user = |said| match said {
        Said::User(text) => Some(text),
        _ => None,
    };
    request.said().into_iter().filter_map(user).collect()
}

#[tokio::test]
async fn a_session_stays_append_only_over_midnight_restarts_and_aborts() {
    for wire in Wire::ALL {
        let mut session = Session::new(wire);
        let id = kit::model(wire, "").id;
        session.ask([calls(), think("Both.").say("Done.")]).await;
        session.ask_and_abort().await;
        session
            .retry_or_continue(think("On.").say("the rest."))
            .await;
        session.next_day();
        session
            .ask([
                Reply::error(Failure::Overloaded),
                calls(),
                think("So.").say("Yes."),
            ])
            .await;
        session.ask_and_abort().await;
        session.restart(tools(&["read"])).await;
        session.ask([think("Again.").say("Again.")]).await;
        session.restart(tools(&["read"])).await;
        session.ask([think("Still.").say("Still.")]).await;
        session.is_append_only(&id);
        let last = session.server.requests().pop().unwrap();
        let said = users(&last).join("\n");
        for (note, times) in [
            ("[interrupted by the user]", 2),
            ("[The date is now 2026-11-23]", 1),
            ("[Tools no longer available: grep]", 1),
        ] {
            assert_eq!(said.matches(note).count(), times, "{wire:?} {note}: {said}");
        }
        assert!(last.text().contains("Date: 2026-11-22"), "{wire:?}");
        assert!(!last.text().contains("later release"), "{wire:?}");
        assert!(last.tools().contains(&"grep".to_owned()), "{wire:?}");
    }
}

#[tokio::test]
async fn a_branch_repeats_the_bytes_up_to_its_fork() {
    for wire in Wire::ALL {
        let mut session = Session::new(wire);
        session.ask([calls(), think("Both.").say("Done.")]).await;
        session.ask([calls(), think("So.").say("Yes.")]).await;
        session.next_day();
        session.agent.handle.edit_last_prompt();
        session.ask([calls(), think("Other.").say("No.")]).await;
        session.restart(tools(&["read", "grep"])).await;
        session.ask([think("Still.").say("Still.")]).await;
        let requests = session.server.requests();
        let begun = |request: usize| {
            let text = beginning(&requests[request].body);
            text.trim_end_matches(['"', '}', ']']).to_owned()
        };
        // The first run's two calls, then the abandoned branch, then the branch that continues.
        for (before, after) in [(0, 1), (1, 2), (2, 3), (1, 4), (4, 5), (5, 6)] {
            assert!(
                begun(after).starts_with(&begun(before)),
                "{wire:?}: {after} does not begin with {before}"
            );
        }
        let last = users(&requests[6]).join("\n");
        assert_eq!(last.matches("Please").count(), 3, "{wire:?}: {last}");
    }
}

#[tokio::test]
async fn models_of_one_wire_share_the_prefix() {
    let mut session = Session::new(Wire::Anthropic);
    let (sonnet, opus) = (
        session.model("claude-sonnet-5-5"),
        session.model("claude-opus-5-5"),
    );
    for model in [&sonnet, &opus, &sonnet, &opus] {
        session.agent.handle.set_model(model.clone());
        session.ask([calls(), think("Hm.").say("Yes.")]).await;
    }
    session.is_append_only(&sonnet.id);
    session.is_append_only(&opus.id);
    let requests = session.server.requests();
    let head = |request: &Recorded| {
        [
            request.body["system"].clone(),
            request.body["tools"].clone(),
        ]
    };
    let heads: Vec<_> = requests.iter().map(head).collect();
    let unmarked = heads.iter().cloned().map(|mut head| {
        head.iter_mut().for_each(unmark);
        head
    });
    let unmarked: Vec<_> = unmarked.collect();
    assert!(unmarked.iter().all(|head| *head == unmarked[0]));
}

#[tokio::test]
async fn continuing_after_half_an_answer_stores_a_message() {
    let gate = Gate::new();
    let mut half = vec![start()];
    half.extend(text_block(0, "I will"));
    half.extend(call_block(1, "c1", "read", "{\"pa").drain(..2));
    half.push(Step::Wait(gate.clone()));
    let mut agent = agent(vec![half, say("ok"), say("ok")], tools(&["read"]));
    agent.prompt("Go");
    gate.reached().await;
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    agent.handle.go_on();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    agent.prompt("And?");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let asked = agent.request(1);
    let last = asked.last().unwrap();
    assert_eq!(last, "note: [interrupted by the user]\n[continue]");
    assert_eq!(agent.request(2)[..asked.len()], asked);
    assert_eq!(agent.stored()[..asked.len()], asked);
}

#[tokio::test]
async fn a_model_that_takes_over_in_mid_turn_keeps_getting_the_thinking() {
    let server = ModelServer::start(Script::of([]));
    let today = Arc::new(Mutex::new(date(2026, 11, 22)));
    let other = kit::model(Wire::Chat, &server.url(Wire::Chat));
    let agent = Setup {
        fallback: vec![other.clone()],
        ..setup(&server, Wire::Anthropic, &today)
    };
    let mut session = Session {
        agent: agent.start(),
        server,
        wire: Wire::Anthropic,
        today,
        turned: Vec::new(),
    };
    let down = vec![Reply::error(Failure::Overloaded); 3];
    let replies = [calls()]
        .into_iter()
        .chain(down)
        .chain([Reply::text("Taken over.")]);
    session.ask(replies).await;
    session.ask([think("Back.").say("Back.")]).await;
    let down = vec![Reply::error(Failure::Overloaded); 3];
    session
        .ask(down.into_iter().chain([Reply::text("Once more.")]))
        .await;
    session.is_append_only("claude-sonnet-5-5");
    session.is_append_only(&other.id);
    let last = session.requests_to(&other.id).pop().unwrap().1.text();
    assert!(last.contains("<thinking>Look.</thinking>"), "{last}");
    assert!(!last.contains("Back.</thinking>"), "{last}");
}

const BOUND: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."}}"#;

fn refused() -> Reply {
    Reply::http(400, "application/json", BOUND)
}

#[tokio::test]
async fn rejected_thinking_is_left_out_of_all_later_requests() {
    let mut session = Session::new(Wire::Anthropic);
    session.ask([think("Old.").say("One.")]).await;
    let outcome = session.ask([refused(), think("New.").say("Two.")]).await;
    assert_eq!(outcome, RunOutcome::Done);
    session.restart(tools(&["read", "grep"])).await;
    session.ask([think("Newer.").say("Three.")]).await;
    let requests = session.server.requests();
    let thinking = |number: usize| {
        let text = requests[number].text();
        ["Old.", "New."].map(|thought| text.contains(&format!(r#""thinking":"{thought}""#)))
    };
    assert_eq!(thinking(1), [true, false]);
    assert_eq!(thinking(2), [false, false]);
    assert_eq!(thinking(3), [false, true]);
}

#[tokio::test]
async fn thinking_rejected_twice_is_an_error_that_says_what_to_do() {
    let mut session = Session::new(Wire::Anthropic);
    session.ask([think("Old.").say("One.")]).await;
    let RunOutcome::Failed { message } = session.ask([refused(), refused()]).await else {
        panic!("the run should have failed");
    };
    assert_eq!(session.server.requests().len(), 3);
    assert!(message.contains("Start a new session"), "{message}");
}

#[tokio::test]
async fn a_new_tool_begins_another_prefix_with_the_users_next_prompt() {
    let mut session = Session::new(Wire::Anthropic);
    session.ask([calls(), think("Old.").say("One.")]).await;
    session.restart(tools(&["read", "grep", "find"])).await;
    session.ask([think("New.").say("Two.")]).await;
    session.ask([think("Newer.").say("Three.")]).await;
    let last = session.server.requests().pop().unwrap();
    assert_eq!(last.tools(), ["read", "grep", "find"]);
    let text = last.text();
    assert!(!text.contains("Old.") && text.contains("New."), "{text}");
    let prompts = session.agent.entries();
    let prompts = prompts
        .iter()
        .filter(|entry| entry["customType"] == "tiller.prompt");
    assert_eq!(prompts.count(), 2);
}

/// What a user can do in a session.
#[derive(Clone, Copy, Debug, PartialEq)]
enum UserAction {
    Ask,
    AskForTools,
    AskAndAbort,
    GoOn,
    FailAndRetry,
    Fail,
    NextDay,
    Restart,
    OtherModel,
    OtherWire,
    Steer,
    Plan,
    Allow,
    Compact,
    EditLastPrompt,
}

async fn perform(session: &mut Session, action: UserAction) {
    match action {
        UserAction::Ask => drop(session.ask([think("Hm.").say("Yes.")]).await),
        UserAction::AskForTools => {
            let last = think("Done.").say("Yes.");
            session.ask([calls(), calls().say("Late"), last]).await;
        }
        UserAction::AskAndAbort => session.ask_and_abort().await,
        UserAction::GoOn => session.retry_or_continue(think("On.").say("On.")).await,
        UserAction::FailAndRetry => {
            let half = think("Lost.").say("Lost").fail(Failure::Overloaded);
            session.ask([half, think("Hm.").say("Found.")]).await;
        }
        UserAction::Fail => drop(session.ask([Reply::error(Failure::Invalid)]).await),
        UserAction::NextDay => session.next_day(),
        UserAction::Restart => session.restart(tools(&["read", "grep"])).await,
        UserAction::OtherModel => {
            let model = session.model(other_model(session.wire));
            session.agent.handle.set_model(model);
        }
        // The other model can get a different editing tool.
        UserAction::OtherWire => {
            let at = Wire::ALL.iter().position(|wire| *wire == session.wire);
            let wire = Wire::ALL[(at.unwrap() + 1) % Wire::ALL.len()];
            let model = kit::model(wire, &session.server.url(wire));
            session.agent.handle.set_model(model);
        }
        UserAction::Steer => session.ask_and_steer().await,
        UserAction::Plan => session.agent.handle.set_permission(PermissionMode::Plan),
        UserAction::Allow => session.agent.handle.set_permission(PermissionMode::Full),
        UserAction::Compact => session.compact().await,
        UserAction::EditLastPrompt => session.edit_last_prompt(),
    }
}

fn other_model(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "claude-opus-5-5",
        Wire::Google => "gemini-3.8-pro",
        Wire::Chat | Wire::Responses => "gpt-6.1-luna",
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn any_session_is_append_only(
        actions in proptest::collection::vec(proptest::sample::select(vec![
            UserAction::Ask, UserAction::AskForTools, UserAction::AskAndAbort, UserAction::GoOn, UserAction::FailAndRetry,
            UserAction::Fail, UserAction::NextDay, UserAction::Restart, UserAction::OtherModel,
            UserAction::OtherWire, UserAction::Steer, UserAction::Plan, UserAction::Allow, UserAction::Compact,
            UserAction::EditLastPrompt,
        ]), 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for wire in Wire::ALL {
            runtime.block_on(async {
                let mut session = Session::new(wire);
                for action in &actions {
                    perform(&mut session, *action).await;
                }
                for wire in Wire::ALL {
                    session.is_append_only(&kit::model(wire, "").id);
                    session.is_append_only(other_model(wire));
                }
            });
        }
    }
}

// The session stores the rejection in one line, without the prefix. A server that never accepts the
// thinking gets it at most twice per session.
#[tokio::test]
async fn thinking_that_is_always_rejected_is_sent_at_most_twice() {
    let refused = || {
        let error = LlmError::new(ErrorClass::Thinking, "the signature is invalid");
        vec![Step::Say(StreamEvent::Error(error))]
    };
    let answers = |turns: usize| {
        let mut answers = vec![say("0")];
        for turn in 1..turns {
            answers.extend((turn <= 2).then(refused));
            answers.push(say(&turn.to_string()));
        }
        answers
    };
    let mut agent = Setup {
        answers: answers(5),
        ..Setup::default()
    }
    .start();
    for turn in 0..5 {
        agent.prompt(&turn.to_string());
        assert_eq!(agent.settled().await, RunOutcome::Done);
    }
    let requests = agent.script.requests();
    assert_eq!(requests.len(), 7);
    assert!(
        requests[4..]
            .iter()
            .all(|it| it.thinking_from == it.messages.len())
    );
    let of = |kind: &str| {
        let entries = agent.entries();
        entries.iter().filter(|it| it["customType"] == kind).count()
    };
    assert_eq!((of("tiller.prompt"), of("tiller.thinking_from")), (1, 2));
    // This also holds after the session is opened again.
    let mut next = Setup {
        answers: vec![say("Yes.")],
        resume: Some(agent.killed()),
        ..Setup::default()
    }
    .start();
    next.prompt("on");
    assert_eq!(next.settled().await, RunOutcome::Done);
    let request = &next.script.requests()[0];
    assert_eq!(request.thinking_from, request.messages.len());
    // Another model gets the thinking, because its provider may accept it.
    next.handle.set_model(Model {
        id: "other".into(),
        ..super::fixture::model()
    });
    next.prompt("on");
    assert_eq!(next.settled().await, RunOutcome::Done);
    let before = requests[0].thinking_from;
    assert_eq!(next.script.requests()[1].thinking_from, before);
}

/// tiller checks calls against the schema that the model has seen.
#[tokio::test]
async fn a_tool_whose_arguments_changed_begins_another_prefix() {
    let mut first = agent(vec![say("ok")], tools(&["read"]));
    first.prompt("Go");
    assert_eq!(first.settled().await, RunOutcome::Done);
    let mut builtin = tiller::agent::tools::builtin(&ToolSettings::default());
    builtin.retain(|tool| tool.spec().name == "read");
    let parameters = builtin[0].spec().parameters.clone();
    let mut next = Setup {
        answers: vec![say("ok"), say("ok")],
        toolbox: Some(Toolbox::new(builtin)),
        resume: Some(first.killed()),
        ..Setup::default()
    }
    .start();
    for request in 0..2 {
        next.prompt("On");
        assert_eq!(next.settled().await, RunOutcome::Done);
        let requests = next.script.requests();
        assert_eq!(requests[request].tools[0].parameters, parameters);
    }
}
