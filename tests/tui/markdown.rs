//! Markdown on the screen: how it looks, and the cost of streaming it.

use std::borrow::Cow;

use proptest::prelude::*;
use ratatui_core::style::Style;
use tiller::app::tui::text::RenderContext;
use tiller::app::tui::text::markdown::MarkdownRows;
use tiller::app::tui::text::{HighlightCache, Row, width};
use tiller::app::tui::theme::{ColorDepth, Theme};

fn theme() -> Theme {
    Theme::load("dark", ColorDepth::TrueColor).expect("a built-in theme")
}

fn context(theme: &Theme, columns: usize) -> RenderContext<'_> {
    RenderContext {
        theme,
        base: Style::new(),
        columns,
        margin: 1,
        rail: None,
        cell: 0,
    }
}

fn all(rows: &MarkdownRows) -> Vec<Row> {
    let rows = rows.rows();
    let all = (0..rows.count()).filter_map(|at| rows.get(at));
    all.map(Cow::into_owned).collect()
}

fn whole(source: &str, columns: usize) -> Vec<Row> {
    let theme = theme();
    let mut rows = MarkdownRows::default();
    rows.update(
        &context(&theme, columns),
        source,
        false,
        &mut HighlightCache::default(),
    );
    all(&rows)
}

/// Streams `source` in pieces that end at `cuts`, then closes it twice: at the end of the text and
/// at the end of the message.
fn streamed(source: &str, cuts: &[usize], columns: usize) -> Vec<Row> {
    let theme = theme();
    let mut highlights = HighlightCache::default();
    let mut rows = MarkdownRows::default();
    for &cut in cuts {
        let cut = source.floor_char_boundary(cut);
        rows.update(
            &context(&theme, columns),
            &source[..cut],
            true,
            &mut highlights,
        );
    }
    for live in [true, false, false] {
        rows.update(&context(&theme, columns), source, live, &mut highlights);
    }
    all(&rows)
}

fn text(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        out.push_str(row.text.trim_end());
        out.push('\n');
    }
    out
}

const SAMPLE: &str = "\
# A heading

