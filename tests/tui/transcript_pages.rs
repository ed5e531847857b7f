//! A long past is loaded page by page where the user looks. It looks as if all of it were in
//! memory.

use std::sync::Arc;

use tempfile::TempDir;
use tiller::agent::session::{Body, Session};
use tiller::agent::{AgentEvent, Details, NoticeLevel, RunOutcome, RunTotals, ToolStatus};
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::picture::Protocol;
use tiller::app::tui::text::link::LinkTable;
use tiller::app::tui::transcript::{Drawn, Printing, ScrollBy, Transcript};
use tiller::app::tui::view::transcript::{Printed, Ready, print, unprinted};
use tiller::llm::{AssistantMessage, Content, Message, StopReason, ToolCall, ToolResultMessage};

use super::app_kit::TestTui;
use super::pictures::{image, png};
use super::transcript_support::{Stage, branch, picture};

const TURNS: usize = 400;
const LIVE_TURNS: usize = 800;

fn conversation() -> Vec<Arc<Message>> {
    conversation_of(TURNS)
}

/// Prompts with answers; every third one has a call.
fn conversation_of(turns: usize) -> Vec<Arc<Message>> {
    let mut messages = Vec::new();
    for turn in 0..turns {
        messages.push(Arc::new(Message::user(format!("prompt {turn}."), 0)));
        let mut content = vec![Content::text(format!("answer {turn}.\n\nmore of it"))];
        let called = turn % 3 == 0;
        if called {
            content.push(Content::ToolCall(ToolCall {
                id: format!("call{turn}"),
                name: "bash".into(),
                ..ToolCall::default()
            }));
        }
        messages.push(Arc::new(Message::Assistant(AssistantMessage {
            content,
            stop_reason: StopReason::Stop,
            ..AssistantMessage::default()
        })));
        if called {
            messages.push(Arc::new(Message::ToolResult(ToolResultMessage {
                tool_call_id: format!("call{turn}"),
                tool_name: "bash".into(),
                content: vec![Content::text(format!("result {turn}."))],
                details: None,
                is_error: false,
                duration_ms: None,
                timestamp: 0,
            })));
        }
    }
    messages
}

fn stored(width: u16) -> Stage {
    let mut stage = Stage::new(width, 20);
    stage.transcript = Transcript::of_branch(branch(&conversation()));
    stage
}

/// The numbers of the visible prompts.
fn prompts(text: &str) -> Vec<usize> {
    let numbers = text.lines().filter_map(|line| {
        let number = line.trim().strip_prefix("❯ prompt ")?;
        number.strip_suffix('.')?.parse().ok()
    });
    numbers.collect()
}

/// All rows from the top to the end, as scrolling by `rows` shows them.
fn walked(stage: &mut Stage, rows: i32) -> Vec<String> {
    stage.transcript.scroll(ScrollBy::Top);
    let mut all: Vec<String> = stage.text().lines().map(str::to_owned).collect();
    while !stage.transcript.is_following() {
        stage.transcript.scroll(ScrollBy::Rows(rows));
        let text = stage.text();
        let lines: Vec<&str> = text.lines().collect();
        let new = if stage.transcript.is_following() {
            // The last step is shorter, so the new rows come after the last known one.
            let known: Vec<&str> = all[all.len() - lines.len()..]
                .iter()
                .map(String::as_str)
                .collect();
            let overlap = (0..=lines.len())
                .rev()
                .find(|&n| known.ends_with(&lines[..n]));
            &lines[overlap.unwrap()..]
        } else {
            &lines[lines.len() - rows as usize..]
        };
        all.extend(new.iter().map(|line| (*line).to_owned()));
    }
    all
}

