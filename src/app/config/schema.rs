//! The JSON schema of `config.toml`, made from the shipped settings and their comments. Editors complete and
//! check the file with it.

use serde_json::{Map, Value, json};

use super::check::{RULES, collect_keys};
use super::layers::Layers;
use super::manual::{documented, words_of};
use super::settings::Settings;
use crate::agent::permission::{Action, Origin, Rule};

/// The schema, for `tiller config schema`.
pub fn schema() -> Value {
    let layers = Layers::defaults();
    let abouts: Vec<(String, String)> = documented().map(|(key, _, about)| (key, about)).collect();
    let mut keys = Vec::new();
    collect_keys(&layers.layers[0].table, "", &mut keys);
    let mut root = section();
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    root["title"] = json!("config.toml of tiller");
    for key in keys {
        let Some((default, _)) = layers.get(&key) else {
            continue;
        };
        let mut own = of_value(&key, default);
        if let Some((_, about)) = abouts.iter().find(|(known, _)| *known == key) {
            own["description"] = json!(about);
        }
        let (mut place, mut parts) = (&mut root, key.split('.').peekable());
        while let Some(part) = parts.next() {
            place = &mut place["properties"][part];
            if parts.peek().is_some() && place.is_null() {
                *place = section();
            }
        }
        *place = own;
    }
    root
}

/// A table that takes only its own keys.
fn section() -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": {}})
}

/// The schema of a setting with this default.
fn of_value(key: &str, default: &toml::Value) -> Value {
    let mut schema = match default {
        _ if key == RULES => return json!({"type": "array", "items": rule()}),
        toml::Value::Table(_) => {
            return json!({"type": "object", "additionalProperties": {"type": "string"}});
        }
        toml::Value::Integer(_) => json!({"type": "integer", "minimum": 0}),
        toml::Value::Float(_) => json!({"type": "number", "minimum": 0}),
        toml::Value::Boolean(_) => json!({"type": "boolean"}),
        toml::Value::Array(_) => json!({"type": "array", "items": {"type": "string"}}),
        _ => json!({"type": "string"}),
    };
    if let Some(words) = words_of(key) {
        let kind = if takes_any_word(key) {
            "examples"
        } else {
            "enum"
        };
        schema[kind] = json!(words);
    }
    schema["default"] = json!(default);
    schema
}

/// Whether the setting takes other words than its choices.
fn takes_any_word(key: &str) -> bool {
    let mut layers = Layers::defaults();
    let added = layers.add_assignment(&format!("{key}=zzz"));
    added.is_ok() && Settings::resolve(&layers).is_ok()
}

/// A rule, from one that has all its keys.
fn rule() -> Value {
    let some = || vec![String::new()];
    let full = Rule {
        prefix: some(),
        with: some(),
        unless: some(),
        remotes: some(),
        exact: true,
        fingerprint: "x".to_owned(),
        path: Some(String::new()),
        sandbox: false,
        network: true,
        reason: "x".to_owned(),
        matches: some(),
        not_matches: some(),
        ..Rule::of_tool("bash", Action::Allow, Origin::Session)
    };
    let keys = json!(full).as_object().cloned().unwrap_or_default();
    let keys = keys.into_iter().map(|(key, value)| {
        let kind = match value {
            _ if key == "action" => json!({"enum": ["allow", "ask", "deny"]}),
            Value::Array(_) => json!({"type": "array", "items": {"type": "string"}}),
            Value::Bool(_) => json!({"type": "boolean"}),
            _ => json!({"type": "string"}),
        };
        (key, kind)
    });
    let mut rule = section();
    rule["properties"] = Value::Object(keys.collect::<Map<_, _>>());
    rule["required"] = json!(["tool", "action"]);
    rule
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::config::parse_checked_rules;

    #[test]
    fn the_schema_has_every_setting_and_every_key_of_a_rule() {
        let schema = schema();
        let at = |path: &str| schema.pointer(&format!("/properties/{path}")).cloned();
        let mode = at("permission/properties/mode").unwrap();
        assert_eq!(mode["enum"], json!(["plan", "ask", "auto", "full"]));
        assert_eq!(mode["default"], "auto");
        let tools = at("tools/properties/set").unwrap();
        assert!(tools["enum"].is_null() && tools["examples"].is_array());
        for (key, _, about) in documented() {
            let path = key.replace('.', "/properties/");
            let own = at(&path).unwrap_or_default();
            assert_eq!(own["description"], json!(about), "{key}");
        }
        let text = "[[permission.rules]]\nzzqq = 1\n";
        let (_, error) = parse_checked_rules(text, |_| Origin::Session).unwrap_err();
        let (_, known) = error.split_once("expected one of ").unwrap();
        let rule = at("permission/properties/rules/items/properties").unwrap();
        for key in known.split(", ") {
            assert!(rule[key].is_object(), "{key}");
        }
    }
}
