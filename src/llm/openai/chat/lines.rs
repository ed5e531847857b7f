//! The turns of a conversation as the messages of a Chat Completions request.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::reasoning::{FIELDS, Form};
use crate::llm::handoff::{ToolResult, Turn, wire_name};
use crate::llm::message::{Content, Thinking, ToolCall};
use crate::llm::provider::Request;
use crate::llm::quirks::Quirks;

/// The field of `reasoning_details`.
const DETAILS: &str = "reasoning_details";
/// What a model is made to say where its words must stand between results and a person's.
const READ: &str = "I have read the results.";

/// The messages `turns` come down to, behind the system prompt.
pub fn of<'a>(turns: &'a [Turn<'a>], request: &'a Request, quirks: &Quirks) -> Vec<Line<'a>> {
    let mut lines = Vec::with_capacity(turns.len() + 1);
    if !request.system.trim().is_empty() {
        let developer = quirks.developer_role && request.model.reasoning;
        lines.push(Line {
            content: Some(Words::Plain(Cow::Borrowed(&request.system))),
            ..Line::new(if developer { "developer" } else { "system" })
        });
    }
    for turn in turns {
        match turn {
            Turn::User(content) => person(user(content), quirks, &mut lines),
            Turn::Assistant(content) => lines.push(assistant(content, request, quirks)),
            Turn::Results(answers) => results(answers, quirks, &mut lines),
        }
    }
    if quirks.cache_marks {
        mark(&mut lines);
    }
    lines
}

/// One message.
#[derive(Serialize)]
pub struct Line<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    content: Option<Words<'a>>,
    /// Reasoning, under the name it came by.
    #[serde(flatten)]
    reasoning: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Function<'a>>,
}

impl Line<'_> {
    fn new(role: &'static str) -> Self {
        Self {
            role,
            name: None,
            tool_call_id: None,
            content: None,
            reasoning: Map::new(),
            tool_calls: Vec::new(),
        }
    }

    /// Adds to the reasoning in `field`.
    fn think(&mut self, field: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let said = self.reasoning.entry(field);
        if let Value::String(said) = said.or_insert_with(|| Value::String(String::new())) {
            said.push_str(text);
        }
    }

    /// Adds to the details of the reasoning.
    fn details(&mut self, mut details: Vec<Value>) {
        let all = self.reasoning.entry(DETAILS);
        if let Value::Array(all) = all.or_insert_with(|| Value::Array(Vec::new())) {
            all.append(&mut details);
        }
    }
}

/// Plain text where it will do: the templates of small servers know nothing else.
#[derive(Serialize)]
#[serde(untagged)]
enum Words<'a> {
    Plain(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Value>,
    },
    ImageUrl {
        image_url: Url,
    },
    Thinking {
        thinking: [Box<Part<'a>>; 1],
    },
}

impl<'a> Part<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text {
            text: text.into(),
            cache_control: None,
        }
    }
}

#[derive(Serialize)]
struct Url {
    url: String,
}

fn user<'a>(content: &'a [Cow<'a, Content>]) -> Line<'a> {
    let pictures = content
        .iter()
        .any(|block| matches!(block.as_ref(), Content::Image(_)));
    let words = if pictures {
        Words::Parts(content.iter().filter_map(|block| part(block)).collect())
    } else {
        Words::Plain(joined(content))
    };
    Line {
        content: Some(words),
        ..Line::new("user")
    }
}

fn part(block: &Content) -> Option<Part<'_>> {
    match block {
        Content::Text(text) => Some(Part::text(text.text.as_str())),
        Content::Image(image) => Some(Part::ImageUrl {
            image_url: Url {
                url: format!("data:{};base64,{}", image.mime_type, image.data),
            },
        }),
        Content::Thinking(_) | Content::ToolCall(_) => None,
    }
}

