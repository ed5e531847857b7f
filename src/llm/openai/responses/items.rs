//! Turns a conversation into the items of a Responses input.
//!
//! `handoff` makes it valid (pairs of calls and results, ids). This module handles only the form.
//! Reasoning goes back byte for byte.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::handoff::{IMAGES_ABOVE, SentBlock, ToolResult, Turn};
use crate::message::{Content, Image, Text, ToolCall};
use crate::model::Model;
use crate::quirks::Quirks;

/// Longest id of an item, in bytes. Some hosts make up much longer ones, which none accepts back.
pub(super) const ID_LENGTH: usize = 64;

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Item<'a> {
    /// Reasoning, byte for byte.
    Stored(&'a RawValue),
    New(NewItem<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum NewItem<'a> {
    Message {
        role: &'static str,
        content: Vec<InputPart<'a>>,
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        output: Option<OutputFields>,
    },
    /// A call with JSON arguments.
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: &'a str,
        name: &'a str,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Output<'a>,
    },
    /// A call with free text.
    CustomToolCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: &'a str,
        name: &'a str,
        input: Cow<'a, str>,
    },
    CustomToolCallOutput {
        call_id: &'a str,
        output: Output<'a>,
    },
    /// A setting from here on.
    ConfigurationUpdate { reasoning: Value },
}

/// The fields that only a message of the model has.
#[derive(Serialize)]
pub(super) struct OutputFields {
    id: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
}

/// A piece of a message or of a result.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum InputPart<'a> {
    InputText {
        text: &'a str,
    },
    InputImage {
        detail: &'static str,
        image_url: String,
    },
    OutputText {
        text: &'a str,
        annotations: [u8; 0],
    },
}

impl InputPart<'_> {
    fn image(image: &Image) -> Self {
        Self::InputImage {
            detail: "auto",
            image_url: image.data_url(),
        }
    }
}

/// Plain text where possible.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Output<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<InputPart<'a>>),
}

/// The items for `turns`.
pub(super) fn of<'a>(turns: &'a [Turn<'a>], model: &'a Model) -> Vec<Item<'a>> {
    let quirks = &model.quirks;
    let mut items = Vec::with_capacity(turns.len());
    let mut used = Ids::default();
    for (at, turn) in turns.iter().enumerate() {
        match turn {
            Turn::User(content) => items.push(user(content.iter().filter_map(part).collect())),
            Turn::Assistant(content) => assistant(content, at, quirks, &mut used, &mut items),
            Turn::Results(results) => tool_results(results, quirks, &mut items),
            Turn::Effort(level) => items.extend(model.thinking_word(*level).map(|effort| {
                let reasoning = json!({ "effort": effort });
                Item::New(NewItem::ConfigurationUpdate { reasoning })
            })),
        }
    }
    items
}

/// The used ids of items. No id can occur twice, but some servers repeat them.
#[derive(Default)]
struct Ids(HashSet<String>);

impl Ids {
    /// Accepts `id` if it is unused, starts like the id of such an item, and isn't too long.
    fn take(&mut self, id: &str, prefix: &str) -> bool {
        id.starts_with(prefix) && id.len() <= ID_LENGTH && self.0.insert(id.to_owned())
    }
}

fn user(content: Vec<InputPart>) -> Item {
    Item::New(NewItem::Message {
        role: "user",
        content,
        output: None,
    })
}

fn part<'a>(content: &'a SentBlock<'a>) -> Option<InputPart<'a>> {
    match content.as_ref() {
        Content::Text(text) => Some(InputPart::InputText { text: &text.text }),
        Content::Image(image) => Some(InputPart::image(image)),
        Content::Thinking(_) | Content::ToolCall(_) => None,
    }
}

fn assistant<'a>(
    content: &'a [SentBlock<'a>],
    turn: usize,
    quirks: &Quirks,
    used: &mut Ids,
    items: &mut Vec<Item<'a>>,
) {
    // An id ties its item to the reasoning before it. Without that reasoning, the id can't be sent.
    let mut ids = true;
    for (at, block) in content.iter().enumerate() {
        match block.as_ref() {
            Content::Thinking(thinking) => {
                let stored = thinking.thinking_signature.as_deref();
                let stored = stored.and_then(|stored| reasoning(stored, used));
                ids &= stored.is_some();
                items.extend(stored.map(Item::Stored));
            }
            Content::Text(text) => {
                let made_up = format!("msg_{turn}_{at}");
                items.push(output_message(text, ids, made_up, used));
            }
            Content::ToolCall(call) => items.push(Item::New(tool_call(call, ids, quirks, used))),
            Content::Image(_) => {}
        }
    }
}

