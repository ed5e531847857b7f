//! Makes a stored conversation valid for one wire and one model: pure, no IO, changes nothing that
//! is stored.
//!
//! What it guarantees: steps alternate between the person's side and the model's; every tool call is
//! followed by exactly one result before anything else; nothing half-finished, refused or meant for
//! people only is sent; and what it makes of a message does not depend on what follows it, so a
//! prompt cache keeps its hits.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::message::{
    AssistantMessage, Content, Image, Message, StopReason, ToolCall, ToolResultMessage,
};
use super::model::{Api, Model};
use super::quirks::IdRule;

/// What stands first in the turn after an answer the person cut off.
pub const INTERRUPTED: &str = "[interrupted by the user]";
/// What stands for the result of a call that has none.
pub const NO_RESULT: &str = "No result provided";
/// What stands for an image that the model cannot see.
pub const NO_VISION: &str = "[an image was left out: this model cannot see images]";
/// What stands last when the conversation would end with an answer: some models finish its sentence
/// otherwise, others refuse.
const GO_ON: &str = "[go on]";
/// What stands first when the conversation would begin with an answer.
const CONTINUED: &str = "[the conversation goes on]";

/// One turn as a wire writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<'a> {
    /// The person's words and pictures; never empty.
    User(Vec<Cow<'a, Content>>),
    /// The model's answer; never empty.
    Assistant(Vec<Cow<'a, Content>>),
    /// The results of all calls of the answer before, in the order of the calls.
    Results(Vec<Answer<'a>>),
}

/// The result of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<'a> {
    /// The call's id as it was written on this wire.
    pub id: String,
    /// The call, as it was stored.
    pub call: &'a ToolCall,
    /// Text and images; never empty.
    pub content: Vec<Cow<'a, Content>>,
    /// Whether it failed.
    pub is_error: bool,
}

/// The steps `messages` come down to for `model`.
pub fn steps<'a>(messages: &'a [Arc<Message>], model: &Model, ids: IdRule) -> Vec<Step<'a>> {
    let mut handoff = Handoff {
        model,
        ids,
        used: HashSet::new(),
        steps: Vec::new(),
        interrupted: false,
    };
    for (at, message) in messages.iter().enumerate() {
        match message.as_ref() {
            Message::User(user) => handoff.user(&user.content),
            Message::Assistant(answer) => handoff.assistant(answer, &messages[at + 1..]),
            // Results are taken along with their calls; one without a call has no place.
            Message::ToolResult(_) => {}
        }
    }
    if let None | Some(Step::Assistant(_)) = handoff.steps.last() {
        let go_on = Cow::Owned(Content::text(GO_ON));
        handoff.steps.push(Step::User(vec![go_on]));
    }
    handoff.steps
}

struct Handoff<'a, 'm> {
    model: &'m Model,
    ids: IdRule,
    used: HashSet<String>,
    steps: Vec<Step<'a>>,
    interrupted: bool,
}

