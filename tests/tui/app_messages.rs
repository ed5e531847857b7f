//! Text returned to the editor is sent as a message, whatever it starts with. Returning it loses no
//! draft.

use std::sync::Arc;

use tiller::agent::{AgentEvent, Phase, QueueKind, RunState};
use tiller::app::tui::composer::SavedDraft;
use tiller::app::tui::effects::effect::{Effect, TerminalEffect};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::options::ExitKind;
use tiller::app::tui::popups::Overlay;
use tiller::app::tui::terminal::input::{InputEvent, KeyCode, KeyPress};
use tiller::app::tui::transcript::Transcript;
use tiller::llm::Message;

use super::app_kit::*;
use super::app_questions::{ask, command};
use super::transcript_support::branch;

/// These would run as commands if the user typed them.
const LIKE_COMMANDS: [&str; 4] = [
    "/compact is a bad name",
    "!echo RAN > ran.txt",
    "/help",
    "!!ls",
];

/// The agent returns these messages.
fn returned(tui: &mut TestTui, texts: &[&str]) {
    tui.agent(AgentEvent::QueueReturned {
        to: 0,
        messages: queued(QueueKind::Steering, texts),
    });
}

#[test]
fn a_returned_message_is_sent_as_a_message() {
    type Bring = fn(&mut TestTui, &str);
    let ways: [(&str, Bring); 5] = [
        ("the queue", |tui, text| returned(tui, &[text])),
        ("a fork", |tui, text| {
            tui.send(Msg::Done(EffectResult::Forked(text.into())));
        }),
        ("an earlier run", |tui, text| {
            let draft = SavedDraft {
                queue: vec![text.into()],
                ..SavedDraft::default()
            };
            tui.send(Msg::Done(EffectResult::Draft(draft)));
        }),
        ("the draft of an earlier run", |tui, text| {
            let mut before = TestTui::new(80, 24);
            returned(&mut before, &[text]);
            let draft = before.app.draft();
            assert!(draft.is_message);
            tui.send(Msg::Done(EffectResult::Draft(draft)));
        }),
        ("up and down", |tui, text| {
            tui.write("older");
            tui.key("enter");
            tui.state(RunState::Idle);
            returned(tui, &[text]);
            tui.key("up");
            assert_eq!(tui.text(), "older");
            tui.key("down");
        }),
    ];
    for (way, bring) in ways {
        for text in LIKE_COMMANDS {
            let mut tui = TestTui::new(80, 24);
            bring(&mut tui, text);
            assert_eq!(tui.text(), text, "{way}");
            assert!(
                tui.frame().contains("message, not a command"),
                "{way}: {}",
                tui.frame()
            );
            assert!(tui.app.completion.is_none());
            tui.now += 1000;
            assert_eq!(tui.key("enter"), [prompt(text)], "{way}");
            assert!(tui.app.overlays.is_empty(), "{way}");
            // A message from the history is also sent as a message.
            tui.state(RunState::Idle);
            tui.key("up");
            tui.now += 1000;
            let sent = tui.key("enter");
            let [Effect::Prompt(content)] = &sent[..] else {
                panic!("{way}: {text}: {sent:?}");
            };
            let told = format!("{content:?}");
            assert!(told.contains(text), "{way}: {told}");
        }
    }
}

/// Returned text joins the draft, not an edited history entry. The edit is kept too.
#[test]
fn a_message_returned_while_browsing_history_joins_the_draft() {
    for edit in ["", " edited"] {
        let mut tui = TestTui::new(80, 24);
        tui.write("older");
        tui.key("enter");
        tui.state(RunState::Idle);
        tui.write("draft");
        tui.key("up");
        tui.write(edit);
        assert_eq!(tui.text(), format!("older{edit}"));
        returned(&mut tui, &["back"]);
        assert_eq!(tui.text(), "back\n\ndraft");
        let newest = tui.app.composer.history().get(1).unwrap().to_owned();
        assert_eq!(newest, format!("older{edit}"));
        assert_eq!(tui.app.draft().returned.len(), 1);
    }
}