fn assistant<'a>(content: &'a [Cow<'a, Content>], request: &Request, quirks: &Quirks) -> Line<'a> {
    let mut line = Line::new("assistant");
    let mut thoughts = Vec::new();
    let mut tagged = String::new();
    for block in content {
        match block.as_ref() {
            Content::Thinking(thinking) => match form(thinking, quirks) {
                Some(Form::Field(field)) => line.think(field, &thinking.thinking),
                Some(Form::Details(details)) => line.details(details),
                Some(Form::Parts) if !thinking.thinking.is_empty() => {
                    let text = Box::new(Part::text(&thinking.thinking));
                    thoughts.push(Part::Thinking { thinking: [text] });
                }
                Some(Form::Tags) => {
                    let said = format!("<think>\n{}\n</think>\n\n", thinking.thinking.trim_end());
                    tagged.push_str(&said);
                }
                Some(Form::Parts) | None => {}
            },
            Content::ToolCall(call) => line.tool_calls.push(Function::call(call)),
            Content::Text(_) | Content::Image(_) => {}
        }
    }
    let mut text = joined(content);
    if !tagged.is_empty() {
        text = Cow::Owned(tagged + &text);
    }
    if !thoughts.is_empty() {
        if !text.is_empty() {
            thoughts.push(Part::text(text));
        }
        line.content = Some(Words::Parts(thoughts));
    } else if !text.is_empty() || line.tool_calls.is_empty() {
        // Servers differ on null beside nothing else; an empty text is understood by all.
        line.content = Some(Words::Plain(text));
    }
    if line.reasoning.contains_key(DETAILS) {
        // They say it all, and more exactly.
        line.reasoning.retain(|field, _| field == DETAILS);
    }
    if quirks.reasoning_always && request.model.reasoning && !line.reasoning.contains_key(FIELDS[0])
    {
        // An empty one counts as none.
        line.think(FIELDS[0], " ");
    }
    line
}

fn form(thinking: &Thinking, quirks: &Quirks) -> Option<Form> {
    let form = Form::of(thinking.thinking_signature.as_deref()?)?;
    Some(match form {
        Form::Field(_) if quirks.reasoning_parts => Form::Parts,
        form => form,
    })
}

/// Results take text only; their pictures follow as the person's.
fn results<'a>(answers: &'a [ToolResult<'a>], quirks: &Quirks, lines: &mut Vec<Line<'a>>) {
    let mut pictures = Vec::new();
    for answer in answers {
        let images = answer
            .content
            .iter()
            .filter(|block| matches!(block.as_ref(), Content::Image(_)));
        let count = pictures.len();
        pictures.extend(images.filter_map(|block| part(block)));
        let mut text = joined(&answer.content);
        if text.is_empty() && pictures.len() > count {
            text = Cow::Borrowed("(see the image below)");
        }
        let name = quirks.result_names.then(|| wire_name(&answer.call.name));
        lines.push(Line {
            name,
            tool_call_id: Some(&answer.id),
            content: Some(Words::Plain(text)),
            ..Line::new("tool")
        });
    }
    if !pictures.is_empty() {
        pictures.insert(0, Part::text("Images of the tool results above:"));
        let line = Line {
            content: Some(Words::Parts(pictures)),
            ..Line::new("user")
        };
        person(line, quirks, lines);
    }
}

/// Adds what a person says.
fn person<'a>(line: Line<'a>, quirks: &Quirks, lines: &mut Vec<Line<'a>>) {
    let after_results = lines.last().is_some_and(|last| last.role == "tool");
    if quirks.answer_after_results && after_results {
        lines.push(Line {
            content: Some(Words::Plain(Cow::Borrowed(READ))),
            ..Line::new("assistant")
        });
    }
    lines.push(line);
}

fn joined<'a>(content: &'a [Cow<'a, Content>]) -> Cow<'a, str> {
    let mut texts = content.iter().filter_map(|block| match block.as_ref() {
        Content::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(one), None) => Cow::Borrowed(one),
        (Some(one), Some(two)) => {
            let mut all = format!("{one}\n\n{two}");
            for text in texts {
                all.push_str("\n\n");
                all.push_str(text);
            }
            Cow::Owned(all)
        }
    }
}

/// Anthropic's marks behind a reseller: on the system prompt, and on the last line before each of the
/// last two answers, the coming one included.
fn mark(lines: &mut [Line]) {
    let mut ends = 0;
    let mut answered = true;
    for line in lines.iter_mut().rev() {
        let last = std::mem::replace(&mut answered, line.role == "assistant");
        match line.role {
            "assistant" => {}
            "system" => mark_line(line),
            _ if last && ends < 2 => {
                ends += 1;
                mark_line(line);
            }
            _ => {}
        }
    }
}

fn mark_line(line: &mut Line) {
    let Some(words) = line.content.take() else {
        return;
    };
    let mut parts = match words {
        Words::Plain(text) => vec![Part::text(text)],
        Words::Parts(parts) => parts,
    };
    let texts = parts.iter_mut().rev().find_map(|part| match part {
        Part::Text { cache_control, .. } => Some(cache_control),
        Part::ImageUrl { .. } | Part::Thinking { .. } => None,
    });
    if let Some(cache_control) = texts {
        *cache_control = Some(json!({ "type": "ephemeral" }));
    }
    line.content = Some(Words::Parts(parts));
}

/// A tool on offer, or a call of one.
#[derive(Serialize)]
pub struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    r#type: &'static str,
    function: FunctionBody<'a>,
}

#[derive(Serialize)]
struct FunctionBody<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
}

impl<'a> Function<'a> {
    /// A tool on offer.
    pub fn declare(name: &'a str, description: &'a str, parameters: &'a Value) -> Self {
        let function = FunctionBody {
            name,
            description: Some(description),
            parameters: Some(parameters),
            arguments: None,
        };
        Self {
            id: None,
            r#type: "function",
            function,
        }
    }

    fn call(call: &'a ToolCall) -> Self {
        let function = FunctionBody {
            name: &call.name,
            description: None,
            parameters: None,
            arguments: Some(match &call.arguments {
                object @ Value::Object(_) => object.to_string(),
                _ => "{}".to_owned(),
            }),
        };
        Self {
            id: Some(&call.id),
            r#type: "function",
            function,
        }
    }
}
