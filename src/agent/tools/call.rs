//! The plumbing of one call: arguments out of JSON, and blocking work off the async threads.
//! Arguments were validated before; what is read here leniently is only what schemas cannot say.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::tool::ToolError;

/// The path argument, under its name or its short one; empty when missing.
pub fn path(args: &Value) -> &str {
    text(args, "file_path")
        .or_else(|| text(args, "path"))
        .unwrap_or_default()
}

/// A text argument.
pub fn text<'a>(args: &'a Value, name: &str) -> Option<&'a str> {
    args.get(name)?.as_str()
}

/// A text argument that cannot be left out.
pub fn required<'a>(args: &'a Value, name: &str) -> Result<&'a str, ToolError> {
    text(args, name).ok_or_else(|| missing(&[name]))
}

/// A number that is not negative; 5.0 counts as 5.
pub fn number(args: &Value, name: &str) -> Option<u64> {
    let value = args.get(name)?;
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))
}

/// A yes or no; no when missing.
pub fn flag(args: &Value, name: &str) -> bool {
    args.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// The error for arguments that are missing, in the words of the schema check.
pub fn missing(names: &[&str]) -> ToolError {
    let list: Vec<String> = names
        .iter()
        .map(|name| format!("Missing required parameter: {name}"))
        .collect();
    invalid(&list.join("; "))
}

/// The error for arguments that cannot be used.
pub fn invalid(why: &str) -> ToolError {
    ToolError::new(format!("error: invalid input: {why}"))
}

/// The error of a call that noticed that it was cancelled; the run answers for it in its own words.
pub fn cancelled() -> ToolError {
    ToolError::new("Tool execution cancelled")
}

/// Runs `work` where it may block and waits for its end, come what may: for changes, whose end
/// must be known.
pub async fn change<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(ToolError::new(format!("Tool execution failed: {error}"))))
}

/// As [`change`], but returns at once when cancelled: for looking, where a file system that does
/// not answer must not hold up anybody.
pub async fn look<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(cancelled()),
        result = change(work) => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // H9: work that hears nothing (a file system that does not answer) holds up nobody.
    #[tokio::test]
    async fn looking_ends_with_the_cancellation_even_if_the_work_does_not() {
        let cancel = CancellationToken::new();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let work = move || {
            begin.send(()).unwrap();
            let _ = held.recv();
            Ok(())
        };
        let looked = tokio::spawn({
            let cancel = cancel.clone();
            async move { look(&cancel, work).await }
        });
        begun.await.unwrap();
        cancel.cancel();
        let limit = std::time::Duration::from_secs(10);
        let looked = tokio::time::timeout(limit, looked).await;
        drop(release);
        assert_eq!(looked.unwrap().unwrap(), Err(cancelled()));
        assert_eq!(cancelled().message, "Tool execution cancelled");
    }
}
