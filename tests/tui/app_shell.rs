//! The user's own `!` commands, and pictures.

use std::sync::Arc;

use insta::assert_snapshot;
use tiller::agent::tool::CommandDetails;
use tiller::agent::{AgentEvent, Phase, QueueKind, RunOutcome, RunState, RunTotals};
use tiller::app::host::CommandEnd;
use tiller::app::tui::composer::SavedDraft;
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::terminal::input::InputEvent;
use tiller::app::tui::transcript::Transcript;
use tiller::llm::message::content_text;
use tiller::llm::{Content, Message, UserMessage};

use super::app_kit::{TestTui, prompt, queued};
use super::transcript_support::branch;

fn test_tui() -> TestTui {
    TestTui::new(80, 24)
}

fn run(tui: &mut TestTui, typed: &str) -> Vec<Effect> {
    tui.write(typed);
    tui.key("enter")
}

fn ended(tui: &mut TestTui, id: &str, command: &str, output: &str, code: i32) {
    let details = CommandDetails {
        command: command.to_owned(),
        output: output.to_owned(),
        total_lines: output.lines().count() as u64,
        exit_code: Some(code),
        duration_ms: Some(20),
        ..CommandDetails::default()
    };
    let end = CommandEnd {
        details,
        failure: (code != 0).then(|| format!("exit {code}")),
    };
    tui.send(Msg::Done(EffectResult::Shell(id.to_owned(), end)));
}

fn shell(id: &str, command: &str) -> Effect {
    Effect::RunShell(id.to_owned(), command.to_owned())
}

#[test]
fn a_command_runs_and_its_output_goes_with_the_next_message() {
    let mut tui = test_tui();
    assert_eq!(
        run(&mut tui, "!git status"),
        [shell("shell-1", "git status")]
    );
    assert_eq!(tui.text(), "");
    ended(&mut tui, "shell-1", "git status", "clean\n", 0);
    assert_snapshot!("command", tui.frame());
    let block = "<command line=\"git status\" by=\"user\" exit=\"0\">\nclean\n</command>";
    let both = vec![Content::text("why?"), Content::text(block)];
    assert_eq!(run(&mut tui, "why?"), [Effect::Prompt(both)]);
    let frame = tui.frame();
    assert!(
        frame.contains("why?") && !frame.contains("<command"),
        "{frame}"
    );
    tui.now += 300;
    assert_eq!(
        run(&mut tui, "and?"),
        [prompt("and?")],
        "it is sent only once"
    );
    tui.key("up");
    tui.key("up");
    tui.key("up");
    assert_eq!(tui.text(), "!git status", "the history has it");
}

#[test]
fn command_output_is_saved_with_the_draft_until_sent() {
    let mut tui = test_tui();
    run(&mut tui, "!ls");
    ended(&mut tui, "shell-1", "ls", "a\n", 0);
    let draft = tui.app.draft();
    assert_eq!(tui.app.next_wake(), Some(tui.now), "at once");
    assert_eq!(tui.send_all(Msg::Tick), [Effect::SaveDraft(draft.clone())]);
    let mut next = test_tui();
    next.send(Msg::Done(EffectResult::Draft(draft.clone())));
    assert_eq!(next.text(), "");
    assert_eq!(next.app.draft().told, draft.told);
    let both = [vec![Content::text("why?")], tui_blocks(&draft)].concat();
    assert_eq!(run(&mut next, "why?"), [Effect::Prompt(both)]);
    assert_eq!(next.app.draft().told, [""; 0]);
}

fn tui_blocks(draft: &SavedDraft) -> Vec<Content> {
    let block = "<command line=\"ls\" by=\"user\" exit=\"0\">\na\n</command>";
    assert_eq!(draft.told, [block]);
    vec![Content::text(block)]
}

#[test]
fn the_model_does_not_see_output_after_two_exclamation_marks() {
    let mut tui = test_tui();
    assert_eq!(run(&mut tui, "!! ls"), [shell("shell-1", "ls")]);
    ended(&mut tui, "shell-1", "ls", "a\n", 0);
    assert_eq!(run(&mut tui, "hi"), [prompt("hi")]);
}

