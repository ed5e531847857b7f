//! The `edit` tool: its texts, its tolerance, and the bytes it must not touch.

use proptest::prelude::*;
use serde_json::{Value, json};
use tiller::agent::Details;

use super::TestTools;

fn pair(old: &str, new: &str) -> Value {
    json!({"file_path": "f", "old_text": old, "new_text": new})
}

/// The file after an edit, and the text for the model.
fn edited(before: &[u8], args: Value) -> (Vec<u8>, String) {
    let tools = TestTools::new();
    tools.put("f", before);
    let text = tools.ok("edit", args);
    (tools.bytes("f"), text)
}

/// The error of an edit, which must have changed nothing.
fn refused(before: &[u8], args: Value) -> String {
    let tools = TestTools::new();
    tools.put("f", before);
    let error = tools.err("edit", args);
    assert_eq!(tools.bytes("f"), before);
    error
}

#[test]
fn one_unique_text_is_replaced_literally() {
    let (bytes, text) = edited(b"a $1 b\n", pair("$1", "$0\\1"));
    assert_eq!(bytes, b"a $0\\1 b\n");
    assert_eq!(text, "Successfully edited f (1 replacement)");
    // Texts that a regular expression would read as a group, a class or a repetition.
    for (old, new) in [("b", "[$1]${1}$&\\1"), (".*", "x"), ("(b)", "$1")] {
        let (bytes, _) = edited(format!("a {old} c\n").as_bytes(), pair(old, new));
        assert_eq!(bytes, format!("a {new} c\n").as_bytes(), "{old:?} {new:?}");
    }
}

#[test]
fn each_refusal_has_its_text() {
    let cases = [
        (
            pair("x", "y"),
            "Could not find the exact text in f. The old_text must match exactly including all whitespace and newlines.",
        ),
        (
            pair("a", "y"),
            "Found 2 occurrences of the text in f. The text must be unique. Please provide more context to make it unique.",
        ),
        (
            pair("b", "b"),
            "No changes made to f. The replacement produced identical content.",
        ),
        (
            pair("", "b"),
            "error: invalid input: old_text must not be empty; to create or overwrite a file, use write",
        ),
        (
            json!({"file_path": "no", "old_text": "a", "new_text": "b"}),
            "File not found: no",
        ),
        (
            json!({"file_path": "f"}),
            "error: invalid input: Missing required parameter: old_text; Missing required parameter: new_text",
        ),
        (
            json!({"file_path": "f", "old_text": "a"}),
            "error: invalid input: Missing required parameter: new_text",
        ),
        (
            json!({}),
            "error: invalid input: Missing required parameter: file_path; Missing required parameter: old_text; Missing required parameter: new_text",
        ),
        (
            json!({"file_path": "f", "old_text": ["x"]}),
            "error: invalid input: Missing required parameter: new_text; old_text must be a string, not an array",
        ),
        (
            json!({"file_path": "f", "new_text": "x", "edits": [{"old_text": "a", "new_text": "b"}]}),
            "error: invalid input: Missing required parameter: old_text",
        ),
        (
            json!({"file_path": "f", "old_text": "a", "new_text": "b", "replace_all": 3, "edits": [{"old_text": 1}]}),
            "error: invalid input: replace_all must be a boolean, not a number; Missing required parameter: edits[0].new_text",
        ),
        (
            json!({"file_path": "f", "edits": []}),
            "error: invalid input: Missing required parameter: old_text; Missing required parameter: new_text",
        ),
        (
            json!({"file_path": "f", "edits": [{"old_text": "a"}]}),
            "error: invalid input: Missing required parameter: edits[0].new_text",
        ),
        (
            json!({"file_path": "f", "edits": [{"old_text": "b", "new_text": "1"}, {"old_text": "q", "new_text": "2"}]}),
            "Could not find the exact text in f. The old_text must match exactly including all whitespace and newlines. (edits[1]; nothing was changed)",
        ),
        (
            json!({"file_path": "f", "edits": [{"old_text": "b\na", "new_text": "1"}, {"old_text": "a b", "new_text": "2"}]}),
            "edits[1] and edits[0] overlap in f. Combine them into one edit. Nothing was changed.",
        ),
    ];
    for (args, expected) in cases {
        assert_eq!(refused(b"a b\na", args), expected);
    }
    assert_eq!(
        refused(b"a\0b", pair("a", "b")),
        "f is a binary file (3 bytes); edit can't change it."
    );
}

