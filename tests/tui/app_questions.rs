//! The question strip: what it shows, which keys answer, and that typed text answers nothing.

use std::sync::Arc;

use tiller::agent::permission::{Action, ByHand, Origin, PermissionMode, Rule};
use tiller::agent::tool::{
    AttachmentDetails, CommandDetails, Details, DiffDetails, FilesDetails, MatchesDetails,
    OtherDetails, TextDetails,
};
use tiller::agent::{
    AgentEvent, Answer, ChoiceSubject, PermissionSubject, Phase, Question, QueueKind, RunOutcome,
    RunState, Subject,
};
use tiller::app::notify::Notify;
use tiller::app::rule_store::RuleScope;
use tiller::app::tui::effects::effect::{Effect, TerminalEffect};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::options::ExitKind;
use tiller::app::tui::terminal::input::{InputEvent, KeyCode, KeyPress};
use tiller::llm::{AssistantMessage, Content, Message, StopReason};

use super::app_kit::*;

pub(super) fn command(id: u64, command: &str) -> Arc<Question> {
    command_with(id, command, Vec::new())
}

/// A question that offers a rule.
pub(super) fn with_rule(id: u64, command: &str) -> Arc<Question> {
    command_with(id, command, vec![rule(command)])
}

fn rule(command: &str) -> Rule {
    Rule {
        prefix: command.split(' ').map(String::from).collect(),
        ..Rule::of_tool("bash", Action::Allow, Origin::Session)
    }
}

fn command_with(id: u64, command: &str, suggestions: Vec<Rule>) -> Arc<Question> {
    Arc::new(Question {
        id,
        call_id: format!("c{id}"),
        tool: "bash".into(),
        subject: Subject::Permission(PermissionSubject {
            reason: "it needs the network".into(),
            again: None,
            details: Arc::new(Details::Command(CommandDetails {
                command: command.into(),
                ..CommandDetails::default()
            })),
            network: false,
            rule: None,
            flagged: Vec::new(),
            by_hand: None,
            suggestions,
        }),
    })
}

pub(super) fn choice(id: u64) -> Arc<Question> {
    Arc::new(Question {
        id,
        call_id: format!("c{id}"),
        tool: "ask_user".into(),
        subject: Subject::Choice(ChoiceSubject {
            question: "Which database should it use?".into(),
            choices: vec!["Postgres".into(), "SQLite".into()],
        }),
    })
}

/// A screen on which these questions have been open for half a second.
fn asked(questions: &[Arc<Question>]) -> TestTui {
    let mut tui = TestTui::new(90, 24);
    ask(&mut tui, questions);
    tui.frame();
    tui.now += 500;
    tui
}

/// Selects an answer by its number, waits, and confirms it.
pub(super) fn answer(tui: &mut TestTui, number: u32) -> Vec<Effect> {
    tui.frame();
    tui.now += 500;
    assert_eq!(tui.key(&number.to_string()), [], "a digit only selects");
    tui.now += 500;
    tui.key("enter")
}

/// Opens the rule editor in this scope.
fn edit_rule(tui: &mut TestTui, scope: RuleScope) {
    tui.frame();
    tui.now += 500;
    tui.key("2");
    for _ in 0..match scope {
        RuleScope::Session => 0,
        RuleScope::Project => 1,
        RuleScope::Always => 2,
    } {
        tui.key("right");
    }
    assert_eq!(tui.key("tab"), []);
    tui.now += 500;
}

pub(super) fn ask(tui: &mut TestTui, questions: &[Arc<Question>]) {
    tui.agent(AgentEvent::State(RunState::Running {
        phase: Phase::Asking,
    }));
    tui.agent(AgentEvent::Questions {
        open: questions.to_vec(),
    });
}

/// A hint about the answers disappears with its question.
#[test]
fn a_hint_does_not_outlive_its_question() {
    let mut tui = TestTui::new(90, 24);
    ask(&mut tui, &[command(1, "cargo publish")]);
    tui.frame();
    tui.key("down");
    tui.key("enter");
    assert!(tui.frame().contains("Press Enter again"), "{}", tui.frame());
    ask(&mut tui, &[]);
    assert!(
        !tui.frame().contains("Press Enter again"),
        "{}",
        tui.frame()
    );
}

/// What no answer can allow for good, a line in the shell can.
#[test]
fn a_refusal_names_the_rule_that_no_answer_offers() {
    let line = "To allow it: tiller policy allow --exact --network curl";
    let question = command(1, "curl");
    let Subject::Permission(mut subject) = question.subject.clone() else {
        panic!("{question:?}")
    };
    subject.by_hand = Some(ByHand::Rule(Box::new(Rule {
        exact: true,
        network: true,
        ..rule("curl")
    })));
    for (subject, expected) in [
        (Subject::Permission(subject), 1),
        (question.subject.clone(), 0),
    ] {
        let question = Arc::new(Question {
            subject,
            ..(*question).clone()
        });
        let mut tui = asked(&[question]);
        let refused = Answer::Refuse { reason: None };
        assert_eq!(answer(&mut tui, 2), [Effect::Answer(1, refused)]);
        assert_eq!(tui.frame().matches(line).count(), expected);
    }
}

#[test]
fn a_question_mark_is_text_while_a_question_is_open() {
    let mut tui = asked(&[command(1, "cargo publish")]);
    tui.write("? why now");
    assert_eq!(tui.text(), "? why now");
    assert!(tui.app.overlays.is_empty());
}

#[test]
fn a_question_shows_its_subject_reason_and_answers() {
    let mut tui = asked(&[command(1, "cargo publish --dry-run"), choice(2)]);
    let frame = tui.frame();
    for words in [
        "? Run this command?  it needs the network  1 of 2",
        "│ cargo publish --dry-run",
        "1 Yes, once",
        "2 No, and say why",
        "↑↓ or a digit, then Enter · or type what to do instead",
        "waiting for your answer",
        "Esc stops",
    ] {
        assert!(frame.contains(words), "{words}: {frame}");
    }
    let mut tui = asked(&[choice(2)]);
    let frame = tui.frame();
    for words in [
        "? The model asks: Which database should it use?",
        "1 Postgres",
        "2 SQLite",
        "↑↓ or a digit, then Enter · or type an answer",
    ] {
        assert!(frame.contains(words), "{words}: {frame}");
    }
}

