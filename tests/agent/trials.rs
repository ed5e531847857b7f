//! Trials as the agent runs them: where its tools work, what the model and the session hear, and
//! how each trial ends. The tests in `trial` cover the files themselves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tiller::agent::process::{Orphans, Processes};
use tiller::agent::session::{Session, ready_trial};
use tiller::agent::undo::{Rewind, RewindPoint, UndoCommand};
use tiller::agent::{
    AgentEvent, Leaving, OpenSession, RunOutcome, RunState, ToolSettings, Toolbox, TrialEvent,
    tools,
};
use tiller::llm::{Content, ErrorClass, LlmError, StreamEvent};

use super::fixture::*;

fn setup(answers: Vec<Vec<Step>>) -> Setup {
    Setup {
        answers,
        toolbox: Some(Toolbox::new(tools::builtin(&ToolSettings::default()))),
        processes: Some(Processes::with_supervisor(
            env!("CARGO_BIN_EXE_tiller"),
            Orphans::Leave,
        )),
        ..Setup::default()
    }
}

/// An agent in a repository with the file `a`.
fn in_repository(answers: Vec<Vec<Step>>) -> TestAgent {
    let agent = setup(answers).start();
    write(&agent, "a", "one\n");
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &[
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@e",
            "commit",
            "-qm",
            "x",
        ],
    ] {
        let mut git = Command::new("git");
        let done = git.args(arguments).current_dir(&agent.cwd).status();
        assert!(done.unwrap().success());
    }
    agent
}

fn write(agent: &TestAgent, path: &str, text: &str) {
    fs::write(agent.cwd.join(path), text).unwrap();
}

fn read(agent: &TestAgent, path: &str) -> String {
    fs::read_to_string(agent.cwd.join(path)).unwrap()
}

fn begin(agent: &TestAgent, text: &str) {
    agent.handle.begin_trial(vec![Content::text(text)]);
}

/// The worktree of the only open trial.
fn tree(agent: &TestAgent) -> PathBuf {
    let folders = fs::read_dir(agent.folder.path().join("try")).unwrap();
    let folder = folders.map(|it| it.unwrap().path()).next().unwrap();
    folder.canonicalize().unwrap().join("work")
}

fn trials(agent: &TestAgent) -> usize {
    let folders = fs::read_dir(agent.folder.path().join("try"));
    // The trash is next to the trials.
    let is_trial = |name: &std::ffi::OsStr| name != ".trash";
    folders.map_or(0, |all| {
        all.flatten().filter(|it| is_trial(&it.file_name())).count()
    })
}

/// The results in the last request, as the model reads them.
fn results(agent: &TestAgent) -> Vec<String> {
    let lines = agent.request(agent.script.requests().len() - 1).into_iter();
    lines.filter(|line| line.starts_with('c')).collect()
}

async fn discarded(agent: &mut TestAgent) {
    agent.handle.discard_trial();
    let ended = |event: &AgentEvent| matches!(event, AgentEvent::Trial(TrialEvent::Discarded));
    agent.until(ended).await;
    idle(agent).await;
}

async fn idle(agent: &mut TestAgent) {
    let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
    agent.until(settled).await;
}

async fn told(agent: &mut TestAgent, text: &str) {
    let said = |event: &AgentEvent| matches!(event, AgentEvent::Notice { text: it, .. } if it.contains(text));
    agent.until(said).await;
}

fn write_call(id: &str, path: &str) -> Vec<Step> {
    call(&[(
        id,
        "write",
        json!({"file_path": path, "content": "tried\n"}),
    )])
}

