//! Keys in, effects out: every row of the key table.

use std::sync::Arc;

use tiller::agent::permission::PermissionMode;
use tiller::agent::session::HistoryFacts;
use tiller::agent::{
    AgentEvent, Budget, BudgetLimit, BudgetReached, NoticeLevel, Phase, QueueKind, RunOutcome,
    RunState, SessionInfo, Snapshot,
};
use tiller::app::tui::app::Start;
use tiller::app::tui::composer::{Narrowing, SavedDraft};
use tiller::app::tui::effects::effect::{Effect, TerminalEffect, TreeEffect};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::options::ExitKind;
use tiller::app::tui::popups::Overlay;
use tiller::app::tui::terminal::input::{InputEvent, TerminalReport};
use tiller::llm::{AssistantMessage, Content, Message, ThinkingLevel, Usage, UserMessage};

use super::app_kit::{TestTui, no_file_defines, prompt, queued, run_command};
use super::transcript_support::branch;

fn test_tui() -> TestTui {
    TestTui::new(80, 24)
}

fn busy() -> TestTui {
    let mut tui = test_tui();
    tui.running(Phase::Streaming);
    tui
}

fn queue(kind: QueueKind, text: &str) -> Effect {
    Effect::Queue(kind, vec![Content::text(text)])
}

#[test]
fn enter_sends_and_shows_the_run_at_once() {
    let mut tui = test_tui();
    tui.write("fix it");
    assert!(!tui.frame().contains("Esc stops"));
    assert_eq!(tui.key("enter"), [prompt("fix it")]);
    assert_eq!(tui.text(), "");
    assert!(
        tui.frame().contains("Esc stops"),
        "before the agent sent an event"
    );
    assert_eq!(tui.app.transcript.end(), 1);
}

#[test]
fn enter_during_a_run_steers() {
    let mut tui = busy();
    tui.write("use subtle");
    assert_eq!(tui.key("enter"), [prompt("use subtle")]);
    assert!(
        tui.app.transcript.is_empty(),
        "it waits in the queue, not in the transcript"
    );
    tui.write("later");
    assert_eq!(tui.key("alt+enter"), [queue(QueueKind::FollowUp, "later")]);
    tui.write("even later");
    assert_eq!(
        tui.key("ctrl+q"),
        [queue(QueueKind::FollowUp, "even later")]
    );
}

#[test]
fn follow_up_keys_send_when_idle() {
    for key in ["alt+enter", "ctrl+q", "ctrl+enter"] {
        let mut tui = test_tui();
        tui.write("go");
        assert_eq!(tui.key(key), [prompt("go")], "{key}");
        assert!(tui.app.is_running(), "{key}");
    }
}

#[test]
fn steer_now_queues_the_text_and_delivers() {
    let mut tui = busy();
    tui.write("stop that");
    assert_eq!(
        tui.key("ctrl+enter"),
        [queue(QueueKind::Steering, "stop that"), Effect::SteerNow]
    );
    assert_eq!(tui.key("ctrl+enter"), [], "the queue is empty");
    tui.waiting(&["a"], &[]);
    assert_eq!(tui.key("ctrl+enter"), [Effect::SteerNow]);
}

#[test]
fn enter_on_the_empty_editor_delivers_the_queue_but_not_by_accident() {
    let mut tui = busy();
    tui.write("x");
    tui.key("enter");
    tui.waiting(&["x"], &[]);
    tui.now += 249;
    assert_eq!(tui.key("enter"), [], "within 250 ms of the last Enter");
    tui.now += 250;
    assert_eq!(tui.key("enter"), [Effect::SteerNow]);
    tui.waiting(&[], &["only a follow-up"]);
    tui.now += 300;
    assert_eq!(tui.key("enter"), []);
}

#[test]
fn blank_text_is_never_sent() {
    let mut tui = test_tui();
    assert_eq!(tui.key("enter"), []);
    tui.write("   ");
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "   ");
}

#[test]
fn enter_continues_at_the_limit() {
    for key in ["enter", "ctrl+enter"] {
        let mut tui = busy();
        tui.agent(AgentEvent::AgentEnd {
            totals: tiller::agent::RunTotals::default(),
            messages: Vec::new().into(),
            outcome: RunOutcome::LimitReached { limit: 3 },
        });
        tui.state(RunState::Idle);
        assert!(tui.frame().contains("Enter continue"));
        assert_eq!(tui.key(key), [Effect::GoOn]);
        assert!(tui.frame().contains("Esc stops"));
        tui.state(RunState::Idle);
        tui.now += 1000;
        assert_eq!(tui.key(key), [], "only once");
    }
}

