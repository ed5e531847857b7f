//! Runs the user's editor on the prompt or a file.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use crate::agent::word_list::WordList;

/// The editor if neither variable is set.
const FALLBACK: &str = "vi";
/// Shown for a moment before it opens.
const HOW_TO_LEAVE: &str = "echo 'Opening vi, because $VISUAL and $EDITOR are not set. Type :wq to save and \
                            quit, :q! to quit.'; sleep 1; ";

/// Edits `text` in `$VISUAL` or `$EDITOR`; the terminal must already be restored.
#[cfg(feature = "tui")]
pub async fn edit(text: &str) -> Result<String, String> {
    let editor = name();
    let failed = |error: io::Error| format!("The editor `{editor}` failed: {error}");
    let file = tempfile::Builder::new()
        .prefix("tiller-")
        .suffix(".md")
        // Kept if tiller ends first: the editor still runs and may save.
        .disable_cleanup(true)
        .tempfile()
        .map_err(failed)?;
    tokio::fs::write(file.path(), text).await.map_err(failed)?;
    let status = run(&editor, [file.path()]).await.map_err(failed)?;
    let bytes = tokio::fs::read(file.path()).await.map_err(failed)?;
    let failure = format!("The editor `{editor}` failed: {status}");
    if !status.success() && bytes != text.as_bytes() {
        // The editor crashed or was made to fail (`:cq`): only the user knows which text to use.
        let path = file.path().display();
        return Err(format!(
            "{failure}. Your prompt is unchanged; what the editor saved is in {path}"
        ));
    }
    let _ = tokio::fs::remove_file(file.path()).await;
    if !status.success() {
        return Err(format!(
            "{failure}. Your prompt is unchanged. Set $VISUAL or $EDITOR to use another editor."
        ));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Editors that draw on the terminal. Without one they hang.
const ON_TERMINAL: WordList =
    WordList("vi vim nvim nano pico emacs hx helix micro kak joe jed mcedit ne");

/// The editor, if it needs a terminal.
pub fn on_terminal() -> Option<String> {
    let editor = name();
    ON_TERMINAL.contains(program(&editor)).then_some(editor)
}

/// The name of the program, without its folder and options.
fn program(editor: &str) -> &str {
    let program = editor.split_whitespace().next().unwrap_or_default();
    program.rsplit('/').next().unwrap_or_default()
}

/// Opens `file` at a line for reading. Restore the terminal before the call.
pub async fn open(file: PathBuf, line: Option<u64>) -> Result<(), String> {
    let editor = name();
    let file = file.to_string_lossy();
    let place = line.map(|line| format!("{file}:{line}"));
    let arguments = match (program(&editor), line) {
        (_, None) => vec![file.into_owned()],
        ("code" | "codium" | "cursor" | "code-insiders", _) => {
            vec!["-g".to_owned(), place.unwrap_or_default()]
        }
        ("hx" | "helix" | "subl" | "zed" | "micro", _) => vec![place.unwrap_or_default()],
        (_, Some(line)) => vec![format!("+{line}"), file.into_owned()],
    };
    let status = run(&editor, arguments).await;
    let status = status.map_err(|error| format!("The editor `{editor}` failed: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!(
        "The editor `{editor}` failed: {status}\nSet $VISUAL or $EDITOR to use another editor"
    ))
}

async fn run(
    editor: &str,
    arguments: impl IntoIterator<Item: AsRef<OsStr>>,
) -> io::Result<ExitStatus> {
    // Who has set none may not know how to leave this one.
    let first = if editor == FALLBACK { HOW_TO_LEAVE } else { "" };
    // Through a shell, because users put options into these variables.
    let mut shell = tokio::process::Command::new("/bin/sh");
    let shell = shell.arg("-c").arg(format!("{first}{editor} \"$@\""));
    let shell = shell.arg("sh");
    shell.args(arguments).stdin(Stdio::inherit()).status().await
}

fn name() -> String {
    let mut names = ["VISUAL", "EDITOR"].into_iter();
    let found = names.find_map(variable);
    found.unwrap_or_else(|| FALLBACK.to_owned())
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    value.filter(|value| !value.trim().is_empty())
}
