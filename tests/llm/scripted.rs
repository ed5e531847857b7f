//! The scripted provider: its answer at each place of a conversation, and the demo's own script.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;
use tiller::llm::scripted::{Script, Scripted, demo_model, demo_script};
use tiller::llm::{AssistantMessage, Content, Message, Provider, StopReason, StreamEvent};

use super::kit::{call, request, result, said, text};

const SCRIPT: &str = r#"
    prompt = "go"
    text_ms = 20
    [[reply]]
    steps = [
        { thinking = "let me see" },
        { text = "I search now." },
        { call = "grep", args = { pattern = "a b", limit = 2 } },
        { pause_ms = 5 },
        { call = "ls" },
    ]
    [[reply]]
    steps = [{ text = "All done." }]
    [[on_message]]
    when = ["key", "Model"]
    steps = [{ text = "About keys." }]
    [[on_message]]
    steps = [{ text = "You said {message}. " }]
"#;

/// The next answer of `script`, and its duration.
async fn next(script: Script, messages: &[Arc<Message>]) -> (AssistantMessage, Duration) {
    let mut request = request(demo_model(), Vec::new());
    request.messages = messages.to_vec();
    let started = tokio::time::Instant::now();
    let mut answer = AssistantMessage::default();
    let mut stream = Scripted::new(script).stream(request);
    while let Some(event) = stream.next().await {
        answer.apply(&event);
    }
    (answer, started.elapsed())
}

