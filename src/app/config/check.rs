//! Checks that settings exist and have the right type. The defaults are the schema: they have every key,
//! and values of the right type. A table that is empty there takes any names, with strings.

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use crate::llm::nearest::nearest_few;

/// The only setting that is a list of tables.
pub(super) const RULES: &str = "permission.rules";

/// Checks that `defaults` has every key of `table` with this type. `place` locates a key in errors.
pub fn check(
    defaults: &Table,
    table: &Table,
    place: &dyn Fn(&str) -> String,
) -> Result<(), String> {
    check_table(defaults, defaults, table, "", place)
}

fn check_table(
    root: &Table,
    schema: &Table,
    table: &Table,
    prefix: &str,
    place: &dyn Fn(&str) -> String,
) -> Result<(), String> {
    for (name, value) in table {
        let key = dotted(prefix, name);
        match (schema.get(name), value) {
            (None, Value::String(_)) if schema.is_empty() => {}
            (None, _) if schema.is_empty() => {
                return Err(format!(
                    "setting {key} = {value} ({}): expected a string",
                    place(&key)
                ));
            }
            (None, _) => return Err(unknown(root, &key, &place(&key))),
            (Some(Value::Table(inner)), Value::Table(given)) => {
                check_table(root, inner, given, &key, place)?;
            }
            (Some(_), Value::Array(items)) if key == RULES => check_rules(items, &place(&key))?,
            (Some(expected), given) if !fits(expected, given) => {
                let example = match expected {
                    Value::Table(inner) if !inner.is_empty() => {
                        format!("; `tiller config get {key}` lists its settings")
                    }
                    Value::Boolean(_) | Value::Table(_) => String::new(),
                    Value::Array(_) => ", such as [\"a\", \"b\"]".to_owned(),
                    _ => format!(", such as {expected}"),
                };
                return Err(format!(
                    "setting {key} = {given} ({}): expected {}{example}",
                    place(&key),
                    kind(expected)
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// `rules` reads the content of the tables.
fn check_rules(items: &[Value], place: &str) -> Result<(), String> {
    if items.iter().all(Value::is_table) {
        return Ok(());
    }
    Err(format!(
        "setting {RULES} ({place}): write each rule as a table, [[{RULES}]]"
    ))
}

fn fits(expected: &Value, given: &Value) -> bool {
    match (expected, given) {
        (Value::Integer(_), Value::Integer(number)) => *number >= 0,
        (Value::Float(_), Value::Integer(_)) => true,
        (Value::Array(_), Value::Array(items)) => items.iter().all(Value::is_str),
        _ => expected.same_type(given),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "a whole number from 0",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list of strings",
        Value::Table(_) => "a table",
    }
}

fn unknown(root: &Table, key: &str, place: &str) -> String {
    format!("unknown setting {key} ({place}): {}", hint(root, key))
}

/// A suggestion for an unknown key.
pub(super) fn hint(root: &Table, key: &str) -> String {
    let mut keys = Vec::new();
    collect_keys(root, "", &mut keys);
    // Users remember only the last part: `max_iterations` finds `agent.max_iterations`.
    let names = keys.iter().flat_map(|known| {
        let known = known.as_str();
        let section = known.split('.').next().unwrap_or(known);
        let last = known.rsplit('.').next().unwrap_or(known);
        // A key in a section is never the name of one.
        let section = (section, section);
        let section = if key.contains('.') {
            (known, known)
        } else {
            section
        };
        [(known, known), (last, known), section]
    });
    match nearest_few(key, names, 1).pop() {
        Some(known) => format!("did you mean {known}?"),
        None => "`tiller config show` lists all settings".to_owned(),
    }
}

/// The dotted keys of all values in `table`, each after `prefix`.
pub fn collect_keys(table: &Table, prefix: &str, out: &mut Vec<String>) {
    for (name, value) in table {
        let key = dotted(prefix, name);
        match value {
            Value::Table(inner) if !inner.is_empty() => collect_keys(inner, &key, out),
            _ => out.push(key),
        }
    }
}

pub fn dotted(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

/// The line of a dotted key in `text`, a settings file.
pub fn line_of(text: &str, key: &str) -> Option<usize> {
    let (start, _) = place_of(text, key)?;
    Some(text.get(..start)?.matches('\n').count() + 1)
}

/// Where a dotted key's name begins and its value ends, in a settings file.
pub fn place_of(text: &str, key: &str) -> Option<(usize, usize)> {
    find_key(DeTable::parse(text).ok()?.get_ref(), "", key)
}

/// The position of `wanted` in the table at `prefix`.
fn find_key(table: &DeTable, prefix: &str, wanted: &str) -> Option<(usize, usize)> {
    table.iter().find_map(|(name, value)| {
        let key = dotted(prefix, name.get_ref());
        if key == wanted {
            return Some((name.span().start, value.span().end));
        }
        match value.get_ref() {
            DeValue::Table(inner) if wanted.starts_with(&format!("{key}.")) => {
                find_key(inner, &key, wanted)
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_on_its_line() {
        let text = "# one\n[agent]\nmax_iterations = 3\n\n[tools]\nbash.timeout_seconds = 4\n\
                    [models.aliases]\n\"v1\" = \"x\"\n";
        for (key, line) in [
            ("agent.max_iterations", Some(3)),
            ("tools.bash.timeout_seconds", Some(6)),
            ("models.aliases.v1", Some(8)),
            ("models.aliases", Some(7)),
            ("agent.max", None),
        ] {
            assert_eq!(line_of(text, key), line, "{key}");
        }
        assert_eq!(line_of("[", "agent"), None);
    }
}
