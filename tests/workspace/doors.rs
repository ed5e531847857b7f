//! What each file tool does with paths that lead out of the workspace, if its call can only work
//! inside.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tiller::agent::process::Processes;
use tiller::agent::tool::TextDetails;
use tiller::agent::tools::builtin;
use tiller::agent::workspace::{Access, Places, Reach, Workspace, Zone};
use tiller::agent::{Details, Effects, Progress, ToolContext, ToolSettings, Toolbox};
use tiller::llm::Content;
use tokio_util::sync::CancellationToken;

/// A workspace, its surroundings, and the tools of a call that can work inside.
pub struct Fixture {
    _dir: TempDir,
    /// The surroundings: the home folder.
    pub home: PathBuf,
    /// The workspace.
    pub root: PathBuf,
    pub workspace: Arc<Workspace>,
    toolbox: Toolbox,
    runtime: tokio::runtime::Runtime,
}

impl Fixture {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap().join("home");
        let root = home.join("shop");
        for folder in [
            "shop/src",
            "shop/.git/hooks",
            "shop/.tiller",
            "other",
            ".ssh",
        ] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for (file, text) in [
            ("shop/src/a.rs", "inside\n"),
            ("shop/.git/config", "inside\n"),
            ("other/secret", "SECRET\n"),
            (".ssh/id", "SECRET\n"),
        ] {
            fs::write(home.join(file), text).unwrap();
        }
        for (name, target) in [
            ("inner", "src"),
            ("inner_file", "src/a.rs"),
            ("out", "../other"),
            ("out_file", "../other/secret"),
            ("out_new", "../other/new"),
            ("keys", "../.ssh"),
            ("root", "/"),
            ("git", ".git"),
            ("process", "/proc/self/root"),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        let workspace = Arc::new(Workspace::new(Places {
            cwd: root.clone(),
            home: Some(home.clone()),
            ..Places::default()
        }));
        Self {
            _dir: dir,
            home,
            root,
            workspace,
            toolbox: Toolbox::new(builtin(&ToolSettings::default())),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
        }
    }

    /// A reach that reads and writes in the workspace.
    pub fn inside(&self) -> Reach {
        let workspace = Arc::clone(&self.workspace);
        Reach::within(workspace, Zone::ReadOnly, Some(Zone::Inside))
    }

    /// A call's text for the model, or the error text if it failed.
    pub fn call(&self, tool: &str, args: Value, reach: Reach) -> Result<String, String> {
        let details = Arc::new(Details::Text(TextDetails::default()));
        let context = ToolContext {
            variables: Vec::new(),
            sandbox: None,
            call_id: String::from("call"),
            asker: tiller::agent::Asker::default(),
            redactor: tiller::llm::auth::Redactor::default(),
            cwd: self.root.clone(),
            spill_file: self.home.join("spill.txt"),
            cancel: CancellationToken::new(),
            progress: Progress::new(details).0,
            processes: Processes::new(),
            effects: Effects::default(),
            reach,
            shown: None,
        };
        let args = self.toolbox.check(tool, args).unwrap();
        let tools = self.toolbox.tools();
        let tool = tools.iter().find(|it| it.spec().name == tool).unwrap();
        let output = self.runtime.block_on(tool.execute(args, context));
        let output = output.map_err(|error| error.message)?;
        let text = output.content.iter().filter_map(|block| match block {
            Content::Text(block) => Some(block.text.as_str()),
            _ => None,
        });
        Ok(text.collect::<Vec<_>>().join("\n"))
    }

    /// All files around the workspace, with their content.
    pub fn outside(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        for folder in ["other", ".ssh", "."] {
            for entry in fs::read_dir(self.home.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    files.push((path.clone(), fs::read_to_string(path).unwrap()));
                }
            }
        }
        files.sort();
        files
    }

    /// Paths that a model could write and that lead to the file `name` in the home folder.
    fn ways_to(&self, name: &str) -> Vec<String> {
        let home = self.home.display();
        vec![
            format!("../{name}"),
            format!("src/../../{name}"),
            format!("inner/../../{name}"),
            format!("missing/../../{name}"),
            format!("{home}/{name}"),
            format!("file://{home}/{name}"),
            format!("@{home}/{name}"),
            format!("root{home}/{name}"),
            format!("/proc/self/root{home}/{name}"),
            format!("process{home}/{name}"),
            format!("/proc/self/cwd/../../../../../../../../..{home}/{name}"),
        ]
    }
}

/// A call of each reading tool on this path.
fn readers(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read", json!({"file_path": path})),
        ("grep", json!({"pattern": "SECRET", "path": path})),
        ("find", json!({"pattern": "*", "path": path})),
        ("ls", json!({"path": path})),
    ]
}