#[test]
fn edits_of_history_entries_are_kept() {
    let mut tui = TestTui::new(80, 24);
    for prompt in ["one", "two"] {
        tui.write(prompt);
        tui.now += 1000;
        tui.key("enter");
        tui.state(RunState::Idle);
    }
    tui.write("draft");
    tui.key("up");
    assert_eq!(tui.app.draft().text, "draft", "the entry wasn't edited");
    tui.write(" changed");
    tui.key("up");
    tui.key("up");
    assert_eq!(tui.text(), "one");
    assert_eq!(tui.app.draft().text, "draft\n\ntwo changed");
    tui.write(" too");
    assert_eq!(tui.app.draft().text, "draft\n\none too\n\ntwo changed");
    tui.now += 1000;
    assert_eq!(tui.key("enter"), [prompt("one too")]);
    assert_eq!(tui.text(), "draft");
    let history = tui.app.composer.history();
    assert_eq!(history.get(1), Some("one too"));
    assert_eq!(history.get(2), Some("two changed"));
    // An edit is also kept on the way back to the draft.
    tui.key("up");
    tui.write(" after all");
    tui.key("down");
    assert_eq!(tui.text(), "draft");
    let history = tui.app.composer.history();
    assert_eq!(history.get(1), Some("one too after all"));
}

#[test]
fn init_returns_as_the_command() {
    for typed in ["/init", "/init in German"] {
        let mut tui = TestTui::new(80, 24);
        tui.write(typed);
        let sent = tui.key("enter");
        let [Effect::Prompt(content)] = &sent[..] else {
            panic!("{sent:?}");
        };
        let mut messages = queued(QueueKind::Steering, &[""]);
        messages[0].content.clone_from(content);
        tui.agent(AgentEvent::QueueReturned { messages, to: 0 });
        assert_eq!(tui.text(), typed);
        tui.state(RunState::Idle);
        tui.now += 1000;
        assert_eq!(tui.key("enter"), sent);
        // The same in the queue strip, and among other messages.
        let mut tui = TestTui::new(80, 24);
        let mut messages = queued(QueueKind::FollowUp, &["", "and then"]);
        messages[0].content.clone_from(content);
        tui.agent(AgentEvent::QueueUpdate {
            steering: Vec::new(),
            follow_up: messages.clone(),
        });
        assert!(tui.frame().contains(&format!("then   {typed}")));
        tui.agent(AgentEvent::QueueReturned { messages, to: 0 });
        assert_eq!(tui.text(), format!("{typed}\n\nand then"));
    }
}

#[test]
fn an_escaped_message_returns_and_is_sent_in_full() {
    let mut tui = TestTui::new(80, 24);
    tui.running(Phase::Streaming);
    tui.write("//compact is a bad name");
    assert_eq!(tui.key("enter"), [prompt("/compact is a bad name")]);
    returned(&mut tui, &["/compact is a bad name"]);
    tui.state(RunState::Idle);
    assert_eq!(tui.text(), "/compact is a bad name");
    tui.now += 1000;
    assert_eq!(tui.key("enter"), [prompt("/compact is a bad name")]);
}

#[test]
fn retyping_the_start_makes_it_a_command_again() {
    let mut tui = TestTui::new(80, 24);
    returned(&mut tui, &["/help"]);
    // More text after it, or a step of undo, keeps it a message.
    tui.key("ctrl+end");
    tui.key("end");
    tui.write("x");
    tui.key("backspace");
    tui.now += 1000;
    assert_eq!(tui.key("enter"), [prompt("/help")]);
    tui.state(RunState::Idle);
    returned(&mut tui, &["help"]);
    tui.key("home");
    tui.write("/");
    tui.key("end");
    assert!(!tui.frame().contains("message, not a command"));
    tui.now += 1000;
    tui.key("enter");
    assert!(matches!(tui.app.overlays.last(), Some(Overlay::Help(_))));
    // Undo and redo keep it a message.
    let mut tui = TestTui::new(80, 24);
    returned(&mut tui, &["/help"]);
    tui.key("ctrl+_");
    assert_eq!(tui.text(), "");
    tui.key("alt+_");
    assert_eq!(tui.text(), "/help");
    tui.now += 1000;
    assert_eq!(tui.key("enter"), [prompt("/help")]);
}

#[test]
fn a_message_returned_during_a_question_steers_and_does_not_deny() {
    let mut tui = TestTui::new(80, 24);
    ask(&mut tui, &[command(1, "make")]);
    tui.now += 1000;
    returned(&mut tui, &["later"]);
    tui.now += 1000;
    assert_eq!(tui.key("enter"), [prompt("later")]);
}

