//! `tiller mcp list`, `add` and `remove`: the servers in the user's `mcp.json`.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::agent::mcp::read_servers;
use crate::app::args::{McpAddArgs, McpCommand};
use crate::app::config::lock;
use crate::app::dirs::Dirs;
use crate::app::mcp_files::{McpFiles, SERVERS};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::llm::read_small::read_small;
use crate::llm::replace_file::replace_file;

/// Runs one of the commands.
pub fn mcp(what: &McpCommand, files: &McpFiles, dirs: &Dirs) -> Result<Outcome, StartError> {
    let file = dirs.mcp_file();
    let _lock = match what {
        McpCommand::List => None,
        _ => Some(lock(&file).map_err(|error| {
            StartError::failed(format!("can't lock {}: {error}", file.display()))
        })?),
    };
    let text = match what {
        McpCommand::List => list(files),
        McpCommand::Add(server) => add(&file, server).map_err(StartError::usage)?,
        McpCommand::Remove { name } => remove(files, &file, name).map_err(StartError::usage)?,
    };
    Ok(out::print(&for_terminal(&text)))
}

fn list(files: &McpFiles) -> String {
    let mut text = String::new();
    for it in files.read() {
        let place = if it.of_project { " (project)" } else { "" };
        let _ = writeln!(text, "{}{place}", it.path.display());
        for server in &it.file.servers {
            let _ = writeln!(text, "  {}: {}", server.name, server.what());
        }
        for fault in &it.file.faults {
            let _ = writeln!(text, "  not used: {fault}");
        }
    }
    if text.is_empty() {
        return "No MCP servers. To add one: tiller mcp add NAME -- COMMAND\n".to_owned();
    }
    text + "To see which work: tiller -p /mcp\n"
}

fn add(file: &Path, server: &McpAddArgs) -> Result<String, String> {
    let McpAddArgs { name, .. } = server;
    let entry = entry(server)?;
    // What tiller itself would refuse.
    let faults = read_servers(&json!({ name.as_str(): entry.clone() })).faults;
    if let Some(fault) = faults.into_iter().next() {
        return Err(fault);
    }
    let mut all = read(file)?;
    let servers = servers(&mut all, file)?;
    if servers.contains_key(name) {
        return Err(format!(
            "{} has a server {name} already. To replace it: tiller mcp remove {name}",
            file.display()
        ));
    }
    servers.insert(name.clone(), entry);
    write(file, &all)?;
    Ok(format!(
        "Added {name} to {}. Your next message starts it\n",
        file.display()
    ))
}

/// The server as the file has it.
fn entry(server: &McpAddArgs) -> Result<Value, String> {
    let McpAddArgs {
        name,
        env,
        header,
        url,
        command,
    } = server;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(format!("{name} isn't a name: use letters, digits, - and _"));
    }
    let url = match (url, &command[..]) {
        (Some(url), []) => Some(url),
        (None, [url]) if url.starts_with("https://") || url.starts_with("http://") => Some(url),
        (None, [url, option, ..]) if url.starts_with("http") && option.starts_with('-') => {
            return Err(format!(
                "options go before the name: tiller mcp add {option} VALUE {name} {url}"
            ));
        }
        (None, [_, ..]) => None,
        (Some(_), _) => return Err("a server has a --url or a command, not both".to_owned()),
        (None, []) => {
            return Err(format!(
                "what is it? tiller mcp add {name} -- COMMAND, or --url URL"
            ));
        }
    };
    let Some(url) = url else {
        if !header.is_empty() {
            return Err("only a server with a --url has headers; a program has --env".to_owned());
        }
        let env = pairs(env, '=', "--env NAME=VALUE")?;
        return Ok(json!({"command": command[0], "args": command[1..], "env": env}));
    };
    if !env.is_empty() {
        return Err("only a program has --env; a server with a --url has --header".to_owned());
    }
    let headers = pairs(header, ':', "--header 'NAME: VALUE'")?;
    Ok(json!({"type": "http", "url": url, "headers": headers}))
}

fn pairs(texts: &[String], between: char, form: &str) -> Result<Map<String, Value>, String> {
    let pair = |text: &String| {
        let (name, value) = text.split_once(between)?;
        let name = Some(name.trim()).filter(|name| !name.is_empty())?;
        Some((name.to_owned(), value.trim().into()))
    };
    let pairs = texts.iter().map(pair);
    // Not the text: it may be a key.
    pairs
        .collect::<Option<_>>()
        .ok_or_else(|| format!("expected {form}"))
}

fn remove(files: &McpFiles, file: &Path, name: &str) -> Result<String, String> {
    let mut all = read(file)?;
    if servers(&mut all, file)?.remove(name).is_some() {
        write(file, &all)?;
        return Ok(format!("Removed {name} from {}\n", file.display()));
    }
    let listed = files.read();
    let has_it = listed
        .iter()
        .find(|it| it.file.servers.iter().any(|it| it.name == name));
    Err(match has_it {
        Some(other) => format!("{name} is in {}: remove it there", other.path.display()),
        None => format!("no server {name}. To see all: tiller mcp list"),
    })
}

fn read(file: &Path) -> Result<Value, String> {
    let text = match read_small(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(json!({})),
        Err(error) => return Err(format!("can't read {}: {error}", file.display())),
    };
    serde_json::from_str(&text).map_err(|error| {
        format!(
            "{} isn't valid JSON: {error}. Correct it first",
            file.display()
        )
    })
}

fn servers<'a>(all: &'a mut Value, file: &Path) -> Result<&'a mut Map<String, Value>, String> {
    let servers = all
        .as_object_mut()
        .map(|all| all.entry(SERVERS).or_insert_with(|| json!({})));
    servers.and_then(Value::as_object_mut).ok_or_else(|| {
        format!(
            "{}: {SERVERS} isn't an object. Correct it first",
            file.display()
        )
    })
}

fn write(file: &Path, all: &Value) -> Result<(), String> {
    replace_file(file, &format!("{all:#}\n"), None)
        .map_err(|error| format!("can't write {}: {error}", file.display()))
}
