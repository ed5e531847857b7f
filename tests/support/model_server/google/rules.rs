//! What generateContent rejects, in its own words as far as we know them.

use serde_json::{Map, Value};

use super::super::record::Recorded;
use super::super::wire::Broken;
use super::{model_of, sign};

const TOP: [&str; 8] = [
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "serviceTier",
];
const GENERATION: [&str; 14] = [
    "temperature",
    "topP",
    "topK",
    "candidateCount",
    "maxOutputTokens",
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "thinkingConfig",
    "presencePenalty",
    "frequencyPenalty",
    "seed",
    "mediaResolution",
];
/// A part has exactly one of these.
const DATA: [&str; 7] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
];
const BESIDE: [&str; 4] = [
    "thought",
    "thoughtSignature",
    "partMetadata",
    "mediaResolution",
];
/// The vendor accepts these in place of a missing signature.
const SKIP: [&str; 2] = [
    "skip_thought_signature_validator",
    "context_engineering_is_the_way_to_go",
];

type Check = Result<(), String>;

/// Checks a request against the rules.
pub fn check(request: &Recorded) -> Result<(), Broken> {
    let query = request.path.split_once('?').map_or("", |(_, query)| query);
    if query.contains("key=") {
        return Err((400, "a key has no place in an address".to_owned()));
    }
    if query != "alt=sse" {
        return Err((400, "alt: this server only streams events".to_owned()));
    }
    if request.header("x-goog-api-key").is_none_or(str::is_empty) {
        return Err((
            403,
            "Method doesn't allow unregistered callers (callers without established identity). \
             Please use API Key or other form of API consumer identity to call this API."
                .to_owned(),
        ));
    }
    let json = |kind: &str| kind.starts_with("application/json");
    if !request.header("content-type").is_some_and(json) {
        return Err((400, "Unsupported content type".to_owned()));
    }
    let model = model_of(&request.path).unwrap_or_default();
    check_body(&request.body, model).map_err(|message| (400, message))
}

fn check_body(body: &Value, model: &str) -> Check {
    let Some(fields) = body.as_object() else {
        return Err("Invalid JSON payload received.".to_owned());
    };
    known(fields, &TOP, "")?;
    generation(&body["generationConfig"], model)?;
    let offered = tools(&body["tools"])?;
    if body.get("toolConfig").is_some() && !offered {
        return Err("Function calling config is set without function_declarations.".to_owned());
    }
    if let Some(system) = body.get("systemInstruction") {
        parts(system, "system_instruction")?;
    }
    contents(&body["contents"], model)
}

fn known(fields: &Map<String, Value>, names: &[&str], place: &str) -> Check {
    match fields.keys().find(|name| !names.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(format!(
            "Invalid JSON payload received. Unknown name \"{name}\"{}: Cannot find field.",
            if place.is_empty() {
                String::new()
            } else {
                format!(" at '{place}'")
            }
        )),
    }
}

/// True for models of the third generation or later.
fn third(model: &str) -> bool {
    let version = model.split("gemini-").nth(1).unwrap_or_default();
    let major = version.split(['.', '-']).next().unwrap_or_default();
    major
        .parse::<u32>()
        .map_or(version.contains("latest"), |major| major >= 3)
}

fn generation(config: &Value, model: &str) -> Check {
    let Some(fields) = config.as_object() else {
        return Ok(());
    };
    known(fields, &GENERATION, "generation_config")?;
    if let Some(limit) = fields.get("maxOutputTokens")
        && limit.as_u64().is_none_or(|limit| limit == 0)
    {
        return Err("max_output_tokens must be positive".to_owned());
    }
    let Some(thinking) = fields.get("thinkingConfig").and_then(Value::as_object) else {
        return Ok(());
    };
    let place = "generation_config.thinking_config";
    known(
        thinking,
        &["includeThoughts", "thinkingBudget", "thinkingLevel"],
        place,
    )?;
    match (
        thinking.get("thinkingBudget"),
        thinking.get("thinkingLevel"),
    ) {
        (Some(_), Some(_)) => {
            Err("You can only set only one of thinking budget and thinking level.".to_owned())
        }
        (None, Some(level)) => {
            if !third(model) && model.contains("gemini-") {
                return Err("Thinking level is not supported for this model.".to_owned());
            }
            let levels = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];
            if !level.as_str().is_some_and(|level| levels.contains(&level)) {
                return Err(format!(
                    "Invalid value at '{place}.thinking_level': {level}"
                ));
            }
            Ok(())
        }
        (Some(budget), None) => match budget.as_i64() {
            Some(0) if model.contains("2.5-pro") => {
                Err("Budget 0 is invalid. This model only works in thinking mode.".to_owned())
            }
            Some(-1..=32_768) => Ok(()),
            _ => Err(format!("The thinking budget {budget} is invalid.")),
        },
        (None, None) => Ok(()),
    }
}

