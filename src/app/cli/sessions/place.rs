//! The context of the session sub-commands.

use std::path::{Path, PathBuf};

use crate::app::outcome::StartError;
use crate::llm::auth::Redactor;

pub struct SessionsPlace<'a> {
    pub root: PathBuf,
    pub trash: PathBuf,
    pub home: Option<&'a Path>,
    /// Creates a redactor for all keys on demand.
    pub redactor: &'a dyn Fn() -> Result<Redactor, StartError>,
}