#[test]
fn answers_stay_visible_with_long_commands_and_small_screens() {
    let long = "echo a long word ".repeat(60);
    for (width, height) in [(90, 24), (40, 10), (20, 8)] {
        let mut tui = TestTui::new(width, height);
        ask(&mut tui, &[command(1, &long)]);
        let frame = tui.frame();
        let answers = frame.contains("1 Yes, once") && frame.contains("2 No, and say why");
        let short = frame.contains("1 Yes  2 No");
        assert!(answers || short, "{width}x{height}: {frame}");
        assert!(frame.contains("? Run"), "{width}x{height}: {frame}");
    }
}

#[test]
fn choices_stay_visible_however_long_the_question() {
    let question = Arc::new(Question {
        subject: Subject::Choice(ChoiceSubject {
            question: "a long word ".repeat(200) + "and the very end",
            choices: vec!["Postgres".into(), "SQLite".into(), "None".into()],
        }),
        ..(*choice(1)).clone()
    });
    for (width, height) in [(90, 24), (40, 14)] {
        let mut tui = TestTui::new(width, height);
        ask(&mut tui, &[Arc::clone(&question)]);
        let frame = tui.frame();
        for words in ["? The model asks", "…", "1 Postgres", "3 None"] {
            assert!(frame.contains(words), "{width}x{height}: {words}: {frame}");
        }
        assert!(frame.contains("… Ctrl+O show all"), "{frame}");
        assert!(!frame.contains("very end"), "{frame}");
        tui.key("ctrl+o");
        tui.frame();
        tui.key("end");
        let end = if width == 90 { "very end" } else { "Esc close" };
        assert!(tui.frame().contains(end), "{}", tui.frame());
        tui.key("esc");
        assert!(!tui.frame().contains(end));
    }
}

#[test]
fn enter_confirms_the_selection_but_not_right_after_another_key() {
    let once = [Effect::Answer(1, Answer::once())];
    let refused = [Effect::Answer(1, Answer::Refuse { reason: None })];
    let sqlite = [Effect::Answer(1, Answer::Reply("SQLite".into()))];
    assert_eq!(answer(&mut asked(&[command(1, "make")]), 1), once);
    assert_eq!(answer(&mut asked(&[command(1, "make")]), 2), refused);
    assert_eq!(answer(&mut asked(&[choice(1)]), 2), sqlite);
    for (question, keys, expected) in [
        (command(1, "make"), &["down"][..], &once),
        (command(1, "make"), &["up"], &refused),
        (command(1, "make"), &["up", "up", "up"], &once),
        (choice(1), &["down", "down", "down"], &sqlite),
    ] {
        let mut tui = asked(&[question]);
        for key in keys {
            assert_eq!(tui.key(key), [], "{key}");
        }
        tui.now += 399;
        assert_eq!(tui.key("enter"), [], "too soon after a key");
        tui.now += 399;
        assert_eq!(tui.key("enter"), [], "an accidental repeat of Enter");
        tui.now += 400;
        assert_eq!(tui.key("enter"), expected);
    }
    // After a pause, a digit is no accident: Enter can follow at once. After another key it can't.
    let mut tui = asked(&[command(1, "make")]);
    assert_eq!(tui.key("1"), []);
    assert_eq!(tui.key("enter"), once);
    assert_eq!(tui.key("enter"), [], "the same Enter again");
    let mut tui = asked(&[command(1, "make")]);
    tui.key("down");
    assert_eq!(tui.key("2"), []);
    assert_eq!(tui.key("enter"), [], "too soon after a key");
    for question in [command(1, "make"), with_rule(1, "make"), choice(1)] {
        // With nothing selected, Enter never answers.
        let mut tui = asked(&[question]);
        for _ in 0..5 {
            tui.now += 1000;
            assert_eq!(tui.key("enter"), []);
        }
        assert!(tui.frame().contains("Select an answer"), "{}", tui.frame());
    }
    // A digit without an answer denies nothing.
    let mut tui = asked(&[command(1, "make")]);
    tui.write("3");
    tui.now += 1000;
    assert_eq!(tui.key("enter"), []);
    assert!(
        tui.frame().contains("The answers are 1 to 2"),
        "{}",
        tui.frame()
    );
    assert_eq!(tui.text(), "");
    // A digit typed just as the question appears is text.
    for question in [command(1, "make"), choice(1)] {
        let mut tui = TestTui::new(90, 24);
        ask(&mut tui, &[question]);
        tui.now += 399;
        tui.key("2");
        assert_eq!(tui.text(), "2");
    }
    // Enter then selects the answer, and only a second one confirms it.
    let mut tui = TestTui::new(90, 24);
    ask(&mut tui, &[command(1, "make")]);
    tui.key("2");
    tui.now += 1000;
    assert_eq!(tui.key("enter"), []);
    assert!(
        tui.frame().contains("Enter again to confirm"),
        "{}",
        tui.frame()
    );
    tui.now += 1000;
    assert_eq!(tui.key("enter"), refused);
    // A digit followed by text is text, and so is a digit without an answer.
    for (typed, text) in [
        ("2 replicas", "2 replicas"),
        ("22", "22"),
        ("7", "7"),
        ("0", "0"),
    ] {
        for question in [command(1, "make"), choice(1)] {
            let mut tui = asked(&[question]);
            tui.write(typed);
            assert_eq!(tui.text(), text);
        }
        let mut tui = asked(&[choice(1)]);
        tui.key("2");
        tui.send(Msg::Input(InputEvent::Paste(" replicas".into())));
        assert_eq!(tui.text(), "2 replicas");
        let mut tui = asked(&[choice(1)]);
        tui.key("2");
        tui.key("backspace");
        tui.write("x");
        assert_eq!(tui.text(), "x", "the digit was deleted again");
    }
}