#[test]
fn scrolling_through_pages_shows_the_same_as_a_full_transcript() {
    let mut whole = Stage::new(60, 20);
    for message in conversation() {
        whole.transcript.apply(
            &AgentEvent::MessageStart {
                message: Arc::clone(&message),
            },
            0,
        );
        if let Message::ToolResult(result) = &*message {
            let details = tiller::agent::tool::TextDetails {
                text: content(&result.content),
                line_count: 1,
                ..Default::default()
            };
            let details = Details::Text(details);
            let (id, name) = (&result.tool_call_id, &result.tool_name);
            whole.tool_end(id, name, ToolStatus::Ok, "", details, None);
        }
        whole.apply(AgentEvent::MessageEnd { message });
    }
    let expected = walked(&mut whole, 7);
    for rows in [1, 7, 19] {
        assert_eq!(walked(&mut stored(60), rows), expected, "by {rows}");
    }
}

fn content(content: &[Content]) -> String {
    tiller::llm::message::content_text(content)
}

/// A stored run without an answer says so again after loading.
#[test]
fn a_stored_run_without_an_answer_says_so() {
    for (text, is_silent) in [("", true), ("an answer", false)] {
        let mut session = Session::unstored(std::path::Path::new("/w"));
        let answer = Message::Assistant(AssistantMessage {
            content: vec![Content::text(text)],
            stop_reason: StopReason::Stop,
            ..AssistantMessage::default()
        });
        for message in [Message::user("hi", 0), answer] {
            session.append(Body::Message {
                message: Arc::new(message),
            });
        }
        let end = AgentEvent::AgentEnd {
            outcome: RunOutcome::Done,
            messages: Vec::new().into(),
            totals: RunTotals::default(),
        };
        for body in Body::of_event(&end) {
            session.append(body);
        }
        let mut stage = Stage::new(60, 20);
        stage.transcript = Transcript::of_branch(Arc::new(session.branch()));
        let said = stage.text().contains("The model sent no answer");
        assert_eq!(said, is_silent, "{text:?}");
    }
}

// Other programs number the calls of each answer from the start.
#[test]
fn calls_with_the_same_id_are_all_shown() {
    let mut messages = Vec::new();
    for turn in ["first", "second"] {
        messages.push(Arc::new(Message::Assistant(AssistantMessage {
            content: vec![
                Content::text(format!("{turn} answer")),
                Content::ToolCall(ToolCall {
                    id: "call_0".into(),
                    name: turn.into(),
                    ..ToolCall::default()
                }),
            ],
            stop_reason: StopReason::ToolUse,
            ..AssistantMessage::default()
        })));
        messages.push(Arc::new(Message::ToolResult(ToolResultMessage {
            tool_call_id: "call_0".into(),
            tool_name: turn.into(),
            content: vec![Content::text(format!("{turn} result"))],
            details: None,
            is_error: true,
            duration_ms: None,
            timestamp: 0,
        })));
    }
    let mut stage = Stage::new(60, 30);
    stage.transcript = Transcript::of_branch(branch(&messages));
    let text = stage.text();
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(at("first result") < at("second answer"), "{text}");
    assert!(at("second answer") < at("second result"), "{text}");
}

#[test]
fn scrolling_up_and_down_goes_back_to_the_same_rows() {
    let mut stage = stored(60);
    stage.draw();
    let mut screens = Vec::new();
    for _ in 0..150 {
        screens.push(stage.text());
        stage.transcript.scroll(ScrollBy::Rows(-13));
    }
    stage.text();
    for screen in screens.iter().skip(1).rev() {
        stage.transcript.scroll(ScrollBy::Rows(13));
        assert_eq!(&stage.text(), screen);
    }
}

#[test]
fn scrolling_by_prompts_works_on_unloaded_pages() {
    let mut stage = stored(60);
    let text = stage.text();
    let mut at = prompts(&text)[0];
    stage.transcript.scroll(ScrollBy::PreviousPrompt);
    while at > 0 {
        stage.text();
        stage.transcript.scroll(ScrollBy::PreviousPrompt);
        let text = stage.text();
        let first = prompts(&text)[0];
        assert!(first < at, "{first} after {at}");
        assert!(at - first <= 2, "{first} after {at}");
        at = first;
    }
    for step in 1..TURNS - 20 {
        stage.transcript.scroll(ScrollBy::NextPrompt);
        assert_eq!(prompts(&stage.text())[0], step);
    }
    stage.transcript.scroll(ScrollBy::End);
    assert_eq!(prompts(&stage.text()).last(), Some(&(TURNS - 1)));
}

