//! The `replace` tool: Gemini's form of `edit`.

use serde_json::{Value, json};

use super::TestTools;

fn args(old: &str, new: &str, more: &Value) -> Value {
    let mut args = json!({ "file_path": "f", "old_string": old, "new_string": new });
    for (key, value) in more.as_object().unwrap() {
        args[key] = value.clone();
    }
    args
}

#[test]
fn replace_edits_like_edit_and_reports_it() {
    for (old, new, more, after, text) in [
        (
            "b",
            "B",
            json!({ "instruction": "why" }),
            "a B a\n",
            "Successfully edited f (1 replacement)",
        ),
        (
            "a",
            "A",
            json!({ "allow_multiple": true }),
            "A b A\n",
            "Successfully edited f (2 replacements)",
        ),
        (
            "a",
            "A",
            json!({ "expected_replacements": 2 }),
            "A b A\n",
            "Successfully edited f (2 replacements)",
        ),
        (
            "a b  a",
            "x",
            json!({}),
            "a b a\n",
            "Could not find the exact text in f. The old_string must match exactly including all whitespace and newlines.",
        ),
        (
            "a",
            "A",
            json!({ "expected_replacements": 1 }),
            "a b a\n",
            "Found 2 occurrences of the text in f. The text must be unique. Please provide more context to make it unique.",
        ),
        (
            "a",
            "A",
            json!({ "expected_replacements": 3 }),
            "a b a\n",
            "Expected 3 occurrences of the text in f but found 2 occurrences. Nothing was changed.",
        ),
        (
            "",
            "x",
            json!({}),
            "a b a\n",
            "error: invalid input: old_string must not be empty if the file exists; to replace the whole \
             file, use write",
        ),
    ] {
        let tools = TestTools::new();
        tools.put("f", "a b a\n");
        let result = tools.call("replace", args(old, new, &more));
        let told = result.map_or_else(|error| error, |output| super::text(&output));
        assert_eq!(told, text);
        assert_eq!(tools.bytes("f"), after.as_bytes());
    }
    let tools = TestTools::new();
    assert_eq!(
        tools.ok("replace", args("", "new\n", &json!({}))),
        "Successfully wrote 4 bytes to f"
    );
    assert_eq!(tools.bytes("f"), b"new\n");
    // Each of the two tools accepts the other's parameter names.
    tools.put("f", "a\n");
    tools.ok(
        "replace",
        json!({ "path": "f", "old_text": "a", "new_text": "b" }),
    );
    tools.ok(
        "edit",
        json!({ "path": "f", "old_string": "b", "new_string": "c" }),
    );
    let pairs = json!([{ "old_string": "c", "new_string": "d" }]);
    tools.ok("edit", json!({ "path": "f", "edits": pairs }));
    assert_eq!(tools.bytes("f"), b"d\n");
}
