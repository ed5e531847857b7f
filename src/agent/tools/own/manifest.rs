//! The manifest of a tool of the user: TOML, in a file beside the program or in comments at its head.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::settings::ToolSettings;
use crate::schema::validator;

/// The longest name in characters.
const MAX_NAME: usize = 64;
/// The longest timeout of a call in seconds.
const MAX_TIMEOUT: u64 = 3_600;
/// The longest description in bytes: every request has it.
const MAX_DESCRIPTION: usize = 8_000;
/// The longest schema in bytes of JSON: every request has it.
const MAX_SCHEMA: usize = 16 * 1024;
/// Keywords that Anthropic or OpenAI refuse at the top of a schema.
const CHOICES: [&str; 5] = ["anyOf", "oneOf", "allOf", "enum", "not"];
/// Keywords whose values are no schemas.
const DATA: [&str; 4] = ["default", "const", "enum", "examples"];
/// How comments begin, before a space.
const COMMENTS: [&str; 2] = ["#", "//"];

/// A program of the user that the model can call.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnTool {
    /// What the model calls it.
    pub name: String,
    /// For the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
    /// What it says that it does.
    pub declares: Declares,
    /// How long a call may take.
    pub timeout: Duration,
    /// The program's real path.
    pub program: PathBuf,
    /// A folder that commands usually can't see and a call of this tool can.
    pub folder: Option<PathBuf>,
    /// The program's first line, if that names what runs it.
    pub interpreter: String,
}

/// What a tool says that it does. The sandbox enforces it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Declares {
    /// It changes nothing.
    Reads,
    /// It changes files in the project, like a command.
    #[default]
    Writes,
    /// It uses the network too.
    Network,
}

impl Declares {
    /// Its name in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Network => "network",
        }
    }
}

/// A manifest as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    description: String,
    parameters: Option<toml::Value>,
    #[serde(default)]
    effects: Declares,
    timeout: Option<u64>,
}

/// Whether a tool can have this name: a small letter, then small letters, digits and `_`.
pub fn is_tool_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && (name.chars()).all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Parses the manifest of `program`, whose file name without extension is `stem`. `schema` reads the schema from
/// a file of this name.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(
    text: &str,
    stem: &str,
    program: PathBuf,
    schema: impl Fn(&str) -> Result<Value, String>,
) -> Result<OwnTool, String> {
    let written: Written = toml::from_str(text).map_err(|error| one_line(&error))?;
    let name = written.name.unwrap_or_else(|| stem.to_owned());
    if !is_tool_name(&name) {
        return Err(format!(
            "the name '{name}' doesn't fit: use a-z, 0-9 and _, begin with a letter, at most {MAX_NAME} characters"
        ));
    }
    if name.starts_with("mcp_") {
        return Err(format!(
            "the name '{name}' is one of MCP tools: choose another"
        ));
    }
    let description = written.description.trim().to_owned();
    if description.is_empty() {
        return Err(
            "the description is empty: say what the tool does, and when to use it".to_owned(),
        );
    }
    if description.len() > MAX_DESCRIPTION {
        return Err(format!(
            "the description is longer than {MAX_DESCRIPTION} bytes: shorten it"
        ));
    }
    let parameters = match written.parameters {
        None => json!({}),
        Some(toml::Value::String(file)) => schema(&file)?,
        Some(value) => serde_json::to_value(value).map_err(|error| error.to_string())?,
    };
    let usual = ToolSettings::default().bash_timeout_s;
    let timeout = written.timeout.unwrap_or(usual);
    if !(1..=MAX_TIMEOUT).contains(&timeout) {
        return Err(format!(
            "timeout = {timeout}: use 1 to {MAX_TIMEOUT} seconds"
        ));
    }
    Ok(OwnTool {
        name,
        description,
        parameters: checked_schema(parameters)?,
        declares: written.effects,
        timeout: Duration::from_secs(timeout),
        program,
        folder: None,
        interpreter: String::new(),
    })
}

