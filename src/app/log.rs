//! The log, without secrets and message text. `TILLER_LOG` (such as `tiller=debug`) sets the level.
//! tiller writes one file a day and keeps a week of them.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

use crate::llm::auth::Redactor;

/// Starts a log in `folder`, redacted with `redactor`. Best effort: tiller also works without.
pub fn start(folder: &Path, filter: Option<&str>, redactor: &Redactor) {
    // The appender complains on stderr about a missing folder.
    if std::fs::create_dir_all(folder).is_err() {
        return;
    }
    let Ok(appender) = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("tiller")
        .filename_suffix("log")
        .max_log_files(7)
        .build(folder)
    else {
        return;
    };
    let filter = filter
        .and_then(|text| EnvFilter::try_new(text).ok())
        .unwrap_or_else(|| EnvFilter::new("tiller=info"));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Mutex::new(RedactingWriter {
            to: appender,
            redactor: redactor.clone(),
        }))
        .with_ansi(false)
        // An unwritable log must not disturb the screen.
        .log_internal_errors(false)
        .with_target(false)
        .try_init();
}

/// A writer that redacts keys in whole lines.
struct RedactingWriter<W> {
    to: W,
    redactor: Redactor,
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.to.write_all(&self.redactor.redact_bytes(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Secret;

    #[test]
    fn a_key_is_not_logged() {
        let redactor = Redactor::default();
        redactor.add(&Secret::new("sk-0123456789abc"));
        let mut log = RedactingWriter {
            to: Vec::new(),
            redactor,
        };
        let line = b"INFO sent: Bearer sk-0123456789abc\n";
        assert_eq!(log.write(line).unwrap(), line.len());
        assert_eq!(log.to, b"INFO sent: Bearer ***\n");
    }
}
