//! Session files that could harm a terminal, the memory or a model, run through the program.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::job;
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::sandbox::Sandbox;

/// A session of one prompt and one answer, with its file.
fn begun(replies: &[&str]) -> (ModelServer, Sandbox, PathBuf) {
    let replies = replies.iter().map(|text| Reply::text(*text)).collect();
    let (server, sandbox) = job::stage_with(replies);
    let ran = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), "first"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let file = sandbox.session_files().pop().unwrap();
    (server, sandbox, file)
}

fn last_id(sandbox: &Sandbox) -> Value {
    sandbox.session().pop().unwrap()["id"].clone()
}

#[test]
fn a_line_of_200_mb_is_reported_and_not_loaded() {
    let (server, sandbox, file) = begun(&["One.", "Two."]);
    let parent = last_id(&sandbox);
    let mut out = BufWriter::new(File::options().append(true).open(&file).unwrap());
    let entry = json!({"type": "message", "id": "long0001", "parentId": parent, "timestamp": "T", "message": {"role": "user", "content": "LONG"}});
    let entry = entry.to_string();
    let (before, after) = entry.split_once("LONG").unwrap();
    write!(out, "{before}").unwrap();
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..200 {
        out.write_all(&piece).unwrap();
    }
    writeln!(out, "{after}").unwrap();
    let behind = json!({"type": "message", "id": "last0001", "parentId": "long0001", "timestamp": "T", "message": {"role": "user", "content": "behind it"}});
    writeln!(out, "{behind}").unwrap();
    drop(out);
    let size = fs::metadata(&file).unwrap().len();

    // All of this must fit into 160 MB of memory.
    let tiller = env!("CARGO_BIN_EXE_tiller");
    let script = format!("ulimit -d 160000; exec {tiller} -p -c 'and on'");
    let ran = Command::new("bash")
        .args(["-c", &script])
        .current_dir(sandbox.path())
        .env_clear()
        .envs(sandbox.env())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("1 entry of the conversation can't be read"),
        "{stderr}"
    );
    let request = server.request(1);
    for text in ["first", "One.", "behind it", "and on"] {
        assert!(request.text().contains(text), "{text}");
    }
    assert!(!request.text().contains("xxxxxxxx"));
    assert!(
        fs::metadata(&file).unwrap().len() > size,
        "the file must only grow"
    );
    let mut start = vec![0; 1024];
    File::open(&file).unwrap().read_exact(&mut start).unwrap();
    assert!(start.starts_with(b"{\"type\":\"session\""));
}

#[test]
fn control_characters_in_names_and_prompts_are_escaped() {
    let (_server, sandbox, file) = begun(&["One."]);
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}txt\r\nsecond line\0";
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace("\"first\"", &json!(format!("find me {evil}")).to_string());
    let name = json!({"type": "session_info", "id": "name0001", "parentId": last_id(&sandbox), "timestamp": "T", "name": format!("named {evil}")});
    fs::write(&file, format!("{text}{name}\n")).unwrap();
    let path = file.to_str().unwrap();
    for args in [
        &["sessions"][..],
        &["sessions", "--all"],
        &["sessions", "show", path],
        &["sessions", "search", "find"],
        &["status", path],
    ] {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, Some(0), "{args:?} {ran:#?}");
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        let named = shown.contains("named") || shown.contains("find me");
        assert!(named, "{args:?} {shown}");
        let hostile = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!shown.contains(hostile), "{args:?} {shown:?}");
    }
}