/// Returns the manifest in the comments at the head of a program, between `# /// tool` and `# ///`.
///
/// # Errors
/// The block has no end, or a line in it is no comment.
pub(super) fn in_comments(head: &str) -> Result<Option<String>, String> {
    let mut lines = head.lines();
    let marker = |line: &str| {
        let begins = |mark: &&str| line.trim_end() == format!("{mark} /// tool");
        COMMENTS.into_iter().find(|mark| begins(mark))
    };
    let Some(mark) = lines.find_map(marker) else {
        return Ok(None);
    };
    let mut text = String::new();
    for line in lines {
        let line = line.trim_end();
        let Some(inner) = line.strip_prefix(mark) else {
            return Err(format!(
                "the block '{mark} /// tool' has no end: close it with '{mark} ///'"
            ));
        };
        let inner = inner.strip_prefix(' ').unwrap_or(inner);
        if inner == "///" {
            return Ok(Some(text));
        }
        text.push_str(inner);
        text.push('\n');
    }
    Err(format!(
        "the block '{mark} /// tool' has no end: close it with '{mark} ///'"
    ))
}

/// Checks that providers accept the schema: they refuse a whole request because of one bad tool.
fn checked_schema(schema: Value) -> Result<Value, String> {
    let Value::Object(mut map) = schema else {
        return Err("parameters: the schema must be an object".to_owned());
    };
    match map.get("type") {
        None => drop(map.insert("type".to_owned(), "object".into())),
        Some(kind) if kind == "object" => {}
        Some(kind) => {
            return Err(format!(
                "parameters: the schema has type = {kind}; write type = \"object\""
            ));
        }
    }
    if let Some(key) = CHOICES.into_iter().find(|key| map.contains_key(*key)) {
        return Err(format!(
            "parameters: providers refuse {key} at the top of a schema; remove it"
        ));
    }
    let properties = map.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(properties) = properties else {
        return Err("parameters.properties must be a table".to_owned());
    };
    if let Some(key) = bad_property(properties) {
        return Err(format!(
            "parameters.properties.{key}: write a table, and use letters, digits, '_', '.' and '-' in its name"
        ));
    }
    let schema = Value::Object(map);
    if schema.to_string().len() > MAX_SCHEMA {
        return Err(format!(
            "parameters: the schema is longer than {MAX_SCHEMA} bytes: shorten it"
        ));
    }
    if has_bare_array(&schema) {
        return Err(
            "parameters: OpenAI refuses type = \"array\" without items; add items".to_owned(),
        );
    }
    match validator(&schema) {
        Ok(_) => Ok(schema),
        Err(error) => Err(format!("parameters: not a JSON schema: {error}")),
    }
}

/// Whether an array in the schema doesn't say what it holds.
fn has_bare_array(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let is_array = map.get("type").is_some_and(|kind| kind == "array");
            let mut inner = map.iter().filter(|(key, _)| !DATA.contains(&&***key));
            is_array && !map.contains_key("items") || inner.any(|(_, it)| has_bare_array(it))
        }
        Value::Array(list) => list.iter().any(has_bare_array),
        _ => false,
    }
}

fn bad_property(properties: &Map<String, Value>) -> Option<&String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let is_good = |key: &str, value: &Value| {
        (1..=MAX_NAME).contains(&key.len()) && key.chars().all(fits) && value.is_object()
    };
    let mut bad = properties
        .iter()
        .filter(|(key, value)| !is_good(key, value));
    bad.next().map(|(key, _)| key)
}