// The summary must repeat what the model heard when the trial began.
#[tokio::test]
async fn a_compaction_does_not_let_the_model_forget_the_trial() {
    let error = LlmError::new(ErrorClass::Overflow, "prompt is too long");
    let answers = vec![
        write_call("c1", "new"),
        vec![Step::Say(StreamEvent::Error(error))],
        say("the summary"),
        say("done"),
        say("another summary"),
        say("on"),
    ];
    let mut agent = in_repository(answers);
    begin(&agent, &"Try it. ".repeat(100));
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let place = format!("[The working directory is now {}]", tree(&agent).display());
    let told = |request: &[String]| {
        let notes = request.iter().filter(|line| line.starts_with("note: "));
        let notes: Vec<_> = notes
            .filter(|line| line.contains("This is a trial"))
            .collect();
        assert_eq!(notes.len(), 1, "{request:?}");
        assert!(notes[0].contains(&place), "{notes:?}");
    };
    told(&agent.request(1));
    let after = agent.request(3);
    assert!(after[0].starts_with("summary: "), "{after:?}");
    told(&after);
    agent.handle.compact(None);
    idle(&mut agent).await;
    agent.prompt("Go on");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let last = agent.request(5);
    assert!(last[0].contains("another summary"), "{last:?}");
    told(&last);
}

#[tokio::test]
async fn tools_work_in_the_worktree_and_refuse_the_users_own_files() {
    let agent = in_repository(Vec::new());
    let own = agent.cwd.canonicalize().unwrap();
    write(&agent, "b", "two\n");
    std::os::unix::fs::symlink(own.join("a"), own.join("link")).unwrap();
    let absolute = own.join("a").display().to_string();
    let escaping = format!("*** Begin Patch\n*** Delete File: {absolute}\n*** End Patch");
    let answers = vec![
        call(&[
            ("c1", "bash", json!({"command": "pwd; echo made > c"})),
            (
                "c2",
                "write",
                json!({"file_path": "a", "content": "tried\n"}),
            ),
            (
                "c3",
                "write",
                json!({"file_path": absolute, "content": "x"}),
            ),
            (
                "c4",
                "edit",
                json!({"file_path": absolute, "old_text": "one", "new_text": "x"}),
            ),
            ("c5", "write", json!({"file_path": "link", "content": "x"})),
            ("c6", "apply_patch", json!({"patch": escaping})),
            (
                "c7",
                "write",
                json!({"file_path": own.join("new/x"), "content": "x"}),
            ),
            ("c8", "grep", json!({"pattern": "tried"})),
            ("c9", "read", json!({"file_path": "b"})),
        ]),
        say("done"),
    ];
    let mut agent = {
        let resume = Some((agent.folder.clone(), agent.session.clone()));
        agent.handle.shutdown().await;
        Setup {
            resume,
            ..setup(answers)
        }
        .start()
    };
    begin(&agent, "try it");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let tree = tree(&agent);
    let copy = tree.join("a").display().to_string();
    let results = results(&agent);
    assert_eq!(results[0], format!("c1: {}", tree.display()));
    assert!(results[1].starts_with("c2: "), "{results:?}");
    let refusal = |id: &str, raw: &str, copy: &Path| {
        format!(
            "{id}!: Not changed: {raw} is the user's file, outside this trial. Change its copy: {}",
            copy.display()
        )
    };
    assert_eq!(results[2], refusal("c3", &absolute, copy.as_ref()));
    assert_eq!(results[3], refusal("c4", &absolute, copy.as_ref()));
    assert_eq!(results[4], refusal("c5", "link", copy.as_ref()));
    assert!(results[5].starts_with("c6!: "), "{}", results[5]);
    let new = own.join("new/x");
    assert_eq!(
        results[6],
        refusal("c7", new.to_str().unwrap(), &tree.join("new/x"))
    );
    assert!(results[7].contains("a:1: tried"), "{}", results[7]);
    assert!(results[8].contains("two"), "{}", results[8]);
    assert_eq!(read(&agent, "a"), "one\n");
    assert!(!own.join("c").exists() && !own.join("new").exists());
    discarded(&mut agent).await;
    assert_eq!(read(&agent, "a"), "one\n");
    assert_eq!(trials(&agent), 0);
}

