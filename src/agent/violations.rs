//! Describes violations of a JSON schema so that a model can fix them.

use std::fmt::Write;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

/// Describes a violation. Returns several texts if one keyword found several.
pub(super) fn describe(error: &ValidationError<'_>) -> Vec<String> {
    let place = place(error.instance_path().as_str());
    let named = if place.is_empty() {
        "the input"
    } else {
        &place
    };
    let below = |name: &str| {
        let dot = if place.is_empty() { "" } else { "." };
        format!("{place}{dot}{name}")
    };
    let one = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!("Missing required parameter: {}", below(name))
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            return unexpected
                .iter()
                .map(|name| format!("Unknown parameter: {}", below(&cut(name))))
                .collect();
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(one) => with_article(one.as_str()),
                TypeKind::Multiple(set) => {
                    let names: Vec<_> = set.iter().map(|one| with_article(one.as_str())).collect();
                    names.join(" or ")
                }
            };
            let got = with_article(type_of(error.instance()));
            format!("{named} must be {wanted}, not {got}")
        }
        ValidationErrorKind::Enum { options } => {
            let options: Vec<_> = options.as_array().into_iter().flatten().collect();
            let options: Vec<_> = options.into_iter().map(Value::to_string).collect();
            format!("{named} must be one of {}", options.join(", "))
        }
        ValidationErrorKind::Minimum { limit } => format!("{named} must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("{named} must be at most {limit}"),
        ValidationErrorKind::MinItems { limit } => {
            format!("{named} must have at least {limit} item(s)")
        }
        ValidationErrorKind::MinLength { limit } => {
            format!("{named} must have at least {limit} character(s)")
        }
        // The value itself may be a whole file, so only the problem is named.
        _ => format!("{named}: {}", error.masked()),
    };
    vec![one]
}

/// Converts `/edits/0/old_text` to `edits[0].old_text`.
fn place(pointer: &str) -> String {
    let mut out = String::new();
    for part in pointer.split('/').skip(1) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            let _ = write!(out, "[{part}]");
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&cut(part));
        }
    }
    out
}

fn cut(name: &str) -> String {
    name.chars().take(80).collect()
}

fn with_article(name: &str) -> String {
    match name {
        "null" => String::from("null"),
        "integer" | "array" | "object" => format!("an {name}"),
        other => format!("a {other}"),
    }
}

pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
