//! The log: what a person looks at when something went wrong. Never a secret, never message text.
//!
//! `TILLER_LOG` (for example `tiller=debug`) says how much; a file a day, a week of them.

use std::path::Path;

use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

/// Starts logging into `folder`. Best effort: without a log the program works just the same.
pub fn start(folder: &Path, filter: Option<&str>) {
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
        .with_writer(appender)
        .with_ansi(false)
        .with_target(false)
        .try_init();
}