#[test]
fn all_forms_of_the_arguments_are_accepted() {
    let edits = json!([{"old_text": "a", "new_text": "b"}, {"old_text": "b", "new_text": "a"}]);
    let cases = [
        (json!({"file_path": "f", "edits": edits}), "b a c c"),
        (json!({"path": "f", "edits": edits.to_string()}), "b a c c"),
        (json!({"file_path": "f", "edits": edits[0]}), "b b c c"),
        (
            json!({"file_path": "f", "edits": edits[0].to_string()}),
            "b b c c",
        ),
        (
            json!({"file_path": "f", "old_text": "c", "new_text": "cc", "replace_all": true}),
            "a b cc cc",
        ),
        (
            json!({"file_path": "f", "old_text": "a", "new_text": "x", "edits": []}),
            "x b c c",
        ),
    ];
    for (args, expected) in cases {
        assert_eq!(
            edited(b"a b c c", args.clone()).0,
            expected.as_bytes(),
            "{args}"
        );
    }
    let all = json!({"file_path": "f", "old_text": "c", "new_text": "d", "replace_all": true});
    assert_eq!(
        edited(b"c c", all).1,
        "Successfully edited f (2 replacements)"
    );
}

#[test]
fn bytes_around_the_change_are_kept() {
    let cases: [(&[u8], &str, &str, &[u8]); 7] = [
        (
            b"\xef\xbb\xbfa\r\nb\r\n",
            "a\nb",
            "a\nx\nb",
            b"\xef\xbb\xbfa\r\nx\r\nb\r\n",
        ),
        (b"a\r\nb\nc", "c", "d\ne", b"a\r\nb\nd\ne"),
        (b"a\rb\r\nc\r\n", "c", "d", b"a\rb\r\nd\r\n"),
        (b"a\xff\nb\n", "b", "c", b"a\xff\nc\n"),
        (b"last", "last", "end", b"end"),
        (b"a\r\nb\r\n", "a\r\nb\r\n", "c\r\n", b"c\r\n"),
        (b"\xef\xbb\xbfa", "\u{feff}a", "\u{feff}b", b"\xef\xbb\xbfb"),
    ];
    for (before, old, new, after) in cases {
        let (bytes, _) = edited(before, pair(old, new));
        assert_eq!(bytes, after, "{} {old:?}", before.escape_ascii());
    }
}

#[test]
fn new_lines_take_the_line_ends_of_the_replaced_ones() {
    for (before, old, new, after) in [
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
        ("a\nb\r\nc\n", "a\nb\nc", "X\na\nb\nc", "X\na\nb\r\nc\n"),
        ("a\r\nb\nc\n", "a\nb\n", "A\nB\n", "A\r\nB\nc\n"),
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("a", "a", "a\nb", "a\nb"),
        ("a\r\nb\r\nc\r\n", "a\nb\nc\n", "a\nc\n", "a\r\nc\r\n"),
        ("x\ry\r\nz", "x\ry", "1\n2", "1\r\n2\r\nz"),
        ("a\r\nb\r\n", "a\nb\n", "", ""),
    ] {
        let (bytes, _) = edited(before.as_bytes(), pair(old, new));
        assert_eq!(String::from_utf8_lossy(&bytes), after, "{before:?} {old:?}");
    }
}

#[test]
fn spaces_and_typography_may_differ() {
    for (before, old, new, after) in [
        ("x = \u{201c}q\u{201d}; y", "x = \"q\";", "X", "X y"),
        ("a\u{a0}\u{2014}\u{a0}b", "a - b", "X", "X"),
        ("one  \ntwo\n", "one\ntwo", "X", "X\n"),
        ("one\ntwo\n", "one \ntwo", "X", "X\n"),
        ("foo\nfoobar", "foo ", "X", "X\nfoobar"),
        ("a \u{2014}\n", "\ta -\n", "\tX\n", "X\n"),
        // Lines that the edit doesn't change keep their bytes.
        (
            "say \u{201c}hi\u{201d}\nold  \nend\n",
            "say \"hi\"\nold\nend",
            "say \"hi\"\nnew\nend",
            "say \u{201c}hi\u{201d}\nnew\nend\n",
        ),
    ] {
        let (bytes, _) = edited(before.as_bytes(), pair(old, new));
        assert_eq!(String::from_utf8_lossy(&bytes), after, "{before:?} {old:?}");
    }
    for (before, old, expected) in [
        ("aaa", "aa", "Found 2 occurrences"),
        ("foobar", "foo ", "Could not find"),
        ("a\n\n\nb", "  ", "Could not find"),
        ("  x\n\tx\n", "x ", "Found 2 occurrences"),
        ("  p\n  q\n\tp\n\tq\n", "p\nq", "Found 2 occurrences"),
        ("  p\n  p\n  p\n", "p\np", "Found 2 occurrences"),
    ] {
        let error = refused(before.as_bytes(), pair(old, "X"));
        assert!(error.starts_with(expected), "{before:?} {old:?}: {error}");
    }
}