#[test]
fn one_command_runs_at_a_time_and_esc_stops_it() {
    let mut tui = test_tui();
    run(&mut tui, "!sleep 60");
    assert_eq!(run(&mut tui, "!ls"), []);
    assert_eq!(tui.text(), "!ls", "the command stays in the editor");
    assert!(tui.frame().contains("is still running"));
    assert_eq!(tui.key("esc"), [Effect::StopShell]);
    let frame = tui.frame();
    assert!(frame.contains("stopped"), "{frame}");
    assert!(!frame.contains("is still running"), "{frame}");
    // A late end of the stopped command is ignored.
    ended(&mut tui, "shell-1", "sleep 60", "late\n", 0);
    assert_eq!(tui.key("enter"), [shell("shell-2", "ls")]);
    ended(&mut tui, "shell-2", "ls", "", 2);
    let block = "<command line=\"ls\" by=\"user\" exit=\"2\">\n\n</command>";
    let both = vec![Content::text("so?"), Content::text(block)];
    assert_eq!(run(&mut tui, "so?"), [Effect::Prompt(both)]);
}

#[test]
fn output_shows_live_and_stays_after_a_stop() {
    let mut tui = test_tui();
    run(&mut tui, "!make");
    let output: Vec<_> = (1..=9).map(|line| format!("line {line}")).collect();
    let details = CommandDetails {
        command: "make".to_owned(),
        output: output.join("\n"),
        total_lines: 9,
        ..CommandDetails::default()
    };
    let wrote = EffectResult::ShellOutput("shell-1".to_owned(), details);
    tui.send(Msg::Done(wrote.clone()));
    let frame = tui.frame();
    assert!(
        frame.contains("● !  make") && frame.contains("line 9"),
        "{frame}"
    );
    assert!(frame.contains("Esc stops"), "{frame}");
    assert_eq!(tui.key("esc"), [Effect::StopShell]);
    let frame = tui.frame();
    assert!(
        frame.contains("stopped") && frame.contains("line 9"),
        "{frame}"
    );
    // Late output is ignored.
    tui.send(Msg::Done(wrote));
    assert_eq!(tui.frame(), frame);
    let block = format!(
        "<command line=\"make\" by=\"user\" failed=\"stopped\">\n{}\n</command>",
        output.join("\n")
    );
    let both = vec![Content::text("why?"), Content::text(block)];
    assert_eq!(run(&mut tui, "why?"), [Effect::Prompt(both)]);
}

#[test]
fn command_output_is_saved_when_the_program_exits() {
    let mut tui = test_tui();
    run(&mut tui, "!make");
    let details = CommandDetails {
        command: "make".to_owned(),
        output: "half".to_owned(),
        ..CommandDetails::default()
    };
    let wrote = EffectResult::ShellOutput("shell-1".to_owned(), details);
    tui.send(Msg::Done(wrote));
    // The same when the program is killed.
    tui.now += 1000;
    let saved = tui.send_all(Msg::Tick);
    let [Effect::SaveDraft(draft)] = &saved[..] else {
        panic!("{saved:?}");
    };
    assert!(draft.told.concat().contains("half"), "{draft:?}");
    let key = Msg::Input(InputEvent::Key("ctrl+d".parse().unwrap()));
    let effects = tui.send_all(key);
    let [
        Effect::StopShell,
        Effect::SaveDraft(draft),
        Effect::Terminal(_),
    ] = &effects[..]
    else {
        panic!("{effects:?}");
    };
    assert!(draft.told[0].contains("half"), "{draft:?}");
}

#[test]
fn a_resumed_session_shows_the_commands_that_its_prompts_took_along() {
    let mut tui = test_tui();
    for (id, command, output, code) in [
        ("shell-1", "echo \"a\"", "a\n", 0),
        ("shell-2", "make", "one\ntwo\n", 2),
        ("shell-3", "true", "", 0),
    ] {
        run(&mut tui, &format!("!{command}"));
        ended(&mut tui, id, command, output, code);
    }
    run(&mut tui, "!sleep 60");
    let details = CommandDetails {
        command: "sleep 60".to_owned(),
        output: "half".to_owned(),
        ..CommandDetails::default()
    };
    let wrote = EffectResult::ShellOutput("shell-4".to_owned(), details);
    tui.send(Msg::Done(wrote));
    tui.key("esc");
    let draft = tui.app.draft();
    let sent = run(&mut tui, "why?");
    let [Effect::Prompt(content)] = &sent[..] else {
        panic!("{sent:?}");
    };
    let prompt = Arc::new(Message::User(UserMessage {
        content: content.clone(),
        ..UserMessage::default()
    }));
    tui.state(RunState::Idle);
    let cells = |tui: &mut TestTui| -> Vec<String> {
        let frame = tui.frame();
        let end = frame.lines().position(|line| line.contains('╭')).unwrap();
        let rows = frame.lines().take(end).map(|row| row.trim_end().to_owned());
        rows.filter(|row| !row.is_empty() && !row.contains("The model sees"))
            .collect()
    };
    let before = cells(&mut tui);
    assert!(before.concat().contains("make  exit 2"), "{before:#?}");
    let mut resumed = test_tui();
    resumed.app.transcript = Transcript::of_branch(branch(&[prompt]));
    assert_eq!(cells(&mut resumed), before);

    // The prompt never came to be sent.
    let mut unsent = test_tui();
    unsent.send(Msg::Done(EffectResult::Draft(draft)));
    assert_eq!(cells(&mut unsent), before[..before.len() - 1]);
}