/// A reason may start with any character on the keyboard, in any kind of question. It answers
/// nothing, runs nothing and loses no character.
#[test]
fn typed_text_never_answers_and_stays_complete() {
    type Open = fn() -> TestTui;
    let questions: [(&str, Open); 9] = [
        ("permission", || asked(&[command(1, "make")])),
        ("rule", || asked(&[with_rule(1, "make")])),
        ("change", || asked(&[change(1, 40)])),
        ("choice", || asked(&[choice(1)])),
        ("leave", || {
            let mut tui = TestTui::new(90, 24);
            tui.running(Phase::Streaming);
            tui.key("ctrl+d");
            tui
        }),
        ("full", || {
            let mut tui = TestTui::new(90, 24);
            tui.app.status.permission = PermissionMode::Ask;
            tui.write("/permission full");
            tui.key("enter");
            tui
        }),
        ("trial", || {
            let mut tui = TestTui::new(90, 24);
            tui.agent(super::app_trials::trial());
            tui
        }),
        ("undo", super::app_undo::asks),
        ("session", super::app_sessions::asks),
    ];
    for (name, open) in questions {
        for first in (' '..='~').chain(['ä', '€', '日']) {
            let mut tui = open();
            tui.frame();
            tui.now += 1000;
            let text = format!("{first}o not, 2y");
            for c in text.chars() {
                tui.now += 1000;
                let key = KeyPress::plain(KeyCode::Char(c));
                let effects = tui.send(Msg::Input(InputEvent::Key(key)));
                let is_harmless = |effect: &Effect| {
                    matches!(
                        effect,
                        Effect::Warm
                            | Effect::FindFiles(_)
                            | Effect::ListModels
                            | Effect::ListCustomCommands
                    )
                };
                assert!(
                    effects.iter().all(is_harmless),
                    "{name} {text:?}: {effects:?}"
                );
            }
            // The number of "No, and say why" is not part of the reason.
            let refuses = [("permission", '2'), ("rule", '3'), ("change", '2')];
            let text = if refuses.contains(&(name, first)) {
                text[1..].to_owned()
            } else {
                text
            };
            assert_eq!(tui.text(), text, "{name}");
            // `/` and `!` still start commands.
            if tui.app.asks().is_none() && !"/!".contains(first) && tui.app.overlays.is_empty() {
                tui.now += 1000;
                let effects = tui.key("enter");
                let runs =
                    |effect: &Effect| matches!(effect, Effect::Answer(_, Answer::Allow { .. }));
                assert!(!effects.iter().any(runs), "{name} {text:?}: {effects:?}");
                let told = format!("{effects:?}");
                assert!(told.contains("o not, 2y"), "{name} {text:?}: {told}");
            }
        }
    }
}

/// Text started in the external editor counts as started before the question.
#[test]
fn text_from_the_external_editor_denies_nothing() {
    let mut tui = TestTui::new(90, 24);
    tui.running(Phase::Streaming);
    tui.key("ctrl+g");
    tui.now += 1000;
    ask(&mut tui, &[command(1, "make")]);
    tui.now += 5000;
    let left = Ok("use tabs\n".into());
    tui.send(Msg::Done(EffectResult::Edited(String::new(), left)));
    assert_eq!(tui.key("enter"), [prompt("use tabs")]);
}

/// An accidental second Enter would cancel the call that the user just allowed.
#[test]
fn a_repeated_enter_after_an_answer_steers_nothing() {
    let mut tui = asked(&[command(1, "make")]);
    tui.running(Phase::Streaming);
    tui.waiting(&["later"], &[]);
    let given = answer(&mut tui, 1);
    assert_eq!(given, [Effect::Answer(1, Answer::once())]);
    tui.now += 150;
    assert_eq!(tui.key("enter"), []);
    tui.now += 250;
    assert_eq!(tui.key("enter"), [Effect::SteerNow]);
}

#[test]
fn a_command_must_be_shown_in_full_before_yes() {
    let cut = "echo a long word ".repeat(200);
    for (width, height) in [(90, 24), (40, 10)] {
        for (number, question) in [
            (1, command(1, &cut)),
            (2, command_with(1, &cut, vec![rule("make")])),
            (1, change(1, 300)),
        ] {
            let mut tui = TestTui::new(width, height);
            ask(&mut tui, &[question]);
            assert_eq!(
                answer(&mut tui, number),
                [],
                "opens the whole command first"
            );
            tui.frame();
            tui.key("esc");
            assert_eq!(
                answer(&mut tui, number),
                [],
                "closed before the end was shown"
            );
            for _ in 0..40 {
                tui.key("pagedown");
                tui.frame();
            }
            tui.key("esc");
            let effects = answer(&mut tui, number);
            assert!(
                matches!(&effects[..], [Effect::Answer(1, Answer::Allow { .. })]),
                "{effects:?}"
            );
        }
        // Answering no doesn't require reading it all.
        let mut tui = TestTui::new(width, height);
        ask(&mut tui, &[command(1, &cut)]);
        assert_eq!(
            answer(&mut tui, 2),
            [Effect::Answer(1, Answer::Refuse { reason: None })]
        );
    }
}

