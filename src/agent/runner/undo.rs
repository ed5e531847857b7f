//! The runs that undo and redo. `agent::undo` does the work on the files; this module runs it on
//! blocking threads and reports it.

use std::path::Path;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::link::{RunLink, RunMessage, Undone};
use crate::event::{NoticeLevel, RunOutcome};
use crate::paths;
use crate::session_work::ChangedFile;
use crate::undo::{Direction, Kept, Outcome, Preview, Undo, UndoError};

/// Most files named in a notice.
const NAMED: usize = 8;
/// Characters of a prompt quoted in a notice.
const QUOTED: usize = 60;

/// Undoes or redoes `turn`, one of the turns in `path`.
pub(crate) async fn undo_turn(
    link: &RunLink,
    undo: Arc<Undo>,
    path: Vec<String>,
    (direction, turn): (Direction, String),
    cwd: &Path,
) -> RunOutcome {
    let done = blocking(move || {
        let preview = undo.preview(&path, direction)?;
        let outcome = undo.go(&path, direction, &turn)?;
        Ok((preview, outcome))
    });
    match done.await {
        Ok((Some(preview), outcome)) => {
            let words = match direction {
                Direction::Undo => ("Undone", "undone", "/undo"),
                Direction::Redo => ("Redone", "redone", "/redo"),
            };
            report(link, words, (&preview, cwd), outcome, None).await;
        }
        Ok((None, _)) => {}
        Err(error) => fail(link, &error).await,
    }
    RunOutcome::Done
}

/// Undoes all of `turns` (listed oldest first), then continues from before the entry `to`, if given.
pub(crate) async fn rewind(
    link: &RunLink,
    undo: Arc<Undo>,
    path: Vec<String>,
    turns: Vec<String>,
    (to, cwd): (Option<String>, &Path),
) -> RunOutcome {
    let cancel = link.cancellation();
    let done = blocking(move || {
        let preview = undo.preview_all(&turns)?;
        let outcome = undo.go_back(&path, &turns, || cancel.is_cancelled())?;
        Ok((preview, outcome))
    });
    match done.await {
        Ok((preview, outcome)) => {
            // The conversation must not go back further than the files.
            let to = to.filter(|_| outcome.failed.is_empty());
            let words = ("Rewound", "rewound", "/rewind");
            report(link, words, (&preview, cwd), outcome, to).await;
        }
        Err(error) => fail(link, &error).await,
    }
    RunOutcome::Done
}

async fn fail(link: &RunLink, error: &UndoError) {
    let text = format!("Couldn't undo: {error}");
    link.notice(NoticeLevel::Error, text).await;
}

/// Tells the user and, unless the conversation goes back too, the model.
async fn report(
    link: &RunLink,
    (what, verb, again): (&str, &str, &str),
    (preview, cwd): (&Preview, &Path),
    Outcome {
        changed,
        kept,
        failed,
    }: Outcome,
    to: Option<String>,
) {
    let files = preview.files.iter();
    let files: Vec<ChangedFile> = files
        .filter(|file| changed.contains(&file.path))
        .map(|file| {
            let (added, removed) = file.lines.unwrap_or_default();
            ChangedFile {
                path: paths::display(&file.path, cwd),
                added: added as u64,
                removed: removed as u64,
            }
        })
        .collect();
    let named: Vec<String> = files.iter().map(|it| it.path.clone()).collect();
    let named = paths::name_some(&named, NAMED);
    let mut prompt: String = preview.prompt.chars().take(QUOTED).collect();
    if prompt.len() < preview.prompt.len() {
        prompt.push('…');
    }
    let prompt = prompt.replace(char::is_control, " ");
    let how = match preview.direction {
        Direction::Undo => "The user undid file changes. These files are now as before",
        Direction::Redo => "The user redid file changes. These files are now as after",
    };
    let told = if files.is_empty() {
        None
    } else {
        Some(format!(
            "[{how} the prompt “{prompt}”: {named}. Read them again before you rely on them.]"
        ))
    };
    // First, because a conversation that goes back doesn't show earlier notices.
    let is_empty = files.is_empty();
    let direction = preview.direction;
    let undone = Undone {
        told,
        to,
        direction,
        files,
    };
    link.report(RunMessage::Undone(undone)).await;
    let text = match (is_empty, failed.is_empty()) {
        (true, true) => format!("{what}: no file changed (“{prompt}”)"),
        (true, false) => format!("No file was {verb} (“{prompt}”)"),
        (false, true) => format!("{what} (“{prompt}”): {named}"),
        (false, false) => format!("{what} partly (“{prompt}”): {named}"),
    };
    link.notice(NoticeLevel::Info, text).await;
    let why = |kept: &Kept| format!("{} ({})", paths::display(&kept.path, cwd), kept.why);
    if !failed.is_empty() {
        let failed: Vec<String> = failed.iter().map(why).collect();
        let failed = paths::name_some(&failed, NAMED);
        let text = format!("Not {verb}: {failed}. To finish, use {again} again.");
        link.notice(NoticeLevel::Error, text).await;
    }
    if !kept.is_empty() {
        let stayed: Vec<String> = kept.iter().map(why).collect();
        let stayed = paths::name_some(&stayed, NAMED);
        let text = format!("Left unchanged: {stayed}");
        link.notice(NoticeLevel::Warning, text).await;
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, UndoError> + Send + 'static,
) -> Result<T, UndoError> {
    let done = spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(UndoError::Refused(format!("internal error: {error}"))))
}
