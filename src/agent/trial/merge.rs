//! Plans how keeping a trial changes the user's files, completely before anything is written. If
//! both sides have changed a text since the trial began, git merges them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::changes::Changed;
use super::copy::{Found, Looker};
use super::error::{Obstacle, TrialError};
use super::objects::Objects;
use super::record::Trial;
use super::snapshot::{Entry, Snapshot};
use crate::git::{Git, GitError};
use crate::stamp::Stamp;

/// The planned writes: the paths involved, before and after.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The user's current files.
    pub before: Snapshot,
    /// Their future contents. A path that is only in `before` will be removed.
    pub after: Snapshot,
    /// Number of files that both sides have changed.
    pub merged: usize,
}

/// What happens to a path.
enum Outcome {
    Stays,
    /// It gets this content, or is removed.
    Becomes(Option<Entry>),
    /// Three versions of a text must be merged.
    Merge {
        executable: bool,
        versions: [String; 3],
    },
    /// It prevents the keep.
    Blocks(&'static str),
}

impl Plan {
    /// Plans what happens to `changed`.
    pub fn make(
        trial: &Trial,
        objects: &Objects,
        begun: &Snapshot,
        now: &Snapshot,
        changed: &[Changed],
        cancel: &CancellationToken,
    ) -> Result<Self, TrialError> {
        let (mut here, folders, mut obstacles) = look_at(trial, changed)?;
        objects.name_versions(&mut here, &trial.root, cancel)?;
        let mut plan = Self::default();
        for Changed { path, .. } in changed {
            if obstacles.iter().any(|obstacle| obstacle.path == *path) {
                continue;
            }
            let own = here.get(path);
            let becomes = match outcome(begun.get(path), own, now.get(path)) {
                Outcome::Stays => continue,
                Outcome::Becomes(entry) => Ok(entry),
                Outcome::Merge {
                    executable,
                    versions,
                } => match merge(trial, objects, &versions)? {
                    Some(version) => {
                        plan.merged += 1;
                        Ok(Some(Entry::File {
                            executable,
                            version,
                        }))
                    }
                    None => Err("changed in the same place here and in the trial"),
                },
                Outcome::Blocks(why) => Err(why),
            };
            match becomes {
                Ok(becomes) => plan.add(path, &here, becomes, now),
                Err(why) => obstacles.push(Obstacle {
                    path: path.clone(),
                    why,
                }),
            }
        }
        plan.check_folders(trial, &folders, &mut obstacles);
        if obstacles.is_empty() {
            return Ok(plan);
        }
        obstacles.sort_by(|a, b| a.path.cmp(&b.path));
        Err(TrialError::Conflicts(obstacles))
    }

    fn add(&mut self, path: &Path, here: &Snapshot, becomes: Option<Entry>, now: &Snapshot) {
        let keep = |into: &mut Snapshot, entry: Entry, stamp: Option<&Stamp>| {
            into.entries.insert(path.to_owned(), entry);
            into.stamps
                .extend(stamp.map(|stamp| (path.to_owned(), *stamp)));
        };
        if let Some(entry) = here.get(path) {
            keep(&mut self.before, entry.clone(), here.stamps.get(path));
        }
        if let Some(entry) = becomes {
            keep(&mut self.after, entry, now.stamps.get(path));
        }
    }

    fn removes(&self, path: &Path) -> bool {
        self.before.get(path).is_some() && self.after.get(path).is_none()
    }

    /// Finds writes through a link or into a file, or that replace a folder with other files.
    fn check_folders(
        &self,
        trial: &Trial,
        folders: &BTreeSet<PathBuf>,
        obstacles: &mut Vec<Obstacle>,
    ) {
        let mut block = |path: &Path, why| {
            let path = path.to_owned();
            obstacles.push(Obstacle { path, why });
        };
        for path in self.after.entries.keys() {
            let above = path.ancestors().skip(1);
            for folder in above.filter(|it| !it.as_os_str().is_empty()) {
                let meta = fs::symlink_metadata(trial.root.join(folder));
                if meta.is_ok_and(|meta| !meta.is_dir()) && !self.removes(folder) {
                    block(path, "is in a folder that is a file or a link here");
                    break;
                }
            }
            if folders.contains(path) && !self.empties(&trial.root, path) {
                block(path, "is a folder with other files here");
            }
        }
    }