/// The system prompt and the texts of each request.
fn requests(agent: &TestAgent) -> Vec<(String, Vec<String>)> {
    let requests = agent.script.requests();
    let texts = |at: usize| (requests[at].system.clone(), agent.request(at));
    (0..requests.len()).map(texts).collect()
}

// Each request begins with the one before it, during the trial and after it.
#[tokio::test]
async fn the_model_hears_of_a_trial_in_appended_blocks() {
    let answers = ["one", "tried", "again", "kept", "more"].map(say).to_vec();
    let mut agent = in_repository(answers);
    agent.prompt("first");
    agent.settled().await;
    begin(&agent, "try it");
    agent.settled().await;
    let place = tree(&agent);
    agent.prompt("go on");
    agent.settled().await;
    agent.handle.keep_trial();
    idle(&mut agent).await;
    for text in ["now", "then"] {
        agent.prompt(text);
        agent.settled().await;
    }
    let requests = requests(&agent);
    for pair in requests.windows(2) {
        assert_eq!(pair[0].0, pair[1].0, "the system prompt changed");
        assert_eq!(pair[0].1, pair[1].1[..pair[0].1.len()]);
    }
    let said = &requests.last().unwrap().1;
    let notes: Vec<_> = said.iter().filter(|it| it.starts_with("note")).collect();
    let (own, place) = (agent.cwd.display(), place.display());
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].contains(&format!("[The working directory is now {place}]")),
        "{notes:?}"
    );
    assert!(notes[0].contains("[This is a trial."), "{}", notes[0]);
    assert!(notes[1].contains(&format!("[The working directory is now {own}]")));
    assert!(
        notes[1].contains("[The user kept the trial"),
        "{}",
        notes[1]
    );
    let order: Vec<usize> = ["try it", "[This is", "now", "[The user kept the trial"]
        .iter()
        .map(|text| said.iter().position(|it| it.contains(text)).unwrap())
        .collect();
    assert!(order[1] < order[0] && order[3] > order[0], "{said:?}");
}

#[tokio::test]
async fn a_session_that_begins_with_a_trial_names_its_own_folder_in_its_prompt() {
    let mut agent = in_repository(["tried", "again"].map(say).to_vec());
    begin(&agent, "try it");
    agent.settled().await;
    let place = tree(&agent);
    agent.prompt("go on");
    agent.settled().await;
    let requests = requests(&agent);
    let own = agent.cwd.display().to_string();
    assert!(requests[0].0.contains(&own) && !requests[0].0.contains(place.to_str().unwrap()));
    assert_eq!(requests[1].1.len(), 4, "{:?}", requests[1].1);
    assert!(requests[1].1[0].contains(&format!("is now {}]", place.display())));
    discarded(&mut agent).await;
    let entries = agent.entries();
    assert_eq!(entries.last().unwrap()["data"]["state"], "discarded");
}

#[tokio::test]
async fn a_discard_returns_and_keeps_both_branches() {
    let mut agent = in_repository(["one", "tried", "two"].map(say).to_vec());
    agent.prompt("first");
    agent.settled().await;
    begin(&agent, "try it");
    agent.settled().await;
    discarded(&mut agent).await;
    agent.prompt("second");
    agent.settled().await;
    let wanted = ["user: first", "assistant: one", "user: second"];
    assert_eq!(agent.request(2), wanted);
    let stored = agent.stored();
    assert!(stored.contains(&"user: try it".to_owned()), "{stored:?}");
    let moved = |event: &AgentEvent| matches!(event, AgentEvent::Moved { .. });
    assert!(agent.seen.iter().any(|event| moved(&event.kind)));
    // The same holds after a restart.
    agent.handle.shutdown().await;
    let root = agent.folder.path().join("sessions");
    let (mut session, _) = Session::open(&root, &agent.session).unwrap();
    assert_eq!(
        ready_trial(&mut session, &agent.folder.path().join("try")),
        None
    );
    let messages = session.history().messages;
    let said: Vec<_> = messages.iter().map(|it| message_line(it)).collect();
    assert_eq!(said[..3], wanted);
}