/// The blocks of the answer to `conversation`, one per line.
async fn answer(conversation: &[Message]) -> String {
    let messages: Vec<_> = conversation.iter().cloned().map(Arc::new).collect();
    let (answer, _) = next(Script::parse(SCRIPT).unwrap(), &messages).await;
    let lines = answer.content.iter().map(|block| match block {
        Content::Text(text) => text.text.clone(),
        Content::Thinking(thinking) => format!("({})", thinking.thinking),
        Content::ToolCall(call) => format!("{} {} {}", call.id, call.name, call.arguments),
        Content::Image(_) => unreachable!(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn user(text: &str) -> Message {
    Message::user(text, 0)
}

fn called(stop_reason: StopReason) -> Message {
    said(
        &demo_model(),
        stop_reason,
        vec![call("a", "grep", json!({}))],
    )
}

fn ended(stop_reason: StopReason) -> Message {
    said(&demo_model(), stop_reason, Vec::new())
}

#[tokio::test(start_paused = true)]
async fn the_conversation_decides_the_place_in_the_script() {
    use StopReason::{Aborted, Error, Stop, ToolUse};
    let first = "(let me see)\nI search now.\ncall_N_1 grep {\"limit\":2,\"pattern\":\"a b\"}\ncall_N_2 ls {}";
    let calls = "call_N_1 grep {\"limit\":2,\"pattern\":\"a b\"}\ncall_N_2 ls {}";
    let fine = || result("a", vec![text("1")], false);
    let failed = |words: &str| result("a", vec![text(words)], true);
    let cases: Vec<(Vec<Message>, String)> = vec![
        (vec![user("go")], first.into()),
        (
            vec![user("hello\nand more")],
            format!("You said hello. \n{first}"),
        ),
        (
            vec![user("go"), called(ToolUse), fine()],
            "All done.".into(),
        ),
        (
            vec![
                user("go"),
                called(ToolUse),
                fine(),
                user("wait"),
                user("stop"),
            ],
            "You said wait. \nAll done.".into(),
        ),
        (
            vec![user("go"), called(ToolUse), fine(), ended(Stop)],
            String::new(),
        ),
        // The script is over, but replies to messages remain. Case doesn't matter.
        (
            vec![
                user("go"),
                called(ToolUse),
                fine(),
                ended(Stop),
                user("what MODEL?"),
            ],
            "About keys.".into(),
        ),
        // A failed command is part of the script; an interrupted answer isn't.
        (
            vec![user("go"), called(ToolUse), failed("[exit code 1]")],
            "All done.".into(),
        ),
        (
            vec![user("go"), ended(Aborted), user("a key!")],
            format!("About keys.\n{first}"),
        ),
        (vec![user("go"), ended(Error)], first.into()),
    ];
    for (conversation, expected) in cases {
        let answers = conversation
            .iter()
            .filter(|it| matches!(it, Message::Assistant(_)));
        let expected = expected.replace('N', &(answers.count() + 1).to_string());
        assert_eq!(answer(&conversation).await, expected, "{conversation:?}");
    }
    // A skipped or interrupted call comes again.
    for words in [
        "Skipped due to user message.",
        "Execution cancelled",
        "Execution cancelled before start",
        "Interrupted by user message",
    ] {
        let conversation = [user("go"), called(ToolUse), failed(words), user("hey")];
        let expected = format!("You said hey. \n{calls}").replace('N', "2");
        assert_eq!(answer(&conversation).await, expected, "{words}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_has_delays_and_quotes_a_message_in_short() {
    let go = [Arc::new(user("go"))];
    let (answer, took) = next(Script::parse(SCRIPT).unwrap(), &go).await;
    assert_eq!(answer.stop_reason, StopReason::ToolUse);
    assert!(answer.usage.output > 0);
    // Three words of text at 20 ms each, and the pause. Thinking and arguments take no time here.
    assert_eq!(took, Duration::from_millis(65));

    let long = [Arc::new(user(&"ä".repeat(500)))];
    let (answer, _) = next(Script::parse(SCRIPT).unwrap(), &long).await;
    let quoted = format!("You said {}…. ", "ä".repeat(60));
    assert_eq!(answer.content[0], text(&quoted));
}

#[tokio::test(start_paused = true)]
async fn a_pause_delays_only_what_follows() {
    let script =
        "prompt = 'go'\n[[reply]]\nsteps = [{ pause_ms = 5 }, { text = 'a' }, { pause_ms = 7 }]";
    let mut request = request(demo_model(), Vec::new());
    request.messages = vec![Arc::new(user("go"))];
    let started = tokio::time::Instant::now();
    let events = Scripted::new(Script::parse(script).unwrap()).stream(request);
    let times: Vec<_> = events
        .map(|event| {
            let name = match event {
                StreamEvent::Start { .. } => "start",
                StreamEvent::BlockEnd { .. } => "end",
                StreamEvent::Done { .. } => "done",
                _ => "",
            };
            (name, started.elapsed().as_millis())
        })
        .filter(|(name, _)| std::future::ready(!name.is_empty()))
        .collect()
        .await;
    assert_eq!(times, [("start", 0), ("end", 5), ("done", 12)]);
}

#[test]
fn a_misspelled_key_is_an_error() {
    for wrong in [
        "replies = []",
        "[[reply]]\nsteps = [{ txt = 'a' }]",
        "[[reply]]\nsteps = [{ text = 'a', args = {} }]",
    ] {
        assert!(Script::parse(wrong).is_err(), "{wrong}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_demo_shows_every_feature_and_ends_in_time() {
    let prompt = demo_script().prompt;
    let mut messages = vec![Arc::new(Message::user(prompt, 0))];
    let (mut length, mut answers) = (Duration::ZERO, Vec::new());
    loop {
        let (answer, took) = next(demo_script(), &messages).await;
        length += took;
        messages.push(Arc::new(Message::Assistant(answer.clone())));
        let ids = answer.tool_calls().map(|call| call.id.clone());
        messages.extend(ids.map(|id| Arc::new(result(&id, vec![text("ok")], false))));
        let stop_reason = answer.stop_reason;
        answers.push(answer);
        if stop_reason == StopReason::Stop {
            break;
        }
    }
    // The tests of the demo's project take about 3 s more.
    let seconds = length.as_secs();
    assert!((22..45).contains(&seconds), "{seconds} s");
    let blocks = || answers.iter().flat_map(|answer| &answer.content);
    assert!(blocks().any(|block| matches!(block, Content::Thinking(_))));
    let greeting = messages[1].text();
    assert!(
        greeting.contains("from a script, not from a model"),
        "{greeting}"
    );
    assert!(
        greeting.contains("\ntiller auth add anthropic"),
        "{greeting}"
    );
    let closing = messages[messages.len() - 1].text();
    assert!(
        closing.contains("| --- |") && closing.contains("```bash"),
        "{closing}"
    );

    for message in ["", "hello", "why?", "stop", "which key", "set an API key"] {
        assert!(demo_script().reply_to(message).is_some(), "{message:?}");
    }
}
