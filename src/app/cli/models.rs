//! `tiller models`: lists models with their facts, for users and, with `--json`, for programs. Makes no
//! request and reads no key.

use std::cmp::Reverse;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::app::args::ModelsArgs;
use crate::app::humanize::{decimal, window};
use crate::app::models::{KeyState, ModelEntry, search};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::llm::{Model, ThinkingLevel};

/// Prints the models of `list` that match. `default` is the model of new sessions, as `provider/id`;
/// `as_of` is the day of the built-in facts. `resolve` finds the model that a name means, even if its own
/// name doesn't contain that.
pub fn models(
    what: &ModelsArgs,
    mut list: Vec<ModelEntry>,
    default: Option<&str>,
    as_of: &str,
    resolve: impl FnOnce(&str) -> Result<String, String>,
) -> Result<Outcome, StartError> {
    let pattern = what.pattern.join(" ");
    list.retain(|it| has_key(it) || !what.available);
    list.sort_by_cached_key(|it| {
        let model = &it.model;
        (model.provider.clone(), model.id.to_lowercase())
    });
    let (mut found, similar) = filter(&list, &pattern);
    let mut why = String::new();
    if found.is_empty() && !pattern.is_empty() {
        match resolve(&pattern) {
            Ok(id) => found.extend(list.iter().filter(|it| it.model.full_id() == id).cloned()),
            Err(fault) => why = fault,
        }
    }
    let list = found;
    if what.json {
        let rows = list.iter().map(|it| record(it, default));
        return Ok(out::print(&format!("{}\n", Value::Array(rows.collect()))));
    }
    if list.is_empty() {
        // A server that doesn't answer has no similar name.
        let is_unknown = why.starts_with(&format!("unknown model '{pattern}'\n"));
        let is_usage = why.starts_with("unknown model ") || why.is_empty() && !pattern.is_empty();
        let why = match what.available || why.is_empty() {
            true => nothing(what, &pattern),
            false if is_unknown && !similar.is_empty() => {
                format!("{why}\nSimilar names:\n  {}", similar.join("\n  "))
            }
            false => why,
        };
        return Err(if is_usage {
            StartError::usage(why)
        } else {
            StartError::failed(why)
        });
    }
    out::eprint_line(&format!("Built-in models as of {as_of}"));
    let table = table(&list, default, out::columns());
    Ok(out::print(&for_terminal(&table)))
}

fn nothing(what: &ModelsArgs, pattern: &str) -> String {
    match (what.available, pattern) {
        (true, "") => String::from(
            "no API keys yet. Add one: tiller auth add PROVIDER, or set its variable, for example export \
             ANTHROPIC_API_KEY=...",
        ),
        (true, pattern) => {
            format!("no usable model matches '{pattern}'; leave out --available to see the others")
        }
        (false, pattern) => {
            format!("no model matches '{pattern}'; tiller models lists them all")
        }
    }
}

/// Most similar names to suggest.
const SIMILAR: usize = 5;

/// The models whose name contains all words of `pattern`, in their order. If there are none, the ids of those that
/// contain its letters in order, best first.
fn filter(list: &[ModelEntry], pattern: &str) -> (Vec<ModelEntry>, Vec<String>) {
    let (mut similar, found): (Vec<_>, Vec<_>) = search(list, pattern)
        .into_iter()
        .partition(|it| it.scattered);
    similar.sort_by_key(|it| Reverse(it.score));
    let ids = similar.iter().map(|it| list[it.row].model.full_id());
    let found = found.iter().map(|it| list[it.row].clone());
    (found.collect(), ids.take(SIMILAR).collect())
}

const HEAD: [&str; 8] = [
    "MODEL", "WINDOW", "OUTPUT", "$ IN", "$ OUT", "INPUT", "THINKING", "KEY",
];

/// The table, one line per model, as wide as necessary. If that is more than `columns`, of the levels
/// of thinking only the first and the last.
fn table(list: &[ModelEntry], default: Option<&str>, columns: Option<usize>) -> String {
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(list.iter().map(|it| row(it, default)));
    let whole = aligned(&rows);
    let is_wide = |columns| whole.lines().any(|line| line.chars().count() > columns);
    if !columns.is_some_and(is_wide) {
        return whole;
    }
    for row in &mut rows {
        if let [first, _, .., last] = row[THINKING].split(',').collect::<Vec<_>>()[..] {
            row[THINKING] = format!("{first}-{last}");
        }
    }
    aligned(&rows)
}

/// The column of the levels.
const THINKING: usize = 6;

fn aligned(rows: &[[String; HEAD.len()]]) -> String {
    let mut widths = [0; HEAD.len()];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let start = text.len();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let _ = match column {
                // Align numbers to the right.
                1..=4 => write!(text, "{cell:>width$}  "),
                _ => write!(text, "{cell:<width$}  "),
            };
        }
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
    }
    text
}

fn row(it: &ModelEntry, default: Option<&str>) -> [String; HEAD.len()] {
    let model = &it.model;
    let id = model.full_id();
    let mark = if default == Some(&id) { " *" } else { "" };
    let price = |dollars: f64| match dollars {
        0.0 => String::from("-"),
        dollars => decimal(dollars),
    };
    let thinking = if model.reasoning {
        levels(model).join(",")
    } else {
        String::from("-")
    };
    [
        format!("{id}{mark}"),
        window(model.context_window),
        window(model.max_output),
        price(model.prices.input),
        price(model.prices.output),
        inputs(model).join(","),
        thinking,
        String::from(if has_key(it) { "yes" } else { "-" }),
    ]
}

/// One model for programs. Only ever add keys.
fn record(it: &ModelEntry, default: Option<&str>) -> Value {
    let model = &it.model;
    json!({
        "id": model.full_id(),
        "provider": model.provider,
        "model": model.id,
        "name": model.name,
        "api": model.api.as_str(),
        "context_window": model.context_window,
        "context_window_source": (model.context_window > 0).then(|| model.window_source.as_str()),
        "max_output": model.max_output,
        "input": inputs(model),
        "thinking": levels(model),
        "prices": model.prices,
        "tools": model.tools,
        "edit_format": model.edit_format,
        "has_key": has_key(it),
        "origin": it.origin,
        "default": default == Some(&model.full_id()),
    })
}

fn has_key(row: &ModelEntry) -> bool {
    row.key == KeyState::Ready
}

fn inputs(model: &Model) -> Vec<&'static str> {
    let all = vec!["text", "image"];
    if model.vision { all } else { vec!["text"] }
}

fn levels(model: &Model) -> Vec<&'static str> {
    let levels = model.supported_thinking().into_iter();
    levels.map(ThinkingLevel::as_str).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::llm::Api;

    #[test]
    fn a_narrow_terminal_gets_the_first_and_the_last_level() {
        let mut model = Model::new("lab", "quick", Api::OpenAiChat, "https://api.example/v1");
        model.reasoning = true;
        let list = [ModelEntry {
            model: Arc::new(model),
            key: KeyState::Ready,
            origin: String::new(),
        }];
        let wide = table(&list, None, None);
        assert!(wide.contains("off,minimal,low,medium,high"), "{wide}");
        let columns = wide.lines().map(str::len).max();
        assert_eq!(table(&list, None, columns), wide);
        let narrow = table(&list, None, Some(70));
        assert!(narrow.contains("  off-high  "), "{narrow}");
        assert!(narrow.lines().all(|line| line.len() <= 70), "{narrow}");
    }
}
