//! The errors of TOML files say what to write, not what Rust's types are.

use std::collections::BTreeMap;

use serde::Deserialize;

use tiller::llm::toml_fault::reworded;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code)]
struct File {
    prefix: Vec<String>,
    headers: BTreeMap<String, String>,
    window: u64,
    price: f64,
    on: bool,
    name: String,
    models: Vec<ModelEntry>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct ModelEntry {
    id: String,
}

#[test]
fn an_error_says_what_to_write() {
    for (text, expected) in [
        (
            "prefix = \"npm test\"",
            "expected a list; write prefix = [\"npm\", \"test\"]",
        ),
        (
            "headers = \"X-Team: a\"",
            "expected a table; write headers = { \"X-Team\" = \"a\" }",
        ),
        (
            "window = \"128k\"",
            "expected a whole number from 0; write window = 128000",
        ),
        ("price = \"$2.5\"", "expected a number; write price = 2.5"),
        ("on = \"yes\"", "expected true or false; write on = true"),
        ("name = 5", "expected a string; write name = \"5\""),
        (
            "models = [\"a\"]",
            "expected a list; write models = [{ id = \"a\" }]",
        ),
        (
            "models = \"a\"",
            "expected a list; write models = [{ id = \"a\" }]",
        ),
        ("models = [{}]", "'id' is missing"),
        ("nmae = 5", "unknown key 'nmae': did you mean 'name'?"),
        (
            "name = \"a\"\n\nname = \"b\"",
            "'name' is already on line 1: remove one of the two",
        ),
        (
            "[headers]\na = \"b\"\n[headers]",
            "'headers' is already on line 1: put its settings there",
        ),
        (
            "models = []\n[[models]]",
            "'models' is already on line 1: remove one of the two",
        ),
    ] {
        let error = toml::from_str::<File>(text).unwrap_err();
        assert_eq!(reworded(text, &error), expected, "{text}");
    }
}
