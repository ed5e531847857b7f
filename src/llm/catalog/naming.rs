//! Resolves the user's name for a model: an alias, `provider/id`, or a part of an id, each with an
//! optional `:thinking`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use super::pattern::{MatchQuality, Name, Pattern};
use super::snapshot::Snapshot;
use crate::auth::Keys;
use crate::local::LocalServer;
use crate::model::{Model, ThinkingLevel};
use crate::nearest::{nearest, nearest_few, typo_of};

/// Most candidates an error lists.
const LISTED: usize = 12;
/// Most similar names an error lists.
const NEAREST: usize = 3;

/// A model and the thinking level that was named with it.
pub type Named = (Model, Option<ThinkingLevel>);

/// Where to look names up.
pub struct Resolver<'a> {
    pub snapshot: &'a Snapshot,
    /// Of several matches, one with a key wins.
    pub keys: &'a Keys,
}

impl Resolver<'_> {
    /// The model meant by `name`. If nothing matches, `elsewhere` gets the name, with aliases resolved.
    pub fn resolve(
        &self,
        name: &str,
        elsewhere: impl FnOnce(&str) -> Result<Option<Named>, String>,
    ) -> Result<Named, String> {
        let mut name = name.trim();
        let mut level = None;
        let mut path: Vec<&str> = Vec::new();
        while let Some((alias, target, named)) = self.alias(name) {
            level = level.or(named);
            if path.contains(&alias) {
                path.push(alias);
                return Err(format!(
                    "the alias '{alias}' points back to itself: {}. Set it to a provider/id in \
                     [models.aliases] of config.toml",
                    path.join(" -> ")
                ));
            }
            path.push(alias);
            name = target.trim();
        }
        let (model, named) = match self.plain(name) {
            Ok((model, named)) => (self.snapshot.located(model, self.keys), named),
            // The user described this provider, so a server on this machine is the wrong subject.
            Err(error) => (elsewhere(name).map_err(|why| {
                let is_own = self.snapshot.user().contains_key(name);
                if is_own { error.clone() } else { why }
            })?)
            .ok_or_else(|| match path.as_slice() {
                [] => error,
                path => format!(
                    "the alias '{}' means '{name}': {error}",
                    path.join("' -> '")
                ),
            })?,
        };
        Ok((model, level.or(named)))
    }

    /// The alias in `name`, with its target and the level after it.
    fn alias<'b>(&'b self, name: &'b str) -> Option<(&'b str, &'b str, Option<ThinkingLevel>)> {
        let found = [(name, None), ThinkingLevel::split_off(name)].map(|(name, level)| {
            let (alias, target) = self.snapshot.aliases().get_key_value(name)?;
            Some((alias.as_str(), target.as_str(), level))
        });
        found.into_iter().flatten().next()
    }

    fn plain(&self, name: &str) -> Result<Named, String> {
        if name.is_empty() {
            return Err(
                "no model given: type provider/id, for example anthropic/claude-sonnet-5-5".into(),
            );
        }
        // Ids can contain colons (`qwen/qwen3:free`), so try the whole name first.
        if let Some((provider, id)) = name.split_once('/')
            && let Some(model) = self.snapshot.known(provider, id)
        {
            return Ok((model, None));
        }
        let Some((bare, word)) = name.rsplit_once(':') else {
            return Ok((self.named(name)?, None));
        };
        match word.parse::<ThinkingLevel>() {
            Ok(level) => {
                let mut model = self.named(bare)?;
                // For an unknown id, a thinking level is the only hint that it can think.
                model.reasoning |= level > ThinkingLevel::Off && !self.is_listed(&model);
                Ok((model, Some(level)))
            }
            Err(wrong) => {
                let model = self.named(name);
                // Any id may be new, and contain a colon (`llama3:8b`).
                let is_slip = match &model {
                    Err(_) => self.named(bare).is_ok(),
                    Ok(model) => {
                        !self.is_listed(model)
                            && nearest(word, ThinkingLevel::ALL.map(ThinkingLevel::as_str))
                                .is_some()
                            && self.named(bare).is_ok_and(|model| self.is_listed(&model))
                    }
                };
                if is_slip {
                    return Err(format!("{wrong} (in '{name}')"));
                }
                Ok((model?, None))
            }
        }
    }

    fn is_listed(&self, model: &Model) -> bool {
        self.snapshot.known(&model.provider, &model.id).is_some()
    }

    fn named(&self, name: &str) -> Result<Model, String> {
        if let Some((provider, id)) = name.split_once('/') {
            if id.is_empty() {
                return Err(format!("'{name}' has no model id: type {provider}/ID"));
            }
            if let Some(model) = self.snapshot.known(provider, id) {
                return Ok(model);
            }
            if let Some(unlisted) = self.snapshot.unlisted(provider, id) {
                let within = self.within(provider, id);
                return within.unwrap_or_else(|| match self.misspelled(provider, id) {
                    Some(meant) => Err(format!(
                        "{provider} has no model {id}: did you mean {provider}/{meant}?"
                    )),
                    None => Ok(unlisted),
                });
            }
        }
        // The user's own provider, exactly: part of another's name can't mean it.
        let is_built_in = self.snapshot.built_in().provider(name).is_some();
        if !is_built_in && self.snapshot.user().contains_key(name) {
            let id = self.snapshot.default_of(name);
            let model = id.and_then(|id| self.snapshot.unlisted(name, id));
            return model.ok_or_else(|| self.snapshot.has_no_models(name));
        }
        let mut asked: BTreeMap<&str, (bool, u8)> = BTreeMap::new();
        let mut found: Vec<(Rank, &str, &str)> = Vec::new();
        let pattern = Pattern::new(name);
        for (provider, id) in self.snapshot.ids() {
            let Some(fit) = pattern.fit(id) else {
                continue;
            };
            let (has_key, rank) = *asked.entry(provider).or_insert_with(|| {
                let has_key = self.snapshot.has_key(provider, self.keys);
                (has_key, rank(self.snapshot, provider))
            });
            found.push((
                (fit == MatchQuality::Part, !has_key, fit, rank),
                provider,
                id,
            ));
        }
        let best = found.iter().map(|(worth, ..)| *worth).min();
        let keyed = best.is_some_and(|(_, keyless, ..)| !keyless);
        // A provider's name means its default model, unless only others have a key.
        let provider = name.to_lowercase();
        if let Some(id) = self.snapshot.default_of(&provider)
            && (!keyed || self.snapshot.has_key(&provider, self.keys))
            && let Some(model) = self.snapshot.known(&provider, id)
        {
            return Ok(model);
        }
        found.retain(|(worth, ..)| Some(*worth) == best);
        if let (Some((_, provider, id)), false) = (found.first(), keyed) {
            self.check_reseller(name, provider, id)?;
        }
        let ids = found.into_iter().map(|(_, provider, id)| (provider, id));
        self.one_of(name, ids.collect())
    }

    /// Refuses `provider`, a reseller without a key, for a `name` of a family of which a provider with a key
    /// has other models.
    fn check_reseller(&self, name: &str, provider: &str, id: &str) -> Result<(), String> {
        let family = Name::parse(name).family;
        let siblings = self.snapshot.ids().filter(|(of, sibling)| {
            Name::parse(sibling).family == family && self.snapshot.has_key(of, self.keys)
        });
        let siblings: Vec<(&str, &str)> = siblings.collect();
        let resells = self.snapshot.built_in().provider(provider);
        let near = nearest(name, siblings.iter().map(|(_, id)| *id));
        let (Some(near), true) = (near, resells.is_some_and(|it| it.resells)) else {
            return Ok(());
        };
        let owner = siblings.iter().find(|(_, id)| *id == near);
        let owner = owner.map_or("", |(owner, _)| owner);
        Err(format!(
            "{owner} has no {name}: did you mean {owner}/{near}?\n{provider} has {provider}/{id}, but you have \
             no key for it. To add one: tiller auth add {provider}"
        ))
    }

    /// The listed model that `part` means at `provider`. A new exact id must pass, so `part` matches
    /// only as words of a family without a version (`anthropic/sonnet`).
    fn within(&self, provider: &str, part: &str) -> Option<Result<Model, String>> {
        let pattern = Pattern::new(part);
        let fitting = |wanted: MatchQuality| -> Vec<(&str, &str)> {
            let ids = self.snapshot.ids();
            let of = ids.filter(|(other, _)| *other == provider);
            of.filter(|(_, id)| pattern.fit(id) == Some(wanted))
                .collect()
        };
        let whole = fitting(MatchQuality::Whole);
        if !whole.is_empty() {
            return Some(self.one_of(part, whole));
        }
        let versioned = part.contains(|c: char| c.is_ascii_digit() || c == '/');
        if versioned || self.snapshot.built_in().provider(provider).is_none() {
            return None;
        }
        let words = fitting(MatchQuality::Words);
        (!words.is_empty()).then(|| self.one_of(&format!("{provider}/{part}"), words))
    }

    /// The listed id of which `id` is a misspelling: one of its words has a wrong letter or two. A new id
    /// differs by whole words or digits.
    fn misspelled(&self, provider: &str, id: &str) -> Option<&str> {
        let words = |id: &'_ str| -> Vec<String> { id.split('-').map(str::to_lowercase).collect() };
        let typed = words(id);
        let is_slip = |listed: &str| {
            let listed = words(listed);
            let mut wrong = listed
                .iter()
                .zip(&typed)
                .filter(|(one, other)| one != other);
            let word = wrong.next();
            listed.len() == typed.len()
                && wrong.next().is_none()
                && word.is_some_and(|(listed, typed)| {
                    let is_word = |word: &str| word.chars().all(char::is_alphabetic);
                    listed.len() > 4
                        && is_word(listed)
                        && is_word(typed)
                        && typo_of(typed, [listed.as_str()]).is_some()
                })
        };
        let mut ids = self.snapshot.ids().filter(|(other, _)| *other == provider);
        ids.find(|(_, listed)| is_slip(listed))
            .map(|(_, listed)| listed)
    }

    /// The one model to choose among `ids`.
    fn one_of(&self, name: &str, mut ids: Vec<(&str, &str)>) -> Result<Model, String> {
        // Only a name with a colon means a reseller's variant (`:batch`, `:free`).
        let variant = |id: &str| id.contains(':') && !name.contains(':');
        if ids.iter().any(|(_, id)| !variant(id)) {
            ids.retain(|(_, id)| !variant(id));
        }
        if ids.is_empty() {
            return Err(self.unknown(name));
        }
        let chosen = self.choose(name, &ids);
        let model = chosen.and_then(|(provider, id)| self.snapshot.known(provider, id));
        model.ok_or_else(|| self.ambiguous(name, ids))
    }

    /// The only one, or the newest of one provider's family. If `name` has a version, the newest of the
    /// family of the provider's default.
    fn choose<'b>(&self, name: &str, ids: &[(&'b str, &'b str)]) -> Option<(&'b str, &'b str)> {
        let (provider, first) = *ids.first()?;
        if ids.iter().any(|(other, _)| *other != provider) {
            return None;
        }
        let mut family = Name::parse(first).family;
        if ids.iter().any(|(_, id)| Name::parse(id).family != family) {
            if !name.contains(|c: char| c.is_ascii_digit()) {
                return None;
            }
            family = Name::parse(self.snapshot.default_of(provider)?).family;
        }
        Some((provider, newest(ids, provider, &family)?))
    }

    /// Lists the models that `name` can mean: the newest of each family, the newest first.
    fn ambiguous(&self, name: &str, mut ids: Vec<(&str, &str)>) -> String {
        let all = ids.clone();
        ids.retain(|(provider, id)| newest(&all, provider, &Name::parse(id).family) == Some(*id));
        ids.sort_by_cached_key(|(_, id)| Reverse(Name::parse(id).version));
        let list: Vec<String> = (ids.iter().take(LISTED))
            .map(|(provider, id)| format!("  {provider}/{id}"))
            .collect();
        let mut list = list.join("\n");
        if ids.len() > LISTED {
            let _ = write!(list, "\n  ... and {} more", ids.len() - LISTED);
        }
        if let [(provider, _), ..] = ids[..]
            && !self.snapshot.has_key(provider, self.keys)
        {
            let _ = write!(
                list,
                "\nThey need a key, for example: tiller auth add {provider}"
            );
        }
        format!("'{name}' is ambiguous. Type one of these models:\n{list}")
    }

    fn unknown(&self, name: &str) -> String {
        let file = self.snapshot.file().display();
        if let Some((provider, _)) = name.split_once('/') {
            let local = LocalServer::ALL.map(|server| server.facts().id);
            let near = nearest(provider, self.snapshot.providers().chain(local))
                .map_or_else(String::new, |near| format!(": did you mean '{near}'?"));
            return format!(
                "unknown provider '{provider}' in '{name}'{near}\nLooked in the built-in providers and in {file}. \
                 To add a provider, write [providers.{provider}] with api, base_url and models there"
            );
        }
        // Without a version, only the newest of a family is worth a suggestion.
        let all: Vec<(&str, &str)> = self.snapshot.ids().collect();
        let is_open = !name.contains(|c: char| c.is_ascii_digit());
        let is_newest = |(provider, id): &&(&str, &str)| {
            !is_open || newest(&all, provider, &Name::parse(id).family) == Some(*id)
        };
        let ids = all.iter().filter(is_newest);
        let ids = ids.map(|(provider, id)| (*id, format!("{provider}/{id}")));
        let aliases = self
            .snapshot
            .aliases()
            .iter()
            .map(|(alias, target)| (alias.as_str(), format!("{alias} (an alias of {target})")));
        let mut near = nearest_few(name, ids.chain(aliases), NEAREST);
        // `gpt5` for `gpt-5`.
        if let Some(at) = name.find(|c: char| c.is_ascii_digit())
            && name[..at].ends_with(char::is_alphabetic)
            && let Ok(model) = self.named(&format!("{}-{}", &name[..at], &name[at..]))
        {
            near = vec![model.full_id()];
        }
        // A misspelled provider means its default model. Any id is a longer way to name one.
        let local = LocalServer::ALL.map(|server| server.facts().id);
        if let Some(provider) = typo_of(name, self.snapshot.providers().chain(local)) {
            near = vec![provider.to_owned()];
        }
        let near = match near.as_slice() {
            // A misspelled word of an id: `sonet`.
            [] => {
                let ids = self.snapshot.ids();
                let words = ids.flat_map(|(_, id)| id.split(['-', '/', '.', ':']));
                let near = typo_of(name, words.filter(|word| word.len() > 3));
                near.map_or_else(String::new, |near| format!(": did you mean '{near}'?"))
            }
            near => format!(": did you mean {}?", near.join(" or ")),
        };
        format!(
            "unknown model '{name}'{near}\nLooked in the built-in models and in {file}. `tiller models` lists \
             them all; type provider/id for any other, for example anthropic/claude-sonnet-5-5"
        )
    }
}

/// How well an id matches a pattern; lower is better. Whole words at a provider with a key come first,
/// parts of words last.
type Rank = (bool, bool, MatchQuality, u8);

/// Whose models a pattern prefers: the user's own, then a maker's, then a reseller's.
fn rank(snapshot: &Snapshot, provider: &str) -> u8 {
    let user = snapshot.user().get(provider);
    match snapshot.built_in().provider(provider) {
        None => 0,
        Some(_) if user.is_some_and(|entry| !entry.models.is_empty()) => 0,
        Some(entry) => 1 + u8::from(entry.resells),
    }
}

fn newest<'a>(ids: &[(&str, &'a str)], provider: &str, family: &[String]) -> Option<&'a str> {
    ids.iter()
        .filter(|(other, id)| *other == provider && Name::parse(id).family == family)
        .max_by(|a, b| Name::parse(a.1).age().cmp(&Name::parse(b.1).age()))
        .map(|(_, id)| *id)
}
