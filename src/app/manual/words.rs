//! The words of queries and texts: how they are cut, which count, and when two are the same.

use crate::agent::word_list::WordList;

/// Words of a question that say nothing about its subject.
const FILLERS: WordList = WordList(
    "a about an and are by can change did disable do does don enable example examples for from get how i in is it let m make \
     many me mid much my of off old on or please s set should t the this tiller to turn use using want what when where which why will with without \
     would yesterday you your",
);

/// The words of a query in lower case, without fillers unless there is nothing else.
pub(crate) fn search_words(query: &str) -> Vec<String> {
    let query = query.to_lowercase();
    let words = || parts(&query).map(str::to_owned);
    let is_filler = |word: &String| FILLERS.contains(word);
    let telling: Vec<String> = words().filter(|word| !is_filler(word)).collect();
    if telling.is_empty() {
        words().collect()
    } else {
        telling
    }
}

/// Whether two words are the same but for their endings: `models` and `model`, `asking` and `ask`.
pub(crate) fn whole_word(one: &str, other: &str) -> bool {
    one == other || one.len().min(other.len()) > 2 && stem(one) == stem(other)
}

/// Whether a word of a text fits one of a query: it is the same, or begins so and the typed one is
/// long enough to mean it.
pub(crate) fn begins_word(part: &str, typed: &str) -> bool {
    whole_word(part, typed) || typed.chars().count() >= MIN_BEGINNING && part.starts_with(typed)
}

/// Minimum number of letters of a prefix.
const MIN_BEGINNING: usize = 3;

pub(crate) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.is_empty())
}

/// The word without its usual endings.
pub(super) fn stem(word: &str) -> &str {
    let mut kept = word;
    for end in ["s", "ing", "ed"] {
        // Of two endings a longer word must be left. `Need` has none.
        let shortest = if kept == word { 2 } else { 4 };
        match kept.strip_suffix(end) {
            Some(rest)
                if rest.len() >= shortest && !kept.ends_with("ss") && !kept.ends_with("eed") =>
            {
                kept = rest;
            }
            _ => {}
        }
    }
    match kept.strip_suffix('e') {
        Some(rest) if rest.len() > 1 => rest,
        _ => kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_count_only_alone_and_endings_not_at_all() {
        assert_eq!(search_words("How do I change the model?"), ["model"]);
        assert_eq!(search_words("what is"), ["what", "is"]);
        for (one, other, same) in [
            ("models", "model", true),
            ("asking", "ask", true),
            ("used", "use", true),
            ("keybindings", "keybinding", true),
            ("access", "acces", false),
            ("undo", "under", false),
            ("ide", "id", false),
            ("seed", "see", false),
        ] {
            assert_eq!(whole_word(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn a_beginning_of_three_letters_stands_for_a_word() {
        for (part, typed, fits) in [
            ("permissions", "perm", true),
            ("cite", "ci", false),
            ("front", "ront", false),
        ] {
            assert_eq!(begins_word(part, typed), fits, "{part} {typed}");
        }
    }
}
