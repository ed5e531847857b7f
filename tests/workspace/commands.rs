//! What a sandbox learns of a workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tiller::agent::process::sandbox::Sandbox;
use tiller::agent::workspace::{Access, Places, Repositories, Workspace, Zone};

/// A minimal git folder, as git would make it.
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

/// The places for the first command of a session, or for a command that starts now.
fn start(workspace: &Workspace, repositories: &mut Repositories) -> Sandbox {
    let places = workspace.for_commands(repositories);
    repositories.another_command();
    places
}

fn for_commands(workspace: &Workspace) -> Sandbox {
    workspace.for_commands(&mut Repositories::default())
}

/// Paths below `top`, as text.
fn below(top: &Path, paths: Vec<PathBuf>) -> Vec<String> {
    let below = |path: &PathBuf| Some(path.strip_prefix(top).ok()?.display().to_string());
    paths.iter().filter_map(below).collect()
}

#[test]
fn commands_cannot_write_files_that_make_code_run() {
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
    assert_eq!(below(&top, for_commands(&of_shop).writable), ["shop"]);
    assert_eq!(
        below(&top, for_commands(&of_shop).read_only),
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
    assert_eq!(below(&top, for_commands(&of_shop).hidden), [".ssh"]);
    assert_eq!(
        below(&top, for_commands(&of_shop).forbidden),
        [
            "shop/.git/commondir",
            "shop/.git/config.worktree",
            "shop/.git/modules/a/b/commondir",
            "shop/.git/modules/a/b/config.worktree",
            "shop/.git/modules/a/b/objects/info/alternates",
            "shop/.git/objects/info/alternates",
            "shop/vendor/lib/.git/commondir",
            "shop/vendor/lib/.git/config.worktree",
            "shop/vendor/lib/.git/objects/info/alternates",
        ]
    );
    // A trial is in tiller's own folder. The rest of that folder stays hidden.
    let (own, trial) = (top.join("own"), top.join("own/try/1/shop"));
    for folder in [&trial, &own.join("try/2"), &own.join("sessions")] {
        fs::create_dir_all(folder).unwrap();
    }
    let of_trial = Workspace::new(Places {
        cwd: trial,
        own: vec![own],
        ..Places::default()
    });
    let hidden = below(&top, for_commands(&of_trial).hidden);
    assert_eq!(hidden, ["own/sessions", "own/try/2"]);
    let places = for_commands(&workspace(&top, &top));
    let (of_home, missing) = (below(&top, places.read_only), below(&top, places.forbidden));
    for path in [".profile", ".config/fish", ".netrc", ".aws", ".tiller"] {
        assert!(missing.contains(&path.to_owned()), "{missing:?}");
    }
    for path in [".bashrc", "shop/.git/hooks"] {
        assert!(of_home.contains(&path.to_owned()), "{of_home:?}");
    }
}

/// The project is where the user keeps their settings.
#[test]
fn commands_cannot_write_targets_of_links_in_the_home_folder() {
    let dir = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(dir.path()).unwrap();
    let dotfiles = home.join("dotfiles");
    for (link, file) in [
        (".bashrc", "bashrc"),
        (".config/git/config", "git/config"),
        (".config/fish/conf.d/a.fish", "fish/a.fish"),
        (".config/other", "other"),
        // The project can rebuild its build output.
        (".local/bin/tool", "target/tool"),
    ] {
        let (link, file) = (home.join(link), dotfiles.join(file));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        fs::write(&file, "").unwrap();
        symlink(&file, link).unwrap();
    }
    // A plugin that the user develops where it's installed.
    fs::create_dir_all(home.join(".vim/bundle")).unwrap();
    symlink(&dotfiles, home.join(".vim/bundle/mine")).unwrap();
    let workspace = workspace(&dotfiles, &home);
    let read_only = below(&dotfiles, for_commands(&workspace).read_only);
    assert_eq!(read_only, ["bashrc", "fish/a.fish", "git/config"]);
    let written = workspace.locate(&dotfiles, "git/config", Access::Write);
    assert_eq!(written.unwrap()[0].zone, Zone::ReadOnly);
}

#[test]
fn git_works_in_a_genuine_linked_working_tree() {
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
            for_commands(&workspace(tree, &top.join("home"))).writable,
        )
    };
    assert_eq!(writable(&linked), ["linked", "main/.git"]);
    let read_only = below(
        &top,
        for_commands(&workspace(&linked, &top.join("home"))).read_only,
    );
    assert!(
        read_only.contains(&"main/.git/hooks".to_owned()),
        "{read_only:?}"
    );
    // Otherwise a command could have it name a folder with the command's own settings.
    assert!(
        read_only.contains(&"linked/.git".to_owned()),
        "{read_only:?}"
    );
    assert!(
        read_only.contains(&"main/.git/config".to_owned()),
        "{read_only:?}"
    );
    // A file that names another tree's folder gains no access, and neither does a link to one.
    assert_eq!(writable(&claimed), ["claimed"]);
    fs::remove_file(claimed.join(".git")).unwrap();
    symlink(main.join(".git"), claimed.join(".git")).unwrap();
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
            for_commands(&workspace(&tree, &top.join("home"))).writable,
        )
    };
    assert_eq!(writable(), ["shop/lib"]);
    fs::write(module.join("config"), "[core]\n\tworktree = ../../../lib\n").unwrap();
    assert_eq!(writable(), ["shop/lib", "shop/.git/modules/lib"]);
}