/// The error without its quotation of the text.
fn one_line(error: &toml::de::Error) -> String {
    error.message().lines().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<OwnTool, String> {
        parse(text, "stem", "/bin/stem".into(), |file| match file {
            "schema.json" => Ok(json!({"type": "object", "properties": {"a": {"type": "string"}}})),
            _ => Err(format!("{file}: not there")),
        })
    }

    #[test]
    fn good_manifests_become_tools() {
        let tool = parsed("description = ' Does it. '").unwrap();
        assert_eq!((&*tool.name, &*tool.description), ("stem", "Does it."));
        assert_eq!(tool.parameters, json!({"type": "object", "properties": {}}));
        assert_eq!(tool.declares, Declares::Writes);
        assert_eq!(tool.timeout, Duration::from_mins(2));
        let text = "name = 'weather_2'\ndescription = 'x'\neffects = 'network'\ntimeout = 7\n\
            [parameters]\nrequired = ['city']\n[parameters.properties]\n\
            city = {type = 'string', description = 'a city'}\n";
        let tool = parsed(text).unwrap();
        assert_eq!(tool.name, "weather_2");
        assert_eq!(tool.parameters["properties"]["city"]["type"], "string");
        assert_eq!(tool.parameters["type"], "object");
        assert_eq!(tool.declares, Declares::Network);
        assert_eq!(tool.timeout, Duration::from_secs(7));
        let tool = parsed("description = 'x'\nparameters = 'schema.json'").unwrap();
        assert_eq!(tool.parameters["properties"]["a"]["type"], "string");
    }

    #[test]
    fn bad_manifests_have_clear_faults() {
        let long = format!("description = '{}'", "x".repeat(MAX_DESCRIPTION + 1));
        let large = "x".repeat(MAX_SCHEMA);
        let large = format!("description = 'x'\n[parameters]\ntitle = '{large}'");
        for (text, fault) in [
            ("", "missing field `description`"),
            ("description = ' '", "the description is empty"),
            (&long, "longer than 8000 bytes"),
            ("description = 'x", "invalid"),
            (
                "description = 'x'\neffect = 'reads'",
                "unknown field `effect`",
            ),
            (
                "description = 'x'\neffects = 'all'",
                "unknown variant `all`",
            ),
            ("description = 'x'\nname = 'Weather'", "doesn't fit"),
            ("description = 'x'\nname = '9a'", "doesn't fit"),
            ("description = 'x'\nname = ''", "doesn't fit"),
            ("description = 'x'\nname = 'mcp__a__b'", "one of MCP tools"),
            ("description = 'x'\ntimeout = 0", "1 to 3600"),
            ("description = 'x'\ntimeout = 3601", "1 to 3600"),
            ("description = 'x'\nparameters = 'no.json'", "not there"),
            ("description = 'x'\nparameters = []", "must be an object"),
            (
                "description = 'x'\n[parameters]\ntype = 'array'",
                "write type = \"object\"",
            ),
            (
                "description = 'x'\n[parameters]\nanyOf = [{}]",
                "providers refuse anyOf",
            ),
            (
                "description = 'x'\n[parameters]\nproperties = 1",
                "must be a table",
            ),
            (
                "description = 'x'\n[parameters.properties]\ncity = 'string'",
                "properties.city: write a table",
            ),
            (
                "description = 'x'\n[parameters.properties]\n'a b' = {}",
                "properties.a b: write a table",
            ),
            (
                "description = 'x'\n[parameters]\nenum = [{}]",
                "providers refuse enum",
            ),
            (
                "description = 'x'\n[parameters.properties]\na = {type = 'array'}",
                "without items",
            ),
            (
                "description = 'x'\n[parameters.properties]\na = {pattern = '(\\p{L}{100}){100}'}",
                "not a JSON schema",
            ),
            (&large, "longer than 16384 bytes"),
            (
                "description = 'x'\n[parameters.properties]\na = {type = 'strin'}",
                "not a JSON schema",
            ),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(fault), "{text}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_manifest_is_found_in_comments() {
        let found = |head: &str| in_comments(head);
        let python = "#!/usr/bin/env python3\n\"\"\"x\"\"\"\n# /// tool\n# a = 1\n#\n# [b]\n# ///\nprint()\n";
        assert_eq!(found(python), Ok(Some("a = 1\n\n[b]\n".to_owned())));
        let node = "#!/usr/bin/env node\r\n// /// tool\r\n// a = 1\r\n// ///\r\n";
        assert_eq!(found(node), Ok(Some("a = 1\n".to_owned())));
        assert_eq!(found("#!/bin/sh\n# /// script\n# a = 1\n# ///\n"), Ok(None));
        for head in [
            "# /// tool\n# a = 1\n",
            "# /// tool\n# a = 1\necho\n# ///\n",
        ] {
            assert!(found(head).unwrap_err().contains("has no end"), "{head}");
        }
    }
}
