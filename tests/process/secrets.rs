//! Secrets in command output never appear in the live view, the result or the file, however the
//! output was split into reads.

use std::fs;

use tiller::llm::Secret;

use super::bash_tool::BashTool;

const TOKEN: &str = "tok-5f2c9e7ab1d04386";

fn bash() -> BashTool {
    let bash = BashTool::new();
    bash.redactor.add_named("LAB_TOKEN", &Secret::new(TOKEN));
    bash
}

#[tokio::test]
async fn a_secret_that_arrives_in_two_pieces_is_never_shown() {
    let bash = bash();
    let (first, second) = TOKEN.split_at(9);
    // Two of them, because reopening one could find the first writer still there, and then its end
    // of file.
    let fifo = |name: &str| bash.folder.path().join(name);
    let mut call = bash.start(&format!(
        "mkfifo one two; printf 'is {first}'; read < one; printf '{second} and\\033[31m{first}\\033[0m{second}'; \
         read < two; echo"
    ));
    let details = call.wait_for_output("is ").await;
    assert_eq!(details.output, "is ");
    fs::write(fifo("one"), "\n").unwrap();
    let details = call.wait_for_output("and").await;
    let clean = "is [redacted: LAB_TOKEN] and[redacted: LAB_TOKEN]";
    assert!(clean.starts_with(&details.output), "{}", details.output);
    fs::write(fifo("two"), "\n").unwrap();
    let outcome = call.end().await;
    assert_eq!(outcome.text, clean);
    assert_eq!(outcome.details.output, clean);
}

#[tokio::test]
async fn a_long_output_leaks_no_secret_in_its_file_or_at_its_cut() {
    let bash = bash();
    // Enough secrets that one lies across each border: of reads, of the excerpt, of the file.
    let outcome = bash
        .run(&format!(
            "for i in $(seq 20000); do printf '%s.' {TOKEN}; done"
        ))
        .await;
    let file = fs::read_to_string(bash.spill_file()).unwrap();
    assert_eq!(file, "[redacted: LAB_TOKEN].".repeat(20_000));
    for piece in ["tok-", "d04386", "5f2c9e"] {
        assert!(!outcome.text.contains(piece), "{piece}");
    }
}
