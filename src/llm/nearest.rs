//! "Did you mean": the known names most similar to a misspelt one, by Jaro-Winkler similarity.

/// Less similar names are not suggested.
const MIN_SIMILARITY: f64 = 0.75;

/// The one of `known` most similar to `name`, if any is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(name, known.into_iter().map(|known| (known, known)), 1).pop()
}

/// The values of at most `limit` names in `known` most similar to `name`, best first.
pub fn nearest_few<'a, T>(
    name: &str,
    known: impl IntoIterator<Item = (&'a str, T)>,
    limit: usize,
) -> Vec<T> {
    let name = name.to_lowercase();
    let mut similar: Vec<(f64, T)> = known
        .into_iter()
        .map(|(known, of)| (strsim::jaro_winkler(&name, &known.to_lowercase()), of))
        .filter(|(similarity, _)| *similarity > MIN_SIMILARITY)
        .collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0));
    similar.truncate(limit);
    similar.into_iter().map(|(_, of)| of).collect()
}

/// The one of `known` that `typed` is a typo of: a letter or two differ, and not the first one.
pub fn typo_of<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let allowed = if typed.len() < 6 { 1 } else { 2 };
    let distance = |known: &&str| strsim::osa_distance(&typed, known);
    let known = known
        .into_iter()
        .filter(|it| it.len() > 2 && it.get(..1) == typed.get(..1));
    let near = known.filter(|known| distance(known) <= allowed);
    near.min_by_key(distance)
}
