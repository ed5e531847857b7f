//! The single-threaded runtime for sub-commands.

use tokio::runtime::Runtime;

use crate::app::outcome::StartError;

pub(super) fn current_thread() -> Result<Runtime, StartError> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build();
    runtime.map_err(|error| StartError::failed(format!("can't start the runtime: {error}")))
}
