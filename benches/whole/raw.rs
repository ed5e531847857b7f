//! The model server without tiller: how much of a figure is the server's own time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::model_server::{ModelServer, Reply, Script};

const BODY: &str =
    r#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"go"}]}"#;

/// How long a client takes that only reads this reply.
pub fn whole(reply: Reply) -> Duration {
    let server = ModelServer::start(Script::of([reply]));
    let mut socket = TcpStream::connect(server.address()).unwrap();
    let began = Instant::now();
    write!(
        socket,
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: k\r\n\
         anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{BODY}",
        BODY.len()
    )
    .unwrap();
    let mut buffer = vec![0; 64 * 1024];
    let mut tail = Vec::new();
    while !tail.ends_with(b"0\r\n\r\n") {
        let count = socket.read(&mut buffer).unwrap();
        assert!(count > 0, "the server hung up");
        tail.extend_from_slice(&buffer[..count]);
        tail.drain(..tail.len().saturating_sub(8));
    }
    began.elapsed()
}
