//! Whether a command line may run a command of a given form. Looks at no rules.

use super::shell::read;

/// Stands for unknown text in the words of a command.
const GAP: char = '…';

/// Returns `true` if a simple command in `line` matches `pattern`, where `*` is any text. Unknown parts of
/// a command can be anything, and so can a line that tiller can't parse.
pub fn may_run(line: &str, pattern: &str) -> bool {
    let line = read(line);
    if line.commands.is_empty() && !line.doubts.is_empty() {
        return true;
    }
    // Words have no quotes.
    let pattern: Vec<char> = pattern.chars().filter(|c| !"'\"".contains(*c)).collect();
    line.commands.iter().any(|command| {
        let words: Vec<String> = command.words.iter().map(ToString::to_string).collect();
        meets(&pattern, &words.join(" "))
    })
}

/// Whether some text matches both `pattern`, with `*` for any text, and `text`, with gaps.
fn meets(pattern: &[char], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // For each length of the text: whether the pattern so far can cover it.
    let mut covers = vec![true];
    for &c in &text {
        covers.push(covers[covers.len() - 1] && c == GAP);
    }
    for &wanted in pattern {
        let before = covers.clone();
        covers[0] = before[0] && wanted == '*';
        for (at, &c) in text.iter().enumerate() {
            covers[at + 1] = if wanted == '*' || c == GAP {
                before[at + 1] || covers[at]
            } else {
                before[at] && wanted == c
            };
        }
    }
    covers[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_of_a_line_is_tried_and_unknown_parts_may_be_anything() {
        for (line, pattern, expected) in [
            ("git push", "git push", true),
            ("git push origin", "git push", false),
            ("git push origin", "git push *", true),
            ("git pushd x", "git push *", false),
            ("echo x >> RAN; echo out1", "echo *", true),
            ("echo x; echo out1", "echo x; echo out1", false),
            ("cd a && A=1 git push -f | cat", "git push *", true),
            ("echo $(git push -f)", "git push *", true),
            ("sh -c 'git push -f'", "git push *", true),
            ("git $ACTION origin", "git push *", true),
            ("git commit -m 'a b'", "git commit -m \"a *\"", true),
            ("npm run test", "* test", true),
            ("npm run tests", "* test", false),
            ("$TOOL push", "git push *", true),
            ("ls 'a", "git push *", true),
            ("ls", "git push *", false),
        ] {
            assert_eq!(may_run(line, pattern), expected, "{line} {pattern}");
        }
    }
}
