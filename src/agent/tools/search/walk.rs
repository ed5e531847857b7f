//! Walks a folder as ripgrep and fd do: in parallel, with hidden names, without `.git`, obeying
//! .gitignore also outside repositories, following no links. Knows when to stop, and which part of
//! the tree cannot matter any more.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use crate::agent::tool::ToolError;
use crate::agent::tools::{open, paths};

/// More threads only wait for each other.
const MAX_THREADS: usize = 12;

/// Where to search, and how its paths are written in results.
pub struct Ground {
    /// The folder or file, with no links in it.
    pub root: PathBuf,
    /// Whether it is a folder; else it is a file.
    pub is_folder: bool,
    /// The path for people and results; empty for the working directory.
    shown: String,
}

impl Ground {
    /// Resolves the `path` argument; `raw` empty is the working directory.
    pub fn new(raw: &str, cwd: &Path) -> Result<Self, ToolError> {
        let path = if raw.is_empty() {
            cwd.to_path_buf()
        } else {
            paths::resolve(raw, cwd, paths::Purpose::Existing)
        };
        let root = fs::canonicalize(&path).map_err(|error| {
            if raw.is_empty() {
                let cwd = cwd.display();
                ToolError::new(format!("The working directory is gone: {cwd}"))
            } else {
                open::unreachable(&error, raw)
            }
        })?;
        let kind = fs::metadata(&root)
            .map_err(|error| open::unreachable(&error, raw))?
            .file_type();
        if !kind.is_dir() {
            open::must_be_file(kind, raw)?;
        }
        let shown: PathBuf = path
            .strip_prefix(cwd)
            .unwrap_or(&path)
            .components()
            .collect();
        Ok(Self {
            root,
            is_folder: kind.is_dir(),
            shown: paths::readable(shown.as_os_str()),
        })
    }

    /// The same, for tools that need a folder.
    pub fn folder(raw: &str, cwd: &Path) -> Result<Self, ToolError> {
        let ground = Self::new(raw, cwd)?;
        if ground.is_folder {
            Ok(ground)
        } else {
            Err(ToolError::new(format!("{raw} is a file, not a folder.")))
        }
    }

    /// The ground itself, for people.
    pub fn title(&self) -> String {
        if self.shown.is_empty() {
            ".".into()
        } else {
            self.shown.clone()
        }
    }

    /// How a path below the root is written in results: fit for `read` as it stands.
    pub fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let below = paths::readable(below.as_os_str());
        match self.shown.as_str() {
            "" => below,
            shown if below.is_empty() => shown.into(),
            shown if shown.ends_with('/') => format!("{shown}{below}"),
            shown => format!("{shown}/{below}"),
        }
    }
}

/// When a search has to end early, and what it could not see.
pub struct Stop {
    cancel: CancellationToken,
    deadline: Instant,
    timed_out: AtomicBool,
    unreadable: AtomicU64,
}

impl Stop {
    /// Ends after `seconds`, or when cancelled.
    pub fn new(cancel: CancellationToken, seconds: u64) -> Self {
        Self {
            cancel,
            deadline: Instant::now() + Duration::from_secs(seconds),
            timed_out: AtomicBool::new(false),
            unreadable: AtomicU64::new(0),
        }
    }

    /// Files and folders that could not be read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// Notes a file or folder that could not be read. One that is gone was never there.
    pub fn note(&self, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether to end now.
    pub fn now(&self) -> bool {
        if Instant::now() >= self.deadline {
            self.timed_out.store(true, Ordering::Relaxed);
        }
        self.timed_out() || self.cancel.is_cancelled()
    }

    /// Whether time ran out, so that results are partial.
    pub fn timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }
}

/// The greatest path that still matters: once enough smaller ones are known, greater paths need
/// not even be looked at.
#[derive(Default)]
pub struct Horizon {
    set: AtomicBool,
    path: RwLock<String>,
}

impl Horizon {
    /// Moves the horizon. It only ever comes nearer.
    pub fn set(&self, path: &str) {
        let mut held = self.path.write().unwrap_or_else(PoisonError::into_inner);
        path.clone_into(&mut held);
        self.set.store(true, Ordering::Release);
    }

    /// Whether `path` (and, for a folder ending in `/`, all below it) is too great to matter.
    pub fn hides(&self, path: &str) -> bool {
        self.set.load(Ordering::Acquire)
            && path
                > self
                    .path
                    .read()
                    .unwrap_or_else(PoisonError::into_inner)
                    .as_str()
    }
}

/// Sees the entries of one thread.
pub trait Visitor: Send {
    /// Takes an entry; `shown` ends in `/` for a folder.
    fn visit(&mut self, entry: &DirEntry, shown: String);
}

/// Walks all of `ground`, with a visitor from `make` for each thread.
pub fn walk<'s>(
    ground: &'s Ground,
    stop: &'s Stop,
    horizon: &'s Horizon,
    make: &'s (dyn Fn() -> Box<dyn Visitor + 's> + Sync),
) {
    let threads = available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS);
    let mut crew = Crew {
        ground,
        stop,
        horizon,
        make,
    };
    WalkBuilder::new(&ground.root)
        .hidden(false)
        .require_git(false)
        .threads(threads)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .build_parallel()
        .visit(&mut crew);
}

struct Crew<'s> {
    ground: &'s Ground,
    stop: &'s Stop,
    horizon: &'s Horizon,
    make: &'s (dyn Fn() -> Box<dyn Visitor + 's> + Sync),
}

impl<'s> ParallelVisitorBuilder<'s> for Crew<'s> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        Box::new(Walker {
            ground: self.ground,
            stop: self.stop,
            horizon: self.horizon,
            visitor: (self.make)(),
        })
    }
}

struct Walker<'s> {
    ground: &'s Ground,
    stop: &'s Stop,
    horizon: &'s Horizon,
    visitor: Box<dyn Visitor + 's>,
}

impl ParallelVisitor for Walker<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.stop.now() {
            return WalkState::Quit;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                if let Some(error) = error.io_error() {
                    self.stop.note(error);
                }
                return WalkState::Continue;
            }
        };
        if entry.depth() == 0 && self.ground.is_folder {
            return WalkState::Continue;
        }
        let mut shown = self.ground.shown(entry.path());
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if is_folder {
            shown.push('/');
        }
        if self.horizon.hides(&shown) {
            return WalkState::Skip;
        }
        self.visitor.visit(&entry, shown);
        WalkState::Continue
    }
}
