//! The `apply_patch` tool: what it does to bytes, what it reports, and that it applies all or
//! nothing.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use proptest::prelude::*;
use serde_json::json;
use tiller::agent::Details;
use tiller::agent::tool::FileChange;

use super::patch_conformance::tree;
use super::{TestTools, is_root};

fn wrapped(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch")
}

fn ok(tools: &TestTools, body: &str) -> String {
    tools.ok("apply_patch", json!({ "patch": wrapped(body) }))
}

fn err(tools: &TestTools, body: &str) -> String {
    let before = tree(&tools.path(""));
    let error = tools.err("apply_patch", json!({ "patch": wrapped(body) }));
    assert_eq!(
        tree(&tools.path("")),
        before,
        "a refused patch changed a file"
    );
    error
}

/// The file `f` after an update with these hunks, and the text for the model.
fn updated(before: &str, hunks: &str) -> (String, String) {
    let tools = TestTools::new();
    tools.put("f", before);
    let text = ok(&tools, &format!("*** Update File: f\n{hunks}"));
    (String::from_utf8(tools.bytes("f")).unwrap(), text)
}

fn refused(before: &str, hunks: &str) -> String {
    let tools = TestTools::new();
    tools.put("f", before);
    err(&tools, &format!("*** Update File: f\n{hunks}"))
}

#[test]
fn hunks_apply_at_their_place() {
    let twice = "class A\n  def f\n    x\nclass B\n  def f\n    x\n";
    for (before, hunks, after) in [
        ("a\nb\nc\n", "@@\n a\n-b\n+B", "a\nB\nc\n"),
        // Only the first hunk can omit its header.
        ("a\nb\nc\n", "-a\n+A\n@@\n-c\n+C", "A\nb\nC\n"),
        ("a\nb\na\nb\n", "@@\n-a\n+1\n@@\n-a\n+2", "1\nb\n2\nb\n"),
        // The first match wins.
        ("a\na\n", "@@\n-a\n+1", "1\na\n"),
        (
            twice,
            "@@ class B\n@@   def f\n-    x\n+    y",
            "class A\n  def f\n    x\nclass B\n  def f\n    y\n",
        ),
        (
            twice,
            "@@ class B @@\n   def f\n-    x\n+    y",
            "class A\n  def f\n    x\nclass B\n  def f\n    y\n",
        ),
        // A context line that is also the hunk's first line, and one that is only part of its line.
        (
            "fn a(x) {\n  1\n}\n",
            "@@ fn a\n-  1\n+  2",
            "fn a(x) {\n  2\n}\n",
        ),
        ("fn a\n1\n", "@@ fn a\n fn a\n-1\n+2", "fn a\n2\n"),
        // A hunk with only additions goes below the context line, or at the end.
        ("a\nb\n", "@@ a\n+x", "a\nx\nb\n"),
        ("a\nb\n", "@@\n+x\n*** End of File", "a\nb\nx\n"),
        ("", "@@\n+x", "x\n"),
        ("a\n\nb\n", "@@\n+x\n\n", "a\n\nb\nx\n"),
        ("x\na\nx\n", "@@\n-x\n+y\n*** End of File", "x\na\ny\n"),
        ("x\na\n", "@@\n-x\n+y\n*** End of File", "y\na\n"),
        // Line numbers as in a diff are hints.
        ("a\na\na\n", "@@ -2,1 +2,1 @@ fn x\n-a\n+b", "a\nb\na\n"),
        ("a\nb\n", "@@ -1,0 +2,1 @@\n+x", "a\nx\nb\n"),
        (
            "a\nb\n",
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file",
            "A\nb\n",
        ),
        // Blank space around a hunk isn't part of it. Blank lines within a hunk are.
        ("a\n\nb\n", "@@\n a\n\n-b\n+c\n\n", "a\n\nc\n"),
        ("a\nb\n", "\n@@\n-a\n+A\n\n\n@@\n-b\n+B\n", "A\nB\n"),
        // Out of order, with shared context, without the leading space.
        ("a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A", "A\nb\nC\n"),
        ("a\nb\nc\n", "@@\n-a\n+A\n b\n@@\n b\n-c\n+C", "A\nb\nC\n"),
        (
            "def f():\n    a\n",
            "@@\ndef f():\n-    a\n+    b",
            "def f():\n    b\n",
        ),
        // Text that looks like a marker.
        (
            "*** End Patch\nx\n",
            "@@\n *** End Patch\n-x\n+*** Begin Patch",
            "*** End Patch\n*** Begin Patch\n",
        ),
    ] {
        let (got, _) = updated(before, hunks);
        assert_eq!(got, after, "{before:?} {hunks}");
    }
}