#[test]
fn enter_at_the_budget_raises_it_and_continues() {
    let mut tui = busy();
    let [limit, spent, next] = [1.0, 1.02, 2.0].map(BudgetLimit::Usd);
    tui.agent(AgentEvent::AgentEnd {
        totals: tiller::agent::RunTotals::default(),
        messages: Vec::new().into(),
        outcome: RunOutcome::BudgetReached(BudgetReached { limit, spent, next }),
    });
    tui.state(RunState::Idle);
    let frame = tui.frame();
    assert!(
        frame.contains("Budget of $1 reached: $1.02 spent"),
        "{frame}"
    );
    assert!(frame.contains("Enter continue, up to $2"), "{frame}");
    assert_eq!(tui.key("enter"), [Effect::RaiseBudget, Effect::GoOn]);
    tui.state(RunState::Idle);
    tui.now += 1000;
    assert_eq!(tui.key("enter"), [], "only once");
}

#[test]
fn esc_stops_and_returns_queue_and_draft() {
    let mut tui = busy();
    tui.waiting(&["one", "two"], &["three"]);
    tui.write("draft");
    assert_eq!(tui.key("esc"), [Effect::Abort]);
    let mut messages = queued(QueueKind::Steering, &["one", "two"]);
    messages.extend(queued(QueueKind::FollowUp, &["three"]));
    tui.agent(AgentEvent::QueueReturned { messages, to: 0 });
    tui.waiting(&[], &[]);
    tui.state(RunState::Idle);
    assert_eq!(tui.text(), "one\n\ntwo\n\nthree\n\ndraft");
    assert!(!tui.frame().contains("Esc stops"));
}

#[test]
fn the_stop_keys_only_kill_while_processes_die() {
    for key in ["esc", "ctrl+c"] {
        let mut tui = busy();
        tui.write("draft");
        tui.state(RunState::Stopping { processes: 2 });
        assert!(tui.frame().contains("stopping"), "{key}");
        assert!(!tui.frame().contains("Esc stops"), "{key}");
        assert_eq!(tui.key(key), [Effect::Abort], "{key}");
        assert_eq!(tui.text(), "draft", "{key}");
        assert_eq!(
            tui.key("enter"),
            [prompt("draft")],
            "the next run may start meanwhile"
        );
        assert!(tui.frame().contains("Esc stops"), "{key}");
    }
}

#[test]
fn ctrl_c_stops_then_clears_then_exits() {
    let mut tui = busy();
    tui.write("draft");
    assert_eq!(tui.key("ctrl+c"), [Effect::Abort]);
    tui.state(RunState::Idle);
    assert_eq!(tui.key("ctrl+c"), []);
    assert_eq!(tui.text(), "", "cleared");
    assert_eq!(
        tui.app
            .composer
            .history()
            .search("draft", &mut Narrowing::default())
            .len(),
        1,
        "it stays in the history"
    );
    assert_eq!(tui.key("ctrl+c"), []);
    assert!(tui.frame().contains("Press Ctrl+C again to exit"));
    tui.wait(2100);
    assert!(!tui.frame().contains("again to exit"));
    assert_eq!(tui.key("ctrl+c"), [], "too late");
    tui.now += 1900;
    assert_eq!(
        tui.key("ctrl+c"),
        [Effect::Terminal(TerminalEffect::Exit(ExitKind::Quit))]
    );
}

#[test]
fn any_key_between_two_ctrl_c_cancels_the_exit() {
    let mut tui = test_tui();
    tui.key("ctrl+c");
    tui.write("a");
    tui.key("backspace");
    assert_eq!(tui.key("ctrl+c"), []);
    // These keys show their own hint instead of the exit hint.
    for key in ["shift+tab", "alt+enter", "up"] {
        tui.key(key);
        assert_eq!(tui.key("ctrl+c"), [], "{key}");
    }
}

#[test]
fn typing_hides_the_exit_hint() {
    let mut tui = test_tui();
    tui.key("ctrl+c");
    assert!(tui.frame().contains("again to exit"), "{}", tui.frame());
    tui.write("a");
    assert!(!tui.frame().contains("again to exit"), "{}", tui.frame());
}

#[test]
fn notices_of_the_first_screen_come_before_later_ones() {
    let mut tui = test_tui();
    tui.app.start.notices = vec!["It runs everything".into()];
    for said in ["One thing", "Another"] {
        tui.send(Msg::Done(EffectResult::Failed(said.into())));
    }
    let frame = tui.frame();
    let at = |text: &str| {
        frame
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {frame}"))
    };
    assert!(at("It runs everything") < at("One thing"), "{frame}");
    assert!(at("One thing") < at("Another"), "{frame}");
    tui.write("hi");
    tui.key("enter");
    assert_eq!(tui.frame().matches("It runs everything").count(), 1);
}

