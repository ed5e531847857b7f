//! The built-in catalog: `assets/models.toml`, or a newer one that tiller fetched.
//!
//! Finds models by their table headers and parses each on demand: parsing them all would delay the first
//! frame.

use std::borrow::Cow;
use std::ops::Range;

use super::file::{self, ModelEntry, ModelsFile, ProviderEntry};

const SHIPPED: &str = include_str!("../../../assets/models.toml");

/// A whole catalog.
pub struct BuiltIn {
    text: Cow<'static, str>,
    /// Everything but the models.
    head: ModelsFile,
    /// The ids of the providers, in the order in which tiller looks for their keys.
    providers: Vec<String>,
    models: Vec<Piece>,
}

/// The position of one model in the text.
struct Piece {
    provider: usize,
    id: Range<usize>,
    table: Range<usize>,
}

impl Default for BuiltIn {
    /// The catalog this version was built with.
    fn default() -> Self {
        Self::parse(Cow::Borrowed(SHIPPED)).expect("assets/models.toml is checked by a test")
    }
}

impl BuiltIn {
    /// Reads a catalog, except its models.
    pub fn parse(text: Cow<'static, str>) -> Result<Self, String> {
        let mut providers: Vec<String> = Vec::new();
        let mut models = Vec::new();
        let mut head = String::new();
        let mut start = 0;
        for table in tables(&text) {
            let end = start + table.len();
            match table.strip_prefix("[[providers.") {
                Some(rest) => {
                    let place = || {
                        let (name, body) = rest.split_once(".models]]\n")?;
                        let id = body.strip_prefix("id = \"")?;
                        let from = end - id.len();
                        let provider = providers.iter().position(|known| known == name)?;
                        Some((provider, from..from + id.find('"')?))
                    };
                    let (provider, id) = place().ok_or_else(|| {
                        let line = table.lines().next().unwrap_or_default();
                        format!("{line}: expected an id below it and its provider above it")
                    })?;
                    models.push(Piece {
                        provider,
                        id,
                        table: start..end,
                    });
                }
                None => {
                    providers.extend(provider_of(table).map(str::to_owned));
                    head.push_str(table);
                }
            }
            start = end;
        }
        let head = file::parse(&head)?;
        Ok(Self {
            text,
            head,
            providers,
            models,
        })
    }

    /// The date of its facts, `YYYY-MM-DD`, or empty.
    pub fn as_of(&self) -> &str {
        self.head.as_of.as_deref().unwrap_or_default()
    }

    /// Everything but the models.
    pub fn head(&self) -> &ModelsFile {
        &self.head
    }

    /// The provider `id`, without its models.
    pub fn provider(&self, id: &str) -> Option<&ProviderEntry> {
        self.head.providers.get(id)
    }

    /// The ids of all providers, in the order in which tiller looks for their keys.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.providers.iter().map(String::as_str)
    }

    /// Provider and id of all models.
    pub fn model_ids(&self) -> impl Iterator<Item = (&str, &str)> {
        self.models.iter().map(|piece| {
            let provider = &self.providers[piece.provider];
            (provider.as_str(), &self.text[piece.id.clone()])
        })
    }

    /// The model `id` of `provider`.
    pub fn model(&self, provider: &str, id: &str) -> Option<ModelEntry> {
        let mut file = file::parse(self.model_table(provider, id)?).ok()?;
        file.providers.remove(provider)?.models.pop()
    }

    /// The source text of the model `id` of `provider`.
    pub(super) fn model_table(&self, provider: &str, id: &str) -> Option<&str> {
        let at = self.model_ids().position(|it| it == (provider, id))?;
        Some(&self.text[self.models[at].table.clone()])
    }

    /// The source text of all its tables.
    pub(super) fn tables(&self) -> impl Iterator<Item = &str> {
        tables(&self.text)
    }

    /// Gives each provider a listed default: its own, that of `before`, or its first model.
    pub(super) fn list_defaults(&mut self, before: &Self) {
        for (id, entry) in &mut self.head.providers {
            let at = self.providers.iter().position(|it| it == id);
            let models = self
                .models
                .iter()
                .filter(|piece| Some(piece.provider) == at);
            let listed: Vec<&str> = models.map(|piece| &self.text[piece.id.clone()]).collect();
            let known = before
                .provider(id)
                .and_then(|known| known.default.as_deref());
            let wanted = [entry.default.as_deref(), known, listed.first().copied()];
            let mut wanted = wanted.iter().flatten();
            let default = wanted.find(|id| listed.contains(id));
            entry.default = default.map(|id| (*id).to_owned());
        }
    }

    /// All models of each provider, in order. Parses everything.
    pub fn all(&self) -> Result<Vec<(&str, Vec<ModelEntry>)>, String> {
        let mut file = file::parse(&self.text)?;
        let mut models = |id| file.providers.remove(id).unwrap_or_default().models;
        Ok(self.providers().map(|id| (id, models(id))).collect())
    }

    /// The provider or host that answers at `base_url`.
    pub fn host_at(&self, base_url: &str) -> Option<&str> {
        let base_url = base_url.to_ascii_lowercase();
        let wanted = authority(&base_url)?;
        let provider = self.providers().find(|id| {
            let own = self
                .provider(id)
                .and_then(|entry| entry.base_url.as_deref());
            // Regions have their own subdomains.
            let above = own
                .and_then(authority)
                .and_then(|own| wanted.strip_suffix(own));
            above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
        });
        provider.or_else(|| {
            let mut hosts = self.head.hosts.iter();
            let at = |part: &String| wanted.contains(part.as_str());
            let host = hosts.find(|(_, host)| host.addresses.iter().any(at));
            host.map(|(name, _)| name.as_str())
        })
    }
}

/// The tables of a catalog with their headers, and first the text above them. Every header starts a
/// line, and no other line starts with a bracket.
pub(super) fn tables(mut text: &str) -> impl Iterator<Item = &str> {
    let next_table = memchr::memmem::Finder::new("\n[");
    std::iter::from_fn(move || {
        let end = next_table.find(text.as_bytes());
        let (table, rest) = text.split_at(end.map_or(text.len(), |at| at + 1));
        text = rest;
        (!table.is_empty()).then_some(table)
    })
}

/// The provider that `table` describes, or whose model it describes.
pub(super) fn provider_of(table: &str) -> Option<&str> {
    let name = table
        .strip_prefix("[providers.")
        .or_else(|| table.strip_prefix("[[providers."))?;
    name.split(['.', ']']).next()
}

/// The host of a URL, and its port unless it is the default.
fn authority(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let whole = rest.split(['/', '?', '#']).next()?;
    let host = whole.rsplit('@').next()?;
    let usual = if scheme == "https" { ":443" } else { ":80" };
    Some(host.strip_suffix(usual).unwrap_or(host)).filter(|host| !host.is_empty())
}
