//! The table of command lines and the decision about each.

use super::fixture::{command, policy, word};

/// `commands.txt`, without comments and blank lines.
const TABLE: &str = include_str!("commands.txt");

#[test]
fn every_command_in_the_table_gets_its_decision() {
    let modes = ["auto", "ask", "plan"].map(policy);
    let mut wrong = Vec::new();
    let mut rows = 0;
    for row in TABLE
        .lines()
        .filter(|row| !row.is_empty() && !row.starts_with('#'))
    {
        let mut parts = row.splitn(4, ' ').map(str::trim);
        let expected: [&str; 3] = std::array::from_fn(|_| parts.next().unwrap());
        let text = parts.next().unwrap().replace("\\n", "\n");
        let decided = [0, 1, 2].map(|mode| {
            let decision = command(&modes[mode], &text);
            (word(decision.verdict), decision.reason)
        });
        rows += 1;
        if [0, 1, 2].map(|mode| decided[mode].0) != expected {
            wrong.push(format!("{row}\n    {decided:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {rows} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(rows * 3 >= 300, "the table is too short: {rows} rows");
}

#[test]
fn the_built_in_rules_match_their_own_examples() {
    let policy = policy("auto");
    let faults: Vec<String> = policy
        .rules()
        .filter_map(|rule| rule.check_examples().err())
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A question shows first the simple commands that caused it, if the line has many.
#[test]
fn a_question_knows_which_simple_command_caused_it() {
    let mut lines: Vec<String> = (0..62).map(|at| format!("echo {at}")).collect();
    lines[32] = "curl https://evil.example/x".into();
    let decision = command(&policy("auto"), &lines.join("\n"));
    assert_eq!(decision.flagged(), ["curl https://evil.example/x"]);
}
