//! The built-in models: `assets/models.toml`, never parsed as a whole to find one of them.
//!
//! A look-up scans the text for table headers and ids (about 120 kB, no allocation) and parses only
//! the piece it wants: naming a model must not delay the first frame.

use super::file::{self, ModelEntry, ProviderEntry};

const TEXT: &str = include_str!("../../../assets/models.toml");

/// The header of the built-in provider `id`, without its models.
pub fn provider(id: &str) -> Option<ProviderEntry> {
    pieces()
        .find(|piece| piece.provider == id && piece.model.is_none())
        .map(|piece| piece.parse())
}

/// The headers of all built-in providers, in the order in which their keys are looked for. One pass.
pub fn headers() -> impl Iterator<Item = (&'static str, ProviderEntry)> {
    let headers = pieces().filter(|piece| piece.model.is_none());
    headers.map(|piece| (piece.provider, piece.parse()))
}

/// The built-in model `id` of `provider`.
pub fn model(provider: &str, id: &str) -> Option<ModelEntry> {
    pieces()
        .find(|piece| piece.provider == provider && piece.model == Some(id))
        .and_then(|piece| piece.parse().models.pop())
}

/// The variables that the keys of built-in providers are looked for in. Parses nothing but them.
pub fn key_variables() -> Vec<String> {
    pieces()
        .filter(|piece| piece.model.is_none())
        .filter_map(|piece| {
            piece
                .text
                .lines()
                .find_map(|line| line.strip_prefix("env = "))
        })
        .flat_map(|list| list.split('"').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

/// The ids of all built-in providers, in the order in which their keys are looked for.
pub fn provider_ids() -> impl Iterator<Item = &'static str> {
    pieces()
        .filter(|piece| piece.model.is_none())
        .map(|piece| piece.provider)
}

/// Provider and id of all built-in models.
pub fn model_ids() -> impl Iterator<Item = (&'static str, &'static str)> {
    pieces().filter_map(|piece| Some((piece.provider, piece.model?)))
}

/// All built-in providers with all their models, in order. Parses everything.
pub fn all() -> Vec<(&'static str, ProviderEntry)> {
    let mut entries = file::parse(TEXT).unwrap_or_default();
    provider_ids()
        .filter_map(|id| Some((id, entries.remove(id)?)))
        .collect()
}

/// One table of the text.
struct Piece {
    provider: &'static str,
    model: Option<&'static str>,
    text: &'static str,
}

impl Piece {
    fn parse(&self) -> ProviderEntry {
        file::parse(self.text)
            .ok()
            .and_then(|mut entries| entries.remove(self.provider))
            .unwrap_or_default()
    }
}

fn pieces() -> impl Iterator<Item = Piece> {
    // Every header starts a line, and nothing else in the file does so with a bracket.
    let mut rest = TEXT.find("\n[").map_or("", |start| &TEXT[start + 1..]);
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let end = rest.find("\n[").map_or(rest.len(), |end| end + 1);
            let text = &rest[..end];
            rest = &rest[end..];
            if let Some(piece) = piece(text) {
                return Some(piece);
            }
        }
    })
}

fn piece(text: &'static str) -> Option<Piece> {
    let header = text.lines().next()?;
    if let Some(provider) = header.strip_prefix("[[providers.") {
        let provider = provider.strip_suffix(".models]]")?;
        let id = text
            .lines()
            .nth(1)?
            .strip_prefix("id = \"")?
            .strip_suffix('"')?;
        return Some(Piece {
            provider,
            model: Some(id),
            text,
        });
    }
    let provider = header.strip_prefix("[providers.")?.strip_suffix(']')?;
    Some(Piece {
        provider,
        model: None,
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_finds_what_parsing_the_whole_finds() {
        let whole = file::parse(TEXT).unwrap_or_else(|error| panic!("{error}"));
        let mut cut: Vec<&str> = provider_ids().collect();
        assert_eq!(cut[..3], ["anthropic", "openai", "openrouter"]);
        cut.sort_unstable();
        assert_eq!(cut, whole.keys().collect::<Vec<_>>());
        let mut count = 0;
        for (id, entry) in &whole {
            let header = provider(id).unwrap();
            assert_eq!(header.base_url, entry.base_url);
            assert!(!header.env.is_empty(), "{id} says where its key is");
            let default = header.default.expect("every provider has a default");
            assert!(
                entry.models.iter().any(|model| model.id == default),
                "{id}/{default}"
            );
            for expected in &entry.models {
                let found = model(id, &expected.id).unwrap();
                assert_eq!(found.name, expected.name);
                count += 1;
            }
        }
        let variables = key_variables();
        let every = |entry: &ProviderEntry| entry.env.iter().all(|name| variables.contains(name));
        assert!(whole.values().all(every), "{variables:?}");
        assert_eq!(model_ids().count(), count);
        assert!(count > 400);
    }
}
