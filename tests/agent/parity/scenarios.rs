//! The rows of the matrix.

use serde_json::json;

use super::UserAction;
use super::stage::{Played, Profile, Reply};

/// One row.
pub struct Row {
    pub name: &'static str,
    pub files: &'static [(&'static str, &'static str)],
    /// The model's answers.
    pub replies: fn(Profile) -> Vec<Reply>,
    pub user: UserAction,
    pub check: fn(&Played),
}

const MATH: &str = "fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n";

fn done() -> Reply {
    Reply::text("Done.")
}

fn bash(command: &str) -> Reply {
    Reply::call("bash", json!({ "command": command }))
}

fn has(texts: &[String], at: usize, part: &str) {
    let text = texts.get(at).map_or("", String::as_str);
    assert!(text.contains(part), "{part:?} is not in {text:?}");
}

pub const ROWS: &[Row] = &[
    Row {
        name: "a: simple file creation",
        files: &[],
        replies: |profile| vec![profile.creates("hello.py", "print('Hello')"), done()],
        user: UserAction::Asks,
        check: |played| {
            assert_eq!(played.file("hello.py"), "print('Hello')\n");
            let text = match played.profile {
                Profile::OpenAi | Profile::OpenAiChat => "Patch applied:\nA hello.py",
                _ => "Successfully wrote 15 bytes to hello.py",
            };
            assert_eq!(played.results(), [text]);
        },
    },
    Row {
        name: "b: read, then edit",
        files: &[("src/math.rs", MATH)],
        replies: |profile| {
            vec![
                Reply::call("read", json!({ "file_path": "src/math.rs" })),
                profile.edits(&[("src/math.rs", "    a - b", "    a + b")]),
                done(),
            ]
        },
        user: UserAction::Asks,
        check: |played| {
            assert_eq!(
                played.file("src/math.rs"),
                MATH.replace('-', "+").replace("+>", "->")
            );
            has(&played.results(), 0, "a - b");
        },
    },
    Row {
        name: "c: multi-file edit",
        files: &[("a.txt", "one\nsame\n"), ("b.txt", "two\nsame\n")],
        replies: |profile| {
            vec![
                profile.edits(&[("a.txt", "one", "1"), ("b.txt", "two", "2")]),
                done(),
            ]
        },
        user: UserAction::Asks,
        check: |played| {
            assert_eq!(
                played.file("a.txt") + &played.file("b.txt"),
                "1\nsame\n2\nsame\n"
            );
        },
    },
    Row {
        name: "d: shell",
        files: &[],
        replies: |_| vec![bash("echo out; echo err >&2; exit 3"), done()],
        user: UserAction::Asks,
        check: |played| assert_eq!(played.results(), ["out\nerr\n[exit code 3]"]),
    },
    Row {
        name: "e: shell timeout",
        files: &[],
        replies: |_| {
            vec![
                Reply::call(
                    "bash",
                    json!({ "command": "echo early; sleep 60", "timeout": 1 }),
                ),
                done(),
            ]
        },
        user: UserAction::Asks,
        check: |played| assert_eq!(played.results(), ["early\n[timed out after 1 s]"]),
    },
    Row {
        name: "f: grep and find",
        files: &[
            ("src/a.rs", "fn one() {}\n"),
            ("src/b.rs", "fn two() {}\n"),
            ("c.md", "fn\n"),
        ],
        replies: |_| {
            vec![
                Reply::call("grep", json!({ "pattern": "fn t", "path": "src" })),
                Reply::call("find", json!({ "pattern": "*.rs" })),
                done(),
            ]
        },
        user: UserAction::Asks,
        check: |played| {
            has(&played.results(), 0, "src/b.rs:1: fn two() {}");
            assert_eq!(played.results()[1], "src/a.rs\nsrc/b.rs");
        },
    },
    Row {
        name: "g: read, analyse, edit",
        files: &[("src/math.rs", MATH), ("README.md", "adds\n")],
        replies: |profile| {
            vec![
                Reply::call("read", json!({ "file_path": "README.md" })),
                Reply::new()
                    .think("It should add.")
                    .say("The sign is wrong.")
                    .and_call("grep", json!({ "pattern": "a - b" })),
                profile.edits(&[("src/math.rs", "    a - b", "    a + b")]),
                bash("grep -c '+' src/math.rs"),
                done(),
            ]
        },
        user: UserAction::Asks,
        check: |played| {
            assert_eq!(played.results().len(), 4);
            has(&played.results(), 3, "1");
        },
    },
    Row {
        name: "h: truncation of a large file",
        files: &[],
        replies: |_| {
            vec![
                bash("seq 1 5000 > big.txt"),
                Reply::call("read", json!({ "file_path": "big.txt" })),
                bash("cat big.txt"),
                done(),
            ]
        },
        user: UserAction::Asks,
        check: |played| {
            has(
                &played.results(),
                1,
                "[truncated: lines 1-2000 of 5000. Use offset=2001 to continue.]",
            );
            has(&played.results(), 2, "... (truncated, ");
            assert_eq!(played.file("big.txt").lines().count(), 5000);
        },
    },
    Row {
        name: "i: parallel calls",
        files: &[("a.txt", "one\n"), ("b.txt", "two\n")],
        replies: |_| {
            vec![
                Reply::call("read", json!({ "file_path": "a.txt" }))
                    .and_call("read", json!({ "file_path": "b.txt" }))
                    .and_call("ls", json!({})),
                done(),
            ]
        },
        user: UserAction::Asks,
        check: |played| {
            let tools: Vec<_> = played
                .story
                .iter()
                .filter(|line| line.starts_with("tool"))
                .collect();
            assert!(
                tools[..3].iter().all(|line| line.starts_with("tool start")),
                "{tools:?}"
            );
            has(&played.results(), 0, "one");
            has(&played.results(), 1, "two");
            has(&played.results(), 2, "a.txt\nb.txt");
        },
    },
    Row {
        name: "j: steering mid-task",
        files: &[],
        replies: |_| {
            let wait = "while [ ! -e go ]; do sleep 0.02; done; echo first";
            vec![
                bash(wait).and_call("bash", json!({ "command": "touch second" })),
                done(),
            ]
        },
        user: UserAction::Steers("Only one endpoint"),
        check: |played| {
            assert_eq!(played.results(), ["first", "Skipped due to user message."]);
            assert_eq!(played.requests[1].last_user(), "Only one endpoint");
            assert!(!played.stage_has("second"));
        },
    },
    Row {
        name: "k: effort change",
        files: &[],
        replies: |_| vec![Reply::text("one"), Reply::text("two")],
        user: UserAction::WantsMoreThought,
        check: |played| {
            let (medium, high) = (played.settings(0), played.settings(1));
            assert_ne!(medium, high, "{:?}", played.profile);
            let tools = |settings: &serde_json::Value| settings["tools"].clone();
            assert_eq!(tools(&medium), tools(&high));
        },
    },
    Row {
        name: "m: loop detection warning",
        files: &[("a.txt", "one\n")],
        replies: |_| {
            let again = || Reply::call("read", json!({ "file_path": "a.txt" }));
            vec![again(), again(), again(), done()]
        },
        user: UserAction::Asks,
        check: |played| {
            let warning =
                "You appear to be repeating the same action. Consider a different approach.";
            assert!(played.requests[3].last_user().contains(warning));
            assert!(!played.requests[2].text().contains(warning));
        },
    },
    Row {
        name: "n: error recovery",
        files: &[("a.txt", "one\n")],
        replies: |profile| {
            vec![
                Reply::call("read", json!({ "file_path": "no.txt" })),
                Reply::call("frobnicate", json!({ "x": 1 })),
                Reply::call("read", json!({ "offset": "x" })),
                profile.edits(&[("a.txt", "wrong", "1")]),
                profile.edits(&[("a.txt", "one", "1")]),
                done(),
            ]
        },
        user: UserAction::Asks,
        check: |played| {
            let results = played.results();
            has(&results, 0, "File not found: no.txt");
            has(&results, 1, "Tool 'frobnicate' not found");
            has(&results, 2, "error: invalid input: ");
            let refusal = match played.profile {
                Profile::OpenAi | Profile::OpenAiChat => {
                    "The patch was not applied; no file was changed."
                }
                _ => "Could not find the exact text in a.txt.",
            };
            has(&results, 3, refusal);
            assert_eq!(played.file("a.txt"), "1\n");
        },
    },
    Row {
        name: "o: native editing format",
        files: &[("a.txt", "one\ntwo\nthree\n")],
        replies: |profile| {
            // Each model also understands the edit formats of the others.
            let others = [Profile::Anthropic, Profile::OpenAi, Profile::Gemini];
            let mut other = others.into_iter().filter(|other| *other != profile);
            let mut next = || other.next().unwrap();
            vec![
                profile.edits(&[("a.txt", "one", "1")]),
                next().edits(&[("a.txt", "two", "2")]),
                next().edits(&[("a.txt", "three", "3")]),
                done(),
            ]
        },
        user: UserAction::Asks,
        check: |played| {
            assert_eq!(played.file("a.txt"), "1\n2\n3\n");
            let tools = played.requests[0].tools();
            assert!(
                tools.iter().any(|tool| tool == played.profile.editing()),
                "{tools:?}"
            );
            let native = format!(" {}", played.profile.editing());
            let first = played
                .story
                .iter()
                .find(|line| line.starts_with("tool start"))
                .unwrap();
            assert!(first.ends_with(&native), "{first}");
        },
    },
];
