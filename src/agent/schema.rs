//! Validates arguments against a tool's JSON schema. First coerces values (`"42"` to 42), and for
//! built-in tools also parameter names (`path` to `file_path`) and single items to lists. Reports
//! all problems at once, so that a model can fix them. Knows no tools.

use jsonschema::PatternOptions;
use serde_json::{Map, Value};

use super::violations::{describe, type_of};

/// Most violations named in one error.
const MAX_VIOLATIONS: usize = 50;

/// Parameter names that models confuse.
const ALIASES: [(&str, &str); 5] = [
    ("path", "file_path"),
    ("old_string", "old_text"),
    ("new_string", "new_text"),
    ("allow_multiple", "replace_all"),
    // The argument name for a custom call's text.
    ("input", "patch"),
];

/// What to coerce before validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coercion {
    /// Values of another type with only one possible meaning.
    Values,
    /// Also parameter names, and single items to lists.
    Everything,
}

/// The largest compiled pattern in bytes: a few of a usual size take minutes and gigabytes.
const MAX_PATTERN: usize = 512 * 1024;

/// Compiles a schema, but no huge patterns.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn validator(
    schema: &Value,
) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>> {
    let patterns = PatternOptions::fancy_regex().size_limit(MAX_PATTERN);
    jsonschema::options()
        .with_pattern_options(patterns)
        .build(schema)
}

#[derive(Debug)]
pub struct Schema {
    schema: Value,
    coercion: Coercion,
    /// `None` if the schema itself is invalid. Only the tool checks its arguments then.
    validator: Option<jsonschema::Validator>,
}

impl Schema {
    /// Compiles the schema of a tool that isn't built in: names are taken literally.
    pub fn strict(schema: &Value) -> Self {
        Self::compile(schema, Coercion::Values)
    }

    /// Compiles the schema of a built-in tool.
    pub fn lenient(schema: &Value) -> Self {
        Self::compile(schema, Coercion::Everything)
    }

    fn compile(schema: &Value, coercion: Coercion) -> Self {
        let validator = validator(schema)
            .inspect_err(|error| tracing::warn!("a tool's schema does not compile: {error}"))
            .ok();
        Self {
            schema: schema.clone(),
            coercion,
            validator,
        }
    }

