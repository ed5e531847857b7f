//! The turns of a conversation for one model: what is sent of each message, and in which form.

use std::borrow::Cow;
use std::sync::Arc;

use super::call_ids::{CallIds, valid_name};
use super::effort::effort_of;
use super::images::LeftOut;
use crate::llm::api::Api;
use crate::llm::message::{
    AssistantMessage, Content, Image, Message, StopReason, Thinking, ToolCall,
};
use crate::llm::model::{Model, ThinkingLevel};
use crate::llm::provider::Request;
use crate::llm::quirks::IdRule;

/// The result of a call that has none.
pub const NO_RESULT: &str = "No result provided";
/// What the user is taken to have said between two answers: some models finish the sentence of the
/// first one otherwise, others refuse the request.
pub const CONTINUE_PROMPT: &str = "[continue]";
/// Stands before the images of tool results, where an API takes none within a result.
pub const IMAGES_ABOVE: &str = "Images of the tool results above:";
/// Stands first when the conversation would begin with an answer.
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
    /// The model is to think so hard from the user's turn behind it on.
    Effort(ThinkingLevel),
}

/// A block as it is sent. Small, for a long conversation has thousands.
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
    /// The call's id as this API takes it.
    pub id: Cow<'a, str>,
    /// The call, as it was stored.
    pub call: &'a ToolCall,
    /// Text and images; never empty.
    pub content: Vec<SentBlock<'a>>,
    pub is_error: bool,
}

impl ToolResult<'_> {
    /// The texts, or `otherwise` of a result that holds images only.
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

/// The texts of `content`, with an empty line between them.
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

/// The turns of a request's messages for its model, whose own thinking in messages before index
/// `thinking_from` is left out: it was made behind another prefix.
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

/// Whether `messages` come to nothing or to an answer at their end, so that `model` has nothing to
/// answer to. Looks at no more of them than it takes to know.
pub fn ends_with_answer(messages: &[Arc<Message>], model: &Model) -> bool {
    // A result says nothing without its call.
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
            // Results are taken along with their calls; one without a call has no place.
            Message::ToolResult(_) => {}
        }
    }
    handoff.turns
}

struct Handoff<'a, 'm> {
    model: &'m Model,
    /// Thinking of the model's own before this message is bound to another prefix.
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
        // Without the thinking before them, the ids of the other items are worth nothing.
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
                    // Behind the bar stands the id of the call's item, on the one API that
                    // has items.
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
                            // What is signed is the call as it was made.
                            thought_signature: (call.thought_signature.clone())
                                .filter(|_| own && name == call.name),
                            name: name.into_owned(),
                            ..call.clone()
                        }))
                    });
                }
                // Models answer without images; one that came from elsewhere has no place here.
                Content::Image(_) => {}
            }
        }
        // No API takes an answer that ends in mere thinking; on one it has no place among the rest,
        // and may have come last.
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
            // A stored answer is never made longer: a message of the user stood in between.
            Some(Turn::Assistant(_)) => self.turns.push(go_on()),
            Some(_) => {}
        }
        self.turns.push(Turn::Assistant(blocks));
        if !results.is_empty() {
            self.turns.push(Turn::Results(results));
        }
    }

    /// Whether the model takes this thinking of its own back.
    fn replayable(&self, thinking: &Thinking, cut: bool) -> bool {
        let signed =
            (thinking.thinking_signature.as_ref()).is_some_and(|signature| !signature.is_empty());
        // Google signs what follows the thinking and takes it back as it came.
        let unsigned =
            self.model.api == Api::GoogleGenerateContent || self.model.quirks.empty_signatures;
        signed || (unsigned && !cut && !thinking.thinking.trim().is_empty())
    }

    /// For each message whether the model answers in the same turn of the user as well, behind it or
    /// now. Only then does the thinking of another model matter to it.
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

    /// The result of `call`: the first one with its id among the messages before the next answer,
    /// that no call before it has taken; else one that says there is none.
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
            // Results after the next sent answer belong to that answer.
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

    /// Text that is not blank, and images or the notes in their place.
    fn visible(&self, content: &'a [Content]) -> Vec<SentBlock<'a>> {
        let mut blocks: Vec<SentBlock<'a>> = Vec::with_capacity(content.len());
        for block in content {
            match block {
                Content::Text(text) if text.text.trim().is_empty() => {}
                Content::Text(_) => blocks.push(SentBlock::Stored(block)),
                Content::Image(image) => {
                    let image = self.image(block, image);
                    // One note for all of a row.
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

    /// An image as the model takes it, or a note: one that it cannot take would have the whole
    /// request refused, now and ever after.
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

    /// Whether this very model wrote it, over this API: only then are its opaque parts worth
    /// anything.
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

/// Whether a call of a cut answer never came to its end: its text is not parsed, or it is the last
/// block and has no arguments yet.
fn unfinished(call: &ToolCall, last: bool) -> bool {
    let empty = call
        .arguments
        .as_object()
        .is_none_or(serde_json::Map::is_empty);
    !call.partial_arguments.is_empty() || (last && empty)
}
