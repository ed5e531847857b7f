//! The conversation as nested iterations: one model call with what led to it and the tool results
//! that came of it. The messages are held once, flat; an iteration is a view of a stretch of them.
//! Holds no limit: whoever asks brings it (A12).

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::llm::{AssistantMessage, Content, Message, StopReason, ToolCall, ToolResultMessage};

/// What happened so far. Serialises as exactly `iterations`, `current_iteration`, `created_at` and
/// `updated_at`.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "super::context_json::StoredContext")]
pub struct Context {
    pub(super) system: Option<String>,
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) bounds: Vec<Bounds>,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// Where an iteration begins, and what is known of it besides its messages.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub start: usize,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub metadata: Map<String, Value>,
}

/// One iteration: a view.
#[derive(Clone, Copy, Debug)]
pub struct Iteration<'a> {
    /// From 1.
    pub number: u32,
    /// Its messages, in order.
    pub messages: &'a [Arc<Message>],
    /// When it began (UTC).
    pub started_at: Timestamp,
    /// When it ended (UTC); none while it runs.
    pub completed_at: Option<Timestamp>,
    /// Whatever else is known of it.
    pub metadata: &'a Map<String, Value>,
    /// The system prompt the conversation began with; of the first iteration only.
    pub system: Option<&'a str>,
}

impl<'a> Iteration<'a> {
    /// The tool calls made in it, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &'a ToolCall> + use<'a> {
        self.messages.iter().flat_map(|message| match &**message {
            Message::Assistant(answer) => answer.tool_calls().collect(),
            _ => Vec::new(),
        })
    }
}

impl Default for Context {
    fn default() -> Self {
        let now = Timestamp::now();
        Self {
            system: None,
            messages: Vec::new(),
            bounds: Vec::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

impl Context {
    /// A conversation whose first iteration holds the system prompt, if any, and the input.
    pub fn new(input: impl Into<String>, system_prompt: Option<String>) -> Self {
        let mut context = Self {
            system: system_prompt,
            ..Self::default()
        };
        context.begin_iteration();
        let timestamp = context.created_at.as_millisecond();
        context.push(Arc::new(Message::user(input, timestamp)));
        context
    }

    /// Appends a model's answer to the current iteration.
    pub fn add_assistant_message(&mut self, content: Vec<Content>, tool_calls: Vec<ToolCall>) {
        let stop_reason = if tool_calls.is_empty() {
            StopReason::Stop
        } else {
            StopReason::ToolUse
        };
        let calls = tool_calls.into_iter().map(Content::ToolCall);
        self.push(Arc::new(Message::Assistant(AssistantMessage {
            content: content.into_iter().chain(calls).collect(),
            stop_reason,
            timestamp: Timestamp::now().as_millisecond(),
            ..AssistantMessage::default()
        })));
    }

    /// Appends the results of the current iteration's calls, completes it and opens the next.
    pub fn add_tool_results(&mut self, results: Vec<ToolResultMessage>) {
        for result in results {
            self.push(Arc::new(Message::ToolResult(result)));
        }
        self.complete_iteration();
        self.begin_iteration();
    }

    /// Appends a message to the current iteration; the first one opens it.
    pub fn push(&mut self, message: Arc<Message>) {
        if self.bounds.is_empty() {
            self.begin_iteration();
        }
        self.messages.push(message);
        self.updated_at = Timestamp::now();
    }

    /// Opens the next iteration and returns its number. One that is still empty is used instead.
    pub fn begin_iteration(&mut self) -> u32 {
        let start = self.messages.len();
        let fresh = |bounds: &Bounds| bounds.completed_at.is_none() && bounds.start == start;
        if !self.bounds.last().is_some_and(fresh) {
            self.complete_iteration();
            let now = Timestamp::now();
            self.bounds.push(Bounds {
                start,
                started_at: now,
                completed_at: None,
                metadata: Map::new(),
            });
            self.updated_at = now;
        }
        self.current_iteration()
    }

    /// Completes the current iteration, unless it is complete.
    pub fn complete_iteration(&mut self) {
        if let Some(bounds) = self.bounds.last_mut()
            && bounds.completed_at.is_none()
        {
            // Clocks may step back; an iteration never ends before it began.
            let now = Timestamp::now().max(bounds.started_at);
            bounds.completed_at = Some(now);
            self.updated_at = now;
        }
    }

    /// Number of the current iteration; 0 before there is one.
    pub fn current_iteration(&self) -> u32 {
        self.bounds.len() as u32
    }

    /// All messages, in order.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The iterations, in order.
    pub fn iterations(&self) -> impl ExactSizeIterator<Item = Iteration<'_>> {
        (0..self.bounds.len()).map(|index| self.view(index))
    }

    /// Iteration `n`, from 1.
    pub fn iteration(&self, n: u32) -> Option<Iteration<'_>> {
        let index = (n as usize).checked_sub(1)?;
        (index < self.bounds.len()).then(|| self.view(index))
    }

    /// The messages of iteration `n`; none for an unknown one.
    pub fn iteration_messages(&self, n: u32) -> &[Arc<Message>] {
        self.iteration(n)
            .map_or(&[], |iteration| iteration.messages)
    }

    /// What else is known of the current iteration, to add to.
    pub fn metadata_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.bounds.last_mut().map(|bounds| &mut bounds.metadata)
    }