#[test]
fn ctrl_d_exits_from_an_empty_editor_and_asks_during_a_run() {
    let mut tui = test_tui();
    tui.write("ab");
    tui.key("home");
    assert_eq!(tui.key("ctrl+d"), []);
    tui.key("ctrl+d");
    assert_eq!(tui.text(), "", "it deletes forward");
    assert_eq!(
        tui.key("ctrl+d"),
        [Effect::Terminal(TerminalEffect::Exit(ExitKind::Quit))]
    );

    let mut tui = busy();
    assert_eq!(tui.key("ctrl+d"), []);
    assert!(tui.frame().contains("Quit?"));
    assert_eq!(tui.key("esc"), [], "stays, and the run continues");
    assert!(tui.app.overlays.is_empty());
    // Pressing Ctrl+D again or Enter doesn't confirm: the user must select quitting first.
    for keys in [&["ctrl+d", "ctrl+d", "enter"][..], &["ctrl+d", "y", "n"]] {
        for key in keys {
            tui.now += 1000;
            let left = tui.key(key);
            assert!(!left.iter().any(|it| matches!(it, Effect::Terminal(_))));
        }
        assert!(tui.app.overlays.is_empty());
    }
    assert_eq!(tui.text(), "yn");
    tui.key("ctrl+u");
    tui.key("ctrl+d");
    tui.key("up");
    tui.now += 400;
    assert_eq!(
        tui.key("enter"),
        [Effect::Terminal(TerminalEffect::Exit(ExitKind::Quit))]
    );
}

#[test]
fn esc_twice_opens_the_tree() {
    let mut tui = test_tui();
    tui.key("esc");
    tui.now += 400;
    let read = Effect::Tree(TreeEffect::Read);
    assert_eq!(tui.key("esc"), [read]);
    assert!(tui.frame().contains("─ Tree ─"));
    tui.key("esc");
    assert!(!tui.frame().contains("─ Tree ─"));

    let mut tui = busy();
    tui.key("esc");
    tui.state(RunState::Idle);
    for _ in 0..3 {
        tui.now += 200;
        tui.key("esc");
    }
    assert!(
        !tui.frame().contains("─ Tree ─"),
        "not so soon after an abort"
    );
}

/// `?` opens the help only as the first character of an empty editor.
#[test]
fn a_question_mark_on_the_empty_editor_opens_the_help() {
    for tui in [test_tui, busy] {
        let mut tui = tui();
        tui.key("?");
        assert!(tui.frame().contains("─ Help ─"), "{}", tui.frame());
        assert_eq!(tui.text(), "");
        tui.wait(1000);
        tui.write("why");
        assert!(tui.frame().contains("› why"), "{}", tui.frame());
        tui.key("esc");
        tui.write("a?");
        assert_eq!((tui.text(), tui.app.overlays.len()), ("a?".to_owned(), 0));
    }
    // When more follows without a pause, `?` starts a prompt.
    for text in ["?why", "??"] {
        let mut tui = test_tui();
        tui.write(text);
        assert_eq!((tui.text().as_str(), tui.app.overlays.len()), (text, 0));
    }
    let mut tui = test_tui();
    tui.key("?");
    tui.send(Msg::Input(InputEvent::Paste("why".into())));
    assert_eq!(tui.text(), "?why");
}

/// The user asked for this question, so a digit selects right away. Enter still waits.
#[test]
fn a_digit_right_after_ctrl_d_selects_an_answer() {
    let mut tui = busy();
    tui.key("ctrl+d");
    tui.now += 150;
    for key in ["1", "enter"] {
        assert_eq!(tui.key(key), [], "{key}");
    }
    assert_eq!(tui.text(), "");
    tui.now += 400;
    let leaves = tui.key("enter");
    assert!(
        leaves.contains(&Effect::Terminal(TerminalEffect::Exit(ExitKind::Quit))),
        "{leaves:?}"
    );
}

/// An error about a command shows in full, over several rows if needed, and disappears.
#[test]
fn a_command_error_shows_in_full_and_disappears() {
    let mut tui = TestTui::new(80, 24);
    let text = format!("Not now: {}the end", "a long reason, ".repeat(6));
    let level = NoticeLevel::Refusal;
    tui.agent(AgentEvent::Notice { level, text });
    let frame = tui.frame();
    assert!(
        frame.contains("Not now") && frame.contains("the end"),
        "{frame}"
    );
    tui.wait(6000);
    assert!(!tui.frame().contains("Not now"), "{}", tui.frame());
    assert!(tui.app.transcript.is_empty());
    // The same on a small screen.
    let mut tui = TestTui::new(40, 10);
    tui.write("/modle");
    let effects = tui.key("enter");
    no_file_defines(&mut tui, effects);
    assert!(tui.frame().contains("lists all"), "{}", tui.frame());
}

