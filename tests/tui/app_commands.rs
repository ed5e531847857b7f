//! Commands that send a prompt: the user's own, which are looked for in files, and tiller's.

use std::sync::Arc;

use tiller::agent::tool::CommandDetails;
use tiller::agent::{AgentEvent, Phase, QueueKind};
use tiller::app::host::CommandEnd;
use tiller::app::tui::app::SessionInfo;
use tiller::app::tui::effects::effect::{Effect, Lookup};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::popups::Overlay;
use tiller::llm::message::content_text;

use super::app_kit::{TestTui, prompt};
use super::transcript_support::branch;

/// Types `/fix 1` and Enter; returns what is looked for.
fn looks_for_a_file(tui: &mut TestTui) -> Lookup {
    tui.write("/fix 1");
    let effects = tui.key("enter");
    let [Effect::FindCustomCommand(lookup)] = &effects[..] else {
        panic!("{effects:?}");
    };
    lookup.clone()
}

fn found(tui: &mut TestTui, lookup: Lookup, prompt: Option<&str>) -> Vec<Effect> {
    let prompt = prompt.map(str::to_owned);
    tui.send(Msg::Done(EffectResult::CustomCommand(lookup, Ok(prompt))))
}

#[test]
fn what_is_typed_while_a_command_is_looked_for_is_the_next_draft() {
    let mut tui = TestTui::new(80, 24);
    let lookup = looks_for_a_file(&mut tui);
    assert_eq!(tui.text(), "");
    tui.write("next");
    assert_eq!(tui.text(), "next");
    assert_eq!(found(&mut tui, lookup, Some("Fix 1")), [prompt("Fix 1")]);
    assert_eq!(tui.text(), "next");
    for typed in ["", "next"] {
        let mut tui = TestTui::new(80, 24);
        let lookup = looks_for_a_file(&mut tui);
        tui.write(typed);
        assert_eq!(found(&mut tui, lookup, None), []);
        let frame = tui.frame();
        assert!(frame.contains("No command /fix"), "{frame}");
        if typed.is_empty() {
            // Selected, so that the next text replaces it.
            assert_eq!(tui.text(), "/fix 1");
            tui.write("x");
            assert_eq!(tui.text(), "x");
        } else {
            assert_eq!(tui.text(), typed);
            tui.key("up");
            assert_eq!(tui.text(), "/fix 1");
        }
    }
}

#[test]
fn a_message_does_not_overtake_the_command_before_it() {
    let mut tui = TestTui::new(80, 24);
    let lookup = looks_for_a_file(&mut tui);
    tui.write("next");
    assert_eq!(tui.key("enter"), []);
    tui.write("more");
    assert_eq!(tui.text(), "next");
    let effects = found(&mut tui, lookup, Some("Fix 1"));
    assert_eq!(effects, [prompt("Fix 1"), prompt("next")]);
    assert_eq!(tui.text(), "more");
}

#[test]
fn a_command_stays_with_the_session_in_which_it_was_typed() {
    let mut tui = TestTui::new(80, 24);
    let lookup = looks_for_a_file(&mut tui);
    tui.app.status.session = Some(SessionInfo {
        file: "/s/own.jsonl".into(),
        ..SessionInfo::default()
    });
    tui.agent(AgentEvent::SessionOpened {
        facts: Arc::default(),
        branch: branch(&[]),
        path: Some("/s/other.jsonl".into()),
        name: None,
        first_prompt: None,
        read_only: false,
    });
    assert_eq!(found(&mut tui, lookup, Some("Fix 1")), []);
}

/// Sends the prompt of the user's command, or of one of tiller's.
fn send(tui: &mut TestTui, is_custom: bool) -> (String, Vec<Effect>) {
    if is_custom {
        let lookup = looks_for_a_file(tui);
        return ("/fix 1".to_owned(), found(tui, lookup, Some("Fix 1")));
    }
    tui.write("/init in German");
    ("/init in German".to_owned(), tui.key("enter"))
}

type Change = fn(&mut TestTui);

#[test]
fn a_commands_prompt_goes_the_way_of_a_typed_message() {
    for is_custom in [true, false] {
        let mut tui = TestTui::new(80, 24);
        tui.write("!make");
        tui.key("enter");
        let end = CommandEnd {
            details: CommandDetails {
                command: "make".to_owned(),
                output: "built\n".to_owned(),
                exit_code: Some(0),
                ..CommandDetails::default()
            },
            failure: None,
        };
        tui.send(Msg::Done(EffectResult::Shell("shell-1".to_owned(), end)));
        let (_, effects) = send(&mut tui, is_custom);
        let [Effect::Prompt(content)] = &effects[..] else {
            panic!("{effects:?}");
        };
        assert!(content_text(&content[1..]).contains("built"), "{content:?}");
        assert!(tui.app.draft().told.is_empty());

        let mut tui = TestTui::new(80, 24);
        tui.running(Phase::Streaming);
        let (_, effects) = send(&mut tui, is_custom);
        let queued = |effect: &Effect| matches!(effect, Effect::Queue(QueueKind::FollowUp, _));
        assert!(effects.iter().all(queued), "{effects:?}");

        let changes: [(Change, &str); 3] = [
            (|tui| tui.app.start.must_choose = true, "Choose a model"),
            (
                |tui| {
                    let session = SessionInfo {
                        is_read_only: true,
                        ..SessionInfo::default()
                    };
                    tui.app.status.session = Some(session);
                },
                "read-only",
            ),
            (
                |tui| Arc::make_mut(&mut tui.app.status.model).provider = "demo".into(),
                "Add an API key",
            ),
        ];
        for (change, words) in changes {
            let mut tui = TestTui::new(100, 24);
            change(&mut tui);
            let (typed, effects) = send(&mut tui, is_custom);
            let sends = |effect: &Effect| matches!(effect, Effect::Prompt(_) | Effect::Queue(..));
            assert!(!effects.iter().any(sends), "{effects:?}");
            assert_eq!(tui.text(), typed, "{words}");
            let frame = tui.frame();
            assert!(!tui.app.overlays.is_empty(), "{frame}");
            let is_told = frame.contains(words);
            assert!(
                is_told || matches!(tui.app.overlays[..], [Overlay::Opening(_)]),
                "{frame}"
            );
        }
    }
}

#[test]
fn a_command_that_mentions_a_missing_file_warns_like_a_message() {
    for typed in ["/fix @no.rs", "/init as in @no.rs"] {
        let mut tui = TestTui::new(80, 24);
        tui.write(typed);
        tui.write(" ");
        let text = format!("{typed} ");
        assert_eq!(tui.key("enter"), [Effect::CheckMentions(text.clone())]);
        let missing = EffectResult::Mentions(text.clone(), Some("No file no.rs.".to_owned()));
        assert_eq!(tui.send(Msg::Done(missing)), []);
        assert!(tui.frame().contains("No file no.rs."), "{}", tui.frame());
        assert_eq!(tui.text(), text);
        tui.wait(1000);
        let effects = tui.key("enter");
        assert!(
            matches!(
                effects[..],
                [Effect::FindCustomCommand(_) | Effect::Prompt(_)]
            ),
            "{effects:?}"
        );
    }
}