#[tokio::test]
async fn a_trial_that_cannot_begin_or_end_returns_the_prompt() {
    let mut agent = setup(vec![say("one")]).start();
    begin(&agent, "try it");
    told(&mut agent, "isn't in a git repository").await;
    let returned = agent
        .until(|event| matches!(event, AgentEvent::QueueReturned { .. }))
        .await;
    assert!(
        matches!(returned, AgentEvent::QueueReturned { messages, .. }
        if messages[0].content == [Content::text("try it")])
    );
    idle(&mut agent).await;
    agent.handle.keep_trial();
    told(&mut agent, "No trial is open").await;
    agent.handle.discard_trial();
    told(&mut agent, "No trial is open").await;
    agent.prompt("first");
    agent.settled().await;
    assert_eq!(agent.request(0), ["user: first"]);
}

/// The conversation can't return to before the trial, so the files must not either.
#[tokio::test]
async fn undo_stops_at_the_start_of_an_open_trial() {
    let answers = vec![write_call("c1", "new"), say("one"), say("tried")];
    let mut agent = in_repository(answers);
    agent.prompt("first");
    agent.settled().await;
    begin(&agent, "try it");
    agent.settled().await;
    let (answer, points) = tokio::sync::oneshot::channel();
    agent.handle.undo(UndoCommand::Prompts(answer));
    let point = within(points).await.unwrap().unwrap().swap_remove(0);
    let unknown = RewindPoint {
        entry: "none".to_owned(),
        ..point.clone()
    };
    for (point, said) in [(point, "before the trial"), (unknown, "no entry none")] {
        assert_eq!((&*point.prompt, point.files), ("first", 1));
        agent.handle.undo(UndoCommand::Rewind(point, Rewind::Both));
        told(&mut agent, said).await;
        assert_eq!(read(&agent, "new"), "tried\n");
    }
}

#[tokio::test]
async fn only_one_trial_at_a_time_and_it_ends_between_runs() {
    let gate = Gate::new();
    let mut waits = vec![start(), Step::Wait(gate.clone())];
    waits.extend(say("tried").into_iter().skip(1));
    let mut agent = in_repository(vec![waits, say("more")]);
    begin(&agent, "try it");
    gate.reached().await;
    agent.handle.keep_trial();
    told(&mut agent, "then end the trial").await;
    begin(&agent, "another");
    told(&mut agent, "A trial is already open").await;
    gate.open();
    agent.settled().await;
    begin(&agent, "another");
    told(&mut agent, "A trial is already open").await;
    // The screen already shows it as begun.
    let idle = |event: &AgentEvent| matches!(event, AgentEvent::State(RunState::Idle));
    agent.until(idle).await;
    // The user has to end the trial before leaving it through the tree.
    let first = agent.entries()[1]["id"].as_str().unwrap().to_owned();
    agent.handle.go_to(first, Leaving::Silently);
    told(&mut agent, "That is before the trial").await;
    assert_eq!(trials(&agent), 1);
    discarded(&mut agent).await;
    assert_eq!(trials(&agent), 0);
}

#[tokio::test]
async fn conflicting_files_are_named_and_the_trial_stays_open() {
    let mut agent = in_repository(vec![write_call("c1", "a"), say("tried"), say("more")]);
    begin(&agent, "try it");
    agent.settled().await;
    write(&agent, "a", "mine\n");
    agent.handle.keep_trial();
    told(
        &mut agent,
        "a: changed in the same place here and in the trial",
    )
    .await;
    idle(&mut agent).await;
    assert_eq!((read(&agent, "a").as_str(), trials(&agent)), ("mine\n", 1));
    write(&agent, "a", "one\n");
    agent.handle.keep_trial();
    idle(&mut agent).await;
    assert_eq!((read(&agent, "a").as_str(), trials(&agent)), ("tried\n", 0));
}

