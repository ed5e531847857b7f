//! Diffs side by side, where there is room for them.

use tiller::agent::tool::DiffDetails;
use tiller::agent::{Details, ToolStatus};
use tiller::app::manners::DiffLayout;
use tiller::app::tui::text::width;
use tiller::app::tui::transcript::Unit;

use super::transcript_support::{Stage, picture};

fn stage(columns: u16, layout: DiffLayout) -> Stage {
    stage_of(columns, layout, LONG)
}

const LONG: &str = "// the end, which is so long that it cannot stand in one row of a half of this screen, and goes on";

/// A diff whose last line is `last`.
fn stage_of(columns: u16, layout: DiffLayout, last: &str) -> Stage {
    let details = Details::Diff(DiffDetails {
        path: "src/auth.rs".to_owned(),
        diff: format!(
            " 39 impl Session {{\n-40     pub fn new(token: &str) -> Self {{\n-41         let unused = 1;\n+40     /// Starts one.\n+41     pub fn new(token: String, user: User) -> Self {{\n 42         Self {{ token }}\n    ...\n+90 {last}"
        ),
        first_changed_line: Some(40),
        added: 3,
        removed: 2,
        old_lines: 89,
        new_lines: 90,
        files: Vec::new(),
        ..DiffDetails::default()
    });
    let mut stage = Stage::new(columns, 30);
    stage.transcript.set_diff_layout(layout);
    stage.tool_start("a", "edit", details.clone());
    stage.tool_end("a", "edit", ToolStatus::Ok, "", details, None);
    stage
}

/// The rows of the diff, with single blanks.
fn rows(stage: &mut Stage) -> Vec<String> {
    let text = stage.text();
    let rows = text.lines().filter(|row| row.contains("│"));
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn a_wide_cell_has_what_was_beside_what_is() {
    let expected = [
        "│ 39 impl Session { │ 39 impl Session {",
        "│ │ 40 + /// Starts one.",
        "│ 40 − pub fn new(token: &str) -> Self { │ 41 + pub fn new(token: String, user: User) -> Self {",
        "│ 41 − let unused = 1; │",
        "│ 42 Self { token } │ 42 Self { token }",
        "│ ⋯ │ ⋯",
        "│ │ 90 + // the end, which is so long that it cannot stand in one row of",
        "│ │ ↪ a half of this screen, and goes on",
    ];
    // Of its own accord it stands so where no line has to be wrapped.
    let short = rows(&mut stage_of(150, DiffLayout::Auto, "// the end"));
    assert_eq!(short[..6], expected[..6]);
    assert_eq!(short[6], "│ │ 90 + // the end");
    assert_eq!(rows(&mut stage(150, DiffLayout::Split)), expected);
    for (columns, layout) in [
        (130, DiffLayout::Auto),
        (150, DiffLayout::Auto),
        (200, DiffLayout::Unified),
        (70, DiffLayout::Split),
    ] {
        let rows = rows(&mut stage(columns, layout));
        assert_eq!(
            rows[1], "│ 40 − pub fn new(token: &str) -> Self {",
            "{columns}"
        );
    }
}

/// What is copied is one half: the one that the selection was begun in.
#[test]
fn a_half_is_copied_alone() {
    let new = "    pub fn new(token: String, user: User) -> Self {";
    let cases = [
        (
            "impl Session",
            0,
            "Self {",
            0,
            "impl Session {\n    pub fn new(token: &str) -> Self {",
        ),
        (
            "/// Starts",
            0,
            "user: User) -> Self {",
            0,
            &format!("/// Starts one.\n{new}"),
        ),
        (
            "String",
            0,
            "Self { token }",
            1,
            "String, user: User) -> Self {\n        Self { token }",
        ),
        (
            "let unused",
            0,
            "Self { token }",
            0,
            "let unused = 1;\n        Self { token }",
        ),
        (
            "// the end",
            0,
            "goes on",
            0,
            "// the end, which is so long that it cannot stand in one row of a half of this screen, and goes on",
        ),
    ];
    for (from, from_nth, to, to_nth, expected) in cases {
        let mut stage = stage(150, DiffLayout::Split);
        let buffer = stage.draw().1;
        let picture = picture(&buffer);
        let find = |text: &str, nth: usize| {
            let found = picture.lines().enumerate().flat_map(|(row, line)| {
                let found = line.match_indices(text);
                found.map(move |(at, _)| (width(&line[..at]) as u16, row as u16))
            });
            found.collect::<Vec<_>>()[nth]
        };
        let from = find(from, from_nth);
        let end = find(to, to_nth);
        let begin = stage.transcript.spot(from.0, from.1);
        stage.transcript.select(begin, Unit::Character);
        let end = stage.transcript.spot(end.0 + width(to) as u16 - 1, end.1);
        stage.transcript.select_to(end);
        stage.transcript.copy_selection();
        let copied = stage.draw_once().0.copied.unwrap_or_default().text;
        assert_eq!(copied, expected, "{picture}");
    }
    // A double click takes the word that it is on.
    let mut stage = stage(150, DiffLayout::Auto);
    let text = stage.text();
    let row = text
        .lines()
        .position(|line| line.contains("user: User"))
        .unwrap();
    let line = text.lines().nth(row).unwrap();
    let column = width(&line[..line.find("User").unwrap()]) as u16;
    let spot = stage.transcript.spot(column, row as u16);
    stage.transcript.select(spot, Unit::Word);
    stage.transcript.copy_selection();
    assert_eq!(stage.draw_once().0.copied.unwrap().text, "User");
}
