//! The request for a summary: one message after the conversation.

const QUESTION: &str = "[The conversation is about to be shortened: everything before its last messages \
    will be replaced by your answer to this message. Do not continue the task and call no tools. Answer \
    with a summary that is enough to continue without the original, under these headings, in plain \
    Markdown:

## Task
What the user wants. Quote the user's own requests, corrections and open tasks \
    word for word.
## Constraints and decisions
Key constraints, preferences and decisions, with their \
    reasons.
## Done
What is finished, and how it was checked.
## In progress
What you were working on \
    just now, and its exact state.
## Files
Files read, written and edited that still matter, and what \
    is in them.
## Next steps
What to do next, in order.

Keep exact names, paths, commands, numbers and \
    error messages. If the conversation contains an earlier summary, carry over what is still true.]";

/// The request (F9), or the user's `own` wording (F11), with what the summary should focus on.
pub(crate) fn question(own: &str, focus: Option<&str>) -> String {
    let question = if own.trim().is_empty() { QUESTION } else { own };
    match focus.map(str::trim).filter(|focus| !focus.is_empty()) {
        Some(focus) => {
            format!("{question}\n\nThe user asks you to pay special attention to: {focus}")
        }
        None => question.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_asks_for_what_must_be_kept() {
        for word in [
            "Done",
            "In progress",
            "Files",
            "Next steps",
            "Constraints and decisions",
        ] {
            assert!(question("", None).contains(&format!("## {word}")), "{word}");
        }
        assert!(question("", Some("the parser")).ends_with("attention to: the parser"));
        assert_eq!(question(" ", Some(" ")), QUESTION);
        assert_eq!(question("Sum up.", None), "Sum up.");
    }
}
