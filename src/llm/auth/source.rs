//! What `api_key` in `models.toml` says: the key itself, a variable, or a command. Reads the text;
//! looks nothing up.

use super::Secret;

/// Where a key comes from, as `api_key` in `models.toml` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The key itself.
    Literal(Secret),
    /// The environment variable of this name.
    Variable(String),
    /// The output of a command.
    Command(String),
}

impl KeySource {
    /// Reads an `api_key`: `$NAME` or `${NAME}` is a variable, `!` begins a command, `$$` and `$!`
    /// stand for a literal that begins with `$` or `!`, everything else is the key.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some(command) = text.strip_prefix('!') {
            return Self::Command(command.trim().to_owned());
        }
        match text.strip_prefix('$') {
            Some(rest) if rest.starts_with(['$', '!']) => Self::Literal(Secret::new(rest)),
            Some(name) => {
                let braced = name
                    .strip_prefix('{')
                    .and_then(|name| name.strip_suffix('}'));
                Self::Variable(braced.unwrap_or(name).to_owned())
            }
            None => Self::Literal(Secret::new(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_key_is_a_literal_a_variable_or_a_command() {
        let cases = [
            ("sk-1", KeySource::Literal(Secret::new("sk-1"))),
            (" sk-1\n", KeySource::Literal(Secret::new("sk-1"))),
            ("$LAB_KEY", KeySource::Variable("LAB_KEY".into())),
            ("${LAB_KEY}", KeySource::Variable("LAB_KEY".into())),
            ("$$x", KeySource::Literal(Secret::new("$x"))),
            ("$!x", KeySource::Literal(Secret::new("!x"))),
            ("!pass show lab", KeySource::Command("pass show lab".into())),
        ];
        for (text, expected) in cases {
            assert_eq!(KeySource::parse(text), expected, "{text}");
        }
    }
}