#[test]
fn bytes_outside_all_hunks_stay() {
    for (before, hunks, after) in [
        ("a\r\nb\nc\r\n", "@@\n-b\n+B\n+x", "a\r\nB\nx\nc\r\n"),
        ("a\r\nb\r\n", "@@\n a\n+x", "a\r\nx\r\nb\r\n"),
        ("\u{feff}a\nb\n", "@@\n-a\n+A", "\u{feff}A\nb\n"),
        // The file has no final line end before or after.
        ("a\nb", "@@\n-b\n+B", "a\nB"),
        ("a\nb", "@@\n b\n+c", "a\nb\nc"),
        ("a\nb", "@@\n-a\n+A", "A\nb"),
        ("a\nb", "@@\n-b", "a\n"),
        ("a", "@@\n-a", ""),
        ("x\ry\nz\n", "@@\n-z\n+Z", "x\ry\nZ\n"),
    ] {
        let (got, _) = updated(before, hunks);
        assert_eq!(got, after, "{before:?} {hunks}");
    }
    let tools = TestTools::new();
    tools.put("f", b"\xff\xfe\x01a\nb\n");
    ok(&tools, "*** Update File: f\n@@\n-b\n+c");
    assert_eq!(tools.bytes("f"), b"\xff\xfe\x01a\nc\n");
}

#[test]
fn ignored_differences_are_named() {
    for (before, hunks, after, level) in [
        (
            "a  \nb\n",
            "@@\n a\n-b\n+c",
            "a  \nc\n",
            "trailing spaces and Unicode quotes, dashes and spaces",
        ),
        // New lines are written exactly as given.
        (
            "def f():\n    x = 1\n",
            "@@\n def f():\n-x = 1\n+    x = 2",
            "def f():\n    x = 2\n",
            "indentation, trailing spaces and Unicode quotes, dashes and spaces",
        ),
        (
            "say \u{201c}hi\u{201d}\u{a0}\u{2014} x\n",
            "@@\n-say \"hi\" - x\n+bye",
            "bye\n",
            "trailing spaces and Unicode quotes, dashes and spaces",
        ),
    ] {
        let (got, text) = updated(before, hunks);
        assert_eq!(got, after);
        assert_eq!(
            text,
            format!("Patch applied:\nM f (hunk 1 matched ignoring {level})")
        );
    }
    let (_, text) = updated("a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A");
    assert!(
        text.ends_with("M f (hunk 2 applied at a different position than given)"),
        "{text}"
    );
    // Indentation alone doesn't decide between several places.
    let text = refused("  a\n\ta\n", "@@\n-a\n+b");
    assert!(
        text.contains(
            "hunk 1 (line 3 of the patch): ignoring indentation, its lines match 2 places"
        ),
        "{text}"
    );
}

