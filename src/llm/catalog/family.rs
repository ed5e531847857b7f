//! Facts that a model's id tells about it, at any provider: the `[[families]]` of the catalog.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::pattern::Name;
use crate::api::Api;
use crate::model::EditFormat;
use crate::quirks::QuirksTable;

/// A group of models with similar ids. All given rules must match.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Family {
    /// The id has one of these as whole words.
    pub ids: Vec<String>,
    /// The version in the id is this or later.
    pub since: Option<Vec<u32>>,
    /// The version in the id is earlier.
    pub before: Option<Vec<u32>>,
    /// The id has none of these words.
    pub without: Vec<String>,
    /// The model uses this API.
    pub api: Option<Api>,
    /// This provider serves the model.
    pub provider: Option<String>,
    /// The edit format the models handle best.
    pub edit_format: Option<EditFormat>,
    /// The price factors of their service tiers.
    pub service_tiers: BTreeMap<String, f64>,
    /// How they differ from others.
    pub quirks: QuirksTable,
}

impl Family {
    /// Whether the model `id`, served by `provider` over `api`, belongs to the family.
    pub fn matches(&self, id: &str, api: Api, provider: &str) -> bool {
        let id = id.to_lowercase();
        self.ids.iter().any(|part| has_words(&id, part))
            && !self.without.iter().any(|part| has_words(&id, part))
            && self.api.is_none_or(|wanted| wanted == api)
            && (self.provider.as_ref()).is_none_or(|wanted| wanted == provider)
            && self.spans(&id)
    }

    /// Whether the version in `id` is one of these. Never true for an id without a version.
    fn spans(&self, id: &str) -> bool {
        if self.since.is_none() && self.before.is_none() {
            return true;
        }
        let version = Name::parse(id).version;
        !version.is_empty()
            && self.since.as_ref().is_none_or(|since| version >= *since)
            && self.before.as_ref().is_none_or(|before| version < *before)
    }
}

/// Whether `id` contains `part` as a whole word.
fn has_words(id: &str, part: &str) -> bool {
    id.match_indices(part).any(|(start, found)| {
        let before = id[..start].chars().next_back();
        let behind = id[start + found.len()..].chars().next();
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        edge(before) && (edge(behind) || part.ends_with('/'))
    })
}
