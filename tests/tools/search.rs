//! The `grep`, `find` and `ls` tools: texts, limits, order, and what they leave out.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use tiller::agent::{Details, ToolContext, ToolSettings};

use super::{TestTools, fifo, is_root, text};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};

fn tree() -> TestTools {
    let tools = TestTools::new();
    tools.put(".gitignore", "ignored/\n*.log\n");
    tools.put("a.rs", "fn one() {}\nlet x = 1;\nlet y = 2;\nfn two() {}\n");
    tools.put("a/b.rs", "fn three() {}\r\n");
    tools.put("a/c.txt", "nothing here\n");
    tools.put(".hidden/d.rs", "fn four() {}\n");
    tools.put(".git/e.rs", "fn never() {}\n");
    tools.put("ignored/f.rs", "fn ignored() {}\n");
    tools.put("g.log", "fn logged() {}\n");
    tools.put("bin", b"fn binary() {}\0");
    tools
}

fn grep(pattern: &str, more: Value) -> Value {
    let mut args = json!({"pattern": pattern});
    for (key, value) in more.as_object().unwrap() {
        args[key] = value.clone();
    }
    args
}

#[test]
fn grep_finds_lines_in_order() {
    let tools = tree();
    let cases = [
        (
            grep("fn \\w+", json!({})),
            ".hidden/d.rs:1: fn four() {}\na.rs:1: fn one() {}\na.rs:4: fn two() {}\na/b.rs:1: fn three() {}",
        ),
        (
            grep("FN T", json!({"ignore_case": true})),
            "a.rs:4: fn two() {}\na/b.rs:1: fn three() {}",
        ),
        (
            grep("one()", json!({"literal": true})),
            "a.rs:1: fn one() {}",
        ),
        (grep("f.", json!({"literal": true})), "No matches found"),
        (
            grep("^let x", json!({"context": 1})),
            "a.rs-1- fn one() {}\na.rs:2: let x = 1;\na.rs-3- let y = 2;",
        ),
        (
            grep("let", json!({"context": 1})),
            "a.rs-1- fn one() {}\na.rs:2: let x = 1;\na.rs:3: let y = 2;\na.rs-4- fn two() {}",
        ),
        (grep("fn", json!({"path": "a"})), "a/b.rs:1: fn three() {}"),
        (
            grep("fn", json!({"path": "./a/"})),
            "a/b.rs:1: fn three() {}",
        ),
        (
            grep("fn", json!({"path": "a/b.rs"})),
            "a/b.rs:1: fn three() {}",
        ),
        (
            grep("fn", json!({"path": "ignored"})),
            "ignored/f.rs:1: fn ignored() {}",
        ),
        (
            grep("fn", json!({"path": "g.log"})),
            "g.log:1: fn logged() {}",
        ),
        (
            grep("fn", json!({"glob": "a/*.rs"})),
            "a/b.rs:1: fn three() {}",
        ),
        (
            grep("fn", json!({"glob": "b.*", "path": "a"})),
            "a/b.rs:1: fn three() {}",
        ),
        (grep("fn", json!({"glob": "*.log"})), "No matches found"),
        (
            grep("(?i)NOTHING HERE$", json!({})),
            "a/c.txt:1: nothing here",
        ),
        (
            grep("never|fn ignored|logged|binary", json!({})),
            "No matches found",
        ),
        (
            grep("fn", json!({"path": "bin"})),
            "No matches found\n[bin is a binary file.]",
        ),
    ];
    for (args, expected) in cases {
        assert_eq!(tools.ok("grep", args.clone()), expected, "{args}");
    }
}

#[test]
fn a_deleted_working_directory_is_named() {
    let tools = tree();
    std::fs::remove_dir_all(tools.path("")).unwrap();
    for (tool, args) in [
        ("ls", json!({})),
        ("find", json!({"pattern": "*"})),
        ("grep", json!({"pattern": "fn"})),
    ] {
        let error = tools.err(tool, args);
        assert!(
            error.starts_with("The working directory is gone: /"),
            "{tool}: {error}"
        );
    }
}