#[test]
fn a_change_of_width_keeps_the_place_in_an_old_page() {
    let mut stage = stored(60);
    stage.transcript.scroll(ScrollBy::Top);
    stage.draw();
    stage.transcript.scroll(ScrollBy::Rows(500));
    let first = prompts(&stage.text())[0];
    for width in [30, 100, 60] {
        stage.width = width;
        assert_eq!(prompts(&stage.text())[0], first, "at {width}");
    }
}

/// The events of a live conversation, each with the message stored for it. Every twentieth message
/// is followed by an unstored notice; some of these have the same text.
fn live() -> Vec<(AgentEvent, Option<Arc<Message>>)> {
    live_of(conversation_of(LIVE_TURNS))
}

fn live_of(conversation: Vec<Arc<Message>>) -> Vec<(AgentEvent, Option<Arc<Message>>)> {
    let mut events = Vec::new();
    for (at, message) in conversation.into_iter().enumerate() {
        match &*message {
            Message::User(_) => events.push((
                AgentEvent::MessageStart {
                    message: Arc::clone(&message),
                },
                None,
            )),
            Message::ToolResult(result) => events.push((
                AgentEvent::ToolEnd {
                    call_id: result.tool_call_id.clone(),
                    name: result.tool_name.clone(),
                    status: ToolStatus::Ok,
                    content: result.content.clone(),
                    details: Arc::new(Details::Text(tiller::agent::tool::TextDetails {
                        text: message.text(),
                        line_count: 1,
                        ..Default::default()
                    })),
                    duration_ms: None,
                    rule: None,
                },
                None,
            )),
            Message::Assistant(_) => {}
        }
        let end = AgentEvent::MessageEnd {
            message: Arc::clone(&message),
        };
        events.push((end, Some(Arc::clone(&message))));
        if at % 20 == 19 {
            let (level, text) = (NoticeLevel::Info, format!("notice {}.", at / 100));
            events.push((AgentEvent::Notice { level, text }, None));
        }
        let goes_on = match &*message {
            Message::User(_) => true,
            Message::Assistant(answer) => answer.tool_calls().next().is_some(),
            Message::ToolResult(_) => false,
        };
        if !goes_on {
            let tool_results = Vec::new();
            events.push((
                AgentEvent::TurnEnd {
                    message,
                    tool_results,
                },
                None,
            ));
        }
    }
    events
}

/// The screen that received all events and keeps them in memory.
fn kept() -> Stage {
    let mut kept = Stage::new(60, 20);
    // A prompt that was returned to the user, so the agent never confirms it.
    kept.transcript.push_user("given back");
    for (event, _) in live() {
        kept.apply(event);
    }
    kept
}

/// The same screen after releasing the stored parts, and the session's folder.
fn sealed() -> (Stage, TempDir) {
    sealed_of(live())
}

fn sealed_of(live: Vec<(AgentEvent, Option<Arc<Message>>)>) -> (Stage, TempDir) {
    let folder = TempDir::new().unwrap();
    let mut session = Session::create(folder.path(), folder.path());
    let mut sealed = Stage::new(60, 20);
    sealed.pictures(Protocol::Blocks);
    sealed.transcript.push_user("given back");
    let mut asked = 0;
    for (event, stored) in live {
        if let Some(message) = stored {
            session.append(Body::Message { message });
        }
        sealed.apply(event);
        sealed.draw();
        if sealed.transcript.asks_for_branch() {
            asked += 1;
            let (generation, branch) = (sealed.transcript.generation(), session.branch());
            // A branch of another conversation changes nothing.
            sealed.transcript.seal(generation + 1, Arc::default());
            sealed.transcript.seal(generation, Arc::new(branch));
        }
    }
    assert!(asked > 0);
    sealed.draw();
    (sealed, folder)
}

