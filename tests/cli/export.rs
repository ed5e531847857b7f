//! Exported sessions: a page with every kind of cell, texts that try to leave their place, and the
//! command.

use std::collections::HashSet;
use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};
use tiller::agent::session::SessionView;
use tiller::app::export::{Export, Format, Scope};
use tiller::llm::Secret;
use tiller::llm::auth::Redactor;

use crate::support::job;
use crate::support::model_server::{Reply, Wire};

/// A picture of one point.
const POINT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A session of every kind of entry, with what `text` gives in every text field.
fn session(text: impl Fn(&str) -> String) -> Vec<Value> {
    let t = |what: &str| text(what);
    let usage = json!({"input": 1200, "output": 340, "cacheRead": 800, "cacheWrite": 0,
        "totalTokens": 2340, "cost": {"input": 0.0, "output": 0.0, "cacheRead": 0.0,
        "cacheWrite": 0.0, "total": 0.0421}});
    let image = |kind: &str, data: &str| json!({"type": "image", "data": data, "mimeType": kind});
    let says = |text: String| json!([{"type": "text", "text": text}]);
    let user = |content: Value| json!({"role": "user", "content": content, "timestamp": 1});
    let answer = |content: Value, stop: &str, error: Value| {
        json!({"role": "assistant", "content": content, "api": t("api"), "provider": t("prov"),
            "model": t("model-1"), "usage": usage.clone(), "stopReason": stop, "errorMessage": error,
            "timestamp": 2})
    };
    let result = |id: &str, name: String, content: Value, details: Value, failed: bool| {
        json!({"role": "toolResult", "toolCallId": id, "toolName": name, "content": content,
            "details": details, "isError": failed, "durationMs": 1500, "timestamp": 3})
    };
    let call = |id: &str, name: String, arguments: Value| json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments});
    let bodies = [
        (
            "message",
            json!({"message": user(json!([
            {"type": "text", "text": t("Fix the parser")}, image("image/png", POINT), image("image/svg+xml", POINT)]))}),
        ),
        (
            "model_change",
            json!({"provider": t("prov"), "modelId": t("model-1")}),
        ),
        ("thinking_level_change", json!({"thinkingLevel": "high"})),
        (
            "message",
            json!({"message": answer(json!([
            {"type": "thinking", "thinking": t("Let me look.")},
            {"type": "text", "text": t("**Reading** `a.rs`:\n\n```rust\nfn a() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\n1. one\n\n> quote\n\n[link](https://example.org/?a=1&b=2) [bad](javascript:alert(1)) ![pic](https://example.org/p.png) <b>raw</b>\n\n# H")},
            call("c1", t("edit"), json!({t("path"): t("src/a.rs"), "old": t("x")})),
            call("c2", t("bash"), json!({"command": t("ls -la")})),
            call("c3", t("never"), json!({"n": 1}))]), "toolUse", Value::Null)}),
        ),
        (
            "message",
            json!({"message": result("c1", t("edit"), says(t("Edited.")), json!({"kind": "diff",
            "path": t("src/a.rs"), "diff": t("-1 old\n+1 new\n 2 same"), "added": 1, "removed": 1}), false)}),
        ),
        (
            "message",
            json!({"message": result("c2", t("bash"), json!([{"type": "text", "text": t("no such file")}, image("image/jpeg", POINT)]), Value::Null, true)}),
        ),
        (
            "custom",
            json!({"customType": "tiller.event", "data": {"event": "retry", "errorMessage": t("overloaded")}}),
        ),
        (
            "message",
            json!({"message": answer(says(t("Done.")), "error", json!(t("it broke")))}),
        ),
        (
            "compaction",
            json!({"summary": t("What *was* done."), "firstKeptEntryId": "e7", "tokensBefore": 12345}),
        ),
        (
            "branch_summary",
            json!({"summary": t("Another way."), "fromId": "e3"}),
        ),
        (
            "custom_message",
            json!({"customType": t("ext"), "content": t("From an extension"), "display": true}),
        ),
        (
            "context_edit",
            json!({"targetId": "e0", "replacement": null}),
        ),
        (
            "message",
            json!({"message": {"role": "nobody", "content": t("who?")}}),
        ),
        (
            "message",
            json!({"message": user(json!(t("Second branch")))}),
        ),
        (
            "message",
            json!({"message": answer(says(t("Two.")), "aborted", Value::Null)}),
        ),
        ("label", json!({"targetId": "e0", "label": t("start here")})),
        ("session_info", json!({"name": t("A small session")})),
    ];
    let header = json!({"type": "session", "version": 3, "id": t("0193c0de"), "timestamp": t("2026-01-02T03:04:05.000Z"), "cwd": t("/work/project")});
    let entries = bodies
        .into_iter()
        .enumerate()
        .map(|(at, (kind, mut body))| {
            let parent = match at {
                0 => Value::Null,
                // The second branch goes on from the first answer's results.
                13 => json!("e5"),
                at => json!(format!("e{}", at - 1)),
            };
            body["type"] = json!(kind);
            body["id"] = json!(format!("e{at}"));
            body["parentId"] = parent;
            body["timestamp"] = json!(t("2026-01-02T03:04:06.000Z"));
            body
        });
    std::iter::once(header).chain(entries).collect()
}