Some *emphasis*, **strong words**, `code`, ~~gone~~ and a [link](https://example.org/a).
A second line of the same paragraph.\\
A hard break.

## Lists

- one
- two with a long text that has to be wrapped onto the next row of the screen
  - nested
    1. deep
    2. deeper
- [x] done
- [ ] open

7. seven
8. eight

   with a paragraph

> quoted text that is long enough to be wrapped onto a second row
>
> > twice

```rust
fn main() {
\tprintln!(\"hello\");
}
```

| name | amount | note |
|:-----|-------:|:----:|
| a    | 1      | x    |
| bcd  | 200    | 日本 |

---

<details>html</details>

The formula $a_1 + b_2$ and https://example.org stay. \u{1b}[31mNo escape.
";

#[test]
fn everything_at_60_columns() {
    insta::assert_snapshot!(text(&whole(SAMPLE, 60)));
}

#[test]
fn everything_at_24_columns() {
    insta::assert_snapshot!(text(&whole(SAMPLE, 24)));
}

#[test]
fn wide_tables_wrap_and_then_become_records() {
    let table = "| Option | What it does | Default |\n|---|---|---|\n\
        | `--model` | Chooses the model by name, or by a part of its name | none |\n\
        | `--tools` | The tools the model may use | all |\n";
    let pictures =
        [60, 40, 20, 9].map(|columns| format!("{columns}\n{}", text(&whole(table, columns))));
    insta::assert_snapshot!(pictures.join("\n"));
}

#[test]
fn streaming_ends_with_the_same_picture() {
    let expected = whole(SAMPLE, 40);
    for step in [1, 2, 3, 7, 64] {
        let cuts: Vec<_> = (0..SAMPLE.len()).step_by(step).collect();
        assert_eq!(streamed(SAMPLE, &cuts, 40), expected, "in steps of {step}");
    }
}

#[test]
fn each_streamed_picture_is_that_of_the_text_so_far() {
    let theme = theme();
    let mut highlights = HighlightCache::default();
    let mut rows = MarkdownRows::default();
    for (end, _) in SAMPLE.char_indices() {
        let so_far = &SAMPLE[..end];
        rows.update(&context(&theme, 40), so_far, true, &mut highlights);
        // A fence that is still being typed doesn't show as code.
        if !so_far.ends_with('`') {
            let seen = text(&all(&rows));
            // The possible start of a table or fence waits for the next line.
            let line = so_far.rfind('\n').map_or(0, |at| at + 1);
            let before = so_far[..line.saturating_sub(1)].rfind('\n');
            let ends = [end, line, before.map_or(0, |at| at + 1)];
            let shown = ends.map(|end| text(&whole(&so_far[..end], 40)));
            assert!(shown.contains(&seen), "after {so_far:?}");
        }
    }
}

/// A paragraph never turns into a table or fence when the next line arrives.
#[test]
fn partial_blocks_do_not_flash() {
    let theme = theme();
    for (source, never) in [
        (
            "Text.\n\n| Name | Type |\n|------|------|\n| a | b |\n",
            vec!["| Name", "|--", "| a"],
        ),
        ("| Name |\n|---|\n| a |\n", vec!["| Name", "|--"]),
        (
            "Text.\n\n```rust\nfn a() {}\n```\n",
            vec![" ru ", " rus ", "``"],
        ),
    ] {
        let mut rows = MarkdownRows::default();
        let mut highlights = HighlightCache::default();
        for (end, _) in source.char_indices() {
            rows.update(&context(&theme, 40), &source[..end], true, &mut highlights);
            let seen = text(&all(&rows)).replace('\n', " \n");
            for never in &never {
                assert!(!seen.contains(never), "{seen} after {:?}", &source[..end]);
            }
        }
    }
}

/// A path in a table stays whole while another column can shrink.
#[test]
fn table_columns_fit_their_longest_word() {
    let source = "| Path | Notes |\n|---|---|\n| /api/v1/sessions/{id} | a note that has many words and more |\n";
    for columns in [40, 50, 60] {
        let shown = text(&whole(source, columns));
        assert!(shown.contains("/api/v1/sessions/{id}"), "{shown}");
    }
}

/// A wrapped line of code must not look like a new line.
#[test]
fn code_wraps_at_spaces_with_a_mark() {
    let source = "```\n    let screen = somewhere_else(columns, rows);\nshort\n```\n";
    let shown = text(&whole(source, 36));
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    assert_eq!(
        lines[..3],
        [
            "       let screen =",
            " ↪     somewhere_else(columns,",
            " ↪     rows);"
        ]
    );
}

#[test]
fn a_line_of_code_shows_unless_it_may_be_a_fence() {
    let theme = theme();
    for (line, shown) in [("   ``", false), ("    ``", true), ("~~", true)] {
        let source = format!("```\n{line}");
        let mut rows = MarkdownRows::default();
        rows.update(
            &context(&theme, 40),
            &source,
            true,
            &mut HighlightCache::default(),
        );
        assert_eq!(text(&all(&rows)).contains(line), shown, "{line:?}");
    }
}

/// A lone CR ends a line of Markdown. The end of the text corrects the picture.
#[test]
fn old_line_endings_give_the_same_picture() {
    for source in [
        "* a\n\u{e}\r---\n",
        "    indented\n\u{202e}\r```rs\n",
        "```rs\nab\r```\ncd\n\nmore\n",
        "a\r\nb\r\n\r\nc\r",
    ] {
        let cuts: Vec<_> = (0..source.len())
            .filter(|&at| source.is_char_boundary(at))
            .collect();
        assert_eq!(streamed(source, &cuts, 20), whole(source, 20), "{source:?}");
    }
}

#[test]
fn link_definitions_apply_to_earlier_text() {
    let source = "See [the page][p].\n\nMore.\n\n[p]: https://example.org\n";
    let cuts: Vec<_> = (0..source.len()).collect();
    assert_eq!(streamed(source, &cuts, 60), whole(source, 60));
    assert!(text(&whole(source, 60)).contains("the page (https://example.org)"));
}

fn megabyte(unit: impl Fn(usize) -> String) -> String {
    repeated(1_000_000, unit)
}

fn repeated(len: usize, unit: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    let mut index = 0;
    while out.len() < len {
        out.push_str(&unit(index));
        index += 1;
    }
    out
}

/// Closed blocks are never written again. Only the open block is rewritten, within a limit.
#[test]
fn a_megabyte_is_written_once() {
    let cases = [
        (
            "paragraphs",
            megabyte(|n| format!("Paragraph {n} with some *words* in it.\n\n")),
        ),
        (
            "one code block",
            format!("```rust\n{}", megabyte(|n| format!("let x{n} = {n};\n"))),
        ),
        (
            "one list",
            megabyte(|n| format!("- item {n} with a few words\n")),
        ),
        (
            "one ordered list",
            repeated(200_000, |n| format!("{}. item with a few words\n", n + 1)),
        ),
        (
            "one table",
            format!(
                "| a | b |\n|---|---|\n{}",
                megabyte(|n| format!("| {n} | words and words |\n"))
            ),
        ),
        ("one paragraph", megabyte(|n| format!("word{n} "))),
        (
            "one paragraph of lines",
            repeated(200_000, |n| format!("a line with number {n}\n")),
        ),
        (
            "one paragraph behind code",
            format!("```\ncode\n```\n{}", megabyte(|n| format!("word{n} "))),
        ),
        (
            "one line of code",
            format!("```\n{}\n```\n", megabyte(|n| format!("word{n} "))),
        ),
        (
            "one info string",
            format!(
                "```rust {}\n{}",
                megabyte(|n| format!("word{n} ")),
                repeated(200_000, |n| format!("let x{n} = {n};\n"))
            ),
        ),
        ("one word", repeated(200_000, |_| "x".to_owned())),
        ("one wide word", repeated(200_000, |_| "語".to_owned())),
        (
            "one quote",
            repeated(200_000, |n| format!("> quoted {n}\n")),
        ),
        (
            "one item",
            format!(
                "- start\n{}",
                repeated(200_000, |n| format!("  goes on {n}\n"))
            ),
        ),
    ];
    let theme = theme();
    for (name, source) in cases {
        let mut highlights = HighlightCache::default();
        let mut rows = MarkdownRows::default();
        let step = 8192;
        let mut updates = 0;
        let mut start = 0;
        let first = source.find('\n').map_or(step, |at| at + 1);
        for end in (first..source.len()).step_by(step) {
            let end = source.floor_char_boundary(end);
            let before = rows.written();
            rows.update(&context(&theme, 80), &source[..end], true, &mut highlights);
            let written = rows.written() - before;
            let most = 2 * (end - start) + 48_000;
            assert!(written <= most, "{name}: {written} at once");
            start = end;
            updates += 1;
        }
        let written = rows.written();
        assert!(
            written <= source.len() + updates * 48_000,
            "{name}: {written}"
        );
        rows.update(&context(&theme, 80), &source, false, &mut highlights);
        assert_eq!(rows.rows().count(), whole(&source, 80).len(), "{name}");
    }
}

/// Rows far from the end are packed, at different times for a text that arrives at once.
#[test]
fn a_long_text_looks_the_same_whole_and_streamed() {
    let repeated = |text: &str, bytes: usize| text.repeat(bytes / text.len());
    let code = format!("```rust\n{}```\nend\n", repeated("let a = 1;\n", 150_000));
    let list = format!("{}\nend\n", repeated("- an item\n", 150_000));
    let defined = format!("[a]\n\n{}\n[a]: /url\n", repeated("A text.\n\n", 150_000));
    let lone = format!("{}a\rb\n", repeated("A text.\n\n", 150_000));
    for source in [repeated(SAMPLE, 150_000), code, list, defined, lone] {
        let cuts: Vec<_> = (0..source.len()).step_by(7_001).collect();
        let (whole, streamed) = (whole(&source, 60), streamed(&source, &cuts, 60));
        let first = whole
            .iter()
            .zip(&streamed)
            .position(|(one, other)| one != other);
        assert_eq!(first, None, "{:?}", &source[..40]);
        assert_eq!(whole.len(), streamed.len(), "{:?}", &source[..40]);
    }
}

pub fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z *_`~\\[\\]()!<>|#-]{0,40}\n",
        "#{1,4} [a-z ]{1,12}\n",
        "[-*+] [a-z ]{0,20}\n",
        "  [-*+] [a-z ]{0,20}\n",
        "[0-9]{1,3}[.)] [a-z ]{0,20}\n",
        "> [a-z ]{0,20}\n",
        "\\| [a-z]{1,5} \\| [a-z]{0,5} \\|\n",
        Just("|---|:-:|\n".to_owned()),
        Just("\n".to_owned()),
        Just("```rs\n".to_owned()),
        Just("~~~\n".to_owned()),
        Just("  ```\n".to_owned()),
        Just("     ```\n".to_owned()),
        Just("````md\n```\n".to_owned()),
        Just("`````\n".to_owned()),
        Just("~~~ py a `title`\n".to_owned()),
        Just("    indented\n".to_owned()),
        Just("---\n".to_owned()),
        Just("<div>\n".to_owned()),
        Just("[a]: /url\n".to_owned()),
        Just("日本語 e\u{301} 👩\u{200d}👧\n".to_owned()),
        "[a-z\u{0}-\u{1f}\u{202e}\t]{0,10}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_split_ends_with_the_same_picture(
        blocks in proptest::collection::vec(block(), 0..14),
        step in 1_usize..9,
        columns in 4_usize..50,
    ) {
        let source = blocks.concat();
        let cuts: Vec<_> = (0..source.len()).step_by(step).collect();
        let expected = whole(&source, columns);
        prop_assert_eq!(text(&streamed(&source, &cuts, columns)), text(&expected));
        prop_assert_eq!(streamed(&source, &cuts, columns), expected);
    }

    #[test]
    fn rows_fit_the_width_and_hold_no_control_characters(
        blocks in proptest::collection::vec(block(), 0..14),
        columns in 8_usize..50,
    ) {
        for row in whole(&blocks.concat(), columns) {
            prop_assert!(width(&row.text) <= columns, "{:?}", row.text);
            prop_assert!(!row.text.chars().any(char::is_control), "{:?}", row.text);
        }
    }

    #[test]
    fn rows_follow_the_order_of_their_source(
        blocks in proptest::collection::vec(block(), 0..14),
        columns in 4_usize..50,
    ) {
        let source = blocks.concat();
        let mut before = 0;
        for row in whole(&source, columns) {
            prop_assert!(before <= row.source.start, "{row:?}");
            prop_assert!(row.source.start <= row.source.end, "{row:?}");
            prop_assert!(row.source.end as usize <= source.len(), "{row:?}");
            prop_assert!(row.content.end as usize <= row.text.len(), "{row:?}");
            before = row.source.start;
        }
    }
}

