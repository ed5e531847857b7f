//! Scans a tree. Lists every folder and stats every file each time, because only that shows a
//! change. For unchanged files, reuses what an earlier scan knows: content, and that git doesn't
//! ignore them. Opens only ignore files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, available_parallelism};

use rustix::fs::{FileType, Stat};
use tokio_util::sync::CancellationToken;

use super::tree::{Folder, Image, Kind, Seen, Tree, file_time, order};
use crate::git::git_folders;
use crate::stamp::Stamp;
use crate::tools::{Budget, IgnoreLoader, Limits, Queue, Rules};
use crate::workspace::Reach;

/// More threads only wait for each other.
const MAX_THREADS: usize = 12;
/// Folders to scan before other threads help.
const ALONE: usize = 32;

/// Scans the tree in `root` for at most `seconds`. Skips `own`, tiller's data folder, which changes
/// all the time. `base` is an earlier scan.
pub(super) fn look(root: &Path, own: &Path, base: Option<&Tree>, seconds: u64) -> Tree {
    let taken = file_time();
    let limits = Limits {
        count: usize::MAX,
        max_bytes: usize::MAX - 1,
        seconds,
    };
    let budget = Budget::new(CancellationToken::new(), limits);
    let ignores = IgnoreLoader::new(root, &budget).of_git();
    let rule_files: Vec<Option<Stamp>> = IgnoreLoader::files_outside(root)
        .iter()
        .map(|path| stamp_of(path))
        .collect();
    let base = base.filter(|base| base.root == root);
    let same_rules = base.is_some_and(|base| {
        let fresh = |stamp: &Option<Stamp>| stamp.is_some_and(|stamp| base.is_fresh(&stamp));
        base.rule_files == rule_files && !rule_files.iter().any(fresh)
    });
    let walk = Walk {
        root,
        own,
        base,
        budget: &budget,
        queue: Queue::default(),
        found: Mutex::default(),
        ignores,
    };
    walk.queue.push(vec![Task {
        path: PathBuf::new(),
        above: walk.ignores.above(),
        same_rules,
    }]);
    if walk.work(ALONE) == ALONE {
        thread::scope(|scope| {
            let threads = available_parallelism().map_or(1, usize::from);
            for _ in 1..threads.min(MAX_THREADS) {
                // If no more threads are available, the existing ones do the work.
                let work = || walk.work(usize::MAX);
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            walk.work(usize::MAX);
        });
    }
    let found = walk.found.into_inner();
    let mut folders = found.unwrap_or_else(PoisonError::into_inner);
    folders.sort_unstable_by(|a, b| order(&a.path, &b.path));
    Tree {
        root: root.to_owned(),
        folders,
        is_whole: !budget.timed_out(),
        taken,
        rule_files,
        indexes: None,
    }
}

/// A folder to scan.
struct Task {
    /// Relative to the root.
    path: PathBuf,
    /// The ignore rules from its parents.
    above: Rules,
    /// Whether they match the earlier scan.
    same_rules: bool,
}

/// State shared by the scanning threads.
struct Walk<'w> {
    root: &'w Path,
    own: &'w Path,
    base: Option<&'w Tree>,
    budget: &'w Budget,
    ignores: IgnoreLoader<'w>,
    queue: Queue<Task>,
    found: Mutex<Vec<Arc<Folder>>>,
}

type Named = (OsString, Stat);