/// Checks the declarations. Returns whether there are any.
fn tools(tools: &Value) -> Result<bool, String> {
    let mut names: Vec<&str> = Vec::new();
    for (at, tool) in tools.as_array().into_iter().flatten().enumerate() {
        let place = format!("tools[{at}].function_declarations");
        let fields = tool.as_object().ok_or("tools: not an object")?;
        known(fields, &["functionDeclarations"], &format!("tools[{at}]"))?;
        let list = tool["functionDeclarations"].as_array();
        let list = list
            .filter(|list| !list.is_empty())
            .ok_or(format!("{place}: must not be empty"))?;
        for (index, declaration) in list.iter().enumerate() {
            let place = format!("{place}[{index}]");
            let fields = declaration
                .as_object()
                .ok_or(format!("{place}: not an object"))?;
            let fine = [
                "name",
                "description",
                "parameters",
                "parametersJsonSchema",
                "response",
                "responseJsonSchema",
                "behavior",
            ];
            known(fields, &fine, &place)?;
            let name = declaration["name"].as_str().unwrap_or_default();
            function_name(name, &place)?;
            if names.contains(&name) {
                return Err(format!("Duplicate function declaration found: {name}"));
            }
            names.push(name);
            let schema = match (fields.get("parameters"), fields.get("parametersJsonSchema")) {
                (Some(_), Some(_)) => {
                    return Err(format!(
                        "{place}: parameters and parameters_json_schema are mutually exclusive"
                    ));
                }
                (Some(schema), None) => {
                    open_api(schema, &format!("{place}.parameters"))?;
                    schema
                }
                (None, Some(schema)) => schema,
                (None, None) => continue,
            };
            let kind = schema["type"].as_str().unwrap_or_default();
            if !kind.eq_ignore_ascii_case("object") {
                return Err(format!(
                    "* GenerateContentRequest.{place}.parameters: schema must be of type OBJECT"
                ));
            }
        }
    }
    Ok(!names.is_empty())
}

/// Checks that a schema uses only the subset of JSON Schema that `parameters` supports.
fn open_api(schema: &Value, place: &str) -> Check {
    let fine = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "default",
        "items",
        "minItems",
        "maxItems",
        "enum",
        "properties",
        "propertyOrdering",
        "required",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "example",
        "anyOf",
    ];
    let Some(fields) = schema.as_object() else {
        return Ok(());
    };
    known(fields, &fine, place)?;
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        open_api(inner, &format!("{place}.properties[{name}]"))?;
    }
    open_api(&schema["items"], &format!("{place}.items"))
}

fn function_name(name: &str, place: &str) -> Check {
    let first = name
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let rest = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    if first && name.len() <= 64 && name.chars().all(rest) {
        return Ok(());
    }
    Err(format!(
        "* GenerateContentRequest.{place}.name: Invalid function name. Must start with a letter or \
         an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), \
         or dashes (-), with a maximum length of 64."
    ))
}

fn contents(contents: &Value, model: &str) -> Check {
    let contents = contents.as_array().map_or(&[][..], Vec::as_slice);
    if contents.is_empty() {
        return Err("* GenerateContentRequest.contents: contents is not specified".to_owned());
    }
    let mut before = "model";
    let mut open: Vec<Called> = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        let place = format!("contents[{at}]");
        let fields = content.as_object().ok_or("contents: not an object")?;
        known(fields, &["role", "parts"], &place)?;
        let role = content["role"].as_str().unwrap_or_default();
        if role != "user" && role != "model" {
            return Err("Please use a valid role: user, model.".to_owned());
        }
        if role == before {
            return Err(
                "Please ensure that multiturn requests alternate between user and model."
                    .to_owned(),
            );
        }
        before = role;
        let parts = parts(content, &place)?;
        if role == "model" {
            open = said(parts, at, model)?;
        } else {
            answered(parts, std::mem::take(&mut open), model)?;
        }
    }
    if before == "model" {
        return Err("Please ensure that the request ends with a user role.".to_owned());
    }
    Ok(())
}

/// Checks the form of a content's parts.
fn parts<'a>(content: &'a Value, place: &str) -> Result<&'a [Value], String> {
    let parts = content["parts"].as_array().map_or(&[][..], Vec::as_slice);
    if parts.is_empty() {
        return Err(format!(
            "* GenerateContentRequest.{place}.parts: contents.parts must not be empty."
        ));
    }
    let names: Vec<&str> = DATA.into_iter().chain(BESIDE).collect();
    for (at, part) in parts.iter().enumerate() {
        let place = format!("{place}.parts[{at}]");
        let fields = part.as_object().ok_or(format!("{place}: not an object"))?;
        known(fields, &names, &place)?;
        let data = DATA.iter().filter(|name| fields.contains_key(**name));
        if data.count() != 1 {
            return Err(format!(
                "* GenerateContentRequest.{place}.data: required oneof field 'data' must have one \
                 initialized field"
            ));
        }
        let signature = part["thoughtSignature"].as_str();
        if part["text"] == "" && signature.is_none() {
            return Err(format!("{place}: an empty text says nothing"));
        }
        if let Some(signature) = signature {
            base64(signature, &format!("{place}.thought_signature"))?;
        }
        if let Some(blob) = part.get("inlineData") {
            picture(blob, &format!("{place}.inline_data"))?;
        }
    }
    Ok(parts)
}

