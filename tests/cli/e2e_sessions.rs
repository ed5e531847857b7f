//! `tiller sessions`: list, show, search, remove, import.

use std::fs::{self, File};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::job;
use crate::support::sandbox::{Ran, Sandbox};

/// A session with two branches, a name, a call with a long result, and a hostile text.
const STORED: &str = r#"{"type":"session","version":3,"id":"0193c0de-0000-7000-8000-00000000cafe","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/home/me/shop"}
{"type":"model_change","id":"m1","parentId":null,"timestamp":"2026-11-20T10:00:00.000Z","provider":"lab","modelId":"m"}
{"type":"message","id":"u1","parentId":"m1","timestamp":"2026-11-20T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"Where is the Zebra?\nIn the ZOO, \"perhaps\"."}],"timestamp":1}}
{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-11-20T10:00:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}],"api":"x","provider":"lab","model":"m","usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{"input":0.5,"output":0.25,"cacheRead":0,"cacheWrite":0,"total":0.75}},"stopReason":"toolUse","timestamp":2}}
{"type":"message","id":"r1","parentId":"a1","timestamp":"2026-11-20T10:00:04.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"1 giraffe\n2\n3\n4\n5\n6\n7\n8"}],"isError":false,"timestamp":3}}
{"type":"message","id":"a2","parentId":"r1","timestamp":"2026-11-20T10:00:06.500Z","message":{"role":"assistant","content":[{"type":"text","text":"Nowhere. \u001b[31m"}],"api":"x","provider":"lab","model":"m","usage":{"input":20,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":25,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":4}}
{"type":"message","id":"u2","parentId":"m1","timestamp":"2026-11-20T10:01:00.000Z","message":{"role":"user","content":"Another way","timestamp":5}}
{"type":"session_info","id":"n1","parentId":"u2","timestamp":"2026-11-20T10:01:01.000Z","name":"The hunt"}
{"type":"custom","customType":"tiller.leaf","id":"l1","parentId":"a2","timestamp":"2026-11-20T10:02:00.000Z","data":null}
"#;

const NAME: &str = "2026-11-20T10-00-00-000Z_0193c0de-0000-7000-8000-00000000cafe.jsonl";

fn stage() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let folder = sandbox.data().join("sessions/--home-me-shop--");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(NAME);
    fs::write(&file, STORED).unwrap();
    (sandbox, file)
}

fn done(sandbox: &Sandbox, args: &[&str]) -> String {
    let ran = sandbox.run(args);
    assert_eq!(ran.code, Some(0), "{args:?} {ran:#?}");
    ran.stdout
}

#[test]
fn sessions_with_and_without_list_shows_names() {
    let (sandbox, _) = stage();
    let plain = done(&sandbox, &["sessions", "--all"]);
    assert_eq!(plain, done(&sandbox, &["sessions", "list", "--all"]));
    assert_eq!(plain, done(&sandbox, &["sessions", "ls", "--all"]));
    assert!(plain.starts_with("STATE "), "{plain}");
    assert!(plain.contains("The hunt"), "{plain}");
    assert!(plain.contains("/home/me/shop"), "{plain}");
    let list: Value =
        serde_json::from_str(&done(&sandbox, &["sessions", "--all", "--json"])).unwrap();
    assert_eq!(list[0]["name"], "The hunt");
    assert_eq!(list[0]["title"], "Where is the Zebra?");
}

#[test]
fn a_session_is_shown_as_text() {
    let (sandbox, file) = stage();
    let text = done(&sandbox, &["sessions", "show", "cafe"]);
    assert_eq!(
        text,
        done(&sandbox, &["sessions", "show", "the hun"]),
        "a name must work like an id"
    );
    for part in [
        "session  0193c0de-0000-7000-8000-00000000cafe\n",
        "name     The hunt\n",
        "folder   /home/me/shop\n",
        "state    closed\n",
        "model    lab/m\n",
        "entries  8, 2 branches\n",
        "user  2026-11-20T10:00:01.000Z  u1\nWhere is the Zebra?\n",
        "I look.\n→ bash {\"command\":\"ls\"}\n",
        "← bash\n  1 giraffe\n",
        "  … 2 more lines\n",
        "Nowhere. ",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("Another way") && !text.contains('\u{1b}'));
    assert_eq!(fs::read_to_string(&file).unwrap(), STORED);

    let all = done(&sandbox, &["sessions", "show", "cafe", "--all"]);
    for line in [
        "* m1  model  lab/m\n",
        "*   u1  user  Where is the Zebra? ⏎",
        "*   a2  assistant  Nowhere. ",
        "    u2  user  Another way\n",
        "    n1  name  The hunt\n",
    ] {
        assert!(all.contains(line), "{line} in {all}");
    }
}

#[test]
fn two_branches_are_compared() {
    let (sandbox, _) = stage();
    let text = done(&sandbox, &["sessions", "diff", "cafe"]);
    for part in [
        "Common ancestor\n  none",
        "  model calls     2                       0\n",
        "  cost            $0.75                   ",
        "A  a2  Nowhere.",
        "  1 bash\n",
        "B  u2  Another way\n  ❯ Another way\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains('\u{1b}'));
    let json = done(
        &sandbox,
        &["sessions", "diff", "cafe", "r1", "u1", "--json"],
    );
    let it: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(it["commonAncestor"]["id"], "u1");
    assert_eq!(it["a"]["toolCalls"], json!({"bash": 1}));
    assert_eq!(it["a"]["workedMs"], 1000);
    assert_eq!(it["b"]["entries"], 0);
    let ran = sandbox.run(&["sessions", "diff", "cafe", "x"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("no entry has the label or the id 'x'"));
}

#[test]
fn a_session_is_shown_as_entries() {
    let (sandbox, _) = stage();
    let entries = |args: &[&str]| -> Vec<String> {
        let entries: Vec<Value> = serde_json::from_str(&done(&sandbox, args)).unwrap();
        let id = |entry: &Value| entry["id"].as_str().unwrap().to_owned();
        entries.iter().map(id).collect()
    };
    let branch = entries(&["sessions", "show", "cafe", "--json"]);
    assert_eq!(branch, ["m1", "u1", "a1", "r1", "a2", "l1"]);
    let all = entries(&["sessions", "show", "cafe", "--json", "--all"]);
    assert_eq!(all, ["m1", "u1", "a1", "r1", "a2", "u2", "n1", "l1"]);
}

#[test]
fn iterations_can_be_read_from_the_session_file() {
    let (sandbox, file) = stage();
    let iterations = || -> Vec<Value> {
        let text = done(&sandbox, &["sessions", "show", "cafe", "--iterations"]);
        serde_json::from_str(&text).unwrap()
    };
    let all = iterations();
    assert_eq!(all.len(), 2);
    let keys: Vec<&String> = all[0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "number",
            "messages",
            "tool_calls",
            "started_at",
            "completed_at",
            "metadata"
        ]
    );
    let roles = |at: usize| -> Vec<Value> {
        let messages = all[at]["messages"].as_array().unwrap();
        messages.iter().map(|it| it["role"].clone()).collect()
    };
    assert_eq!(roles(0), ["user", "assistant", "toolResult"]);
    assert_eq!(roles(1), ["assistant"]);
    let call = json!({"id": "c1", "name": "bash", "arguments": {"command": "ls"}, "is_error": false, "duration_ms": null});
    assert_eq!(all[0]["tool_calls"], json!([call]));
    assert_eq!(all[1]["tool_calls"], json!([]));
    for (at, started, completed) in [
        (0, "10:00:01.000", "10:00:04.000"),
        (1, "10:00:04.000", "10:00:06.500"),
    ] {
        let time = |time: &str| json!(format!("2026-11-20T{time}Z"));
        assert_eq!(all[at]["number"], at + 1);
        assert_eq!(all[at]["started_at"], time(started));
        assert_eq!(all[at]["completed_at"], time(completed));
    }
    let metadata = &all[0]["metadata"];
    assert_eq!(metadata["model"], "lab/m");
    assert_eq!(metadata["usage"]["totalTokens"], 15);
    assert_eq!(metadata["cost"], 0.75);
    assert_eq!(metadata["entries"], json!(["u1", "a1", "r1"]));

    let one = done(&sandbox, &["sessions", "show", "cafe", "--iteration", "2"]);
    assert_eq!(serde_json::from_str::<Value>(&one).unwrap(), all[1]);
    let ran = sandbox.run(&["sessions", "show", "cafe", "--iteration", "3"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("has 2 iterations"), "{ran:#?}");

    // A running turn hasn't ended: a call has no result yet, or a prompt no answer.
    for (lines, count) in [(4, 1), (3, 1)] {
        let text: String = STORED.split_inclusive('\n').take(lines).collect();
        fs::write(&file, text).unwrap();
        let all = iterations();
        assert_eq!(all.len(), count, "{lines}");
        assert_eq!(all[count - 1]["completed_at"], Value::Null);
        assert_eq!(all[count - 1]["started_at"], "2026-11-20T10:00:01.000Z");
    }
}

#[test]
fn search_finds_words_in_prompts_answers_and_names() {
    let (sandbox, _) = stage();
    for (words, role, line) in [
        (&["zebra"][..], "user", "Where is the Zebra?"),
        (&["zoo", "ZEBRA"], "user", "In the ZOO, \"perhaps\"."),
        (&["\"PERHAPS\""], "user", "In the ZOO"),
        (&["nowhere"], "assistant", "Nowhere."),
        (&["hunt"], "name", "The hunt"),
        (&["way"], "user", "Another way"),
    ] {
        let args = [&["sessions", "search"][..], words].concat();
        let text = done(&sandbox, &args);
        assert!(text.contains(&format!("    {role}: ")), "{words:?} {text}");
        assert!(text.contains(line), "{words:?} {text}");
        let json = done(&sandbox, &[&args[..], &["--json"]].concat());
        let record: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(record["matches"][0]["role"], role);
    }
    // Search ignores results. Words from different messages don't add up to a match.
    for words in [&["giraffe"][..], &["zebra", "nowhere"]] {
        let text = done(&sandbox, &[&["sessions", "search"][..], words].concat());
        assert!(
            text.starts_with("No session contains '"),
            "{words:?} {text}"
        );
    }
}

#[test]
fn a_removed_session_can_be_restored_from_the_trash() {
    let (sandbox, file) = stage();
    let outputs = file.with_extension("");
    fs::create_dir(&outputs).unwrap();
    fs::write(outputs.join("c1.txt"), "long").unwrap();
    let text = done(&sandbox, &["sessions", "rm", "cafe"]);
    assert!(!file.exists() && !outputs.exists());
    let trash = sandbox.data().join(".trash/--home-me-shop--");
    assert!(trash.join(NAME).exists(), "{text}");
    assert_eq!(done(&sandbox, &["sessions", "--all"]), "No sessions yet\n");
    let command = text.lines().last().unwrap().trim();
    let back = std::process::Command::new("sh")
        .args(["-c", command])
        .status()
        .unwrap();
    assert!(back.success(), "{command}");
    assert_eq!(fs::read_to_string(&file).unwrap(), STORED);
    assert_eq!(fs::read_to_string(outputs.join("c1.txt")).unwrap(), "long");
    // A second session with the same file name doesn't overwrite the one in the trash.
    done(&sandbox, &["sessions", "remove", "cafe"]);
    fs::write(&file, STORED).unwrap();
    done(&sandbox, &["sessions", "delete", "cafe"]);
    assert!(trash.join(NAME).exists());
    assert!(trash.with_extension("2").join(NAME).exists());
}

#[test]
fn rm_refuses_open_sessions_and_files_elsewhere() {
    let (sandbox, file) = stage();
    sandbox.write("mine.jsonl", STORED);
    let refused = |args: &[&str], code: i32, text: &str| {
        let ran: Ran = sandbox.run(args);
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        assert!(ran.stderr.contains(text), "{ran:#?}");
    };
    let lock = File::open(&file).unwrap();
    lock.lock().unwrap();
    refused(&["sessions", "rm", "cafe"], 1, "is open");
    assert!(file.exists());
    refused(&["sessions", "rm", "mine.jsonl"], 2, "is not in ");
    refused(&["sessions", "rm", "nope"], 2, "no session 'nope'");
    refused(&["sessions", "show", "nope"], 2, "no session 'nope'");
    refused(&["sessions", "import", "nope"], 2, "no session file 'nope'");
    sandbox.write("notes.txt", "no session\n");
    refused(
        &["sessions", "import", "notes.txt"],
        1,
        "isn't a session file",
    );
}

#[test]
fn an_imported_session_continues_in_this_folder() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    sandbox.write("export.txt", STORED);
    let text = done(&sandbox, &["sessions", "import", "export.txt"]);
    assert!(text.starts_with("Imported as "), "{text}");
    let list = done(&sandbox, &["sessions"]);
    assert!(list.contains("The hunt"), "{list}");
    assert_eq!(sandbox.read("export.txt"), STORED);
    let lines = sandbox.session();
    assert_eq!(lines.len(), STORED.lines().count());
    assert_ne!(lines[0]["cwd"], "/home/me/shop");
}
