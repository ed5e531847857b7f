//! HTTP/1.1 by hand: reads one request, writes one response, notices when the client hangs up.
//! Supports keep-alive, content-length and chunked bodies, and nothing else.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::script::Cut;

/// A request as it arrived.
pub(super) struct Raw {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// When its first byte arrived.
    pub began: Instant,
    /// When its last byte arrived.
    pub at: Instant,
}

/// The reading side of a connection, with bytes already read of the next request.
pub(super) struct Incoming {
    pub socket: OwnedReadHalf,
    pub buffer: Vec<u8>,
    /// When the first byte in the buffer arrived.
    pub began: Instant,
}

impl Incoming {
    /// The next request. None if the client has gone.
    pub async fn request(&mut self) -> io::Result<Option<Raw>> {
        let end = loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at;
            }
            if !self.more().await? {
                return Ok(None);
            }
        };
        let began = self.began;
        let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        self.buffer.drain(..end + 4);
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let method = first.next().unwrap_or_default().to_owned();
        let path = first.next().unwrap_or_default().to_owned();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
            .collect();
        let value = |wanted: &str| {
            headers
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value.clone())
        };
        let body = if let Some(length) = value("content-length") {
            let length = length.parse().map_err(io::Error::other)?;
            while self.buffer.len() < length {
                if !self.more().await? {
                    return Ok(None);
                }
            }
            self.buffer.drain(..length).collect()
        } else if value("transfer-encoding").is_some() {
            match self.chunked().await? {
                Some(body) => body,
                None => return Ok(None),
            }
        } else {
            Vec::new()
        };
        Ok(Some(Raw {
            method,
            path,
            headers,
            body,
            began,
            at: Instant::now(),
        }))
    }

    async fn chunked(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut body = Vec::new();
        loop {
            let line = loop {
                if let Some(at) = find(&self.buffer, b"\r\n") {
                    break at;
                }
                if !self.more().await? {
                    return Ok(None);
                }
            };
            let size = String::from_utf8_lossy(&self.buffer[..line]).into_owned();
            let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            while self.buffer.len() < line + 2 + size + 2 {
                if !self.more().await? {
                    return Ok(None);
                }
            }
            body.extend_from_slice(&self.buffer[line + 2..line + 2 + size]);
            self.buffer.drain(..line + 2 + size + 2);
            if size == 0 {
                return Ok(Some(body));
            }
        }
    }

    /// Returns when the client has closed the connection. Keeps bytes that come before that.
    pub async fn hung_up(&mut self) {
        while let Ok(true) = self.more().await {}
    }

    async fn more(&mut self) -> io::Result<bool> {
        let mut piece = vec![0; 64 * 1024];
        let count = self.socket.read(&mut piece).await?;
        if self.buffer.is_empty() {
            self.began = Instant::now();
        }
        self.buffer.extend_from_slice(&piece[..count]);
        Ok(count > 0)
    }
}

/// Why a response ended early.
pub(super) enum Broken {
    /// The script cut it.
    Cut(Cut),
    /// The client has gone.
    Gone,
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// The writing side of one response.
pub(super) struct Outgoing<'a> {
    pub socket: &'a mut OwnedWriteHalf,
    /// Body bytes in each write. If none, as they come.
    pub write_bytes: Option<usize>,
    pub write_delay: Duration,
    /// Body bytes to send before the connection is cut.
    pub left: Option<usize>,
    pub cut: Cut,
}

impl Outgoing<'_> {
    /// Sends a response with a body of known length.
    pub async fn whole(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<(), Broken> {
        let length = [("content-length".to_owned(), body.len().to_string())];
        self.head(status, headers.iter().chain(&length)).await?;
        self.socket.write_all(body).await?;
        Ok(self.socket.flush().await?)
    }

    /// Sends the head of a response with a chunked body.
    pub async fn start(&mut self, status: u16, headers: &[(String, String)]) -> Result<(), Broken> {
        let chunked = [("transfer-encoding".to_owned(), "chunked".to_owned())];
        self.head(status, headers.iter().chain(&chunked)).await
    }

    async fn head<'h>(
        &mut self,
        status: u16,
        headers: impl Iterator<Item = &'h (String, String)>,
    ) -> Result<(), Broken> {
        let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        self.socket.write_all(head.as_bytes()).await?;
        Ok(self.socket.flush().await?)
    }

    /// Sends more of the body.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        let allowed = self.left.unwrap_or(usize::MAX).min(bytes.len());
        for piece in bytes[..allowed].chunks(self.write_bytes.unwrap_or(usize::MAX).max(1)) {
            if !self.write_delay.is_zero() {
                tokio::time::sleep(self.write_delay).await; // poll-free: the script's pace
            }
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            self.socket.write_all(&chunk).await?;
            self.socket.flush().await?;
            // Lets the reader see each piece separately.
            if self.write_bytes.is_some() {
                tokio::task::yield_now().await;
            }
        }
        if let Some(left) = &mut self.left {
            *left -= allowed;
            if *left == 0 {
                return Err(Broken::Cut(self.cut));
            }
        }
        Ok(())
    }

    /// Ends the body.
    pub async fn end(&mut self) -> Result<(), Broken> {
        self.socket.write_all(b"0\r\n\r\n").await?;
        Ok(self.socket.flush().await?)
    }
}

fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len())
        .position(|window| window == needle)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Status",
    }
}