struct Exported {
    page: String,
    markdown: String,
    jsonl: String,
}

fn export(lines: &[Value], redactor: &Redactor) -> Exported {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let text = lines.join("\n") + "\n";
    fs::write(&path, &text).unwrap();
    let session = SessionView::open(&path).unwrap();
    let write = |format| {
        let export = Export::new(&session, format, Scope::All, redactor).unwrap();
        String::from_utf8(export.bytes).unwrap()
    };
    let exported = Exported {
        page: write(Format::Html),
        markdown: write(Format::Md),
        jsonl: write(Format::Jsonl),
    };
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "only read");
    exported
}

/// The part of a page that is made from the session.
fn body(page: &str) -> &str {
    let start = page.find("<body>").unwrap();
    &page[start..page.rfind("<script>").unwrap()]
}

// F9
#[test]
fn a_session_with_every_kind_of_entry() {
    let exported = export(&session(str::to_owned), &Redactor::default());
    check_page(&exported.page);
    insta::assert_snapshot!("page", body(&exported.page));
    insta::assert_snapshot!("markdown", exported.markdown);
    let lines: Vec<Value> = exported
        .jsonl
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines, session(str::to_owned));
}

#[test]
fn the_page_trusts_its_own_script_and_style_and_nothing_else() {
    use base64::Engine;
    let page = export(&session(str::to_owned), &Redactor::default()).page;
    let policy = Regex::new("Content-Security-Policy\" content=\"([^\"]*)\"").unwrap();
    let policy = policy.captures(&page).unwrap()[1].to_owned();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (element, directive) in [("style", "style-src"), ("script", "script-src")] {
        let start = page.find(&format!("<{element}>")).unwrap() + element.len() + 2;
        let end = page.find(&format!("</{element}>")).unwrap();
        let digest = ring::digest::digest(&ring::digest::SHA256, &page.as_bytes()[start..end]);
        let hash = base64::engine::general_purpose::STANDARD.encode(digest.as_ref());
        assert!(
            policy.contains(&format!("{directive} 'sha256-{hash}'")),
            "{policy}"
        );
    }
}