/// A call of each writing tool on this path.
fn writers(path: &str) -> Vec<(&'static str, Value)> {
    let patch = |body: String| json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")});
    vec![
        ("write", json!({"file_path": path, "content": "PWNED"})),
        (
            "edit",
            json!({"file_path": path, "old_text": "SECRET", "new_text": "PWNED"}),
        ),
        (
            "replace",
            json!({"file_path": path, "old_string": "SECRET", "new_string": "PWNED"}),
        ),
        (
            "replace",
            json!({"file_path": path, "old_string": "", "new_string": "PWNED"}),
        ),
        (
            "apply_patch",
            patch(format!("*** Update File: {path}\n@@\n-SECRET\n+PWNED")),
        ),
        (
            "apply_patch",
            patch(format!("*** Add File: {path}\n+PWNED")),
        ),
        ("apply_patch", patch(format!("*** Delete File: {path}"))),
        (
            "apply_patch",
            patch(format!(
                "*** Update File: src/a.rs\n*** Move to: {path}\n@@\n-inside\n+PWNED"
            )),
        ),
    ]
}

#[test]
fn outside_files_are_read_only_with_full_reach() {
    let fixture = Fixture::new();
    let mut paths = vec!["out_file".to_owned(), "out/secret".into(), "keys/id".into()];
    paths.extend(fixture.ways_to("other/secret"));
    paths.extend(fixture.ways_to(".ssh/id"));
    for path in paths {
        // Only tools that create missing folders accept such a path.
        let missing = path.starts_with("missing");
        for (tool, args) in readers(&path) {
            let read = fixture.call(tool, args.clone(), fixture.inside());
            let error = read.expect_err(&path);
            let is_none = missing && error.starts_with("File not found: ");
            assert!(
                is_none || error.starts_with("Not permitted: "),
                "{tool} {path}: {error}"
            );
            assert!(!error.contains("SECRET"), "{tool} {path}: {error}");
        }
        let (tool, args) = readers(&path).swap_remove(0);
        let read = fixture.call(tool, args, Reach::everything());
        assert!(
            missing || read.as_deref() == Ok("SECRET\n"),
            "{path}: {read:?}"
        );
    }
}

#[test]
fn outside_files_are_written_only_with_full_reach() {
    let fixture = Fixture::new();
    let before = fixture.outside();
    let mut paths = vec!["out_file".to_owned(), "out/secret".into(), "out_new".into()];
    paths.extend(["out/new/file", "keys/id", "root/etc/tiller-test", "../new"].map(String::from));
    paths.extend(fixture.ways_to("other/secret"));
    for path in paths {
        for (tool, args) in writers(&path) {
            let written = fixture.call(tool, args.clone(), fixture.inside());
            let error = written.expect_err(&path);
            assert!(!error.contains("PWNED"), "{tool} {path}: {error}");
            assert_eq!(fixture.outside(), before, "{tool} {path}");
        }
    }
    assert!(!fixture.home.join("other/new").exists());
    assert_eq!(
        fs::read(fixture.root.join("src/a.rs")).unwrap(),
        b"inside\n"
    );
    for (tool, args) in writers("out_file").into_iter().take(2) {
        fs::write(fixture.home.join("other/secret"), "SECRET\n").unwrap();
        fixture
            .call(
                "read",
                json!({"file_path": "out_file"}),
                Reach::everything(),
            )
            .unwrap();
        fixture.call(tool, args, Reach::everything()).unwrap();
        assert_ne!(fixture.outside(), before, "{tool}");
    }
}

#[test]
fn files_that_make_code_run_can_be_read_but_not_written() {
    let fixture = Fixture::new();
    for path in [
        ".git/config",
        "git/config",
        ".git/hooks/pre-commit",
        "git/hooks/pre-commit",
        ".tiller/config.toml",
        ".GIT/config",
        "new/.git",
        "src/.git/config",
    ] {
        for (tool, args) in writers(path) {
            let written = fixture.call(tool, args, fixture.inside());
            let error = written.expect_err(path);
            assert!(
                error.contains("read-only") || error.contains("not found"),
                "{tool}: {error}"
            );
        }
        assert!(!fixture.root.join("new").exists(), "{path}");
    }
    assert!(!fixture.root.join(".git/hooks/pre-commit").exists());
    let read = fixture.call("read", json!({"file_path": "git/config"}), fixture.inside());
    assert_eq!(read.as_deref(), Ok("inside\n"));
}

