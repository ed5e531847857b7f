//! `tiller sessions`: runs its sub-commands.

use super::place::SessionsPlace;
use super::{diff, export, import, list, remove, search, show};
use crate::app::args::{SessionListArgs, SessionsArgs, SessionsCommand};
use crate::app::outcome::{Outcome, StartError};
use crate::app::plan::working_folder;

pub fn sessions(what: &SessionsArgs, place: &SessionsPlace<'_>) -> Result<Outcome, StartError> {
    let list = |what: &SessionListArgs| {
        let cwd = working_folder(what.cd.as_deref())?;
        list::list(what, &place.root, &cwd, place.home)
    };
    match &what.what {
        None => list(&what.list),
        Some(SessionsCommand::List(what)) => list(what),
        Some(SessionsCommand::Show(what)) => show::show(what, place),
        Some(SessionsCommand::Export(what)) => export::export(what, place),
        Some(SessionsCommand::Diff(what)) => diff::diff(what, place),
        Some(SessionsCommand::Search(what)) => search::search(what, place),
        Some(SessionsCommand::Rm { session }) => remove::remove(session, place),
        Some(SessionsCommand::Import { file, cd }) => {
            import::import(file, &place.root, &working_folder(cd.as_deref())?)
        }
    }
}
