//! Secrets in the output of commands: gone from the live view, the result and the file, however the
//! output was cut on its way.

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
async fn a_secret_that_comes_in_two_pieces_is_shown_at_no_time() {
    let bash = bash();
    let (first, second) = TOKEN.split_at(9);
    // Two: who opens one again may find the first writer still there, and its end.
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
async fn a_long_output_has_none_in_its_file_nor_at_its_cut() {
    let bash = bash();
    // So many that one of them stands across each border: of reads, of the excerpt, of the file.
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
