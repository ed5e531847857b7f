//! The lines for the client.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answers::Answer;
use crate::app::out::Writer;
use crate::app::records::to_line;
use crate::app::serve::lines::while_read;

/// Writes records. Waits while the client doesn't read.
#[derive(Debug)]
pub(super) struct Output {
    writer: Writer,
    /// Whether its client is at the other end of stdin and stdout.
    is_stdio: bool,
}

/// A response as pi writes it.
#[derive(Serialize)]
struct Response<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    r#type: &'static str,
    command: &'a str,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Output {
    pub fn stdout() -> io::Result<Self> {
        Ok(Self {
            writer: Writer::stdout()?,
            is_stdio: true,
        })
    }

    pub fn start(to: impl Write + Send + 'static) -> io::Result<Self> {
        Ok(Self {
            writer: Writer::start(to)?,
            is_stdio: false,
        })
    }

    pub async fn write(&mut self, record: &impl Serialize) -> io::Result<()> {
        let written = self.writer.write(to_line(record));
        if self.is_stdio {
            while_read(written).await
        } else {
            written.await
        }
    }

    /// Answers the command with this id.
    pub async fn respond(
        &mut self,
        id: Option<&Value>,
        command: &str,
        answer: Answer,
    ) -> io::Result<()> {
        let (data, error) = match answer {
            Ok(data) => (data, None),
            Err(error) => (None, Some(error)),
        };
        self.write(&Response {
            id,
            r#type: "response",
            command,
            success: error.is_none(),
            data,
            error,
        })
        .await
    }

    /// Waits until everything is written.
    pub async fn finish(&mut self) -> io::Result<()> {
        let written = self.writer.finish();
        if self.is_stdio {
            while_read(written).await
        } else {
            written.await
        }
    }
}