    /// Returns `true` if all files below a user's folder will be removed.
    fn empties(&self, root: &Path, folder: &Path) -> bool {
        let Ok(entries) = fs::read_dir(root.join(folder)) else {
            return false;
        };
        entries.into_iter().all(|entry| {
            let Ok(entry) = entry else { return false };
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.empties(root, &path),
                _ => self.removes(&path),
            }
        })
    }
}

/// Returns what the user has at the changed paths: files, folders, or obstacles.
fn look_at(
    trial: &Trial,
    changed: &[Changed],
) -> Result<(Snapshot, BTreeSet<PathBuf>, Vec<Obstacle>), TrialError> {
    let (mut here, mut folders) = (Snapshot::default(), BTreeSet::new());
    let mut obstacles = Vec::new();
    let mut looker = Looker::new(&trial.root);
    for Changed { path, .. } in changed {
        let entry = match looker.find(path)? {
            Found::Nothing => continue,
            Found::Folder => {
                folders.insert(path.clone());
                continue;
            }
            Found::Special => {
                obstacles.push(Obstacle {
                    path: path.clone(),
                    why: "is neither a file nor a folder here",
                });
                continue;
            }
            Found::Link(target) => Entry::Link(target),
            Found::File(meta) => Entry::unnamed(&meta),
        };
        here.entries.insert(path.clone(), entry);
    }
    Ok((here, folders, obstacles))
}

fn outcome(begun: Option<&Entry>, here: Option<&Entry>, now: Option<&Entry>) -> Outcome {
    if here == now {
        return Outcome::Stays;
    }
    if here == begun {
        return Outcome::Becomes(now.cloned());
    }
    match (begun, here, now) {
        (
            Some(Entry::File {
                executable: was,
                version: base,
            }),
            Some(Entry::File {
                executable: own,
                version: ours,
            }),
            Some(Entry::File {
                executable: tried,
                version: theirs,
            }),
        ) => {
            let executable = if tried == was { *own } else { *tried };
            let version = if theirs == base || theirs == ours {
                ours
            } else if ours == base {
                theirs
            } else {
                let versions = [ours, base, theirs].map(Clone::clone);
                return Outcome::Merge {
                    executable,
                    versions,
                };
            };
            Outcome::Becomes(Some(Entry::File {
                executable,
                version: version.clone(),
            }))
        }
        (_, None, _) => Outcome::Blocks("removed here, changed in the trial"),
        (_, _, None) => Outcome::Blocks("changed here, removed in the trial"),
        (None, ..) => Outcome::Blocks("added here and in the trial, with different content"),
        _ => Outcome::Blocks("changed here and in the trial, and can't be merged"),
    }
}

/// Merges the user's text, the original and the trial's. Returns `None` if they conflict.
fn merge(
    trial: &Trial,
    objects: &Objects,
    versions: &[String; 3],
) -> Result<Option<String>, TrialError> {
    let folder = trial.folder.join("merge");
    fs::create_dir_all(&folder).map_err(TrialError::io("can't create", &folder))?;
    let names = ["here", "before", "trial"];
    let wanted: Vec<&str> = versions.iter().map(String::as_str).collect();
    objects.read(&wanted, |index, bytes| {
        let path = folder.join(names[index]);
        fs::write(&path, bytes).map_err(TrialError::io("can't write", &path))
    })?;
    let arguments = ["merge-file", "--stdout", "--quiet"];
    let merged = match Git::within(&folder).run(&[&arguments[..], &names].concat()) {
        Ok(merged) => merged,
        Err(GitError::Refused { text, .. }) if text.is_empty() || text.contains("binary") => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let path = folder.join("merged");
    fs::write(&path, merged).map_err(TrialError::io("can't write", &path))?;
    let named = objects.keep(&folder, &["merged".into()], &CancellationToken::new())?;
    Ok(named.into_iter().next())
}
