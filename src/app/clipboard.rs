//! Copies to the clipboard: with a program on this machine, through tmux, or by asking the terminal
//! (OSC 52). The terminal doesn't confirm. Reports which way it used.

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

use crate::agent::git::search_path;

/// Time limit for a clipboard program. Those that stay to serve the text go to the background.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Longest OSC 52 sequence that every supporting terminal accepts.
const MAX_OSC: usize = 100_000;

/// The result of copying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyOutcome {
    /// This program put the text in the clipboard.
    Copied(&'static str),
    /// tmux has the text and passes it to its terminal.
    Tmux,
    /// Send these bytes to the terminal. It doesn't confirm, so this file may have the text too.
    Terminal(Vec<u8>, Option<PathBuf>),
    /// Too long for the terminal; the text is in this file, or the error.
    TooLong(Result<PathBuf, String>),
}

/// Clipboard programs, each with the variable that must be set to use it.
const PROGRAMS: &[(&[&str], Option<&str>)] = &[
    (&["pbcopy"], None),
    (&["wl-copy"], Some("WAYLAND_DISPLAY")),
    (&["xclip", "-selection", "clipboard"], Some("DISPLAY")),
    (&["xsel", "--clipboard", "--input"], Some("DISPLAY")),
    (&["clip.exe"], Some("WSL_DISTRO_NAME")),
    (&["termux-clipboard-set"], Some("TERMUX_VERSION")),
];

/// Variables that say which clipboard the user has.
const PLACE_VARIABLES: &[&str] = &[
    "SSH_CONNECTION",
    "SSH_TTY",
    "SSH_CLIENT",
    "TMUX",
    "STY",
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "WSL_DISTRO_NAME",
    "TERMUX_VERSION",
];

/// Copies `text` for a terminal with this environment.
pub(crate) async fn copy_here(
    text: Arc<str>,
    file: Option<PathBuf>,
    env: impl Fn(&str) -> Option<String>,
) -> CopyOutcome {
    let env = PLACE_VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), env(name)?)));
    copy(&text, &env.collect(), file.as_deref()).await
}

/// Copies `text` with the environment `env`, and into `file` if success can't be confirmed.
async fn copy(text: &str, env: &HashMap<String, String>, file: Option<&Path>) -> CopyOutcome {
    let has = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
    // Over ssh, the remote machine's clipboard is useless to the user.
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

/// Runs a program with `text` as its input. Returns whether it succeeded.
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

/// The sequence that asks the terminal to copy `text`, wrapped for GNU screen; `None` if too long.
fn osc52(text: &str, in_screen: bool) -> Option<Vec<u8>> {
    let encoded = STANDARD.encode(text);
    if encoded.len() > MAX_OSC {
        return None;
    }
    let plain = format!("\x1b]52;c;{encoded}\x1b\\");
    if !in_screen {
        return Some(plain.into_bytes());
    }
    // Screen cuts sequences longer than 768 bytes.
    let body = format!("\x1b]52;c;{encoded}\x07");
    let parts = body.as_bytes().chunks(700);
    Some(
        parts
            .flat_map(|part| [b"\x1bP", part, b"\x1b\\"].concat())
            .collect(),
    )
}

/// Writes `text` to `file`, readable only by the user.
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