#[test]
fn links_within_the_workspace_work() {
    let fixture = Fixture::new();
    let call = |tool: &str, args: Value| fixture.call(tool, args, fixture.inside());
    assert_eq!(
        call("read", json!({"file_path": "inner/a.rs"})).unwrap(),
        "inside\n"
    );
    call(
        "edit",
        json!({"file_path": "inner_file", "old_text": "inside", "new_text": "new"}),
    )
    .unwrap();
    assert_eq!(fs::read(fixture.root.join("src/a.rs")).unwrap(), b"new\n");
    assert!(fixture.root.join("inner_file").is_symlink());
    call(
        "write",
        json!({"file_path": "inner/deep/b.rs", "content": "b"}),
    )
    .unwrap();
    assert_eq!(fs::read(fixture.root.join("src/deep/b.rs")).unwrap(), b"b");
    let found = call("grep", json!({"pattern": "new", "path": "inner"})).unwrap();
    assert!(found.contains("inner/a.rs:1: new"), "{found}");
    // Deleting a link removes the link itself, wherever it leads. A search doesn't follow it.
    let patch = "*** Begin Patch\n*** Delete File: inner_file\n*** End Patch";
    call("apply_patch", json!({"patch": patch})).unwrap();
    assert!(!fixture.root.join("inner_file").is_symlink());
    assert!(fixture.root.join("src/a.rs").exists());
    let found = call("grep", json!({"pattern": "SECRET"})).unwrap();
    assert_eq!(found, "No matches found");
}

#[test]
fn only_what_the_user_allowed_is_in_reach() {
    let fixture = Fixture::new();
    let (other, secret) = (
        fixture.home.join("other"),
        fixture.home.join("other/secret"),
    );
    fs::write(other.join("second"), "SECRET\n").unwrap();
    let read = |path: &str, reach: Reach| fixture.call("read", json!({"file_path": path}), reach);
    let write = |path: &str, reach: Reach| {
        fixture.call("write", json!({"file_path": path, "content": "new"}), reach)
    };
    let one = fixture.inside().and(secret.clone(), Access::Read);
    assert!(read("out_file", one.clone()).is_ok());
    assert!(read("out/second", one.clone()).is_err());
    assert!(write("out_file", one).is_err());
    let one = fixture.inside().and(secret.clone(), Access::Write);
    assert!(read("out_file", one.clone()).is_ok() && write("out_file", one).is_ok());
    // A folder, but not the protected files in it.
    let folder = fixture.inside().and(fixture.home.clone(), Access::Read);
    assert!(read("out/second", folder.clone()).is_ok());
    assert!(read("keys/id", folder.clone()).is_err());
    let found = fixture.call(
        "grep",
        json!({"pattern": "SECRET", "path": ".."}),
        folder.clone(),
    );
    let found = found.unwrap();
    assert!(
        found.contains("other/second:1: SECRET") && !found.contains(".ssh/id"),
        "{found}"
    );
    assert!(found.contains("Left out (protected): ../.ssh/"), "{found}");
    let found = fixture
        .call("find", json!({"pattern": "id", "path": ".."}), folder)
        .unwrap();
    assert!(found.starts_with("No files found"), "{found}");
    let keys = fixture
        .inside()
        .and(fixture.home.join(".ssh"), Access::Read);
    let found = fixture.call("grep", json!({"pattern": "SECRET", "path": "keys"}), keys);
    assert!(found.unwrap().contains("keys/id:1: SECRET"));
    // A reach without write access.
    let looking = Reach::within(Arc::clone(&fixture.workspace), Zone::Outside, None);
    assert!(
        read("out/second", looking.clone()).is_ok() && read("keys/id", looking.clone()).is_err()
    );
    assert!(
        write("src/a.rs", looking)
            .unwrap_err()
            .contains("this mode can't change it")
    );
}

#[test]
fn a_hard_link_to_an_outside_file_is_replaced_and_not_followed() {
    let fixture = Fixture::new();
    let (outside, inside) = (
        fixture.home.join("other/secret"),
        fixture.root.join("linked"),
    );
    fs::hard_link(&outside, &inside).unwrap();
    let edit = json!({"file_path": "linked", "old_text": "SECRET", "new_text": "changed"});
    fixture
        .call("edit", edit.clone(), fixture.inside())
        .unwrap();
    assert_eq!(fs::read(&inside).unwrap(), b"changed\n");
    assert_eq!(fs::read(&outside).unwrap(), b"SECRET\n");
    assert_eq!(fs::metadata(&inside).unwrap().nlink(), 1);
    // With full reach, the two names stay one file.
    fs::remove_file(&inside).unwrap();
    fs::hard_link(&outside, &inside).unwrap();
    fixture.call("edit", edit, Reach::everything()).unwrap();
    assert_eq!(fs::read(&outside).unwrap(), b"changed\n");
}
