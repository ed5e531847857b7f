//! A connection to the session bus: calls and their answers, each with a deadline.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::values::{Reader, Value, Writer};

/// How long the bus itself may take to answer: it is there or it is not.
const GREETING: Duration = Duration::from_millis(300);
/// A longer message is none of ours.
const MOST_BYTES: usize = 1024 * 1024;

const CALL: u8 = 1;
const RETURN: u8 = 2;
const ERROR: u8 = 3;
const SIGNAL: u8 = 4;

/// A connection.
pub struct Bus {
    stream: UnixStream,
    serial: u32,
}

/// What is called, and with what.
pub struct Call<'a> {
    /// The service.
    pub to: &'a str,
    /// The object.
    pub path: &'a str,
    /// The interface.
    pub interface: &'a str,
    /// The method.
    pub member: &'a str,
    /// The types of the body.
    pub signature: &'a str,
    /// The arguments.
    pub body: &'a Writer,
}

/// A message that came in.
#[derive(Debug, Default)]
pub struct Message {
    kind: u8,
    path: String,
    member: String,
    error: String,
    reply_to: u32,
    values: Vec<Value>,
}

impl Bus {
    /// Connects to the bus at `address`, in the form of `DBUS_SESSION_BUS_ADDRESS`.
    pub fn connect(address: &str) -> io::Result<Self> {
        let mut last = io::Error::other("its address is of no kind that is known");
        for address in address.split(';').filter_map(socket) {
            match address.and_then(|address| UnixStream::connect_addr(&address)) {
                Ok(stream) => {
                    let mut bus = Self { stream, serial: 0 };
                    bus.greet()?;
                    return Ok(bus);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn greet(&mut self) -> io::Result<()> {
        let until = Instant::now() + GREETING;
        let mut user = String::new();
        for digit in nix::unistd::geteuid().to_string().bytes() {
            let _ = write!(user, "{digit:02x}");
        }
        self.send(format!("\0AUTH EXTERNAL {user}\r\n").as_bytes(), until)?;
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") && line.len() < 1024 {
            let mut byte = [0];
            self.receive(&mut byte, until)?;
            line.push(byte[0]);
        }
        if !line.starts_with(b"OK ") {
            return Err(io::Error::other("the bus does not let us in"));
        }
        self.send(b"BEGIN\r\n", until)?;
        let hello = Call {
            to: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "Hello",
            signature: "",
            body: &Writer::default(),
        };
        self.call(&hello, GREETING).map(|_| ())
    }

    /// Calls and waits for the answer, at most `limit`.
    pub fn call(&mut self, call: &Call<'_>, limit: Duration) -> io::Result<Vec<Value>> {
        let until = Instant::now() + limit;
        self.serial += 1;
        let serial = self.serial;
        self.send(&call.bytes(serial), until)?;
        loop {
            let message = self.message(until)?;
            match message.kind {
                RETURN if message.reply_to == serial => return Ok(message.values),
                ERROR if message.reply_to == serial => {
                    let said = message.values.first().and_then(Value::text);
                    return Err(io::Error::other(said.unwrap_or(&message.error).to_owned()));
                }
                _ => {}
            }
        }
    }

    /// Waits for the signal `member` of the object `path`, at most `limit`.
    pub fn signal(&mut self, path: &str, member: &str, limit: Duration) -> io::Result<Vec<Value>> {
        let until = Instant::now() + limit;
        loop {
            let message = self.message(until)?;
            if message.kind == SIGNAL && message.path == path && message.member == member {
                return Ok(message.values);
            }
        }
    }

    fn message(&mut self, until: Instant) -> io::Result<Message> {
        let mut bytes = vec![0; 16];
        self.receive(&mut bytes, until)?;
        let broken = || io::Error::from(io::ErrorKind::InvalidData);
        let rest = rest_of(&bytes)
            .filter(|rest| *rest <= MOST_BYTES)
            .ok_or_else(broken)?;
        bytes.resize(16 + rest, 0);
        self.receive(&mut bytes[16..], until)?;
        Message::read(&bytes).ok_or_else(broken)
    }

    fn send(&mut self, bytes: &[u8], until: Instant) -> io::Result<()> {
        self.stream.set_write_timeout(Some(left(until)?))?;
        self.stream.write_all(bytes)
    }

    fn receive(&mut self, mut bytes: &mut [u8], until: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.set_read_timeout(Some(left(until)?))?;
            match self.stream.read(bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => bytes = &mut bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

impl Call<'_> {
    fn bytes(&self, serial: u32) -> Vec<u8> {
        let mut head = Writer::default();
        head.byte(b'l').byte(CALL).byte(0).byte(1);
        head.word(self.body.0.len() as u32).word(serial);
        head.array(8, |fields| {
            let texts = [
                (1, "o", self.path),
                (2, "s", self.interface),
                (3, "s", self.member),
                (6, "s", self.to),
            ];
            for (field, kind, text) in texts {
                fields.align(8).byte(field).signature(kind).text(text);
            }
            if !self.signature.is_empty() {
                fields
                    .align(8)
                    .byte(8)
                    .signature("g")
                    .signature(self.signature);
            }
        });
        head.align(8).0.extend_from_slice(&self.body.0);
        head.0
    }
}

/// How many bytes follow the first sixteen; nothing when they begin no message.
fn rest_of(head: &[u8]) -> Option<usize> {
    if head[0] != b'l' {
        return None;
    }
    let word = |at: usize| -> Option<usize> {
        let bytes = head.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    word(12)?.checked_next_multiple_of(8)?.checked_add(word(4)?)
}

impl Message {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes, 0);
        let head = reader.values("yyyyuua(yv)")?;
        let mut message = Self::default();
        let mut signature = String::new();
        if let [
            _,
            Value::Byte(kind),
            _,
            _,
            Value::Word(length),
            _,
            Value::Array(fields),
        ] = &head[..]
        {
            message.kind = *kind;
            for field in fields {
                let Value::Struct(field) = field else {
                    continue;
                };
                let [Value::Byte(field), Value::Variant(value)] = &field[..] else {
                    continue;
                };
                let text = || value.text().unwrap_or_default().to_owned();
                match (field, &**value) {
                    (1, _) => message.path = text(),
                    (3, _) => message.member = text(),
                    (4, _) => message.error = text(),
                    (5, Value::Word(serial)) => message.reply_to = *serial,
                    (8, _) => signature = text(),
                    _ => {}
                }
            }
            let body = bytes.len().checked_sub(*length as usize)?;
            message.values = Reader::new(&bytes[body..], 0).values(&signature)?;
        }
        Some(message)
    }
}

/// The socket one address tells of, if it is of a kind that is known.
fn socket(address: &str) -> Option<io::Result<SocketAddr>> {
    for pair in address.strip_prefix("unix:")?.split(',') {
        match pair.split_once('=') {
            Some(("path", path)) => {
                return Some(SocketAddr::from_pathname(PathBuf::from(unescaped(path))));
            }
            #[cfg(target_os = "linux")]
            Some(("abstract", name)) => {
                use std::os::linux::net::SocketAddrExt;
                return Some(SocketAddr::from_abstract_name(unescaped(name)));
            }
            _ => {}
        }
    }
    None
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        match (
            first,
            code.and_then(|code| u8::from_str_radix(code, 16).ok()),
        ) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn addresses_are_understood() {
        let shown = |address| socket(address).map(|address| format!("{:?}", address.unwrap()));
        for (address, expected) in [
            (
                "unix:path=/run/user/1/bus",
                Some("\"/run/user/1/bus\" (pathname)"),
            ),
            ("unix:guid=12,path=/a%20b,x=y", Some("\"/a b\" (pathname)")),
            ("unix:abstract=/tmp/x,guid=1", Some("\"/tmp/x\" (abstract)")),
            ("tcp:host=localhost", None),
            ("", None),
        ] {
            assert_eq!(shown(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn a_bus_that_says_nothing_is_given_up_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bus");
        let _listener = UnixListener::bind(&path).unwrap();
        let started = Instant::now();
        let error = Bus::connect(&format!("unix:path={}", path.display()))
            .err()
            .unwrap();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() >= GREETING);
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let mut body = Writer::default();
        body.text("a");
        let bytes = Call {
            to: "x.y",
            path: "/p",
            interface: "x.y",
            member: "Do",
            signature: "s",
            body: &body,
        }
        .bytes(7);
        assert_eq!(rest_of(&bytes), Some(bytes.len() - 16));
        let message = Message::read(&bytes).unwrap();
        assert_eq!(
            (message.kind, &*message.path, &*message.member),
            (CALL, "/p", "Do")
        );
        assert_eq!(message.values, [Value::Text("a".into())]);
    }
}