#[test]
fn lenient_forms_that_models_write() {
    let body = "*** Update File: f\n@@\n-a\n+b";
    let patch = wrapped(body);
    for text in [
        patch.clone(),
        patch.replace('\n', "\r\n"),
        format!("\n\n{patch}\n\n"),
        format!("<<'EOF'\n{patch}\nEOF"),
        format!("<<EOF\n{patch}\nEOF\n"),
        format!("apply_patch <<\"PATCH\"\n{patch}\nPATCH"),
        format!("bash -lc \"apply_patch <<'EOF'\n{patch}\nEOF\""),
        format!("apply_patch\n{patch}"),
        format!("```diff\n{patch}\n```"),
        format!("Here it is:\n{patch}"),
        format!("{body}\n*** End Patch"),
        format!("  *** Begin Patch  \n  {body}\n  *** End Patch  "),
        patch.replace("Update File: f", "Update File: `f`"),
        patch.replace("*** Update File: f", "***Update File:\"f\""),
        patch.replace("Update File: f", "update file: f ***"),
        patch.replace("End Patch", "end patch \""),
        patch.replace("Update File: f", "Update File: a/f"),
        patch.replace("Update File: f", "Update File: ./f"),
    ] {
        let tools = TestTools::new();
        tools.put("f", "a\n");
        tools.ok("apply_patch", json!({ "patch": text }));
        assert_eq!(tools.bytes("f"), b"b\n", "{text}");
    }
    let tools = TestTools::new();
    let absolute = tools.put("f", "a\n");
    ok(
        &tools,
        &body.replace(": f", &format!(": {}", absolute.display())),
    );
    assert_eq!(tools.bytes("f"), b"b\n");
    // The text of a custom tool call.
    tools.ok(
        "apply_patch",
        json!({ "input": wrapped("*** Delete File: f") }),
    );
    assert!(!tools.path("f").exists());
}

#[test]
fn errors_name_their_line() {
    for (patch, expected) in [
        ("", "it has no file section"),
        ("*** Begin Patch\n*** End Patch", "it has no file section"),
        (
            "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b",
            "*** End Patch is missing, so the patch may be cut off; send all of it again",
        ),
        (
            "<<'EOF'\n*** Begin Patch\n*** Delete File: f\nEOF",
            "line 4: only another section can follow",
        ),
        (
            "*** Begin Patch\n*** Frobnicate File: f\n*** End Patch",
            "line 2: `*** Frobnicate File: f` is not a file section",
        ),
        (
            "*** Begin Patch\n*** Update File: f\n*** End Patch",
            "line 2: the update of f has no hunk",
        ),
        (
            "*** Begin Patch\n*** Update File:\n@@\n-a\n*** End Patch",
            "line 2: the path is missing",
        ),
        (
            "*** Begin Patch\n*** Add File: x\n+a\nb\n*** End Patch",
            "line 4: each line of an added file must begin with +, not `b`",
        ),
        (
            "*** Begin Patch\n*** Delete File: f\n+a\n*** End Patch",
            "line 3: only another section can follow",
        ),
        (
            "*** Begin Patch\n*** Move to: f\n*** End Patch",
            "line 2: *** Move to: must follow *** Update File:",
        ),
        (
            "*** Begin Patch\n*** Delete File: f\n*** End Patch\n*** Delete File: g",
            "line 4: a file section after *** End Patch",
        ),
    ] {
        let tools = TestTools::new();
        tools.put("f", "a\n");
        let text = tools.err("apply_patch", json!({ "patch": patch }));
        assert!(
            text.starts_with("Invalid patch; nothing was changed: "),
            "{text}"
        );
        assert!(text.contains(expected), "{patch:?}: {text}");
        assert_eq!(tools.bytes("f"), b"a\n");
    }
    assert_eq!(
        TestTools::new().err("apply_patch", json!({})),
        "error: invalid input: Missing required parameter: patch"
    );
}

