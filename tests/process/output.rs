//! A command's output is cleaned, cut, shown while it arrives, and saved completely in a file.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use tiller::agent::ToolSettings;

use super::bash_tool::BashTool;
use crate::support::marked::MarkedProcesses;

/// What the model gets when a program writes these bytes.
async fn cleaned(bytes: &[u8]) -> String {
    let bash = BashTool::new();
    fs::write(bash.folder.path().join("raw"), bytes).unwrap();
    bash.run("cat raw").await.text
}

#[tokio::test]
async fn control_sequences_are_removed_from_output() {
    for (raw, expected) in [
        (&b"plain\n\ttab\n"[..], "plain\n\ttab"),
        (b"\x1b[1;31mred\x1b[0m \x1b[38;5;3mx\x1b[m", "red x"),
        (
            b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b",
            "alinkb",
        ),
        (b"\x1bPq#0;2\n~~\x1b\\after", "after"),
        (b"\x1b(Bx\x1b7y\x1bcz", "xyz"),
        // Eight-bit forms aren't in use, so they're shown.
        ("\u{9b}31mx".as_bytes(), "\\x9b31mx"),
        // An unterminated string swallows its line, but no more.
        (b"\x1b]0;never ends\nnext\n", "\nnext"),
        (b"\x1b]0;cut \x1b[1mnew\n", "new"),
        // An invalid sequence.
        (b"a\x1b[12\nb", "a\nb"),
        (b"a\x1b", "a"),
        (b"dos\r\nlines\r\r\n", "dos\nlines"),
        (b"10%\r50%\r100%\ndone\n", "100%\ndone"),
        (b"10%\r", "10%"),
        (b"working\r\x1b[Kdone\n", "done"),
        (b"working\r\x1b[K\nx", "\nx"),
        (b"working\x1b[2K\x1b[1Gdone\n", "done"),
        (b"longer line\rshort\n", "short"),
        (
            "bell\x07 nul\0 back\x08 del\x7f nel\u{85}".as_bytes(),
            "bell^G nul^@ back^H del^? nel\\x85",
        ),
        (b"page\x0cbreak", "page^Lbreak"),
        ("grüße 👩‍👩‍👧 漢字\n".as_bytes(), "grüße 👩‍👩‍👧 漢字"),
        (b"a.txt\0b.txt\0", "a.txt^@b.txt^@"),
        (b"caf\xe9 au lait\n", "caf\u{fffd} au lait"),
        (b"some text, cut \xe6\xbc", "some text, cut \u{fffd}"),
        (b"some text, \xe6\xbc\n", "some text, \u{fffd}"),
    ] {
        assert_eq!(cleaned(raw).await, expected, "{}", raw.escape_ascii());
    }
}

