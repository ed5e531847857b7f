//! Keeps a trial: applies a plan to the user's files, all or nothing. If it fails or is killed
//! halfway, it is rolled back.

use tokio_util::sync::CancellationToken;

use super::changes::{Changed, between, scan};
use super::copy::{Found, Looker};
use super::error::{Obstacle, TrialError};
use super::ignored::{self, CopiedIgnored};
use super::journal;
use super::merge::Plan;
use super::objects::Objects;
use super::record::Trial;
use super::snapshot::Entry;
use super::write::{Staged, remove_file};
use crate::stamp::Stamp;

/// The result of keeping a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The changed files, below the repository's root.
    pub changed: Vec<Changed>,
    /// How many of them the user had changed too.
    pub merged: usize,
    /// New files that git ignores.
    pub ignored: CopiedIgnored,
}

/// Applies the changes of `trial` to the user's files: either all, or none, reporting the files in
/// conflict. Then copies new files that git ignores to where nothing is. First rolls back a keep that
/// was killed.
pub fn keep(trial: &Trial, cancel: &CancellationToken) -> Result<Kept, TrialError> {
    recover(trial)?;
    let objects = trial.objects();
    let (plan, changed) = plan(trial, &objects, cancel)?;
    let ignored = ignored::new(trial)?;
    carry_out(trial, &objects, &plan)?;
    Ok(Kept {
        merged: plan.merged,
        ignored: CopiedIgnored::copy(trial, ignored),
        changed,
    })
}

fn plan(
    trial: &Trial,
    objects: &Objects,
    cancel: &CancellationToken,
) -> Result<(Plan, Vec<Changed>), TrialError> {
    let begun = trial.begun()?;
    let now = scan(trial, &begun, objects, cancel)?;
    let changed = between(&begun, &now);
    let plan = Plan::make(trial, objects, &begun, &now, &changed, cancel)?;
    Ok((plan, changed))
}

/// Undoes a keep of `trial` that was killed halfway. Returns whether there was one.
pub fn recover(trial: &Trial) -> Result<bool, TrialError> {
    journal::roll_back(trial, &trial.objects())
}

fn carry_out(trial: &Trial, objects: &Objects, plan: &Plan) -> Result<(), TrialError> {
    let staged = Staged::new(trial, objects, &plan.after.entries, &plan.after.stamps)?;
    must_be_as_planned(trial, plan)?;
    journal::open(trial, plan)?;
    let done = remove_all(trial, plan).and_then(|()| staged.commit(trial));
    done.map_err(|error| match journal::roll_back(trial, objects) {
        Ok(_) => error,
        Err(again) => TrialError::Damaged {
            path: trial.root.clone(),
            what: format!(
                "{error}; reverting what was written failed too ({again}). {} lists the old versions, \
                 which are in the same folder",
                trial.folder.join("keep.before").display()
            ),
        },
    })
}

fn remove_all(trial: &Trial, plan: &Plan) -> Result<(), TrialError> {
    let gone = plan.before.entries.keys();
    for path in gone.filter(|path| plan.after.get(path).is_none()) {
        remove_file(trial, path)?;
    }
    Ok(())
}

