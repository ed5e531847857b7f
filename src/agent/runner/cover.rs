//! Before a call changes anything, saves what it could change so that it can be undone. A call that
//! can't be covered runs anyway, and the user is told.

use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::allowed::CallScope;
use super::link::{RunLink, RunMessage};
use crate::event::{NoticeLevel, ToolStatus};
use crate::paths::{Purpose, name_some, real, resolve};
use crate::tool::Effects;
use crate::undo::{Covered, Undo, UndoError};

/// Most files named in a notice.
const NAMED: usize = 5;

/// Closes the turn at the end of its run: later changes by the user aren't part of it. Stopping a run
/// doesn't wait for this.
pub(crate) async fn close_turn(link: &RunLink) {
    let Some(undo) = link.env.undo.clone().filter(|undo| undo.is_open()) else {
        return;
    };
    let closed = spawn_blocking(move || undo.close());
    match link.unless_cancelled(closed).await {
        Some(Ok(Ok(files))) if files > 0 => {
            link.report(RunMessage::ChangedFiles(files)).await;
        }
        Some(Ok(Err(error))) => {
            warn(link, format!("/undo won't cover this change: {error}")).await;
        }
        _ => {}
    }
}

/// Returns the files that commands have changed in the conversation, as the model would name them, or
/// `None` if the run is cancelled first. Skips names with line breaks: they could pass for the user's
/// words.
pub(super) async fn changed_by_commands(link: &RunLink) -> Option<Vec<String>> {
    let Some(undo) = link.env.undo.clone() else {
        return Some(Vec::new());
    };
    let (session, cwd) = (link.env.conversation_id.clone(), link.env.cwd.clone());
    let changed = spawn_blocking(move || undo.changed_by_commands(&session));
    let changed = link.unless_cancelled(changed).await?;
    let changed = changed.ok().and_then(Result::ok).unwrap_or_default();
    let named = changed.iter().map(|it| it.strip_prefix(&cwd).unwrap_or(it));
    let named = named.map(|it| it.display().to_string());
    Some(named.filter(|it| !it.contains(char::is_control)).collect())
}

/// Covers the session's folder before a trial is kept.
pub(crate) async fn cover_home(link: &RunLink) {
    let effects = Effects::unknown();
    let covered = cover_in(link, link.env.home.clone(), &effects);
    link.unless_cancelled(covered).await;
}

/// Covers what a call with these effects could change. Takes time in a large tree or on a slow disk.
/// Returns `None` if the turn is cut short first; the call must not run then.
pub(super) async fn cover(scope: CallScope<'_>, effects: &Effects) -> Option<()> {
    let covered = cover_in(scope.link, scope.link.env.cwd.clone(), effects);
    scope.turn.interrupt.run_until_cancelled(covered).await
}

/// Records the contents of the files that a call has written, so that later changes by others
/// aren't attributed to the turn. Skips calls that were cut short: they may still be writing.
pub(super) async fn note_written(scope: CallScope<'_>, writes: Vec<String>, status: ToolStatus) {
    let CallScope { link, turn, .. } = scope;
    let has_ended = matches!(status, ToolStatus::Ok | ToolStatus::Error);
    let Some(undo) = link
        .env
        .undo
        .clone()
        .filter(|_| has_ended && !writes.is_empty())
    else {
        return;
    };
    let cwd = link.env.cwd.clone();
    let noted = spawn_blocking(move || undo.after_write(&paths(&cwd, &writes)));
    if let Ok(Ok(Err(error))) = turn.unless_cut_short(noted).await {
        warn(link, format!("/undo won't cover this change: {error}")).await;
    }
}

async fn cover_in(link: &RunLink, cwd: PathBuf, effects: &Effects) {
    let Some(undo) = link.env.undo.clone().filter(|_| !effects.only_reads()) else {
        return;
    };
    let added = link.env.permissions.places.writable.clone();
    let is_covered = added.iter().chain([&cwd]).all(|it| undo.covers_command(it));
    if effects.writes.is_empty() && is_covered {
        return;
    }
    let effects = effects.clone();
    let covered = spawn_blocking(move || cover_all(&undo, &cwd, &added, &effects)).await;
    let covered = match covered {
        Ok(Ok(covered)) => covered,
        Ok(Err(error)) => {
            return warn(link, format!("/undo won't cover this change: {error}")).await;
        }
        Err(error) => return warn(link, format!("/undo won't cover this change: {error}")).await,
    };
    if let Some(turn) = covered.begun {
        link.ask(|reply| RunMessage::BeginUndo(turn, reply)).await;
    }
    if !covered.uncovered.is_empty() {
        let named = covered.uncovered.iter();
        let named = named.map(|(path, why)| format!("{} ({why})", path.display()));
        let named = name_some(&named.collect::<Vec<_>>(), NAMED);
        warn(link, format!("/undo doesn't cover {named}")).await;
    }
    if covered.evicted > 0 {
        let text = format!(
            "The undo store is full (undo.max_bytes). /undo no longer reaches the {} oldest turns; new \
             turns will replace more of them",
            covered.evicted
        );
        link.notice(NoticeLevel::Info, text).await;
    }
}

async fn warn(link: &RunLink, text: String) {
    link.notice(NoticeLevel::Warning, text).await;
}

/// Covers the effects of a call. A command may write in all folders of the workspace.
fn cover_all(
    undo: &Undo,
    cwd: &Path,
    added: &[PathBuf],
    effects: &Effects,
) -> Result<Covered, UndoError> {
    let mut covered = Covered::default();
    let mut add = |more: Covered| {
        covered.begun = covered.begun.take().or(more.begun);
        covered.uncovered.extend(more.uncovered);
        covered.evicted += more.evicted;
    };
    if effects.command.is_some() || effects.unknown {
        add(undo.before_command(cwd)?);
        for folder in added.iter().filter(|folder| folder.is_dir()) {
            add(undo.before_command(folder)?);
        }
    }
    if !effects.writes.is_empty() {
        add(undo.before_write(cwd, &paths(cwd, &effects.writes))?);
    }
    Ok(covered)
}

/// Returns all paths that the names may mean, since this code doesn't know how the tool resolves them.
/// For a link, that is both the link and its target.
fn paths(cwd: &Path, names: &[String]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for name in names {
        for purpose in [Purpose::Existing, Purpose::MayBeNew] {
            let path = resolve(name, cwd, purpose);
            let itself = path.parent().and_then(|folder| {
                let folder = real(folder).ok()?;
                Some(folder.join(path.file_name()?))
            });
            paths.extend(itself);
            paths.extend(real(&path));
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::undo::{Direction, Outcome};

    #[test]
    fn a_command_is_undone_in_every_folder_of_the_workspace() {
        let place = tempfile::tempdir().unwrap();
        let [own, added, missing] = ["own", "added", "missing"].map(|it| place.path().join(it));
        for folder in [&own, &added] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), "before").unwrap();
        }
        let undo = Undo::new(place.path().join("data/undo"), 1 << 20);
        undo.prompt("session", "Go");
        let covered = cover_all(&undo, &own, &[added.clone(), missing], &Effects::unknown());
        let turn = covered.unwrap().begun.unwrap();
        for folder in [&own, &added] {
            fs::write(folder.join("file"), "after").unwrap();
        }
        assert_eq!(undo.close().unwrap(), 2);
        let outcome = undo.go(std::slice::from_ref(&turn), Direction::Undo, &turn);
        let Outcome { kept, failed, .. } = outcome.unwrap();
        assert!(kept.is_empty() && failed.is_empty());
        for folder in [&own, &added] {
            assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "before");
        }
    }
}
