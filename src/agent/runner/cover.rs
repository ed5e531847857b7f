//! Before a call changes anything, what it could change is covered, so that it can be undone. A call
//! that cannot be covered runs all the same, and the user is told.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::env::RunEnv;
use super::link::{RunLink, Turn};
use crate::agent::event::NoticeLevel;
use crate::agent::paths::{Purpose, real, resolve};
use crate::agent::tool::Effects;
use crate::agent::undo::{Covered, Undo, UndoError};

/// Most files that a notice names.
const NAMED: usize = 5;

/// Closes the turn at the end of its run: what the user changes from now on is none of its doing. Who
/// stops a run does not wait for that.
pub(in crate::agent) async fn close_turn(link: &RunLink, env: &RunEnv) {
    let Some(undo) = env.undo.clone().filter(|undo| undo.is_open()) else {
        return;
    };
    let closed = spawn_blocking(move || undo.close());
    if let Some(Ok(Err(error))) = link.unless_cancelled(closed).await {
        warn(link, format!("This cannot be undone: {error}")).await;
    }
}

/// Covers the folder of the session before a trial is kept.
pub(in crate::agent) async fn cover_home(link: &RunLink, env: &RunEnv) {
    cover_in(link, env, env.home.clone(), &Effects::unknown()).await;
}

/// Covers what a call with these effects could change; none when the turn is cut short before that is
/// done: the call must not run then. In a large tree or on a slow disk it takes its time.
pub(super) async fn cover(
    link: &RunLink,
    env: &RunEnv,
    turn: &Turn,
    effects: &Effects,
) -> Option<()> {
    let covered = cover_in(link, env, env.cwd.clone(), effects);
    turn.interrupt.run_until_cancelled(covered).await
}

async fn cover_in(link: &RunLink, env: &RunEnv, cwd: PathBuf, effects: &Effects) {
    let Some(undo) = env.undo.clone().filter(|_| !effects.only_reads()) else {
        return;
    };
    let effects = effects.clone();
    let covered = spawn_blocking(move || cover_all(&undo, &cwd, &effects)).await;
    let covered = match covered {
        Ok(Ok(covered)) => covered,
        Ok(Err(error)) => return warn(link, format!("This cannot be undone: {error}")).await,
        Err(error) => return warn(link, format!("This cannot be undone: {error}")).await,
    };
    if let Some(turn) = covered.begun {
        link.begin_undo(turn).await;
    }
    if !covered.uncovered.is_empty() {
        let named = covered.uncovered.iter().take(NAMED);
        let named = named.map(|(path, why)| format!("{} ({why})", path.display()));
        let more = match covered.uncovered.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = named.collect::<Vec<_>>().join(", ");
        warn(link, format!("/undo does not cover {named}{more}")).await;
    }
    if covered.evicted > 0 {
        let text = format!(
            "The oldest {} changes can no longer be undone: undo.max_bytes was reached",
            covered.evicted
        );
        link.notice(NoticeLevel::Info, text).await;
    }
}

async fn warn(link: &RunLink, text: String) {
    link.notice(NoticeLevel::Warning, text).await;
}

fn cover_all(undo: &Arc<Undo>, cwd: &Path, effects: &Effects) -> Result<Covered, UndoError> {
    let mut covered = Covered::default();
    if effects.command.is_some() || effects.unknown {
        covered = undo.before_command(cwd)?;
    }
    if !effects.writes.is_empty() {
        let named = undo.before_write(cwd, &paths(cwd, &effects.writes))?;
        covered.begun = covered.begun.or(named.begun);
        covered.uncovered.extend(named.uncovered);
        covered.evicted += named.evicted;
    }
    Ok(covered)
}

/// What the names may mean: how the tool reads them is not known here. A link is meant itself, or what
/// it leads to.
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
