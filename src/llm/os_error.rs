//! The system's errors in words, without the numbers that Rust adds.

const NUMBER: &str = " (os error ";

/// The text without each `(os error 2)`.
pub fn plain(text: impl ToString) -> String {
    let mut text = text.to_string();
    while let Some(start) = text.find(NUMBER)
        && let Some(length) = text[start..].find(')')
    {
        text.replace_range(start..=start + length, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_errors_are_left_out() {
        for (text, expected) in [
            (
                "can't read a: Permission denied (os error 13)",
                "can't read a: Permission denied",
            ),
            ("a (os error 2), b (os error 3).", "a, b."),
            ("cut (os error 2", "cut (os error 2"),
            ("fine", "fine"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