// Messages typed while the files are copied wait, and an abort returns them all.
#[tokio::test]
async fn an_abort_during_the_start_leaves_no_trial_or_an_open_one() {
    let mut agent = in_repository(vec![say("tried")]);
    begin(&agent, "try it");
    agent.steer("and more");
    agent.handle.abort();
    idle(&mut agent).await;
    let story = agent.story().join("\n");
    if agent.stored().is_empty() {
        assert!(story.contains("returned try it | and more"), "{story}");
        assert_eq!(trials(&agent), 0);
    } else {
        assert!(story.contains("trial open"), "{story}");
    }
}

#[tokio::test]
async fn a_trial_stays_open_while_the_user_views_another_session() {
    let answers = vec![
        write_call("c1", "a"),
        say("tried"),
        call(&[("c2", "bash", json!({"command": "pwd"}))]),
        say("elsewhere"),
        call(&[("c3", "bash", json!({"command": "pwd"}))]),
        say("back"),
    ];
    let mut agent = in_repository(answers);
    begin(&agent, "try it");
    agent.settled().await;
    let place = tree(&agent);
    let root = agent.folder.path().join("sessions");
    let opened = |event: &AgentEvent| matches!(event, AgentEvent::SessionOpened { .. });
    let open = |session: Session| OpenSession {
        facts: session.facts(),
        spill_dir: agent.folder.path().join("spill"),
        session,
        model: None,
        thinking: None,
    };
    let new = open(Session::create(&root, &agent.cwd));
    agent.handle.open(new).await.unwrap();
    agent.until(opened).await;
    agent.prompt("where");
    agent.settled().await;
    assert_eq!(results(&agent), [format!("c2: {}", agent.cwd.display())]);
    let (session, _) = loop {
        match Session::open(&root, &agent.session) {
            Err(_) => tokio::task::yield_now().await,
            Ok(opened) => break opened,
        }
    };
    // A copy doesn't get the trial.
    let (mut copy, _) = Session::fork(&root, &agent.session, &agent.cwd).unwrap();
    assert_eq!(
        ready_trial(&mut copy, &agent.folder.path().join("try")),
        None
    );
    let open = OpenSession {
        facts: session.facts(),
        spill_dir: agent.folder.path().join("spill"),
        session,
        model: None,
        thinking: None,
    };
    agent.handle.open(open).await.unwrap();
    agent.until(opened).await;
    agent
        .until(|event| matches!(event, AgentEvent::Trial(TrialEvent::Open(_))))
        .await;
    agent.prompt("where");
    agent.settled().await;
    let last = results(&agent).pop();
    assert_eq!(last, Some(format!("c3: {}", place.display())));
    agent.handle.keep_trial();
    idle(&mut agent).await;
    assert_eq!(read(&agent, "a"), "tried\n");
}

#[tokio::test]
async fn a_trial_whose_files_are_gone_ends_automatically() {
    let mut agent = in_repository(vec![say("tried")]);
    begin(&agent, "try it");
    agent.settled().await;
    agent.handle.shutdown().await;
    fs::remove_dir_all(agent.folder.path().join("try")).unwrap();
    let root = agent.folder.path().join("sessions");
    let (mut session, _) = Session::open(&root, &agent.session).unwrap();
    let notice = ready_trial(&mut session, &agent.folder.path().join("try")).unwrap();
    assert!(notice.contains("are gone"), "{notice}");
    drop(session);
    let last: Vec<Value> = agent.entries();
    assert_eq!(last.last().unwrap()["data"]["state"], "lost");
    let mut agent = Setup {
        resume: Some((agent.folder.clone(), agent.session.clone())),
        ..setup(vec![
            call(&[("c1", "bash", json!({"command": "pwd"}))]),
            say("on"),
        ])
    }
    .start();
    agent.prompt("go on");
    agent.settled().await;
    assert_eq!(results(&agent), [format!("c1: {}", agent.cwd.display())]);
}

