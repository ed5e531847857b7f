//! Writes what a plan came to: all of it, or, when something fails on the way, nothing. Everything
//! is first put on disk beside its place; then it is renamed there, which takes no time in which a
//! crash could leave half of it. What was renamed before a failure is put back; what is to go is
//! only set aside until everything else is done.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;
use tokio_util::sync::CancellationToken;

use super::plan::{After, File, Plan};
use crate::agent::tool::ToolError;
use crate::agent::tools::edit::atomic::{self, Staged};
use crate::agent::tools::kind;

/// Does what `plan` says.
///
/// # Errors
/// What could not be written, or that the call was cancelled. Nothing has changed then, unless the
/// text says that something could not be put back.
pub fn commit(plan: &Plan) -> Result<(), ToolError> {
    let (mut staged, mut undo) = (VecDeque::new(), Vec::new());
    let result = stage(plan, &mut staged).and_then(|()| carry_out(plan, &mut staged, &mut undo));
    if let Err(mut error) = result {
        // The last first, so that folders made for several files are empty in the end.
        while staged.pop_back().is_some() {}
        let stuck: Vec<String> = undo.iter().rev().filter_map(Undo::run).collect();
        if !stuck.is_empty() {
            error.message = format!(
                "{}\nThese files could not be put back as they were: {}",
                error.message,
                stuck.join("; ")
            );
        }
        return Err(error);
    }
    for file in &plan.files {
        if let After::Bytes(bytes) = &file.after {
            file.locked.record(bytes, &file.freshness);
        }
    }
    Ok(())
}

/// How to take back a step that was done.
enum Undo<'p> {
    /// Write what was there, and remove the folders that were made.
    PutBack { file: &'p File, made: Vec<PathBuf> },
    /// Give a file its name again.
    Rename { kept: TempPath, entry: &'p Path },
}

/// A file whose new content waits for its rename.
type Waiting<'p> = (&'p File, Staged<'p>);

fn stage<'p>(plan: &'p Plan, staged: &mut VecDeque<Waiting<'p>>) -> Result<(), ToolError> {
    for file in &plan.files {
        if let After::Bytes(bytes) = &file.after {
            let before = file.before.as_ref().map(|before| &before.meta);
            let like = file.like(&plan.files);
            staged.push_back((file, file.locked.stage(bytes, before, like)?));
        }
    }
    Ok(())
}

fn carry_out<'p>(
    plan: &'p Plan,
    staged: &mut VecDeque<Waiting<'p>>,
    undo: &mut Vec<Undo<'p>>,
) -> Result<(), ToolError> {
    while let Some((file, staged)) = staged.pop_front() {
        let made = staged
            .commit()
            .map_err(|error| file.locked.failed(&error))?;
        undo.push(Undo::PutBack { file, made });
    }
    // What goes, goes last: until then nothing is lost, whatever happens.
    plan.files.iter().try_for_each(|file| set_aside(file, undo))
}

/// Renames a file that is to go; it goes when its new name is dropped.
fn set_aside<'p>(file: &'p File, undo: &mut Vec<Undo<'p>>) -> Result<(), ToolError> {
    let (After::Gone, Some(before)) = (&file.after, &file.before) else {
        return Ok(());
    };
    let locked = &file.locked;
    locked.must_go_on()?;
    atomic::must_be_as(&locked.path.real, Some(&before.meta))
        .map_err(|error| locked.failed(&error))?;
    let entry = locked.path.entry.as_path();
    let kept = atomic::set_aside(entry).map_err(|error| {
        ToolError::new(format!(
            "{}: Failed to write file: {error}",
            locked.path.shown
        ))
    })?;
    undo.push(Undo::Rename { kept, entry });
    Ok(())
}

impl Undo<'_> {
    /// Takes the step back; says what is stuck.
    fn run(&self) -> Option<String> {
        let (shown, result) = match self {
            Self::Rename { kept, entry } => (entry.display().to_string(), fs::rename(kept, entry)),
            Self::PutBack { file, made } => {
                let result = put_back(file);
                atomic::remove_folders(made);
                (file.locked.path.shown.clone(), result)
            }
        };
        result.err().map(|error| format!("{shown} ({error})"))
    }
}

fn put_back(file: &File) -> io::Result<()> {
    let path = &file.locked.path.real;
    let Some(before) = &file.before else {
        return fs::remove_file(path);
    };
    let now = fs::metadata(path)?;
    let bytes = before.bytes.as_deref().unwrap_or_default();
    // Even when the call was cancelled: this is what cancelling means.
    let cancel = CancellationToken::new();
    let staged = atomic::stage(path, bytes, Some(&now), Some((path, &now)), &cancel);
    match staged.and_then(Staged::commit) {
        Ok(_) => fs::set_permissions(path, before.meta.permissions()),
        Err(atomic::WriteError::Io(error)) => Err(error),
        Err(_) => Err(io::Error::other(format!(
            "{} in the way",
            kind::size(now.len())
        ))),
    }
}