/// The model would act on a mistyped command if it were sent as a prompt.
#[test]
fn an_unknown_command_stays_in_the_editor() {
    for key in ["enter", "alt+enter", "ctrl+enter"] {
        for running in [false, true] {
            for (text, words) in [
                (
                    "/zzz",
                    "No command /zzz; F1 lists all, //zzz sends it as text",
                ),
                ("/modle gpt", "No command /modle: did you mean /model?"),
                ("/setings", "No command /setings: did you mean /settings?"),
                (
                    "/fix",
                    "No command /fix; F1 lists all, //fix sends it as text",
                ),
                (
                    "/publish all",
                    "No command /publish; F1 lists all, //publish",
                ),
                ("/cots", "No command /cots: did you mean /cost?"),
                ("/prompts:u x", "no such file; `tiller docs skills`"),
                ("/frontend:fix", "no such file; `tiller docs skills`"),
                ("logout", "logout: type `!tiller auth remove PROVIDER`"),
                ("/memory", "/memory: edit AGENTS.md; /init writes one"),
                ("/doctor", "/doctor: type `!tiller doctor`"),
                (
                    "/undo 3",
                    "/undo takes no argument: each /undo is one prompt",
                ),
                (
                    "/security-review",
                    "/security-review: type /review for security",
                ),
                ("/quit now", "/quit takes no argument"),
                ("/exit now", "/exit takes no argument"),
                ("  /copy me\nplease", "/copy takes no argument"),
            ] {
                let mut tui = if running { busy() } else { test_tui() };
                tui.send(Msg::Input(InputEvent::Paste(text.to_owned())));
                let effects = tui.key(key);
                let effects = no_file_defines(&mut tui, effects);
                assert_eq!(effects, [], "{text}");
                let is_answered = ["/memory", "/doctor", "/security-review"].contains(&text);
                assert_eq!(tui.text(), if is_answered { "" } else { text });
                let frame = tui.frame();
                assert!(frame.contains(words), "{text}: {frame}");
                if is_answered {
                    tui.key("up");
                    assert_eq!(tui.text(), text);
                }
            }
        }
    }
}

/// A hint never contradicts the status line.
#[test]
fn a_changed_mode_removes_the_hint_about_the_earlier_one() {
    use tiller::agent::permission::PermissionMode;
    let mut tui = test_tui();
    tui.key("shift+tab");
    let before = tui.app.status.permission;
    let hint = format!("{before}: ");
    assert!(tui.frame().contains(&hint), "{}", tui.frame());
    tui.agent(AgentEvent::PermissionMode(before));
    assert!(tui.frame().contains(&hint), "{}", tui.frame());
    tui.agent(AgentEvent::PermissionMode(PermissionMode::Full));
    assert!(!tui.frame().contains(&hint), "{}", tui.frame());
}

/// The next command replaces it, instead of continuing it.
#[test]
fn what_is_typed_after_a_refused_command_replaces_it() {
    for refused in ["/zzz", "/plan it", "/new 3f2a"] {
        let mut tui = test_tui();
        tui.write(refused);
        let effects = tui.key("enter");
        no_file_defines(&mut tui, effects);
        assert_eq!(tui.text(), refused);
        tui.write("hi");
        assert_eq!(tui.text(), "hi", "{refused}");
    }
    for (refused, told) in [
        ("/permission yolo", "plan, ask, auto"),
        ("/thinking deeply", "unknown thinking level"),
        ("/theme nosuch", "nosuch"),
        ("/trust maybe", "/trust or /trust no"),
        ("/status moon", "No /status moon"),
    ] {
        let mut tui = test_tui();
        tui.write(refused);
        tui.key("enter");
        assert_eq!(tui.text(), refused);
        assert!(tui.frame().contains(told), "{}", tui.frame());
        tui.write("hi");
        assert_eq!(tui.text(), "hi", "{refused}");
    }
    let mut tui = test_tui();
    tui.write("/budget lots");
    assert_eq!(tui.key("enter"), [run_command("/budget lots")]);
    tui.send(Msg::Done(EffectResult::CommandRefused {
        typed: "/budget lots".to_owned(),
        why: "No budget of lots".to_owned(),
    }));
    assert_eq!(tui.text(), "/budget lots");
    let mut tui = TestTui::new(120, 24);
    tui.write("/fix");
    let effects = tui.key("enter");
    no_file_defines(&mut tui, effects);
    let frame = tui.frame();
    assert!(frame.contains("//fix sends it as text"), "{frame}");
}