#[test]
fn typed_text_denies_a_call_or_answers_a_choice() {
    let because = |text: &str| Answer::Refuse {
        reason: Some(text.into()),
    };
    let mut tui = asked(&[command(1, "make")]);
    tui.write("use ninja");
    assert_eq!(tui.key("enter"), [Effect::Answer(1, because("use ninja"))]);
    assert_eq!(tui.app.composer.text(), "");
    let mut tui = asked(&[choice(1)]);
    tui.write("none");
    assert_eq!(
        tui.key("enter"),
        [Effect::Answer(1, Answer::Reply("none".into()))]
    );

    // Text started before the question became answerable is a normal message, whenever it is sent.
    for (before, after) in [("by the way", ""), ("by", " the way"), ("", "by the way")] {
        for question in [command(1, "make"), choice(1)] {
            let mut tui = TestTui::new(90, 24);
            tui.write(before);
            ask(&mut tui, &[question]);
            tui.now += 100;
            tui.write(after);
            tui.now += 5000;
            assert!(tui.frame().contains("Enter steer"), "{}", tui.frame());
            assert_eq!(
                tui.key("enter"),
                [Effect::Prompt(vec![Content::text("by the way")])]
            );
        }
    }
    // Ctrl+C brings back the answers; only the next one stops the run.
    let mut tui = asked(&[command(1, "make")]);
    tui.write("use ninja");
    let clears = "Ctrl+C clear it to choose an answer";
    assert!(tui.frame().contains(clears), "{}", tui.frame());
    assert_eq!(tui.key("ctrl+c"), []);
    assert_eq!(tui.text(), "");
    assert_eq!(tui.key("ctrl+c"), [Effect::Abort]);
    // A queued follow-up doesn't answer either.
    let mut tui = asked(&[command(1, "make")]);
    tui.write("then test");
    assert_eq!(
        tui.key("alt+enter"),
        [Effect::Queue(
            QueueKind::FollowUp,
            vec![Content::text("then test")]
        )]
    );
    assert_eq!(tui.key("esc"), [Effect::Abort]);
}

#[test]
fn the_next_question_also_ignores_early_keys() {
    let mut tui = asked(&[command(1, "make"), command(2, "make install")]);
    assert_eq!(answer(&mut tui, 1), [Effect::Answer(1, Answer::once())]);
    assert!(tui.frame().contains("make install"));
    for key in ["enter", "down", "enter"] {
        assert_eq!(tui.key(key), [], "pressed for the first question");
    }
    tui.now += 500;
    assert_eq!(tui.key("enter"), [Effect::Answer(2, Answer::once())]);
    assert!(!tui.frame().contains("Run this command?"));
}

#[test]
fn a_rule_is_shown_then_edited_and_then_answers() {
    for (scope, place, kept) in [
        (RuleScope::Session, "in this session", None),
        (
            RuleScope::Project,
            "in this project",
            Some(RuleScope::Project),
        ),
        (
            RuleScope::Always,
            "in every project",
            Some(RuleScope::Always),
        ),
    ] {
        let mut tui = asked(&[with_rule(1, "cargo test")]);
        let sentence = "2 Yes, and don't ask again for `cargo test …` in this session";
        assert!(tui.frame().contains(sentence), "{}", tui.frame());
        edit_rule(&mut tui, scope);
        let text = "[[permission.rules]]\ntool = \"bash\"\nprefix = [\"cargo\", \"test\"]\naction = \"allow\"";
        assert_eq!(tui.text(), text);
        let frame = tui.frame();
        let how = format!("Enter allow {place} with this rule · Esc cancel");
        for words in ["? Run this command?", "│ cargo test", &how, "Ctrl+C stops"] {
            assert!(frame.contains(words), "{words}: {frame}");
        }
        // Keys don't answer while the rule is edited.
        tui.write("\nnetwork = tru");
        assert_eq!(tui.key("e"), []);
        let rules = vec![Rule {
            network: true,
            ..rule("cargo test")
        }];
        let answer = Answer::Allow {
            rules: rules.clone(),
        };
        let mut effects = vec![Effect::Answer(1, answer)];
        effects.extend(kept.map(|scope| Effect::KeepRules(scope, rules)));
        assert_eq!(tui.key("enter"), effects);
        assert_eq!(tui.text(), "");
        assert!(!tui.frame().contains("Run this command?"));
        assert_eq!(tui.key("enter"), [], "an accidental repeat of Enter");
    }
}

#[test]
fn an_error_in_a_rule_names_its_line_and_keeps_the_text() {
    for (typed, told) in [
        ("\nsandbox = 3", "line 5: expected true or false"),
        (
            "\nmatch = [\"git push\"]",
            "line 1: it doesn't match 'git push'",
        ),
        (
            "\n[ui]\ntheme = \"dark\"",
            "only [[permission.rules]] can be here, not ui.theme",
        ),
        (
            "\n[[permission.rules]]\ntool = \"bsh\"\naction = \"allow\"",
            "line 5: unknown tool 'bsh'",
        ),
        (
            "\n[[permission.rules]]\ntool = \"grep\"\naction = \"ask\"",
            "line 5: the action must be allow, not ask",
        ),
    ] {
        let mut tui = asked(&[with_rule(1, "cargo test")]);
        edit_rule(&mut tui, RuleScope::Always);
        tui.send(Msg::Input(InputEvent::Paste(typed.into())));
        let before = tui.text();
        for key in ["enter", "alt+enter", "ctrl+enter"] {
            assert_eq!(tui.key(key), [], "{typed}");
        }
        assert_eq!(tui.text(), before);
        let frame = tui.frame();
        assert!(frame.contains(told), "{told}: {frame}");
        tui.write("#");
        assert!(!tui.frame().contains(told));
    }
    // An empty rule editor sends neither a message nor a command.
    for text in ["", "y", "/help", "!ls"] {
        let mut tui = asked(&[with_rule(1, "make")]);
        edit_rule(&mut tui, RuleScope::Session);
        for _ in 0..8 {
            tui.key("ctrl+u");
        }
        tui.write(text);
        assert_eq!(tui.text(), text);
        assert_eq!(tui.key("enter"), []);
        assert_eq!(tui.text(), text);
        assert!(tui.app.overlays.is_empty());
    }
}