#[test]
fn released_parts_look_as_they_did_before() {
    let (mut kept, (mut sealed, _folder)) = (kept(), sealed());
    assert!(kept.transcript.source(0).is_some());
    assert_eq!(sealed.transcript.source(0), None, "it was released");
    let kept = walked(&mut kept, 7);
    let sealed = walked(&mut sealed, 7);
    let notices = sealed.iter().filter(|row| row.contains("notice "));
    assert_eq!(notices.count(), conversation_of(LIVE_TURNS).len() / 20);
    assert_eq!(sealed, kept);
}

/// Notices are in no file. They are on released pages, between the messages loaded again.
#[test]
fn a_search_finds_released_text_in_its_place() {
    let (mut sealed, _folder) = sealed();
    let mut found_in_pages = 0;
    for turn in [3, 40, 300, 601] {
        let text = format!("prompt {turn}.");
        sealed.transcript.begin_search();
        if let Some(pages) = sealed.transcript.search_for(&text) {
            found_in_pages += 1;
            let found = pages.run(|| true).unwrap();
            sealed.transcript.add_matches(found);
        }
        let shown = sealed.text();
        assert!(shown.contains(&text), "{turn}:\n{shown}");
        let (drawn, _) = sealed.draw();
        let source = |row: &tiller::app::tui::transcript::RowRef| {
            let source = sealed.transcript.source(row.cell);
            source.is_some_and(|source| source.contains(&text))
        };
        assert!(drawn.rows.iter().any(source), "{turn}");
        sealed.transcript.end_search();
    }
    assert!(found_in_pages > 0, "some matches must be on released pages");
}

/// All of it as printed, once and without blank space. Released parts are loaded again.
fn printed(stage: &mut Stage) -> String {
    let ready = Ready::Settled {
        is_running: false,
        waits_for_colors: false,
    };
    let mut links = LinkTable::default();
    let (mut all, mut printed) = (String::new(), Printed::default());
    loop {
        let (transcript, cache) = (&mut stage.transcript, &mut stage.cache);
        let found = unprinted(transcript, cache, &stage.theme, stage.width, printed, ready);
        let rows = print(&found.rows, transcript, cache, &mut links, stage.width);
        all.push_str(&picture(&rows));
        printed = found.next;
        transcript.after_draw(&Drawn {
            printing: Some(Printing {
                generation: transcript.generation(),
                page: printed.page(),
                unread: found.unread,
            }),
            ..Drawn::default()
        });
        match transcript.request() {
            Some(request) => transcript.insert(request.load()),
            None if found.has_more => {}
            None => return all.replace("\n\n", "\n"),
        }
    }
}

#[test]
fn text_released_before_printing_is_printed() {
    let whole = printed(&mut kept());
    let (mut sealed, _folder) = sealed();
    assert_eq!(sealed.transcript.source(0), None, "it was released");
    assert_eq!(printed(&mut sealed), whole);
}

/// A few pictures take more memory than hundreds of turns.
#[test]
fn pictures_are_released_after_a_few_turns() {
    let mut large = png(40, 40);
    large.resize(1024 * 1024, 0);
    let mut conversation = conversation_of(30);
    for message in &mut conversation {
        if let Message::ToolResult(result) = Arc::make_mut(message) {
            result.content.push(image(&large));
        }
    }
    let first = Arc::downgrade(&conversation[2]);
    let (sealed, _folder) = sealed_of(live_of(conversation));
    assert_eq!(sealed.transcript.source(0), None, "it was released");
    assert!(first.upgrade().is_none(), "nothing else holds its message");
}

#[test]
fn the_entries_are_requested_only_once_at_a_time() {
    let mut tui = TestTui::new(60, 20);
    let mut asked = 0;
    for (event, _) in live() {
        let effects = tui.agent(event);
        let asks = effects
            .iter()
            .any(|effect| matches!(effect, Effect::ReadEntries(0)));
        asked += usize::from(asks);
    }
    assert_eq!(asked, 1, "the first request is still pending");
    // The session isn't stored, so everything stays in memory.
    tui.send(Msg::Done(EffectResult::Entries(0, branch(&conversation()))));
    tui.frame();
    assert!(tui.app.transcript.source(0).is_some());
}