#[test]
fn a_tolerant_match_is_reported() {
    let (bytes, text) = edited(
        "s = \u{2018}q\u{2019}  \nt\n".as_bytes(),
        pair("s = 'q'\nt", "u\nt"),
    );
    assert_eq!(bytes, b"u\nt\n");
    assert_eq!(
        text,
        "Successfully edited f (1 replacement). old_text matched ignoring trailing spaces and \
         Unicode quotes, dashes and spaces."
    );
}

#[test]
fn indentation_can_differ_by_one_shift() {
    for (before, old, new, after, verb) in [
        (
            "    if a:\n        b\n\n    end\n",
            "if a:\n    b\n\nend",
            "if a:\n    c\n\n        d\nend",
            "    if a:\n        c\n\n            d\n    end\n",
            "got the same extra indentation",
        ),
        (
            "\t\ta {\n\t\t\tb\n",
            "a {\n\tb\n",
            "c\n",
            "\t\tc\n",
            "got the same extra indentation",
        ),
        (
            "a:\r\n  b\r\n",
            "    a:\n      b\n",
            "    a:\n    c\n",
            "a:\r\nc\r\n",
            "lost the same indentation",
        ),
    ] {
        let (bytes, text) = edited(before.as_bytes(), pair(old, new));
        assert_eq!(String::from_utf8_lossy(&bytes), after, "{old:?}");
        let told = format!("; new_text {verb}.");
        assert!(text.ends_with(&told), "{text}");
    }
    for (before, old, new) in [
        ("  hello\n    world\n", "hello\nworld", "goodbye\nworld"),
        ("\tif a {\n\t\tb\n\t}\n", "if a {\n  b\n}", "if a {\n  c\n}"),
        ("a\nb\n", "    a\n    b\n", "x\n"),
    ] {
        let error = refused(before.as_bytes(), pair(old, new));
        let lines: String = before
            .lines()
            .enumerate()
            .fold(String::new(), |text, (at, line)| {
                format!("{text}\n  {} {line}", at + 1)
            });
        assert_eq!(
            error,
            format!(
                "Could not find the exact text in f. The old_text must match exactly including all \
                 whitespace and newlines. The file has these lines with different indentation:{lines}"
            )
        );
    }
}

// Control bytes in the form that read and grep show them in.
#[test]
fn control_bytes_match_in_their_displayed_form() {
    let (bytes, text) = edited(
        b"a \x1b[31mred\x7f\n",
        pair("\\x1b[31mred\\x7F", "\\x1b[32mgreen\\x41"),
    );
    assert_eq!(bytes, b"a \x1b[32mgreen\\x41\n");
    assert!(
        text.ends_with(". \\xNN was read as a control character."),
        "{text}"
    );
    let (bytes, _) = edited(b"\\x1b \x1b", pair("\\x1b", "\\x1c"));
    assert_eq!(bytes, b"\\x1c \x1b");
    // read and grep never show these in that form.
    for (content, old) in [
        (&b"a\tb"[..], "a\\x09b"),
        (b"a\r\nb", "a\\x0d\\x0ab"),
        (b"a\x01b", "a\\x+1b"),
    ] {
        let error = refused(content, pair(old, "c"));
        assert!(error.starts_with("Could not find"), "{old}: {error}");
    }
}

#[test]
fn details_show_the_change() {
    let tools = TestTools::new();
    tools.put("f", "1\n2\n3\n4\n5\n6\n7\n8\n");
    let output = tools
        .call("edit", pair("6", "six\nsix and a half"))
        .unwrap();
    let Details::Diff(diff) = output.details else {
        panic!("no diff");
    };
    assert_eq!(diff.path, "f");
    assert_eq!(diff.first_changed_line, Some(6));
    assert_eq!(
        (diff.added, diff.removed, diff.old_lines, diff.new_lines),
        (2, 1, 8, 9)
    );
    assert_eq!(
        diff.diff,
        "    ...\n  2 2\n  3 3\n  4 4\n  5 5\n- 6 6\n+ 6 six\n+ 7 six and a half\n  8 7\n  9 8"
    );
}

