//! The budget: checked before each model call, kept over a restart, raised by the user.

use serde_json::json;
use tiller::agent::session::{Session, SessionView};
use tiller::agent::{
    AgentEvent, Budget, BudgetLimit, BudgetReached, CompactionOutcome, CompactionRules, LoopRules,
    RetryRules, RunOutcome, RunState,
};
use tiller::app::sessions::SessionFacts;
use tiller::llm::{ErrorClass, LlmError, Model, StreamEvent, Usage, WindowSource};

use super::fixture::{Act, Setup, Step, TestAgent, call, model, say};

/// `steps` as an answer that costs this many dollars.
fn costs(usd: f64, mut steps: Vec<Step>) -> Vec<Step> {
    let mut usage = Usage {
        input: 10,
        ..Usage::default()
    };
    usage.cost.total = usd;
    steps.insert(1, Step::Say(StreamEvent::Usage(usage)));
    steps
}

fn usd(usd: f64) -> Budget {
    Budget { usd, tokens: 0 }
}

/// The limit that a run reached, and the next one.
fn reached(outcome: RunOutcome) -> (f64, f64) {
    match outcome {
        RunOutcome::BudgetReached(BudgetReached {
            limit: BudgetLimit::Usd(limit),
            next: BudgetLimit::Usd(next),
            ..
        }) => (limit, next),
        outcome => panic!("{outcome:?}"),
    }
}

fn priced() -> Model {
    let mut model = model();
    model.prices.output = 1.0;
    model
}

fn setup(budget: Budget, answers: Vec<Vec<Step>>) -> Setup {
    Setup {
        answers,
        budget,
        model: Some(priced()),
        tools: vec![("a", false, Act::Succeed("done".into()))],
        ..Setup::default()
    }
}

fn notices(agent: &TestAgent) -> Vec<String> {
    let texts = agent.seen.iter().filter_map(|event| match &event.kind {
        AgentEvent::Notice { text, .. } => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn an_unknown_price_is_told_before_the_answer() {
    let mut agent = Setup {
        model: None,
        ..setup(
            usd(1.0),
            vec![costs(0.0, say("one")), costs(0.0, say("two"))],
        )
    }
    .start();
    for prompt in ["Go", "Again"] {
        agent.prompt(prompt);
        assert_eq!(agent.settled().await, RunOutcome::Done);
    }
    let place = |is: fn(&AgentEvent) -> bool| agent.seen.iter().position(|it| is(&it.kind));
    let warned = place(|it| matches!(it, AgentEvent::Notice { .. }));
    let called = place(|it| matches!(it, AgentEvent::ApiCallStart { .. }));
    assert!(warned.is_some() && warned < called, "{:?}", agent.seen);
    let told = notices(&agent);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("doesn't cover its calls"), "{told:?}");
}

#[tokio::test]
async fn the_run_stops_between_calls_and_continues_after_a_raise() {
    let one = |n: i32| costs(0.45, call(&[(&format!("c{n}"), "a", json!({ "n": n }))]));
    let answers = vec![one(1), one(2), one(3), say("ok")];
    let mut agent = setup(usd(1.0), answers).start();
    agent.prompt("Go");
    assert_eq!(reached(agent.settled().await), (1.0, 2.0));
    assert_eq!(agent.script.requests().len(), 3);
    // The user paid for the last answer, so its calls ran.
    assert_eq!(agent.stored().last().unwrap(), "c3: done");
    assert_eq!(notices(&agent), ["90 % of the budget spent: $0.9 of $1"]);

    // Continuing alone doesn't raise the budget.
    agent.handle.go_on();
    assert_eq!(reached(agent.settled().await), (1.0, 2.0));
    agent.handle.raise_budget();
    agent.handle.go_on();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.script.requests().len(), 4);
}

#[tokio::test]
async fn prompts_at_the_limit_are_kept_and_answered_later() {
    let mut agent = setup(usd(0.1), vec![costs(0.2, say("dear")), say("again")]).start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    agent.prompt("More");
    assert_eq!(reached(agent.settled().await), (0.1, 0.3));
    // The sender sees a run although no model call was made.
    let told = agent.seen.iter().rev().find_map(|event| match &event.kind {
        AgentEvent::State(state) => Some(state.clone()),
        AgentEvent::AgentEnd { .. } => Some(RunState::Stopping { processes: 0 }),
        _ => None,
    });
    assert_eq!(told, Some(RunState::Idle), "the run has not ended");
    assert_eq!(
        agent.stored(),
        ["user: Go", "assistant: dear", "user: More"]
    );
    agent.handle.raise_budget();
    agent.handle.go_on();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.stored().last().unwrap(), "assistant: again");
}

