//! The topics of a model's thinking: the bold lines above its thoughts.

/// The last headings of a stretch of thinking, as one short line.
pub(crate) fn headings(text: &str) -> Vec<&str> {
    const SHOWN: usize = 3;
    let lines = text.lines().rev().filter_map(heading);
    let mut headings: Vec<&str> = lines.take(SHOWN).collect();
    headings.reverse();
    headings
}

/// The text of a line that is all bold, or a heading.
fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let bold = line
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"));
    let text = bold.or_else(|| {
        line.strip_prefix('#')
            .map(|rest| rest.trim_start_matches('#'))
    })?;
    let text = text.trim().trim_end_matches(':');
    (!text.is_empty() && text.len() <= 80 && !text.contains("**")).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bold_lines_are_headings() {
        for (text, wanted) in [
            ("", &[][..]),
            ("Plain thoughts **with** words", &[]),
            (
                "**Looking at the token check**\n\nIt compares.\n",
                &["Looking at the token check"],
            ),
            (
                "**One**\na\n\n# Two\nb\n**Three:**",
                &["One", "Two", "Three"],
            ),
            ("**1**\n**2**\n**3**\n**4**", &["2", "3", "4"]),
            ("**a** and **b**\n****\n**open", &[]),
        ] {
            assert_eq!(headings(text), wanted, "{text:?}");
        }
    }
}