#[test]
fn a_hunk_without_a_match_shows_the_text_found_instead() {
    let file: String = (1..=30).fold(String::new(), |text, n| text + &format!("line {n}\n"));
    let text = refused(&file, "@@\n line 9\n-line ten\n+x\n line 11");
    assert_eq!(
        text,
        "The patch was not applied; no file was changed.\n\
         f, hunk 1 (line 3 of the patch): line 5 of the patch does not match line 10 of the file:\n  \
         line ten\n\
         The file has:\n   7 line 7\n   8 line 8\n   9 line 9\n  10 line 10\n  11 line 11\n  12 line \
         12\n  13 line 13"
    );
    let text = refused(&file, "@@\n-line 1\n+x\n@@\n-nowhere\n+y");
    assert!(
        text.contains(
            "f, hunk 2 (line 6 of the patch): none of its lines are in the file; the first \
        is:\n  nowhere\n\
        The file has:\n  1 line 1\n"
        ),
        "{text}"
    );
    let text = refused(&file, "@@ fn missing\n-line 99\n+y");
    assert!(
        text.contains(
            "hunk 1 (line 3 of the patch): the line after @@ is not in the file:\n  fn missing"
        ),
        "{text}"
    );
    let text = refused(&file, "@@\n line 30\n line 31\n-x");
    assert!(
        text.contains("line 5 of the patch is beyond the end of the file:\n  line 31"),
        "{text}"
    );
    assert!(refused("", "@@\n-a\n+b").contains("the file is empty"));
    assert!(
        refused("a\n", "@@\n-a\n+a")
            .contains("No changes made to f. The patch produced identical content.")
    );
    assert!(refused("a\0\n", "@@\n-a\n+b").contains("f is a binary file"));
    let text = refused("a\nb\n", "@@\n-a\n+1\n@@\n-a\n-b\n+2");
    assert!(
        text.contains("hunk 2: it changes the same lines as hunk 1")
            || text.contains("hunk 2 (line 6 of the patch): it changes the same lines as hunk 1"),
        "{text}"
    );
}

#[test]
fn every_failure_is_reported_and_changes_no_file() {
    let tools = TestTools::new();
    tools.put("a", "1\n");
    tools.put("b", "2\n");
    fs::create_dir(tools.path("dir")).unwrap();
    let text = err(
        &tools,
        "*** Add File: new/x\n+x\n*** Update File: a\n@@\n-1\n+one\n*** Update File: b\n@@\n-9\n+nine\n\
         *** Delete File: gone\n*** Delete File: dir\n*** Update File: missing\n*** Move to: c",
    );
    for part in [
        "b, hunk 1 (line 9 of the patch): none of its lines are in the file",
        "\nFile not found: gone\n",
        "\ndir is a folder, not a file",
        "\nFile not found: missing",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!tools.path("new").exists());
}

#[test]
fn each_section_sees_the_changes_of_earlier_ones() {
    let tools = TestTools::new();
    tools.put("a", "1\n2\n");
    let text = ok(
        &tools,
        "*** Update File: a\n@@\n-1\n+one\n*** Update File: a\n@@\n-one\n+ONE\n\
         *** Add File: n\n+x\n*** Update File: n\n@@\n-x\n+y\n*** Update File: a\n*** Move to: sub/b\n@@\n-2\n+two",
    );
    assert_eq!(text, "Patch applied:\nM a\nM a\nA n\nM n\nM a -> sub/b");
    assert_eq!(tools.bytes("sub/b"), b"ONE\ntwo\n");
    assert_eq!(tools.bytes("n"), b"y\n");
    assert!(!tools.path("a").exists());
    let text = err(&tools, "*** Delete File: n\n*** Update File: n\n@@\n-y\n+z");
    assert!(
        text.contains("File not found: n (an earlier section of the patch removes it)"),
        "{text}"
    );
    ok(&tools, "*** Delete File: n\n*** Add File: n\n+again");
    assert_eq!(tools.bytes("n"), b"again\n");
}