/// In a theme without a code background, a line on the left marks where code starts and ends.
#[test]
fn code_without_a_background_has_an_edge() {
    let source =
        "Text.\n\n- item\n\n  ```\n  let screen = somewhere(columns, rows);\n\n  end\n  ```\n";
    for (name, depth, has_edge) in [
        ("dark", ColorDepth::TrueColor, false),
        ("ansi", ColorDepth::Ansi16, true),
        ("dark", ColorDepth::None, true),
    ] {
        let theme = Theme::load(name, depth).unwrap();
        let mut rows = MarkdownRows::default();
        let mut highlights = HighlightCache::default();
        rows.update(&context(&theme, 34), source, false, &mut highlights);
        let all = all(&rows);
        let edges: Vec<&str> = all
            .iter()
            .filter(|row| row.code.is_some())
            .map(|row| &*row.text)
            .collect();
        let expected = [
            "   │  let screen = ",
            "   │↪ somewhere(columns, rows);",
            "   │  ",
            "   │  end",
        ];
        let expected = expected.map(|row| {
            if has_edge {
                row.to_owned()
            } else {
                row.replace('│', "")
            }
        });
        assert_eq!(edges, expected, "{name} {depth:?}");
    }
}

#[test]
fn footnotes_are_readable() {
    let source = "Energy[^1], see [^long name].[^2]\n\n[^1]: In **joule**,\n    as always.\n[^long name]: A book.\n\nMore.\n\n[^2]:\n";
    let expected = " Energy¹, see [long name].²\n\n ¹ In joule, as always.\n\n [long name] A book.\n\n More.\n\n ²\n";
    assert_eq!(text(&whole(source, 60)), expected);
    let cuts: Vec<_> = (0..source.len()).collect();
    assert_eq!(streamed(source, &cuts, 60), whole(source, 60));
}

