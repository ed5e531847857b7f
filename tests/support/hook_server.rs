//! A server for hooks of type `http`: it plays one answer, byte by byte as given.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server does with a request.
#[derive(Clone)]
pub enum Play {
    /// Sends these bytes and closes.
    Bytes(Vec<u8>),
    /// Sends nothing, and keeps the connection.
    Hang,
    /// Sends a body that doesn't end.
    Flood,
}

impl Play {
    /// An HTTP answer.
    pub fn answer(status: u16, body: &str) -> Self {
        let length = body.len();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n");
        Self::Bytes([head.as_bytes(), body.as_bytes()].concat())
    }
}

/// A server on its own port, with the requests that it got: head and body.
pub struct HookServer {
    pub url: String,
    requests: Arc<Mutex<Vec<(String, String)>>>,
}

impl HookServer {
    pub fn start(play: Play) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/h", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, play) = (Arc::clone(&seen), play.clone());
                thread::spawn(move || answer(stream, &play, &seen));
            }
        });
        Self { url, requests }
    }

    pub fn requests(&self) -> Vec<(String, String)> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, play: &Play, seen: &Mutex<Vec<(String, String)>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8_lossy(&body).into_owned();
    seen.lock().unwrap().push((head, body));
    match play {
        Play::Bytes(bytes) => stream.write_all(bytes).ok(),
        // Until the client leaves.
        Play::Hang => reader.read(&mut [0]).ok().map(drop),
        Play::Flood => {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
                .ok()?;
            loop {
                stream.write_all(b"4\r\nxxxx\r\n").ok()?;
            }
        }
    }
}
