//! A repository with a file in every state, and pictures of folders to compare.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tiller::agent::trial::{self, Kept, Started, Trial, TrialError, begin};
use tokio_util::sync::CancellationToken;

/// A repository, and a folder for trials.
pub struct Repo {
    pub root: PathBuf,
    pub home: PathBuf,
    _folder: TempDir,
}

impl Repo {
    /// An empty repository without a commit.
    pub fn bare_of_commits() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let root = path.join("shop");
        fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        Self {
            root,
            home: path.join("data/try"),
            _folder: folder,
        }
    }

    /// A repository with these files in its only commit.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let repo = Self::bare_of_commits();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.commit();
        repo
    }

    /// A repository with a file in every state.
    pub fn mixed() -> Self {
        let repo = Self::with(&[
            (".gitignore", "*.log\nbuild/\n"),
            ("clean", "clean\n"),
            ("changed", "one\n"),
            ("staged", "one\n"),
            ("both", "one\n"),
            ("gone", "gone\n"),
            ("src/deep/inner.rs", "fn inner() {}\n"),
            ("run.sh", "#!/bin/sh\n"),
            ("crlf.txt", "a\r\nb\r\n"),
        ]);
        repo.mode("run.sh", 0o755);
        symlink("clean", repo.path("link")).unwrap();
        symlink("/nowhere/at all", repo.path("dangling")).unwrap();
        fs::write(repo.path("binary"), [0, 159, 146, 150]).unwrap();
        repo.commit();
        repo.write("changed", "two\n");
        repo.write("staged", "two\n");
        repo.write("both", "two\n");
        repo.git(&["add", "staged", "both"]);
        repo.write("both", "three\n");
        fs::remove_file(repo.path("gone")).unwrap();
        repo.write("new file", "untracked\n");
        repo.write("src/ünïcode\n\"x\"", "odd\n");
        repo.write("debug.log", "ignored\n");
        repo.write("build/out", "ignored\n");
        repo
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        write(&self.root, path, text);
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), Permissions::from_mode(mode)).unwrap();
    }

    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "Begin"]);
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.root, arguments)
    }

    pub fn start(&self) -> Trial {
        self.start_in(&self.root).unwrap().trial
    }

    pub fn start_in(&self, cwd: &Path) -> Result<Started, TrialError> {
        begin(
            &self.home,
            cwd,
            Path::new("/session"),
            &CancellationToken::new(),
        )
    }

    /// Everything that a trial must not touch: files with modes, index, refs, worktrees.
    pub fn picture(&self) -> BTreeMap<String, String> {
        let mut picture = files(&self.root, true);
        picture.insert("refs".into(), self.git(&["for-each-ref"]));
        picture.insert("head".into(), self.git(&["rev-parse", "HEAD"]));
        picture.insert(
            "index".into(),
            self.git(&["ls-files", "--stage", "--debug"]),
        );
        picture.insert("worktrees".into(), self.git(&["worktree", "list"]));
        picture.insert("stash".into(), self.git(&["stash", "list"]));
        picture.insert(
            "config".into(),
            fs::read_to_string(self.path(".git/config")).unwrap(),
        );
        picture
    }
}

pub fn keep(trial: &Trial) -> Result<Kept, TrialError> {
    trial::keep(trial, &CancellationToken::new())
}

pub fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Path, mode and bytes of all files below a folder, without git's files.
pub fn files(root: &Path, modes: bool) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap() == ".git" {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let bits = if modes { 0o7777 } else { 0o100 };
            let mode = meta.permissions().mode() & bits;
            let what = if meta.is_dir() {
                open.push(path);
                if !modes {
                    continue;
                }
                String::from("folder")
            } else if meta.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else {
                format!("{:?}", String::from_utf8_lossy(&fs::read(&path).unwrap()))
            };
            found.insert(name, format!("{mode:o} {what}"));
        }
    }
    found
}

pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "core.autocrlf=false",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
