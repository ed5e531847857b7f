//! What a patch comes to, worked out in memory before anything is written: every section against
//! the files as they are, or as sections before it leave them. Reads files, writes none.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::apply::{HunkReport, apply, is_exact_and_unique};
use super::parse::{Change, Hunk, Patch, Section};
use crate::agent::tool::{DiffDetails, FileChange, ToolError};
use crate::agent::tools::edit::index::Fuzz;
use crate::agent::tools::edit::locked_file::{CurrentFile, LockedFile, ResolvedPath};
use crate::agent::tools::edit::seen_files::Freshness;
use crate::agent::tools::edit::{atomic, diff};
use crate::agent::tools::kind;
use crate::agent::tools::paths::Purpose;

/// Larger files are not patched.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Failures told at once.
const MAX_FAILURES: usize = 10;
/// Bytes of diffs shown of one patch; stored details may have 256 KiB in all.
const MAX_SHOWN: usize = 192 * 1024;

/// The paths that a section may write, before anybody looks which of them are there: as they are
/// written, and without the prefix that [`resolve`] takes away where there is no such file.
pub fn paths_of(section: &Section) -> Vec<String> {
    let mut paths = vec![section.path.as_str()];
    let plain = without_prefix(&section.path);
    match &section.change {
        Change::Add(_) => {}
        Change::Delete => paths.extend(plain),
        Change::Update { move_to, .. } => {
            paths.extend(plain);
            let to = move_to.as_deref();
            paths.extend(to);
            paths.extend(plain.and(to).and_then(without_prefix));
        }
    }
    paths.into_iter().map(str::to_owned).collect()
}

/// The files that `patch` speaks of: for each section its file, and behind it where that moves to.
/// Asks the file system, which may block.
pub fn resolve(patch: &Patch, cwd: &Path) -> Result<Vec<ResolvedPath>, ToolError> {
    let mut paths = Vec::with_capacity(patch.sections.len());
    for section in &patch.sections {
        let purpose = match section.change {
            Change::Add(_) => Purpose::MayBeNew,
            Change::Delete | Change::Update { .. } => Purpose::Existing,
        };
        let path = ResolvedPath::find(&section.path, cwd, purpose)?;
        let plain = without_prefix(&section.path).filter(|_| purpose == Purpose::Existing);
        let plain = plain.filter(|_| path.entry.symlink_metadata().is_err());
        let plain = plain.and_then(|path| ResolvedPath::find(path, cwd, purpose).ok());
        let plain = plain.filter(|path| path.entry.symlink_metadata().is_ok());
        let prefixed = plain.is_some();
        paths.push(plain.unwrap_or(path));
        if let Change::Update {
            move_to: Some(to), ..
        } = &section.change
        {
            let to = without_prefix(to).filter(|_| prefixed).unwrap_or(to);
            paths.push(ResolvedPath::find(to, cwd, Purpose::MayBeNew)?);
        }
    }
    Ok(paths)
}

/// A path without the `a/` or `b/` that diffs put before it.
fn without_prefix(path: &str) -> Option<&str> {
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"))
}

/// What is to be done, all of it possible as far as can be known before.
pub struct Plan {
    /// The files, in the order the patch first speaks of them.
    pub files: Vec<File>,
    /// What was done to which file, a line for each, for the model.
    pub report: String,
}

/// One file, as it is and as it is going to be.
pub struct File {
    /// Where it is.
    pub locked: LockedFile,
    /// What is there; none when nothing is.
    pub before: Option<CurrentFile>,
    /// What is going to be there.
    pub after: After,
    /// Whether the model has seen that content but for its own changes.
    pub freshness: Freshness,
    /// The file it was before it moved here.
    moved_from: Option<usize>,
}

/// What a file is going to be.
#[derive(Debug, PartialEq, Eq)]
pub enum After {
    /// What it is.
    Same,
    /// These bytes.
    Bytes(Vec<u8>),
    /// Gone.
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

    /// Its bytes as far as the patch was worked out; none when it is too large.
    fn bytes(&self) -> Option<&[u8]> {
        match &self.after {
            After::Same => self.before.as_ref()?.bytes.as_deref(),
            After::Bytes(bytes) => Some(bytes),
            After::Gone => None,
        }
    }

    /// The file whose owner, mode and attributes it gets: where it moved from, else itself.
    pub fn like<'f>(&'f self, files: &'f [Self]) -> Option<(&'f Path, &'f Metadata)> {
        let like = self.moved_from.and_then(|from| files.get(from));
        let like = like.unwrap_or(self);
        Some((&like.locked.path.real, &like.before.as_ref()?.meta))
    }
}

/// Works `patch` out; `locked` are its [`resolve`]d files.
///
/// # Errors
/// Everything that does not fit, in words; nothing was changed.
pub fn plan(patch: &Patch, locked: Vec<LockedFile>) -> Result<Plan, ToolError> {
    let mut work = Work::default();
    let mut locked = locked.into_iter();
    for section in &patch.sections {
        let Some(file) = locked.next() else { break };
        let to = match &section.change {
            Change::Update {
                move_to: Some(_), ..
            } => locked.next(),
            _ => None,
        };
        if let Err(failure) = work.section(&section.change, file, to) {
            work.failures.push(failure);
        }
    }
    work.check_permissions();
    work.finish()
}