#[tokio::test]
async fn a_resumed_session_counts_the_cost_of_all_branches() {
    let answers = vec![costs(0.6, say("one")), costs(0.6, say("two"))];
    let mut agent = setup(usd(0.0), answers).start();
    agent.prompt("first");
    agent.settled().await;
    let first = agent.entries()[1]["id"].as_str().unwrap().to_owned();
    agent.handle.go_to(first, tiller::agent::Leaving::Silently);
    agent.prompt("second");
    agent.settled().await;
    agent.handle.shutdown().await;
    let again = Setup {
        resume: Some((agent.folder.clone(), agent.session.clone())),
        ..setup(usd(1.0), vec![say("three")])
    };
    let mut again = again.start();
    again.prompt("third");
    assert_eq!(reached(again.settled().await), (1.0, 2.0));
    assert!(again.script.requests().is_empty());
}

#[tokio::test]
async fn a_sessions_budget_is_stored_and_lifts_no_limit() {
    let answers = || vec![costs(0.6, say("ok")), say("ok")];
    let mut agent = setup(usd(0.0), answers()).start();
    // Before there is a file.
    agent.handle.set_budget(usd(2.0));
    agent.prompt("first");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    agent.handle.shutdown().await;
    let again = |budget, flags| Setup {
        resume: Some((agent.folder.clone(), agent.session.clone())),
        budget_flags: flags,
        ..setup(budget, answers())
    };
    let mut resumed = again(usd(0.0), [false; 2]).start();
    resumed.prompt("second");
    assert_eq!(resumed.settled().await, RunOutcome::Done);
    let mut seen = resumed.seen.iter();
    assert!(seen.any(|it| matches!(it.kind, AgentEvent::Budget(budget) if budget == usd(2.0))));
    resumed.handle.shutdown().await;
    // Neither above the user's own limit, nor above a flag.
    let mut own = again(usd(0.5), [false; 2]).start();
    own.prompt("third");
    assert_eq!(reached(own.settled().await), (0.5, 1.5));
    own.handle.shutdown().await;
    let mut limited = again(usd(0.5), [true, false]).start();
    limited.prompt("third");
    assert_eq!(reached(limited.settled().await), (0.5, 1.5));
    limited.handle.raise_budget();
    limited.handle.shutdown().await;
    let (session, _) = Session::open(agent.folder.path(), &agent.session).unwrap();
    assert_eq!(session.budget(), Some(usd(1.5)), "raised in the session");
}

#[tokio::test]
async fn a_retry_checks_the_budget() {
    let mut failing = costs(0.2, say("half"));
    failing.pop();
    let error = LlmError::new(ErrorClass::Retryable, "busy");
    failing.push(Step::Say(StreamEvent::Error(error)));
    let mut agent = Setup {
        rules: LoopRules {
            retry: RetryRules {
                base_ms: 0,
                ..RetryRules::default()
            },
            ..LoopRules::default()
        },
        ..setup(usd(0.1), vec![failing, say("ok")])
    }
    .start();
    agent.prompt("Go");
    assert_eq!(reached(agent.settled().await), (0.1, 0.3));
    assert_eq!(agent.script.requests().len(), 1);
    agent.handle.raise_budget();
    agent.handle.go_on();
    assert_eq!(agent.settled().await, RunOutcome::Done);
}

/// The session's cost as a new reader sees it.
fn spent(agent: &TestAgent) -> String {
    let (folder, session) = agent.killed();
    let (session, _) = Session::open(folder.path(), &session).unwrap();
    dollars(&session)
}

fn dollars(session: &Session) -> String {
    format!("{:.2}", session.usage().cost.total)
}