    /// The calls of the current iteration's last message.
    pub fn extract_tool_calls(&self) -> Vec<ToolCall> {
        let current = self.iteration_messages(self.current_iteration());
        match current.last().map(AsRef::as_ref) {
            Some(Message::Assistant(message)) => message.tool_calls().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a model has something to answer: the last word is a person's or a tool's, or the
    /// last call failed.
    pub fn awaits_model(&self) -> bool {
        match self.messages.last().map(AsRef::as_ref) {
            None => false,
            Some(Message::User(_) | Message::ToolResult(_)) => true,
            Some(Message::Assistant(message)) => message.stop_reason == StopReason::Error,
        }
    }

    /// Error results for calls of the last answer that have none, in call order: what is left to
    /// do when a run died under them.
    pub(super) fn missing_results(&self, timestamp: i64) -> Vec<Arc<Message>> {
        let is_answer = |message: &Arc<Message>| matches!(**message, Message::Assistant(_));
        let Some(last) = self.messages.iter().rposition(is_answer) else {
            return Vec::new();
        };
        let Message::Assistant(answer) = &*self.messages[last] else {
            return Vec::new();
        };
        if answer.stop_reason == StopReason::Error {
            return Vec::new();
        }
        let answered = self.messages[last..]
            .iter()
            .filter(|m| matches!(***m, Message::ToolResult(_)));
        answer
            .tool_calls()
            .skip(answered.count())
            .map(|call| {
                Arc::new(Message::ToolResult(ToolResultMessage {
                    tool_call_id: call.id.clone(),
                    tool_name: call.name.clone(),
                    content: vec![Content::text("Execution cancelled")],
                    details: None,
                    is_error: true,
                    duration_ms: None,
                    timestamp,
                }))
            })
            .collect()
    }

    fn view(&self, index: usize) -> Iteration<'_> {
        let bounds = &self.bounds[index];
        let next = self.bounds.get(index + 1);
        let end = next.map_or(self.messages.len(), |next| next.start);
        Iteration {
            number: index as u32 + 1,
            messages: &self.messages[bounds.start..end],
            started_at: bounds.started_at,
            completed_at: bounds.completed_at,
            metadata: &bounds.metadata,
            system: if index == 0 {
                self.system.as_deref()
            } else {
                None
            },
        }
    }
}

/// What a person reads when the limit is reached.
pub fn limit_text(limit: u32) -> String {
    format!("Max iterations ({limit}) exceeded")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool_call(id: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "read".into(),
            arguments: json!({}),
            ..ToolCall::default()
        }
    }

