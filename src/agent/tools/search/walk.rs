//! Walks a folder as ripgrep and fd do: in parallel, with hidden names, without `.git`, obeying
//! ignore files also outside repositories, following no links. The `ignore` crate's own walk waits
//! for whatever an ignore file is, and for threads that could not be started.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, available_parallelism};

use rustix::fs::FileType;
use tokio_util::sync::CancellationToken;

use super::budget::{Budget, Limits, Omission};
use super::hits::Hits;
use super::ignores::{IgnoreLoader, Rules};
use super::root::SearchRoot;
use crate::agent::paths;
use crate::agent::workspace::{Closed, Reach};

/// More threads only wait for each other.
const MAX_THREADS: usize = 12;
/// Files of one folder that one thread visits in a row.
const BATCH: usize = 64;

/// A file, folder or link below the root.
pub struct Entry {
    pub path: PathBuf,
    /// The path as it is written in results; a folder's ends in `/`.
    pub shown: String,
    pub kind: FileType,
}

/// Walks all of `root` but what cannot be among the first `hits` any more, with a visitor from
/// `make_visitor` for each thread.
pub fn walk<V: FnMut(Entry)>(
    root: &SearchRoot,
    budget: &Budget,
    hits: &Hits,
    make_visitor: impl Fn() -> V + Sync,
) {
    let ignores = IgnoreLoader::new(&root.path, budget);
    walk_unless(root, budget, hits, ignores, make_visitor);
}

/// Walks all below the folder `root` that git does not ignore, for at most `seconds`, with a visitor
/// from `make_visitor` for each thread. Returns whether that was all.
pub fn walk_unignored<V: FnMut(Entry)>(
    root: &Path,
    seconds: u64,
    make_visitor: impl Fn() -> V + Sync,
) -> bool {
    let limits = Limits {
        count: usize::MAX,
        max_bytes: usize::MAX - 1,
        seconds,
    };
    let budget = Budget::new(CancellationToken::new(), limits);
    let ignores = IgnoreLoader::new(root, &budget).of_git();
    let root = SearchRoot::at(root);
    walk_unless(&root, &budget, &Hits::new(limits), ignores, make_visitor);
    !budget.timed_out()
}

fn walk_unless<V: FnMut(Entry)>(
    root: &SearchRoot,
    budget: &Budget,
    hits: &Hits,
    ignores: IgnoreLoader<'_>,
    make_visitor: impl Fn() -> V + Sync,
) {
    let walker = Walker {
        budget,
        hits,
        ignores,
        reach: &root.reach,
        closed: root.reach.closed_below(&root.path),
        queue: Queue::default(),
    };
    walker.queue.push(vec![Task::Folder(Folder {
        path: root.path.clone(),
        shown: root.prefix(),
        rules: walker.ignores.above(),
    })]);
    let work = || walker.work(make_visitor());
    thread::scope(|scope| {
        let threads = available_parallelism().map_or(1, usize::from);
        for _ in 1..threads.min(MAX_THREADS) {
            // Where no more threads can be had, those that there are do the work.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

struct Folder {
    path: PathBuf,
    /// What the paths of its entries begin with.
    shown: String,
    /// The rules that hold for it from outside.
    rules: Rules,
}

enum Task {
    Folder(Folder),
    Files(Vec<Entry>),
}

/// What the threads of a walk share.
struct Walker<'s> {
    budget: &'s Budget,
    hits: &'s Hits,
    ignores: IgnoreLoader<'s>,
    reach: &'s Reach,
    closed: Closed<'s>,
    queue: Queue,
}

impl Walker<'_> {
    fn work(&self, mut visit: impl FnMut(Entry)) {
        while let Some((task, _busy)) = self.queue.next() {
            match task {
                Task::Folder(folder) => self.enter(folder, &mut visit),
                Task::Files(files) => self.visit(files, &mut visit),
            }
        }
    }

    fn visit(&self, entries: Vec<Entry>, visit: &mut impl FnMut(Entry)) {
        for entry in entries {
            if self.budget.is_spent() {
                return;
            }
            if !self.hits.is_beyond(&entry.shown) {
                visit(entry);
            }
        }
    }

    fn enter(&self, folder: Folder, visit: &mut impl FnMut(Entry)) {
        if self.budget.is_spent() || self.hits.is_beyond(&folder.shown) {
            return;
        }
        let names = match self.names(&folder) {
            Ok(names) => names,
            Err(error) => {
                self.budget.omit_unreadable(&error, folder.shown);
                return;
            }
        };
        let holds = |name: &str| names.iter().any(|(held, _)| held == name);
        let rules = self
            .ignores
            .enter(&folder.path, &folder.shown, folder.rules, holds);
        let (mut entries, mut tasks) = (Vec::new(), Vec::new());
        for (name, kind) in names {
            let path = folder.path.join(&name);
            if name == ".git" || self.ignores.is_ignored(&rules, &path, kind.is_dir()) {
                continue;
            }
            let slash = if kind.is_dir() { "/" } else { "" };
            let shown = format!("{}{}{slash}", folder.shown, paths::readable(&name));
            if self.closed.holds(&name, &path) {
                self.budget.omit(Omission::Protected, shown);
                continue;
            }
            if self.hits.is_beyond(&shown) {
                continue;
            }
            if kind.is_dir() {
                tasks.push(Task::Folder(Folder {
                    path: path.clone(),
                    shown: shown.clone(),
                    rules: rules.clone(),
                }));
            }
            entries.push(Entry { path, shown, kind });
        }
        while entries.len() > BATCH {
            tasks.push(Task::Files(entries.split_off(entries.len() - BATCH)));
        }
        self.queue.push(tasks);
        self.visit(entries, visit);
    }

    /// The names in a folder, as many as can be read.
    fn names(&self, folder: &Folder) -> io::Result<Vec<(OsString, FileType)>> {
        let opened = self.reach.open_folder(&folder.path)?;
        let entries = opened.names()?;
        Ok(self.budget.readable(entries, &folder.shown).collect())
    }
}

/// What is still to do. The last comes first, so that it stays short.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    tasks: Vec<Task>,
    /// Threads at work, which may add tasks.
    busy: usize,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, tasks: Vec<Task>) {
        if !tasks.is_empty() {
            self.lock().tasks.extend(tasks);
            self.changed.notify_all();
        }
    }

    /// Waits for a task. None when all are done.
    fn next(&self) -> Option<(Task, Busy<'_>)> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.tasks.pop() {
                state.busy += 1;
                return Some((task, Busy(self)));
            }
            if state.busy == 0 {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Counts a thread as busy for as long as it lives, also when the thread panics.
struct Busy<'q>(&'q Queue);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.busy -= 1;
        if state.busy == 0 && state.tasks.is_empty() {
            self.0.changed.notify_all();
        }
    }
}
