//! The conversation as iterations, and what is left to answer in it.

use std::sync::Arc;

use tiller::agent::Context;
use tiller::llm::{AssistantMessage, Content, Message, StopReason, ToolCall};

fn answer(calls: &[&str]) -> Arc<Message> {
    let call = |id: &&str| {
        Content::ToolCall(ToolCall {
            id: (*id).into(),
            ..ToolCall::default()
        })
    };
    Arc::new(Message::Assistant(AssistantMessage {
        content: calls.iter().map(call).collect(),
        stop_reason: StopReason::ToolUse,
        ..AssistantMessage::default()
    }))
}

fn user() -> Arc<Message> {
    Arc::new(Message::user("hi", 0))
}

// B3, B7, B12
#[test]
fn iterations_are_views_with_their_calls_and_times() {
    let mut context = Context::default();
    assert_eq!(context.iterations().len(), 0);
    context.push(user());
    assert_eq!(
        context.begin_iteration(),
        2,
        "a new one: the first is not empty"
    );
    context.push(answer(&["a", "b"]));
    assert_eq!(context.begin_iteration(), 3);
    assert_eq!(context.begin_iteration(), 3, "the empty one is used");
    let views: Vec<_> = context.iterations().collect();
    let calls: Vec<_> = views[1].tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!(calls, ["a", "b"]);
    assert_eq!(
        views.iter().map(|it| it.number).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert!(views[1].completed_at >= Some(views[1].started_at));
    assert_eq!(views[2].completed_at, None);
    assert!(views[2].messages.is_empty());
}

#[test]
fn calls_without_result_are_found() {
    let mut context = Context::default();
    context.push(user());
    assert!(context.missing_results(1).is_empty());
    context.push(answer(&["a", "b"]));
    let missing = context.missing_results(1);
    assert_eq!(missing.len(), 2);
    context.push(Arc::clone(&missing[0]));
    let missing = context.missing_results(1);
    assert!(matches!(&*missing[0], Message::ToolResult(m) if m.tool_call_id == "b"));
    assert!(context.awaits_model());
    context.push(Arc::clone(&missing[0]));
    assert!(context.missing_results(1).is_empty());
}

proptest::proptest! {
    // B9
    #[test]
    fn any_conversation_is_the_sum_of_its_iterations(steps in proptest::collection::vec(0u8..3, 0..40)) {
        let mut context = Context::default();
        for step in steps {
            match step {
                0 => context.push(user()),
                1 => { context.begin_iteration(); }
                _ => context.complete_iteration(),
            }
        }
        let joined: Vec<_> = context.iterations().flat_map(|i| i.messages.to_vec()).collect();
        proptest::prop_assert_eq!(joined, context.messages());
        // B7, B12: only the last may still be open, and none ends before it began.
        let ended = context.iterations().filter(|i| i.completed_at.is_some_and(|end| end >= i.started_at));
        proptest::prop_assert!(ended.count() + 1 >= context.iterations().len());
    }
}