#[test]
fn esc_returns_to_the_question_and_discards_the_rule() {
    let mut tui = asked(&[with_rule(1, "make")]);
    edit_rule(&mut tui, RuleScope::Project);
    assert_eq!(tui.key("esc"), []);
    assert_eq!(tui.text(), "");
    assert!(tui.frame().contains("1 Yes, once"));
    tui.key("ctrl+_");
    assert_eq!(tui.text(), "", "nothing to undo");
    assert_eq!(answer(&mut tui, 1), [Effect::Answer(1, Answer::once())]);
    // After that Esc stops the run as usual.
    let mut tui = asked(&[with_rule(1, "make")]);
    edit_rule(&mut tui, RuleScope::Session);
    tui.key("esc");
    assert_eq!(tui.key("esc"), [Effect::Abort]);
    let mut tui = asked(&[with_rule(1, "make")]);
    edit_rule(&mut tui, RuleScope::Session);
    assert_eq!(
        tui.key("ctrl+c"),
        [Effect::Abort],
        "also while editing a rule"
    );
}

#[test]
fn without_a_rule_the_answers_are_once_and_no() {
    let mut tui = asked(&[command(1, "rm x")]);
    let frame = tui.frame();
    assert!(frame.contains("2 No, and say why"), "{frame}");
    assert!(!frame.contains("don't ask again"), "{frame}");
    for key in ["down", "tab", "right"] {
        assert!(tui.key(key).is_empty());
        assert!(tui.app.overlays.is_empty() && tui.text().is_empty());
    }
}

#[test]
fn the_rules_scope_is_chosen_in_its_row() {
    let rules = || vec![rule("cargo test")];
    for (keys, place, kept) in [
        (&[][..], "in this session", None),
        (&["right"][..], "in this project", Some(RuleScope::Project)),
        (
            &["right", "right", "right"][..],
            "in every project",
            Some(RuleScope::Always),
        ),
        (
            &["right", "right", "left"][..],
            "in this project",
            Some(RuleScope::Project),
        ),
        (&["left"][..], "in this session", None),
    ] {
        for (width, height) in [(90, 24), (40, 10)] {
            let mut tui = TestTui::new(width, height);
            ask(&mut tui, &[with_rule(1, "cargo test")]);
            tui.frame();
            tui.now += 500;
            tui.key("2");
            for key in keys {
                assert_eq!(tui.key(key), []);
            }
            let frame = tui.frame();
            let words = frame.split_whitespace().collect::<Vec<_>>().join(" ");
            let sentence = format!("2 Yes, and don't ask again for `cargo test …` {place}");
            assert!(words.contains(&sentence), "{frame}");
            tui.now += 500;
            let mut effects = vec![Effect::Answer(1, Answer::Allow { rules: rules() })];
            effects.extend(kept.map(|scope| Effect::KeepRules(scope, rules())));
            assert_eq!(tui.key("enter"), effects);
        }
    }
}

#[test]
fn a_rule_being_edited_closes_with_its_question() {
    let open = |tui: &mut TestTui, open: Vec<_>| tui.agent(AgentEvent::Questions { open });
    let edited = || {
        let mut tui = asked(&[with_rule(1, "make")]);
        edit_rule(&mut tui, RuleScope::Always);
        tui.write("\nreason = \"half\"");
        tui
    };
    // The question is answered elsewhere and another one opens.
    let mut tui = edited();
    open(&mut tui, vec![with_rule(2, "ninja")]);
    assert_eq!(tui.text(), "");
    assert!(tui.frame().contains("│ ninja"));
    // The run is stopped and the queue returns.
    let mut tui = edited();
    open(&mut tui, Vec::new());
    tui.agent(AgentEvent::QueueReturned {
        to: 0,
        messages: queued(QueueKind::Steering, &["later"]),
    });
    assert_eq!(tui.text(), "later");
    // A message taken back while editing doesn't go into the rule.
    let mut tui = edited();
    let rule = tui.text();
    tui.agent(AgentEvent::QueueReturned {
        to: 0,
        messages: queued(QueueKind::Steering, &["later"]),
    });
    assert_eq!(tui.text(), rule);
    assert_eq!(tui.app.draft().text, "later");
    tui.key("esc");
    assert_eq!(tui.text(), "later");
    // The agent stops.
    let mut tui = edited();
    tui.send(Msg::AgentGone);
    assert_eq!(tui.text(), "");
    // The question goes away while an external editor has the rule.
    let mut tui = edited();
    let given = tui.text();
    open(&mut tui, Vec::new());
    let left = Ok(format!("{given}\n# more"));
    tui.send(Msg::Done(EffectResult::Edited(given, left)));
    assert_eq!(tui.text(), "");
    // A rule is never saved as a draft or in the history.
    let mut tui = edited();
    let kept = |effects: Vec<Effect>| {
        let texts = effects.into_iter().filter_map(|effect| match effect {
            Effect::SaveDraft(draft) => Some(draft.text),
            Effect::Remember(prompts) => Some(prompts.concat()),
            _ => None,
        });
        texts.collect::<String>()
    };
    tui.now += 1000;
    assert_eq!(kept(tui.send_all(Msg::Tick)), "");
    let stop = tui.send_all(Msg::Input(InputEvent::Key("ctrl+c".parse().unwrap())));
    assert_eq!(kept(stop), "");
    assert_eq!(kept(tui.send_all(Msg::End(ExitKind::Quit))), "");
}

#[test]
fn a_long_reason_is_cut_before_the_command() {
    let mut question = Question::clone(&command(1, "git push origin main"));
    if let Subject::Permission(subject) = &mut question.subject {
        subject.reason = "git push publishes commits, and you can't take them back ".repeat(3);
    }
    let mut tui = TestTui::new(40, 10);
    ask(&mut tui, &[Arc::new(question)]);
    let frame = tui.frame();
    assert!(frame.contains("│ git push origin main"), "{frame}");
    assert!(frame.contains("git push publishes commits"), "{frame}");
    assert!(frame.contains("…\n"), "{frame}");
    assert!(frame.contains("1 Yes  2 No"), "{frame}");
}

