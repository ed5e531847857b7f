//! Reads a fetched catalog, which may have a newer format and whose sender isn't trusted with keys.
//!
//! Skips and counts what this program doesn't know, so that old programs still learn about new models.
//! Also skips anything that would change where requests and keys go or what they carry. Providers and
//! their order, which decide where requests go, are always the built-in ones. A change that older
//! programs can't skip raises [`FORMAT`], and they refuse the catalog.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use reqwest::Url;
use toml::{Table, Value};

use super::builtin::{BuiltIn, provider_of, tables};
use super::file::{self, ModelEntry, ModelsFile, ProviderEntry};

/// The newest format that this program reads.
pub const FORMAT: i64 = 1;

/// The part of the fetched catalog `text` that this program can use, and the number of skipped entries.
///
/// # Errors
/// It isn't a catalog, or has a newer format.
pub fn fetched(text: &str, built_in: &BuiltIn) -> Result<(BuiltIn, usize), String> {
    let text = format!("{text}\n");
    // This covers most tables: parsing all would take longer than the rest of the start.
    let unchanged: HashSet<&str> = built_in.tables().collect();
    let mut out = String::with_capacity(text.len());
    let mut of_providers: HashMap<(&str, bool), String> = HashMap::new();
    let mut skipped = 0;
    for table in tables(&text) {
        let provider = provider_of(table);
        if provider.is_some_and(|id| built_in.provider(id).is_none()) {
            skipped += 1;
            continue;
        }
        let is_model = table.starts_with("[[providers.");
        let known = if unchanged.contains(table) {
            Some(Cow::Borrowed(table))
        } else {
            let (known, left_out) = readable(table)?;
            skipped += left_out;
            match known {
                Some((known, file)) if is_safe(table, &file, built_in) => Some(known),
                known => {
                    skipped += usize::from(known.is_some());
                    let id = table.split_once("\nid = \"").filter(|_| is_model);
                    let id = id.and_then(|(_, id)| id.split('"').next());
                    let provider = provider_of(table);
                    let own = provider
                        .zip(id)
                        .and_then(|(of, id)| built_in.model_table(of, id));
                    own.map(Cow::Borrowed)
                }
            }
        };
        let part = match provider {
            Some(id) => of_providers.entry((id, is_model)).or_default(),
            None => &mut out,
        };
        part.push_str(&known.unwrap_or_default());
    }
    for id in built_in.providers() {
        for is_model in [false, true] {
            let part = of_providers.remove(&(id, is_model)).unwrap_or_default();
            let own = |table: &&str| {
                provider_of(table) == Some(id) && table.starts_with("[[") == is_model
            };
            if part.is_empty() {
                out.extend(built_in.tables().filter(own));
            }
            out.push_str(&part);
        }
    }
    let mut catalog = BuiltIn::parse(Cow::Owned(out))?;
    let date = catalog.as_of().as_bytes();
    let shape = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    if date.len() != 10 || !date.iter().enumerate().all(shape) {
        return Err("as_of = \"YYYY-MM-DD\" is missing".to_owned());
    }
    if catalog.model_ids().next().is_none() {
        return Err("it has no models".to_owned());
    }
    catalog.list_defaults(built_in);
    Ok((catalog, skipped))
}

/// Whether `table`, parsed as `file`, leaves the built-in destinations and keys unchanged.
fn is_safe(table: &str, file: &ModelsFile, built_in: &BuiltIn) -> bool {
    file.providers.iter().all(|(id, entry)| {
        // A table anywhere else could add to one of these.
        let begins = |header: String| table.starts_with(&header);
        built_in
            .provider(id)
            .is_some_and(|known| match &entry.models[..] {
                [model] if begins(format!("[[providers.{id}.models]]\n")) => {
                    is_model_safe(model, known, || built_in.model(id, &model.id))
                }
                [] if begins(format!("[providers.{id}]\n")) => {
                    entry.base_url == known.base_url
                        && entry.env == known.env
                        && entry.base_url_env == known.base_url_env
                        && entry.headers == known.headers
                        && entry.options == known.options
                        && entry.api_key.is_none()
                }
                _ => false,
            })
    })
}

fn is_model_safe(
    model: &ModelEntry,
    known: &ProviderEntry,
    before: impl FnOnce() -> Option<ModelEntry>,
) -> bool {
    // Scheme, host and port, from the parser that requests use.
    let origin = |url: &str| Url::parse(url).ok().map(|url| url.origin());
    let home = known.base_url.as_deref().and_then(origin);
    let base_url = model.base_url.as_deref();
    base_url.is_none_or(|base_url| home.is_some() && origin(base_url) == home)
        && (model.options.is_empty() || before().is_some_and(|it| it.options == model.options))
}

/// A table and its parsed content.
type Known<'a> = (Cow<'a, str>, ModelsFile);

/// The part of `table` that this program knows, if usable, and the number of skipped entries.
fn readable(table: &str) -> Result<(Option<Known<'_>>, usize), String> {
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
                "its format is {format}, but this tiller reads only format {FORMAT}: update tiller"
            ));
        }
    }
    if let Ok(file) = file::parse(table) {
        return Ok((Some((Cow::Borrowed(table), file)), 0));
    }
    let mut fields: Table = read()?;
    let id = fields.remove("id");
    let fits = |value: Value| file::parse(&written(header, id.as_ref(), &value)).is_ok();
    if !fits(Value::Table(Table::new())) {
        return Ok((None, 1));
    }
    let names: Vec<String> = fields.keys().cloned().collect();
    let mut known = Value::Table(fields);
    let skipped = keep_known(&mut known, &fits);
    // Without its API a model would use another one, and a family without one of its conditions would
    // match too many models.
    let vital = |name: &String| name == "api" || header == "[[families]]";
    let lost = |name: &String| vital(name) && known.get(name).is_none();
    let text = written(header, id.as_ref(), &known);
    let usable = file::parse(&text).ok().filter(|_| !names.iter().any(lost));
    Ok((usable.map(|file| (Cow::Owned(text), file)), skipped))
}

/// A table in the form that `builtin` expects: `id` first, each field on one line.
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

/// Removes from `value` what `fits` rejects. Returns the number of removed entries.
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
