//! Folders next to session files for outputs too long for the model. Results refer to them by path,
//! so a copy also needs the folders of the sessions it came from.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use super::entry::Header;
use super::folder::make_private;
use super::list::header_of;

/// The output folders of the sessions that this one was copied from, latest first. The header is
/// untrusted, so only sessions in `root` are accepted.
pub(super) fn outputs_before(root: &Path, header: &Header) -> Vec<PathBuf> {
    let parent = |header: &Header| header.parent_session.as_ref().map(PathBuf::from);
    let mut folders = Vec::new();
    let mut next = parent(header);
    while let Some(file) = next
        && let Some(folder) = outputs_of(root, &file).filter(|it| !folders.contains(it))
    {
        folders.push(folder);
        next = header_of(&file).as_ref().and_then(parent);
    }
    folders
}

/// The output folder of the session in `file`, if `file` is in `root` like a session.
fn outputs_of(root: &Path, file: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(file.with_extension("")).ok()?;
    let below = folder.strip_prefix(fs::canonicalize(root).ok()?).ok()?;
    let is_own = file.extension()? == "jsonl" && below.components().count() == 2;
    (is_own && folder.is_dir()).then_some(folder)
}

/// Copies the output files that the results in `from` mention to the copy `to`. The files are
/// untrusted, so it follows no links. Returns notices for the user; the copy is valid without these
/// files.
pub(super) fn share_outputs(from: &Path, to: &Path) -> Option<String> {
    let (from, to) = (from.with_extension(""), to.with_extension(""));
    let is_folder = fs::symlink_metadata(&from).is_ok_and(|it| it.is_dir());
    let files = is_folder.then(|| fs::read_dir(&from).ok()).flatten()?;
    let share = || {
        make_private(&to)?;
        for file in files.flatten() {
            if file.file_type()?.is_file() {
                let (file, to) = (file.path(), to.join(file.file_name()));
                fs::hard_link(&file, &to).or_else(|_| copy(&file, &to))?;
            }
        }
        io::Result::Ok(())
    };
    let error = share().err()?;
    Some(format!(
        "couldn't copy its long outputs, which stay in {}: {error}",
        from.display()
    ))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK);
    let mut from = options.open(from)?;
    let mut to = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    io::copy(&mut from, &mut to).map(drop)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn copied_from(file: &Path) -> Header {
        let file = file.to_string_lossy();
        let line = serde_json::json!({"type": "session", "id": "i", "parentSession": file});
        Header::read(line.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_copy_has_the_outputs_of_sessions_before_it_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap();
        let (root, other) = (folder.join("sessions"), folder.join("other"));
        for folder in [root.join("p/a"), root.join("p/b"), other.join("p/a")] {
            fs::create_dir_all(folder).unwrap();
        }
        let (first, second) = (root.join("p/a.jsonl"), root.join("p/b.jsonl"));
        let line = |parent: &Path| serde_json::to_string(&copied_from(parent)).unwrap();
        fs::write(&second, line(&first) + "\n").unwrap();
        // A circle ends.
        fs::write(&first, line(&second)).unwrap();
        let found = |parent: &Path| outputs_before(&root, &copied_from(parent));
        let (a, b) = (root.join("p/a"), root.join("p/b"));
        assert_eq!(found(&second), [b.clone(), a.clone()]);
        assert_eq!(found(&first), [a, b]);
        fs::write(root.join("p/file"), "").unwrap();
        symlink(&other, root.join("link")).unwrap();
        symlink(other.join("p"), root.join("p/link")).unwrap();
        for no_session in [
            &root,
            &root.join("p"),
            &root.join("p/a"),
            &root.join("p.jsonl"),
            &root.join("p/a/c.jsonl"),
            &root.join("p/file.jsonl"),
            &root.join("p/link.jsonl"),
            &root.join("link/p.jsonl"),
            &root.join("../other.jsonl"),
            &root.join("../other/p.jsonl"),
            &other.join("p/a.jsonl"),
        ] {
            assert!(found(no_session).is_empty(), "{no_session:?}");
        }
    }

    #[test]
    fn outputs_are_shared_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("a.jsonl"), dir.path().join("b.jsonl"));
        let secret = dir.path().join("secret");
        fs::create_dir(&secret).unwrap();
        fs::write(secret.join("key"), "key").unwrap();
        symlink(&secret, dir.path().join("a")).unwrap();
        assert_eq!(share_outputs(&from, &to), None);
        assert!(!dir.path().join("b").exists());
        fs::remove_file(dir.path().join("a")).unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/c1.txt"), "all").unwrap();
        symlink(secret.join("key"), dir.path().join("a/c2.txt")).unwrap();
        assert_eq!(share_outputs(&from, &to), None);
        assert_eq!(fs::read(dir.path().join("b/c1.txt")).unwrap(), b"all");
        assert!(dir.path().join("b/c2.txt").symlink_metadata().is_err());
        // Where a file cannot be linked it is copied.
        copy(&dir.path().join("a/c1.txt"), &dir.path().join("c")).unwrap();
        assert_eq!(fs::read(dir.path().join("c")).unwrap(), b"all");
        copy(&dir.path().join("a/c2.txt"), &dir.path().join("d")).unwrap_err();
    }
}
