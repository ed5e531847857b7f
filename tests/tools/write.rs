//! The `write` tool: it writes all or nothing, and keeps a file's metadata and links.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use proptest::prelude::*;
use serde_json::json;
use tiller::agent::Details;
use tiller::agent::tool::DiffDetails;

use super::{TestTools, fifo, is_root, text};

fn names(tools: &TestTools) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(tools.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn write_makes_new_files_and_folders() {
    let tools = TestTools::new();
    let output = tools
        .call(
            "write",
            json!({"file_path": "a/b/c.txt", "content": "one\ntw\u{f6}\n"}),
        )
        .unwrap();
    assert_eq!(text(&output), "Successfully wrote 9 bytes to a/b/c.txt");
    assert_eq!(tools.bytes("a/b/c.txt"), "one\ntw\u{f6}\n".as_bytes());
    assert_eq!(
        tools.path("a/b/c.txt").metadata().unwrap().mode() & 0o600,
        0o600
    );
    let Details::Diff(diff) = output.details else {
        panic!("no diff");
    };
    assert_eq!(diff.path, "a/b/c.txt");
    assert_eq!(diff.diff, "+1 one\n+2 tw\u{f6}");
    assert_eq!(
        (diff.added, diff.removed, diff.old_lines, diff.new_lines),
        (2, 0, 0, 2)
    );
}

#[test]
fn replacing_a_file_shows_the_difference_and_keeps_the_mode() {
    let tools = TestTools::new();
    let path = tools.put("run.sh", "a\nb\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
    let output = tools
        .call("write", json!({"file_path": "run.sh", "content": "a\nc\n"}))
        .unwrap();
    let Details::Diff(diff) = output.details else {
        panic!("no diff");
    };
    assert_eq!(diff.diff, " 1 a\n-2 b\n+2 c");
    assert_eq!(diff.first_changed_line, Some(2));
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o751);
    assert_eq!(names(&tools), ["run.sh"]);
}

fn difference(old: &str, new: &str) -> DiffDetails {
    let tools = TestTools::new();
    tools.put("f", old);
    let args = json!({"file_path": "f", "content": new});
    match tools.call("write", args).unwrap().details {
        Details::Diff(diff) => diff,
        details => panic!("no diff: {details:?}"),
    }
}

#[test]
fn changed_lines_are_shown_with_four_lines_around_them() {
    let many = |count: usize| (1..=count).fold(String::new(), |text, n| text + &format!("l{n}\n"));
    let (few, lines) = (many(12), many(30));
    let near = lines.replace("l3\n", "x\n").replace("l12\n", "y\n");
    let far = lines.replace("l3\n", "x\n").replace("l25\n", "y\n");
    for (old, new, expected, skips) in [
        ("", "a\n", "+1 a", 0),
        ("a\n", "", "-1 a", 0),
        ("a", "a\n", "-1 a\n+1 a", 0),
        ("a\n", "a\n", "", 0),
        ("a\nb\n", "b\n", "-1 a\n 1 b", 0),
        (
            &few,
            &few.replace("l6\n", "x\ny\n"),
            "    ...\n  2 l2\n  3 l3\n  4 l4\n  5 l5\n- 6 l6\n+ 6 x\n+ 7 y\n  8 l7\n  9 l8\n 10 l9\n 11 l10\n    ...",
            2,
        ),
        (&lines, &near, "  1 l1\n  2 l2\n- 3 l3\n+ 3 x\n", 1),
        (&lines, &far, "  1 l1\n  2 l2\n- 3 l3\n+ 3 x\n", 2),
    ] {
        let shown = difference(old, new).diff;
        assert!(shown.starts_with(expected), "{old:?} {new:?}: {shown}");
        assert_eq!(shown.matches("...").count(), skips, "{shown}");
    }
    let steps =
        |by: usize| (0..200_000).fold(String::new(), |text, n| text + &format!("{}\n", n * by));
    let cut = difference(&steps(1), &steps(7)).diff;
    assert!(
        cut.len() < 140_000 && cut.ends_with(" ..."),
        "{}",
        cut.len()
    );
}

/// Applies a displayed difference to the lines of the old text.
fn apply(old: &[String], diff: &str) -> Vec<String> {
    let mut lines = old.to_vec();
    let mut removed = 0;
    for line in diff.lines().filter(|line| !line.starts_with(' ')) {
        let (number, text) = line[1..].trim_start().split_once(' ').unwrap();
        let at = number.parse::<usize>().unwrap() - 1;
        if line.starts_with('-') {
            assert_eq!(old[at], text);
            lines[at].clear();
            removed += 1;
        }
    }
    assert_eq!(lines.iter().filter(|line| line.is_empty()).count(), removed);
    lines.retain(|line| !line.is_empty());
    for line in diff.lines().filter(|line| line.starts_with('+')) {
        let (number, text) = line[1..].trim_start().split_once(' ').unwrap();
        lines.insert(number.parse::<usize>().unwrap() - 1, text.to_owned());
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_difference_applied_to_the_old_text_gives_the_new(
        old in prop::collection::vec("[a-d]{1,2}", 0..40),
        new in prop::collection::vec("[a-d]{1,2}", 0..40),
    ) {
        let text = |lines: &[String]| lines.iter().fold(String::new(), |t, l| t + l + "\n");
        let shown = difference(&text(&old), &text(&new)).diff;
        prop_assert_eq!(apply(&old, &shown), new);
    }
}

#[test]
fn links_stay_links() {
    let tools = TestTools::new();
    tools.put("real/file", "old");
    symlink("real/file", tools.path("soft")).unwrap();
    symlink("real/later", tools.path("dangling")).unwrap();
    std::fs::hard_link(tools.path("real/file"), tools.path("hard")).unwrap();
    let inode = tools.path("hard").metadata().unwrap().ino();
    tools.ok("write", json!({"file_path": "soft", "content": "new"}));
    tools.ok("write", json!({"file_path": "dangling", "content": "made"}));
    assert!(tools.path("soft").is_symlink() && tools.path("dangling").is_symlink());
    assert_eq!(tools.bytes("hard"), b"new");
    assert_eq!(tools.path("real/file").metadata().unwrap().ino(), inode);
    assert_eq!(tools.bytes("real/later"), b"made");
    // Written in place, shorter than before.
    tools.ok("write", json!({"file_path": "hard", "content": "n"}));
    assert_eq!(tools.bytes("real/file"), b"n");
}

#[test]
fn an_unwritable_path_is_refused_and_unchanged() {
    let tools = TestTools::new();
    let path = tools.put("locked", "old");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    std::fs::create_dir(tools.path("dir")).unwrap();
    fifo(&tools.path("fifo"));
    symlink("loop", tools.path("loop")).unwrap();
    let before = names(&tools);
    let cases = [
        ("locked", "Failed to write file: the file is read-only"),
        ("dir", "dir is a folder, not a file. Use ls to list it."),
        ("fifo", "fifo is a named pipe (FIFO), not a file."),
        ("loop", "Can't open loop: too many levels of symbolic links"),
        ("/dev/full", "/dev/full is a device, not a file."),
        ("/proc/tiller-test", "Failed to write file: "),
        (
            "locked/x",
            "File not found: locked/x (part of the path is a file, not a folder)",
        ),
    ];
    for (name, expected) in cases {
        let error = tools.err("write", json!({"file_path": name, "content": "new"}));
        assert!(error.starts_with(expected), "{name}: {error}");
    }
    assert_eq!(tools.bytes("locked"), b"old");
    assert_eq!(names(&tools), before);
}

#[test]
fn a_file_in_a_read_only_folder_is_written_in_place() {
    let tools = TestTools::new();
    tools.put("dir/file", "old");
    let inode = tools.path("dir/file").metadata().unwrap().ino();
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(tools.path("dir"), mode(0o555)).unwrap();
    tools.ok("write", json!({"file_path": "dir/file", "content": "new"}));
    assert_eq!(tools.bytes("dir/file"), b"new");
    if !is_root() {
        assert_eq!(tools.path("dir/file").metadata().unwrap().ino(), inode);
        let error = tools.err("write", json!({"file_path": "dir/other", "content": "x"}));
        assert!(error.starts_with("Failed to write file: "), "{error}");
    }
    std::fs::set_permissions(tools.path("dir"), mode(0o755)).unwrap();
}

#[test]
fn a_new_file_goes_where_its_path_says() {
    let tools = TestTools::new();
    let mut context = tools.context();
    context.cwd = tools.path("\u{65b0}\u{3000}folder");
    let at = |name: &str| context.cwd.join(name);
    for folder in ["", "odd\u{a0}folder", "src", "@types"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    for (raw, landed) in [
        ("new.txt", "new.txt"),
        ("sub/new.txt", "sub/new.txt"),
        ("a\u{a0}b.txt", "a b.txt"),
        ("odd\u{a0}folder/c\u{202f}d.txt", "odd\u{a0}folder/c d.txt"),
        ("@new.ts", "new.ts"),
        ("@src/x.ts", "src/x.ts"),
        ("@types/x.ts", "@types/x.ts"),
        ("@scope/x.ts", "@scope/x.ts"),
    ] {
        let args = json!({"file_path": raw, "content": raw});
        let output = tools.call_in("write", args, context.clone()).unwrap();
        let told = format!("Successfully wrote {} bytes to {landed}", raw.len());
        assert_eq!(text(&output), told, "{raw}");
        assert_eq!(std::fs::read_to_string(at(landed)).unwrap(), raw);
    }
    let patch = "*** Begin Patch\n*** Add File: p\u{a0}q\n+x\n*** End Patch";
    let output = tools.call_in("apply_patch", json!({"patch": patch}), context.clone());
    assert_eq!(text(&output.unwrap()), "Patch applied:\nA p q");
    assert!(at("p q").exists());
    let around = std::fs::read_dir(tools.path("")).unwrap().count();
    assert_eq!(around, 1, "a file was made outside the working directory");
}

#[test]
fn a_reader_of_the_old_file_can_read_it_to_its_end() {
    let tools = TestTools::new();
    let reader = std::fs::File::open(tools.put("f", "old")).unwrap();
    tools.ok("write", json!({"file_path": "f", "content": "new"}));
    assert_eq!(std::io::read_to_string(reader).unwrap(), "old");
    assert_eq!(tools.bytes("f"), b"new");
}

#[test]
fn a_path_with_a_trailing_slash_is_refused() {
    let tools = TestTools::new();
    let error = tools.err("write", json!({"file_path": "new/", "content": "x"}));
    assert_eq!(
        error,
        "new/ ends in a slash, so it names a folder. Give a file's path."
    );
    assert_eq!(names(&tools), [""; 0]);
}

#[test]
fn extended_attributes_are_kept() {
    let tools = TestTools::new();
    let path = tools.put("f", "old");
    if let Err(error) = xattr::set(&path, "user.tiller", b"kept") {
        eprintln!("not tested: no extended attributes here ({error})");
        return;
    }
    tools.ok("write", json!({"file_path": "f", "content": "new"}));
    let patch =
        "*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@\n-new\n+newer\n*** End Patch";
    tools.ok("apply_patch", json!({"patch": patch}));
    assert_eq!(tools.bytes("g"), b"newer");
    assert_eq!(
        xattr::get(tools.path("g"), "user.tiller").unwrap().unwrap(),
        b"kept"
    );
}

#[test]
fn the_next_write_removes_leftovers_of_a_killed_one() {
    let tools = TestTools::new();
    let old = tools.put(".tiller-old.tmp", "half");
    tools.put(".tiller-new.tmp", "another is at work");
    tools.put("tiller-old.tmp", "somebody else's");
    for name in [".tiller-old.tmp", "tiller-old.tmp"] {
        let file = std::fs::File::open(tools.path(name)).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH)
            .unwrap();
    }
    tools.ok("write", json!({"file_path": "f", "content": "x"}));
    assert!(!old.exists());
    assert_eq!(names(&tools), [".tiller-new.tmp", "f", "tiller-old.tmp"]);
    // tiller searches each folder only once.
    tools.put(".tiller-new.tmp", "half");
    let file = std::fs::File::open(tools.path(".tiller-new.tmp")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    tools.ok("write", json!({"file_path": "f", "content": "y"}));
    assert_eq!(names(&tools), [".tiller-new.tmp", "f", "tiller-old.tmp"]);
}

#[test]
fn a_cancelled_write_leaves_no_files() {
    let tools = TestTools::new();
    tools.put("f", "old");
    let context = tools.context();
    context.cancel.cancel();
    for name in ["f", "new/deep/file"] {
        let args = json!({"file_path": name, "content": "new"});
        let result = tools.call_in("write", args, context.clone());
        assert_eq!(result.unwrap_err(), "Tool execution cancelled");
    }
    assert_eq!(tools.bytes("f"), b"old");
    assert_eq!(names(&tools), ["f"]);
}

#[test]
fn a_file_changed_by_someone_else_is_not_overwritten_unseen() {
    let tools = TestTools::new();
    tools.put("f", "a\nb\n");
    tools.ok("read", json!({"file_path": "f"}));
    tools.put("f", "a\nuser\n");
    let write = json!({"file_path": "f", "content": "mine\n"});
    assert_eq!(
        tools.err("write", write.clone()),
        "f has changed on disk since you last read it, so it was not overwritten. What changed:\n \
         1 a\n-2 b\n+2 user"
    );
    assert_eq!(tools.bytes("f"), b"a\nuser\n");
    // The refusal showed the change, so now the model knows it.
    tools.ok("write", write);
    assert_eq!(tools.bytes("f"), b"mine\n");
    // The model knows its own writes, and a new timestamp alone isn't a change.
    std::fs::File::open(tools.path("f"))
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    tools.ok("write", json!({"file_path": "f", "content": "again\n"}));
    // A large file read in pieces counts as read.
    tools.put("large", "line\n".repeat(90_000));
    tools.ok("read", json!({"file_path": "large"}));
    tools.ok("write", json!({"file_path": "large", "content": ""}));
}

// An edit of a changed file mentions the change but doesn't show it. The rest is still unread.
#[test]
fn an_edit_of_a_changed_file_does_not_count_as_a_read() {
    let patch = |body: &str| json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")});
    let pair = |old: &str, new: &str| json!({"file_path": "f", "old_text": old, "new_text": new});
    let edits = [
        ("edit", pair("b b", "B b"), "f"),
        (
            "apply_patch",
            patch("*** Update File: f\n@@\n-b b\n+B b"),
            "f",
        ),
        (
            "apply_patch",
            patch("*** Update File: f\n*** Move to: g\n@@\n-b b\n+B b"),
            "g",
        ),
    ];
    let mut all = pair("b", "x");
    all["replace_all"] = true.into();
    let unsafe_calls = [
        ("write", json!({"file_path": "f", "content": "a\nB b\n"})),
        ("edit", all),
        ("edit", pair("a \nB b", "q")),
        ("apply_patch", patch("*** Delete File: f")),
        ("apply_patch", patch("*** Add File: f\n+a")),
        ("apply_patch", patch("*** Update File: f\n@@\n-B b  \n+q")),
    ];
    for (edit, edit_args, name) in &edits {
        for (tool, args) in &unsafe_calls {
            let tools = TestTools::new();
            tools.put("f", "a\nb b\n");
            tools.ok("read", json!({"file_path": "f"}));
            tools.put("f", "a\nb b\nuser\n");
            let told = tools.ok(edit, edit_args.clone());
            assert!(told.contains("had changed on disk"), "{told}");
            let args = args.to_string().replace("\"f\"", &format!("\"{name}\""));
            let args = args.replace("File: f", &format!("File: {name}"));
            let args: serde_json::Value = serde_json::from_str(&args).unwrap();
            let error = tools.err(tool, args.clone());
            assert!(
                error.contains("has changed on disk") && error.contains("+3 user"),
                "{tool} {args}: {error}"
            );
            assert_eq!(tools.bytes(name), b"a\nB b\nuser\n");
            // The whole difference was shown.
            tools.ok(tool, args);
        }
    }
}

#[test]
fn a_refusal_that_shows_too_little_does_not_count_as_a_read() {
    for (seen, now) in [
        (
            "line\n".repeat(90_000),
            "line\n".repeat(90_000) + "of the user\n",
        ),
        (String::from("a\n"), "b\n".repeat(100)),
        (String::from("a\n"), "b".repeat(3_000) + "\n"),
        (String::from("a\n"), String::from("a\0\n")),
    ] {
        let tools = TestTools::new();
        tools.put("f", &seen);
        tools.ok("read", json!({"file_path": "f"}));
        tools.put("f", &now);
        let delete = "*** Begin Patch\n*** Delete File: f\n*** End Patch";
        for (tool, args) in [
            ("write", json!({"file_path": "f", "content": "mine\n"})),
            ("apply_patch", json!({ "patch": delete })),
        ] {
            for _ in 0..2 {
                let error = tools.err(tool, args.clone());
                assert!(
                    error.contains("f has changed on disk since you last read it"),
                    "{error}"
                );
                assert!(error.ends_with("Read it again."), "{error}");
                assert_eq!(tools.bytes("f"), now.as_bytes());
            }
        }
    }
}

#[test]
fn texts_of_files_read_long_ago_are_dropped() {
    let tools = TestTools::new();
    let content = "some words in a line\n".repeat(10_000);
    for number in 0..40 {
        let name = number.to_string();
        tools.put(&name, &content);
        tools.ok("read", json!({ "file_path": name }));
        tools.put(&name, content.clone() + "of the user\n");
    }
    for (name, expected) in [("0", "Read it again."), ("39", "of the user")] {
        let error = tools.err("write", json!({"file_path": name, "content": ""}));
        assert!(error.ends_with(expected), "{name}: {error}");
    }
}

#[test]
fn binary_and_huge_files_can_be_replaced() {
    let tools = TestTools::new();
    tools.put("bin", b"\0\x01");
    tools.ok("write", json!({"file_path": "bin", "content": "text\n"}));
    let file = std::fs::File::create(tools.path("huge")).unwrap();
    file.set_len(10 << 30).unwrap();
    tools.ok("write", json!({"file_path": "huge", "content": "small\n"}));
    assert_eq!(tools.bytes("huge"), b"small\n");
}

#[test]
fn a_file_that_could_not_be_restored_is_not_written_in_place() {
    let tools = TestTools::new();
    let file = std::fs::File::create(tools.path("huge")).unwrap();
    file.set_len(65 << 20).unwrap();
    std::fs::hard_link(tools.path("huge"), tools.path("link")).unwrap();
    let error = tools.err("write", json!({"file_path": "huge", "content": "small\n"}));
    assert_eq!(
        error,
        "Failed to write file: it has 65.0 MB, and tiller overwrites a file in place only up to \
         64.0 MB. It can't replace this one (hard links, another owner or a read-only folder)"
    );
    assert_eq!(tools.path("huge").metadata().unwrap().len(), 65 << 20);
}

/// A folder on a disk of 64 KB, or none if the test can't mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<Self> {
        let disk = Self(tempfile::tempdir().unwrap());
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "none"])
            .arg(disk.0.path())
            .stderr(std::process::Stdio::null())
            .status();
        mount.is_ok_and(|status| status.success()).then_some(disk)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount")
            .arg(self.0.path())
            .status();
    }
}

#[test]
fn a_full_disk_loses_no_data() {
    let Some(disk) = SmallDisk::new() else {
        return;
    };
    let tools = TestTools::new();
    let old = "old\n".repeat(9000);
    let [plain, first, second, empty, other] =
        ["plain", "first", "second", "empty", "other"].map(|name| disk.0.path().join(name));
    std::fs::write(&plain, "short").unwrap();
    std::fs::write(&first, &old).unwrap();
    std::fs::hard_link(&first, &second).unwrap();
    std::fs::write(&empty, "").unwrap();
    std::fs::hard_link(&empty, &other).unwrap();
    let content = "new\n".repeat(20_000);
    for path in [&plain, &first, &empty] {
        let error = tools.err("write", json!({"file_path": path, "content": content}));
        assert_eq!(
            error,
            "Failed to write file: No space left on device (os error 28)"
        );
    }
    assert_eq!(std::fs::read_to_string(&plain).unwrap(), "short");
    assert_eq!(std::fs::read_to_string(&second).unwrap(), old);
    assert_eq!(other.metadata().unwrap().len(), 0);
    assert_eq!(std::fs::read_dir(disk.0.path()).unwrap().count(), 5);
}