#[test]
fn keys_of_other_agents_name_tillers_own() {
    for (key, told) in [
        ("alt+p", "Alt+P does nothing here; Ctrl+L: Choose a model"),
        (
            "alt+m",
            "Alt+M does nothing here; Shift+Tab: Switch the mode",
        ),
        ("f9", "F9 does nothing here; F1 shows the keys"),
    ] {
        let mut tui = TestTui::new(100, 24);
        tui.key(key);
        assert!(tui.frame().contains(told), "{key}: {}", tui.frame());
    }
    // Codex queues with Tab.
    let mut tui = TestTui::new(100, 24);
    tui.running(Phase::Streaming);
    tui.write("then test");
    tui.key("tab");
    tui.send(Msg::Done(EffectResult::Folder("test".into(), Vec::new())));
    let frame = tui.frame();
    assert!(
        frame.contains("No path starts with test · Alt+Enter queues"),
        "{frame}"
    );
    // Only the list of models sets the default.
    assert_eq!(tui.key("ctrl+s"), []);
    let told = "Ctrl+S sets the default in the list of models: Ctrl+L";
    assert!(tui.frame().contains(told), "{}", tui.frame());
}

#[test]
fn a_key_error_disappears_on_the_next_key() {
    for on in ["x", "backspace", "ctrl+u"] {
        let mut tui = test_tui();
        tui.send(Msg::Input(InputEvent::Paste("/zzz".to_owned())));
        let effects = tui.key("enter");
        no_file_defines(&mut tui, effects);
        tui.key("right");
        assert!(
            tui.frame().contains("No command /zzz"),
            "still shown before the next key"
        );
        tui.key(on);
        assert!(!tui.frame().contains("No command"), "{on}: {}", tui.frame());
    }
    // A notice the user didn't cause stays while they type.
    let mut tui = test_tui();
    tui.agent(AgentEvent::Notice {
        level: NoticeLevel::Refusal,
        text: "Not now".into(),
    });
    tui.write("text");
    assert!(tui.frame().contains("Not now"), "{}", tui.frame());
}

#[test]
fn text_that_contains_a_slash_is_sent() {
    for (text, sent) in [
        ("//clear is a word", "/clear is a word"),
        ("/etc/hosts is wrong", "/etc/hosts is wrong"),
        ("// a comment", "// a comment"),
        ("/ alone", "/ alone"),
        (" !important", " !important"),
        ("what does /clear do?", "what does /clear do?"),
    ] {
        let mut tui = test_tui();
        tui.write(text);
        assert_eq!(tui.key("enter"), [prompt(sent)], "{text}");
    }
}

/// Nothing is sent to an agent that has stopped, and no text is lost.
#[test]
fn without_an_agent_nothing_is_sent() {
    for key in ["enter", "alt+enter", "ctrl+enter"] {
        let mut tui = test_tui();
        tui.send(Msg::AgentGone);
        tui.write("precious");
        assert_eq!(tui.key(key), []);
        assert_eq!(tui.text(), "precious");
        assert!(!tui.app.is_running());
        assert!(tui.frame().contains("The agent has stopped: quit"));
    }
}

