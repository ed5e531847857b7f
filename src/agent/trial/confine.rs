//! What file tools may write while a trial is open: everything but the user's own copies of the files
//! that are tried on.

use super::record::Trial;
use crate::agent::tools::{Purpose, real, resolve};

/// The reason for the model why a call that writes these paths must not run. Asks the file
/// system, which may block.
pub(in crate::agent) fn refuse(trial: &Trial, paths: &[String]) -> Result<(), String> {
    for raw in paths {
        let cwd = trial.working_folder();
        // How the tool reads it is not known here, so neither way may lead there.
        for purpose in [Purpose::Existing, Purpose::MayBeNew] {
            let path = resolve(raw, &cwd, purpose);
            let real = real(&path).unwrap_or(path);
            if let Some(copy) = trial.copy_of(&real) {
                return Err(format!(
                    "Not changed: {raw} is a file of the user outside this trial. Change its \
                     copy: {}",
                    copy.display()
                ));
            }
        }
    }
    Ok(())
}
