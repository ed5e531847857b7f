//! Which tools, sources or triggers a hook is for.

use regex::Regex;

/// What a hook's `matcher` accepts.
#[derive(Clone, Debug)]
pub enum Matcher {
    All,
    Names(Vec<String>),
    Pattern(Regex),
}

impl Matcher {
    /// Letters, digits, `_`, `|`, `,` and blanks are a list of exact names; anything else is a regular
    /// expression that may match anywhere in a name.
    ///
    /// # Errors
    /// Returns what is wrong with the regular expression.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let is_list = |c: char| c.is_alphanumeric() || "_|, ".contains(c);
        if text.chars().all(is_list) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            return Ok(Self::Names(names.filter(|name| !name.is_empty()).collect()));
        }
        if let Some(tool) = rule_tool(text) {
            return Err(format!(
                "matcher '{text}' has the form of a permission rule; a matcher takes names of tools: \
                 write {tool}, and look at tool_input in the hook"
            ));
        }
        let pattern = Regex::new(text);
        pattern.map(Self::Pattern).map_err(|error| {
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default();
            format!("matcher '{text}' is not a regular expression: {why}")
        })
    }

    /// Whether one of `names` is accepted.
    pub fn accepts(&self, names: &[&str]) -> bool {
        match self {
            Self::All => true,
            Self::Names(list) => names.iter().any(|name| list.iter().any(|it| it == name)),
            Self::Pattern(pattern) => names.iter().any(|name| pattern.is_match(name)),
        }
    }
}

/// The tool in a permission rule such as `Bash(npm test:*)`.
fn rule_tool(text: &str) -> Option<&str> {
    let (tool, rest) = text.strip_suffix(')')?.split_once('(')?;
    let is_name = tool.starts_with(char::is_uppercase) && tool.chars().all(char::is_alphanumeric);
    (is_name && rest.contains([' ', '*', ':', '/'])).then_some(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_exact_and_everything_else_is_a_regular_expression() {
        for (matcher, name, accepted) in [
            ("", "Bash", true),
            ("*", "Bash", true),
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("bash", "Bash", false),
            ("Edit|Write", "Write", true),
            ("Edit, Write", "Write", true),
            ("Edit|Write", "NotebookEdit", false),
            ("mcp__lab", "mcp__lab__tool", false),
            ("mcp__lab__.*", "mcp__lab__tool", true),
            ("^(Edit|Write)$", "Write", true),
            ("Ba.*", "Bash", true),
            (".*sh", "Bash", true),
        ] {
            let parsed = Matcher::parse(matcher).unwrap();
            assert_eq!(parsed.accepts(&[name]), accepted, "{matcher} {name}");
        }
        let error = Matcher::parse("(").unwrap_err();
        assert!(error.starts_with("matcher '(' is not a regular"), "{error}");
    }
}
