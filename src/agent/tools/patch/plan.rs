//! Plans a patch in memory before anything is written. Each section applies to the current files, as
//! changed by earlier sections. Reads files, writes none.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::apply::{apply, is_exact_and_unique};
use super::parse::{Change, Hunk, Section};
use crate::paths::Purpose;
use crate::tool::{DiffDetails, FileChange, ToolError};
use crate::tools::edit::locked_file::{Caller, CurrentFile, LockedFile, ResolvedPath};
use crate::tools::edit::seen_files::Freshness;
use crate::tools::edit::{atomic, diff};
use crate::tools::kind;

/// Larger files can't be patched.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// The most failures reported at once.
const MAX_FAILURES: usize = 10;
/// Bytes of diffs shown per patch; stored details may have 256 KiB in total.
const MAX_SHOWN: usize = 192 * 1024;

/// The paths that a section may write, before checking which exist: as written, and without the prefix
/// that [`resolve`] drops if the file doesn't exist.
pub fn paths_of(section: &Section) -> Vec<String> {
    let is_new = matches!(section.change, Change::Add(_));
    let plain = without_prefix(&section.path).filter(|_| !is_new);
    let to = section.move_to.as_deref();
    let plain_to = plain.and(to).and_then(without_prefix);
    let paths = [Some(section.path.as_str()), plain, to, plain_to];
    paths.into_iter().flatten().map(str::to_owned).collect()
}

/// Resolves the files that a patch names: the file of each section, followed by its new place if it
/// moves. Uses the file system, which may block.
pub fn resolve(patch: &[Section], caller: &Caller) -> Result<Vec<ResolvedPath>, ToolError> {
    let mut paths = Vec::with_capacity(patch.len());
    for section in patch {
        let purpose = match section.change {
            Change::Add(_) => Purpose::MayBeNew,
            Change::Delete | Change::Update(_) => Purpose::Existing,
        };
        let is_there = |path: &ResolvedPath| path.entry.symlink_metadata().is_ok();
        let mut path = ResolvedPath::find(&section.path, caller, purpose)?;
        let mut to = section.move_to.as_deref();
        if purpose == Purpose::Existing
            && !is_there(&path)
            && let Some(plain) = without_prefix(&section.path)
            && let Ok(found) = ResolvedPath::find(plain, caller, purpose)
            && is_there(&found)
        {
            path = found;
            to = to.map(|to| without_prefix(to).unwrap_or(to));
        }
        paths.push(path);
        if let Some(to) = to {
            paths.push(ResolvedPath::find(to, caller, Purpose::MayBeNew)?);
        }
    }
    Ok(paths)
}

/// A path without the `a/` or `b/` that diffs prepend.
fn without_prefix(path: &str) -> Option<&str> {
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"))
}

/// The planned changes, all possible as far as that can be known beforehand.
#[derive(Default)]
pub struct Plan {
    /// The files, in the order the patch first names them.
    pub files: Vec<File>,
    by_path: HashMap<PathBuf, usize>,
    /// The outcome for each file, for the model.
    pub report: Vec<String>,
    failures: Vec<String>,
}

/// One file: its current and its future state.
pub struct File {
    pub locked: LockedFile,
    /// Its current state; none if it doesn't exist.
    pub before: Option<CurrentFile>,
    pub after: After,
    /// Whether the model has seen that content, apart from its own changes.
    pub freshness: Freshness,
    /// The file that moved here.
    moved_from: Option<usize>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub enum After {
    Same,
    Bytes(Vec<u8>),
    Gone,
}

impl File {
    fn is_there(&self) -> bool {
        match self.after {
            After::Same => self.before.is_some(),
            After::Bytes(_) => true,
            After::Gone => false,
        }
    }

    /// Its bytes at this point of the plan; none if it is too large.
    fn bytes(&self) -> Option<&[u8]> {
        match &self.after {
            After::Same => self.before.as_ref()?.bytes.as_deref(),
            After::Bytes(bytes) => Some(bytes),
            After::Gone => None,
        }
    }