#[tokio::test]
async fn a_failed_attempt_without_text_still_costs() {
    let mut failing = costs(0.25, say("never said"));
    failing.truncate(2);
    let error = LlmError::new(ErrorClass::Retryable, "busy");
    failing.push(Step::Say(StreamEvent::Error(error)));
    let mut agent = Setup {
        rules: LoopRules {
            retry: RetryRules {
                base_ms: 0,
                ..RetryRules::default()
            },
            ..LoopRules::default()
        },
        ..setup(usd(0.0), vec![failing, costs(0.5, say("ok"))])
    }
    .start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.script.requests().len(), 2);
    assert_eq!(spent(&agent), "0.75");
}

#[tokio::test]
async fn a_copy_begins_with_no_cost() {
    let mut agent = setup(usd(0.0), vec![costs(0.5, say("one"))]).start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(spent(&agent), "0.50");
    let root = agent.folder.path().join("sessions");
    let (copy, _) = Session::fork(&root, &agent.session, &agent.cwd).unwrap();
    assert_eq!(dollars(&copy), "0.00");
    let path = copy.path().unwrap().to_owned();
    drop(copy);
    let mut copy = Setup {
        resume: Some((agent.folder.clone(), path)),
        ..setup(usd(0.5), vec![costs(0.25, say("two"))])
    }
    .start();
    copy.prompt("On");
    assert_eq!(copy.settled().await, RunOutcome::Done);
    assert_eq!(spent(&copy), "0.25");
    // The same holds for a copy of the copy and for a copy of a part.
    let (again, _) = Session::fork(&root, &copy.session, &copy.cwd).unwrap();
    assert_eq!(dollars(&again), "0.00");
    let facts = SessionFacts::read(again.path().unwrap(), || true);
    let facts = facts.unwrap().unwrap();
    assert_eq!(facts.answers, 2);
    assert_eq!(format!("{:.2}", facts.usage.cost.total), "0.00");
    let view = SessionView::open(&copy.session).unwrap();
    let leaf = view.tree().leaf();
    let (part, _) = Session::fork_at(&root, &view, &copy.cwd, leaf).unwrap();
    assert_eq!(dollars(&part), "0.00");
}

#[tokio::test]
async fn a_compaction_checks_the_budget() {
    let small = Model {
        context_window: 2000,
        window_source: WindowSource::Model,
        ..model()
    };
    let mut agent = Setup {
        model: Some(small),
        rules: LoopRules {
            compaction: CompactionRules {
                keep_recent_tokens: 10,
                ..CompactionRules::default()
            },
            ..LoopRules::default()
        },
        ..setup(
            usd(0.1),
            vec![say("one"), costs(0.2, say("two")), say("summary")],
        )
    }
    .start();
    for prompt in ["first", "second"] {
        agent.prompt(prompt);
        agent.settled().await;
    }
    agent.handle.compact(None);
    let end = agent
        .until(|event| matches!(event, AgentEvent::CompactionEnd { .. }))
        .await;
    let AgentEvent::CompactionEnd {
        outcome: CompactionOutcome::Failed { message },
        ..
    } = end
    else {
        panic!("{end:?}");
    };
    assert!(message.starts_with("Budget of $0.1 reached"), "{message}");
    assert_eq!(agent.script.requests().len(), 2);
}

#[tokio::test]
async fn a_follow_up_waits_for_the_budget() {
    let tokens = Budget {
        usd: 0.0,
        tokens: 10,
    };
    let gate = super::fixture::Gate::new();
    let mut answer = costs(0.0, say("one"));
    answer.insert(2, Step::Wait(gate.clone()));
    let mut agent = setup(tokens, vec![answer, say("two")]).start();
    agent.prompt("Go");
    gate.reached().await;
    agent.follow_up("and then");
    agent.until(super::steering::queued).await;
    gate.open();
    let RunOutcome::BudgetReached(reached) = agent.settled().await else {
        panic!("{:?}", agent.story());
    };
    let text = reached.to_string();
    assert!(text.starts_with("Budget of 10 tokens reached: "), "{text}");
    assert!(text.ends_with(" tokens spent"), "{text}");
    agent.handle.raise_budget();
    agent.handle.go_on();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.stored().last().unwrap(), "assistant: two");
}
