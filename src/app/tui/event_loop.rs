//! The loop of the screen.

use super::options::{ExitKind, TuiExit, TuiOptions};

/// Runs the screen until the person leaves, a signal asks or the terminal is gone.
pub async fn run(options: TuiOptions) -> TuiExit {
    drop(options);
    TuiExit {
        kind: ExitKind::Quit,
        summary: String::new(),
    }
}