impl Walk<'_> {
    /// Scans up to `most` folders and returns how many.
    fn work(&self, most: usize) -> usize {
        let mut found = Vec::new();
        let mut count = 0;
        while count < most
            && let Some((task, _busy)) = self.queue.next()
        {
            count += 1;
            found.extend(self.enter(task));
        }
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        all.append(&mut found);
        count
    }

    /// The entries of a folder; `None` if unreadable.
    fn enter(&self, task: Task) -> Option<Arc<Folder>> {
        if self.budget.is_spent() {
            return None;
        }
        let whole = if task.path.as_os_str().is_empty() {
            self.root.to_owned()
        } else {
            self.root.join(&task.path)
        };
        let opened = Reach::everything().open_folder(&whole).ok()?;
        let mut names: Vec<Named> = opened.stats().ok()?;
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let stat = |name: &str| {
            let found = names.binary_search_by(|(held, _)| held.as_os_str().cmp(name.as_ref()));
            found.ok().map(|at| &names[at].1)
        };
        let is_top = stat(".git").is_some();
        let exclude = || git_folders(&whole).map(|git| git.common.join("info/exclude"));
        let rule_files = [
            stat(".gitignore").map(Stamp::of_stat),
            is_top.then(exclude).flatten().and_then(|it| stamp_of(&it)),
        ];
        let base = self.base.zip(
            self.base
                .and_then(|base| base.folder(&task.path))
                .filter(|folder| !folder.is_ignored),
        );
        let known = base.filter(|(tree, folder)| {
            let fresh = |stamp: &Option<Stamp>| stamp.is_some_and(|stamp| tree.is_fresh(&stamp));
            let same = folder.rule_files == rule_files && folder.is_top == is_top;
            task.same_rules && same && !rule_files.iter().any(fresh)
        });
        let rules = match known {
            Some((_, folder)) => folder.rules.clone(),
            None => {
                let holds = |name: &str| stat(name).is_some();
                self.ignores.enter(&whole, "", task.above, holds)
            }
        };
        names.retain(|(name, stat)| {
            let is_folder = kind(stat).is_dir();
            if name == ".git" {
                return false;
            }
            let seen = known.and_then(|(_, folder)| folder.get(name));
            if seen.is_some_and(|seen| (seen.kind == Kind::Folder) == is_folder) {
                return !(is_folder && whole.join(name) == self.own);
            }
            let path = whole.join(name);
            path != self.own && !self.ignores.is_ignored(&rules, &path, is_folder)
        });
        let below = names.iter().filter(|(_, stat)| kind(stat).is_dir());
        let below = below.map(|(name, _)| Task {
            path: task.path.join(name),
            above: rules.clone(),
            same_rules: known.is_some(),
        });
        self.queue.push(below.collect());
        if let Some((tree, folder)) = known
            && is_same(tree, folder, &names)
        {
            return Some(Arc::clone(folder));
        }
        let former = base.map(|(tree, folder)| (tree, &**folder));
        let entries = names
            .into_iter()
            .filter_map(|(name, stat)| see(name, &stat, &whole, former));
        Some(Arc::new(Folder {
            entries: entries.collect(),
            path: task.path,
            is_top,
            is_ignored: false,
            rules,
            rule_files,
        }))
    }
}

/// True if a folder is unchanged since an earlier scan, and nothing in it was touched so recently
/// that a change might not show.
fn is_same(tree: &Tree, folder: &Folder, names: &[Named]) -> bool {
    folder.entries.len() == names.len()
        && folder
            .entries
            .iter()
            .zip(names)
            .all(|(seen, named)| seen.name == named.0 && stays(tree, seen, &named.1))
}

fn stays(tree: &Tree, seen: &Seen, stat: &Stat) -> bool {
    let kind = kind(stat);
    let is_kind = match seen.kind {
        Kind::File(_) => kind.is_file(),
        Kind::Folder => kind.is_dir(),
        Kind::Link(_) => kind.is_symlink(),
        Kind::Special => false,
    };
    is_kind && seen.stamp == Stamp::of_stat(stat) && !tree.is_fresh(&seen.stamp)
}

fn see(
    name: OsString,
    stat: &Stat,
    whole: &Path,
    former: Option<(&Tree, &Folder)>,
) -> Option<Seen> {
    let seen = former.and_then(|(tree, folder)| {
        let seen = folder.get(&name)?;
        stays(tree, seen, stat).then_some(seen)
    });
    let kind = match (seen, kind(stat)) {
        (Some(seen), _) => seen.kind.clone(),
        (None, kind) if kind.is_file() => Kind::File(Image::Unknown),
        (None, kind) if kind.is_dir() => Kind::Folder,
        (None, kind) if kind.is_symlink() => Kind::Link(fs::read_link(whole.join(&name)).ok()?),
        (None, _) => Kind::Special,
    };
    Some(Seen {
        name,
        stamp: Stamp::of_stat(stat),
        kind,
    })
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|meta| Stamp::of(&meta))
}