fn run(in_folder: &Path, script: &str) {
    let mut bash = std::process::Command::new("bash");
    let ran = bash.args(["-ec", script]).current_dir(in_folder);
    let ran = ran.env("HOME", in_folder).output().unwrap();
    assert!(ran.status.success(), "{script}: {ran:?}");
}

/// A workspace with a repository in which a command has run `script`, and the messages.
fn after(script: &str) -> (tempfile::TempDir, PathBuf, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let shop = fs::canonicalize(dir.path()).unwrap().join("shop");
    fs::create_dir(&shop).unwrap();
    run(
        &shop,
        "git init -q . && mkdir deep && git init -q deep/own && git -C deep/own config core.pager less",
    );
    let workspace = workspace(&shop, dir.path());
    let mut repositories = Repositories::default();
    start(&workspace, &mut repositories);
    run(&shop, script);
    let said = workspace.after_command(&mut repositories, true);
    (dir, shop, said)
}

#[test]
fn settings_by_a_command_that_would_run_programs_are_disabled() {
    for (script, gone, word) in [
        (
            "git init -q sub && git -C sub config core.fsmonitor evil",
            "grep fsmonitor sub/.git/config",
            "core.fsmonitor",
        ),
        (
            "git init -q a/b/c/d/e && git -C a/b/c/d/e config alias.st '!evil'",
            "grep evil a/b/c/d/e/.git/config",
            "alias.st",
        ),
        (
            "git init -q sub && mkdir -p sub/.git/hooks && echo evil > sub/.git/hooks/pre-commit",
            "ls sub/.git/hooks/pre-commit",
            "pre-commit",
        ),
        (
            "git init -q sub && rm -rf sub/.git/hooks && mkdir h && ln -s ../../h sub/.git/hooks",
            "ls -d sub/.git/hooks",
            "hooks",
        ),
        (
            "git init -q sub && mv sub/.git/config c && ln -s ../../c sub/.git/config",
            "test -L sub/.git/config",
            "tiller can't read them",
        ),
        (
            "git init -q sub && git -C sub config extensions.worktreeConfig true
             echo '[core]pager=evil' > sub/.git/config.worktree",
            "grep pager sub/.git/config.worktree",
            "core.pager",
        ),
        (
            "git init -q --bare bare && git -C bare config core.sshCommand evil",
            "grep -i sshcommand bare/config",
            "core.sshcommand",
        ),
        (
            "mkdir ../evil sub && git init -q --bare ../evil/g && echo 'gitdir: ../../evil/g' > sub/.git",
            "ls sub/.git",
            "elsewhere",
        ),
        // git reads the whole file as the path.
        (
            "mkdir -p ../evil 'sub/.git\nx' && git init -q --bare ../evil/g
             printf 'gitdir: ../.git\\nx/../../../evil/g\\n' > sub/.git",
            "ls sub/.git",
            "elsewhere",
        ),
        (
            "mkdir ../evil sub && git init -q --bare '../evil/ g'
             ln -s '../.git' 'sub/g'; printf 'gitdir:  g' > sub/.git",
            "ls sub/.git",
            "elsewhere",
        ),
        (
            "mkdir ../evil sub && git init -q ../evil && ln -s ../../evil/.git sub/.git",
            "ls -d sub/.git",
            "elsewhere",
        ),
        (
            "git init -q sub && mkdir c && cp -r sub/.git/objects sub/.git/refs c && echo ../../c > sub/.git/commondir",
            "ls sub/.git/commondir",
            "elsewhere",
        ),
        (
            "git init -q .git/modules/m && git -C .git/modules/m config core.editor evil",
            "grep editor .git/modules/m/.git/config",
            "core.editor",
        ),
        // The folder of a submodule is in git's own folder, and its files are in the project.
        (
            "git init -q modules/vpc && git -C modules/vpc config core.worktree ../../..",
            "grep worktree modules/vpc/.git/config",
            "core.worktree",
        ),
        (
            "git init -q .git/modules/m && mv .git/modules/m/.git/* .git/modules/m
             echo '[core]worktree=/' >> .git/modules/m/config",
            "grep worktree .git/modules/m/config",
            "core.worktree",
        ),
        (
            "git init -q --bare .git/modules/m
             echo '[core]worktree=../../hooks' >> .git/modules/m/config",
            "grep worktree .git/modules/m/config",
            "core.worktree",
        ),
        ("echo evil > .envrc", "ls .envrc", ".envrc"),
        (
            "mkdir -p .husky && echo evil > .husky/pre-push",
            "ls -d .husky",
            ".husky",
        ),
        (
            "mkdir .vscode && echo '{}' > .vscode/tasks.json",
            "ls .vscode/tasks.json",
            "tasks.json",
        ),
        (
            "echo evil > mise.local.toml",
            "ls mise.local.toml",
            "mise.local",
        ),
        (
            "mkdir -p .config/mise/conf.d mise
             echo evil | tee .config/mise/conf.d/a.toml > mise/config.toml",
            "ls .config/mise mise/config.toml",
            ".config/mise",
        ),
        (
            "mkdir .idea && echo evil > .idea/watcherTasks.xml",
            "ls .idea/watcherTasks.xml",
            "watcherTasks",
        ),
        ("echo evil > .nvim.lua", "ls .nvim.lua", ".nvim.lua"),
    ] {
        let (_dir, shop, said) = after(script);
        assert!(
            said.iter().any(|text| text.contains(word)),
            "{script}: {said:?}"
        );
        run(&shop, &format!("! {gone}"));
    }
}