#[test]
fn permissions_links_and_names_are_kept() {
    let tools = TestTools::new();
    let run = tools.put("run.sh", "a\n");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.sh", tools.path("link")).unwrap();
    ok(&tools, "*** Update File: link\n@@\n-a\n+b");
    assert_eq!(tools.bytes("run.sh"), b"b\n");
    assert!(tools.path("link").is_symlink());
    ok(&tools, "*** Update File: run.sh\n*** Move to: bin/go");
    let mode = fs::metadata(tools.path("bin/go"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
    // Deleting a link doesn't delete its target.
    symlink("bin/go", tools.path("other")).unwrap();
    ok(&tools, "*** Delete File: other");
    assert!(!tools.path("other").is_symlink());
    assert_eq!(tools.bytes("bin/go"), b"b\n");
    let locked = tools.put("locked", "a\n");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).unwrap();
    for body in [
        "*** Update File: locked\n@@\n-a\n+b",
        "*** Delete File: locked",
    ] {
        let text = err(&tools, body);
        assert!(
            text.contains("locked: Failed to write file: the file is read-only"),
            "{text}"
        );
    }
}

#[test]
fn a_failed_write_rolls_back_the_others() {
    let tools = TestTools::new();
    tools.put("a", "1\n");
    tools.put("gone", "x\n");
    // `n` can't be both a file and a folder. Only the write finds that out.
    let text = err(
        &tools,
        "*** Update File: a\n@@\n-1\n+2\n*** Delete File: gone\n*** Add File: deep/er/x\n+x\n*** Add File: n\n+x\n*** Add File: n/m\n+x",
    );
    assert!(text.contains("Failed to write file"), "{text}");
    assert!(!tools.path("deep").exists() && !tools.path("n").exists());
    // If a file's new version can't be placed beside it, the patch fails before the first change.
    let changed = || {
        let meta = fs::metadata(tools.path("a")).unwrap();
        (meta.ctime(), meta.ctime_nsec())
    };
    let before = changed();
    let text = err(
        &tools,
        "*** Update File: a\n@@\n-1\n+2\n*** Add File: /proc/tiller-test\n+x",
    );
    assert!(text.contains("Failed to write file"), "{text}");
    assert_eq!(changed(), before);
    if !is_root() {
        fs::create_dir(tools.path("closed")).unwrap();
        tools.put("closed/f", "x\n");
        fs::set_permissions(tools.path("closed"), fs::Permissions::from_mode(0o555)).unwrap();
        let text = err(
            &tools,
            "*** Update File: a\n@@\n-1\n+2\n*** Delete File: closed/f",
        );
        assert!(text.contains("closed/f"), "{text}");
    }
    let context = tools.context();
    context.cancel.cancel();
    let patch = wrapped("*** Update File: a\n@@\n-1\n+2");
    assert!(
        tools
            .call_in("apply_patch", json!({ "patch": patch }), context)
            .is_err()
    );
    assert_eq!(tools.bytes("a"), b"1\n");
    // No temporary file is left.
    let names: Vec<_> = tree(&tools.path("")).into_keys().collect();
    assert!(
        names
            .iter()
            .all(|name| !name.to_string_lossy().contains(".tiller")),
        "{names:?}"
    );
}

#[test]
fn a_changed_file_is_patched_only_if_the_place_is_certain() {
    let tools = TestTools::new();
    tools.put("f", "a\nb\n");
    tools.put("g", "a\n");
    for name in ["f", "g"] {
        tools.ok("read", json!({ "file_path": name }));
    }
    tools.put("f", "a\nb  \nc\nc\n");
    tools.put("g", "other\n");
    let text = ok(&tools, "*** Update File: f\n@@\n-a\n+A");
    assert!(
        text.contains("M f (it had changed on disk since you last read it)"),
        "{text}"
    );
    tools.put("f", "1\nA\nb  \nc\nc\n");
    for hunk in ["@@\n-b\n+B", "@@\n-c\n+C"] {
        let text = err(&tools, &format!("*** Update File: f\n{hunk}"));
        assert!(
            text.contains("f has changed on disk since you last read it"),
            "{text}"
        );
        tools.put("f", format!("x{hunk}\nA\nb  \nc\nc\n"));
    }
    for body in [
        "*** Add File: g\n+x",
        "*** Delete File: g",
        "*** Update File: f\n*** Move to: g",
    ] {
        let text = err(&tools, body);
        assert!(
            text.contains("g has changed on disk since you last read it"),
            "{text}"
        );
        tools.put("g", format!("other {body}\n"));
    }
    // A certain section doesn't make a later one certain.
    tools.put("f", "a\nseen\n");
    tools.ok("read", json!({ "file_path": "f" }));
    for last in [
        "*** Delete File: f",
        "*** Add File: f\n+x",
        "*** Update File: f\n@@\n-A \n+B",
    ] {
        tools.put("f", format!("a\nseen\nnot seen {last}\n"));
        let text = err(&tools, &format!("*** Update File: f\n@@\n-a\n+A\n{last}"));
        assert!(
            text.contains("f has changed on disk since you last read it"),
            "{text}"
        );
    }
    // The refusal counts as a read, and so does a patch by the model.
    tools.put("g", "z\n");
    err(&tools, "*** Delete File: g");
    ok(&tools, "*** Delete File: g");
    ok(&tools, "*** Add File: h\n+1");
    ok(&tools, "*** Add File: h\n+2");
}

#[test]
fn details_have_a_diff_for_each_file() {
    let tools = TestTools::new();
    tools.put("a", "1\n2\n");
    tools.put("b", "x\n");
    tools.put("c", "y\n");
    let patch = wrapped(
        "*** Update File: a\n@@\n-2\n+two\n*** Delete File: b\n*** Add File: n\n+new\n*** Update File: c\n*** Move to: d\n@@\n-y\n+z",
    );
    let output = tools
        .call("apply_patch", json!({ "patch": patch }))
        .unwrap();
    let Details::Diff(first) = &output.details else {
        panic!()
    };
    let all: Vec<_> = std::iter::once(first).chain(&first.files).collect();
    let seen: Vec<_> = all
        .iter()
        .map(|file| {
            (
                file.path.as_str(),
                file.diff.as_str(),
                file.change,
                file.moved_from.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("a", " 1 1\n-2 2\n+2 two", FileChange::Changed, None),
            ("b", "-1 x", FileChange::Deleted, None),
            ("n", "+1 new", FileChange::Added, None),
            ("d", "-1 y\n+1 z", FileChange::Changed, Some("c")),
        ]
    );
    assert_eq!(Details::from_json(output.details.to_json()), output.details);
    let Details::Diff(preview) = tools
        .tool("apply_patch")
        .preview(&json!({ "patch": patch }))
    else {
        panic!()
    };
    let paths: Vec<_> = std::iter::once(&preview)
        .chain(&preview.files)
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(paths, ["a", "b", "n", "d"]);
}

#[test]
fn large_files_and_many_hunks_take_linear_time() {
    let tools = TestTools::new();
    let lines: Vec<String> = (0..100_000)
        .map(|n| format!("this is line number {n} of it"))
        .collect();
    tools.put("big", lines.join("\n") + "\n");
    tools.put("same", "x\n".repeat(300_000));
    let mut hunks = String::new();
    for line in lines.iter().step_by(100).rev() {
        hunks += "@@\n-";
        hunks += line;
        hunks += "\n+changed\n";
    }
    let started = std::time::Instant::now();
    let patch = wrapped(&format!("*** Update File: big\n{hunks}"));
    tools.ok("apply_patch", json!({ "patch": patch }));
    assert!(
        String::from_utf8(tools.bytes("big"))
            .unwrap()
            .matches("changed")
            .count()
            == 1_000
    );
    let run = format!("@@\n{}-y\n+z", " x\n".repeat(2_000));
    let text = err(&tools, &format!("*** Update File: same\n{run}"));
    assert!(text.contains("does not match"), "{text}");
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

// The size alone must refuse it, because reading the holes would take minutes.
#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let tools = TestTools::new();
    let file = fs::File::create(tools.path("huge")).unwrap();
    file.set_len(20 << 30).unwrap();
    for section in [
        "*** Update File: huge\n@@\n-a\n+b",
        "*** Update File: huge\n*** Move to: small\n@@\n-a\n+b",
    ] {
        let error = tools.err("apply_patch", json!({ "patch": wrapped(section) }));
        let why = "huge is 20.0 GB; apply_patch handles files up to 64.0 MB.";
        assert!(error.contains(why), "{section}: {error}");
    }
    assert_eq!(file.metadata().unwrap().len(), 20 << 30);
}

#[test]
fn calls_for_the_same_files_wait_for_each_other_without_deadlock() {
    let tools = TestTools::new();
    for name in ["a", "b", "c"] {
        tools.put(name, "0\n");
    }
    let append = |names: [&str; 3]| {
        let section = |name: &str| format!("*** Update File: {name}\n@@\n+x\n");
        let patch = wrapped(&names.map(section).concat());
        tools
            .tool("apply_patch")
            .execute(json!({ "patch": patch }), tools.context())
    };
    let orders = [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]];
    let calls = (0..30).map(|n| append(orders[n % 3]));
    let results = tools.block_on(futures_util::future::join_all(calls));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    for name in ["a", "b", "c"] {
        assert_eq!(
            tools.bytes(name).len(),
            2 + 30 * 2,
            "each call must see the one before it"
        );
    }
}

/// A patch that turns `old` into `new`, with `context` lines around each change.
fn patch_of(old: &[String], new: &[String], context: usize) -> String {
    let refs = |lines: &'_ [String]| {
        lines
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let (old, new) = (refs(old), refs(new));
    let (old, new): (Vec<_>, Vec<_>) = (old.split('\n').collect(), new.split('\n').collect());
    let diff = similar::TextDiff::from_slices(&old, &new);
    let mut text = String::from("*** Begin Patch\n*** Update File: f\n");
    for group in diff.grouped_ops(context) {
        text += "@@\n";
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            text += match change.tag() {
                similar::ChangeTag::Equal => " ",
                similar::ChangeTag::Delete => "-",
                similar::ChangeTag::Insert => "+",
            };
            text += change.value();
            text += "\n";
        }
    }
    text + "*** End Patch\n"
}