#[test]
fn the_draft_returns_after_an_older_prompt_was_sent() {
    for draft in ["a draft", "two\nlines"] {
        let mut tui = TestTui::new(80, 24);
        tui.write("older");
        tui.key("enter");
        tui.state(RunState::Idle);
        tui.send(Msg::Input(InputEvent::Paste(draft.into())));
        tui.key("ctrl+home");
        tui.key("up");
        tui.key("up");
        assert_eq!(tui.text(), "older");
        tui.now += 1000;
        assert_eq!(tui.key("enter"), [prompt("older")]);
        assert_eq!(tui.text(), draft);
        tui.now += 100;
        assert_eq!(tui.key("enter"), [], "an accidental repeat of Enter");
        assert_eq!(tui.text(), draft);
        // A draft cleared while another prompt is shown goes into the history.
        tui.state(RunState::Idle);
        tui.key("ctrl+home");
        tui.key("up");
        tui.key("up");
        tui.key("ctrl+c");
        assert_eq!(tui.text(), "");
        let history = tui.app.composer.history();
        assert!((1..5).any(|age| history.get(age) == Some(draft)));
    }
    // Choosing a prompt from the list saves the draft in the history and says so.
    let mut tui = TestTui::new(80, 24);
    tui.write("older");
    tui.key("enter");
    tui.state(RunState::Idle);
    tui.write("a draft");
    tui.key("ctrl+r");
    tui.key("enter");
    assert_eq!(tui.text(), "older");
    assert!(tui.frame().contains("Your unsent text is in the history"));
    tui.now += 1000;
    tui.key("enter");
    assert_eq!(tui.app.composer.history().get(2), Some("a draft"));
}

#[test]
fn backslash_enter_inserts_a_newline_in_commands_too() {
    for typed in ["/try do this:", "!echo", "/compact", "words"] {
        let mut tui = TestTui::new(80, 24);
        tui.write(typed);
        tui.write("\\");
        assert_eq!(tui.key("enter"), []);
        assert_eq!(tui.text(), format!("{typed}\n"));
        assert!(!tui.app.is_running());
    }
}

#[test]
fn a_lone_question_mark_opens_the_help_and_is_not_sent() {
    let mut tui = TestTui::new(80, 24);
    tui.send(Msg::Input(InputEvent::Paste("?".into())));
    assert!(tui.frame().contains("Enter help"), "{}", tui.frame());
    assert_eq!(tui.key("enter"), []);
    assert!(matches!(tui.app.overlays.last(), Some(Overlay::Help(_))));
    assert_eq!(tui.text(), "");
    // With more text after it, it's a prompt.
    let mut tui = TestTui::new(80, 24);
    tui.send(Msg::Input(InputEvent::Paste("?? what".into())));
    assert_eq!(tui.key("enter"), [prompt("?? what")]);
}

/// As in a shell. It must not cost a model call.
#[test]
fn a_lone_exit_quits_and_is_not_sent() {
    for text in ["exit", "quit", ":q", ":wq", "bye"] {
        let mut tui = TestTui::new(80, 24);
        tui.write(text);
        let effects = tui.key("enter");
        let quits = [Effect::Terminal(TerminalEffect::Exit(ExitKind::Quit))];
        assert_eq!(effects, quits, "{text}");
        // What comes back is a message, and so is a longer text.
        let mut tui = TestTui::new(80, 24);
        returned(&mut tui, &[text]);
        tui.now += 1000;
        assert_eq!(tui.key("enter"), [prompt(text)]);
        let mut tui = TestTui::new(80, 24);
        tui.write(&format!("{text} it"));
        assert_eq!(tui.key("enter"), [prompt(&format!("{text} it"))]);
        // While the agent works, it asks, like /quit.
        let mut tui = TestTui::new(80, 24);
        tui.running(Phase::Requesting);
        tui.write(text);
        assert_eq!(tui.key("enter"), []);
        assert!(matches!(tui.app.overlays.last(), Some(Overlay::Confirm(_))));
    }
}

#[test]
fn a_hash_sign_tells_that_it_is_plain_text() {
    let mut tui = TestTui::new(80, 24);
    tui.write("# use tabs");
    let told = "# is plain text; edit AGENTS.md to remember things";
    assert!(tui.frame().contains(told), "{}", tui.frame());
    assert_eq!(tui.key("enter"), [prompt("# use tabs")]);
}

