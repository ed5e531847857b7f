//! Sessions to export. One has every kind of entry, with the caller's text in every field. Others
//! have texts that try to break out.

use std::fs;

use serde_json::{Value, json};
use tiller::agent::session::SessionView;
use tiller::app::export::{Export, Format, Scope};
use tiller::llm::auth::Redactor;

/// Texts that HTML or Markdown could take for markup.
pub const HOSTILE: &[&str] = &[
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
];

/// A picture of one pixel.
const POINT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A picture with a script in it.
const SVG: &str =
    "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0iYWxlcnQoMSkiLz4=";

/// A session with every kind of entry. `text` returns each text field.
pub fn session(text: impl Fn(&str) -> String) -> Vec<Value> {
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
        (
            "message",
            json!({"message": answer(json!([
            call("k1", t("bash"), json!({"command": t("make\nmake test"), "description": t("Builds")})),
            call("k2", t("grep"), json!({"pattern": t("x"), "n": 3})),
            call("k3", t("find"), json!({t("pattern"): t("*.rs")})),
            call("k4", t("read"), json!({"file_path": t("a.rs")})),
            call("k5", t("attach"), json!(t("not an object"))),
            call("k6", t("odd"), json!({"list": [t("a"), {t("b"): t("c")}]})),
            call("k7", t("apply_patch"), json!({"input": t("two\nlines"), "more": t("one line")}))]), "toolUse", Value::Null)}),
        ),
        (
            "message",
            json!({"message": result("k1", t("bash"), says(t("ok")), json!({"kind": "command",
            "command": t("make\nmake test"), "description": t("Builds"), "output": t("ok"), "totalLines": 2,
            "exitCode": 2, "fullOutputPath": t("/tmp/out"), "stillRunning": [t("1 sleep")]}), false)}),
        ),
        (
            "message",
            json!({"message": result("k2", t("grep"), says(t("a.rs:1: x")), json!({"kind": "matches",
            "pattern": t("x"), "path": t("src"), "glob": t("*.rs"), "lines": [t("a.rs:1: x")], "count": 1,
            "truncated": true}), false)}),
        ),
        (
            "message",
            json!({"message": result("k3", t("find"), says(t("a.rs")), json!({"kind": "files",
            "pattern": t("*.rs"), "path": t("."), "files": [t("a.rs")]}), false)}),
        ),
        (
            "message",
            json!({"message": result("k4", t("read"), says(t("fn a() {}\n")), json!({"kind": "text",
            "path": t("a.rs"), "text": t("fn a() {}"), "firstLine": 1, "lineCount": 1, "note": t("UTF-16")}), false)}),
        ),
        (
            "message",
            json!({"message": result("k5", t("attach"), json!([image("image/svg+xml", SVG), image("image/png", SVG),
            image("text/html", POINT), image(&t("image/gif"), "R0lGODlhAQABAAAAACw=\"><script>")]), json!({"kind": "attachment",
            "path": t("a.png"), "media": t("image"), "title": t("A plot"), "description": t("It rises")}), false)}),
        ),
        (
            "message",
            json!({"message": result("k6", t("odd"), says(t("\n\nodd")), json!({"kind": "other",
            "title": t("Odd"), "value": {t("a"): [t("b")]}}), true)}),
        ),
        (
            "message",
            json!({"message": result("k7", t("apply_patch"), says(t("Done")), json!({"kind": "diff", "path": t("a.rs"),
            "diff": t("+ 1 a"), "added": 1, "files": [{"path": t("c.rs"), "movedFrom": t("b.rs"),
            "diff": t("- 1 b\n+ 1 c"), "added": 1, "removed": 1}]}), false)}),
        ),
        (
            "message",
            json!({"message": {"role": "user", "content": t("Steered"), "origin": "steer", "timestamp": 1}}),
        ),
        ("label", json!({"targetId": "e0", "label": t("start here")})),
        ("session_info", json!({"name": t("A small session")})),
    ];
    let header = json!({"type": "session", "version": 3, "id": t("0193c0de"), "timestamp": t("2026-01-02T03:04:05.000Z"), "cwd": t("/home/ada/project")});
    let entries = bodies
        .into_iter()
        .enumerate()
        .map(|(at, (kind, mut body))| {
            let parent = match at {
                0 => Value::Null,
                // The second branch starts after the results of the first answer.
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

pub struct Exported {
    pub page: String,
    pub markdown: String,
    pub jsonl: String,
}

pub fn export(lines: &[Value], redactor: &Redactor) -> Exported {
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
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        text,
        "export must only read the session"
    );
    exported
}

/// The part of a page that comes from the session.
pub fn body(page: &str) -> &str {
    let start = page.find("<body>").unwrap();
    &page[start..page.rfind("<script>").unwrap()]
}
