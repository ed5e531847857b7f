//! Makes a title for an unnamed session from its first prompt, without a model.

const LONGEST: usize = 60;

const QUOTES: [char; 2] = ['"', '\''];

/// The first line with words, without Markdown syntax, cut between words; may be empty.
pub fn title_of(prompt: &str) -> String {
    let line = prompt.lines().map(plain).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    let Some((end, _)) = line.char_indices().nth(LONGEST) else {
        return line.trim_end_matches(['.', ':', ',', ';']).to_owned();
    };
    let cut = &line[..end];
    // Cuts a word that is longer than the whole title in its middle.
    let end = cut.rfind(' ').filter(|end| *end > cut.len() / 2);
    let kept = cut[..end.unwrap_or(cut.len())].trim_end_matches([' ', '.', ':', ',', ';']);
    format!("{kept}…")
}

/// Strips the marks before a line's words and merges spaces.
fn plain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let marks = |word: &&str| word.chars().all(|c| "#>*-=`~".contains(c));
    let begin = words.iter().take_while(|word| marks(word)).count();
    unquoted(&words[begin..].join(" ").replace(['`', '*'], "")).to_owned()
}

/// Strips quotes around a text from a file or pipe, but not those around some of its words.
fn unquoted(text: &str) -> &str {
    let inner = text.trim_start_matches(QUOTES);
    let is_one = text.len() == inner.len() + 1;
    match inner.trim_end_matches(QUOTES) {
        _ if inner.len() == text.len() => text,
        rest if is_one && rest.contains(QUOTES) => text,
        rest => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_with_words() {
        let long = "word ".repeat(30);
        for (prompt, title) in [
            ("Fix the login.", "Fix the login"),
            ("\n\n  Fix   the\tlogin\nand more", "Fix the login"),
            ("# Task\n\ndo it", "Task"),
            ("```\n---\n- **bold** `code` thing:", "bold code thing"),
            ("\"\"\"Split a bill", "Split a bill"),
            ("\"\"\"\nSplit a bill\n\"\"\"", "Split a bill"),
            ("'Split a bill'", "Split a bill"),
            ("\"Split\" must \"round\"", "\"Split\" must \"round\""),
            ("Say \"hi\"", "Say \"hi\""),
            ("", ""),
            ("  \n\t", ""),
            ("größe 日本 🦀?", "größe 日本 🦀?"),
            (
                &long,
                "word word word word word word word word word word word word…",
            ),
            (&"x".repeat(100), &format!("{}…", "x".repeat(60))),
        ] {
            assert_eq!(title_of(prompt), title, "{prompt:?}");
        }
    }
}
