//! The clipboard, as far as it can be reached: by a program of this machine, through tmux, or by asking
//! the terminal (OSC 52), of which nobody says whether it did it. Says which it was.

use std::collections::HashMap;
use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use crate::agent::memory::search_path;

/// How long a clipboard program may take; those that stay to answer put themselves in the background.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of OSC 52 that all terminals take which take any; some drop what is longer.
const MAX_OSC: usize = 100_000;

/// What became of a text that was to be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyOutcome {
    /// It is in the clipboard: this program put it there.
    Copied(&'static str),
    /// tmux has it, and was asked to tell its terminal.
    Tmux,
    /// The terminal must be asked with these bytes. Whether it does it cannot be known, so that the text
    /// is kept in a file too, if it can be.
    Terminal(Vec<u8>, Option<PathBuf>),
    /// It is too long for the terminal, and in this file, or why not.
    TooLong(Result<PathBuf, String>),
}

/// Programs that take a text for the clipboard, each with the variable that says that there is a clipboard of
/// its kind.
const PROGRAMS: &[(&[&str], Option<&str>)] = &[
    (&["pbcopy"], None),
    (&["wl-copy"], Some("WAYLAND_DISPLAY")),
    (&["xclip", "-selection", "clipboard"], Some("DISPLAY")),
    (&["xsel", "--clipboard", "--input"], Some("DISPLAY")),
    (&["clip.exe"], Some("WSL_DISTRO_NAME")),
    (&["termux-clipboard-set"], Some("TERMUX_VERSION")),
];

/// Copies `text` from this program.
pub(crate) async fn copy_here(text: Arc<str>, file: Option<PathBuf>) -> CopyOutcome {
    // What is no text says nothing about clipboards.
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    copy(&text, &env.collect(), file.as_deref()).await
}

/// Copies `text` from a program with the environment `env`; what cannot be known to be copied is kept in
/// `file`.
async fn copy(text: &str, env: &HashMap<String, String>, file: Option<&Path>) -> CopyOutcome {
    let has = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
    // A clipboard of the machine at the other end is of no use to who sits at this one.
    let is_remote = ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"]
        .into_iter()
        .any(has);
    if !is_remote {
        for (command, variable) in PROGRAMS {
            if variable.is_none_or(has) && feed(command, text).await {
                return CopyOutcome::Copied(command[0]);
            }
        }
    }
    if has("TMUX")
        && (feed(&["tmux", "load-buffer", "-w", "-"], text).await
            || feed(&["tmux", "load-buffer", "-"], text).await)
    {
        return CopyOutcome::Tmux;
    }
    let in_screen = has("STY");
    match osc52(text, in_screen) {
        Some(bytes) => CopyOutcome::Terminal(bytes, file.and_then(|file| keep(file, text).ok())),
        None => CopyOutcome::TooLong(match file {
            Some(file) => keep(file, text).map_err(|error| error.to_string()),
            None => Err("nothing is saved on disk".to_owned()),
        }),
    }
}

/// Runs a program with `text` as its input. Whether it took it.
async fn feed(command: &[&str], text: &str) -> bool {
    let child = Command::new(command[0])
        .args(&command[1..])
        .env("PATH", search_path(None))
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let Ok(mut child) = child else { return false };
    let run = async {
        let mut input = child.stdin.take()?;
        input.write_all(text.as_bytes()).await.ok()?;
        drop(input);
        child.wait().await.ok()
    };
    let status = timeout(TIMEOUT, run).await.ok().flatten();
    status.is_some_and(|status| status.success())
}

/// What asks the terminal to put `text` into its clipboard; GNU screen hands it on only in a wrapper.
/// None where it would be too long.
fn osc52(text: &str, in_screen: bool) -> Option<Vec<u8>> {
    let encoded = STANDARD.encode(text);
    if encoded.len() > MAX_OSC {
        return None;
    }
    let plain = format!("\x1b]52;c;{encoded}\x1b\\");
    if !in_screen {
        return Some(plain.into_bytes());
    }
    // Screen cuts what is longer than 768 bytes.
    let body = format!("\x1b]52;c;{encoded}\x07");
    let parts = body.as_bytes().chunks(700);
    Some(
        parts
            .flat_map(|part| [b"\x1bP", part, b"\x1b\\"].concat())
            .collect(),
    )
}

/// Writes `text` into `file`, for the user's eyes only.
fn keep(file: &Path, text: &str) -> io::Result<PathBuf> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    let mut open = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(file)?;
    open.set_permissions(Permissions::from_mode(0o600))?;
    open.write_all(text.as_bytes())?;
    Ok(file.to_owned())
}