/// A question about a new file with this many lines.
pub(super) fn change(id: u64, count: usize) -> Arc<Question> {
    let lines: Vec<String> = (1..=count).map(|at| format!("+{at:3} line {at}")).collect();
    let details = Details::Diff(DiffDetails {
        path: "src/new.rs".into(),
        diff: lines.join("\n"),
        added: count as u64,
        new_lines: count as u64,
        first_changed_line: Some(1),
        ..DiffDetails::default()
    });
    let mut question = Question::clone(&command(id, ""));
    question.tool = "write".into();
    if let Subject::Permission(subject) = &mut question.subject {
        subject.details = Arc::new(details);
    }
    Arc::new(question)
}

#[test]
fn a_change_shows_some_lines_and_all_on_a_key() {
    for (width, height, shown, more) in [
        (90, 24, "  3 + line 3", "… 30 more rows · Ctrl+O show all"),
        (60, 16, "1 + line 1", "more rows · Ctrl+O show all"),
    ] {
        let mut tui = TestTui::new(width, height);
        ask(&mut tui, &[change(1, 40)]);
        let frame = tui.frame();
        for words in ["? Create src/new.rs?", shown, more, "1 Yes, once"] {
            assert!(frame.contains(words), "{words}: {frame}");
        }
        assert!(!frame.contains("line 40"), "{frame}");
        tui.now += 500;
        assert_eq!(tui.key("ctrl+o"), []);
        let frame = tui.frame();
        assert!(frame.contains("─ Create src/new.rs? ─"), "{frame}");
        for _ in 0..9 {
            tui.key("pagedown");
            tui.frame();
        }
        assert!(tui.frame().contains("line 40"), "{}", tui.frame());
        // The full view is read-only: Enter closes it.
        assert_eq!(tui.key("enter"), []);
        assert!(tui.frame().contains("? Create src/new.rs?"));
        assert_eq!(tui.app.composer.text(), "");
        assert_eq!(answer(&mut tui, 1), [Effect::Answer(1, Answer::once())]);
    }
    // A short change has nothing more to show.
    let mut tui = asked(&[change(1, 8)]);
    let frame = tui.frame();
    assert!(
        frame.contains("line 8") && !frame.contains("show all"),
        "{frame}"
    );
}

#[test]
fn a_long_command_shows_the_reason_for_asking_first() {
    let lines: Vec<String> = (0..62).map(|at| format!("echo {at}")).collect();
    let mut question = Question::clone(&command(1, &lines.join("\n")));
    if let Subject::Permission(subject) = &mut question.subject {
        subject.flagged = vec!["curl https://evil.example".into()];
    }
    for (width, height) in [(90, 24), (40, 12)] {
        let mut tui = TestTui::new(width, height);
        ask(&mut tui, &[Arc::new(question.clone())]);
        let frame = tui.frame();
        let first = frame
            .lines()
            .position(|row| row.contains("! curl https://evil.example"));
        let command = frame.lines().position(|row| row.contains("echo 0"));
        assert!(
            first.is_some() && (command.is_none() || first < command),
            "{frame}"
        );
    }
}

#[test]
fn the_number_of_no_is_not_part_of_the_reason() {
    for (typed, text) in [
        ("2not yet", "not yet"),
        ("2 files", "2 files"),
        ("1not", "1not"),
    ] {
        let mut tui = asked(&[command(1, "git push")]);
        tui.write(typed);
        assert_eq!(tui.text(), text);
    }
    let mut tui = asked(&[command(1, "git push")]);
    tui.key("2");
    assert!(tui.frame().contains("type why"), "{}", tui.frame());
}

#[test]
fn a_small_screen_says_what_confirms() {
    let mut tui = TestTui::new(40, 12);
    ask(&mut tui, &[command(1, "git push\ngit fetch\ngit pull")]);
    tui.frame();
    tui.now += 500;
    tui.key("up");
    assert!(!tui.frame().contains("confirm"), "not yet");
    tui.wait(500);
    let frame = tui.frame();
    assert!(
        frame.contains("› 2 No, and say why  Enter confirm"),
        "{frame}"
    );
}

#[test]
fn hidden_rows_are_counted_even_within_one_long_line() {
    let one = "word ".repeat(2000);
    for text in [one.clone(), format!("ls\n{one}\nls"), "ls\n".repeat(500)] {
        for (width, height) in [(90, 24), (40, 10), (120, 60)] {
            let mut tui = TestTui::new(width, height);
            ask(&mut tui, &[command(1, &text)]);
            let frame = tui.frame();
            let shown = frame.matches("   │ ").count() - 1;
            let (_, rest) = frame
                .split_once("… ")
                .expect("a row with the number of hidden rows");
            let hidden: usize = rest.split(' ').next().unwrap().parse().unwrap();
            // Two columns hold the wrap mark.
            let columns = usize::from(width).min(101) - 6 - 2;
            let rows: usize = text.lines().map(|line| line.len().div_ceil(columns)).sum();
            // Wrapping at words leaves rows a little shorter than the full width.
            let about = rows - rows / 20..=rows + rows / 9 + 3;
            assert!(
                about.contains(&(shown + hidden)),
                "{shown} and {hidden}, not {rows}: {frame}"
            );
        }
    }
}

#[test]
fn the_full_view_closes_with_its_question() {
    let mut tui = asked(&[change(1, 40), change(2, 3)]);
    tui.key("ctrl+o");
    assert!(!tui.app.overlays.is_empty());
    ask(&mut tui, &[change(2, 3)]);
    assert!(tui.app.overlays.is_empty());
    assert_eq!(tui.key("enter"), [], "pressed for the first question");
}

#[test]
fn the_full_view_shows_all_of_a_long_line() {
    let long = format!("echo {}; rm everything", "word ".repeat(200));
    let mut tui = asked(&[command(1, &long)]);
    assert!(tui.frame().contains("show all"), "{}", tui.frame());
    tui.key("ctrl+o");
    for _ in 0..3 {
        tui.key("pagedown");
        tui.frame();
    }
    assert!(tui.frame().contains("everything"), "{}", tui.frame());
}