#[test]
fn an_edit_of_a_changed_file_applies_only_if_its_place_is_certain() {
    let tools = TestTools::new();
    let stale = || {
        tools.put("f", "a\nb b\nc\n");
        tools.ok("read", json!({"file_path": "f"}));
        tools.put("f", "a\nb b\nuser\n");
    };
    stale();
    assert_eq!(
        tools.ok("edit", pair("a\n", "A\n")),
        "Successfully edited f (1 replacement)\n\
         The file had changed on disk since you last read it; the edit was applied to its current \
         content."
    );
    assert_eq!(tools.bytes("f"), b"A\nb b\nuser\n");
    let all = json!({"file_path": "f", "old_text": "b", "new_text": "x", "replace_all": true});
    for (args, after) in [(all, "a\nx x\nuser\n"), (pair("a \nb b", "q"), "q\nuser\n")] {
        stale();
        let error = tools.err("edit", args.clone());
        assert!(
            error.contains("has changed on disk") && error.contains("+3 user"),
            "{error}"
        );
        assert_eq!(tools.bytes("f"), b"a\nb b\nuser\n");
        // The refusal counts as a read.
        tools.ok("edit", args);
        assert_eq!(tools.bytes("f"), after.as_bytes());
    }
    // A difference too long to show doesn't count as a read.
    let long = "b\n".repeat(100);
    tools.put("f", "b\n");
    tools.ok("read", json!({"file_path": "f"}));
    tools.put("f", &long);
    let all = json!({"file_path": "f", "old_text": "b", "new_text": "x", "replace_all": true});
    for _ in 0..2 {
        let error = tools.err("edit", all.clone());
        assert!(error.contains("Read it again"), "{error}");
        assert_eq!(tools.bytes("f"), long.as_bytes());
    }
    stale();
    let error = tools.err("edit", pair("c\n", "d\n"));
    assert!(error.starts_with("Could not find the exact text in f.") && error.contains("-3 c"));
}

#[test]
fn parallel_edits_of_one_file_all_apply_in_order() {
    let tools = TestTools::new();
    tools.put("f", "0");
    std::os::unix::fs::symlink("f", tools.path("link")).unwrap();
    let calls = (0..20).map(|n| {
        let file = if n % 2 == 0 { "f" } else { "link" };
        let args =
            json!({"file_path": file, "old_text": n.to_string(), "new_text": (n + 1).to_string()});
        tools.tool("edit").execute(args, tools.context())
    });
    let results = tools.block_on(futures_util::future::join_all(calls));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(tools.bytes("f"), b"20");
}

#[test]
fn many_changes_in_a_large_file_are_quick() {
    let line = "some words in a line\r\n";
    let before = line.repeat(100_000);
    let args =
        json!({"file_path": "f", "old_text": "words", "new_text": "text", "replace_all": true});
    let (bytes, text) = edited(before.as_bytes(), args);
    assert_eq!(bytes, before.replace("words", "text").as_bytes());
    assert_eq!(text, "Successfully edited f (100000 replacements)");
}

const PIECES: &[&[u8]] = &[
    b"\r\n",
    b"\n",
    b"\r",
    b"a",
    b" ",
    b"\t",
    b"\xff",
    b"\xe2\x80\x9c",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // All bytes around the unique text stay the same, with any line ends.
    #[test]
    fn every_byte_outside_the_edit_is_kept(
        before in prop::collection::vec(prop::sample::select(PIECES), 0..30),
        after in prop::collection::vec(prop::sample::select(PIECES), 0..30),
        bom in any::<bool>(),
    ) {
        let (before, after) = (before.concat(), after.concat());
        let mark: &[u8] = if bom { b"\xef\xbb\xbf" } else { b"" };
        let file = |middle: &[u8]| [mark, &before, middle, &after].concat();
        let (bytes, _) = edited(&file(b"needle"), pair("needle", "thread"));
        prop_assert_eq!(bytes, file(b"thread"));
    }
}

#[test]
fn only_the_displayed_change_is_made() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch";
    for (tool, args) in [
        (
            "edit",
            json!({"file_path": "a.txt", "old_text": "two", "new_text": "2"}),
        ),
        ("write", json!({"file_path": "a.txt", "content": "2"})),
        ("apply_patch", json!({ "patch": patch })),
    ] {
        let tools = TestTools::new();
        tools.put("a.txt", "one\ntwo\n");
        let rehearse = || {
            let done = tools.tool(tool).rehearse(args.clone(), tools.context());
            tools.runtime.block_on(done).unwrap().unwrap()
        };
        let shown = rehearse();
        assert_eq!(rehearse(), shown, "{tool}");
        assert_eq!(tools.bytes("a.txt"), b"one\ntwo\n", "{tool}");
        let run = || {
            let context = tiller::agent::ToolContext {
                shown: Some(shown.fingerprint),
                ..tools.context()
            };
            tools.call_in(tool, args.clone(), context)
        };
        tools.put("a.txt", "one\ntwo\nthree\n");
        let error = run().unwrap_err();
        assert!(
            error.starts_with("Nothing was changed: "),
            "{tool}: {error}"
        );
        assert_eq!(tools.bytes("a.txt"), b"one\ntwo\nthree\n", "{tool}");
        tools.put("a.txt", "one\ntwo\n");
        assert_eq!(run().unwrap().details, shown.details, "{tool}");
    }
}