#[test]
fn ignore_files_apply_outside_repositories_too() {
    let tools = TestTools::new();
    tools.put(".gitignore", "*.log\n");
    tools.put("a.rs", "fn one() {}\n");
    tools.put("g.log", "fn logged() {}\n");
    let found = text(&tools.call("grep", grep("fn", json!({}))).unwrap());
    assert_eq!(found, "a.rs:1: fn one() {}");
    let found = text(&tools.call("find", json!({"pattern": "[ag].*"})).unwrap());
    assert_eq!(found, "a.rs");
}

#[test]
fn grep_says_when_there_is_more() {
    let tools = tree();
    assert_eq!(
        tools.ok("grep", grep("fn", json!({"limit": 2}))),
        ".hidden/d.rs:1: fn four() {}\na.rs:1: fn one() {}\n\
         [Showing first 2 matches. Use limit=4 for more.]"
    );
    let exactly = tools.ok("grep", grep("fn", json!({"limit": 4})));
    assert!(!exactly.contains("Showing"), "{exactly}");
    // The context of an omitted match is omitted too.
    assert_eq!(
        tools.ok(
            "grep",
            grep("fn", json!({"limit": 1, "context": 1, "path": "a.rs"}))
        ),
        "a.rs:1: fn one() {}\na.rs-2- let x = 1;\n[Showing first 1 matches. Use limit=2 for more.]"
    );
    // This also holds if the next match is in the next file.
    tools.put("two/a", "last\n");
    tools.put("two/b", "one\ntwo\nlast\n");
    assert_eq!(
        tools.ok(
            "grep",
            grep("last", json!({"limit": 1, "context": 2, "path": "two"}))
        ),
        "two/a:1: last\n[Showing first 1 matches. Use limit=2 for more.]"
    );
    let Details::Matches(details) = tools
        .call("grep", grep("fn", json!({"limit": 2})))
        .unwrap()
        .details
    else {
        panic!("no matches details");
    };
    assert_eq!(
        (details.pattern.as_str(), details.path.as_str()),
        ("fn", ".")
    );
    assert_eq!(
        (details.count, details.truncated, details.lines.len()),
        (2, true, 2)
    );
}

// What a call gets that gives only a pattern.
#[test]
fn defaults_are_as_documented() {
    let tools = TestTools::new();
    tools.put("lines", "x\nX\n\n".repeat(101));
    for n in 0..1001 {
        tools.put(&format!("names/{n}"), "");
    }
    let found = tools.ok("grep", grep("x", json!({})));
    assert!(found.starts_with("lines:1: x\nlines:4: x\n"), "{found}");
    assert_eq!(found.lines().count(), 101);
    assert!(found.ends_with("\n[Showing first 100 matches. Use limit=200 for more.]"));
    let found = tools.ok("find", json!({"pattern": "*"}));
    assert_eq!(found.lines().count(), 1001);
    assert!(found.ends_with("\n[Showing first 1000 results. Use limit=2000 for more.]"));
    assert!(
        !found.contains("names/\n"),
        "folders must be listed only on request"
    );
}

#[test]
fn the_schemas_list_all_parameters() {
    let tools = TestTools::new();
    /// Name, type and default of a parameter.
    type Parameter = (&'static str, &'static str, Value);
    let cases: [(&str, &[Parameter]); 2] = [
        (
            "grep",
            &[
                ("pattern", "string", Value::Null),
                ("path", "string", Value::Null),
                ("glob", "string", Value::Null),
                ("ignore_case", "boolean", json!(false)),
                ("literal", "boolean", json!(false)),
                ("context", "integer", json!(0)),
                ("limit", "integer", json!(100)),
            ],
        ),
        (
            "find",
            &[
                ("pattern", "string", Value::Null),
                ("path", "string", Value::Null),
                ("type", "string", json!("file")),
                ("limit", "integer", json!(1000)),
            ],
        ),
    ];
    for (tool, parameters) in cases {
        let schema = &tools.tool(tool).spec().parameters;
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), parameters.len(), "{tool}");
        for (name, kind, default) in parameters {
            assert_eq!(properties[*name]["type"], *kind, "{tool} {name}");
            assert_eq!(properties[*name]["default"], *default, "{tool} {name}");
        }
        assert_eq!(schema["required"], json!(["pattern"]), "{tool}");
    }
    let kinds = &tools.tool("find").spec().parameters["properties"]["type"]["enum"];
    assert_eq!(*kinds, json!(["file", "directory", "any"]));
}