/// Formulas, makefiles, patterns, JSON paths and prices are shown as the model wrote them.
#[test]
fn dollars_and_escaped_brackets_are_unchanged() {
    for source in [
        "$(CC)/$(CFLAGS) and ^foo$|^bar$ and US$/EUR$",
        "$.a.$.b, jq '.[] | $x', $1,000, $PATH:$HOME, $a_1 + b_2$, $E = mc^2$",
        r"$\frac{a}{b}$, $$\alpha \le x^2$$, kill $$; s/a$$x$$y/",
        r"It is \( O(n \log n) \), with \[ x_1 = \sqrt{2} \] and file\(s\).",
    ] {
        assert_eq!(text(&whole(source, 90)), format!(" {source}\n"));
        let cuts: Vec<_> = (0..source.len()).collect();
        assert_eq!(streamed(source, &cuts, 90), whole(source, 90), "{source}");
    }
}

/// Large blocks are closed piece by piece while they stream. At each step they look the same as
/// when rendered whole.
#[test]
fn a_large_block_looks_right_at_each_step() {
    let table = |indent: &str, count: usize| {
        let rows = (0..count).map(|at| format!("{indent}| row {at} | value `{at}` of *many* |\n"));
        format!("{indent}| name | value |\n{indent}|---|---:|\n") + &rows.collect::<String>()
    };
    let code = |indent: &str| {
        let lines =
            (0..400).map(|at| format!("{indent}# *star* and _under_ {at}\n{indent}x = {at}\n"));
        format!("{indent}```python\n") + &lines.collect::<String>() + indent + "```\n"
    };
    for (name, source) in [
        ("a table", format!("Text.\n\n{}\nMore.\n", table("", 500))),
        (
            "a table of short rows",
            format!("{}\nMore.\n", table("", 300).replace("of *many*", "")),
        ),
        (
            "code in an item",
            format!(
                "1. One.\n2. Create this:\n\n{}\n   Then run it.\n\n3. Three.\n",
                code("   ")
            ),
        ),
        (
            "code in an item of an item",
            format!("- a\n  - b\n    - c:\n{}- d\n", code("      ")),
        ),
        (
            "code in a quote",
            format!("> Quoted:\n{}> more\n\nText.\n", code("> ")),
        ),
        (
            "code in a quote in an item",
            format!("10. Ten\n    > Quoted:\n{}11. Eleven\n", code("    > ")),
        ),
        (
            "code that begins an item",
            format!("- {}", code("  ").trim_start()),
        ),
        (
            "a table in an item",
            format!("1. See:\n\n{}\n2. Two.\n", table("   ", 400)),
        ),
    ] {
        for columns in [80, 14] {
            let theme = theme();
            let mut highlights = HighlightCache::default();
            let mut rows = MarkdownRows::default();
            let ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at + 1).collect();
            for end in ends
                .iter()
                .copied()
                .skip(3)
                .step_by(23)
                .chain([source.len()])
            {
                let so_far = &source[..end];
                rows.update(&context(&theme, columns), so_far, true, &mut highlights);
                let (found, expected) = (text(&all(&rows)), text(&whole(so_far, columns)));
                if found != expected {
                    let pairs = found.lines().zip(expected.lines());
                    let row = pairs.clone().position(|(one, other)| one != other);
                    let row = row.unwrap_or(pairs.count());
                    let from = row.saturating_sub(3);
                    let around = |text: &str| {
                        let rows: Vec<&str> = text.lines().skip(from).take(8).collect();
                        rows.join("\n")
                    };
                    panic!(
                        "{name} at {end}, row {row} of {columns} columns:\n{}\n---\n{}",
                        around(&found),
                        around(&expected)
                    );
                }
            }
            assert_eq!(
                streamed(&source, &[9_000, 20_000], columns),
                whole(&source, columns)
            );
        }
    }
}

