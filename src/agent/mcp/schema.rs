//! Makes the schema of a server's tool one that the models' providers accept: they refuse a whole request
//! because of one bad schema.

use serde_json::{Map, Value, json};

/// Keywords that Anthropic and OpenAI refuse at the top of a schema. "input_schema does not support oneOf, allOf,
/// or anyOf at the top level" is Anthropic's error.
const CHOICES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// The longest name of a property, in characters. "Property keys should match pattern
/// '^[a-zA-Z0-9_.-]{1,64}$'" is Anthropic's error.
const MAX_KEY: usize = 64;

/// Returns `schema` without what providers refuse. A property that can't be offered is left out.
pub(super) fn accepted_schema(schema: &Value) -> Value {
    let mut map = match schema.as_object() {
        Some(map) if map.get("type").is_none_or(|it| it == "object") => map.clone(),
        _ => Map::new(),
    };
    map.insert("type".to_owned(), json!("object"));
    map.retain(|key, _| !CHOICES.contains(&key.as_str()));
    let properties = map.get("properties").and_then(Value::as_object);
    let mut properties = properties.cloned().unwrap_or_default();
    properties.retain(|key, property| {
        is_accepted(key) && (property.is_object() || property.is_boolean())
    });
    if let Some(required) = map.get("required") {
        let required = required.as_array().into_iter().flatten();
        let has = |key: &&Value| key.as_str().is_some_and(|key| properties.contains_key(key));
        let required: Vec<Value> = required.filter(has).cloned().collect();
        map.insert("required".to_owned(), required.into());
    }
    map.insert("properties".to_owned(), properties.into());
    Value::Object(map)
}

fn is_accepted(key: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    (1..=MAX_KEY).contains(&key.len()) && key.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_providers_refuse_is_left_out_and_the_rest_stays() {
        let empty = json!({"type": "object", "properties": {}});
        let whole = json!({
            "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
            "additionalProperties": false,
        });
        for (schema, expected) in [
            (whole.clone(), whole),
            (Value::Null, empty.clone()),
            (json!({"type": "array"}), empty.clone()),
            (json!({"properties": []}), empty.clone()),
            (json!({"properties": null, "anyOf": [{}]}), empty),
            (
                json!({"properties": {"$filter": {}, "b": {}, "c": 3}, "required": ["$filter", "b"]}),
                json!({"type": "object", "properties": {"b": {}}, "required": ["b"]}),
            ),
        ] {
            assert_eq!(accepted_schema(&schema), expected, "{schema}");
        }
    }
}