#[test]
fn hostile_texts_stay_texts() {
    for text in [
        "<script>alert(1)</script>",
        "</script><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "</details></article></main></body></html>",
        "<!-- ",
        "--><svg onload=alert(1)>",
        "<![CDATA[",
        "<style>*{display:none}</style>",
        "<base href=\"https://evil.example/\">",
        "<meta http-equiv=refresh content=\"0;url=https://evil.example\">",
        "{{script}}{{title}}{{entries}}",
        "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,<script>) [d](vbscript:x) [e](//evil.example) [f](\u{1}javascript:alert(1))",
        "<javascript:alert(1)> <https://a.example/\"onclick=\"x>",
        "[a](https://a.example/\"onclick=\"alert(1)) [t](<https://a.example/' x> \"<b>\")",
        "![x](javascript:alert(1)) [![y](https://a.example/p.png)](https://a.example)",
        "```<script>\n</code></pre><script>alert(1)</script>\n```",
        "`</code><script>`",
        "| <b> | \"x |\n|---|---|\n| </table> | <i> |",
        "&lt;script&gt;&#60;script&#62;",
        "\u{202e}\u{0}\u{1b}[31m\u{2028}",
        "# <img src=x>\n\n> > > > <div>\n\n1. <p onclick=x>",
        "<div>\n\n**a**\n\n<p title=\"",
    ] {
        let exported = export(&session(|_| text.to_owned()), &Redactor::default());
        check_page(&exported.page);
        check_markdown(&exported.markdown, text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_text_leaves_its_place(
        texts in prop::collection::vec(
            prop_oneof!["[<>/\"'&a-z=!\\-`*_|#\\[\\]():\n {}]{0,40}", ".{0,20}"], 8)
    ) {
        let next = std::cell::Cell::new(0);
        let text = |_: &str| {
            next.set(next.get() + 1);
            texts[next.get() % texts.len()].clone()
        };
        let exported = export(&session(text), &Redactor::default());
        check_page(&exported.page);
        check_markdown(&exported.markdown, &format!("{texts:?}"));
    }
}

/// Fails unless the page is well-formed and holds only elements, attributes and addresses that the
/// program writes.
fn check_page(page: &str) {
    static TAG: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^<(/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>"#).unwrap()
    });
    static ATTRIBUTE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#" ([a-z-]+)(?:="([^"<>]*)")?"#).unwrap());
    static VALUES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
        [
            ("class", "^[a-z0-9 ]+$"),
            (
                "id",
                "^(e[0-9]+|bar|side|tools|find|search|found|contents|theme|keys|transcript)$",
            ),
            ("dir", "^auto$"),
            ("tabindex", "^-?[01]$"),
            ("target", "^_blank$"),
            ("loading", "^lazy$"),
            ("popover", "^$"),
            ("popovertarget", "^side$"),
            ("name", "^theme$"),
            ("value", "^(auto|light|dark)$"),
            ("checked", "^$"),
            ("autocomplete", "^off$"),
            ("spellcheck", "^false$"),
            ("data-parent", "^e[0-9]+$"),
            ("data-leaf", "^(e[0-9]+)?$"),
            ("href", "^(#e[0-9]+|(?i:https?:|mailto:)[^\u{0}-\u{1f}']*)$"),
            ("rel", "^noopener noreferrer$"),
            (
                "src",
                "^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$",
            ),
            ("alt", r"^A picture \([a-z]+\)$"),
            ("start", "^[0-9]+$"),
            ("type", "^(search|button|radio)$"),
            ("placeholder", "^Search$"),
            (
                "aria-label",
                "^(Search all branches, also what is folded|Prompts and branches|Branches|Colors)$",
            ),
            ("role", "^status$"),
            ("hidden", "^$"),
        ]
        .map(|(name, value)| (name, Regex::new(value).unwrap()))
        .into()
    });
    let known: HashSet<&str> =
        "body aside input p ol ul li main h1 h2 h3 h4 h5 h6 dl dt dd article \
        header b span a nav div details summary pre code ins del em strong table tr td th \
        blockquote hr br img button footer fieldset label kbd time"
            .split_whitespace()
            .collect();
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("<style").count(), 1);
    assert_eq!(page.matches("<meta").count(), 6);
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body(page);
    while let Some(at) = rest.find(['<', '>']) {
        rest = &rest[at..];
        let shown = &rest[..rest.floor_char_boundary(200)];
        let tag = TAG
            .captures(rest)
            .unwrap_or_else(|| panic!("no tag: {shown}"));
        let name = tag.get(2).unwrap().as_str();
        assert!(known.contains(name), "unknown element: {shown}");
        for attribute in ATTRIBUTE.captures_iter(&tag[3]) {
            let value = attribute.get(2).map_or("", |value| value.as_str());
            let allowed = VALUES.iter().find(|(name, _)| *name == &attribute[1]);
            let allowed = allowed.unwrap_or_else(|| panic!("unknown attribute: {shown}"));
            assert!(allowed.1.is_match(value), "bad value: {shown}");
        }
        if &tag[1] == "/" {
            assert_eq!(open.pop(), Some(name), "{shown}");
        } else if !["input", "hr", "br", "img"].contains(&name) {
            open.push(name);
        }
        rest = &rest[tag[0].len()..];
    }
    assert_eq!(open, ["body"], "everything is closed");
    let hostile =
        |c: char| (c.is_control() && !"\n\t".contains(c)) || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!body(page).contains(hostile));
}

/// Fails unless all headings are there as headings and nothing is HTML.
fn check_markdown(markdown: &str, text: &str) {
    use pulldown_cmark::{Event, HeadingLevel, Parser, Tag};
    let mut depth = 0;
    let mut headings = Vec::new();
    let mut at = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => panic!("{html:?} of {text}\n{markdown}"),
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                depth += 1;
                at = (level == HeadingLevel::H2).then(String::new);
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => {
                depth -= 1;
                headings.extend(at.take().filter(|_| depth == 0));
            }
            Event::Text(text) => {
                if let Some(at) = &mut at {
                    at.push_str(&text);
                }
            }
            _ => {}
        }
    }
    // Those of the branch: three messages of the user or an answer, and the last ones behind all
    // else.
    let ours = |heading: &&String| *heading == "User" || heading.starts_with("Assistant (");
    assert!(
        headings.iter().filter(ours).count() >= 4,
        "{text}\n{markdown}"
    );
}

/// No letters of the format are redacted, and no way to write a letter hides a secret.
#[test]
fn redaction_reads_the_texts_and_leaves_the_format_alone() {
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
    // As other programs write it.
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

/// The tree of a session: ids, parents, kinds, labels.
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
fn the_branch_alone_is_a_session_of_its_own() {
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

// K1
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
fn the_command_writes_a_file_and_leaves_the_session_as_it_is() {
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
        (&[path, "-o", "copy.jsonl"], 1, "--force replaces it"),
        (&[path, "--force", "-o", "."], 1, "cannot write ."),
        (
            &[path, "-o", "no/folder/x.html"],
            1,
            "cannot write no/folder/x.html",
        ),
        (&[path, "--format", "pdf"], 2, "html, md, jsonl"),
    ] {
        let ran = sandbox.run(&[&["sessions", "export"][..], args].concat());
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        assert!(ran.stderr.contains(text), "{ran:#?}");
    }
    assert_eq!(fs::read(&file).unwrap(), before);
}