/// After missed events the screen restarts from the agent's current state.
#[test]
fn missed_events_are_recovered() {
    let mut tui = busy();
    tui.write("kept");
    let message = Message::User(UserMessage {
        content: vec![Content::text("the prompt")],
        origin: None,
        queue_id: None,
        timestamp: 0,
    });
    let usage = Usage {
        input: 700,
        output: 300,
        ..Usage::default()
    };
    let answer = Message::Assistant(AssistantMessage {
        usage: usage.clone(),
        ..AssistantMessage::default()
    });
    tui.agent(AgentEvent::MessageEnd {
        message: Arc::new(answer.clone()),
    });
    let messages = vec![Arc::new(message), Arc::new(answer)];
    let model = Arc::clone(&tui.app.status.model);
    let effects = tui.send(Msg::Resubscribed(Arc::new(Snapshot {
        branch: branch(&messages),
        facts: Arc::new(HistoryFacts::of(&messages)),
        state: RunState::Idle,
        questions: Vec::new(),
        steering: Vec::new(),
        follow_up: queued(QueueKind::FollowUp, &["then this"]),
        model,
        thinking: ThinkingLevel::Medium,
        permission: PermissionMode::Auto,
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
    assert_eq!(effects, []);
    let frame = tui.frame();
    for words in ["the prompt", "then this", "reloaded", "kept"] {
        assert!(frame.contains(words), "{words}: {frame}");
    }
    assert!(!tui.app.is_running());
    assert_eq!(tui.app.status.total, usage, "counted once");
    assert_eq!(tui.app.status.context, 1000);
    assert_eq!(tui.key("enter"), [prompt("kept")]);
}

#[test]
fn unsent_text_is_saved_after_a_pause() {
    let mut tui = test_tui();
    assert_eq!(tui.app.next_wake(), None);
    tui.write("draft");
    let due = tui.app.next_wake().expect("soon");
    assert!(due - tui.now <= 1000);
    tui.now = due;
    tui.waiting(&["steered"], &[]);
    let saved = SavedDraft {
        queue: vec!["steered".into()],
        text: "draft".into(),
        ..SavedDraft::default()
    };
    assert_eq!(tui.send_all(Msg::Tick), [Effect::SaveDraft(saved)]);
    assert_eq!(tui.send_all(Msg::Tick), [], "nothing has changed since");
    // The next start restores the text in the editor.
    for (queue, text, wanted) in [
        (&["steered"][..], "draft", "steered\n\ndraft\n\ntyped"),
        (&["a", "b"], "c\nd", "a\n\nb\n\nc\nd\n\ntyped"),
        (&["a"], "", "a\n\ntyped"),
        (&[], "draft", "draft\n\ntyped"),
    ] {
        let mut next = test_tui();
        next.write("typed");
        next.send(Msg::Done(EffectResult::Draft(SavedDraft {
            queue: queue.iter().map(|&text| text.to_owned()).collect(),
            text: text.to_owned(),
            ..SavedDraft::default()
        })));
        assert_eq!(next.text(), wanted);
        assert!(next.frame().contains("unsent text from last time is back"));
    }
}

#[test]
fn alt_up_takes_back_queued_messages() {
    let mut tui = busy();
    assert_eq!(tui.key("alt+up"), [], "the queue is empty");
    tui.waiting(&["a"], &[]);
    assert_eq!(tui.key("alt+up"), [Effect::TakeBack(None)]);
    // After a limit or a failure nothing runs, but messages may still be queued.
    tui.state(RunState::Idle);
    assert_eq!(tui.key("alt+up"), [Effect::TakeBack(None)]);
}

#[test]
fn newline_keys_and_backslash_enter_insert_a_newline() {
    for key in ["shift+enter", "ctrl+j"] {
        let mut tui = test_tui();
        tui.write("a");
        assert_eq!(tui.key(key), []);
        tui.write("b");
        assert_eq!(tui.text(), "a\nb", "{key}");
    }
    let mut tui = test_tui();
    tui.write("a\\");
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "a\n");
}

#[test]
fn keys_and_commands_open_the_editor_suspend_and_exit() {
    let mut tui = test_tui();
    tui.write("draft");
    assert_eq!(
        tui.key("ctrl+g"),
        [Effect::Terminal(TerminalEffect::Edit("draft".into()))]
    );
    assert_eq!(
        tui.key("ctrl+z"),
        [Effect::Terminal(TerminalEffect::Suspend)]
    );
    let mut tui = TestTui::new(80, 24);
    tui.write("/quit");
    assert_eq!(
        tui.key("enter"),
        [Effect::Terminal(TerminalEffect::Exit(ExitKind::Quit))]
    );
    let mut tui = TestTui::new(80, 24);
    tui.write("/keys");
    assert_eq!(tui.key("enter"), []);
    assert!(matches!(tui.app.overlays[..], [Overlay::Help(_)]));
    let mut tui = TestTui::new(80, 24);
    tui.write("/etc/passwd is odd");
    assert_eq!(tui.key("enter"), [prompt("/etc/passwd is odd")]);
}

/// Queued messages that return while the external editor is open are kept.
#[test]
fn the_external_editor_replaces_only_the_text_it_was_given() {
    for (given, left, back, wanted) in [
        ("draft", "better draft\n", None, "better draft"),
        (
            "draft",
            "better draft\n",
            Some("queued"),
            "queued\n\nbetter draft",
        ),
        ("draft", "draft\r\n", Some("queued"), "queued\n\ndraft"),
        ("draft", "", Some("queued"), "queued"),
        ("", "new", Some("queued"), "queued\n\nnew"),
    ] {
        let mut tui = busy();
        tui.write(given);
        assert_eq!(
            tui.key("ctrl+g"),
            [Effect::Terminal(TerminalEffect::Edit(given.into()))]
        );
        let messages = queued(QueueKind::Steering, back.as_slice());
        tui.agent(AgentEvent::QueueReturned { messages, to: 0 });
        tui.send(Msg::Done(EffectResult::Edited(
            given.into(),
            Ok(left.into()),
        )));
        assert_eq!(tui.text(), wanted, "{given:?} {left:?} {back:?}");
    }
}

/// A completion that arrives meanwhile loses neither text.
#[test]
fn a_late_completion_keeps_the_external_editors_text() {
    let mut tui = test_tui();
    tui.write("look ma");
    assert_eq!(tui.key("tab"), [Effect::ReadFolder("ma".into())]);
    tui.key("ctrl+g");
    let names = vec!["main.rs".into()];
    tui.send(Msg::Done(EffectResult::Folder("ma".into(), names)));
    tui.send(Msg::Done(EffectResult::Edited(
        "look ma".into(),
        Ok("look closely\n".into()),
    )));
    assert_eq!(tui.text(), "look main.rs");
    let frame = tui.frame();
    assert!(
        frame.contains("external editor's text is in the history"),
        "{frame}"
    );
    tui.key("up");
    assert_eq!(tui.text(), "look closely");
}

#[test]
fn a_prompt_found_in_the_history_goes_into_the_editor() {
    let mut tui = test_tui();
    for text in ["fix the login", "write tests", "fix the logout"] {
        tui.write(text);
        tui.key("enter");
        tui.state(RunState::Idle);
    }
    tui.key("ctrl+r");
    tui.write("log");
    let frame = tui.frame();
    assert!(
        frame.contains("fix the login") && frame.contains("fix the logout"),
        "{frame}"
    );
    assert!(!frame.contains("│ write tests"), "{frame}");
    tui.key("up");
    tui.key("up");
    assert_eq!(tui.key("enter"), [Effect::Warm]);
    assert_eq!(tui.text(), "fix the login");
    // An Enter that repeats by accident sends nothing.
    tui.now += 200;
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "fix the login");
    // A click chooses a row; a click beside the list does nothing.
    tui.key("ctrl+r");
    tui.write("log");
    tui.frame();
    let list = tui.app.areas.list;
    tui.click(list.x, list.y + 2);
    assert_eq!(tui.app.overlays.len(), 1);
    tui.click(list.x, list.y);
    assert!(tui.app.overlays.is_empty());
    assert_eq!(tui.text(), "fix the logout");
}

/// A huge paste into a search is cut to the maximum query length.
#[test]
fn a_huge_paste_into_a_search_is_cut() {
    for key in ["ctrl+r", "ctrl+l"] {
        let mut tui = test_tui();
        tui.key(key);
        tui.send(Msg::Input(InputEvent::Paste("日本 ".repeat(400_000))));
        tui.frame();
        let picker = match tui.app.overlays.last() {
            Some(Overlay::HistorySearch(list)) => &list.picker,
            Some(Overlay::Models(models)) => &models.picker,
            other => panic!("{key}: {other:?}"),
        };
        assert_eq!(picker.query().chars().count(), 200, "{key}");
        let frame = tui.frame();
        assert!(frame.contains("日本 日本"), "{frame}");
    }
}

/// Typing opens the connection before the prompt is sent, once per prompt.
#[test]
fn the_first_letter_of_a_prompt_warms_the_connection() {
    let mut tui = test_tui();
    assert_eq!(tui.key("a"), [Effect::Warm]);
    assert_eq!(tui.key("b"), []);
    tui.key("enter");
    assert_eq!(tui.key("c"), [], "the run keeps the connection open");

    let mut restored = test_tui();
    let draft = SavedDraft {
        queue: Vec::new(),
        text: "draft".into(),
        ..SavedDraft::default()
    };
    let effects = restored.send_all(Msg::Done(EffectResult::Draft(draft)));
    assert_eq!(effects, [], "the user may never send it");
    assert_eq!(restored.key("a"), [Effect::Warm]);
    assert_eq!(restored.key("b"), []);
}

#[test]
fn the_demo_starts_automatically_unless_the_user_types() {
    let start = || Start {
        demo: Some(("show me".into(), 0)),
        ..Start::default()
    };
    let mut tui = TestTui::starting(80, 24, start());
    tui.send(Msg::Started);
    tui.now += 9_999;
    assert_eq!(tui.send(Msg::Tick), []);
    tui.now += 1;
    assert_eq!(tui.app.next_wake(), Some(tui.now));
    assert_eq!(tui.send(Msg::Tick), [prompt("show me")]);

    let mut tui = TestTui::starting(80, 24, start());
    tui.send(Msg::Started);
    tui.write("m");
    tui.now += 5000;
    assert_eq!(tui.send(Msg::Tick), []);

    let mut tui = TestTui::starting(80, 24, start());
    tui.send(Msg::Started);
    assert!(tui.frame().contains("Enter play the demo"));
    assert_eq!(tui.key("enter"), [prompt("show me")]);
    assert_eq!(tui.key("enter"), [], "once");
    assert!(
        tui.app.start.demo_asked,
        "it answers what the user types now"
    );
}

/// A terminal that answers the protocol query but sends legacy keys must not delay Esc.
#[test]
fn only_the_reported_flags_confirm_kitty_keys() {
    let report = |flags| {
        let report = TerminalReport::KittyFlags(flags);
        Msg::Input(InputEvent::Report(report))
    };
    let mut tui = test_tui();
    assert_eq!(
        tui.send(report(0)),
        [Effect::Terminal(TerminalEffect::EnableKitty)]
    );
    assert_eq!(
        tui.send(report(5)),
        [
            Effect::Terminal(TerminalEffect::EnableKitty),
            Effect::Terminal(TerminalEffect::ConfirmKitty)
        ]
    );
}

#[test]
fn the_activity_line_says_how_the_run_ended() {
    let mut tui = TestTui::new(80, 24);
    tui.write("go");
    tui.key("enter");
    tui.running(Phase::Requesting);
    tui.running(Phase::Tools(vec!["bash".into()]));
    tui.wait(6000);
    let frame = tui.frame();
    assert!(frame.contains("● bash 6 s   Esc stops"), "{frame}");
    tui.agent(AgentEvent::MessageEnd {
        message: Arc::new(Message::Assistant(AssistantMessage {
            usage: Usage {
                output: 1234,
                ..Usage::default()
            },
            ..AssistantMessage::default()
        })),
    });
    tui.agent(AgentEvent::AgentEnd {
        totals: tiller::agent::RunTotals::default(),
        messages: Vec::new().into(),
        outcome: RunOutcome::Done,
    });
    tui.state(RunState::Idle);
    let frame = tui.frame();
    assert!(!frame.contains("Esc stops"), "{frame}");
}

#[test]
fn a_first_prompt_goes_out_at_once_and_notices_are_kept() {
    // A picture named on the command line is sent too.
    let picture = Content::Image(tiller::llm::Image {
        mime_type: "image/png".into(),
        data: "AAAA".into(),
    });
    let mut tui = TestTui::starting(
        80,
        24,
        Start {
            prompt: vec![Content::text("hello"), picture],
            notices: vec!["runs everything without asking".into()],
            ..Start::default()
        },
    );
    let whole = vec![Content::text("hello"), tui.app.start.prompt[1].clone()];
    let effects = tui.send(Msg::Started);
    assert!(effects.contains(&Effect::Prompt(whole)));
    assert!(tui.frame().contains("▣ image/png  3 B  not shown"));
    assert_eq!(tui.app.transcript.end(), 2, "the notice, then the prompt");
}

#[test]
fn nothing_wakes_an_idle_screen() {
    let mut tui = test_tui();
    tui.send(Msg::Started);
    assert_eq!(tui.app.next_wake(), None);
    tui.running(Phase::Streaming);
    assert_eq!(tui.app.next_wake(), Some(tui.now + 1000));
    tui.now += 1500;
    tui.send(Msg::Tick);
    assert_eq!(
        tui.app.next_wake(),
        Some(tui.now + 500),
        "it wakes for whole seconds"
    );
    tui.state(RunState::Idle);
    assert_eq!(tui.app.next_wake(), None);
}

#[test]
fn typed_text_survives_the_exit() {
    let mut tui = busy();
    tui.write("unsent");
    tui.waiting(&["waiting"], &[]);
    let kind = Msg::End(ExitKind::Signal(15));
    assert_eq!(
        tui.send_all(kind),
        [
            Effect::SaveDraft(SavedDraft {
                queue: vec!["waiting".into()],
                text: "unsent".into(),
                ..SavedDraft::default()
            }),
            Effect::Terminal(TerminalEffect::Exit(ExitKind::Signal(15)))
        ]
    );
}

/// A read-only page swallows no letters typed over it.
#[test]
fn typing_over_a_page_goes_into_the_editor() {
    for command in ["/stats", "/context"] {
        for text in ["quick fix", "try the quick fix", "yes", "?"] {
            let mut tui = test_tui();
            tui.write(command);
            tui.key("enter");
            assert!(!tui.app.overlays.is_empty(), "{command}");
            tui.write(text);
            assert_eq!(tui.text(), text, "{command}");
            assert!(tui.app.overlays.is_empty(), "{command}");
        }
    }
}
