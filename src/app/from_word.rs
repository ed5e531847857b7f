//! Settings that take one of a few words.

/// Makes `FromStr` of a table: the word, or several of which the first is its name, and the variant.
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