    fn result(id: &str) -> ToolResultMessage {
        ToolResultMessage {
            tool_call_id: id.into(),
            tool_name: "read".into(),
            content: vec![Content::text("text")],
            details: None,
            is_error: false,
            duration_ms: Some(1),
            timestamp: 1,
        }
    }

    /// Two rounds: a call with its result, then an answer.
    fn two_rounds() -> Context {
        let mut context = Context::new("hi", Some("Be brief.".into()));
        context.add_assistant_message(vec![Content::text("look")], vec![tool_call("a")]);
        context.add_tool_results(vec![result("a")]);
        context.add_assistant_message(vec![Content::text("done")], vec![]);
        context
    }

    // B4
    #[test]
    fn an_empty_context_has_no_iteration() {
        let context = Context::default();
        assert_eq!(context.current_iteration(), 0);
        assert_eq!(context.iterations().len(), 0);
        let json = serde_json::to_value(&context).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        assert_eq!(
            keys,
            [
                "iterations",
                "current_iteration",
                "created_at",
                "updated_at"
            ]
        );
        assert_eq!(json["current_iteration"], 0);
    }

    // B5
    #[test]
    fn the_first_iteration_holds_prompt_and_input() {
        let roles = |context: &Context| {
            let json = serde_json::to_value(context).unwrap();
            let messages = json["iterations"][0]["messages"]
                .as_array()
                .unwrap()
                .clone();
            messages
                .iter()
                .map(|message| message["role"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let mut with = Context::new("hi", Some("Be brief.".into()));
        assert_eq!(roles(&with), ["system", "user"]);
        assert_eq!(with.current_iteration(), 1);
        with.add_tool_results(vec![]);
        let json = serde_json::to_value(&with).unwrap();
        assert_eq!(json["iterations"][1]["messages"], json!([]));
        assert_eq!(roles(&Context::new("hi", None)), ["user"]);
    }

    // B3, B6, B7, B8, B12
    #[test]
    fn results_complete_an_iteration_and_open_the_next() {
        let mut context = Context::new("hi", None);
        assert_eq!(context.extract_tool_calls(), []);
        context.add_assistant_message(vec![], vec![tool_call("a"), tool_call("b")]);
        assert_eq!(
            context.extract_tool_calls(),
            [tool_call("a"), tool_call("b")]
        );
        assert_eq!(context.iteration(1).unwrap().completed_at, None);
        context.add_tool_results(vec![result("a"), result("b")]);
        assert_eq!(context.extract_tool_calls(), []);
        // Only the last message counts, not the last answer.
        let mut answered = Context::new("hi", None);
        answered.add_assistant_message(vec![], vec![tool_call("a")]);
        answered.push(Arc::new(Message::user("wait", 1)));
        assert_eq!(answered.extract_tool_calls(), []);

        let first = context.iteration(1).unwrap();
        assert!(first.completed_at.unwrap() >= first.started_at);
        assert_eq!(first.tool_calls().count(), 2);
        assert_eq!(first.messages.len(), 4);
        let second = context.iteration(2).unwrap();
        assert_eq!(second.completed_at, None);
        assert!(second.messages.is_empty());
        assert_eq!(context.current_iteration(), 2);
    }

    // B3
    #[test]
    fn an_iteration_serialises_with_all_its_fields() {
        let json = serde_json::to_value(two_rounds()).unwrap();
        let first = json["iterations"][0].as_object().unwrap();
        let keys: Vec<_> = first.keys().cloned().collect();
        assert_eq!(
            keys,
            [
                "number",
                "messages",
                "tool_calls",
                "started_at",
                "completed_at",
                "metadata"
            ]
        );
        assert_eq!(first["number"], 1);
        assert_eq!(first["tool_calls"][0]["id"], "a");
        let second = &json["iterations"][1];
        assert_eq!(second["tool_calls"], json!([]));
        assert_eq!(second["completed_at"], Value::Null);
        assert_eq!(second["metadata"], json!({}));
        // A12, A13
        assert!(!json.to_string().contains("max"));
    }

    // B9, B10
    #[test]
    fn iterations_are_views_of_one_conversation() {
        let context = two_rounds();
        let joined: Vec<_> = context
            .iterations()
            .flat_map(|iteration| iteration.messages.to_vec())
            .collect();
        assert_eq!(joined, context.messages());
        assert!(context.iteration(0).is_none());
        assert!(context.iteration(99).is_none());
        assert!(context.iteration_messages(99).is_empty());
        assert_eq!(context.iteration_messages(2).len(), 1);
    }

    // B11, A12
    #[test]
    fn the_limit_is_the_callers() {
        assert_eq!(limit_text(2), "Max iterations (2) exceeded");
    }

    // B14
    #[test]
    fn stored_contexts_load_with_and_without_metadata() {
        let mut context = two_rounds();
        context
            .metadata_mut()
            .unwrap()
            .insert("cost".into(), json!(0.5));
        let json = serde_json::to_value(&context).unwrap();
        let back: Context = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&back).unwrap(), json);

        let mut old = json;
        for iteration in old["iterations"].as_array_mut().unwrap() {
            iteration.as_object_mut().unwrap().shift_remove("metadata");
        }
        let back: Context = serde_json::from_value(old).unwrap();
        assert_eq!(back.messages(), context.messages());
        assert!(back.iteration(2).unwrap().metadata.is_empty());
    }

    // B15
    #[test]
    fn ten_thousand_iterations_stay_flat() {
        let mut context = Context::new("hi", None);
        for n in 0..10_000 {
            let id = n.to_string();
            context.add_assistant_message(vec![], vec![tool_call(&id)]);
            context.add_tool_results(vec![result(&id)]);
        }
        assert_eq!(context.messages().len(), 20_001);
        assert_eq!(context.iteration_messages(5_000).len(), 2);
        let text = serde_json::to_string(&context).unwrap();
        let back: Context = serde_json::from_str(&text).unwrap();
        assert_eq!(back.current_iteration(), 10_001);
    }

    #[test]
    fn calls_without_result_are_found() {
        let mut context = Context::new("hi", None);
        assert!(context.missing_results(1).is_empty());
        context.add_assistant_message(vec![], vec![tool_call("a"), tool_call("b")]);
        context.push(Arc::new(Message::ToolResult(result("a"))));
        let missing = context.missing_results(1);
        assert_eq!(missing.len(), 1);
        assert!(matches!(&*missing[0], Message::ToolResult(m) if m.tool_call_id == "b"));
        assert!(context.awaits_model());
        context.push(Arc::clone(&missing[0]));
        assert!(context.missing_results(1).is_empty());
    }

    proptest::proptest! {
        // B9
        #[test]
        fn any_conversation_is_the_sum_of_its_iterations(steps in proptest::collection::vec(0u8..4, 0..40)) {
            let mut context = Context::default();
            for step in steps {
                match step {
                    0 => context.push(Arc::new(Message::user("u", 0))),
                    1 => { context.begin_iteration(); }
                    2 => context.complete_iteration(),
                    _ => context.add_tool_results(vec![result("x")]),
                }
            }
            let joined: Vec<_> = context.iterations().flat_map(|i| i.messages.to_vec()).collect();
            proptest::prop_assert_eq!(joined, context.messages());
            proptest::prop_assert_eq!(context.current_iteration() as usize, context.iterations().len());
            // B7, B12: only the last may still be open, and none ends before it began.
            let ended = context.iterations().filter(|i| i.completed_at.is_some_and(|end| end >= i.started_at));
            proptest::prop_assert!(ended.count() + 1 >= context.iterations().len());
        }
    }
}
