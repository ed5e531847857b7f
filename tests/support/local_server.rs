//! Fake local model servers: each path has a fixed body, copied from the real servers.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::Value;

pub const TAGS: &str = include_str!("../llm/local/ollama-tags.json");
pub const PS: &str = include_str!("../llm/local/ollama-ps.json");
pub const SHOW: &str = include_str!("../llm/local/ollama-show.json");
pub const LM_STUDIO: &str = include_str!("../llm/local/lmstudio-models.json");
pub const LLAMA: &str = include_str!("../llm/local/llamacpp-models.json");
pub const PROPS: &str = include_str!("../llm/local/llamacpp-props.json");
pub const ROUTER: &str = include_str!("../llm/local/llamacpp-router.json");

/// A streamed answer of Chat Completions that says `I am local.`
const STREAM: &str = "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"I am \"},\"finish_reason\":null}]}\n\n\
data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"local.\"},\"finish_reason\":\"stop\"}]}\n\n\
data: [DONE]\n\n";

/// A server with a fixed body for each path, on its own port.
pub struct Played {
    pub port: u16,
}

/// Starts a server from pairs of path and body. `/api/show` picks its answer by model from one
/// table.
pub fn play(bodies: &[(&'static str, String)]) -> Played {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let bodies: Arc<HashMap<&str, String>> = Arc::new(bodies.iter().cloned().collect());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let bodies = Arc::clone(&bodies);
            thread::spawn(move || answer(stream, &bodies));
        }
    });
    Played { port }
}

fn answer(stream: TcpStream, bodies: &HashMap<&'static str, String>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let path = line.split(' ').nth(1)?.to_owned();
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if header.trim().is_empty() {
                break;
            }
        }
        let mut sent = vec![0; length];
        reader.read_exact(&mut sent).ok()?;
        let body = match (path.as_str(), bodies.get(path.as_str())) {
            ("/api/show", Some(table)) => {
                let sent: Value = serde_json::from_slice(&sent).ok()?;
                let table: Value = serde_json::from_str(table).ok()?;
                Some(table.get(sent["model"].as_str()?)?.to_string())
            }
            (_, body) => body.cloned(),
        };
        let (status, body) = match body {
            Some(body) => ("200 OK", body),
            None => ("404 Not Found", "404 page not found".to_owned()),
        };
        let kind = if body.starts_with("data:") {
            "text/event-stream"
        } else {
            "application/json"
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
        );
        reader.get_mut().write_all((head + &body).as_bytes()).ok()?;
    }
}

/// An Ollama with three chat models. Each says `I am local.`
pub fn ollama() -> Played {
    let chat = "/v1/chat/completions";
    let bodies = [
        ("/api/tags", TAGS),
        ("/api/ps", PS),
        ("/api/show", SHOW),
        (chat, STREAM),
    ];
    play(&bodies.map(|(path, body)| (path, body.to_owned())))
}
