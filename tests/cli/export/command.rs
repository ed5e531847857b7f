//! The export command: what it writes and where, with no key in it.

use std::fs;

use serde_json::{Value, json};
use tiller::agent::session::SessionView;
use tiller::app::export::{Export, Format, Scope};
use tiller::llm::Secret;
use tiller::llm::auth::Redactor;

use super::sessions::{export, session};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;

/// Redaction never damages the file format. However a letter is encoded, its secret is redacted.
#[test]
fn redaction_changes_texts_and_leaves_the_format_alone() {
    let redactor = Redactor::default();
    for secret in [
        "user",
        "edit",
        "text",
        "message",
        "pass\"word \u{e9}t\u{e9} 9876",
    ] {
        redactor.add(&Secret::new(secret));
    }
    let mut lines = session(str::to_owned);
    lines[1]["message"]["content"][0]["text"] =
        json!("the user said pass\"word \u{e9}t\u{e9} 9876");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let written: Vec<String> = lines.iter().map(Value::to_string).collect();
    // As other programs encode it.
    let text = written.join("\n").replace('\u{e9}', "\\u00e9") + "\n";
    assert!(text.contains("word \\u00e9t"), "{text}");
    fs::write(&path, text).unwrap();
    let session = SessionView::open(&path).unwrap();
    for format in Format::ALL {
        let export = Export::new(&session, format, Scope::All, &redactor).unwrap();
        let text = String::from_utf8(export.bytes).unwrap();
        assert!(!text.contains("9876"), "{text}");
        assert!(
            text.contains("the *** said ***") || text.contains(r"the \*\*\* said"),
            "{text}"
        );
        if format == Format::Jsonl {
            let copy = folder.path().join("copy.jsonl");
            fs::write(&copy, &text).unwrap();
            let copy = SessionView::open(&copy).unwrap();
            assert_eq!(shape(&copy), shape(&session));
            let first: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
            assert_eq!(first["message"]["role"], "user");
        }
    }
}

/// The tree of a session as ids, parents, kinds and labels.
fn shape(session: &SessionView) -> Vec<String> {
    let tree = session.tree();
    let shape = |node| {
        let parent = tree.node(node).parent.map(|parent| tree.id(parent));
        let (id, kind, label) = (tree.id(node), tree.node(node).kind, tree.label(node));
        format!("{id} below {parent:?}: {kind:?} {label:?}")
    };
    tree.nodes().map(shape).collect()
}

#[test]
fn one_branch_can_be_exported_as_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let lines: Vec<String> = session(str::to_owned)
        .iter()
        .map(Value::to_string)
        .collect();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let session = SessionView::open(&path).unwrap();
    let write = |format| {
        let redactor = Redactor::default();
        let export = Export::new(&session, format, Scope::Branch, &redactor).unwrap();
        String::from_utf8(export.bytes).unwrap()
    };
    let copy = folder.path().join("branch.jsonl");
    fs::write(&copy, write(Format::Jsonl)).unwrap();
    let copy = SessionView::open(&copy).unwrap();
    assert_eq!(copy.problems(), [""; 0]);
    let ids = |session: &SessionView| -> Vec<String> {
        let branch = session.branch().into_iter();
        branch
            .map(|node| session.tree().id(node).to_owned())
            .collect()
    };
    assert!(ids(&copy).starts_with(&ids(&session)), "{:?}", ids(&copy));
    assert_eq!(copy.tree().name(), session.tree().name());
    let first = copy.tree().find("e0").unwrap();
    assert_eq!(copy.tree().label(first), Some("start here"));
    let page = write(Format::Html);
    assert!(
        page.contains("Second branch") && !page.contains("From an extension"),
        "{page}"
    );
}

#[test]
fn keys_are_redacted_everywhere() {
    let redactor = Redactor::default();
    redactor.add(&Secret::new("sk-ant-0123456789abcdef"));
    let exported = export(
        &session(|text| format!("{text} sk-ant-0123456789abcdef")),
        &redactor,
    );
    for text in [&exported.page, &exported.markdown, &exported.jsonl] {
        assert!(!text.contains("0123456789"), "{text}");
        assert!(text.contains("***"));
    }
}

