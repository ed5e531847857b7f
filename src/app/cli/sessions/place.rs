//! What the sub-commands about sessions are given.

use std::path::{Path, PathBuf};

use crate::app::outcome::StartError;
use crate::llm::auth::Redactor;

pub struct SessionsPlace<'a> {
    pub root: PathBuf,
    pub trash: PathBuf,
    pub home: Option<&'a Path>,
    /// Knows all keys; made when it is needed.
    pub redactor: &'a dyn Fn() -> Result<Redactor, StartError>,
}
