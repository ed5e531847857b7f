//! Walks a folder like ripgrep and fd: in parallel, with hidden names, without `.git`, respecting ignore
//! files even outside repositories, following no links. The `ignore` crate's own walk would wait for any
//! kind of ignore file, and for threads that couldn't start.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::thread::{self, available_parallelism};

use super::budget::{Budget, Omission};
use super::hits::Hits;
use super::ignores::{IgnoreLoader, Rules};
use super::queue::Queue;
use super::root::SearchRoot;
use crate::paths;
use crate::workspace::{Closed, Reach};
use rustix::fs::FileType;

/// More threads would only wait for each other.
const MAX_THREADS: usize = 12;
/// Files of one folder that one thread visits in a row.
const BATCH: usize = 64;

/// A file, folder or link below the root.
pub struct Entry {
    pub path: PathBuf,
    /// The path as results show it; a folder's ends in `/`.
    pub shown: String,
    pub kind: FileType,
}

/// Walks `root`, each thread with its own visitor. Skips paths too late for the first `hits`.
pub fn walk<V: FnMut(Entry)>(
    root: &SearchRoot,
    budget: &Budget,
    hits: &Hits,
    make_visitor: impl Fn() -> V + Sync,
) {
    let walker = Walker {
        budget,
        hits,
        ignores: IgnoreLoader::new(&root.path, budget),
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
            // If no more threads can start, the existing ones do the work.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

struct Folder {
    path: PathBuf,
    /// The prefix for the paths of its entries.
    shown: String,
    /// The rules from outside that apply to it.
    rules: Rules,
}

enum Task {
    Folder(Folder),
    Files(Vec<Entry>),
}

/// The state that the threads of a walk share.
struct Walker<'s> {
    budget: &'s Budget,
    hits: &'s Hits,
    ignores: IgnoreLoader<'s>,
    reach: &'s Reach,
    closed: Closed<'s>,
    queue: Queue<Task>,
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

    /// The readable names in a folder.
    fn names(&self, folder: &Folder) -> io::Result<Vec<(OsString, FileType)>> {
        let opened = self.reach.open_folder(&folder.path)?;
        let entries = opened.names()?;
        Ok(self.budget.readable(entries, &folder.shown).collect())
    }
}
