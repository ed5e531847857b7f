//! Finds files by name on its own threads, so that typing never waits.
//!
//! It reads folders only when a search needs them: most prompts name no file. It reads them again
//! after a while; until then it searches the old list.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use crate::agent::mcp::Mcp;
use crate::app::files::{FileIndex, Found, walk};
use crate::app::tui::msg::{EffectResult, FoundFiles};

const LIMIT: usize = 60;
/// The list is valid for this long, or ten times as long as it took to read.
const FRESH: Duration = Duration::from_secs(3);
/// The shortest time between searches of the partial list during the first read.
const PARTIAL: Duration = Duration::from_millis(120);

#[derive(Debug)]
enum Job {
    Find(String),
    Walked(FileIndex, Duration),
}

/// Finds files; the first search starts its thread, which ends when this is dropped.
pub(super) struct FileFinder {
    root: PathBuf,
    mcp: Mcp,
    results: UnboundedSender<EffectResult>,
    jobs: Option<Sender<Job>>,
}

struct Search {
    root: PathBuf,
    /// Its resources are found too.
    mcp: Mcp,
    results: UnboundedSender<EffectResult>,
    /// For the thread that reads folders.
    jobs: Sender<Job>,
    index: Option<FileIndex>,
    /// The running read, and how many of its paths are in the index.
    reading: Option<(Arc<Found>, usize)>,
    fresh_until: Option<Instant>,
    typed: String,
}

impl FileFinder {
    pub(super) fn new(root: &Path, mcp: Mcp, results: UnboundedSender<EffectResult>) -> Self {
        Self {
            root: root.to_owned(),
            mcp,
            results,
            jobs: None,
        }
    }

    /// Starts a search; of several waiting requests only the last is answered.
    pub(super) fn find(&mut self, typed: String) {
        if self.jobs.is_none() {
            self.jobs = self.start();
        }
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(Job::Find(typed));
        }
    }

    /// Reads the completions of a path.
    pub(super) fn read_folder(&self, typed: String) {
        let (root, results) = (self.root.clone(), self.results.clone());
        tokio::task::spawn_blocking(move || {
            let names = names_in_folder(&root, &typed);
            let _ = results.send(EffectResult::Folder(typed, names));
        });
    }

    /// `None` if no thread can be started.
    fn start(&self) -> Option<Sender<Job>> {
        let (sender, jobs) = channel();
        let search = Search {
            root: self.root.clone(),
            mcp: self.mcp.clone(),
            results: self.results.clone(),
            jobs: sender.clone(),
            index: None,
            reading: None,
            fresh_until: None,
            typed: String::new(),
        };
        let thread = thread::Builder::new().name("files".into());
        thread.spawn(move || search.run(&jobs)).ok()?;
        Some(sender)
    }
}

impl Search {
    fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            let first = match self.reading {
                Some(_) => jobs.recv_timeout(PARTIAL),
                None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match first {
                Ok(job) => {
                    for job in std::iter::once(job).chain(jobs.try_iter()) {
                        self.take(job);
                    }
                    self.answer();
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.grow() {
                        self.answer();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.results.is_closed() {
                return;
            }
        }
    }

    fn take(&mut self, job: Job) {
        match job {
            Job::Find(typed) => {
                self.typed = typed;
                let fresh = self.fresh_until.is_some_and(|until| Instant::now() < until);
                if !fresh && self.reading.is_none() {
                    self.read();
                }
            }
            Job::Walked(index, took) => {
                self.index = Some(index);
                self.reading = None;
                self.fresh_until = Some(Instant::now() + FRESH.max(took * 10));
            }
        }
    }

    fn read(&mut self) {
        let found = Arc::new(Found::default());
        self.reading = Some((Arc::clone(&found), 0));
        let (root, jobs) = (self.root.clone(), self.jobs.clone());
        let thread = thread::Builder::new().name("folders".into());
        let spawned = thread.spawn(move || {
            let begun = Instant::now();
            walk(&root, &found);
            let index = FileIndex::new(found.take());
            let _ = jobs.send(Job::Walked(index, begun.elapsed()));
        });
        if spawned.is_err() {
            self.reading = None;
        }
    }

    /// Uses the partial list if it is the only one and has grown a lot.
    fn grow(&mut self) -> bool {
        let Some((found, known)) = &mut self.reading else {
            return false;
        };
        let partial = self.index.is_none() || *known > 0;
        let count = found.count();
        if !partial || count < (*known * 2).max(1) {
            return false;
        }
        *known = count;
        self.index = Some(FileIndex::new(found.so_far()));
        true
    }

    fn answer(&self) {
        let index = self.index.as_ref();
        let found = index.map(|index| index.search(&self.typed, LIMIT));
        let mut paths = resources(&self.mcp, &self.typed);
        paths.extend(found.unwrap_or_default());
        let partial = self.reading.as_ref().is_some_and(|(_, known)| *known > 0);
        let found = FoundFiles {
            typed: self.typed.clone(),
            waits: partial || index.is_none(),
            paths,
        };
        let _ = self.results.send(EffectResult::Files(found));
    }
}

/// The resources that contain `typed`, as they are mentioned.
fn resources(mcp: &Mcp, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let all = mcp.resources().into_iter();
    let all = all.map(|(server, uri)| format!("{server}:{uri}"));
    let found = all.filter(|it| !typed.is_empty() && it.to_lowercase().contains(&typed));
    found.take(LIMIT).collect()
}

/// The names that complete a path; folders end with a slash.
fn names_in_folder(cwd: &Path, typed: &str) -> Vec<String> {
    let typed = typed.strip_prefix('@').unwrap_or(typed);
    let (folder, begun) = match typed.rfind('/') {
        Some(slash) => typed.split_at(slash + 1),
        None => ("", typed),
    };
    let folder = match (folder.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => cwd.join(folder),
    };
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let hidden = name.starts_with('.') && !begun.starts_with('.');
            if hidden || !name.starts_with(begun) || name.contains(char::is_control) {
                return None;
            }
            // Only links need a lookup of their target.
            let kind = entry.file_type().ok()?;
            let folder = kind.is_dir() || kind.is_symlink() && entry.path().is_dir();
            Some(if folder { format!("{name}/") } else { name })
        })
        .collect();
    names.sort();
    names
}
