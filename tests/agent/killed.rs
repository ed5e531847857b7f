//! Kills the program while it works. The session file already has what the program had shown or
//! accepted, and the next program continues from it.

use serde_json::json;
use tiller::agent::permission::PermissionMode;
use tiller::agent::session::Session;
use tiller::agent::tools::{ToolSettings, builtin};
use tiller::agent::undo::{Direction, UndoCommand};
use tiller::agent::{
    Accept, AgentEvent, AgentHandle, Answer, Delivery, OpenRefused, OpenSession, QueueKind, Queued,
    Refused, RunOutcome, STEER_ORIGIN, Submission, Toolbox,
};
use tiller::llm::Content;
use tiller::llm::message::content_text;

use super::fixture::*;
use super::permission::{asked, confining, permission, setup};

/// The next prompt's request in the session of `agent`, if a kill had come now.
async fn after_a_kill(agent: &TestAgent) -> Vec<String> {
    let mut next = Setup {
        answers: vec![say("Yes.")],
        resume: Some(agent.killed()),
        ..Setup::default()
    }
    .start();
    next.prompt("And on");
    assert_eq!(next.settled().await, RunOutcome::Done);
    // The next request repeats the earlier note word for word.
    next.prompt("And on");
    assert_eq!(next.settled().await, RunOutcome::Done);
    let (first, second) = (next.request(0), next.request(1));
    assert_eq!(first[..], second[..first.len()]);
    first
}

async fn tool_end(agent: &mut TestAgent, id: &str) {
    let is_end =
        |event: &AgentEvent| matches!(event, AgentEvent::ToolEnd { call_id, .. } if call_id == id);
    agent.until(is_end).await;
}

// A slow call in a group doesn't delay the others' results. The next program marks unfinished calls
// as interrupted.
#[tokio::test]
async fn the_result_of_a_call_is_stored_before_its_end_is_shown() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![
            call(&[
                ("c1", "slow", json!({})),
                ("c2", "fast", json!({})),
                ("c3", "bad", json!({})),
            ]),
            say("ok"),
        ],
        vec![
            ("slow", true, Act::Obey(gate.clone())),
            ("fast", true, Act::Succeed("42".into())),
            ("bad", true, Act::Fail("broken".into())),
        ],
    );
    agent.prompt("Go");
    // The calls of a group end in any order.
    for _ in 0..2 {
        let is_end = |event: &AgentEvent| matches!(event, AgentEvent::ToolEnd { .. });
        let AgentEvent::ToolEnd { call_id, .. } = agent.until(is_end).await else {
            unreachable!()
        };
        let stored = agent.stored();
        assert!(
            stored.iter().any(|line| line.starts_with(&call_id)),
            "{call_id}: {stored:?}"
        );
    }
    gate.reached().await;
    let mut stored = agent.stored()[2..].to_vec();
    stored.sort();
    assert_eq!(stored, ["c2: 42", "c3!: broken"]);
    let request = after_a_kill(&agent).await;
    assert_eq!(
        request[2..5],
        [
            "c1!: Execution cancelled: tiller stopped while this ran; it may have done part of its \
             work",
            "c2: 42",
            "c3!: broken",
        ]
    );
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.stored().last().unwrap(), "assistant: ok");
}

#[tokio::test]
async fn an_answer_is_stored_while_another_question_is_open() {
    let ask = |question: &str| json!({ "question": question });
    let mut agent = Setup {
        answers: vec![
            call(&[("c1", "ask_user", ask("A?")), ("c2", "ask_user", ask("B?"))]),
            say("Thanks."),
        ],
        toolbox: Some(Toolbox::new(builtin(&ToolSettings::default()))),
        has_user: true,
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    let both =
        |event: &AgentEvent| matches!(event, AgentEvent::Questions { open } if open.len() == 2);
    let AgentEvent::Questions { open } = agent.until(both).await else {
        unreachable!()
    };
    let first = open
        .iter()
        .find(|question| question.call_id == "c1")
        .unwrap();
    agent
        .handle
        .answer(first.id, Answer::Reply("Postgres".into()));
    tool_end(&mut agent, "c1").await;
    let request = after_a_kill(&agent).await;
    assert_eq!(
        request[2..4],
        [
            "c1: The user answered: Postgres",
            "c2!: Execution cancelled before start: the session ended while this waited for the user's answer",
        ]
    );
}

#[tokio::test]
async fn a_result_is_stored_before_the_offer_to_rerun_the_command() {
    let Some(processes) = confining() else {
        return;
    };
    // Not in the temporary folder, because the session can write there anyway.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outside = folder.path().join("outside");
    let command = format!("echo made; touch {}", outside.display());
    let bash = ("bash", json!({"command": command}));
    let mut agent = Setup {
        processes: Some(processes),
        ..setup(PermissionMode::Auto, true, &[bash])
    }
    .start();
    agent.prompt("Go");
    let question = asked(&mut agent).await;
    assert!(permission(&question).again.is_some(), "{question:?}");
    let request = after_a_kill(&agent).await;
    let mut results = request.iter().filter(|line| line.starts_with("c0"));
    let (Some(result), None) = (results.next(), results.next()) else {
        panic!("{request:#?}")
    };
    for part in [
        "c0!: made",
        "the sandbox, which can write only in the project",
        "the result is unknown",
    ] {
        assert!(result.contains(part), "{part}: {result}");
    }
    agent.handle.answer(question.id, Answer::once());
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let results = agent.stored();
    let results: Vec<_> = results
        .iter()
        .filter(|line| line.starts_with("c0"))
        .collect();
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].contains("this is the result"));
}

