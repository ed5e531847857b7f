//! The log: what a user looks at when something went wrong. Never a secret, never message text.
//!
//! `TILLER_LOG` (for example `tiller=debug`) says how much; a file a day, a week of them.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

use crate::llm::auth::Redactor;

/// Starts logging into `folder`, without what `redactor` knows. Best effort: without a log the
/// program works just the same.
pub fn start(folder: &Path, filter: Option<&str>, redactor: &Redactor) {
    // The appender complains on stderr about a folder that is not there.
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
        // A log that cannot be written must not stand on the screen instead.
        .log_internal_errors(false)
        .with_target(false)
        .try_init();
}

/// A writer that strikes keys out. It is given one whole line at a time.
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