    /// Returns the arguments as the tool should receive them.
    ///
    /// # Errors
    /// Returns all violations, joined by `; `.
    pub fn check(&self, args: Value) -> Result<Value, String> {
        let args = coerce(self.coercion, &self.schema, args);
        let Some(validator) = &self.validator else {
            return Ok(args);
        };
        let mut faults: Vec<String> = Vec::new();
        for error in validator.iter_errors(&args) {
            for fault in describe(&error) {
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
        if faults.is_empty() {
            return Ok(args);
        }
        let more = faults.len().saturating_sub(MAX_VIOLATIONS);
        faults.truncate(MAX_VIOLATIONS);
        if more > 0 {
            faults.push(format!("and {more} more"));
        }
        Err(faults.join("; "))
    }
}

/// Returns the arguments that fit `schema` after coercion: what is known of a call before validation.
pub(super) fn fitting(schema: &Value, args: &Value) -> Value {
    let mut args = coerce(Coercion::Everything, schema, args.clone());
    if let Some(map) = args.as_object_mut() {
        map.retain(|name, value| fits(&schema["properties"][name.as_str()], value));
    }
    args
}

fn fits(schema: &Value, value: &Value) -> bool {
    let wanted = types(schema);
    let fits_type = wanted.is_empty() || wanted.iter().any(|name| is_type(name, value));
    fits_type
        && match value {
            Value::Array(items) => items.iter().all(|item| fits(&schema["items"], item)),
            Value::Object(map) => map
                .iter()
                .all(|(name, value)| fits(&schema["properties"][name.as_str()], value)),
            _ => true,
        }
}

/// Coerces what needs no guessing. The rest stays unchanged for the validator.
fn coerce(coercion: Coercion, schema: &Value, value: Value) -> Value {
    let wanted = types(schema);
    let fits = wanted.is_empty() || wanted.iter().any(|name| is_type(name, &value));
    let converted = wanted.iter().find_map(|name| match convert(name, &value) {
        None if coercion == Coercion::Everything && *name == "array" => to_list(&value),
        converted => converted,
    });
    let value = converted.filter(|_| !fits).unwrap_or(value);
    match value {
        Value::Object(map) => Value::Object(coerce_object(coercion, schema, map)),
        Value::Array(items) => match schema.get("items") {
            Some(schema) => items
                .into_iter()
                .map(|item| coerce(coercion, schema, item))
                .collect(),
            None => Value::Array(items),
        },
        other => other,
    }
}

fn coerce_object(
    coercion: Coercion,
    schema: &Value,
    mut map: Map<String, Value>,
) -> Map<String, Value> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return map;
    };
    let aliases = ALIASES
        .into_iter()
        .flat_map(|(one, other)| [(one, other), (other, one)]);
    for (wrong, right) in aliases {
        let renamed = properties.contains_key(right) && !properties.contains_key(wrong);
        if coercion == Coercion::Everything
            && renamed
            && !map.contains_key(right)
            && let Some(value) = map.shift_remove(wrong)
        {
            map.insert(right.to_owned(), value);
        }
    }
    let required = |key: &String| {
        let list = schema.get("required").and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|name| name.as_str() == Some(key)))
    };
    map.into_iter()
        .filter_map(|(key, value)| {
            let Some(schema) = properties.get(&key) else {
                return Some((key, value));
            };
            let wanted = types(schema);
            let omitted = value.is_null()
                && !required(&key)
                && !wanted.is_empty()
                && !wanted.contains(&"null");
            (!omitted).then(|| (key, coerce(coercion, schema, value)))
        })
        .collect()
}

/// Returns the types that a schema allows. Empty means any.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => other == type_of(value),
    }
}