#[test]
fn grep_output_is_bounded() {
    let tools = TestTools::new();
    let (char, broken) = ("\u{e9}", [&b"x"[..], &[0xff; 2000]].concat());
    for (line, shown) in [
        ("x".repeat(500).into_bytes(), "x".repeat(500)),
        ("x".repeat(2000).into_bytes(), "x".repeat(500) + "..."),
        (char.repeat(500).into_bytes(), char.repeat(500)),
        (char.repeat(501).into_bytes(), char.repeat(500) + "..."),
        (broken, format!("x{}...", "\u{fffd}".repeat(499))),
    ] {
        tools.put("long", line);
        let pattern = format!("x|{char}");
        assert_eq!(
            tools.ok("grep", grep(&pattern, json!({}))),
            format!("long:1: {shown}")
        );
    }
    tools.put("many", "a line of text\n".repeat(10_000));
    let text = tools.ok("grep", grep("line", json!({"limit": 100_000})));
    assert!(text.len() < 51_200 + 100, "{}", text.len());
    assert!(
        text.ends_with(" matches. Narrow the search.]"),
        "{}",
        &text[text.len() - 100..]
    );
}

#[test]
fn grep_refuses_what_it_cannot_search() {
    let tools = tree();
    fifo(&tools.path("fifo"));
    symlink("loop", tools.path("loop")).unwrap();
    let error = tools.err("grep", grep("fn(", json!({})));
    assert!(
        error.starts_with("error: invalid input: pattern: "),
        "{error}"
    );
    assert!(
        error.contains("unclosed group") && error.ends_with("set literal=true."),
        "{error}"
    );
    let cases = [
        (grep("x", json!({"path": "no"})), "File not found: no"),
        (
            grep("x", json!({"path": "fifo"})),
            "fifo is a named pipe (FIFO), not a file.",
        ),
        (
            grep("x", json!({"path": "loop"})),
            "Can't open loop: too many levels of symbolic links",
        ),
        (
            grep("x", json!({"glob": "a["})),
            "error: invalid input: \"a[\" isn't a valid glob: unclosed character class; missing ']'",
        ),
        (
            json!({}),
            "error: invalid input: Missing required parameter: pattern",
        ),
    ];
    for (args, expected) in cases {
        assert_eq!(tools.err("grep", args), expected);
    }
    // Pipes and link loops on the way are skipped.
    assert_eq!(
        tools.ok("grep", grep("three", json!({}))),
        "a/b.rs:1: fn three() {}"
    );
}

#[test]
fn read_accepts_the_paths_in_results() {
    let tools = tree();
    let mut inner = tools.context();
    inner.cwd = tools.path("a");
    let outside = tools.path("a.rs").display().to_string();
    let cases = [
        (
            json!({"pattern": "one", "path": ".."}),
            "../a.rs:1: fn one() {}".to_string(),
        ),
        (
            json!({"pattern": "one", "path": "../"}),
            "../a.rs:1: fn one() {}".to_string(),
        ),
        (
            json!({"pattern": "one", "path": outside}),
            format!("{outside}:1: fn one() {{}}"),
        ),
        (
            json!({"pattern": "three", "path": inner.cwd}),
            "b.rs:1: fn three() {}".to_string(),
        ),
    ];
    for (args, expected) in cases {
        let output = tools.call_in("grep", args, inner.clone()).unwrap();
        assert_eq!(text(&output), expected);
    }
    let output = tools
        .call_in("find", json!({"pattern": "a.rs", "path": ".."}), inner)
        .unwrap();
    assert_eq!(text(&output), "../a.rs");
}

#[test]
fn odd_names_and_bytes_do_not_break_lines() {
    let tools = TestTools::new();
    for name in [&b"\x1b[31mred"[..], b"line\nbreak", b"bad\xff", b"bad\xfe"] {
        std::fs::write(
            tools.path("").join(std::ffi::OsStr::from_bytes(name)),
            "caf\u{e9} x\n",
        )
        .unwrap();
    }
    let mut utf16 = vec![0xff, 0xfe];
    utf16.extend("wide x\r\n".encode_utf16().flat_map(u16::to_le_bytes));
    tools.put("utf16", utf16);
    let text = tools.ok("grep", grep("x", json!({})));
    assert_eq!(text.lines().count(), 5);
    assert!(
        text.contains("utf16:1: wide x") && !text.contains('\x1b'),
        "{text}"
    );
    let names = tools.ok("find", json!({"pattern": "*"}));
    assert_eq!(names.lines().count(), 4);
    assert_eq!(tools.ok("ls", json!({})).lines().count(), 5);
}

