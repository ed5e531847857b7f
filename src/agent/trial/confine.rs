//! What file tools may write while a trial is open: everything but the user's own copies of the files
//! that are tried on.

use super::record::Trial;
use crate::agent::paths::resolve;
use crate::agent::workspace::{Access, destinations};

/// The reason for the model why a call that writes these paths must not run. Asks the file
/// system, which may block.
pub(in crate::agent) fn refuse(trial: &Trial, paths: &[String]) -> Result<(), String> {
    for raw in paths {
        // A path that cannot be followed is none that a tool can write.
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
