//! Builds a generateContent request from our conversation.
//!
//! `handoff` makes the conversation valid (pairs of calls and results, roles, ids), and `thinking` knows
//! what a model accepts. This module handles only the form.
//!
//! It declares tools with `parametersJsonSchema`. Both of Google's hosts accept any JSON Schema there;
//! the older `parameters` supports only a part of it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use super::LOCAL_ID_PREFIX;
use super::thinking::{self, ThinkingConfig};
use crate::handoff::{self, SentBlock, ToolResult, Turn};
use crate::http;
use crate::message::{self, Image};
use crate::model::Model;
use crate::provider::Request;
use crate::quirks::{IdRule, Quirks};
use crate::request_size;

/// Google's documented signature for a call from another model.
const SKIP_SIGNATURE: &str = "skip_thought_signature_validator";

/// The URL for requests to `model`. On Vertex the version comes before the project's path.
pub(crate) fn url(model: &Model) -> String {
    let version = |segment: &str| {
        let mut chars = segment.chars();
        chars.next() == Some('v') && chars.next().is_some_and(|c| c.is_ascii_digit())
    };
    let versioned = model.base_url.split('/').skip(3).any(version);
    let version = if versioned { "" } else { "/v1beta" };
    let id = &model.id;
    let name = id.strip_prefix("models/").unwrap_or(id);
    let name = http::percent_encoded(name, b"-_.~@/");
    let kind = if name.starts_with("tunedModels/") {
        ""
    } else {
        "models/"
    };
    let path = format!("{version}/{kind}{name}:streamGenerateContent");
    http::join(&model.base_url, &path) + "?alt=sse"
}

/// The request's JSON.
pub fn body(request: &Request) -> Vec<u8> {
    let quirks = &request.model.quirks;
    let turns = handoff::to_turns(request, request.thinking_from, IdRule::Google);
    let limit = request_size::max_output(request, &turns);
    let declarations = request.tools.iter().map(|tool| Declaration {
        name: function_name(&tool.name),
        description: &tool.description,
        parameters_json_schema: &tool.parameters,
    });
    let declarations: Vec<_> = declarations.collect();
    let tools = !declarations.is_empty();
    let system = request.system_prompt().map(|text| System {
        parts: [Part::text(text)],
    });
    let body = Body {
        system_instruction: system,
        contents: contents(&turns, quirks),
        tools: tools.then_some([Tools {
            function_declarations: declarations,
        }]),
        tool_config: tools.then(|| json!({ "functionCallingConfig": { "mode": "AUTO" } })),
        generation_config: GenerationConfig {
            max_output_tokens: limit,
            thinking_config: thinking::config(&request.model, request.thinking, limit),
        },
    };
    request_size::to_json(&body, request, &turns)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<System<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    generation_config: GenerationConfig,
}

#[derive(Serialize)]
struct System<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    max_output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

/// One of its four contents, with optional fields.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<Blob<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    args: Cow<'a, Value>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    response: Response<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Response<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

impl<'a> Part<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    fn image(image: &'a Image) -> Self {
        Self {
            inline_data: Some(Blob {
                mime_type: &image.mime_type,
                data: &image.data,
            }),
            ..Self::default()
        }
    }
}