#[test]
fn a_second_esc_in_normal_mode_does_not_stop_the_run() {
    let mut tui = TestTui::new(80, 24);
    tui.app.composer.set_vim(true);
    tui.running(Phase::Streaming);
    tui.key("i");
    for _ in 0..5 {
        assert_eq!(tui.key("esc"), []);
        tui.now += 300;
    }
    // A single Esc stops the run.
    tui.now += 1000;
    assert_eq!(tui.key("esc"), [Effect::Abort]);
}

#[test]
fn a_call_that_waits_for_the_user_shows_no_time() {
    let mut tui = TestTui::new(90, 24);
    let call = command(1, "git push");
    tui.agent(AgentEvent::AgentStart);
    let tiller::agent::Subject::Permission(subject) = &call.subject else {
        panic!("expected a permission question");
    };
    tui.agent(AgentEvent::ToolStart {
        call_id: "c1".into(),
        name: "bash".into(),
        args: Arc::default(),
        details: Arc::clone(&subject.details),
    });
    ask(&mut tui, &[call]);
    tui.wait(5000);
    let frame = tui.frame();
    assert!(frame.contains("? bash  git push"), "{frame}");
    assert!(
        !frame
            .lines()
            .any(|row| row.contains("bash  git push") && row.contains("5 s")),
        "{frame}"
    );
    tui.agent(AgentEvent::Questions { open: Vec::new() });
    tui.wait(3000);
    let frame = tui.frame();
    let row = frame.lines().find(|row| row.contains("● bash  git push"));
    assert!(row.is_some_and(|row| row.contains("3 s")), "{frame}");
}

/// The program was killed before it removed the draft.
#[test]
fn a_draft_that_was_sent_does_not_come_back() {
    let sent = Arc::new(Message::user("Fix the bug", 0));
    for (text, queue, back) in [
        ("Fix the bug", &[][..], ""),
        ("Fix the bug, please", &[], "Fix the bug, please"),
        ("Fix the bug", &["wait"], "wait\n\nFix the bug"),
    ] {
        let mut tui = TestTui::new(80, 24);
        tui.app.transcript = Transcript::of_branch(branch(&[Arc::clone(&sent)]));
        let draft = SavedDraft {
            text: text.to_owned(),
            queue: queue.iter().map(|&it| it.to_owned()).collect(),
            told: vec!["sent along".to_owned()],
            ..SavedDraft::default()
        };
        tui.send(Msg::Done(EffectResult::Draft(draft)));
        assert_eq!(tui.text(), back);
        tui.now += 1000;
        let saved = tui.send_all(Msg::Tick);
        let Some(Effect::SaveDraft(draft)) = saved.first() else {
            panic!("{saved:?}");
        };
        assert_eq!(
            (&*draft.text, draft.told.is_empty()),
            (back, back.is_empty())
        );
    }
}

#[test]
fn full_mode_always_asks_first() {
    use tiller::agent::permission::PermissionMode;
    let mut tui = TestTui::new(80, 24);
    for _ in 0..9 {
        let effects = tui.key("shift+tab");
        assert!(
            !effects.contains(&Effect::SetPermission(PermissionMode::Full)),
            "{effects:?}"
        );
    }
    assert_ne!(tui.app.status.permission, PermissionMode::Full);
    for key in ["enter", "ctrl+d", "y", "ctrl+enter", "alt+enter"] {
        let mut tui = TestTui::new(80, 24);
        tui.app.status.permission = PermissionMode::Ask;
        tui.write("/permission full");
        tui.key("enter");
        for _ in 0..3 {
            let press: KeyPress = key.parse().unwrap();
            assert_ne!(press.code, KeyCode::Up);
            tui.key(key);
            tui.now += 500;
        }
        assert_eq!(tui.app.status.permission, PermissionMode::Ask, "{key}");
    }
    // Once selected and confirmed, the mode changes.
    let mut tui = TestTui::new(80, 24);
    tui.app.status.permission = PermissionMode::Ask;
    tui.write("/permission full");
    tui.key("enter");
    tui.key("up");
    tui.now += 500;
    assert_eq!(
        tui.key("enter"),
        [Effect::SetPermission(PermissionMode::Full)]
    );
}
