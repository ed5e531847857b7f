//! An MCP server behind a URL, on a real socket. What it does wrong is an option.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Value,
}

impl Seen {
    /// The method of its message, or of HTTP if it has none.
    pub fn what(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.method)
    }
}

#[derive(Clone)]
pub struct McpHttp {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    options: Vec<String>,
    seen: Mutex<Vec<Seen>>,
    sessions: AtomicUsize,
}

impl McpHttp {
    /// Starts it with options: `sse`, `cut`, `page`, `huge`, `forget`, `doubt`, `refuse`, `quote`, `silent`, `listen`,
    /// `to=URL` (it redirects).
    pub fn start(options: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            shared: Arc::new(Shared {
                options: options.iter().map(|&it| it.to_owned()).collect(),
                seen: Mutex::default(),
                sessions: AtomicUsize::new(0),
            }),
        };
        let shared = Arc::clone(&server.shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || while serve(&stream, &shared).is_some() {});
            }
        });
        server
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// The requests of a method.
    pub fn seen_of(&self, what: &str) -> Vec<Seen> {
        let seen = self.seen().into_iter();
        seen.filter(|it| it.what() == what).collect()
    }
}

impl Shared {
    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|it| it == option)
    }

    fn target(&self) -> Option<&str> {
        self.options.iter().find_map(|it| it.strip_prefix("to="))
    }
}

/// Answers one request; `None` ends the connection.
fn serve(mut stream: &TcpStream, shared: &Shared) -> Option<()> {
    let request = read(&mut BufReader::new(stream))?;
    let (what, id) = (request.what().to_owned(), request.body["id"].clone());
    let path = request.path.clone();
    let quoted = request.headers.get("authorization").cloned();
    let session = request.headers.get("mcp-session-id").cloned();
    shared.seen.lock().unwrap().push(request);
    let mut send = |status: &str, headers: &str, body: &str| {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).ok()
    };
    if let Some(to) = shared.target().filter(|to| *to != path) {
        return send("307 Temporary Redirect", &format!("location: {to}\r\n"), "");
    }
    if shared.has("silent") {
        // Until the client hangs up.
        let _ = stream.read(&mut [0]);
        return None;
    }
    if shared.has("refuse") {
        return send("401 Unauthorized", "", "no");
    }
    if shared.has("quote") {
        let body = format!("not with {}", quoted.unwrap_or_default());
        return send(
            "500 Internal Server Error",
            "content-type: text/plain\r\n",
            &body,
        );
    }
    let current = format!("S{}", shared.sessions.load(Ordering::SeqCst));
    if what != "initialize" && session.as_ref() != Some(&current) {
        return send("404 Not Found", "", "session not found");
    }
    let result = match &*what {
        "initialize" => {
            let session = shared.sessions.fetch_add(1, Ordering::SeqCst) + 1;
            let body = message(
                &id,
                &json!({
                    "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                }),
            );
            let headers =
                format!("content-type: application/json\r\nmcp-session-id: S{session}\r\n");
            return send("200 OK", &headers, &body);
        }
        "GET" if shared.has("listen") => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            let event = event(r#"{"jsonrpc": "2.0", "id": "p", "method": "ping"}"#);
            stream.write_all(format!("{head}{event}").as_bytes()).ok()?;
            let _ = stream.read(&mut [0]);
            return None;
        }
        "GET" => return send("405 Method Not Allowed", "", ""),
        "DELETE" => return send("200 OK", "", ""),
        "tools/list" => {
            let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
            json!({"tools": [{"name": "t", "description": "", "inputSchema": schema}]})
        }
        "tools/call" if shared.has("forget") && current == "S1" => {
            shared.sessions.fetch_add(1, Ordering::SeqCst);
            return send("404 Not Found", "", "");
        }
        "tools/call" if shared.has("doubt") => {
            return send("400 Bad Request", "", "no such session in your database");
        }
        "tools/call" if shared.has("cut") => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            let half = "data: {\"jsonrpc\": \"2.0\", ";
            let chunk = format!("{head}{:x}\r\n{half}\r\n", half.len());
            stream.write_all(chunk.as_bytes()).ok()?;
            return None;
        }
        "tools/call" if shared.has("page") => {
            return send(
                "200 OK",
                "content-type: text/html; charset=utf-8\r\n",
                "<html>",
            );
        }
        "tools/call" if shared.has("huge") => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000000\r\n\r\n";
            stream.write_all(head.as_bytes()).ok()?;
            for _ in 0..100 {
                stream.write_all(&vec![b' '; 1_000_000]).ok()?;
            }
            return Some(());
        }
        "tools/call" if shared.has("hang") => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: wait\n\n";
            stream.write_all(head.as_bytes()).ok()?;
            let _ = stream.read(&mut [0]);
            return None;
        }
        "tools/call" => json!({"content": [{"type": "text", "text": "OVER HTTP"}]}),
        _ => return send("202 Accepted", "", ""),
    };
    let body = message(&id, &result);
    if shared.has("sse") {
        let noise = event(r#"{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}"#);
        let body = format!(": hello\n\n{noise}event: message\nid: 7\n{}", event(&body));
        return send("200 OK", "content-type: text/event-stream\r\n", &body);
    }
    send(
        "200 OK",
        "content-type: application/json; charset=utf-8\r\n",
        &body,
    )
}

fn message(id: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

fn read(reader: &mut impl BufRead) -> Option<Seen> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = HashMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length");
    let mut body = vec![0; length.map_or(0, |it| it.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Seen {
        method,
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}
