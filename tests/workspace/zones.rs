//! Tables of zones: a path as a model writes it, and the zone it leads to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tiller::agent::workspace::{Access, Places, Workspace, Zone};

use Zone::{Inside, Outside, Protected, ReadOnly};

/// A home folder with a repository, and folders beside it.
struct Fixture {
    dir: TempDir,
    home: PathBuf,
    repository: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let home = top.join("home");
        let repository = home.join("shop");
        for folder in [
            "home/.ssh",
            "home/.config/tiller",
            "home/.local/share/tiller/sessions/s",
            "home/shop/.git/hooks",
            "home/shop/src",
            "home/shop/vendor/lib/.git/hooks",
            "home/shop-2/src",
            "home/other",
            "added",
        ] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(repository.join("src/a.rs"), "a").unwrap();
        fs::write(home.join(".ssh/id"), "key").unwrap();
        Self {
            dir,
            home,
            repository,
        }
    }

    fn top(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }

    fn places(&self, cwd: &Path) -> Places {
        Places {
            cwd: cwd.to_owned(),
            writable: vec![self.top().join("added")],
            temporary: Vec::new(),
            caches: Vec::new(),
            protected: vec![self.repository.join("secrets")],
            home: Some(self.home.clone()),
            own: vec![
                self.home.join(".config/tiller"),
                self.home.join(".local/share/tiller"),
            ],
            readable: vec![self.home.join(".local/share/tiller/sessions/s")],
            private: None,
        }
    }

    fn workspace(&self) -> Workspace {
        Workspace::new(self.places(&self.repository))
    }
}

/// The strictest zone that `raw` can lead to.
fn zone(workspace: &Workspace, cwd: &Path, raw: &str, access: Access) -> Zone {
    let located = workspace.locate(cwd, raw, access).unwrap();
    located.into_iter().map(|it| it.zone).max().unwrap()
}

fn check(workspace: &Workspace, cwd: &Path, cases: &[(&str, Zone)]) {
    for (raw, expected) in cases {
        for access in [Access::Read, Access::Write] {
            assert_eq!(
                zone(workspace, cwd, raw, access),
                *expected,
                "{access:?} {raw}"
            );
        }
    }
}

#[test]
fn a_path_is_in_the_zone_it_leads_to() {
    let fixture = Fixture::new();
    let cwd = fixture.repository.join("src");
    let (home, top) = (fixture.home.display(), fixture.top());
    let top = top.display();
    let process = std::process::id();
    check(
        &fixture.workspace(),
        &cwd,
        &[
            ("", Inside),
            (".", Inside),
            ("a.rs", Inside),
            ("@a.rs", Inside),
            ("new/deep/file", Inside),
            ("../README", Inside),
            (&format!("{home}/shop/x"), Inside),
            (&format!("file://{home}/shop/x"), Inside),
            (&format!("/proc/self/root{home}/shop/x"), Inside),
            (&format!("{top}/added/x"), Inside),
            // Outside, whatever the path looks like.
            ("../..", Outside),
            ("../../other/x", Outside),
            ("../../shop-2/src/a.rs", Outside),
            ("missing/../../../other", Outside),
            ("missing/../a.rs", Inside),
            (&format!("{home}/shop-2"), Outside),
            (&format!("{home}/.bashrc"), Outside),
            (&format!("{top}/added2"), Outside),
            ("/", Outside),
            ("/etc/passwd", Outside),
            ("/proc/cpuinfo", Outside),
            ("/dev/null", Outside),
            // Files that make code run.
            ("../.git", ReadOnly),
            ("../.git/hooks/pre-commit", ReadOnly),
            ("../.git/config", ReadOnly),
            ("../.GIT/config", ReadOnly),
            ("../.g\u{200c}it/config", ReadOnly),
            ("../.git/modules/a/b/hooks/post-checkout", ReadOnly),
            ("../.git/worktrees/w/config.worktree", ReadOnly),
            ("../vendor/lib/.git/config", ReadOnly),
            ("new/.git", ReadOnly),
            ("../.tiller/config.toml", ReadOnly),
            ("../.Tiller", ReadOnly),
            (".tiller/hooks", ReadOnly),
            (&format!("{top}/added/.git/config"), ReadOnly),
            ("../.gitignore", Inside),
            ("../.github/workflows/ci.yml", Inside),
            ("../git/config", Inside),
            // Secrets.
            ("../../.ssh/id", Protected),
            ("../../.ssh", Protected),
            ("../../.SSH/id", Protected),
            ("../../.ssh2", Outside),
            ("../../.netrc", Protected),
            ("../../.config/gh/hosts.yml", Protected),
            ("../../.config/gh2", Outside),
            ("../../.cargo/credentials.toml", Protected),
            ("../../.cargo/registry", Outside),
            ("../../.bash_history", Protected),
            ("../../.config/tiller/auth.toml", Protected),
            ("../../.local/share/tiller/sessions/t/x", Protected),
            ("../../.local/share/tiller/sessions/s/call.txt", ReadOnly),
            ("../secrets/key", Protected),
            ("/proc/self/environ", Protected),
            (&format!("/proc/{process}/mem"), Protected),
            ("/etc/shadow", Protected),
        ],
    );
}

