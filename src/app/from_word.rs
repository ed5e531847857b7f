//! Settings with a fixed set of words.

/// Implements `FromStr` from a table: one or more words (the first is the name), and the variant.
macro_rules! from_word {
    ($type:ident { $($word:literal $(| $older:literal)* => $variant:ident),* }) => {
        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word $(| $older)* => Ok(Self::$variant),)*
                    _ => Err(format!("'{text}' isn't one of {}", [$($word),*].join(", "))),
                }
            }
        }
    };
}
pub(super) use from_word;