// A session file can come from anyone. It must not choose which folders are removed or restored.
#[tokio::test]
async fn a_session_file_cannot_name_another_folder_as_its_trial() {
    for discards in [true, false] {
        let mut agent = in_repository(vec![say("tried")]);
        begin(&agent, "try it");
        agent.settled().await;
        let real = tree(&agent).parent().unwrap().to_owned();
        if discards {
            discarded(&mut agent).await;
        }
        agent.handle.shutdown().await;
        let other = agent.folder.path().join("other");
        fs::create_dir_all(other.join("work")).unwrap();
        for file in ["work/mine", "begun", "keep.after"] {
            fs::write(other.join(file), "mine").unwrap();
        }
        let text = fs::read_to_string(&agent.session).unwrap();
        let text = text.replace(real.to_str().unwrap(), other.to_str().unwrap());
        let record = real.join("trial.json");
        if let Ok(record) = fs::read_to_string(record) {
            let record = record.replace(real.to_str().unwrap(), other.to_str().unwrap());
            fs::write(other.join("trial.json"), record).unwrap();
        }
        fs::write(&agent.session, text).unwrap();
        let root = agent.folder.path().join("sessions");
        let (mut session, _) = Session::open(&root, &agent.session).unwrap();
        let told = ready_trial(&mut session, &agent.folder.path().join("try"));
        assert_eq!(told.is_some_and(|it| it.contains("are gone")), !discards);
        assert_eq!(fs::read_to_string(other.join("work/mine")).unwrap(), "mine");
        assert!(other.join("keep.after").exists());
    }
}

// Another process has the session open and can be keeping the trial right now.
#[tokio::test]
async fn a_read_only_session_leaves_its_trial_alone() {
    let mut agent = in_repository(vec![say("tried")]);
    begin(&agent, "try it");
    agent.settled().await;
    let journal = tree(&agent).with_file_name("keep.after");
    agent.handle.shutdown().await;
    fs::write(&journal, "").unwrap();
    fs::write(journal.with_file_name("keep.before"), "").unwrap();
    let (mut session, _) = Session::look(&agent.session).unwrap();
    let trials = agent.folder.path().join("try");
    assert_eq!(ready_trial(&mut session, &trials), None);
    assert!(journal.exists());
}

#[tokio::test]
async fn a_read_only_session_can_move_during_its_trial() {
    let mut agent = in_repository(vec![say("answered"), say("tried")]);
    agent.prompt("before it");
    agent.settled().await;
    begin(&agent, "try it");
    agent.settled().await;
    let mut entries = agent.entries().into_iter();
    let first = entries.find(|it| it["message"].to_string().contains("answered"));
    let first = first.unwrap()["id"].as_str().unwrap().to_owned();
    let (session, _) = Session::look(&agent.session).unwrap();
    let mut reader = setup(Vec::new()).start();
    let opened = reader.handle.open(OpenSession {
        model: None,
        thinking: None,
        facts: session.facts(),
        spill_dir: agent.session.with_extension(""),
        session,
    });
    opened.await.unwrap();
    reader.handle.go_to(first, Leaving::Silently);
    let done =
        |event: &AgentEvent| matches!(event, AgentEvent::Moved { .. } | AgentEvent::Notice { .. });
    let done = reader.until(done).await;
    assert!(matches!(done, AgentEvent::Moved { .. }), "{done:?}");
    let is_trial = |event: &AgentEvent| matches!(event, AgentEvent::Trial(_));
    assert!(!reader.seen.iter().any(|event| is_trial(&event.kind)));
    begin(&reader, "try another");
    let back = |event: &AgentEvent| matches!(event, AgentEvent::QueueReturned { .. });
    reader.until(back).await;
    let told = |event: &AgentEvent| matches!(event, AgentEvent::Notice { text, .. } if text.contains("read-only here"));
    reader.until(told).await;
}