/// Results and user messages both have the role `user` here, so neighbors become one content.
fn contents<'a>(turns: &'a [Turn<'a>], quirks: &Quirks) -> Vec<Content<'a>> {
    let mut contents: Vec<Content<'a>> = Vec::new();
    for turn in turns {
        let (role, mut parts): (_, Vec<Part>) = match turn {
            Turn::User(content) => ("user", content.iter().map(|it| part(it, quirks)).collect()),
            Turn::Assistant(content) => ("model", answer(content, quirks)),
            Turn::Results(results) => ("user", tool_results(results, quirks)),
            Turn::Effort(_) => continue,
        };
        match contents.last_mut() {
            Some(last) if last.role == role => last.parts.append(&mut parts),
            _ => contents.push(Content { role, parts }),
        }
    }
    contents
}

/// The model's parts. Since Gemini 3, the first call of each turn needs a signature. The API checks only
/// the current turn, but what we write must not depend on later messages.
fn answer<'a>(content: &'a [SentBlock<'a>], quirks: &Quirks) -> Vec<Part<'a>> {
    let mut parts: Vec<Part> = content.iter().map(|it| part(it, quirks)).collect();
    let first = parts.iter_mut().find(|part| part.function_call.is_some());
    if let (Some(part), true) = (first, quirks.call_signatures) {
        part.thought_signature.get_or_insert(SKIP_SIGNATURE);
    }
    parts
}

fn part<'a>(content: &'a SentBlock<'a>, quirks: &Quirks) -> Part<'a> {
    match content.as_ref() {
        message::Content::Text(text) => Part {
            thought_signature: signature(text.text_signature.as_ref()),
            ..Part::text(text.text.as_str())
        },
        message::Content::Thinking(thinking) => Part {
            thought: true,
            thought_signature: signature(thinking.thinking_signature.as_ref()),
            ..Part::text(thinking.thinking.as_str())
        },
        message::Content::Image(image) => Part::image(image),
        message::Content::ToolCall(call) => Part {
            function_call: Some(FunctionCall {
                id: id(&call.id, quirks),
                name: function_name(&call.name),
                args: call.argument_object(),
            }),
            thought_signature: signature(call.thought_signature.as_ref())
                .filter(|_| function_name(&call.name) == call.name),
            ..Part::default()
        },
    }
}

/// The results of one answer's calls. Their images go inside them, or after all of them if the model
/// doesn't support that.
fn tool_results<'a>(results: &'a [ToolResult<'a>], quirks: &Quirks) -> Vec<Part<'a>> {
    let mut parts = Vec::with_capacity(results.len());
    let mut behind = Vec::new();
    for result in results {
        let text = result.text_or("(see the image)");
        let mut images: Vec<Part> = result.images().map(Part::image).collect();
        if !quirks.result_images {
            behind.append(&mut images);
        }
        parts.push(Part {
            function_response: Some(FunctionResponse {
                id: id(&result.id, quirks),
                name: function_name(&result.call.name),
                response: if result.is_error {
                    Response::Error(text)
                } else {
                    Response::Output(text)
                },
                parts: images,
            }),
            ..Part::default()
        });
    }
    if !behind.is_empty() {
        parts.push(Part::text(handoff::IMAGES_ABOVE));
        parts.append(&mut behind);
    }
    parts
}

/// The id to send back, or `None` if the server gave none.
fn id<'a>(id: &'a str, quirks: &Quirks) -> Option<&'a str> {
    (quirks.call_ids && !id.starts_with(LOCAL_ID_PREFIX)).then_some(id)
}

/// A valid signature: the field must be base64, or the API refuses the whole request.
fn signature(signature: Option<&String>) -> Option<&str> {
    let signature = signature?.as_str();
    let bare = signature.trim_end_matches('=');
    let digit = |c: char| c.is_ascii_alphanumeric() || "+/-_".contains(c);
    let whole = signature.len().is_multiple_of(4) && signature.len() - bare.len() <= 2;
    (!bare.is_empty() && whole && bare.chars().all(digit)).then_some(signature)
}

/// A name that all APIs accept. Here it can't start with a digit or a dot.
fn function_name(name: &str) -> Cow<'_, str> {
    let name = handoff::valid_name(name);
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return name;
    }
    let kept: String = name.chars().take(63).collect();
    Cow::Owned(format!("_{kept}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Api;

    #[test]
    fn the_address_forgives_the_usual_slips() {
        for (base, model, path) in [
            ("", "m", "/v1beta/models/m"),
            ("/", "m", "/v1beta/models/m"),
            ("/v1beta", "m", "/v1beta/models/m"),
            ("/v1beta/", "models/m", "/v1beta/models/m"),
            ("/v1beta/v1beta", "m", "/v1beta/models/m"),
            ("/v1", "m", "/v1/models/m"),
            ("/v1/projects/p", "m", "/v1/projects/p/models/m"),
            (
                "/gemini",
                "tunedModels/x-1",
                "/gemini/v1beta/tunedModels/x-1",
            ),
            ("", "a b?key=1#é", "/v1beta/models/a%20b%3Fkey%3D1%23%C3%A9"),
        ] {
            let expected = format!("http://h:80{path}:streamGenerateContent?alt=sse");
            let base = format!("http://h:80{base}");
            let model = Model::new("google", model, Api::GoogleGenerateContent, &base);
            assert_eq!(url(&model), expected);
        }
    }
}