#[test]
fn a_link_is_judged_by_where_it_leads() {
    let fixture = Fixture::new();
    let repository = &fixture.repository;
    for (name, target) in [
        ("inner", "src"),
        ("deep", "inner/a.rs"),
        ("other", "../other"),
        ("new", "../other/new"),
        ("keys", "../.ssh"),
        ("hook", ".git/hooks"),
        ("root", "/"),
        ("process", "/proc/self/root"),
        ("back", "../other/back"),
    ] {
        symlink(target, repository.join(name)).unwrap();
    }
    symlink("../shop/src", fixture.home.join("other/back")).unwrap();
    let inside = |raw: &str| format!("root{}/{raw}", repository.display());
    check(
        &fixture.workspace(),
        repository,
        &[
            ("inner/a.rs", Inside),
            ("deep", Inside),
            ("other/x", Outside),
            ("other", Outside),
            ("new", Outside),
            ("keys/id", Protected),
            ("hook/pre-push", ReadOnly),
            ("root/etc/passwd", Outside),
            ("process/etc/passwd", Outside),
            (&inside("src"), Inside),
            ("back/a.rs", Inside),
            ("inner/../README", Inside),
            ("other/../shop/src", Inside),
            ("other/../.ssh/id", Protected),
        ],
    );
    // Removing a link that is outside changes something outside.
    let (workspace, raw) = (fixture.workspace(), "../other/back");
    assert_eq!(zone(&workspace, repository, raw, Access::Read), Inside);
    assert_eq!(zone(&workspace, repository, raw, Access::Write), Outside);
}

#[test]
fn a_home_folder_as_the_workspace_keeps_protected_files_protected() {
    let fixture = Fixture::new();
    let home = &fixture.home;
    for cwd in [home.clone(), fixture.top(), PathBuf::from("/")] {
        let workspace = Workspace::new(fixture.places(&cwd));
        check(
            &workspace,
            home,
            &[
                ("notes.txt", Inside),
                (".ssh/id", Protected),
                (".config/tiller/config.toml", Protected),
                (".bashrc", ReadOnly),
                (".config/systemd/user/x.service", ReadOnly),
                ("shop/.git/config", ReadOnly),
                ("/proc/self/environ", Protected),
            ],
        );
    }
}

#[test]
fn the_enclosing_repository_is_the_workspace_unless_it_is_the_home_folder() {
    let fixture = Fixture::new();
    let root = |cwd: &Path| Workspace::new(fixture.places(cwd)).roots()[0].clone();
    let (home, repository) = (&fixture.home, &fixture.repository);
    assert_eq!(root(&repository.join("src")), *repository);
    assert_eq!(root(&home.join("other")), home.join("other"));
    fs::create_dir(home.join(".git")).unwrap();
    assert_eq!(root(&home.join("other")), home.join("other"));
    assert_eq!(root(home), *home);
    // The path as reached through a link.
    let link = fixture.top().join("link");
    symlink(repository.join("src"), &link).unwrap();
    assert_eq!(root(&link), *repository);
}