fn file(lines: &[String]) -> String {
    lines
        .iter()
        .fold(String::new(), |text, line| text + line + "\n")
}

fn check_round_trip(old: &[String], new: &[String], context: usize) {
    let tools = TestTools::new();
    tools.put("f", file(old));
    let patch = patch_of(old, new, context);
    let result = tools.call("apply_patch", json!({ "patch": patch }));
    assert!(result.is_ok(), "{old:?} {patch}: {result:?}");
    assert_eq!(
        String::from_utf8(tools.bytes("f")).unwrap(),
        file(new),
        "{old:?} {patch}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_patch_of_old_to_new_applied_to_old_gives_new(
        old in prop::collection::vec("[a-c *@+-]{0,3}|\\PC{0,8}", 1..12),
        new in prop::collection::vec("[a-c *@+-]{0,3}|\\PC{0,8}", 1..12),
    ) {
        prop_assume!(old != new);
        check_round_trip(&old, &new, 100);
    }

    #[test]
    fn hunks_with_little_context_apply_at_their_place(
        keep in prop::collection::vec(0..10u8, 5..60),
        context in 1..4usize,
    ) {
        let old: Vec<String> = (0..keep.len()).map(|n| format!("  line {n}")).collect();
        let mut new = Vec::new();
        for (line, what) in old.iter().zip(&keep) {
            match what {
                0 => {}
                1 => new.push(format!("{line} changed")),
                2 => new.extend([line.clone(), "inserted".to_owned()]),
                _ => new.push(line.clone()),
            }
        }
        prop_assume!(old != new && !new.is_empty());
        check_round_trip(&old, &new, context);
    }

    #[test]
    fn no_text_makes_the_tool_panic(
        lines in prop::collection::vec(
            "\\*\\*\\* (Begin Patch|End Patch|Add File: x|Update File: f|Delete File: f|Move to: y|End of File)|@@.{0,4}|[-+ \\\\]?[ab\\PC]{0,4}|.{0,6}",
            0..14,
        ),
    ) {
        let tools = TestTools::new();
        tools.put("f", "a\nb\r\na\n\n");
        let before = tree(&tools.path(""));
        if tools.call("apply_patch", json!({ "patch": lines.join("\n") })).is_err() {
            prop_assert_eq!(tree(&tools.path("")), before);
        }
    }
}