fn output_message<'a>(text: &'a Text, ids: bool, mut made_up: String, used: &mut Ids) -> Item<'a> {
    let stored = text.text_signature.as_deref().map(TextSignature::parse);
    let TextSignature { id, phase } = stored.unwrap_or_default();
    let id = id.filter(|id| ids && used.take(id, "msg_"));
    let id = id.unwrap_or_else(|| {
        while !used.take(&made_up, "msg_") {
            made_up.push('0');
        }
        made_up
    });
    Item::New(NewItem::Message {
        role: "assistant",
        content: vec![InputPart::OutputText {
            text: &text.text,
            annotations: [],
        }],
        output: Some(OutputFields {
            id,
            status: "completed",
            phase,
        }),
    })
}

fn tool_call<'a>(call: &'a ToolCall, ids: bool, quirks: &Quirks, used: &mut Ids) -> NewItem<'a> {
    let (call_id, id) = match call.id.split_once('|') {
        Some((call_id, id)) => (call_id, Some(id).filter(|_| ids)),
        None => (call.id.as_str(), None),
    };
    let name = &call.name;
    if call.custom && quirks.custom_tools {
        return NewItem::CustomToolCall {
            id: id.filter(|id| used.take(id, "ctc_")),
            call_id,
            name,
            input: match &call.arguments["input"] {
                Value::String(input) => Cow::Borrowed(input),
                _ => Cow::Owned(call.arguments.to_string()),
            },
        };
    }
    NewItem::FunctionCall {
        id: id.filter(|id| used.take(id, "fc_")),
        call_id,
        name,
        arguments: call.argument_object().to_string(),
    }
}

fn tool_results<'a>(results: &'a [ToolResult<'a>], quirks: &Quirks, items: &mut Vec<Item<'a>>) {
    let mut images = Vec::new();
    for result in results {
        let with_images = quirks.result_images && result.images().next().is_some();
        let output = if with_images {
            Output::Parts(result.content.iter().filter_map(part).collect())
        } else {
            images.extend(result.images().map(InputPart::image));
            Output::Text(result.text_or("(see the image below)"))
        };
        let call_id = &result.id;
        items.push(Item::New(if result.call.custom && quirks.custom_tools {
            NewItem::CustomToolCallOutput { call_id, output }
        } else {
            NewItem::FunctionCallOutput { call_id, output }
        }));
    }
    if !images.is_empty() {
        images.insert(0, InputPart::InputText { text: IMAGES_ABOVE });
        items.push(user(images));
    }
}

/// A stored reasoning item, if a stateless server can use it: it must hold its thoughts.
fn reasoning<'a>(stored: &'a str, used: &mut Ids) -> Option<&'a RawValue> {
    #[derive(Deserialize)]
    struct Known<'a> {
        #[serde(borrow)]
        r#type: Cow<'a, str>,
        #[serde(borrow, default)]
        id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        encrypted_content: Option<Cow<'a, str>>,
        #[serde(default)]
        content: Option<Vec<IgnoredAny>>,
        #[serde(rename = "summary")]
        _summary: Vec<IgnoredAny>,
    }
    let known: Known = serde_json::from_str(stored).ok()?;
    let encrypted = known
        .encrypted_content
        .is_some_and(|content| !content.is_empty());
    let plain = known.content.is_some_and(|parts| !parts.is_empty());
    let usable = known.r#type == "reasoning" && (encrypted || plain);
    let usable = usable && known.id.is_none_or(|id| used.take(&id, ""));
    usable.then(|| serde_json::from_str(stored).ok()).flatten()
}

/// The stored facts about an answer's message besides its text, in pi's form.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct TextSignature {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// `commentary` or `final_answer`; models want it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
}

impl TextSignature {
    pub fn write(id: &str, phase: Option<&str>) -> String {
        match phase {
            Some(phase) => json!({ "v": 1, "id": id, "phase": phase }),
            None => json!({ "v": 1, "id": id }),
        }
        .to_string()
    }

    /// Reads the stored form, and the plain id that older versions of pi wrote.
    fn parse(stored: &str) -> Self {
        let mut read: Self = serde_json::from_str(stored).unwrap_or_else(|_| Self {
            id: Some(stored.to_owned()),
            phase: None,
        });
        read.phase
            .take_if(|phase| !matches!(phase.as_str(), "commentary" | "final_answer"));
        read
    }
}