#[test]
fn unreadable_places_are_counted() {
    let tools = tree();
    for name in ["a.rs", "a"] {
        std::fs::set_permissions(tools.path(name), std::fs::Permissions::from_mode(0o000)).unwrap();
    }
    let text = tools.ok("grep", grep("fn (one|four)", json!({})));
    if is_root() {
        assert!(text.contains("one"), "{text}");
    } else {
        assert_eq!(
            text,
            ".hidden/d.rs:1: fn four() {}\n[Could not read: a.rs, a/]"
        );
    }
    std::fs::set_permissions(tools.path("a"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn find_lists_names_in_order() {
    let tools = tree();
    symlink("a", tools.path("link")).unwrap();
    symlink("nowhere", tools.path("gone")).unwrap();
    let cases = [
        (json!({"pattern": "*.rs"}), ".hidden/d.rs\na.rs\na/b.rs"),
        (json!({"pattern": "a/*"}), "a/b.rs\na/c.txt"),
        (json!({"pattern": "**/*.rs", "path": "a"}), "a/b.rs"),
        (
            json!({"pattern": "*", "type": "directory"}),
            ".hidden/\na/\nlink/",
        ),
        (json!({"pattern": "a*", "type": "any"}), "a.rs\na/"),
        (json!({"pattern": "a/"}), "a/"),
        (json!({"pattern": "gone"}), "gone"),
        (json!({"pattern": "*.log"}), "No files found"),
        (json!({"pattern": "e.rs"}), "No files found"),
        (
            json!({"pattern": "*.rs", "limit": 1}),
            ".hidden/d.rs\n[Showing first 1 results. Use limit=2 for more.]",
        ),
        (
            json!({"pattern": "*.rs", "limit": 3}),
            ".hidden/d.rs\na.rs\na/b.rs",
        ),
    ];
    for (args, expected) in cases {
        assert_eq!(tools.ok("find", args.clone()), expected, "{args}");
    }
    assert_eq!(
        tools.err("find", json!({"pattern": "*", "path": "a.rs"})),
        "a.rs is a file, not a folder."
    );
    assert_eq!(
        tools.err("find", json!({"pattern": "*", "path": "no"})),
        "File not found: no"
    );
    assert_eq!(
        tools.err("find", json!({"pattern": "*", "type": "link"})),
        "error: invalid input: type must be one of \"file\", \"directory\", \"any\""
    );
}

#[test]
fn globs_match_paths() {
    for (pattern, path, expected) in [
        ("*.rs", "a/b.rs", true),
        ("*.rs", "b.rs", true),
        ("*.{rs,toml}", "x/Cargo.toml", true),
        ("main", "src/main", true),
        ("main", "src/main.rs", false),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/a/b.rs", false),
        ("src/**/*.rs", "src/a.rs", true),
        ("src/**/*.rs", "src/a/b/c.rs", true),
        ("**/b.rs", "a/b.rs", true),
        ("**/*", "a", true),
        ("./src/*.rs", "src/a.rs", true),
        ("/a.rs", "a.rs", true),
        ("/a.rs", "b/a.rs", false),
        ("!*.rs", "a.rs", false),
        ("!*.rs", "a.c", true),
        ("[ab].c", "x/b.c", true),
        ("*", ".hidden", true),
    ] {
        let tools = TestTools::new();
        tools.put(path, "");
        let found = tools.ok("find", json!({"pattern": pattern}));
        assert_eq!(found == path, expected, "{pattern} {path}: {found}");
    }
}

#[test]
fn ls_lists_one_folder() {
    let tools = TestTools::new();
    assert_eq!(tools.ok("ls", json!({})), "(empty folder)");
    for name in ["b", "A", "c", ".d", "Z"] {
        tools.put(name, "");
    }
    std::fs::create_dir(tools.path("dir")).unwrap();
    symlink("dir", tools.path("To")).unwrap();
    assert_eq!(tools.ok("ls", json!({})), ".d\nA\nb\nc\ndir/\nTo/\nZ");
    assert_eq!(
        tools.ok("ls", json!({"path": ".", "limit": 2})),
        ".d\nA\n[Showing first 2 of 7 entries. Use limit=4 for more.]"
    );
    for n in 0..20_000 {
        tools.put(&format!("many/{n:05}"), "");
    }
    let many = tools.ok("ls", json!({"path": "many", "limit": 30_000}));
    assert!(
        many.ends_with(
            "\n[Output cut at 50 KB after 8533 of 20000 entries. Use find with a glob.]"
        ),
        "{}",
        &many[many.len() - 100..]
    );
    assert_eq!(
        tools.err("ls", json!({"path": "b"})),
        "b is a file, not a folder."
    );
    assert_eq!(tools.err("ls", json!({"path": "no"})), "File not found: no");
}

#[test]
fn a_search_stops_in_time_and_says_so() {
    let tools = TestTools::with(&ToolSettings {
        search_timeout_s: 0,
        ..ToolSettings::default()
    });
    tools.put("f", "x\n");
    let note = "[Stopped after 0 s; the results are partial. Search a smaller part.]";
    assert_eq!(
        tools.ok("grep", grep("x", json!({}))),
        format!("No matches found\n{note}")
    );
    assert_eq!(
        tools.ok("find", json!({"pattern": "*"})),
        format!("No files found\n{note}")
    );
}

#[test]
fn a_time_limit_can_exceed_the_clocks_range() {
    let tools = TestTools::with(&ToolSettings {
        search_timeout_s: u64::MAX,
        ..ToolSettings::default()
    });
    tools.put("f", "x\n");
    assert_eq!(tools.ok("grep", grep("x", json!({}))), "f:1: x");
    assert_eq!(tools.ok("ls", json!({})), "f");
}

#[test]
fn a_cancelled_search_ends_at_once() {
    let tools = TestTools::new();
    // A file without line ends, far too long to wait for.
    let file = File::create(tools.path("endless")).unwrap();
    file.set_len(1 << 40).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[b'a'; 4096], 0).unwrap();
    let context = tools.context();
    let cancel = context.cancel.clone();
    let call = tools.tool("grep").execute(grep("zzz", json!({})), context);
    let started = Instant::now();
    tools.block_on(async {
        let (_, ()) = tokio::join!(call, async { cancel.cancel() });
    });
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// The text of a call that must end without help.
fn ends(tools: &TestTools, tool: &str, args: Value, context: ToolContext) -> String {
    let call = tools.tool(tool).execute(args, context);
    let ended = tools.block_on(async { tokio::time::timeout(Duration::from_secs(20), call).await });
    text(&ended.expect("the search hung").unwrap())
}

// git stores links, so a repository can contain any of these.
#[test]
fn irregular_ignore_files_are_named_and_not_opened() {
    let kinds: [fn(&Path); 4] = [
        fifo,
        |path| symlink("/dev/zero", path).unwrap(),
        |path| symlink("sub/pipe", path).unwrap(),
        |path| File::create(path).unwrap().set_len(20 << 30).unwrap(),
    ];
    let searches = [
        ("grep", grep("one", json!({})), "a.rs:1: fn one() {}"),
        ("find", json!({"pattern": "*.rs"}), "a.rs"),
    ];
    for (number, plant) in kinds.into_iter().enumerate() {
        for name in ["sub/.gitignore", "sub/.ignore", ".gitignore"] {
            let tools = TestTools::new();
            tools.put("sub/a.rs", "fn one() {}\n");
            fifo(&tools.path("sub/pipe"));
            plant(&tools.path(name));
            let mut context = tools.context();
            let (prefix, named) = if name == ".gitignore" {
                context.cwd = tools.path("sub");
                ("", tools.path(name).display().to_string())
            } else {
                ("sub/", name.to_string())
            };
            for (tool, args, found) in &searches {
                assert_eq!(
                    ends(&tools, tool, args.clone(), context.clone()),
                    format!(
                        "{prefix}{found}\n\
                         [Ignore files not used (not regular files, too large or too many patterns): \
                         {named}]"
                    ),
                    "kind {number}"
                );
            }
        }
    }
}

#[test]
fn omitted_entries_are_counted_and_the_first_are_named() {
    let tools = TestTools::new();
    for n in 0..8 {
        fifo(
            tools
                .put(&format!("{n}/f"), "")
                .with_file_name(".ignore")
                .as_path(),
        );
    }
    let found = tools.ok("find", json!({"pattern": "none"}));
    assert!(
        found.ends_with(": 0/.ignore, 1/.ignore, 2/.ignore, 3/.ignore, 4/.ignore and 3 more]"),
        "{found}"
    );
}

#[test]
fn ignore_patterns_are_used_up_to_a_limit() {
    let tools = TestTools::new();
    tools.put("one/.gitignore", "a**b**c**d\n".repeat(60_000));
    tools.put("two/.gitignore", "/no.rs\n");
    for name in ["one/yes.rs", "two/yes.rs", "two/no.rs"] {
        tools.put(name, "fn one() {}\n");
    }
    assert_eq!(
        tools.ok("find", json!({"pattern": "*.rs"})),
        "one/yes.rs\n\
         two/yes.rs\n\
         [Ignore files not used (not regular files, too large or too many patterns): one/.gitignore]"
    );
}

// The nearest file wins, and within a folder the order is `.ignore`, `.gitignore`,
// `.git/info/exclude`.
#[test]
fn ignore_files_have_their_usual_precedence() {
    let tools = TestTools::new();
    tools.put(".gitignore", "\u{feff}*.log\nbuild/\n/top.rs\n# *.rs\n");
    tools.put(".ignore", "!kept.log\n");
    tools.put(".git/info/exclude", "excluded.rs\n");
    tools.put("deep/.gitignore", "!again.log\n*.tmp\n");
    for name in [
        "a.log",
        "kept.log",
        "top.rs",
        "excluded.rs",
        "build/x.rs",
        "deep/again.log",
        "deep/top.rs",
        "deep/excluded.rs",
        "deep/a.tmp",
        "b.tmp",
        "deep/build/y.rs",
    ] {
        tools.put(name, "");
    }
    let found = tools.ok("find", json!({"pattern": "*.{log,rs,tmp}"}));
    assert_eq!(found, "b.tmp\ndeep/again.log\ndeep/top.rs\nkept.log");
    // The rules above the searched folder apply too.
    let found = tools.ok("find", json!({"pattern": "*", "path": "deep"}));
    assert_eq!(found, "deep/.gitignore\ndeep/again.log\ndeep/top.rs");
}

// As in git and ripgrep, `.gitignore` and `.git/info/exclude` apply up to the repository's root.
// `.ignore` also applies from above it.
#[test]
fn the_ignore_files_of_git_do_not_reach_into_another_repository() {
    let tools = TestTools::new();
    tools.put(".gitignore", "*.rs\n/hidden/\n");
    tools.put(".git/info/exclude", "*.bak\n");
    tools.put(".ignore", "*.tmp\n");
    tools.put("inner/.git/HEAD", "");
    tools.put("inner/.gitignore", "own.rs\n");
    // In a linked working tree and in a submodule, `.git` is a file.
    tools.put("linked/.git", "gitdir: ../elsewhere\n");
    tools.put("hidden/.git/HEAD", "");
    for name in [
        "a.rs",
        "plain/b.rs",
        "inner/c.bak",
        "inner/c.rs",
        "inner/c.tmp",
        "inner/deep/d.rs",
        "inner/deep/own.rs",
        "linked/e.rs",
        "hidden/f.rs",
    ] {
        tools.put(name, "fn\n");
    }
    let cases = [
        (".", "inner/c.bak inner/c.rs inner/deep/d.rs linked/e.rs"),
        ("inner", "inner/c.bak inner/c.rs inner/deep/d.rs"),
        ("inner/deep", "inner/deep/d.rs"),
        ("linked", "linked/e.rs"),
        // A folder that the call names is searched even if it's ignored.
        ("hidden", "hidden/f.rs"),
        ("plain", "No files found"),
    ];
    for (path, expected) in cases {
        let found = tools.ok("find", json!({"pattern": "?.*", "path": path}));
        assert_eq!(found.replace('\n', " "), expected, "{path}");
    }
    assert_eq!(
        tools.ok("grep", grep("fn", json!({"path": "inner/deep"}))),
        "inner/deep/d.rs:1: fn"
    );
}

// Anchored patterns in the user's list start at the repository's root. Elsewhere they start at the
// searched folder.
#[test]
fn the_users_ignore_list_applies_in_each_repository() {
    let find = |path| json!({"pattern": "*.{rs,log}", "path": path});
    let (server, sandbox) = job::stage_with(vec![
        Reply::text("Look.")
            .and_call("find", find("outer"))
            .and_call("find", find("outer/sub"))
            .and_call("find", find("plain")),
        Reply::text("Done."),
    ]);
    sandbox.write("../home/.config/git/ignore", "/top.rs\n*.log\n");
    sandbox.write("outer/.git/HEAD", "");
    sandbox.write("outer/inner/.git/HEAD", "");
    sandbox.write("outer/kept/.gitignore", "!*.log\n");
    for name in [
        "outer/top.rs",
        "outer/sub/top.rs",
        "outer/sub/a.log",
        "outer/inner/top.rs",
        "outer/inner/sub/top.rs",
        "outer/kept/b.log",
        "plain/top.rs",
        "plain/sub/top.rs",
    ] {
        sandbox.write(name, "");
    }
    let ran = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), "go"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(
        server.requests()[1].results(),
        [
            "outer/inner/sub/top.rs\nouter/kept/b.log\nouter/sub/top.rs",
            "outer/sub/top.rs",
            "plain/sub/top.rs"
        ]
    );
}

#[test]
fn short_lines_near_a_very_long_one_are_found() {
    let tools = TestTools::new();
    let long = "x".repeat(20 << 20);
    tools.put("wide", format!("needle 1\n{long} needle\nneedle 3\n{long}"));
    tools.put("wider", format!("{long}\nneedle 2\n"));
    assert_eq!(
        tools.ok("grep", grep("needle", json!({}))),
        "wide:1: needle 1\nwide:3: needle 3\nwider:2: needle 2\n\
         [Long lines searched only up to 8.0 MB in: wide, wider]"
    );
}

#[test]
fn control_bytes_are_escaped() {
    let tools = TestTools::new();
    tools.put("f", "a\tb\u{1b}[31mred\u{7f}\u{1}\nplain\rline\r\n");
    assert_eq!(
        tools.ok("grep", grep("red|plain", json!({}))),
        "f:1: a\tb\\x1b[31mred\\x7f\\x01\nf:2: plain\rline\n\
         [control bytes are shown as \\x1b and the like]"
    );
    assert_eq!(
        tools.ok("grep", grep("plain", json!({}))),
        "f:2: plain\rline"
    );
}

/// The expected grep output for these files, computed in the slow way.
fn naive(files: &[(String, String)], word: &str, limit: usize) -> String {
    let mut sorted = files.to_vec();
    sorted.sort();
    let lines: Vec<String> = sorted
        .iter()
        .flat_map(|(name, text)| {
            text.lines()
                .enumerate()
                .filter(|(_, line)| line.contains(word))
                .map(move |(index, line)| format!("{name}:{}: {line}", index + 1))
        })
        .collect();
    let shown = lines
        .iter()
        .take(limit)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    if lines.is_empty() {
        "No matches found".into()
    } else if lines.len() > limit {
        format!(
            "{shown}\n[Showing first {limit} matches. Use limit={} for more.]",
            limit * 2
        )
    } else {
        shown
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn grep_agrees_with_the_slow_way(
        files in prop::collection::btree_map("[ab.]{0,1}[ab](/[ab-]{1,2}){0,1}\\.t", "([abc ]{0,4}\n){0,6}", 1..12),
        limit in 1_usize..8,
    ) {
        let tools = TestTools::new();
        let files: Vec<(String, String)> = files.into_iter().collect();
        for (name, text) in &files {
            tools.put(name, text);
        }
        let expected = naive(&files, "a", limit);
        prop_assert_eq!(tools.ok("grep", grep("a", json!({"limit": limit}))), expected);
    }
}