impl<'a> Handoff<'a, '_> {
    fn user(&mut self, content: &'a [Content]) {
        let mut blocks = self.visible(content);
        if blocks.is_empty() {
            return;
        }
        if std::mem::take(&mut self.interrupted) {
            blocks.insert(0, Cow::Owned(Content::text(INTERRUPTED)));
        }
        match self.steps.last_mut() {
            Some(Step::User(last)) => last.append(&mut blocks),
            _ => self.steps.push(Step::User(blocks)),
        }
    }

    fn assistant(&mut self, answer: &'a AssistantMessage, after: &'a [Arc<Message>]) {
        if answer.stop_reason == StopReason::Error {
            return;
        }
        let cut = matches!(
            answer.stop_reason,
            StopReason::Aborted | StopReason::Pending
        );
        self.interrupted |= answer.stop_reason == StopReason::Aborted;
        let own = self.own(answer);
        let google = self.model.api == Api::GoogleGenerateContent;
        let mut blocks: Vec<Cow<'a, Content>> = Vec::new();
        let mut answers = Vec::new();
        let mut taken = Vec::new();
        // Where a thought is lost, the ids of what followed it are worth nothing either.
        let mut lost = false;
        for (at, block) in answer.content.iter().enumerate() {
            match block {
                // Google signs empty texts too, and wants them back.
                Content::Text(text)
                    if text.text.trim().is_empty()
                        && !(own && google && text.text_signature.is_some()) => {}
                Content::Text(text)
                    if text.text_signature.is_some()
                        && (!own || (lost && self.ids == IdRule::Responses)) =>
                {
                    blocks.push(Cow::Owned(Content::text(&*text.text)));
                }
                Content::Text(_) => blocks.push(Cow::Borrowed(block)),
                Content::Thinking(thinking) => {
                    let signed = thinking
                        .thinking_signature
                        .as_ref()
                        .is_some_and(|signature| !signature.is_empty());
                    // Google signs what follows the thoughts and takes them back as they came.
                    let whole = google && !cut && !thinking.thinking.trim().is_empty();
                    if own && (signed || whole) {
                        blocks.push(Cow::Borrowed(block));
                    } else if !own
                        && !cut
                        && !thinking.redacted
                        && !thinking.thinking.trim().is_empty()
                    {
                        let text = format!("<thinking>{}</thinking>", thinking.thinking.trim());
                        blocks.push(Cow::Owned(Content::text(text)));
                    } else {
                        lost = true;
                    }
                }
                Content::ToolCall(call) => {
                    let last = at + 1 == answer.content.len();
                    if cut && unfinished(call, last) {
                        continue;
                    }
                    // What stands behind the bar is the id of the call's item, on the one wire that
                    // has items.
                    let (call_id, item_id) = match call.id.split_once('|') {
                        Some((call_id, item)) if answer.api.ends_with("responses") => (
                            call_id,
                            Some(item).filter(|_| self.ids == IdRule::Responses),
                        ),
                        _ => (call.id.as_str(), None),
                    };
                    let id = self.wire_id(call_id, own, &answers);
                    let written = match item_id.filter(|_| own && !lost) {
                        Some(item) => format!("{id}|{item}"),
                        None => id.clone(),
                    };
                    answers.push(self.answer(call, id, after, &mut taken));
                    let name = wire_name(&call.name);
                    let bare = own || call.thought_signature.is_none();
                    blocks.push(if bare && written == call.id && name == call.name {
                        Cow::Borrowed(block)
                    } else {
                        Cow::Owned(Content::ToolCall(ToolCall {
                            id: written,
                            // What is signed is the call as it was made.
                            thought_signature: (call.thought_signature.clone())
                                .filter(|_| own && name == call.name),
                            name: name.into_owned(),
                            ..call.clone()
                        }))
                    });
                }
                // Models answer without pictures; one that came from elsewhere has no place here.
                Content::Image(_) => {}
            }
        }
        // No wire takes an answer that ends in mere thoughts; on one they have no place among the
        // rest, and may have come last.
        let thought = |block: &Cow<Content>| matches!(**block, Content::Thinking(_));
        if self.model.api != Api::OpenAiChat || blocks.iter().all(thought) {
            while blocks.last().is_some_and(thought) {
                blocks.pop();
            }
        }
        if blocks.is_empty() {
            return;
        }
        if self.steps.is_empty() {
            self.steps
                .push(Step::User(vec![Cow::Owned(Content::text(CONTINUED))]));
        }
        match self.steps.last_mut() {
            Some(Step::Assistant(last)) => last.append(&mut blocks),
            _ => self.steps.push(Step::Assistant(blocks)),
        }
        if !answers.is_empty() {
            self.steps.push(Step::Results(answers));
        }
    }

    /// The result of `call`: the first one with its id among the messages before the next answer,
    /// that no call before it has taken; else one that says there is none.
    fn answer(
        &self,
        call: &'a ToolCall,
        id: String,
        after: &'a [Arc<Message>],
        taken: &mut Vec<*const ToolResultMessage>,
    ) -> Answer<'a> {
        let result = after
            .iter()
            .take_while(|message| !sent_answer(message))
            .find_map(|message| match message.as_ref() {
                Message::ToolResult(result)
                    if result.tool_call_id == call.id
                        && !taken.contains(&std::ptr::from_ref(result)) =>
                {
                    Some(result)
                }
                _ => None,
            });
        let Some(result) = result else {
            return Answer {
                id,
                call,
                content: vec![Cow::Owned(Content::text(NO_RESULT))],
                is_error: true,
            };
        };
        taken.push(std::ptr::from_ref(result));
        let mut content = self.visible(&result.content);
        if content.is_empty() {
            content.push(Cow::Owned(Content::text("(no output)")));
        }
        Answer {
            id,
            call,
            content,
            is_error: result.is_error,
        }
    }

    /// Text that is not blank, and images or what stands for them.
    fn visible(&self, content: &'a [Content]) -> Vec<Cow<'a, Content>> {
        let mut blocks: Vec<Cow<'a, Content>> = Vec::new();
        for block in content {
            match block {
                Content::Text(text) if text.text.trim().is_empty() => {}
                Content::Text(_) => blocks.push(Cow::Borrowed(block)),
                Content::Image(image) => {
                    let picture = self.picture(block, image);
                    // One note for all of a row.
                    let note = matches!(*picture, Content::Text(_));
                    if !note || blocks.last() != Some(&picture) {
                        blocks.push(picture);
                    }
                }
                Content::Thinking(_) | Content::ToolCall(_) => {}
            }
        }
        blocks
    }

    /// An image as the model can take it, or what stands for it: one that it cannot take would have
    /// the whole request refused, now and ever after.
    fn picture(&self, block: &'a Content, image: &'a Image) -> Cow<'a, Content> {
        let note = |text: String| Cow::Owned(Content::text(text));
        if !self.model.vision {
            return note(NO_VISION.to_owned());
        }
        if image.data.is_empty() {
            return note("[an image was left out: it is empty]".to_owned());
        }
        match image.mime_type.as_str() {
            // That wire has a list of its own.
            _ if self.model.api == Api::GoogleGenerateContent => Cow::Borrowed(block),
            "image/png" | "image/jpeg" | "image/gif" | "image/webp" => Cow::Borrowed(block),
            "image/jpg" => Cow::Owned(Content::Image(Image {
                mime_type: "image/jpeg".to_owned(),
                data: image.data.clone(),
            })),
            other => note(format!(
                "[an image was left out: this model does not take {other}]"
            )),
        }
    }

    /// Whether this very model said it, over this wire: only then are its opaque parts worth
    /// anything.
    fn own(&self, answer: &AssistantMessage) -> bool {
        let api = answer.api.as_str();
        let same_wire = api == self.model.api.as_str()
            || (api == "openai-completions" && self.model.api == Api::OpenAiChat)
            || (api == "google-generative-ai" && self.model.api == Api::GoogleGenerateContent);
        same_wire && answer.provider == self.model.provider && answer.model == self.model.id
    }

    fn wire_id(&mut self, id: &str, own: bool, before: &[Answer]) -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let room = match self.ids {
            IdRule::OpenAi | IdRule::Any => 40,
            _ => 64,
        };
        let plain: String = match self.ids {
            IdRule::Mistral if id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()) => {
                id.to_owned()
            }
            IdRule::Mistral => short_hash(id, 0),
            IdRule::Any if own => id.to_owned(),
            IdRule::OpenAi if own => id.chars().take(room).collect(),
            _ => id
                .chars()
                .map(|c| if allowed(c) { c } else { '_' })
                .take(room)
                .collect(),
        };
        // Servers that count their ids anew in each answer send the same ones again and again. Not
        // all wires mind that; within one answer nobody could tell the results apart.
        let mut number = 1;
        let mut candidate = plain.clone();
        loop {
            let free = match self.ids {
                IdRule::Anthropic | IdRule::Google | IdRule::Responses => {
                    !self.used.contains(&candidate)
                }
                _ => before.iter().all(|answer| answer.id != candidate),
            };
            if free && !candidate.is_empty() {
                break;
            }
            number += 1;
            candidate = match self.ids {
                IdRule::Mistral => short_hash(id, number),
                _ => {
                    let suffix = format!("_{number}");
                    let kept: String = plain.chars().take(room - suffix.len()).collect();
                    format!("{kept}{suffix}")
                }
            };
        }
        self.used.insert(candidate.clone());
        candidate
    }
}

/// Whether `message` is an answer that is sent: results behind it belong to it.
fn sent_answer(message: &Message) -> bool {
    matches!(message, Message::Assistant(answer) if answer.stop_reason != StopReason::Error)
}

/// Whether a call of a cut answer never came to its end: its text is not parsed, or it is the last
/// thing that came and has no arguments yet.
fn unfinished(call: &ToolCall, last: bool) -> bool {
    let empty = call
        .arguments
        .as_object()
        .is_none_or(serde_json::Map::is_empty);
    !call.partial_arguments.is_empty() || (last && empty)
}

/// A tool's name as every wire takes it: models make up names that none does.
pub fn wire_name(name: &str) -> Cow<'_, str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(allowed) {
        return Cow::Borrowed(name);
    }
    let mut kept: String = name
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .take(64)
        .collect();
    if kept.is_empty() {
        kept.push_str("unknown");
    }
    Cow::Owned(kept)
}

/// Nine letters and digits that `id` always comes to.
fn short_hash(id: &str, number: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in id.bytes().chain(number.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (0..9)
        .map(|_| {
            let digit = DIGITS[(hash % 36) as usize];
            hash /= 36;
            char::from(digit)
        })
        .collect()
}
