//! Writes a plan: all of it, or nothing if any step fails. It stages everything on disk, then renames
//! it into place: a crash has hardly any time to leave half of it. After a failure it restores the
//! renamed files. Removed files are only set aside until everything else is done.

use std::collections::VecDeque;
use std::io;

use super::plan::{After, File, Plan};
use crate::tool::ToolError;
use crate::tools::edit::atomic::{self, SetAside, Staged, WriteError};
use crate::workspace::{MadeFolder, remove_folders};

/// Carries out `plan`.
///
/// # Errors
/// What couldn't be written, or that the call was cancelled. Then nothing has changed, unless the text
/// names files that couldn't be restored.
pub fn commit(plan: &Plan) -> Result<(), ToolError> {
    let (mut staged, mut undo) = (VecDeque::new(), Vec::new());
    let result = stage(plan, &mut staged).and_then(|()| carry_out(plan, &mut staged, &mut undo));
    if let Err(mut error) = result {
        // The last first, so that folders created for several files end up empty.
        while staged.pop_back().is_some() {}
        let stuck: Vec<String> = undo.iter().rev().filter_map(Undo::run).collect();
        if !stuck.is_empty() {
            error.message = format!(
                "{}\ntiller could not restore these files: {}",
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

/// How to revert a step.
enum Undo<'p> {
    /// Restore the old content, and remove the folders that were created.
    PutBack {
        file: &'p File,
        made: Vec<MadeFolder>,
    },
    /// Rename a file back.
    Rename { aside: SetAside, file: &'p File },
}

/// A file whose new content awaits its rename.
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
    // Removals come last: until then nothing can be lost.
    plan.files.iter().try_for_each(|file| set_aside(file, undo))
}

/// Renames a file that will be removed; dropping the new name removes it.
fn set_aside<'p>(file: &'p File, undo: &mut Vec<Undo<'p>>) -> Result<(), ToolError> {
    let (After::Gone, Some(before)) = (&file.after, &file.before) else {
        return Ok(());
    };
    let locked = &file.locked;
    locked.must_go_on()?;
    let path = &locked.path;
    let aside = atomic::set_aside(&path.entry, &path.real, &before.meta);
    let aside = aside.map_err(|error| match error {
        WriteError::Io(error) => {
            ToolError::new(format!("{}: Failed to write file: {error}", path.shown))
        }
        error => locked.failed(&error),
    })?;
    undo.push(Undo::Rename { aside, file });
    Ok(())
}

impl Undo<'_> {
    /// Reverts the step; returns what couldn't be reverted.
    fn run(&self) -> Option<String> {
        let (file, result) = match self {
            Self::Rename { aside, file } => (file, aside.put_back()),
            Self::PutBack { file, made } => {
                let result = put_back(file);
                remove_folders(made);
                (file, result)
            }
        };
        let shown = &file.locked.path.shown;
        result.err().map(|error| format!("{shown} ({error})"))
    }
}

fn put_back(file: &File) -> io::Result<()> {
    let path = &file.locked.path;
    let before = file.before.as_ref();
    let before = before.map(|before| (&before.meta, before.bytes.as_deref().unwrap_or_default()));
    match atomic::restore(&path.reach, &path.real, before) {
        Err(WriteError::Io(error)) => Err(error),
        Err(_) => Err(io::Error::other("something else is in the way")),
        Ok(()) => Ok(()),
    }
}