pub fn external(text: &str) -> Submission {
    Submission {
        kind: QueueKind::Steering,
        content: vec![Content::text(text)],
        origin: Some(STEER_ORIGIN.to_owned()),
        session: None,
        accept: Accept::Always,
    }
}

fn texts(queued: &[Queued]) -> Vec<String> {
    let texts = queued.iter().map(|queued| content_text(&queued.content));
    texts.collect()
}

/// The queue in the session as a kill now would leave it.
pub fn queued_after_a_kill(agent: &TestAgent) -> Vec<String> {
    let (folder, session) = agent.killed();
    let (session, _) = Session::open(folder.path(), &session).unwrap();
    texts(&session.queued())
}

#[tokio::test]
async fn a_message_that_starts_a_run_is_stored_before_its_sender_hears() {
    let mut agent = agent(vec![say("ok")], vec![]);
    let sent = agent.handle.submit(external("by steer")).await;
    assert!(matches!(sent, Ok(Delivery::Started(_))), "{sent:?}");
    let kept = std::fs::read_to_string(&agent.session).unwrap_or_default();
    assert!(kept.contains("by steer"), "{kept}");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(queued_after_a_kill(&agent), [""; 0]);
}

// The agent owns the queue, so it survives without a screen. Each message is delivered once.
#[tokio::test]
async fn queued_messages_are_queued_again_after_a_kill() {
    let gate = Gate::new();
    let mut waiting = vec![start(), Step::Wait(gate.clone())];
    waiting.extend(say("one").into_iter().skip(1));
    let mut agent = agent(vec![waiting, say("two"), say("three")], vec![]);
    agent.prompt("Go");
    gate.reached().await;
    agent.steer("steered");
    agent.follow_up("then this");
    let sent = agent.handle.submit(external("from elsewhere")).await;
    assert_eq!(sent, Ok(Delivery::Queued(QueueKind::Steering)));
    let all = ["steered", "then this", "from elsewhere"];
    assert_eq!(queued_after_a_kill(&agent), all);

    let resume = agent.killed();
    let mut next = Setup {
        answers: vec![say("Yes."), say("That too."), say("And that.")],
        resume: Some(resume),
        ..Setup::default()
    }
    .start();
    let waits = |event: &AgentEvent| matches!(event, AgentEvent::QueueUpdate { .. });
    let AgentEvent::QueueUpdate {
        steering,
        follow_up,
    } = next.until(waits).await
    else {
        unreachable!()
    };
    assert_eq!(texts(&steering), ["steered", "from elsewhere"]);
    assert_eq!(steering[1].origin.as_deref(), Some(STEER_ORIGIN));
    assert_eq!(texts(&follow_up), ["then this"]);
    // Viewing the session sends nothing and changes nothing.
    assert_eq!(queued_after_a_kill(&next), all);
    next.prompt("And on");
    assert_eq!(next.settled().await, RunOutcome::Done);
    let mut request = next.request(0).split_off(1);
    request.retain(|line| !line.starts_with("note: "));
    assert_eq!(
        request,
        ["user: steered", "steer: from elsewhere", "user: And on"]
    );
    assert_eq!(next.request(1).last().unwrap(), "user: then this");
    assert_eq!(queued_after_a_kill(&next), [""; 0]);
    // A copy doesn't get the queue.
    let root = agent.folder.path().join("sessions");
    let (copy, _) = Session::fork(&root, &agent.session, &agent.cwd).unwrap();
    assert_eq!(copy.queued(), []);

    // A message that returns to the editor leaves the queue.
    agent.handle.take_back(None);
    let back = |event: &AgentEvent| matches!(event, AgentEvent::QueueReturned { .. });
    agent.until(back).await;
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
}

