//! Which files tools may write while a trial is open: all but the user's originals of the files in it.

use super::record::Trial;
use crate::paths::resolve;
use crate::workspace::{Access, destinations};

/// Fails with the reason, for the model, if a call that writes these paths must not run. Accesses
/// the file system, which may block.
pub(crate) fn refuse(trial: &Trial, paths: &[String]) -> Result<(), String> {
    for raw in paths {
        // No tool can write to a path that can't be resolved.
        let destinations = destinations(
            |purpose| resolve(raw, &trial.working_folder(), purpose),
            Access::Write,
        );
        let mut copies = destinations.iter().flatten();
        if let Some(copy) = copies.find_map(|path| trial.copy_of(path)) {
            return Err(format!(
                "Not changed: {raw} is the user's file, outside this trial. Change its copy: {}",
                copy.display()
            ));
        }
    }
    Ok(())
}