/// Only the outermost nested containers show. The inner ones would take all the space, and each row
/// would cost as much as the depth.
#[test]
fn deeply_nested_containers_are_limited() {
    let source = "> ".repeat(2_000) + "x\n" + &"a\\\n".repeat(20_000);
    let rows = text(&whole(&source, 400));
    assert!(rows.lines().count() >= 20_000);
    assert!(rows.lines().all(|row| row.matches('▎').count() == 16));
    let items = (0..100).map(|depth| "  ".repeat(depth) + &format!("- item {depth}\n"));
    let items: String = items.collect();
    let rows = text(&whole(&items, 400));
    assert!(
        rows.contains("• item 0\n") && rows.contains("item 99\n"),
        "{rows}"
    );
}

/// Searching the end of each of many tags would take long, so they show as plain text.
#[test]
fn deeply_nested_tags_are_plain_text() {
    let deep = "<b>x".repeat(10_000) + &"</b>".repeat(10_000);
    assert!(text(&whole(&deep, 80)).starts_with(" <b>x<b>x"));
    let far = format!("<b>{} end</b>", "x ".repeat(2_000));
    assert!(text(&whole(&far, 80)).starts_with(" <b>x x"));
    let nested = "<b>".repeat(9) + "x" + &"</b>".repeat(9);
    assert_eq!(text(&whole(&nested, 80)), " <b>x</b>\n");
}