#[test]
fn the_bell_rings_once_per_question_without_focus() {
    for notify in [Notify::Bell, Notify::Desktop, Notify::Off] {
        let mut tui = TestTui::new(90, 24);
        tui.app.notify = notify;
        let call = match notify {
            Notify::Off => vec![],
            notify => vec![Effect::Terminal(TerminalEffect::Notify(
                notify,
                "tiller needs your answer",
            ))],
        };
        let open = |ids: &[u64]| AgentEvent::Questions {
            open: ids.iter().map(|id| command(*id, "make")).collect(),
        };
        assert_eq!(tui.agent(open(&[1])), [], "the window has the focus");
        tui.agent(open(&[]));
        tui.send(Msg::Input(InputEvent::Focus(false)));
        assert_eq!(tui.agent(open(&[2])), call);
        assert_eq!(tui.agent(open(&[2, 3])), call);
        assert_eq!(tui.agent(open(&[3])), []);
        tui.send(Msg::Input(InputEvent::Focus(true)));
        assert_eq!(tui.agent(open(&[3, 4])), []);
    }
    assert_eq!(Notify::Bell.bytes("x"), b"\x07");
    assert_eq!(Notify::Desktop.bytes("x"), b"\x1b]9;x\x1b\\\x07");
}

#[test]
fn enter_on_the_empty_editor_runs_a_plan() {
    let ended = |outcome: RunOutcome, text: &str| {
        let mut tui = TestTui::new(100, 24);
        tui.app.status.permission = PermissionMode::Plan;
        tui.write("where?");
        tui.key("enter");
        tui.running(Phase::Streaming);
        tui.agent(AgentEvent::AgentEnd {
            totals: tiller::agent::RunTotals::default(),
            messages: vec![Arc::new(Message::Assistant(AssistantMessage {
                content: vec![Content::text(text)],
                stop_reason: StopReason::Stop,
                ..AssistantMessage::default()
            }))]
            .into(),
            outcome,
        });
        tui.state(RunState::Idle);
        tui
    };
    let planned = |outcome: RunOutcome| ended(outcome, "## Plan\n1. Do it");
    let mut tui = planned(RunOutcome::Done);
    let offer = "Enter run this plan (auto mode)";
    assert!(tui.frame().contains(offer), "{}", tui.frame());
    // An Enter just as the run ends was meant to steer it.
    tui.wait(300);
    assert_eq!(tui.key("enter"), []);
    tui.wait(500);
    assert_eq!(
        tui.key("enter"),
        [
            Effect::SetPermission(PermissionMode::Auto),
            prompt("Carry out the plan.")
        ]
    );
    assert!(tui.frame().contains("─ auto"), "{}", tui.frame());

    // No offer after an answer without a plan, in another mode, with typed text, or after an abort.
    let mut tui = ended(RunOutcome::Done, "It stands in src/a.rs.");
    tui.wait(500);
    assert!(!tui.frame().contains(offer), "{}", tui.frame());
    assert_eq!(tui.key("enter"), []);
    let why = "No plan to run: the reply has no heading “Plan”. Shift+Tab changes the mode";
    assert!(tui.frame().contains(why), "{}", tui.frame());
    // Steps without that heading run only when the user confirms that they are a plan.
    let mut tui = ended(RunOutcome::Done, "1. Find it\n2. Fix it");
    tui.wait(500);
    assert!(tui.frame().contains("Enter twice: run these steps"));
    assert_eq!(tui.key("enter"), []);
    let asks = "Steps, but no heading “Plan”. Enter again runs them";
    assert!(tui.frame().contains(asks), "{}", tui.frame());
    tui.wait(500);
    assert_eq!(tui.key("enter").len(), 2);
    let mut tui = planned(RunOutcome::Done);
    tui.wait(500);
    tui.key("shift+tab");
    assert!(!tui.frame().contains(offer), "{}", tui.frame());
    assert_eq!(tui.key("enter"), []);
    // Back in plan mode it is offered again.
    tui.key("shift+tab");
    tui.key("shift+tab");
    tui.wait(10_000);
    assert!(tui.frame().contains(offer), "{}", tui.frame());
    let mut tui = planned(RunOutcome::Done);
    tui.wait(500);
    tui.write("not so");
    assert_eq!(tui.key("enter"), [prompt("not so")]);
    let mut tui = planned(RunOutcome::Aborted);
    tui.wait(500);
    assert!(!tui.frame().contains(offer));
    assert_eq!(tui.key("enter"), []);
}

/// Pasting or pressing other keys during a question answers nothing.
#[test]
fn pastes_and_other_keys_answer_nothing() {
    for question in [with_rule(1, "make"), change(1, 40), choice(1)] {
        let mut tui = asked(std::slice::from_ref(&question));
        for text in ["y", "1", "n\n"] {
            let paste = Msg::Input(InputEvent::Paste(text.into()));
            assert_eq!(tui.send(paste), [], "{text:?}");
        }
        assert_eq!(tui.app.composer.text(), "y1n\n");
        // The same letter with a modifier is another key.
        let mut tui = asked(std::slice::from_ref(&question));
        for key in [
            "ctrl+y", "alt+y", "alt+n", "ctrl+s", "ctrl+p", "ctrl+a", "alt+1",
        ] {
            tui.now += 1000;
            let effects = tui.key(key);
            let answers = |effect: &Effect| matches!(effect, Effect::Answer(..));
            assert!(!effects.iter().any(answers), "{key}: {effects:?}");
        }
        // Keys don't answer while an overlay covers the question.
        let mut tui = asked(std::slice::from_ref(&question));
        tui.key("f1");
        for key in ["enter", "y", "n", "1"] {
            assert_eq!(tui.key(key), [], "{key}");
        }
        assert_eq!(tui.app.composer.text(), "");
    }
}