    /// The file whose owner, mode and attributes it gets: the one that moved here, or else itself.
    pub fn like<'f>(&'f self, files: &'f [Self]) -> Option<&'f Path> {
        let like = self.moved_from.and_then(|from| files.get(from));
        let like = like.unwrap_or(self);
        like.before.is_some().then_some(&*like.locked.path.real)
    }
}

/// Plans `patch`; `locked` are its [`resolve`]d files.
///
/// # Errors
/// Everything that doesn't match; nothing was changed.
pub fn plan(patch: &[Section], locked: Vec<LockedFile>) -> Result<Plan, ToolError> {
    let mut plan = Plan::default();
    let mut locked = locked.into_iter();
    for section in patch {
        let Some(file) = locked.next() else { break };
        file.must_go_on()?;
        let to = section.move_to.as_ref().and_then(|_| locked.next());
        if let Err(failure) = plan.section(&section.change, file, to) {
            plan.failures.push(failure);
        }
    }
    plan.check_permissions();
    if plan.failures.is_empty() {
        return Ok(plan);
    }
    let more = plan.failures.len().saturating_sub(MAX_FAILURES);
    plan.failures.truncate(MAX_FAILURES);
    if more > 0 {
        plan.failures.push(format!("and {more} more"));
    }
    let failures = plan.failures.join("\n");
    Err(ToolError::new(format!(
        "The patch was not applied; no file was changed.\n{failures}"
    )))
}

impl Plan {
    fn section(
        &mut self,
        change: &Change,
        file: LockedFile,
        to: Option<LockedFile>,
    ) -> Result<(), String> {
        let shown = file.path.shown.clone();
        let file = self.open(file)?;
        match change {
            Change::Add(content) => self.add(file, content, &shown),
            Change::Delete => self.delete(file, &shown),
            Change::Update(hunks) => {
                let to = to.map(|to| self.open(to)).transpose()?;
                self.update(file, to, hunks, &shown)
            }
        }
    }

    /// The number of a file, which is loaded when the patch first names it.
    fn open(&mut self, locked: LockedFile) -> Result<usize, String> {
        if let Some(known) = self.by_path.get(&locked.path.real) {
            return Ok(*known);
        }
        let before = if locked.is_new() {
            None
        } else {
            Some(locked.load(MAX_FILE).map_err(|error| error.message)?)
        };
        let freshness = before.as_ref().map(|current| current.freshness.clone());
        let number = self.files.len();
        self.by_path.insert(locked.path.real.clone(), number);
        self.files.push(File {
            locked,
            before,
            after: After::Same,
            freshness: freshness.unwrap_or(Freshness::NeverSeen),
            moved_from: None,
        });
        Ok(number)
    }

    fn add(&mut self, file: usize, content: &str, shown: &str) -> Result<(), String> {
        self.must_be_fresh(file, "it was not overwritten")?;
        self.must_fit(file)?;
        let file = &mut self.files[file];
        let verb = if file.is_there() { "M" } else { "A" };
        file.after = After::Bytes(content.as_bytes().to_vec());
        self.report.push(format!("{verb} {shown}"));
        Ok(())
    }

    fn delete(&mut self, file: usize, shown: &str) -> Result<(), String> {
        self.must_exist(file, shown)?;
        self.must_be_fresh(file, "it was not deleted")?;
        self.files[file].after = After::Gone;
        self.report.push(format!("D {shown}"));
        Ok(())
    }

    fn update(
        &mut self,
        file: usize,
        to: Option<usize>,
        hunks: &[Hunk],
        shown: &str,
    ) -> Result<(), String> {
        self.must_exist(file, shown)?;
        self.must_fit(file)?;
        let to = to.filter(|to| *to != file);
        if let Some(to) = to {
            self.must_be_fresh(to, "nothing was moved there")?;
            self.must_fit(to)?;
        }
        let bytes = self.files[file].bytes().unwrap_or_default();
        if !hunks.is_empty() && kind::has_nul(bytes) {
            return Err(format!(
                "{shown} is a binary file; apply_patch can't change it."
            ));
        }
        let (mark, content) = kind::split_mark(bytes);
        let stale = self.files[file].freshness.is_changed();
        let fits = apply(content, hunks);
        let safe = fits.is_ok() && (!stale || is_exact_and_unique(content, hunks));
        let applied = match fits {
            Ok(applied) if safe => applied,
            failures => {
                let failures = failures.err().unwrap_or_default().into_iter();
                let failures = failures.map(|failure| format!("{shown}, {failure}"));
                let mut lines: Vec<String> = failures.take(MAX_FAILURES).collect();
                if stale {
                    lines.push(format!(
                        "{shown} has changed on disk since you last read it, so only hunks that match \
                         exactly and once are safe. {}",
                        self.changes(file)
                    ));
                }
                return Err(lines.join("\n"));
            }
        };
        let after = [mark, &applied.bytes].concat();
        if to.is_none() && after == bytes {
            return Err(format!(
                "No changes made to {shown}. The patch produced identical content."
            ));
        }
        let mut notes = applied.notes;
        if stale {
            notes.push("it had changed on disk since you last read it".to_owned());
        }
        let notes = match &notes[..] {
            [] => String::new(),
            notes => format!(" ({})", notes.join("; ")),
        };
        match to {
            None => {
                self.files[file].after = After::Bytes(after);
                self.report.push(format!("M {shown}{notes}"));
            }
            Some(to) => {
                self.files[file].after = After::Gone;
                let freshness = &mut self.files[file].freshness;
                self.files[to].freshness = std::mem::replace(freshness, Freshness::NeverSeen);
                self.files[to].after = After::Bytes(after);
                self.files[to].moved_from = Some(file);
                let new = self.files[to].locked.path.shown.clone();
                self.report.push(format!("M {shown} -> {new}{notes}"));
            }
        }
        Ok(())
    }