#[derive(Default)]
struct Work {
    files: Vec<File>,
    by_path: HashMap<PathBuf, usize>,
    report: String,
    failures: Vec<String>,
}

impl Work {
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
            Change::Update { hunks, .. } => {
                let to = to.map(|to| self.open(to)).transpose()?;
                self.update(file, to, hunks, &shown)
            }
        }
    }

    /// The number of a file, which is loaded when the patch first speaks of it.
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
        let verb = if self.files[file].is_there() {
            "M"
        } else {
            "A"
        };
        self.must_fit(file)?;
        self.files[file].after = After::Bytes(content.as_bytes().to_vec());
        self.tell(format_args!("{verb} {shown}"));
        Ok(())
    }

    fn delete(&mut self, file: usize, shown: &str) -> Result<(), String> {
        self.must_exist(file, shown)?;
        self.must_be_fresh(file, "it was not deleted")?;
        self.files[file].after = After::Gone;
        self.tell(format_args!("D {shown}"));
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
            return Err(format!("{shown} is a binary file and cannot be patched."));
        }
        let (mark, content) = kind::split_mark(bytes);
        let stale = self.files[file].freshness.is_changed();
        let fits = apply(content, hunks);
        let safe = fits.is_ok() && (!stale || is_exact_and_unique(content, hunks));
        let applied = match fits {
            Ok(applied) if safe => applied,
            failures => {
                let mut text = String::new();
                for failure in failures.err().unwrap_or_default().iter().take(MAX_FAILURES) {
                    let line = hunks[failure.hunk - 1].line;
                    let _ = writeln!(
                        text,
                        "{shown}, hunk {} (line {line} of the patch): {}",
                        failure.hunk, failure.text
                    );
                }
                if stale {
                    let _ = writeln!(
                        text,
                        "{shown} has changed on disk since you last read it, so only hunks that are \
                         exact and in one place are safe. {}",
                        self.changes(file)
                    );
                }
                return Err(text.trim_end().to_owned());
            }
        };
        let after = [mark, &applied.bytes].concat();
        if to.is_none() && after == bytes {
            return Err(format!(
                "No changes made to {shown}. The patch produced identical content."
            ));
        }
        let notes = notes(&applied.reports, stale);
        match to {
            None => {
                self.files[file].after = After::Bytes(after);
                self.tell(format_args!("M {shown}{notes}"));
            }
            Some(to) => {
                self.files[file].after = After::Gone;
                let freshness = &mut self.files[file].freshness;
                self.files[to].freshness = std::mem::replace(freshness, Freshness::NeverSeen);
                self.files[to].after = After::Bytes(after);
                self.files[to].moved_from = Some(file);
                let new = self.files[to].locked.path.shown.clone();
                self.tell(format_args!("M {shown} -> {new}{notes}"));
            }
        }
        Ok(())
    }

    fn tell(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.report, "{line}");
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

    /// What is to be replaced must be known whole, so that it can be put back.
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

    fn finish(mut self) -> Result<Plan, ToolError> {
        if self.failures.is_empty() {
            return Ok(Plan {
                files: self.files,
                report: self.report,
            });
        }
        let more = self.failures.len().saturating_sub(MAX_FAILURES);
        self.failures.truncate(MAX_FAILURES);
        if more > 0 {
            self.failures.push(format!("and {more} more"));
        }
        let failures = self.failures.join("\n");
        Err(ToolError::new(format!(
            "The patch was not applied; no file was changed.\n{failures}"
        )))
    }
}

/// What the model should know of how its hunks were placed.
fn notes(reports: &[HunkReport], stale: bool) -> String {
    let mut notes: Vec<String> = Vec::new();
    for report in reports {
        let hunk = report.hunk;
        if report.fuzz > Fuzz::Exact {
            notes.push(format!(
                "hunk {hunk} matched ignoring {}",
                report.fuzz.ignored()
            ));
        }
        if report.displaced {
            notes.push(format!(
                "hunk {hunk} was found at another position than given"
            ));
        }
    }
    if stale {
        notes.push("it had changed on disk since you last read it".to_owned());
    }
    if notes.is_empty() {
        String::new()
    } else {
        format!(" ({})", notes.join("; "))
    }
}

impl Plan {
    /// What users see: a diff for each file.
    pub fn details(&self) -> DiffDetails {
        let mut shown = Vec::new();
        let mut bytes = 0;
        let moved: Vec<usize> = self
            .files
            .iter()
            .filter_map(|file| file.moved_from)
            .collect();
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
        let mut shown = shown.into_iter();
        let mut details = shown.next().unwrap_or_default();
        details.files = shown.collect();
        details
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