/// Constructs beyond plain Markdown that models often write.
#[test]
fn tags_and_nested_lists_are_rendered() {
    for (source, expected) in [
        (
            "<kbd>Ctrl</kbd>+<b>C</b>, H<sub>2</sub>O, x<sup>2</sup>, [<sup>a_b</sup>], Vec<u>, <b> a.",
            " Ctrl+C, H_2O, x^2, [a_b], Vec<u>, <b> a.\n",
        ),
        (
            "10<sup>1.5</sup>, A<sub>b</sub>, x<sup>[1]</sup>, A<sup>®</sup>.\n\n- <b>a\n- b</b>\n\n|a|b|\n|-|-|\n|<b>c|d</b>|\n",
            " 10^1.5, A_b, x[1], A®.\n\n • <b>a\n • b</b>\n\n a    │ b\n ─────┼──────\n <b>c │ d</b>\n",
        ),
        (
            "1. One:\n\n   - a\n   - b\n\n2. Two.\n\n3. Three:\n   - c\n4. Four.\n",
            " 1. One:\n\n    ◦ a\n    ◦ b\n\n 2. Two.\n\n 3. Three:\n\n    ◦ c\n\n 4. Four.\n",
        ),
    ] {
        assert_eq!(text(&whole(source, 80)), expected, "{source}");
        let cuts: Vec<_> = (0..source.len()).collect();
        assert_eq!(streamed(source, &cuts, 80), whole(source, 80), "{source}");
    }
}
