//! The turns of a conversation for one model: which parts of each message to send, and in which form.

use std::borrow::Cow;
use std::sync::Arc;

use super::call_ids::{CallIds, valid_name};
use super::effort::effort_of;
use super::images::LeftOut;
use crate::api::Api;
use crate::message::{AssistantMessage, Content, Image, Message, StopReason, Thinking, ToolCall};
use crate::model::{Model, ThinkingLevel};
use crate::provider::Request;
use crate::quirks::IdRule;

/// The result for a call without one.
pub const NO_RESULT: &str = "No result provided";
/// A user message to put between two answers. Without it, some models finish the first answer's
/// sentence, and others refuse the request.
pub const CONTINUE_PROMPT: &str = "[continue]";
/// Introduces the images of tool results, for APIs that allow none inside a result.
pub const IMAGES_ABOVE: &str = "Images of the tool results above:";
/// The first message of a conversation that would start with an answer.
const CONTINUED_PROMPT: &str = "[the conversation continues]";

/// One turn of the conversation, for any API.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn<'a> {
    /// Texts and images of the user; never empty.
    User(Vec<SentBlock<'a>>),
    /// The model's answer; never empty.
    Assistant(Vec<SentBlock<'a>>),
    /// The results of all calls of the answer before, in the order of the calls.
    Results(Vec<ToolResult<'a>>),
    /// The thinking level from the user's next turn on.
    Effort(ThinkingLevel),
}

/// A block to send. Small, because a long conversation has thousands.
#[derive(Clone, Debug, PartialEq)]
pub enum SentBlock<'a> {
    Stored(&'a Content),
    /// Made for this request.
    Made(Box<Content>),
}

impl SentBlock<'_> {
    fn made(content: Content) -> Self {
        Self::Made(Box::new(content))
    }
}

impl AsRef<Content> for SentBlock<'_> {
    fn as_ref(&self) -> &Content {
        match self {
            Self::Stored(content) => content,
            Self::Made(content) => content,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult<'a> {
    /// The call's id as this API accepts it.
    pub id: Cow<'a, str>,
    /// The stored call.
    pub call: &'a ToolCall,
    /// Text and images; never empty.
    pub content: Vec<SentBlock<'a>>,
    pub is_error: bool,
}

impl ToolResult<'_> {
    /// The texts, or `otherwise` for a result with only images.
    pub fn text_or(&self, otherwise: &'static str) -> Cow<'_, str> {
        match joined_text(&self.content) {
            text if text.is_empty() => Cow::Borrowed(otherwise),
            text => text,
        }
    }

    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.content
            .iter()
            .filter_map(|block| match block.as_ref() {
                Content::Image(image) => Some(image),
                _ => None,
            })
    }
}

/// The texts of `content`, separated by empty lines.
pub fn joined_text<'a>(content: &'a [SentBlock<'_>]) -> Cow<'a, str> {
    let texts = content.iter().filter_map(|block| match block.as_ref() {
        Content::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    match texts.as_slice() {
        [one] => Cow::Borrowed(one),
        several => Cow::Owned(several.join("\n\n")),
    }
}

/// The turns of a request's messages for its model. Leaves out the model's own thinking in messages
/// before index `thinking_from`, which belongs to another prefix.
pub fn to_turns(request: &Request, thinking_from: usize, ids: IdRule) -> Vec<Turn<'_>> {
    let mut turns = turns_of(
        &request.messages,
        &request.model,
        request.thinking,
        thinking_from,
        ids,
    );
    if let None | Some(Turn::Assistant(_)) = turns.last() {
        turns.push(go_on());
    }
    turns
}

/// Whether `messages` are empty or end in an answer, so that `model` has nothing to answer. Looks only
/// at as many of them as necessary.
pub fn ends_with_answer(messages: &[Arc<Message>], model: &Model) -> bool {
    // A result means nothing without its call.
    let mut starts = (0..messages.len())
        .rev()
        .filter(|at| !matches!(*messages[*at], Message::ToolResult(_)));
    let last = starts
        .find_map(|at| turns_of(&messages[at..], model, ThinkingLevel::Off, 0, IdRule::Any).pop());
    matches!(last, None | Some(Turn::Assistant(_)))
}

fn turns_of<'a>(
    messages: &'a [Arc<Message>],
    model: &Model,
    thinking: ThinkingLevel,
    thinking_from: usize,
    ids: IdRule,
) -> Vec<Turn<'a>> {
    let images = LeftOut::of(messages, model);
    let mut handoff = Handoff {
        model,
        thinking_from: thinking_from.max(images.since),
        images,
        ids: CallIds::new(ids),
        turns: Vec::new(),
    };
    let shared = handoff.shared_turns(messages);
    let mut effort = effort_of(messages, model, thinking);
    for (at, message) in messages.iter().enumerate() {
        match message.as_ref() {
            Message::User(user) => {
                let answered = matches!(
                    handoff.turns.last(),
                    Some(Turn::Assistant(_) | Turn::Results(_))
                );
                if model.quirks.effort_updates && answered {
                    let next = effort_of(&messages[at..], model, thinking);
                    if next != effort {
                        handoff.turns.push(Turn::Effort(next));
                        effort = next;
                    }
                }
                handoff.user(&user.content);
            }
            Message::Assistant(answer) => handoff.assistant(answer, messages, at, shared[at]),
            // The calls bring their results along. A result without a call has no place.
            Message::ToolResult(_) => {}
        }
    }
    handoff.turns
}

struct Handoff<'a, 'm> {
    model: &'m Model,
    /// The model's own thinking before this message is bound to another prefix.
    thinking_from: usize,
    images: LeftOut,
    ids: CallIds<'a>,
    turns: Vec<Turn<'a>>,
}

impl<'a> Handoff<'a, '_> {
    fn user(&mut self, content: &'a [Content]) {
        let mut blocks = self.visible(content);
        if blocks.is_empty() {
            return;
        }
        match self.turns.last_mut() {
            Some(Turn::User(last)) => last.append(&mut blocks),
            _ => self.turns.push(Turn::User(blocks)),
        }
    }

    fn assistant(
        &mut self,
        answer: &'a AssistantMessage,
        messages: &'a [Arc<Message>],
        at: usize,
        shared_turn: bool,
    ) {
        if !answer.is_sent() {
            return;
        }
        let cut = matches!(
            answer.stop_reason,
            StopReason::Aborted | StopReason::Pending
        );
        let own = self.own(answer);
        let google = self.model.api == Api::GoogleGenerateContent;
        let mut blocks = Vec::with_capacity(answer.content.len());
        let mut results: Vec<ToolResult<'a>> = Vec::with_capacity(answer.tool_calls().count());
        // Without the thinking before them, the ids of the other items are useless.
        let mut thinking_lost = false;
        for (index, block) in answer.content.iter().enumerate() {
            match block {
                // Google signs empty texts too, and wants them back.
                Content::Text(text)
                    if text.text.trim().is_empty()
                        && !(own && google && text.text_signature.is_some()) => {}
                Content::Text(text)
                    if text.text_signature.is_some()
                        && (!own || (thinking_lost && self.ids.rule() == IdRule::Responses)) =>
                {
                    blocks.push(SentBlock::made(Content::text(&*text.text)));
                }
                Content::Text(_) => blocks.push(SentBlock::Stored(block)),
                Content::Thinking(thinking) => {
                    let blank = thinking.thinking.trim().is_empty();
                    if own && at >= self.thinking_from && self.replayable(thinking, cut) {
                        blocks.push(SentBlock::Stored(block));
                    } else if !own && shared_turn && !cut && !thinking.redacted && !blank {
                        let text = format!("<thinking>{}</thinking>", thinking.thinking.trim());
                        blocks.push(SentBlock::made(Content::text(text)));
                    } else {
                        thinking_lost = true;
                    }
                }
                Content::ToolCall(call) => {
                    let last = index + 1 == answer.content.len();
                    if cut && unfinished(call, last) {
                        continue;
                    }
                    // After the `|` is the id of the call's item, for the one API with items.
                    let (call_id, item_id) = match call.id.split_once('|') {
                        Some((call_id, item)) if answer.api.ends_with("responses") => (
                            call_id,
                            Some(item).filter(|_| self.ids.rule() == IdRule::Responses),
                        ),
                        _ => (call.id.as_str(), None),
                    };
                    let before = results.iter().map(|result| &*result.id);
                    let id = self.ids.next(call_id, own, before);
                    let written = match item_id.filter(|_| own && !thinking_lost) {
                        Some(item) => format!("{id}|{item}").into(),
                        None => id.clone(),
                    };
                    let result = self.result(call, id, &messages[at + 1..], &results);
                    results.push(result);
                    let name = valid_name(&call.name);
                    let bare = own || call.thought_signature.is_none();
                    blocks.push(if bare && written == call.id && name == call.name {
                        SentBlock::Stored(block)
                    } else {
                        SentBlock::made(Content::ToolCall(ToolCall {
                            id: written.into_owned(),
                            // The signature covers the original call.
                            thought_signature: (call.thought_signature.clone())
                                .filter(|_| own && name == call.name),
                            name: name.into_owned(),
                            ..call.clone()
                        }))
                    });
                }
                // Models answer without images, so one from elsewhere has no place here.
                Content::Image(_) => {}
            }
        }
        // No API accepts an answer that ends in thinking. One of them also wants thinking first, though
        // it may have come last.
        let thinking = |block: &SentBlock| matches!(block.as_ref(), Content::Thinking(_));
        if self.model.api != Api::OpenAiChat || blocks.iter().all(thinking) {
            while blocks.last().is_some_and(thinking) {
                blocks.pop();
            }
        }
        if blocks.is_empty() {
            return;
        }
        match self.turns.last() {
            None => {
                let first = SentBlock::made(Content::text(CONTINUED_PROMPT));
                self.turns.push(Turn::User(vec![first]));
            }
            // Never extend a stored answer: a user message was in between.
            Some(Turn::Assistant(_)) => self.turns.push(go_on()),
            Some(_) => {}
        }
        self.turns.push(Turn::Assistant(blocks));
        if !results.is_empty() {
            self.turns.push(Turn::Results(results));
        }
    }

    /// Whether the model accepts its own thinking.
    fn replayable(&self, thinking: &Thinking, cut: bool) -> bool {
        let signed =
            (thinking.thinking_signature.as_ref()).is_some_and(|signature| !signature.is_empty());
        // Google signs what follows the thinking, and accepts it unchanged.
        let unsigned =
            self.model.api == Api::GoogleGenerateContent || self.model.quirks.empty_signatures;
        signed || (unsigned && !cut && !thinking.thinking.trim().is_empty())
    }

    /// For each message, whether the model also answers later in the same user turn, or does so now.
    /// Only then does another model's thinking matter.
    fn shared_turns(&self, messages: &[Arc<Message>]) -> Vec<bool> {
        let mut answers_behind = true;
        let mut shared = vec![false; messages.len()];
        for (at, message) in messages.iter().enumerate().rev() {
            shared[at] = answers_behind;
            match message.as_ref() {
                Message::User(_) => answers_behind = false,
                Message::Assistant(answer) => answers_behind |= self.own(answer),
                Message::ToolResult(_) => {}
            }
        }
        shared
    }

    /// The result of `call`: the first unused one with its id in this turn, or a placeholder.
    fn result(
        &self,
        call: &'a ToolCall,
        id: Cow<'a, str>,
        after: &'a [Arc<Message>],
        before: &[ToolResult],
    ) -> ToolResult<'a> {
        let same = before.iter().filter(|it| it.call.id == call.id).count();
        let stored = after
            .iter()
            // Results after the next answer belong to that answer.
            .take_while(|it| !matches!(&***it, Message::Assistant(answer) if answer.is_sent()))
            .filter_map(|message| match message.as_ref() {
                Message::ToolResult(result) if result.tool_call_id == call.id => Some(result),
                _ => None,
            })
            .nth(same);
        let Some(stored) = stored else {
            return ToolResult {
                id,
                call,
                content: vec![SentBlock::made(Content::text(NO_RESULT))],
                is_error: true,
            };
        };
        let mut content = self.visible(&stored.content);
        if content.is_empty() {
            content.push(SentBlock::made(Content::text("(no output)")));
        }
        ToolResult {
            id,
            call,
            content,
            is_error: stored.is_error,
        }
    }

    /// Text that isn't blank, and images or the notes in their place.
    fn visible(&self, content: &'a [Content]) -> Vec<SentBlock<'a>> {
        let mut blocks: Vec<SentBlock<'a>> = Vec::with_capacity(content.len());
        for block in content {
            match block {
                Content::Text(text) if text.text.trim().is_empty() => {}
                Content::Text(_) => blocks.push(SentBlock::Stored(block)),
                Content::Image(image) => {
                    let image = self.image(block, image);
                    // One note for several in a row.
                    let note = matches!(image.as_ref(), Content::Text(_));
                    if !note || blocks.last() != Some(&image) {
                        blocks.push(image);
                    }
                }
                Content::Thinking(_) | Content::ToolCall(_) => {}
            }
        }
        blocks
    }

    /// An image that the model accepts, or a note. One it can't read would make the provider refuse this
    /// request and every later one.
    fn image(&self, block: &'a Content, image: &'a Image) -> SentBlock<'a> {
        let note = |why: &str| SentBlock::made(Content::text(format!("[image left out: {why}]")));
        if !self.model.vision {
            return note("this model can't see images");
        }
        if image.data.is_empty() {
            return note("it is empty");
        }
        if self.images.contains(image) {
            return note("one request can't hold this many images");
        }
        let google = self.model.api == Api::GoogleGenerateContent;
        match image.mime_type.as_str() {
            "image/png" | "image/jpeg" | "image/webp" => SentBlock::Stored(block),
            "image/gif" if !google => SentBlock::Stored(block),
            "image/heic" | "image/heif" if google => SentBlock::Stored(block),
            "image/jpg" => SentBlock::made(Content::Image(Image {
                mime_type: "image/jpeg".to_owned(),
                data: image.data.clone(),
            })),
            other => note(&format!("this model can't read {other}")),
        }
    }

    /// Whether this model wrote it over this API. Only then are its opaque parts useful.
    fn own(&self, answer: &AssistantMessage) -> bool {
        let api = answer.api.as_str();
        let same_api = api == self.model.api.as_str()
            || (api == "openai-completions" && self.model.api == Api::OpenAiChat)
            || (api == "google-generative-ai" && self.model.api == Api::GoogleGenerateContent);
        same_api && answer.provider == self.model.provider && answer.model == self.model.id
    }
}

fn go_on<'a>() -> Turn<'a> {
    Turn::User(vec![SentBlock::made(Content::text(CONTINUE_PROMPT))])
}

/// Whether a call in a cut answer is incomplete: unparsed, or the last block without arguments.
fn unfinished(call: &ToolCall, last: bool) -> bool {
    let empty = call
        .arguments
        .as_object()
        .is_none_or(serde_json::Map::is_empty);
    !call.partial_arguments.is_empty() || (last && empty)
}