#[test]
fn export_writes_a_file_and_leaves_the_session_unchanged() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("**Hello** from the model.")]);
    let ran = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), "Say hello, please"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let file = sandbox.session_files()[0].clone();
    let before = fs::read(&file).unwrap();
    let id = sandbox.session()[0]["id"].as_str().unwrap().to_owned();
    for (args, name) in [
        (&[][..], "say-hello-please.html"),
        (&[], "say-hello-please-2.html"),
        (&["--format", "md"], "say-hello-please.md"),
        (&["--format", "jsonl", "-o", "copy.jsonl"], "copy.jsonl"),
        (&["-o", "by-its-end.md"], "by-its-end.md"),
        (&["--md"], "say-hello-please-2.md"),
        (&["--json", "-o", "named.txt"], "named.txt"),
        (&["--branch", "-o", "branch.jsonl"], "branch.jsonl"),
        (&["--force", "-o", "branch.jsonl"], "branch.jsonl"),
    ] {
        let ran = sandbox.run(&[&["sessions", "export", &id][..], args].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert_eq!(ran.stdout.trim_end(), name);
        assert!(sandbox.read(name).contains("from the model"));
    }
    let shown = sandbox.run(&["sessions", "export", &id, "-o", "-"]);
    assert_eq!(shown.stdout, sandbox.read("say-hello-please.html"));
    assert!(shown.stdout.contains("<strong>Hello</strong>"));
    let path = file.to_str().unwrap();
    for (args, code, text) in [
        (&["nope"][..], 2, "no session 'nope'"),
        (&[path, "-o", path], 2, "is the session itself"),
        (&[path, "--force", "-o", path], 2, "is the session itself"),
        (&[path, "-o", "copy.jsonl"], 1, "replace it with --force"),
        (&[path, "--force", "-o", "."], 1, "can't write ."),
        (
            &[path, "-o", "no/folder/x.html"],
            1,
            "can't write no/folder/x.html: its folder does not exist",
        ),
        (&[path, "--format", "pdf"], 2, "html, md, jsonl"),
        (
            &[path, "-o", "x.pdf"],
            2,
            "can't export as pdf; use html, md or jsonl",
        ),
        (&[path, "--html", "--md"], 2, "cannot be used with"),
    ] {
        let ran = sandbox.run(&[&["sessions", "export"][..], args].concat());
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        assert!(ran.stderr.contains(text), "{ran:#?}");
    }
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn an_exported_session_is_imported_as_the_same_tree() {
    let sandbox = Sandbox::new();
    let lines: Vec<String> = session(str::to_owned)
        .iter()
        .map(Value::to_string)
        .collect();
    sandbox.write("theirs.jsonl", &(lines.join("\n") + "\n"));
    for args in [
        &["sessions", "export", "theirs.jsonl", "-o", "out.jsonl"][..],
        &["sessions", "import", "out.jsonl"],
    ] {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    let imported = SessionView::open(&sandbox.session_files()[0]).unwrap();
    let theirs = SessionView::open(&sandbox.path().join("theirs.jsonl")).unwrap();
    assert_eq!(shape(&imported), shape(&theirs));
    assert_eq!(imported.tree().name(), theirs.tree().name());
    for (mine, other) in imported.tree().nodes().zip(theirs.tree().nodes()) {
        assert_eq!(imported.line(mine).unwrap(), theirs.line(other).unwrap());
    }
}

/// Exports also omit the secrets that commands must not see, wherever they come from.
#[test]
fn secret_variables_and_keys_from_files_are_redacted() {
    let mut sandbox = Sandbox::new();
    sandbox.set("DEPLOY_TOKEN", "dt-5f0c1e77a9");
    sandbox.set("MY_DATABASE_PASSWORD", "correct horse \"battery\"");
    sandbox.set("HARMLESS", "a-word-that-stays");
    let models = sandbox.config().join("models.toml");
    let provider = "[providers.lab]\napi = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9\"\n\
        api_key = \"lab-key-written-in-the-file\"\n";
    fs::write(models, provider).unwrap();
    let text =
        "dt-5f0c1e77a9, correct horse \"battery\", a-word-that-stays, lab-key-written-in-the-file";
    let lines: Vec<String> = session(|_| text.to_owned())
        .iter()
        .map(Value::to_string)
        .collect();
    sandbox.write("s.jsonl", &(lines.join("\n") + "\n"));
    for format in ["html", "md", "jsonl"] {
        let ran = sandbox.run(&[
            "sessions",
            "export",
            "./s.jsonl",
            "--format",
            format,
            "-o",
            "-",
        ]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert!(ran.stdout.contains("a-word-that-stays"), "{}", ran.stdout);
        for secret in ["5f0c1e77a9", "battery", "lab-key"] {
            assert!(
                !ran.stdout.contains(secret),
                "{format} {secret}: {}",
                ran.stdout
            );
        }
    }
}
