//! A search's time limit, its cancellation, and what it left out, which its result names.

use std::collections::BTreeSet;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::lock::lock;
use crate::tool::ToolError;
use crate::tools::settings::ToolSettings;
use crate::tools::{call, kind};

/// The longest part of a line that is searched.
pub const MAX_LINE: usize = 8 << 20;
/// Paths named per kind of omission.
const NAMED: usize = 5;
/// How long after its time limit a search may still be busy before tiller abandons it.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy)]
pub struct Limits {
    /// Matches, names or entries shown.
    pub count: usize,
    /// Bytes shown, without the last line end.
    pub max_bytes: usize,
    pub seconds: u64,
}

impl Limits {
    /// Shows as many as the call asks for, or `default`.
    pub fn new(asked: Option<i64>, default: usize, settings: &ToolSettings) -> Self {
        Self {
            count: call::positive(asked).unwrap_or(default),
            max_bytes: settings.search_max_bytes,
            seconds: settings.search_timeout_s,
        }
    }
}

/// One search's limits, and what it left out.
pub struct Budget {
    pub limits: Limits,
    pub(super) cancel: CancellationToken,
    /// None if it is too late for the clock to represent.
    deadline: Option<Instant>,
    timed_out: AtomicBool,
    omitted: Mutex<[Omitted; 4]>,
}

#[derive(Clone, Copy)]
pub enum Omission {
    Unreadable,
    /// A file has lines longer than [`MAX_LINE`].
    LongLine,
    /// The rules of an ignore file weren't used.
    IgnoreFile,
    /// The call can't read it.
    Protected,
}

/// Omitted paths of one kind: how many, and the first ones.
#[derive(Default)]
struct Omitted {
    count: usize,
    first: BTreeSet<String>,
}

impl Budget {
    /// Ends at its time limit, or when cancelled.
    pub fn new(cancel: CancellationToken, limits: Limits) -> Self {
        Self {
            limits,
            cancel,
            deadline: Instant::now().checked_add(Duration::from_secs(limits.seconds)),
            timed_out: AtomicBool::new(false),
            omitted: Mutex::default(),
        }
    }

    /// Whether the search has to stop now.
    pub fn is_spent(&self) -> bool {
        if self.deadline.is_some_and(|it| Instant::now() >= it) {
            self.timed_out.store(true, Ordering::Relaxed);
        }
        self.timed_out() || self.cancel.is_cancelled()
    }

    /// Whether time ran out, so that results are partial.
    pub fn timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }

    pub fn omit(&self, why: Omission, path: String) {
        let mut omitted = lock(&self.omitted);
        let kind = &mut omitted[why as usize];
        kind.count += usize::from(kind.first.insert(path));
        if kind.first.len() > NAMED {
            kind.first.pop_last();
        }
    }

    /// Notes an unreadable `path`, written as in results; empty for the working directory. A file that
    /// has disappeared isn't noted.
    pub fn omit_unreadable(&self, error: &io::Error, path: String) {
        if error.kind() != io::ErrorKind::NotFound {
            let path = if path.is_empty() { ".".into() } else { path };
            self.omit(Omission::Unreadable, path);
        }
    }

    /// The readable entries of `folder` until the search stops. Notes each unreadable one.
    pub fn readable<T>(
        &self,
        entries: impl Iterator<Item = io::Result<T>>,
        folder: &str,
    ) -> impl Iterator<Item = T> {
        entries
            .take_while(|_| !self.is_spent())
            .filter_map(|entry| {
                entry
                    .inspect_err(|error| self.omit_unreadable(error, folder.into()))
                    .ok()
            })
    }

    /// The notes for the model about all this.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.timed_out() {
            notes.push(format!(
                "[Stopped after {} s; the results are partial. Search a smaller part.]",
                self.limits.seconds
            ));
        }
        let omitted = lock(&self.omitted);
        let whys = [
            "Could not read".into(),
            format!(
                "Long lines searched only up to {} in",
                kind::size(MAX_LINE as u64)
            ),
            "Ignore files not used (not regular files, too large or too many patterns)".into(),
            "Left out (protected)".into(),
        ];
        for (why, Omitted { count, first }) in whys.iter().zip(omitted.iter()) {
            let named: Vec<&str> = first.iter().map(String::as_str).collect();
            let named = named.join(", ");
            match count - first.len() {
                _ if named.is_empty() => {}
                0 => notes.push(format!("[{why}: {named}]")),
                rest => notes.push(format!("[{why}: {named} and {rest} more]")),
            }
        }
        notes
    }
}

/// Runs a blocking search. Abandons it when cancelled, or some time after its limit: a stuck file system
/// never checks the budget.
pub async fn run<T: Send + 'static>(
    cancel: CancellationToken,
    limits: Limits,
    search: impl FnOnce(&Budget) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let (budget, seconds) = (Budget::new(cancel.clone(), limits), limits.seconds);
    let limit = Duration::from_secs(seconds).saturating_add(GRACE);
    let search = call::blocking_cancellable(&cancel, move || search(&budget));
    tokio::time::timeout(limit, search).await.unwrap_or_else(|_| {
        Err(ToolError::new(format!(
            "Stopped after {seconds} s without a result: a file or folder does not respond. Search \
             a smaller part."
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(seconds: u64) -> Limits {
        let (count, max_bytes) = (1, 1);
        Limits {
            count,
            max_bytes,
            seconds,
        }
    }

    #[tokio::test]
    async fn the_time_limit_holds_when_a_file_system_does_not_answer() {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let search = run(CancellationToken::new(), limits(0), move |_| {
            let _ = held.recv();
            Ok(())
        });
        let error = search.await.unwrap_err();
        drop(release);
        assert!(
            error
                .message
                .starts_with("Stopped after 0 s without a result")
        );
    }

    #[test]
    fn entries_that_cannot_be_read_are_noted_but_not_those_that_are_gone() {
        let budget = Budget::new(CancellationToken::new(), limits(9));
        for (folder, error) in [
            ("", io::ErrorKind::PermissionDenied),
            ("sub/", io::ErrorKind::Other),
            ("gone/", io::ErrorKind::NotFound),
        ] {
            let entries = [Ok(1), Err(error.into()), Ok(3)].into_iter();
            let readable: Vec<i32> = budget.readable(entries, folder).collect();
            assert_eq!(readable, [1, 3], "{folder}");
        }
        assert_eq!(budget.notes(), ["[Could not read: ., sub/]"]);
    }
}
