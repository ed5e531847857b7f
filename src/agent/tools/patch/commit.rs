//! Writes what a plan came to: all of it, or, when something fails on the way, nothing. What was
//! written before the failure is put back; what is to go is only set aside until everything else
//! is done.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;
use tokio_util::sync::CancellationToken;

use super::plan::{After, File, Plan};
use crate::agent::tool::ToolError;
use crate::agent::tools::edit::atomic;
use crate::agent::tools::kind;

/// Does what `plan` says.
///
/// # Errors
/// What could not be written, or that the call was cancelled. Nothing has changed then, unless the
/// text says that something could not be put back.
pub fn commit(plan: &Plan) -> Result<(), ToolError> {
    let mut done: Vec<Done<'_>> = Vec::new();
    let result = plan
        .files
        .iter()
        .try_for_each(|file| write(file, &plan.files, &mut done));
    // What goes, goes last: until then nothing is lost, whatever happens.
    let result = result.and_then(|()| {
        plan.files
            .iter()
            .try_for_each(|file| set_aside(file, &mut done))
    });
    if let Err(mut error) = result {
        let stuck: Vec<String> = done.iter().rev().filter_map(Done::undo).collect();
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
            file.target.remember(bytes);
        }
    }
    Ok(())
}

/// A step that was taken.
enum Done<'p> {
    Written { file: &'p File, made: Vec<PathBuf> },
    SetAside { entry: &'p Path, kept: TempPath },
}

fn write<'p>(file: &'p File, files: &[File], done: &mut Vec<Done<'p>>) -> Result<(), ToolError> {
    let After::Bytes(bytes) = &file.after else {
        return Ok(());
    };
    let made = file.target.put(bytes, file.before.as_ref())?;
    done.push(Done::Written { file, made });
    if let Some(permissions) = file.moved_permissions(files) {
        fs::set_permissions(&file.target.real, permissions)
            .map_err(|error| failed(&file.target.shown, &error))?;
    }
    Ok(())
}

/// Renames a file that is to go; it goes when its new name is dropped.
fn set_aside<'p>(file: &'p File, done: &mut Vec<Done<'p>>) -> Result<(), ToolError> {
    let (After::Gone, Some(before)) = (&file.after, &file.before) else {
        return Ok(());
    };
    file.target.go_on()?;
    let target = &file.target;
    atomic::still_as(&target.real, Some(&before.meta)).map_err(|_| {
        ToolError::new(format!(
            "{} was changed by someone else at this very moment; nothing was changed. Read it \
             again.",
            target.shown
        ))
    })?;
    let entry = target.entry.as_path();
    let aside = || -> io::Result<TempPath> {
        let dir = entry.parent().unwrap_or(Path::new("/"));
        let kept = tempfile::Builder::new()
            .prefix(".tiller-")
            .suffix(".tmp")
            .tempfile_in(dir)?
            .into_temp_path();
        fs::rename(entry, &kept)?;
        Ok(kept)
    };
    let kept = aside().map_err(|error| failed(&target.shown, &io::Error::from(error.kind())))?;
    done.push(Done::SetAside { entry, kept });
    Ok(())
}

fn failed(shown: &str, error: &io::Error) -> ToolError {
    ToolError::new(format!("{shown}: Failed to write file: {error}"))
}

impl Done<'_> {
    /// Takes the step back; says what is stuck.
    fn undo(&self) -> Option<String> {
        let (shown, result) = match self {
            Self::SetAside { entry, kept } => {
                (entry.display().to_string(), fs::rename(kept, entry))
            }
            Self::Written { file, made } => {
                let result = put_back(file);
                atomic::remove_folders(made);
                (file.target.shown.clone(), result)
            }
        };
        result.err().map(|error| format!("{shown} ({error})"))
    }
}

fn put_back(file: &File) -> io::Result<()> {
    let path = &file.target.real;
    let Some(before) = &file.before else {
        return fs::remove_file(path);
    };
    let now = fs::metadata(path)?;
    let bytes = before.bytes.as_deref().unwrap_or_default();
    // Even when the call was cancelled: this is what cancelling means.
    match atomic::write(path, bytes, Some(&now), &CancellationToken::new()) {
        Ok(_) => fs::set_permissions(path, before.meta.permissions()),
        Err(atomic::WriteError::Io(error)) => Err(error),
        Err(_) => Err(io::Error::other(format!(
            "{} in the way",
            kind::size(now.len())
        ))),
    }
}
