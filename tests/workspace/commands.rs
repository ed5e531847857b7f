//! What a sandbox is told of a workspace.

use std::fs;
use std::path::{Path, PathBuf};

use tiller::agent::workspace::{Places, Workspace};

/// A plain git folder, as git would make it.
fn git_folder(path: &Path) {
    for folder in ["hooks", "objects", "refs"] {
        fs::create_dir_all(path.join(folder)).unwrap();
    }
    for file in ["HEAD", "config"] {
        fs::write(path.join(file), "").unwrap();
    }
}

fn workspace(cwd: &Path, home: &Path) -> Workspace {
    Workspace::new(Places {
        cwd: cwd.to_owned(),
        home: Some(home.to_owned()),
        ..Places::default()
    })
}

/// Paths below `top`, as text.
fn below(top: &Path, paths: Vec<PathBuf>) -> Vec<String> {
    let below = |path: &PathBuf| Some(path.strip_prefix(top).ok()?.display().to_string());
    paths.iter().filter_map(below).collect()
}

#[test]
fn commands_may_not_write_what_makes_code_run() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let shop = top.join("shop");
    git_folder(&shop.join(".git"));
    git_folder(&shop.join(".git/modules/a/b"));
    git_folder(&shop.join("vendor/lib/.git"));
    fs::create_dir_all(shop.join(".tiller")).unwrap();
    fs::create_dir_all(shop.join(".git/worktrees/w")).unwrap();
    fs::write(shop.join(".git/worktrees/w/commondir"), "../..\n").unwrap();
    fs::create_dir_all(top.join(".ssh")).unwrap();
    fs::write(top.join(".bashrc"), "").unwrap();
    let of_shop = workspace(&shop, &top);
    assert_eq!(below(&top, of_shop.for_commands().writable), ["shop"]);
    assert_eq!(
        below(&top, of_shop.for_commands().read_only),
        [
            "shop/.git/config",
            "shop/.git/hooks",
            "shop/.git/modules/a/b/config",
            "shop/.git/modules/a/b/hooks",
            "shop/.git/worktrees/w/commondir",
            "shop/.tiller",
            "shop/vendor/lib/.git/config",
            "shop/vendor/lib/.git/hooks",
        ]
    );
    assert_eq!(below(&top, of_shop.for_commands().hidden), [".ssh"]);
    assert_eq!(
        below(&top, of_shop.for_commands().forbidden),
        ["shop/.git/commondir", "shop/vendor/lib/.git/commondir"]
    );
    // A trial is in tiller's own folder, which stays hidden around it.
    let (own, trial) = (top.join("own"), top.join("own/try/1/shop"));
    for folder in [&trial, &own.join("try/2"), &own.join("sessions")] {
        fs::create_dir_all(folder).unwrap();
    }
    let of_trial = Workspace::new(Places {
        cwd: trial,
        own: vec![own],
        ..Places::default()
    });
    let hidden = below(&top, of_trial.for_commands().hidden);
    assert_eq!(hidden, ["own/sessions", "own/try/2"]);
    let of_home = below(&top, workspace(&top, &top).for_commands().read_only);
    for path in [".bashrc", "shop/.git/hooks"] {
        assert!(of_home.contains(&path.to_owned()), "{of_home:?}");
    }
}

#[test]
fn git_works_in_a_linked_working_tree_that_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let (main, linked, claimed) = (top.join("main"), top.join("linked"), top.join("claimed"));
    git_folder(&main.join(".git"));
    let own = main.join(".git/worktrees/linked");
    for folder in [&own, &linked, &claimed] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(
        own.join("gitdir"),
        format!("{}\n", linked.join(".git").display()),
    )
    .unwrap();
    for tree in [&linked, &claimed] {
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    }
    let writable = |tree: &Path| {
        below(
            &top,
            workspace(tree, &top.join("home")).for_commands().writable,
        )
    };
    assert_eq!(writable(&linked), ["linked", "main/.git"]);
    let read_only = below(
        &top,
        workspace(&linked, &top.join("home"))
            .for_commands()
            .read_only,
    );
    assert!(
        read_only.contains(&"main/.git/hooks".to_owned()),
        "{read_only:?}"
    );
    // Else a command could have it name a folder with settings of its own.
    assert!(
        read_only.contains(&"linked/.git".to_owned()),
        "{read_only:?}"
    );
    assert!(
        read_only.contains(&"main/.git/config".to_owned()),
        "{read_only:?}"
    );
    // A file that names the folder of another tree gets nothing by it, nor does a link to one.
    assert_eq!(writable(&claimed), ["claimed"]);
    fs::remove_file(claimed.join(".git")).unwrap();
    std::os::unix::fs::symlink(main.join(".git"), claimed.join(".git")).unwrap();
    assert_eq!(writable(&claimed), ["claimed"]);
}

#[test]
fn git_works_in_a_submodule() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let (module, tree) = (top.join("shop/.git/modules/lib"), top.join("shop/lib"));
    git_folder(&top.join("shop/.git"));
    git_folder(&module);
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join(".git"), "gitdir: ../.git/modules/lib\n").unwrap();
    let writable = || {
        below(
            &top,
            workspace(&tree, &top.join("home")).for_commands().writable,
        )
    };
    assert_eq!(writable(), ["shop/lib"]);
    fs::write(module.join("config"), "[core]\n\tworktree = ../../../lib\n").unwrap();
    assert_eq!(writable(), ["shop/lib", "shop/.git/modules/lib"]);
}