fn convert(wanted: &str, value: &Value) -> Option<Value> {
    match (wanted, value) {
        ("integer", Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        ("integer", Value::Number(number)) => {
            let number = number.as_f64()?;
            // Beyond 2^53, a float doesn't determine the integer.
            let exact = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
            exact.then(|| Value::from(number as i64))
        }
        ("number", Value::String(text)) => {
            let number: serde_json::Number = text.trim().parse().ok()?;
            Some(Value::Number(number))
        }
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        ("string", Value::Number(_) | Value::Bool(_)) => Some(Value::String(value.to_string())),
        // Models sometimes send these as quoted text.
        ("array" | "object", Value::String(text)) => {
            let value = serde_json::from_str(text).ok();
            value.filter(|value| type_of(value) == wanted)
        }
        _ => None,
    }
}

fn to_list(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => Some(Value::Array(Vec::new())),
        _ => Some(Value::Array(vec![value.clone()])),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        Schema::lenient(&json!({
            "type": "object",
            "properties": {
                "file_path": { "type": "string" },
                "limit": { "type": "integer", "minimum": 1 },
                "all": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "kind": { "type": "string", "enum": ["file", "any"] },
                "edits": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "old": { "type": "string" }, "at": { "type": "integer" } },
                    "required": ["old"],
                } },
            },
            "required": ["file_path"],
            "additionalProperties": false,
        }))
    }

    #[test]
    fn harmless_mistakes_are_coerced() {
        for (args, expected) in [
            (json!({ "limit": "42" }), json!({ "limit": 42 })),
            (json!({ "limit": 42.0 }), json!({ "limit": 42 })),
            (json!({ "all": "true" }), json!({ "all": true })),
            (json!({ "all": "False" }), json!({ "all": false })),
            (json!({ "tags": "one" }), json!({ "tags": ["one"] })),
            (json!({ "tags": 7 }), json!({ "tags": ["7"] })),
            (json!({ "tags": "[\"a\"]" }), json!({ "tags": ["a"] })),
            (json!({ "tags": " " }), json!({ "tags": [] })),
            (json!({ "limit": null, "all": null }), json!({})),
            (
                json!({ "edits": { "old": "x", "at": "3" } }),
                json!({ "edits": [{ "old": "x", "at": 3 }] }),
            ),
            (
                json!({ "edits": "[{\"old\":\"x\",\"at\":null}]" }),
                json!({ "edits": [{ "old": "x" }] }),
            ),
        ] {
            let with_path = |mut value: Value| {
                value["file_path"] = json!("a");
                value
            };
            let got = schema().check(with_path(args.clone()));
            assert_eq!(got, Ok(with_path(expected)), "{args}");
        }
        assert_eq!(
            schema().check(json!({ "path": "a" })),
            Ok(json!({ "file_path": "a" }))
        );
        assert_eq!(
            schema().check(json!({ "file_path": 1.5 })),
            Ok(json!({ "file_path": "1.5" }))
        );
        // Text stays text, whatever it looks like.
        let text = json!({ "file_path": "[1]", "edits": [{ "old": "42" }] });
        assert_eq!(schema().check(text.clone()), Ok(text));
    }

    #[test]
    fn strict_schemas_take_names_and_lists_literally() {
        let strict = Schema::strict(&json!({
            "type": "object",
            "properties": { "file_path": {}, "n": { "type": "integer" }, "list": { "type": "array" } },
        }));
        let args = json!({ "path": "a", "n": 5, "list": [5] });
        assert_eq!(strict.check(args.clone()), Ok(args));
        assert_eq!(strict.check(json!({ "n": "42" })), Ok(json!({ "n": 42 })));
        let error = strict.check(json!({ "list": "5" })).unwrap_err();
        assert_eq!(error, "list must be an array, not a string");
    }

    #[test]
    fn all_violations_are_listed() {
        for (args, expected) in [
            (json!({}), "Missing required parameter: file_path"),
            (
                json!({ "limit": "many", "all": 3 }),
                "Missing required parameter: file_path; limit must be an integer, not a string; all must be a boolean, not a number",
            ),
            (
                json!({ "file_path": "a", "limit": 0 }),
                "limit must be at least 1",
            ),
            (
                json!({ "file_path": "a", "kind": "dir" }),
                "kind must be one of \"file\", \"any\"",
            ),
            (
                json!({ "file_path": "a", "x": 1, "y": 2 }),
                "Unknown parameter: x; Unknown parameter: y",
            ),
            (
                json!({ "file_path": "a", "edits": [{ "old": "x" }, { "at": 1 }, 5] }),
                "Missing required parameter: edits[1].old; edits[2] must be an object, not a number",
            ),
            (
                json!({ "file_path": null }),
                "file_path must be a string, not null",
            ),
            (json!([1]), "the input must be an object, not an array"),
        ] {
            let mut got: Vec<String> = schema()
                .check(args.clone())
                .unwrap_err()
                .split("; ")
                .map(String::from)
                .collect();
            let mut expected: Vec<&str> = expected.split("; ").collect();
            got.sort();
            expected.sort_unstable();
            assert_eq!(got, expected, "{args}");
        }
    }

    #[test]
    fn a_thousand_violations_stay_readable() {
        let edits: Vec<_> = (0..1_000).map(|n| json!({ "at": n })).collect();
        let text = schema()
            .check(json!({ "file_path": "a", "edits": edits }))
            .unwrap_err();
        assert!(text.ends_with("; and 950 more"), "{text}");
        let long = "x".repeat(100_000);
        let text = schema()
            .check(json!({ "file_path": "a", long.as_str(): 1, "kind": long.as_str() }))
            .unwrap_err();
        assert!(text.len() < 1_000, "{} bytes", text.len());
    }
}