#[tokio::test]
async fn binary_data_is_replaced_by_a_note_and_text_around_it_stays() {
    let mut state = 1u32;
    let noise = (0..50_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let noise: Vec<u8> = noise.collect();
    let short = cleaned(&[b"start\n", &noise[..], b"\nend\n"].concat()).await;
    assert!(short.starts_with("start\n[binary data, "), "{short:?}");
    let (_, rest) = short.split_once("bytes not shown]\n").unwrap();
    assert!(rest.starts_with("end\n[full output: "), "{short:?}");
    let long = "a line of plain text\n".repeat(20);
    let text = cleaned(&[&noise[..], b"\n", long.as_bytes()].concat()).await;
    assert!(text.contains(&long), "{text:?}");
}

#[tokio::test]
async fn a_last_line_without_newline_is_kept() {
    let bash = BashTool::new();
    let command = "head -c 1000000 /dev/zero | tr '\\0' x; printf '\\rnew'";
    let outcome = bash.run(command).await;
    assert!(outcome.text.contains(" of 1000004 characters left out;"));
    assert!(outcome.text.ends_with("xxx\nnew"));
}

#[tokio::test]
async fn output_is_shown_while_it_arrives() {
    let bash = BashTool::new();
    let marked = MarkedProcesses::new();
    let mut call = bash.start(&marked.script("echo one; printf 'two, unfinished'; SLEEP"));
    let details = call.wait_for_output("two, unfinished").await;
    assert_eq!(details.output, "one\ntwo, unfinished");
    assert_eq!((details.total_bytes, details.duration_ms), (19, None));
    call.cancel.cancel();
    call.end().await;

    let mut call = bash.start(&marked.script("seq 500; printf '50%%\\r60%%'; SLEEP"));
    let details = call.wait_for_output("60%").await;
    assert!(details.output.starts_with("402\n") && details.output.ends_with("\n500\n60%"));
    assert_eq!((details.total_lines, details.truncated), (501, true));
    call.cancel.cancel();
    call.end().await;
    bash.empty().await;
}

#[tokio::test]
async fn long_output_is_cut_and_saved_completely_in_a_private_file() {
    let bash = BashTool::new();
    let outcome = bash.run("seq 1 20000").await;
    let lines: Vec<String> = (1..=20_000).map(|line| line.to_string()).collect();
    let whole = lines.join("\n") + "\n";
    let file = bash.spill_file();
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(outcome.details.full_output_path.as_deref(), file.to_str());
    assert!(outcome.details.truncated);
    assert!(outcome.text.starts_with("1\n2\n") && outcome.text.ends_with("\n20000"));
    let folder = fs::metadata(file.parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    let marker = outcome
        .text
        .lines()
        .find(|line| line.starts_with("..."))
        .unwrap();
    let (head, tail) = outcome.text.split_once(marker).unwrap();
    let total = whole.trim_end().len();
    assert!(whole.starts_with(head) && head.lines().count() == 400);
    // Two newlines surround the marker, and one of them belongs to the text.
    let left_out = total - head.len() - (tail.len() - 1);
    assert_eq!(
        marker,
        format!(
            "... (truncated, {left_out} of {total} characters left out; full output: {}) ...",
            file.display()
        )
    );
    assert!(outcome.text.chars().count() <= 30_000);
    assert_eq!(outcome.details.total_lines, 20_000);
}

#[tokio::test]
async fn output_goes_to_a_file_from_65_537_bytes() {
    for (size, made) in [(65_536, false), (65_537, true)] {
        let bash = BashTool::with(ToolSettings {
            bash_max_output_chars: 100_000,
            ..ToolSettings::default()
        });
        let outcome = bash
            .run(&format!("head -c {size} /dev/zero | tr '\\0' x"))
            .await;
        assert_eq!(bash.spill_file().exists(), made, "{size}");
        assert_eq!(
            outcome.text.contains(bash.spill_file().to_str().unwrap()),
            made
        );
        if made {
            assert_eq!(fs::read(bash.spill_file()).unwrap(), vec![b'x'; size]);
        }
    }
}

#[tokio::test]
async fn binary_output_is_replaced_by_a_note() {
    let bash = BashTool::new();
    let outcome = bash
        .run("echo start; head -c 100000 /dev/urandom; echo; echo end")
        .await;
    assert!(outcome.text.starts_with("start\n"), "{}", outcome.text);
    assert!(outcome.text.contains("[binary data, "), "{}", outcome.text);
    assert!(outcome.text.contains("\nend\n"), "{}", outcome.text);
    assert!(
        !outcome
            .text
            .chars()
            .any(|c| c.is_control() && c != '\n' && c != '\t')
    );
    assert!(outcome.text.chars().count() < 5_000);
    assert_eq!(
        fs::metadata(bash.spill_file()).unwrap().len(),
        100_000 + 6 + 5
    );
}

#[tokio::test]
async fn endless_output_takes_bounded_space_and_ends_with_the_call() {
    const LIMIT: u64 = 1 << 18;
    for command in [
        "yes",
        "cat /dev/urandom",
        "cat /dev/zero",
        "yes | tr -d '\\n'",
    ] {
        // A loaded machine may need longer to exceed the limit.
        for timeout in [1, 8, 64] {
            let bash = BashTool::with(ToolSettings {
                bash_max_spill_bytes: LIMIT,
                ..ToolSettings::default()
            });
            let call = bash.start_with(json!({ "command": command, "timeout": timeout }));
            let outcome = call.end().await;
            let last = outcome.text.lines().last().unwrap();
            assert_eq!(last, format!("[timed out after {timeout} s]"), "{command}");
            assert!(outcome.text.chars().count() <= 30_000);
            bash.empty().await;
            if outcome.details.total_bytes <= LIMIT && timeout < 64 {
                continue;
            }
            assert!(
                outcome.text.contains("in the middle are missing]"),
                "{command}"
            );
            assert!(fs::metadata(bash.spill_file()).unwrap().len() <= LIMIT);
            let session = fs::read_dir(bash.folder.path().join("session")).unwrap();
            assert_eq!(session.count(), 1);
            break;
        }
    }
}

#[tokio::test]
async fn output_within_the_limit_is_complete() {
    let limits = ToolSettings {
        bash_max_output_chars: 100,
        bash_max_output_lines: 10,
        ..ToolSettings::default()
    };
    for (command, whole) in [
        ("printf %100s x", true),
        ("printf %100s x; echo; echo", true),
        ("printf %101s x", false),
        ("printf %86s x; exit 3", true),
        ("printf %87s x; exit 3", false),
        ("seq 10", true),
        ("seq 11", false),
        ("seq 10; exit 3", false),
    ] {
        let bash = BashTool::with(limits.clone());
        let outcome = bash.run(command).await;
        assert_eq!(outcome.details.truncated, !whole, "{command}");
        assert_eq!(bash.spill_file().exists(), !whole, "{command}");
    }
}

#[tokio::test]
async fn a_file_at_its_limit_keeps_the_beginning_and_the_end() {
    for (size, dropped) in [(99_999, 0), (100_000, 0), (100_001, 1), (600_000, 500_000)] {
        let bash = BashTool::with(ToolSettings {
            bash_max_spill_bytes: 100_000,
            ..ToolSettings::default()
        });
        let outcome = bash
            .run(&format!("seq 1 200000 | head -c {size}; exit 1"))
            .await;
        let numbers: Vec<String> = (1..=200_000).map(|number| number.to_string()).collect();
        let all = &numbers.join("\n")[..size];
        let expected = format!(
            "{}{}",
            &all[..size.min(75_000)],
            &all[size.min(75_000) + dropped..]
        );
        assert_eq!(fs::read_to_string(bash.spill_file()).unwrap(), expected);
        let note = format!("\n[the file is incomplete: {dropped} bytes in the middle are missing]");
        assert_eq!(outcome.text.contains(&note), dropped > 0, "{size}");
        assert!(outcome.text.ends_with("\n[exit code 1]"));
        assert!(outcome.text.chars().count() <= 30_000);
    }
}

#[tokio::test]
async fn output_that_cannot_be_saved_says_so() {
    let bash = BashTool::new();
    fs::write(bash.folder.path().join("session"), "no folder").unwrap();
    let outcome = bash.run("seq 20000; echo end").await;
    let last = outcome.text.lines().last().unwrap();
    assert!(
        last.starts_with("[could not save the full output: "),
        "{last}"
    );
    assert!(outcome.text.contains(" characters left out) ..."));
    assert_eq!(outcome.details.full_output_path, None);
    assert_eq!(outcome.details.total_lines, 20_001);
}
