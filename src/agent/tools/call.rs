//! The plumbing of one call: its usual errors, and blocking work off the async threads.

use tokio_util::sync::CancellationToken;

use crate::tool::ToolError;

/// A positive number; anything below 1 is treated as missing.
pub fn positive(number: Option<i64>) -> Option<usize> {
    number
        .filter(|number| *number > 0)
        .map(|number| number as usize)
}

/// The error for a missing parameter, worded like the schema check.
pub fn missing(name: &str) -> ToolError {
    invalid(&format!("Missing required parameter: {name}"))
}

/// The error for unusable arguments.
pub fn invalid(why: &str) -> ToolError {
    ToolError::new(format!("error: invalid input: {why}"))
}

/// The error of a call that noticed its cancellation; the run replaces it with its own text.
pub fn cancelled() -> ToolError {
    ToolError::new("Tool execution cancelled")
}

/// Fails if the call was cancelled.
pub fn must_go_on(cancel: &CancellationToken) -> Result<(), ToolError> {
    if cancel.is_cancelled() {
        return Err(cancelled());
    }
    Ok(())
}

/// Runs blocking `work` and always waits for its end. For changes, whose end must be known.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(ToolError::new(format!("Tool execution failed: {error}"))))
}

/// Like [`blocking`], but returns at once when cancelled: a stuck file system must not hold up reading.
pub async fn blocking_cancellable<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(cancelled()),
        result = blocking(work) => result,
    }
}
