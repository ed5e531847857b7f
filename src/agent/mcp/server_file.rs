//! Files with servers: the `mcpServers` of Claude Code, which other agents use too.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::spec::{Endpoint, McpServer, Program, Transport, name_in_tools, on_one_line};
use tiller_llm::Secret;

/// What a file has.
#[derive(Clone, Debug, Default)]
pub struct ServerFile {
    /// Its servers, in order, with variables as written.
    pub servers: Vec<McpServer>,
    /// Names of servers that don't start, also if a later file has them.
    pub disabled: Vec<String>,
    /// Names of servers with a fault.
    pub faulty: Vec<String>,
    /// What tiller can't use, and why.
    pub faults: Vec<String>,
}

/// Reads the value of `mcpServers`. An entry with an error doesn't count, and the others do.
pub fn read_servers(value: &Value) -> ServerFile {
    let mut found = ServerFile::default();
    let Some(entries) = value.as_object() else {
        found
            .faults
            .push("mcpServers: expected an object".to_owned());
        return found;
    };
    for (name, entry) in entries {
        let in_tools = name_in_tools(name);
        // A rule for mcp__db__* must not cover a server db__x, or a tool x of a server db_.
        let is_odd = in_tools.contains("__") || in_tools.ends_with('_');
        if is_odd || name.chars().any(char::is_control) {
            found.faults.push(format!(
                "mcpServers.{name:?}: rename it with letters, digits and -, and single _ between them"
            ));
            continue;
        }
        match server(name, entry) {
            Ok(Some(server)) => found.servers.push(server),
            Ok(None) => found.disabled.push(name.clone()),
            Err(fault) => {
                found.faulty.push(name.clone());
                let fault = format!("mcpServers.{name}{fault}");
                found.faults.push(on_one_line(&fault));
            }
        }
    }
    found
}

fn server(name: &str, entry: &Value) -> Result<Option<McpServer>, String> {
    let Some(map) = entry.as_object() else {
        return Err(": expected an object".to_owned());
    };
    if map.get("disabled") == Some(&Value::Bool(true)) {
        return Ok(None);
    }
    let transport = match map.get("type").and_then(Value::as_str) {
        None | Some("stdio") if !map.contains_key("url") => Transport::Stdio(program(map)?),
        None | Some("http" | "streamable-http" | "sse") => Transport::Http(endpoint(map)?),
        Some("stdio") => return Err(": it has a url, so its type is http".to_owned()),
        Some(_) => return Err(".type: expected stdio or http".to_owned()),
    };
    Ok(Some(McpServer {
        name: name.to_owned(),
        transport,
        of_project: false,
    }))
}

fn program(map: &Map<String, Value>) -> Result<Program, String> {
    let command = text(map, "command")?.ok_or(".command: missing")?;
    let args = match map.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(args)) => {
            let args = args.iter().map(|arg| arg.as_str().map(str::to_owned));
            let args: Option<Vec<String>> = args.collect();
            args.ok_or(".args: expected texts")?
        }
        Some(_) => return Err(".args: expected a list".to_owned()),
    };
    let env: BTreeMap<String, String> = texts(map, "env")?.collect();
    if let Some(name) = env.keys().find(|name| !is_variable(name)) {
        return Err(format!(
            ".env: {name:?} isn't a variable's name: use letters, digits and _"
        ));
    }
    Ok(Program {
        command,
        args,
        env,
        cwd: PathBuf::from(text(map, "cwd")?.unwrap_or_default()),
    })
}

/// Whether a shell takes this as the name of a variable.
fn is_variable(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| fits(c) && !c.is_ascii_digit()) && name.chars().all(fits)
}

fn endpoint(map: &Map<String, Value>) -> Result<Endpoint, String> {
    let headers = texts(map, "headers")?;
    Ok(Endpoint {
        url: text(map, "url")?.ok_or(".url: missing")?,
        headers: headers
            .map(|(name, value)| (name, Secret::new(value)))
            .collect(),
    })
}

/// The texts of an object.
fn texts(
    map: &Map<String, Value>,
    key: &str,
) -> Result<impl Iterator<Item = (String, String)> + use<>, String> {
    let mut texts = Vec::new();
    match map.get(key) {
        None | Some(Value::Null) => {}
        Some(Value::Object(entries)) => {
            for (name, value) in entries {
                let value = value
                    .as_str()
                    .ok_or_else(|| format!(".{key}.{name}: expected a text"))?;
                texts.push((name.clone(), value.to_owned()));
            }
        }
        Some(_) => return Err(format!(".{key}: expected an object")),
    }
    Ok(texts.into_iter())
}

fn text(map: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!(".{key}: expected a text")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_with_errors_are_named_and_the_others_count() {
        let mut found = read_servers(&json!({
            "lab": {"type": "stdio", "command": "lab", "args": ["a"], "env": {"A": "1"}},
            "off": {"command": "x", "disabled": true},
            "web": {"type": "http", "url": "https://example.org", "headers": {"A": "${KEY}"}},
            "bare": {"url": "https://example.org"},
            "old": {"type": "sse", "url": "https://example.org/sse"},
            "both": {"type": "stdio", "url": "https://example.org"},
            "socket": {"type": "ws", "url": "https://example.org"},
            "nowhere": {"type": "http", "url": 3},
            "none": {},
            "odd": {"command": "x", "args": [1]},
            "shell": {"command": "x", "env": {"npx -y good #": "1"}},
            "digit": {"command": "x", "env": {"1A": "1"}},
            "db__x": {"command": "x"},
            "db_": {"command": "x"},
            "a\nb": {"command": "x"},
        }));
        // The order of JSON objects depends on a feature of serde_json.
        found.servers.sort_by(|a, b| a.name.cmp(&b.name));
        let names: Vec<&str> = found.servers.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["bare", "lab", "old", "web"]);
        assert_eq!(found.disabled, ["off"]);
        assert_eq!(found.servers[1].what(), "lab a");
        let web = found.servers[3].expanded(|name| (name == "KEY").then(|| "k1".to_owned()));
        let Transport::Http(web) = web.unwrap().transport else {
            panic!("it has a URL");
        };
        assert_eq!(web.headers["A"].expose(), "k1");
        assert!(!format!("{web:?}").contains("k1"), "{web:?}");
        let mut expected = [
            "mcpServers.\"a\\nb\": rename it with letters, digits and -, and single _ between them",
            "mcpServers.both: it has a url, so its type is http",
            "mcpServers.socket.type: expected stdio or http",
            "mcpServers.nowhere.url: expected a text",
            "mcpServers.none.command: missing",
            "mcpServers.odd.args: expected texts",
            "mcpServers.shell.env: \"npx -y good #\" isn't a variable's name: use letters, digits and _",
            "mcpServers.digit.env: \"1A\" isn't a variable's name: use letters, digits and _",
            "mcpServers.\"db_\": rename it with letters, digits and -, and single _ between them",
            "mcpServers.\"db__x\": rename it with letters, digits and -, and single _ between them",
        ];
        expected.sort_unstable();
        let mut faults = found.faults;
        faults.sort_unstable();
        assert_eq!(faults, expected);
        assert_eq!(read_servers(&json!(3)).faults.len(), 1);
    }
}
