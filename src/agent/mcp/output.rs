//! What the model and the user get of a call's result.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::tool::{CommandDetails, Details, OtherDetails, ToolContext, ToolOutput};
use crate::tools::{CommandOutput, ToolSettings, image_of};
use tiller_llm::Content;

/// Turns the result of `tools/call` into an output: texts and pictures, and anything else as JSON. A long
/// text is cut like that of a command.
pub(super) async fn to_output(
    result: &Value,
    title: &str,
    settings: &ToolSettings,
    context: &ToolContext,
) -> ToolOutput {
    let (mut texts, mut pictures) = (Vec::new(), Vec::new());
    for block in result["content"].as_array().into_iter().flatten() {
        match picture(block) {
            Some(Ok(picture)) => pictures.push(picture),
            Some(Err(why)) => texts.push(format!("[a picture that can't be read: {why}]")),
            None => texts.push(text_of(block)),
        }
    }
    if texts.is_empty() && pictures.is_empty() {
        texts.extend(result.get("structuredContent").map(Value::to_string));
    }
    let text = cut(&texts.join("\n"), settings, context).await;
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(Content::text(text.clone()));
    }
    content.extend(pictures);
    ToolOutput {
        content,
        details: Details::Other(OtherDetails {
            title: title.to_owned(),
            value: text.into(),
        }),
        is_error: result["isError"] == true,
    }
}

/// The text of a block, or the block as JSON.
pub(super) fn text_of(block: &Value) -> String {
    let text = match block["type"].as_str() {
        Some("text") => block["text"].as_str(),
        Some("resource") => block["resource"]["text"].as_str(),
        _ => None,
    };
    text.map_or_else(|| block.to_string(), str::to_owned)
}

pub(super) fn picture(block: &Value) -> Option<Result<Content, String>> {
    let data = block["data"]
        .as_str()
        .filter(|_| block["type"] == "image")?;
    let bytes = match BASE64_STANDARD.decode(data) {
        Ok(bytes) => bytes,
        Err(error) => return Some(Err(error.to_string())),
    };
    let image = image_of(&bytes).unwrap_or_else(|| Err("an unknown format".to_owned()));
    Some(image.map(Content::Image))
}

async fn cut(text: &str, settings: &ToolSettings, context: &ToolContext) -> String {
    let mut output = CommandOutput::new(settings, context.spill_file.clone(), &context.redactor);
    output.push(text.as_bytes()).await;
    let mut details = CommandDetails::default();
    let mut lines = output.finish(Vec::new(), &mut details).await;
    if !details.output.is_empty() {
        lines.insert(0, details.output);
    }
    lines.join("\n")
}