#[test]
fn a_lone_exclamation_mark_runs_nothing() {
    for typed in ["!", "!!", "! "] {
        let mut tui = test_tui();
        assert_eq!(run(&mut tui, typed), [], "{typed}");
        assert_eq!(tui.text(), typed);
    }
}

#[test]
fn attachments_of_a_returned_message_stay_out_of_the_editor() {
    let mut tui = test_tui();
    tui.running(Phase::Streaming);
    let block = "<command line=\"ls\" by=\"user\" exit=\"0\">\na\n</command>";
    let mut messages = queued(QueueKind::Steering, &["look @a.rs"]);
    messages[0]
        .content
        .push(Content::text("<file path=\"a.rs\">\nx\n</file>"));
    messages[0].content.push(Content::text(block));
    tui.agent(AgentEvent::QueueUpdate {
        steering: messages.clone(),
        follow_up: Vec::new(),
    });
    let frame = tui.frame();
    assert!(
        frame.contains("look @a.rs") && !frame.contains("+1"),
        "{frame}"
    );
    tui.waiting(&[], &[]);
    tui.agent(AgentEvent::QueueReturned { messages, to: 0 });
    assert_eq!(tui.text(), "look @a.rs");
    let again = vec![Content::text("look @a.rs"), Content::text(block)];
    tui.key("ctrl+e");
    tui.write(" ");
    tui.key("backspace");
    tui.key("esc");
    let check = Effect::CheckMentions("look @a.rs".to_owned());
    assert_eq!(tui.key("ctrl+enter").first(), Some(&check));
    let found = EffectResult::Mentions("look @a.rs".to_owned(), None);
    let sent = tui.send(Msg::Done(found));
    let again = Effect::Queue(QueueKind::Steering, again);
    assert_eq!(sent.first(), Some(&again));
}

#[test]
fn a_picture_becomes_a_mention() {
    let mut tui = test_tui();
    for (pasted, expected) in [
        ("/tmp/a.png", "@/tmp/a.png "),
        ("'/tmp/my shot.PNG' ", "@\"/tmp/my shot.PNG\" "),
        ("/tmp/my\\ shot.jpg\n", "@\"/tmp/my shot.jpg\" "),
        ("file:///tmp/a%20b.webp", "@\"/tmp/a b.webp\" "),
        ("/tmp/a.rs", "/tmp/a.rs"),
        ("see /tmp/a.png", "see /tmp/a.png"),
    ] {
        tui.send(Msg::Input(InputEvent::Paste(pasted.to_owned())));
        assert_eq!(tui.text(), expected, "{pasted}");
        tui.key("ctrl+c");
    }
    tui.write("what is");
    assert_eq!(tui.key("ctrl+v"), [Effect::PastePicture]);
    tui.send(Msg::Done(EffectResult::Picture(Ok("/tmp/p.png".into()))));
    assert_eq!(tui.text(), "what is @/tmp/p.png ");
    tui.send(Msg::Done(EffectResult::Picture(Err("No picture".into()))));
    assert!(tui.frame().contains("No picture"));
}

#[test]
fn a_paste_in_a_returned_prompt_is_a_placeholder_again() {
    let mut tui = test_tui();
    let paste = "line\n".repeat(40);
    tui.write("what is ");
    tui.send(Msg::Input(InputEvent::Paste(paste.clone())));
    let text = format!("what is {paste}");
    let sent = tui.key("enter");
    assert!(matches!(&sent[..], [Effect::Prompt(it)] if content_text(it) == text));
    tui.key("up");
    assert_eq!(tui.text(), text);
    let frame = tui.frame();
    assert!(frame.contains("what is [paste #1 +40 lines]"), "{frame}");
}

/// The command belongs to the user, so it outlives the run.
#[test]
fn a_command_outlives_the_run_beside_it() {
    let mut tui = test_tui();
    run(&mut tui, "!make");
    tui.agent(AgentEvent::State(RunState::Running {
        phase: Phase::Streaming,
    }));
    tui.agent(AgentEvent::AgentEnd {
        messages: Vec::new().into(),
        totals: RunTotals::default(),
        outcome: RunOutcome::Done,
    });
    tui.agent(AgentEvent::State(RunState::Idle));
    let frame = tui.frame();
    assert!(
        frame.contains("● !  make") && !frame.contains("stopped"),
        "{frame}"
    );
}
