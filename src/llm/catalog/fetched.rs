//! A catalogue that was fetched: its form may be newer than this program. What the program does not
//! know is left out and counted, so that an old program hears of new models. A change that cannot be
//! left out raises [`FORMAT`], and the catalogue is refused.

use toml::{Table, Value};

use super::builtin::{BuiltIn, provider_of, tables};
use super::file;

/// The form of the catalogue that this program reads.
pub const FORMAT: i64 = 1;

/// The part of a fetched catalogue that this program knows, and how many entries it leaves out.
///
/// # Errors
/// It is no catalogue, or one of a newer form.
pub fn readable(text: &str, built_in: &BuiltIn) -> Result<(String, usize), String> {
    let mut out = String::with_capacity(text.len());
    let mut skipped = 0;
    let mut unknown: Vec<&str> = Vec::new();
    for table in tables(text) {
        let (header, body) = match table.split_once('\n') {
            Some(parts) if table.starts_with('[') => parts,
            _ => ("", table),
        };
        let read = || toml::from_str(body).map_err(|error| format!("{header} {}", error.message()));
        if header.is_empty() {
            let head: Table = read()?;
            let format = head.get("format").and_then(Value::as_integer);
            if let Some(format) = format.filter(|format| *format > FORMAT) {
                return Err(format!(
                    "its format is {format}, and this tiller reads format {FORMAT}: update tiller"
                ));
            }
        }
        let provider = provider_of(table);
        if provider.is_some_and(|id| built_in.provider(id).is_none() || unknown.contains(&id)) {
            skipped += 1;
            continue;
        }
        if file::parse(table).is_ok() {
            out.push_str(table);
            continue;
        }
        let mut fields: Table = read()?;
        let id = fields.remove("id");
        let fits = |value: Value| file::parse(&written(header, id.as_ref(), &value)).is_ok();
        if !fits(Value::Table(Table::new())) {
            skipped += 1;
            continue;
        }
        let names: Vec<String> = fields.keys().cloned().collect();
        let mut known = Value::Table(fields);
        skipped += keep_known(&mut known, &fits);
        // Without its API a model would be spoken to in another one, and a family without one of its
        // conditions would hold for too many models.
        let vital = |name: &String| name == "api" || header == "[[families]]";
        if names
            .iter()
            .any(|name| vital(name) && known.get(name).is_none())
        {
            unknown.extend(provider.filter(|_| !header.starts_with("[[")));
            continue;
        }
        out.push_str(&written(header, id.as_ref(), &known));
    }
    Ok((out, skipped))
}

/// A table in the form that the catalogue is cut by: `id` first, each field on one line.
fn written(header: &str, id: Option<&Value>, fields: &Value) -> String {
    let line = |(name, value): (&str, &Value)| match name {
        "id" => format!("id = {value}\n"),
        name => format!("{} = {value}\n", Value::from(name)),
    };
    let fields = fields.as_table().into_iter().flatten();
    let fields = fields.map(|(name, value)| (name.as_str(), value));
    let lines: String = id
        .map(|id| ("id", id))
        .into_iter()
        .chain(fields)
        .map(line)
        .collect();
    format!("{header}\n{lines}\n")
}

/// Takes from `value` what `fits` does not know, as little as can be; how many entries that were.
fn keep_known(value: &mut Value, fits: &dyn Fn(Value) -> bool) -> usize {
    if fits(value.clone()) {
        return 0;
    }
    let mut skipped = 0;
    let mut keep = |inner: &mut Value, around: &dyn Fn(Value) -> Value| {
        let within = keep_known(inner, &|inner| fits(around(inner)));
        let known = fits(around(inner.clone()));
        skipped += if known { within } else { 1 };
        known
    };
    match value {
        Value::Table(table) => table.retain(|name, inner| {
            keep(inner, &|inner| {
                Value::Table(Table::from_iter([(name.to_owned(), inner)]))
            })
        }),
        Value::Array(items) => {
            items.retain_mut(|inner| keep(inner, &|inner| Value::Array(vec![inner])));
        }
        _ => {}
    }
    skipped
}
