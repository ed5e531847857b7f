//! Trials whose session is gone, so nothing will ever end them. They are only listed, because they
//! may hold the user's only copy.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::record::{RECORD, Trial};

/// A session's file appears with its first message, soon after the trial begins.
const YOUNG: Duration = Duration::from_mins(10);

/// Returns the trials below `home` whose session has no file.
pub fn abandoned(home: &Path) -> Vec<Trial> {
    let folders = fs::read_dir(home).into_iter().flatten().flatten();
    let old = folders.filter(|folder| {
        let record = fs::metadata(folder.path().join(RECORD));
        let modified = record.and_then(|meta| meta.modified());
        modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > YOUNG))
    });
    let trials = old.filter_map(|folder| Trial::recorded(home, folder.file_name().to_str()?));
    trials.filter(|trial| !trial.session.exists()).collect()
}
