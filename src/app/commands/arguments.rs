//! The arguments of a command from a file: splits them into words and puts them into its text.

/// Replaces `$ARGUMENTS`, `$@`, `$1` and `$ARGUMENTS[0]` in `body`, in one pass, so that arguments stay as
/// typed. `first` is the number of the first argument. The second value tells whether there was any.
pub(super) fn with_arguments(body: &str, arguments: &str, first: usize) -> (String, bool) {
    let words = words(arguments);
    let word = |number: usize, first: usize| {
        let at = number.checked_sub(first);
        at.and_then(|at| words.get(at)).map_or("", String::as_str)
    };
    let (mut text, mut used, mut rest) = (String::new(), false, body);
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let (value, length) = if let Some(after) = behind.strip_prefix("ARGUMENTS") {
            let index = after.strip_prefix('[').and_then(|it| it.split_once(']'));
            let index = index.and_then(|(index, _)| Some((index.parse().ok()?, index.len() + 2)));
            match index {
                Some((index, length)) => (word(index, 0), "ARGUMENTS".len() + length),
                None => (arguments, "ARGUMENTS".len()),
            }
        } else if behind.starts_with('@') {
            (arguments, 1)
        } else if (1..=2).contains(&digits) {
            let number = behind[..digits].parse().unwrap_or(usize::MAX);
            (word(number, first), digits)
        } else {
            text.push('$');
            rest = behind;
            continue;
        };
        used = true;
        text.push_str(value);
        rest = &behind[length..];
    }
    text.push_str(rest);
    (text, used)
}

/// The words of the arguments. Quotes hold several together.
/// Splits arguments at spaces, except inside quotes.
pub(crate) fn words(arguments: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in arguments.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => (quote, begun) = (Some(c), true),
            (c, None) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, _) => {
                word.push(c);
                begun = true;
            }
        }
    }
    words.extend(begun.then_some(word));
    words
}
