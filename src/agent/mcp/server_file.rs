//! Files with servers: the `mcpServers` of Claude Code, which other agents use too.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::spec::McpServer;

/// What a file has.
#[derive(Clone, Debug, Default)]
pub struct ServerFile {
    /// Its servers, in order, with variables as written.
    pub servers: Vec<McpServer>,
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
        match server(name, entry) {
            Ok(Some(server)) => found.servers.push(server),
            Ok(None) => {}
            Err(fault) => found.faults.push(format!("mcpServers.{name}{fault}")),
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
    let kind = map.get("type").and_then(Value::as_str);
    if map.contains_key("url") || kind.is_some_and(|kind| kind != "stdio") {
        return Err(": tiller can't use servers with a URL yet, only programs".to_owned());
    }
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
    let mut env = Vec::new();
    match map.get("env") {
        None | Some(Value::Null) => {}
        Some(Value::Object(entries)) => {
            for (name, value) in entries {
                let value = value
                    .as_str()
                    .ok_or_else(|| format!(".env.{name}: expected a text"))?;
                env.push((name.clone(), value.to_owned()));
            }
        }
        Some(_) => return Err(".env: expected an object".to_owned()),
    }
    Ok(Some(McpServer {
        name: name.to_owned(),
        command,
        args,
        env: env.into_iter().collect(),
        cwd: PathBuf::from(text(map, "cwd")?.unwrap_or_default()),
    }))
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
        let found = read_servers(&json!({
            "lab": {"type": "stdio", "command": "lab", "args": ["a"], "env": {"A": "1"}},
            "off": {"command": "x", "disabled": true},
            "web": {"type": "http", "url": "https://example.org"},
            "none": {},
            "odd": {"command": "x", "args": [1]},
        }));
        let names: Vec<&str> = found.servers.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["lab"]);
        assert_eq!(found.servers[0].args, ["a"]);
        let expected = [
            "mcpServers.web: tiller can't use servers with a URL yet, only programs",
            "mcpServers.none.command: missing",
            "mcpServers.odd.args: expected texts",
        ];
        assert_eq!(found.faults, expected);
        assert_eq!(read_servers(&json!(3)).faults.len(), 1);
    }
}