    fn must_exist(&self, file: usize, shown: &str) -> Result<(), String> {
        match &self.files[file] {
            file if file.is_there() => Ok(()),
            file if file.before.is_some() => Err(format!(
                "File not found: {shown} (an earlier section of the patch removes it)"
            )),
            _ => Err(format!("File not found: {shown}")),
        }
    }

    fn must_be_fresh(&self, file: usize, consequence: &str) -> Result<(), String> {
        if !self.files[file].freshness.is_changed() {
            return Ok(());
        }
        Err(format!(
            "{} has changed on disk since you last read it, so {consequence}. {}",
            self.files[file].locked.path.shown,
            self.changes(file)
        ))
    }

    /// A file to be replaced must be known completely, so that it can be restored.
    fn must_fit(&self, file: usize) -> Result<(), String> {
        match &self.files[file] {
            File {
                locked,
                before: Some(before),
                after: After::Same,
                ..
            } if before.bytes.is_none() => Err(format!(
                "{} is {}; apply_patch handles files up to {}.",
                locked.path.shown,
                kind::size(before.meta.len()),
                kind::size(MAX_FILE)
            )),
            _ => Ok(()),
        }
    }

    fn changes(&self, file: usize) -> String {
        let File { locked, before, .. } = &self.files[file];
        let before = before.as_ref();
        before.map_or_else(String::new, |before| locked.show_changes(before))
    }

    fn check_permissions(&mut self) {
        let changed = self.files.iter().filter(|file| file.after != After::Same);
        for File { locked, before, .. } in changed {
            if let Some(before) = before
                && let Err(error) = atomic::may_write(&locked.path.real, &before.meta)
            {
                let text = format!("{}: Failed to write file: {error}", locked.path.shown);
                self.failures.push(text);
            }
        }
    }

    /// Whether any file would change.
    pub fn changes_anything(&self) -> bool {
        self.files.iter().any(|file| match &file.after {
            After::Same => false,
            After::Gone => file.before.is_some(),
            After::Bytes(bytes) => {
                let before = file.before.as_ref();
                before.is_none_or(|before| before.bytes.as_ref() != Some(bytes))
            }
        })
    }

    /// Identifies the change: different for any other change or content.
    pub fn fingerprint(&self) -> u64 {
        let changed = self.files.iter().filter(|file| file.after != After::Same);
        let files = changed.map(|file| {
            let before = file.before.as_ref().map(CurrentFile::identity);
            (&file.locked.path.real, before, &file.after)
        });
        let files: Vec<_> = files.collect();
        let first = self.files.first();
        first.map_or(0, |first| first.locked.fingerprint(&files))
    }

    /// The view for users: a diff for each file.
    pub fn details(&self) -> DiffDetails {
        let moved: Vec<usize> = self
            .files
            .iter()
            .filter_map(|file| file.moved_from)
            .collect();
        let mut shown = Vec::new();
        let mut bytes = 0;
        for (number, file) in self.files.iter().enumerate() {
            let gone_elsewhere = file.after == After::Gone && moved.contains(&number);
            if file.after == After::Same || gone_elsewhere {
                continue;
            }
            let mut details = self.difference(file);
            bytes += details.diff.len();
            if bytes > MAX_SHOWN {
                details.diff.clear();
            }
            shown.push(details);
        }
        DiffDetails::of_all(shown)
    }

    fn difference(&self, file: &File) -> DiffDetails {
        let source = file.moved_from.and_then(|from| self.files.get(from));
        let before = source.unwrap_or(file).before.as_ref();
        let old = before.map_or(Some(&[][..]), |present| present.bytes.as_deref());
        let new = match &file.after {
            After::Bytes(bytes) => bytes.as_slice(),
            After::Same | After::Gone => &[],
        };
        let path = file.locked.path.display.clone();
        let mut details = match old {
            Some(old) if !kind::has_nul(old) && !kind::has_nul(new) => {
                diff::details(path, old, new)
            }
            _ => DiffDetails::of(path),
        };
        details.moved_from = source.map(|source| source.locked.path.display.clone());
        details.change = match (&file.before, &file.after) {
            (_, After::Gone) => FileChange::Deleted,
            (None, _) if source.is_none() => FileChange::Added,
            _ => FileChange::Changed,
        };
        details
    }
}
