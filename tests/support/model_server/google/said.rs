//! The conversation in a generateContent request, independent of the vendor.

use serde_json::Value;

use super::super::record::Said;

/// The conversation in a request.
pub fn said(body: &Value) -> Vec<Said> {
    let mut said = Vec::new();
    let system = texts(parts(&body["systemInstruction"]), false);
    if !system.is_empty() {
        said.push(Said::System(system));
    }
    for content in body["contents"].as_array().into_iter().flatten() {
        if content["role"] == "model" {
            let calls = parts(content).filter_map(|part| {
                let call = part.get("functionCall")?;
                let name = call["name"].as_str().unwrap_or_default();
                Some((name.to_owned(), call["args"].clone()))
            });
            said.push(Said::Assistant {
                text: texts(parts(content), false),
                thinking: texts(parts(content), true),
                calls: calls.collect(),
            });
            continue;
        }
        for result in parts(content).filter_map(|part| part.get("functionResponse")) {
            let response = &result["response"];
            let text = response["output"].as_str().or(response["error"].as_str());
            let id = result["id"].as_str().or(result["name"].as_str());
            said.push(Said::Result {
                id: id.unwrap_or_default().to_owned(),
                text: text.unwrap_or_default().to_owned(),
                images: result["parts"].as_array().map_or(0, Vec::len),
                is_error: Some(!response["error"].is_null()),
            });
        }
        let text = texts(parts(content), false);
        if !text.is_empty() {
            said.push(Said::User(text));
        }
    }
    said
}

fn parts(content: &Value) -> impl Iterator<Item = &Value> {
    content["parts"].as_array().into_iter().flatten()
}

fn texts<'a>(parts: impl Iterator<Item = &'a Value>, thought: bool) -> String {
    let texts: Vec<&str> = parts
        .filter(|part| (part["thought"] == Value::Bool(true)) == thought)
        .filter_map(|part| part["text"].as_str())
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n")
}