/// A command redirects `.git` itself, or points something else to `.git`'s target.
#[test]
fn links_can_lead_only_to_the_users_own_repository() {
    for (script, gone) in [
        ("echo 'gitdir: ../evil' > .git", ".git"),
        (
            "ln -s ../evil .git; mkdir sub; echo 'gitdir: ../../evil' > sub/.git",
            "sub/.git",
        ),
        ("echo 'gitdir: ../evil' > ../added/.git", "../added/.git"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        for folder in ["shop", "added"] {
            fs::create_dir(top.join(folder)).unwrap();
        }
        run(
            &top,
            "git init -q --bare evil; git -C evil config core.fsmonitor evil",
        );
        let workspace = Workspace::new(Places {
            cwd: top.join("shop"),
            writable: vec![top.join("added")],
            ..Places::default()
        });
        let mut repositories = Repositories::default();
        start(&workspace, &mut repositories);
        run(&top.join("shop"), script);
        let said = workspace.after_command(&mut repositories, true);
        assert!(said.concat().contains("elsewhere"), "{script}: {said:?}");
        run(&top.join("shop"), &format!("! ls -d {gone}"));
    }
}

/// A workspace whose commands can also write the folder `cache` beside it.
fn with_cache(top: &Path) -> Workspace {
    fs::create_dir_all(top.join("cache/lib")).unwrap();
    Workspace::new(Places {
        cwd: top.join("shop"),
        caches: vec![top.join("cache")],
        ..Places::default()
    })
}

#[test]
fn a_link_to_a_repository_in_a_cache_is_moved() {
    let evil = "git init -q ../cache/evil && git -C ../cache/evil config core.fsmonitor evil";
    for (script, moved) in [
        ("ln -s ../cache/evil sub", true),
        ("mkdir a && ln -s ../../cache/evil/.git a/sub", true),
        ("ln -s ../cache sub", true),
        ("ln -s .. sub", true),
        (
            "mkdir ../cache/evil/deep && ln -s ../cache/evil/deep sub",
            true,
        ),
        (
            "touch ../cache/evil/file && ln -s ../cache/evil/file sub",
            true,
        ),
        (
            "mkdir ../cache/x && ln -s ../evil ../cache/x/on && ln -s ../cache/x sub",
            true,
        ),
        ("ln -s ../cache/lib sub", false),
        ("touch ../cache/file && ln -s ../cache/file sub", false),
        ("ln -s /usr/bin sub; ln -s nothing b; ln -s . c", false),
    ] {
        let (dir, shop, _) = after("true");
        let workspace = with_cache(&fs::canonicalize(dir.path()).unwrap());
        let mut repositories = Repositories::default();
        start(&workspace, &mut repositories);
        run(&shop, &format!("{evil}; {script}"));
        let said = workspace.after_command(&mut repositories, true);
        assert_eq!(said.len(), usize::from(moved), "{script}: {said:?}");
        let is_there = if moved { "! ls -d" } else { "ls -d" };
        run(&shop, &format!("{is_there} sub || {is_there} a/sub"));
    }
}

#[test]
fn a_link_into_a_cache_is_checked_again_but_the_users_link_stays() {
    let (dir, shop, _) = after("ln -s ../cache/lib mine");
    let workspace = with_cache(&fs::canonicalize(dir.path()).unwrap());
    let mut repositories = Repositories::default();
    for (script, moved) in [
        ("ln -s ../cache/lib theirs", 0),
        ("git init -q ../cache/lib", 1),
        ("true", 0),
    ] {
        start(&workspace, &mut repositories);
        run(&shop, script);
        let said = workspace.after_command(&mut repositories, true);
        assert_eq!(said.len(), moved, "{script}: {said:?}");
    }
    run(&shop, "ls -d mine && ! ls -d theirs");
}

#[test]
fn files_that_git_makes_automatically_are_left_alone() {
    for script in [
        "git init -q sub && cd sub && git config user.name x && git config core.fsmonitor false",
        "git -c init.defaultBranch=main init -q up && cd up && git -c user.name=x -c user.email=x commit -qm x --allow-empty
         cd .. && git clone -q up down && git -C down remote add other https://example.org/x
         git -C down worktree add -q ../tree && git -C down switch -qc feature",
        "git -c init.defaultBranch=main init -q up && cd up && git -c user.name=x -c user.email=x commit -qm x --allow-empty
         cd .. && git -c protocol.file.allow=always submodule --quiet add ./up mod && git -C mod status
         git -c user.name=x -c user.email=x commit -qm x && git worktree add -q tree && cd tree
         git -c protocol.file.allow=always submodule --quiet update --init",
        "git init -q --bare bare; mkdir -p pre/objects pre/refs; touch pre/config; mkdir .vscode .idea; touch .vscode/settings.json",
    ] {
        let (_dir, shop, said) = after(script);
        assert_eq!(said, Vec::<String>::new(), "{script}");
        run(&shop, "test $(git -C deep/own config core.pager) = less && git status");
    }
}

#[test]
fn a_hard_link_to_the_settings_changes_nothing_later() {
    let (_dir, shop, said) = after("git init -q sub && ln sub/.git/config c");
    assert_eq!(said, Vec::<String>::new());
    run(
        &shop,
        "echo '[core]pager=evil' >> c && ! grep evil sub/.git/config",
    );
}

#[test]
fn files_the_user_makes_between_commands_stay() {
    let (dir, shop, _) = after("true");
    let workspace = workspace(&shop, dir.path());
    let mut repositories = Repositories::default();
    start(&workspace, &mut repositories);
    assert_eq!(
        workspace.after_command(&mut repositories, true),
        Vec::<String>::new()
    );
    run(
        &shop,
        "git init -q mine && git -C mine config core.pager less",
    );
    let places = start(&workspace, &mut repositories);
    assert!(places.read_only.contains(&shop.join("mine/.git/config")));
    assert_eq!(
        workspace.after_command(&mut repositories, true),
        Vec::<String>::new()
    );
}

/// While only a command's server runs, tiller can't tell who made a new file.
#[test]
fn new_files_during_a_background_command_are_named_and_stay() {
    let (dir, shop, _) = after("true");
    let workspace = workspace(&shop, dir.path());
    let mut repositories = Repositories::default();
    start(&workspace, &mut repositories);
    let said = workspace.after_command(&mut repositories, false);
    assert_eq!(said, Vec::<String>::new());
    let users = "git init -q mine && git -C mine config core.pager less && echo x > .envrc
         git init -q plain && mkdir -p hooked/.git/hooks && git init -q hooked
         echo x > hooked/.git/hooks/pre-commit";
    run(&shop, users);
    let there = "grep less mine/.git/config && ls .envrc hooked/.git/hooks/pre-commit";
    // The next command finds it there. It can't write there, and its end moves nothing.
    let places = start(&workspace, &mut repositories);
    assert!(places.read_only.contains(&shop.join("mine/.git/config")));
    run(
        &shop,
        "git init -q made && git -C made config core.pager evil",
    );
    run(&shop, "git -C plain config core.pager evil");
    let said = workspace.after_command(&mut repositories, true);
    let named = said.iter().filter(|text| text.contains("may be yours"));
    assert_eq!(named.count(), 3, "{said:?}");
    // Files that appear or change while that command runs are the command's.
    run(
        &shop,
        &format!("{there} && ! grep evil made/.git/config plain/.git/config"),
    );
    // It is reported once before something runs outside the sandbox, and then no more.
    let unusual = workspace.before_outside(&mut repositories);
    assert_eq!(unusual.len(), 3, "{unusual:?}");
    assert_eq!(
        workspace.before_outside(&mut repositories),
        Vec::<String>::new()
    );
    // tiller also finds what the server itself can change later.
    run(&shop, "git -C plain config core.pager evil");
    let unusual = workspace.before_outside(&mut repositories);
    assert!(
        unusual.concat().contains("plain/.git/config"),
        "{unusual:?}"
    );
    run(&shop, there);
}

/// In a large project one scan also serves the next command. tiller still finds what a command
/// makes.
#[test]
fn files_a_command_makes_in_a_large_project_are_found_each_time() {
    let (dir, shop, _) = after("mkdir -p a/{1..300} b/{1..300}");
    let workspace = workspace(&shop, dir.path());
    let mut repositories = Repositories::default();
    workspace.look_ahead(&mut repositories);
    for round in 1..4 {
        start(&workspace, &mut repositories);
        let script = "mkdir -p ../evil a/5 b/0/$R && git init -q --bare ../evil/g$R
             echo 'gitdir: ../../evil/g' > a/5/.git
             git init -q b/0/$R/x && git -C b/0/$R/x config core.pager evil";
        run(&shop, &format!("R={round}; {script}"));
        let said = workspace.after_command(&mut repositories, true);
        assert_eq!(said.len(), 2, "{round}: {said:?}");
        workspace.look_ahead(&mut repositories);
        start(&workspace, &mut repositories);
        let said = workspace.after_command(&mut repositories, true);
        assert_eq!(said, Vec::<String>::new(), "{round}");
    }
}

#[test]
fn a_project_that_changes_everywhere_is_scanned_completely() {
    let (dir, shop, _) = after("mkdir -p {a,b,c}/{1..200}/in");
    let workspace = workspace(&shop, dir.path());
    let mut repositories = Repositories::default();
    start(&workspace, &mut repositories);
    run(
        &shop,
        "mv a/1 aa; rm -r b; mv c b; mkdir -p 0 b/17/in/deep a/3/more
         for it in aa/in b/17/in/deep a/3/more 0; do
             git init -q $it; git -C $it config core.pager evil
         done",
    );
    let said = workspace.after_command(&mut repositories, true);
    assert_eq!(said.len(), 4, "{said:?}");
}

#[test]
fn later_commands_can_change_and_remove_what_a_command_made() {
    let (dir, shop, _) = after("true");
    let workspace = workspace(&shop, dir.path());
    let mut repositories = Repositories::default();
    let mut command = |script: &str| {
        let places = start(&workspace, &mut repositories);
        run(&shop, script);
        let said = workspace.after_command(&mut repositories, true);
        assert_eq!(said, Vec::<String>::new(), "{script}");
        let kept = places.read_only.into_iter().chain(places.forbidden);
        let kept = below(&shop, kept.collect());
        (kept, workspace.has_linked_trees(&repositories))
    };
    let make = "git -c user.name=x -c user.email=x commit -qm x --allow-empty
         git init -q made; git worktree add -q tree";
    let (before, linked) = command(make);
    assert!(before.contains(&".git/config".to_owned()), "{before:?}");
    assert!(!linked);
    assert_eq!(command("git -C made config user.name x").0, before);
    // A file that the user changes becomes the user's.
    run(
        &shop,
        "git -C made config core.pager less; touch .git/worktrees/tree/config.worktree",
    );
    let (kept, linked) = command("true");
    for path in ["made/.git/config", ".git/worktrees/tree/commondir"] {
        assert!(kept.contains(&path.to_owned()), "{path}: {kept:?}");
    }
    assert!(linked);
}

#[test]
fn new_temporary_files_can_belong_to_others() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    for folder in ["shop", "tmp", "added"] {
        fs::create_dir(top.join(folder)).unwrap();
    }
    let workspace = Workspace::new(Places {
        cwd: top.join("shop"),
        writable: vec![top.join("added")],
        temporary: vec![top.join("tmp")],
        ..Places::default()
    });
    let mut repositories = Repositories::default();
    start(&workspace, &mut repositories);
    run(
        &top,
        "for it in tmp added; do git init -q $it/x; git -C $it/x config core.pager less; done",
    );
    let said = workspace.after_command(&mut repositories, true);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("added/x/.git/config"), "{said:?}");
    run(&top, "grep pager tmp/x/.git/config");
}