#[tokio::test]
async fn returned_messages_stay_stored_until_released() {
    let gate = Gate::new();
    let mut agent = Setup {
        answers: vec![vec![start(), Step::Wait(gate.clone())]],
        has_user: true,
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    gate.reached().await;
    agent.steer("steered");
    agent.handle.abort();
    let back = |event: &AgentEvent| matches!(event, AgentEvent::QueueReturned { .. });
    let AgentEvent::QueueReturned { messages, .. } = agent.until(back).await else {
        unreachable!()
    };
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    // The program can die before the editor's text is on disk.
    assert_eq!(queued_after_a_kill(&agent), ["steered"]);
    let mut next = Setup {
        answers: vec![say("ok")],
        resume: Some(agent.killed()),
        has_user: true,
        ..Setup::default()
    }
    .start();
    let ids = || messages.iter().map(|message| message.id).collect();
    next.handle.release(ids());
    next.prompt("On");
    assert_eq!(next.settled().await, RunOutcome::Done);
    assert!(!next.request(0).contains(&"user: steered".to_owned()));
    assert_eq!(queued_after_a_kill(&next), [""; 0]);
    agent.handle.release(ids());
    agent.handle.shutdown().await;
    assert_eq!(queued_after_a_kill(&agent), [""; 0]);
}

// Sent as an ordinary message, it would change the user's files.
#[tokio::test]
async fn the_prompt_of_a_trial_that_did_not_begin_is_only_taken_back() {
    let mut agent = agent(vec![], vec![]);
    agent.handle.begin_trial(vec![Content::text("try it")]);
    let back = |event: &AgentEvent| matches!(event, AgentEvent::QueueReturned { .. });
    agent.until(back).await;
    assert_eq!(queued_after_a_kill(&agent), ["try it"]);
    let mut next = Setup {
        answers: vec![say("ok")],
        resume: Some(agent.killed()),
        has_user: true,
        ..Setup::default()
    }
    .start();
    let waits = |event: &AgentEvent| matches!(event, AgentEvent::QueueUpdate { follow_up, .. } if follow_up.len() == 1);
    next.until(waits).await;
    next.handle.go_on();
    next.handle.steer_now();
    next.prompt("Something else");
    assert_eq!(next.settled().await, RunOutcome::Done);
    assert_eq!(next.script.requests().len(), 1);
    assert!(!next.request(0).contains(&"user: try it".to_owned()));
    assert_eq!(next.handle.clear_queue().await, []);
    let again = Submission {
        kind: QueueKind::Trial,
        ..external("try that")
    };
    next.handle.submit(again).await.unwrap();
    next.handle.take_back(None);
    let AgentEvent::QueueReturned { messages, .. } = next.until(back).await else {
        unreachable!()
    };
    assert_eq!(texts(&messages), ["try it", "try that"]);
    assert!(messages.iter().all(|it| it.kind == QueueKind::Trial));
}

// This also holds between the delivered message and the entry that removes it from the queue.
#[tokio::test]
async fn at_every_line_a_message_is_either_queued_or_delivered() {
    let gate = Gate::new();
    let mut waiting = call(&[("c1", "slow", json!({}))]);
    waiting.insert(1, Step::Wait(gate.clone()));
    let mut agent = agent(
        vec![waiting, say("two"), say("three")],
        vec![("slow", false, Act::Succeed("done".into()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    agent.steer("steered");
    agent.follow_up("then this");
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    agent.handle.shutdown().await;
    let text = std::fs::read_to_string(&agent.session).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let root = agent.folder.path();
    let mut delivered = 0;
    for end in 1..=lines.len() {
        let path = root.join(format!("{end}.jsonl"));
        std::fs::write(&path, lines[..end].concat()).unwrap();
        let (session, _) = Session::open(root, &path).unwrap();
        let said = session.history().messages;
        let said = said.iter().map(|it| it.text());
        let places: Vec<String> = said.chain(texts(&session.queued())).collect();
        for typed in ["Go", "steered", "then this"] {
            let is_stored = lines[..end].concat().contains(typed);
            let times = places.iter().filter(|text| *text == typed).count();
            assert_eq!(times, usize::from(is_stored), "{typed}: {}", lines[end - 1]);
        }
        delivered += usize::from(lines[end - 1].contains("queueId"));
    }
    assert_eq!(delivered, 3);
}

#[tokio::test]
async fn a_message_that_cannot_be_stored_is_refused() {
    let mut agent = agent(
        vec![call(&[("c1", "touch", json!({}))]), say("ok")],
        vec![("touch", false, Act::Succeed("done".into()))],
    );
    let root = agent.folder.path().join("sessions");
    std::fs::write(&root, "in the way").unwrap();
    let refused = agent.handle.submit(external("by steer")).await;
    assert!(matches!(refused, Err(Refused::Unsaved(_))), "{refused:?}");
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.log.lock().unwrap().len(), 0);
    let request = agent.request(1);
    let result = request.iter().find(|line| line.starts_with("c1")).unwrap();
    assert!(
        result.contains("Not run: tiller can't save the session"),
        "{result}"
    );
    std::fs::remove_file(&root).unwrap();
    agent.handle.shutdown().await;
    assert_eq!(queued_after_a_kill(&agent), [""; 0]);
}

fn is_interrupted(agent: &TestAgent) -> bool {
    let (folder, session) = agent.killed();
    let (session, _) = Session::open(folder.path(), &session).unwrap();
    session.facts().is_cut_off()
}

#[tokio::test]
async fn a_kill_interrupts_a_run_and_an_abort_does_not() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "slow", json!({}))]), say("ok")],
        vec![("slow", false, Act::Obey(gate.clone()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    assert!(is_interrupted(&agent));
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    assert!(!is_interrupted(&agent));
    agent.prompt("On");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert!(!is_interrupted(&agent));
}

/// The turn that undo would take back.
async fn last_turn(handle: &AgentHandle) -> String {
    let (answer, preview) = tokio::sync::oneshot::channel();
    handle.undo(UndoCommand::Preview(Direction::Undo, answer));
    preview.await.unwrap().unwrap().unwrap().turn
}

// This also holds if a kill comes in between.
#[tokio::test]
async fn the_model_hears_of_an_undo_after_a_restart() {
    let write = ("write", json!({"file_path": "a.txt", "content": "new\n"}));
    let mut agent = setup(PermissionMode::Full, true, &[write]).start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let turn = last_turn(&agent.handle).await;
    let direction = Direction::Undo;
    agent.handle.undo(UndoCommand::Go { direction, turn });
    let undone = |event: &AgentEvent| matches!(event, AgentEvent::FilesUndone { .. });
    agent.until(undone).await;
    agent
        .until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
        .await;
    assert!(!is_interrupted(&agent), "a note is not a prompt");
    let request = after_a_kill(&agent).await;
    let told = |line: &&String| line.starts_with("note: [The user undid file changes");
    assert_eq!(request.iter().filter(told).count(), 1, "{request:#?}");
}

fn another(agent: &TestAgent) -> OpenSession {
    let root = agent.folder.path().join("others");
    let session = Session::create(&root, &agent.cwd);
    OpenSession {
        model: None,
        thinking: None,
        facts: session.facts(),
        spill_dir: root.join("spill"),
        session,
    }
}

#[tokio::test]
async fn leaving_a_session_that_cannot_be_saved_warns() {
    let mut agent = agent(vec![say("one"), say("two")], vec![]);
    let root = agent.folder.path().join("sessions");
    std::fs::write(&root, "in the way").unwrap();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let refused = agent.handle.open(another(&agent)).await;
    let Err(OpenRefused::Unsaved(entries, _)) = refused else {
        panic!("{refused:?}")
    };
    assert!(entries > 2, "{entries}");
    let unsaved = agent.handle.shutdown().await;
    assert!(unsaved.is_some_and(|text| text.contains("Couldn't save the end of the session")));

    let mut agent = self::agent(vec![say("one"), say("two")], vec![]);
    let root = agent.folder.path().join("sessions");
    std::fs::write(&root, "in the way").unwrap();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    std::fs::remove_file(&root).unwrap();
    assert_eq!(agent.handle.open(another(&agent)).await, Ok(()));
    assert_eq!(agent.stored(), ["user: Go", "assistant: one"]);
    assert_eq!(agent.handle.shutdown().await, None);
}