fn base64(text: &str, place: &str) -> Check {
    let fine = |c: char| c.is_ascii_alphanumeric() || "+/-_=".contains(c);
    if !text.is_empty() && text.chars().all(fine) {
        return Ok(());
    }
    Err(format!(
        "Invalid value at '{place}' (TYPE_BYTES), Base64 decoding failed for \"{text}\""
    ))
}

fn picture(blob: &Value, place: &str) -> Check {
    let kind = blob["mimeType"].as_str().unwrap_or_default();
    let fine = ["png", "jpeg", "webp", "heic", "heif"];
    if !fine.iter().any(|it| kind == format!("image/{it}")) {
        return Err(format!("Unsupported MIME type: {kind}"));
    }
    base64(blob["data"].as_str().unwrap_or_default(), place)
}

struct Called {
    name: String,
    id: Option<String>,
}

/// Checks the parts of the model's own content and returns its calls.
fn said(parts: &[Value], at: usize, model: &str) -> Result<Vec<Called>, String> {
    let mut calls = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let signature = part["thoughtSignature"].as_str();
        let call = part.get("functionCall");
        if let Some(signature) = signature.filter(|it| !SKIP.contains(it)) {
            let known = match call {
                Some(call) => {
                    let name = call["name"].as_str().unwrap_or_default();
                    sign("call", name, &call["args"]) == signature
                }
                None => sign("text", "", &part["text"]) == signature,
            };
            if !known {
                return Err("Thought signature is not valid.".to_owned());
            }
        }
        if part.get("functionResponse").is_some() || part.get("inlineData").is_some() {
            return Err(format!(
                "contents[{at}].parts[{index}]: not for the role 'model'"
            ));
        }
        let Some(call) = call else { continue };
        let place = format!("contents[{at}].parts[{index}].function_call");
        let fields = call.as_object().ok_or(format!("{place}: not an object"))?;
        known(fields, &["id", "name", "args"], &place)?;
        let name = call["name"].as_str().unwrap_or_default();
        function_name(name, &place)?;
        if !call["args"].is_object() {
            return Err(format!("Invalid value at '{place}.args'"));
        }
        if calls.is_empty() && third(model) && signature.is_none() {
            return Err(format!(
                "Function call is missing a thought_signature in functionCall parts. This is \
                 required for tools to work correctly, and missing thought_signature may lead to \
                 degraded model performance. Additional data, function call `default_api:{name}` , \
                 position {at}. Please refer to \
                 https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            ));
        }
        calls.push(Called {
            name: name.to_owned(),
            id: call["id"].as_str().map(str::to_owned),
        });
    }
    Ok(calls)
}

/// Checks that a user content answers all `open` calls, by name and, if they have one, by id.
fn answered(parts: &[Value], mut open: Vec<Called>, model: &str) -> Check {
    let responses = parts.iter().filter_map(|part| part.get("functionResponse"));
    let (calls, mut count) = (open.len(), 0);
    for response in responses {
        count += 1;
        let place = "function_response";
        let fields = response
            .as_object()
            .ok_or("function_response: not an object")?;
        known(
            fields,
            &[
                "id",
                "name",
                "response",
                "parts",
                "willContinue",
                "scheduling",
            ],
            place,
        )?;
        if !response["response"].is_object() {
            return Err(format!("{place}.response: must be an object"));
        }
        let pictures = response["parts"].as_array().map_or(&[][..], Vec::as_slice);
        if !pictures.is_empty() && !third(model) {
            return Err(
                "Multimodal function responses are not supported by this model.".to_owned(),
            );
        }
        for part in pictures {
            picture(&part["inlineData"], "function_response.parts")?;
        }
        let name = response["name"].as_str().unwrap_or_default();
        let id = response["id"].as_str();
        let at = open
            .iter()
            .position(|call| call.name == name && call.id.as_deref() == id);
        match at {
            Some(at) => drop(open.remove(at)),
            None if calls == 0 => {
                return Err(
                    "Please ensure that function response turn comes immediately after a function \
                     call turn."
                        .to_owned(),
                );
            }
            None => {
                return Err(format!(
                    "no function call waits for a response of the name '{name}' and the id {id:?}"
                ));
            }
        }
    }
    if parts
        .iter()
        .any(|part| part.get("functionCall").is_some() || part["thought"] == Value::Bool(true))
    {
        return Err("a part of the model's in the role 'user'".to_owned());
    }
    if count != calls {
        return Err(
            "Please ensure that the number of function response parts is equal to the number of \
             function call parts of the function call turn."
                .to_owned(),
        );
    }
    Ok(())
}
