//! Runs the user's own commands, one at a time, and gets pictures from the clipboard.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::agent::git::search_path;
use crate::app::host::{CommandUpdate, Host};
use crate::app::tui::msg::EffectResult;

/// How long a clipboard program may take.
const CLIPBOARD: Duration = Duration::from_secs(2);
/// Programs that print the clipboard's picture.
const PROGRAMS: [(&str, &[&str]); 3] = [
    ("wl-paste", &["--no-newline", "--type", "image/png"]),
    (
        "xclip",
        &["-selection", "clipboard", "-t", "image/png", "-o"],
    ),
    ("pngpaste", &["-"]),
];

pub(super) struct ShellRunner {
    pub host: Host,
    pub results: UnboundedSender<EffectResult>,
    pub running: Option<AbortHandle>,
}

impl ShellRunner {
    /// Runs a command without a sandbox, because it's the user's own.
    pub(super) fn run(&mut self, id: String, command: String) {
        let (host, results) = (self.host.clone(), self.results.clone());
        let task = tokio::spawn(async move {
            let report = |update| {
                if let CommandUpdate::Shown(details) = update {
                    let _ = results.send(EffectResult::ShellOutput(id.clone(), details));
                }
                std::future::ready(())
            };
            let end = host.run_command(command, report).await;
            let _ = results.send(EffectResult::Shell(id, end));
        });
        self.running = Some(task.abort_handle());
    }

    pub(super) fn stop(&mut self) {
        if let Some(task) = self.running.take() {
            task.abort();
        }
    }

    /// Saves the clipboard's picture to a file and returns its path.
    pub(super) fn picture(&self) {
        let results = self.results.clone();
        tokio::spawn(async move {
            let _ = results.send(EffectResult::Picture(picture().await));
        });
    }
}

async fn picture() -> Result<PathBuf, String> {
    for (program, args) in PROGRAMS {
        let child = tokio::process::Command::new(program)
            .args(args)
            .env("PATH", search_path(None))
            .current_dir("/")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .output();
        let Ok(Ok(output)) = timeout(CLIPBOARD, child).await else {
            continue;
        };
        if !output.status.success() || !output.stdout.starts_with(b"\x89PNG") {
            continue;
        }
        let file = tempfile::Builder::new()
            .prefix("tiller-picture-")
            .suffix(".png")
            .disable_cleanup(true)
            .tempfile();
        let written = file.and_then(|file| {
            std::fs::write(file.path(), &output.stdout)?;
            Ok(file.path().to_owned())
        });
        return written.map_err(|error| format!("Couldn't save the picture: {error}"));
    }
    Err("No picture in the clipboard (tried wl-paste, xclip and pngpaste)".to_owned())
}