#[test]
fn the_inner_of_a_protected_place_and_a_workspace_folder_wins() {
    let fixture = Fixture::new();
    let own = fixture.home.join(".local/share/tiller");
    let trial = own.join("try/1/shop");
    fs::create_dir_all(&trial).unwrap();
    let workspace = Workspace::new(fixture.places(&trial));
    check(
        &workspace,
        &trial,
        &[("a.rs", Inside), ("..", Protected), ("../../x", Protected)],
    );
    let workspace = Workspace::new(fixture.places(&own));
    check(&workspace, &own, &[("history.jsonl", Protected)]);
}

#[test]
fn git_folders_with_another_name_are_recognized_by_the_file_that_names_them() {
    let fixture = Fixture::new();
    let project = fixture.home.join("project");
    for folder in ["bare/worktrees/main", "main"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    let common = project.join("bare/worktrees/main/commondir");
    fs::write(project.join(".git"), "gitdir: ./bare\n").unwrap();
    fs::write(
        project.join("main/.git"),
        "gitdir: ../bare/worktrees/main\n",
    )
    .unwrap();
    fs::write(common, "../..\n").unwrap();
    let config = [("../bare/config", ReadOnly), ("../bare/hooks/x", ReadOnly)];
    let main = project.join("main");
    check(&Workspace::new(fixture.places(&project)), &main, &config);
    let with_both = Places {
        writable: vec![project.clone()],
        ..fixture.places(&main)
    };
    check(&Workspace::new(with_both), &main, &config);
    let of_one = Workspace::new(fixture.places(&main));
    check(
        &of_one,
        &main,
        &[("../bare/config", Outside), (".git", ReadOnly)],
    );
    // A file that names nothing isn't an error.
    fs::write(main.join(".git"), "gitdir:").unwrap();
    check(
        &Workspace::new(fixture.places(&main)),
        &main,
        &[("a", Inside)],
    );
}

#[test]
fn a_protected_folder_that_is_a_link_is_protected_under_both_names() {
    let fixture = Fixture::new();
    let keys = fixture.repository.join("dotfiles/aws");
    fs::create_dir_all(&keys).unwrap();
    symlink(&keys, fixture.home.join(".aws")).unwrap();
    check(
        &fixture.workspace(),
        &fixture.repository,
        &[
            ("dotfiles/aws/credentials", Protected),
            ("../.aws/credentials", Protected),
            ("dotfiles/bashrc", Inside),
        ],
    );
    // And so is what a link in a protected folder leads to, by that name.
    fs::create_dir(fixture.repository.join("secrets")).unwrap();
    symlink(
        fixture.home.join("other"),
        fixture.repository.join("secrets/raw"),
    )
    .unwrap();
    symlink("secrets", fixture.repository.join("other-name")).unwrap();
    check(
        &fixture.workspace(),
        &fixture.repository,
        &[
            ("secrets/raw/jan.csv", Protected),
            ("src/../secrets/raw/jan.csv", Protected),
            ("other-name/raw/jan.csv", Protected),
            ("secrets/../src/a.rs", Inside),
            ("../other/jan.csv", Outside),
        ],
    );
}

#[test]
fn a_path_that_cannot_be_followed_has_no_zone() {
    let fixture = Fixture::new();
    symlink("loop", fixture.repository.join("loop")).unwrap();
    let workspace = fixture.workspace();
    for raw in ["loop/x", "src/a.rs/x", "a\0b"] {
        let located = workspace.locate(&fixture.repository, raw, Access::Read);
        assert!(located.is_err(), "{raw}: {located:?}");
    }
}