/// Fails if the user has changed a file since the plan was made.
fn must_be_as_planned(trial: &Trial, plan: &Plan) -> Result<(), TrialError> {
    let mut looker = Looker::new(&trial.root);
    let paths = plan.before.entries.keys().chain(plan.after.entries.keys());
    for path in paths {
        let same = match looker.find(path)? {
            Found::Nothing | Found::Folder => plan.before.get(path).is_none(),
            Found::File(meta) => plan.before.stamps.get(path) == Some(&Stamp::of(&meta)),
            Found::Link(target) => plan.before.get(path) == Some(&Entry::Link(target)),
            Found::Special => false,
        };
        if !same {
            return Err(TrialError::Conflicts(vec![Obstacle {
                path: path.clone(),
                why: "changed here just now",
            }]));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;
    use std::process::Command;

    use super::super::begin::begin;
    use super::super::cleanup::remove;
    use super::*;

    const FILES: [(&str, &str); 4] = [("a", "1\n"), ("b", "1\n"), ("d/c", "1\n"), ("e", "1\n")];

    fn write(root: &Path, path: &str, text: &str) {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    }

    fn read(root: &Path) -> BTreeMap<String, String> {
        let names = ["a", "b", "d/c", "e", "e/f", "new"];
        let read = |name: &&str| {
            Some((
                (*name).to_owned(),
                fs::read_to_string(root.join(name)).ok()?,
            ))
        };
        names.iter().filter_map(read).collect()
    }

    /// A trial that changes, removes and adds files, and puts a file in place of a folder.
    fn trial(folder: &Path) -> Trial {
        let root = folder.join("repo");
        fs::create_dir(&root).unwrap();
        for (path, text) in FILES {
            write(&root, path, text);
        }
        write(&root, "b", "1\n2\n3\n4\n5\n");
        let commit = "-c user.name=T -c user.email=t@e commit -qm x";
        for arguments in ["init -q", "add -A", commit] {
            let mut git = Command::new("git");
            git.args(arguments.split(' ')).current_dir(&root);
            assert!(git.status().unwrap().success());
        }
        let cancel = CancellationToken::new();
        let begun = begin(&folder.join("try"), &root, Path::new("/s"), &cancel);
        let trial = begun.unwrap().trial;
        write(&root, "b", "0\n1\n2\n3\n4\n5\n");
        write(&trial.tree, "a", "2\n");
        write(&trial.tree, "b", "1\n2\n3\n4\n5\n6\n");
        fs::remove_dir_all(trial.tree.join("d")).unwrap();
        fs::remove_file(trial.tree.join("e")).unwrap();
        write(&trial.tree, "e/f", "2\n");
        write(&trial.tree, "new", "2\n");
        trial
    }

    // Every point at which a keep can be killed, by the number of completed steps.
    #[test]
    fn a_keep_killed_at_any_step_is_rolled_back_and_can_be_repeated() {
        let cancel = CancellationToken::new();
        for steps in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let trial = trial(folder.path());
            let before = read(&trial.root);
            let objects = trial.objects();
            let (plan, _) = plan(&trial, &objects, &cancel).unwrap();
            journal::open(&trial, &plan).unwrap();
            let gone = plan.before.entries.keys();
            let gone: Vec<_> = gone.filter(|path| plan.after.get(path).is_none()).collect();
            let written = &plan.after.entries;
            for path in gone.iter().take(steps) {
                remove_file(&trial, path).unwrap();
            }
            let rest = steps.saturating_sub(gone.len()).min(written.len());
            let staged = written.iter().take(rest);
            let staged = Staged::new(&trial, &objects, staged, &plan.after.stamps);
            staged.unwrap().commit(&trial).unwrap();
            assert!(recover(&trial).unwrap(), "{steps}");
            assert_eq!(read(&trial.root), before, "{steps}");
            assert!(!recover(&trial).unwrap(), "{steps}");
            assert_eq!(keep(&trial, &cancel).unwrap().merged, 1, "{steps}");
            let after = read(&trial.root);
            let wanted = [
                ("a", "2\n"),
                ("b", "0\n1\n2\n3\n4\n5\n6\n"),
                ("e/f", "2\n"),
                ("new", "2\n"),
            ];
            let wanted = wanted.map(|(path, text)| (path.to_owned(), text.to_owned()));
            assert_eq!(after, BTreeMap::from(wanted), "{steps}");
            remove(&trial).unwrap();
            if rest == written.len() {
                break;
            }
        }
    }

    // A file with several names is written in place, because a rename would separate its other names.
    #[test]
    fn a_keep_killed_while_writing_a_hard_linked_file_is_rolled_back() {
        let cancel = CancellationToken::new();
        // The content after the kill, and whether the keep wrote it.
        for (left, is_ours) in [
            ("", true),
            ("2", true),
            ("2\n", true),
            ("1", true),
            ("mine\n", false),
            ("2\nand more\n", false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let trial = trial(folder.path());
            let (path, other) = (trial.root.join("a"), folder.path().join("other"));
            fs::hard_link(&path, &other).unwrap();
            let mut mode = fs::metadata(trial.tree.join("a")).unwrap().permissions();
            mode.set_mode(0o755);
            fs::set_permissions(trial.tree.join("a"), mode).unwrap();
            let before = read(&trial.root);
            let objects = trial.objects();
            let (plan, _) = plan(&trial, &objects, &cancel).unwrap();
            journal::open(&trial, &plan).unwrap();
            fs::write(&path, left).unwrap();
            assert!(recover(&trial).unwrap(), "{left:?}");
            let expected = if is_ours { "1\n" } else { left };
            assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{left:?}");
            assert_eq!(fs::read_to_string(&other).unwrap(), expected, "{left:?}");
            assert_eq!(fs::metadata(&path).unwrap().nlink(), 2, "{left:?}");
            if is_ours {
                assert_eq!(read(&trial.root), before, "{left:?}");
                keep(&trial, &cancel).unwrap();
                assert_eq!(fs::read_to_string(&other).unwrap(), "2\n", "{left:?}");
            }
        }
    }

    // Like a full disk: what can't be restored must not be removed first, and a retry must work.
    #[test]
    fn a_failed_rollback_can_be_repeated() {
        let cancel = CancellationToken::new();
        let folder = tempfile::tempdir().unwrap();
        let trial = trial(folder.path());
        let before = read(&trial.root);
        keep(&trial, &cancel).unwrap();
        let after = read(&trial.root);
        let (objects, away) = (trial.folder.join("objects"), trial.folder.join("away"));
        fs::rename(&objects, &away).unwrap();
        assert!(recover(&trial).is_err());
        assert_eq!(read(&trial.root), after);
        fs::remove_dir_all(&objects).unwrap();
        fs::rename(&away, &objects).unwrap();
        assert!(recover(&trial).unwrap());
        assert_eq!(read(&trial.root), before);
    }

    // The screen may count changes at any time.
    #[test]
    fn counting_changes_during_removal_recreates_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let trial = trial(folder.path());
        let objects = trial.objects();
        remove(&trial).unwrap();
        let kept = objects.keep(&trial.root, &["a".into()], &CancellationToken::new());
        assert!(kept.is_err());
        assert!(!trial.folder.exists());
    }

    #[test]
    fn files_written_by_others_after_the_kill_stay() {
        let cancel = CancellationToken::new();
        let folder = tempfile::tempdir().unwrap();
        let trial = trial(folder.path());
        keep(&trial, &cancel).unwrap();
        write(&trial.root, "a", "mine\n");
        assert!(recover(&trial).unwrap());
        let here = read(&trial.root);
        assert_eq!(here["a"], "mine\n");
        assert_eq!(here["d/c"], "1\n");
        assert!(!here.contains_key("new"));
    }
}