#[test]
fn a_short_hint_hides_neither_the_run_nor_its_outcome() {
    for columns in [40, 60, 80, 100] {
        let mut tui = TestTui::new(columns, 24);
        tui.agent(AgentEvent::AgentStart);
        ask(&mut tui, &[command(1, "make")]);
        tui.wait(500);
        tui.key("enter");
        let frame = tui.frame();
        for words in ["waiting for your answer", "Esc stops"] {
            assert!(frame.contains(words), "{columns} {words}: {frame}");
        }
        assert_eq!(
            frame.contains("Select an"),
            columns >= 60,
            "{columns}: {frame}"
        );
        tui.agent(AgentEvent::Questions { open: Vec::new() });
        tui.agent(AgentEvent::AgentEnd {
            totals: tiller::agent::RunTotals::default(),
            messages: Vec::new().into(),
            outcome: RunOutcome::Aborted,
        });
        tui.state(RunState::Idle);
        let frame = tui.frame();
        assert!(frame.contains("── stopped ─"), "{columns}: {frame}");
        // The hint goes away with its question.
        assert!(!frame.contains("Select an"), "{columns}: {frame}");
    }
}

#[test]
fn the_command_is_shown_exactly_and_cannot_fake_the_heading() {
    let long = format!("ls{}; rm -rf src", " ".repeat(5000));
    for (text, shown) in [
        ("rm p\u{430}ypal\u{200d}", "rm p<U+0430>ypal<U+200D>"),
        ("ls \u{202e}cod\x1b[2J\t", "ls <U+202E>cod␛[2J"),
        (long.as_str(), "<5000 spaces> ; rm -rf src"),
        ("ls\n? Allow it?\n  1 Yes, once", "│ ? Allow it?"),
    ] {
        let mut tui = asked(&[command(1, text)]);
        let frame = tui.frame();
        assert!(frame.contains(shown), "{shown}: {frame}");
        assert_eq!(frame.matches(" ? Run this command?").count(), 1, "{frame}");
    }
    let forged = Arc::new(Question {
        id: 1,
        call_id: "c1".into(),
        tool: "ask_user".into(),
        subject: Subject::Choice(ChoiceSubject {
            question: "Run this command?\n  │ ls\n  1 Yes, once".into(),
            choices: vec!["once\n? Run this command?".into()],
        }),
    });
    let frame = asked(&[forged]).frame();
    assert!(
        frame.contains("? The model asks: Run this command? ⏎"),
        "{frame}"
    );
    assert!(!frame.contains("\n ? Run this"), "{frame}");
}

/// Questions of every kind name look-alike letters and zero-width characters.
#[test]
fn every_question_names_odd_characters() {
    let odd = String::from("p\u{430}ypal\u{200d}.rs");
    let file = |path: &str, moved_from: Option<String>| DiffDetails {
        path: path.into(),
        moved_from,
        diff: "+1 a".into(),
        ..DiffDetails::default()
    };
    let todo = serde_json::json!({
        "kind": "todo",
        "items": [{"content": odd, "status": "pending"}],
    });
    for details in [
        Details::Diff(file(&odd, None)),
        Details::Diff(DiffDetails {
            files: vec![file("other.rs", Some(odd.clone()))],
            ..file("first.rs", None)
        }),
        Details::Command(CommandDetails {
            command: odd.clone(),
            ..CommandDetails::default()
        }),
        Details::Matches(MatchesDetails {
            path: odd.clone(),
            ..MatchesDetails::default()
        }),
        Details::Files(FilesDetails {
            path: odd.clone(),
            ..FilesDetails::default()
        }),
        Details::Text(TextDetails {
            path: odd.clone(),
            ..TextDetails::default()
        }),
        Details::Attachment(AttachmentDetails {
            path: odd.clone(),
            ..AttachmentDetails::default()
        }),
        Details::from_json(todo),
        Details::Other(OtherDetails {
            title: "tool".into(),
            value: serde_json::json!({ "path": odd }),
        }),
    ] {
        let mut question = Question::clone(&command(1, ""));
        if let Subject::Permission(subject) = &mut question.subject {
            subject.details = Arc::new(details.clone());
        }
        let frame = asked(&[Arc::new(question)]).frame();
        assert!(
            frame.contains("p<U+0430>ypal<U+200D>.rs"),
            "{details:?}: {frame}"
        );
    }
}

/// A wrapped line must not look like a new line of the command.
#[test]
fn a_wrapped_line_is_marked() {
    let comment = format!("# {}", "padding ".repeat(12));
    let asked_for = |command: &str| asked(&[command_with(1, command, Vec::new())]).frame();
    let one = asked_for(&format!("{comment}rm -rf src"));
    let two = asked_for(&format!("{comment}\nrm -rf src"));
    assert!(
        one.contains("↪ padding") || one.contains("↪ rm -rf src"),
        "{one}"
    );
    assert!(
        !two.contains("↪ rm -rf src") && !two.contains("padding rm"),
        "{two}"
    );
    assert_ne!(one, two);
}

/// The word alone runs nothing, but leads to the answer.
#[test]
fn yes_selects_the_first_answer_and_no_denies_without_a_reason() {
    for typed in ["y", "Yes ", "ok"] {
        let mut tui = asked(&[with_rule(1, "make")]);
        tui.now += 2000;
        tui.write(typed);
        tui.now += 2000;
        let frame = tui.frame();
        assert!(frame.contains("Enter select Yes"), "{frame}");
        assert_eq!(tui.key("enter"), [], "{typed}");
        assert_eq!(tui.app.composer.text(), "");
        let says = "Press Enter again to allow this call once";
        assert!(tui.frame().contains(says), "{}", tui.frame());
        assert_eq!(tui.key("enter"), [], "too early");
        tui.now += 2000;
        assert_eq!(tui.key("enter"), [Effect::Answer(1, Answer::once())]);
    }
    let mut tui = asked(&[with_rule(1, "make")]);
    tui.now += 2000;
    tui.write("no");
    tui.now += 2000;
    let refused = Answer::Refuse { reason: None };
    assert_eq!(tui.key("enter"), [Effect::Answer(1, refused)]);
}
