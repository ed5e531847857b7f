//! The bytes that terminals send and the events they must give, however reads split them.

use proptest::prelude::*;
use tiller::app::tui::terminal::input::{
    Decoder, Escape, InputEvent, KeyModifiers, KeyPress, MouseButton, MouseEvent, MouseEventKind,
    TerminalColor, TerminalName, TerminalReport,
};

/// Sequences and the keys they give, separated by spaces, or `""` for none.
const KEYS: &[(&str, &str)] = &[
    // Any terminal: text and control bytes.
    ("a", "a"),
    // rxvt: Ctrl with an arrow.
    (
        "\x1bOa\x1bOb\x1bOc\x1bOd",
        "ctrl+up ctrl+down ctrl+right ctrl+left",
    ),
    ("A", "A"),
    (" ", "space"),
    ("ä€😀", "ä € 😀"),
    ("\x00", "ctrl+space"),
    ("\x01", "ctrl+a"),
    ("\x03", "ctrl+c"),
    ("\x08", "ctrl+h"),
    ("\t", "tab"),
    ("\n", "ctrl+j"),
    ("\r", "enter"),
    ("\x1a", "ctrl+z"),
    ("\x1c", "ctrl+\\"),
    ("\x1d", "ctrl+]"),
    ("\x1e", "ctrl+^"),
    ("\x1f", "ctrl+_"),
    ("\x7f", "backspace"),
    // Alt is ESC before the key.
    ("\x1ba", "alt+a"),
    ("\x1bB", "alt+shift+b"),
    ("\x1bä", "alt+ä"),
    ("\x1b.", "alt+."),
    ("\x1b,", "alt+,"),
    ("\x1b_", "alt+_"),
    ("\x1b\r", "alt+enter"),
    ("\x1b\x7f", "alt+backspace"),
    ("\x1b\t", "alt+tab"),
    ("\x1b ", "alt+space"),
    ("\x1b\x06", "ctrl+alt+f"),
    ("\x1b", "esc"),
    ("\x1b\x1b", "esc esc"),
    ("\x1b\x1b\x1b", "esc esc esc"),
    ("\x1b\x1ba", "esc alt+a"),
    ("\x1b[", "alt+["),
    ("\x1bO", "alt+shift+o"),
    ("\x1bP", "alt+shift+p"),
    ("\x1b]", "alt+]"),
    ("\x1b^", "alt+^"),
    ("\x1b]x", "alt+] x"),
    ("\x1bPx", "alt+shift+p x"),
    ("\x1b_x", "alt+_ x"),
    ("\x1b_\x1b_", "alt+_ alt+_"),
    // xterm, normal and application mode.
    ("\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"),
    ("\x1bOA\x1bOB\x1bOC\x1bOD", "up down right left"),
    ("\x1b[H\x1b[F\x1bOH\x1bOF", "home end home end"),
    (
        "\x1b[1~\x1b[2~\x1b[3~\x1b[4~\x1b[5~\x1b[6~",
        "home insert delete end pageup pagedown",
    ),
    ("\x1bOP\x1bOQ\x1bOR\x1bOS", "f1 f2 f3 f4"),
    (
        "\x1b[15~\x1b[17~\x1b[18~\x1b[19~\x1b[20~\x1b[21~",
        "f5 f6 f7 f8 f9 f10",
    ),
    (
        "\x1b[23~\x1b[24~\x1b[25~\x1b[26~\x1b[28~\x1b[29~",
        "f11 f12 f13 f14 f15 f16",
    ),
    ("\x1b[31~\x1b[32~\x1b[33~\x1b[34~", "f17 f18 f19 f20"),
    ("\x1b[Z", "shift+tab"),
    ("\x1b[1;2A", "shift+up"),
    ("\x1b[1;3A", "alt+up"),
    ("\x1b[1;5D\x1b[1;5C", "ctrl+left ctrl+right"),
    ("\x1b[1;6H", "ctrl+shift+home"),
    ("\x1b[1;5H\x1b[1;5F", "ctrl+home ctrl+end"),
    ("\x1b[1;8F", "ctrl+alt+shift+end"),
    ("\x1b[3;5~", "ctrl+delete"),
    ("\x1b[5;5~", "ctrl+pageup"),
    ("\x1b[1;2P", "shift+f1"),
    ("\x1b[1;2R", "shift+f3"),
    ("\x1b[15;5~", "ctrl+f5"),
    ("\x1bOM\x1bOk\x1bOp\x1bOy", "enter + 0 9"),
    ("\x1bO5P", "ctrl+f1"),
    ("\x1bO5z", "alt+shift+o 5 z"),
    // xterm with modifyOtherKeys, also what tmux sends with extended keys.
    ("\x1b[27;2;13~", "shift+enter"),
    ("\x1b[27;5;13~", "ctrl+enter"),
    ("\x1b[27;3;13~", "alt+enter"),
    ("\x1b[27;5;9~", "ctrl+tab"),
    ("\x1b[27;2;9~", "shift+tab"),
    ("\x1b[27;5;44~", "ctrl+,"),
    ("\x1b[27;6;95~", "ctrl+_"),
    ("\x1b[27;6;47~", "ctrl+/"),
    ("\x1b[27;6;65~", "ctrl+shift+a"),
    ("\x1b[27;6;97~", "ctrl+shift+a"),
    ("\x1b[27;5;32~", "ctrl+space"),
    ("\x1b[27;2;65~", "A"),
    ("\x1b[27;5;127~", "ctrl+backspace"),
    ("\x1b[27;3;228~", "alt+ä"),
    ("\x1b[27;5;27~", "ctrl+esc"),
    ("\x1b[27;5~", ""),
    // kitty, Ghostty, foot, WezTerm, Windows Terminal, iTerm2 with the kitty protocol.
    ("\x1b[27u", "esc"),
    ("\x1b[13;2u", "shift+enter"),
    ("\x1b[13;5u", "ctrl+enter"),
    ("\x1b[13;3u", "alt+enter"),
    ("\x1b[9;2u", "shift+tab"),
    ("\x1b[127;5u", "ctrl+backspace"),
    ("\x1b[97;5u", "ctrl+a"),
    ("\x1b[97;6u", "ctrl+shift+a"),
    ("\x1b[97:65;6u", "ctrl+shift+a"),
    ("\x1b[106;5u", "ctrl+j"),
    ("\x1b[45;6u", "ctrl+_"),
    ("\x1b[45:95;6u", "ctrl+_"),
    ("\x1b[55:47;6u", "ctrl+/"),
    ("\x1b[55:47;8u", "ctrl+alt+/"),
    ("\x1b[32;2u", "space"),
    ("\x1b[32;5u", "ctrl+space"),
    ("\x1b[97;9u", "super+a"),
    ("\x1b[97;33u", "alt+a"),
    ("\x1b[97;69u", "ctrl+a"),
    ("\x1b[97;133u", "ctrl+a"),
    ("\x1b[97u\x1b[97;2u\x1b[97:65;2u", "a A A"),
    ("\x1b[49:33;2u", "!"),
    ("\x1b[1089::99;5u", "ctrl+c"),
    ("\x1b[1089:1057:99;6u", "ctrl+shift+c"),
    ("\x1b[1089;5u", "ctrl+с"),
    ("\x1b[228;3u", "alt+ä"),
    ("\x1b[97;5:1u\x1b[97;5:2u\x1b[97;5:3u", "ctrl+a ctrl+a"),
    ("\x1b[97;1:3u", ""),
    ("\x1b[1;1:1A\x1b[1;1:3A", "up"),
    ("\x1b[3;5:2~\x1b[3;5:3~", "ctrl+delete"),
    (
        "\x1b[57399u\x1b[57408u\x1b[57414u\x1b[57417u\x1b[57426u",
        "0 9 enter left delete",
    ),
    ("\x1b[57414;5u", "ctrl+enter"),
    ("\x1b[57363u\x1b[57376u\x1b[57398u", "menu f13 f35"),
    (
        "\x1b[57358u\x1b[57427u\x1b[57428u\x1b[57441;2u\x1b[57454u",
        "",
    ),
    ("\x1b[1P\x1b[13~\x1b[1;5Q", "f1 f3 ctrl+f2"),
    // rxvt, PuTTY and older iTerm2.
    ("\x1b[7~\x1b[8~", "home end"),
    (
        "\x1b[a\x1b[3$\x1b[3^\x1b[3@",
        "shift+up shift+delete ctrl+delete ctrl+shift+delete",
    ),
    (
        "\x1b\x1b[A\x1b\x1bOB\x1b\x1b[5~",
        "alt+up alt+down alt+pageup",
    ),
    // The Linux console.
    ("\x1b[[A\x1b[[B\x1b[[C\x1b[[D\x1b[[E", "f1 f2 f3 f4 f5"),
    ("\x1b[[x", "x"),
    // Unknown and incomplete sequences. The keys after them are kept.
    ("\x1b[99;99xa", "a"),
    ("\x1b[?1;2h\x1b[>0;276;0ca", "a"),
    ("\x1b[8;24;80ta", "a"),
    ("\x1b[1?2Aa", "a"),
    ("\x1b[ qa", "a"),
    ("\x1b[12\x03", "ctrl+c"),
    ("\x1b[12\x1b[A", "up"),
    ("\x1b[\x1b[A", "alt+[ up"),
    ("\x1b[12ä", "ä"),
    ("\x1b[99999999999999999999Aa", "up a"),
    ("\x1b[97;99999999999999999999u", "ctrl+alt+super+a"),
    ("\x1b[4294967295u\x1b[55296u\x1b[uab", "a b"),
    ("\x1b]0;title\x03a", "ctrl+c a"),
    ("\x1b]11;rgb:1/2\x1b[Aa", "up a"),
    ("\x1b]52;c;aGFsbG8=\x07a", "a"),
    ("\x1bP1+r544e=1\x1b\\a", "a"),
    ("\x1b_Gi=1\ra", "enter a"),
    ("\x1b[201~a", "a"),
];

#[test]
fn keys_of_all_terminals_are_decoded() {
    for (bytes, expected) in KEYS {
        assert_eq!(keys(&decode(&[bytes.as_bytes()])), *expected, "{bytes:?}");
    }
}

#[test]
fn every_split_gives_the_same_keys() {
    for (bytes, expected) in KEYS {
        let bytes = bytes.as_bytes();
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(keys(&decode(&[head, tail])), *expected, "{bytes:?} at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(keys(&decode(&single)), *expected, "{bytes:?} byte by byte");
    }
}

#[test]
fn garbage_is_skipped_and_the_keys_around_it_are_kept() {
    for garbage in [
        b"\xff\xfe\x80\xbf".as_slice(),
        b"\xc0\xaf",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xf5\x80\x80\x80",
        b"\xc2\x9b",
        b"\x1b[1;2",
        b"\x1b[<0;1",
        b"\x1b]11;rgb:00",
        b"\x1bP>|xterm",
        b"\x1b_Gi=1;",
    ] {
        let bytes = [b"a", garbage, b"\rb"].concat();
        assert_eq!(keys(&decode(&[&bytes])), "a enter b", "{garbage:?}");
    }
}

#[test]
fn overlong_sequences_are_skipped_to_their_end() {
    let numbers = "1;".repeat(100_000);
    let text = "x".repeat(1_000_000);
    for sequence in [
        format!("\x1b[{numbers}A"),
        format!("\x1b[<{numbers}M"),
        format!("\x1b]11;{text}\x07"),
        format!("\x1bP>|{text}\x1b\\"),
        format!("\x1b_G{text}\x1b\\"),
    ] {
        assert_eq!(
            keys(&decode(&[sequence.as_bytes(), b"ab"])),
            "a b",
            "{}",
            &sequence[1..4]
        );
    }
}

#[test]
fn replies_are_reports_and_never_keys() {
    let report = |report| vec![InputEvent::Report(report)];
    for (bytes, expected) in [
        ("\x1b[?5u", report(TerminalReport::KittyFlags(5))),
        ("\x1b[?0u", report(TerminalReport::KittyFlags(0))),
        ("\x1b[?62;4;22c", report(TerminalReport::PrimaryAttributes)),
        ("\x1b[?4;22c", report(TerminalReport::PrimaryAttributes)),
        ("\x1b[?6c", report(TerminalReport::PrimaryAttributes)),
        ("\x1b[6;20;9t", report(TerminalReport::CellSize(9, 20))),
        ("\x1b_Gi=31;OK\x1b\\", report(TerminalReport::KittyGraphics)),
        (
            "\x1bP>|kitty(0.35.2)\x1b\\",
            report(TerminalReport::Name(TerminalName::Kitty)),
        ),
        (
            "\x1bP>|tmux 3.6\x1b\\",
            report(TerminalReport::Name(TerminalName::Other)),
        ),
        (
            "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
            report(TerminalReport::Color(TerminalColor::Ground, (30, 30, 46))),
        ),
        (
            "\x1b]11;rgb:ffff/ffff/ffff\x07",
            report(TerminalReport::Color(
                TerminalColor::Ground,
                (255, 255, 255),
            )),
        ),
        (
            "\x1b]10;rgb:c/d/f\x07",
            report(TerminalReport::Color(TerminalColor::Ink, (204, 221, 255))),
        ),
        (
            "\x1b]4;1;rgb:1010/0/0\x07",
            report(TerminalReport::Color(TerminalColor::Palette(1), (16, 0, 0))),
        ),
        ("\x1b[?997;1n", report(TerminalReport::Scheme(false))),
        ("\x1b[?997;2n", report(TerminalReport::Scheme(true))),
        // Replies to queries of other programs.
        ("\x1b[12;40R", vec![]),
        ("\x1b[1;1R", vec![]),
        ("\x1b[?1;2R", vec![]),
        ("\x1b[?2026;2$y", vec![]),
        ("\x1b_Gi=31;EINVAL:no\x1b\\", vec![]),
        ("\x1b_Gi=7;OK\x1b\\", vec![]),
        ("\x1b[6;0;9t", vec![]),
        ("\x1b[6;99999;9t", vec![]),
        ("\x1b[4;480;640t", vec![]),
        ("\x1b[I", vec![InputEvent::Focus(true)]),
        ("\x1b[O", vec![InputEvent::Focus(false)]),
        ("\x1b]11;purple\x07", vec![]),
        ("\x1b]11;#aä€\x07", vec![]),
        ("\x1b]11;rgb:ffff/ffff\x07", vec![]),
        ("\x1b]4;300;rgb:0/0/0\x07", vec![]),
        ("\x1b]4;1\x07", vec![]),
    ] {
        check_every_split(bytes.as_bytes(), &expected);
    }
}

#[test]
fn an_esc_just_before_a_reply_is_the_esc_key() {
    let events = decode(&[b"\x1b\x1b[?5u\x1b\x1b]11;#000\x07\x1b\x1b[I"]);
    assert_eq!(keys(&events), "esc <report> esc <report> esc <focus>");
}

#[test]
fn the_mouse_works_in_both_encodings() {
    let at = |kind, col, row, mods| {
        InputEvent::Mouse(MouseEvent {
            kind,
            column: col,
            row,
            modifiers: mods,
        })
    };
    let left = MouseButton::Left;
    for (bytes, expected) in [
        (
            "\x1b[<0;1;1M",
            Some(at(MouseEventKind::Down(left), 0, 0, KeyModifiers::NONE)),
        ),
        (
            "\x1b[<0;300;200m",
            Some(at(MouseEventKind::Up(left), 299, 199, KeyModifiers::NONE)),
        ),
        (
            "\x1b[<2;5;6M",
            Some(at(
                MouseEventKind::Down(MouseButton::Right),
                4,
                5,
                KeyModifiers::NONE,
            )),
        ),
        (
            "\x1b[<1;5;6M",
            Some(at(
                MouseEventKind::Down(MouseButton::Middle),
                4,
                5,
                KeyModifiers::NONE,
            )),
        ),
        (
            "\x1b[<32;5;6M",
            Some(at(MouseEventKind::Drag(left), 4, 5, KeyModifiers::NONE)),
        ),
        ("\x1b[<35;5;6M", None),
        (
            "\x1b[<64;5;6M",
            Some(at(MouseEventKind::ScrollUp, 4, 5, KeyModifiers::NONE)),
        ),
        (
            "\x1b[<65;5;6M",
            Some(at(MouseEventKind::ScrollDown, 4, 5, KeyModifiers::NONE)),
        ),
        (
            "\x1b[<66;5;6M",
            Some(at(MouseEventKind::ScrollLeft, 4, 5, KeyModifiers::NONE)),
        ),
        ("\x1b[<128;5;6M", None),
        (
            "\x1b[<4;5;6M",
            Some(at(MouseEventKind::Down(left), 4, 5, KeyModifiers::SHIFT)),
        ),
        (
            "\x1b[<24;5;6M",
            Some(at(
                MouseEventKind::Down(left),
                4,
                5,
                KeyModifiers::ALT | KeyModifiers::CONTROL,
            )),
        ),
        (
            "\x1b[<0;0;99999999M",
            Some(at(
                MouseEventKind::Down(left),
                0,
                u16::MAX,
                KeyModifiers::NONE,
            )),
        ),
        ("\x1b[<0;5M", None),
        ("\x1b[32;5;6M", None),
        (
            "\x1b[M %&",
            Some(at(MouseEventKind::Down(left), 4, 5, KeyModifiers::NONE)),
        ),
        (
            "\x1b[M#%&",
            Some(at(MouseEventKind::Up(left), 4, 5, KeyModifiers::NONE)),
        ),
        (
            "\x1b[M`%&",
            Some(at(MouseEventKind::ScrollUp, 4, 5, KeyModifiers::NONE)),
        ),
    ] {
        check_every_split(bytes.as_bytes(), &expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_paste_is_one_event_whatever_its_content() {
    for text in [
        "",
        "a",
        "two\r\nlines\n",
        "\x1b[A\x1b]0;x\x07\x1b\x1b[20\x1b[201\x1b[200~",
        "ä€😀\u{200d}",
        "\x03\x04",
    ] {
        let bytes = format!("\x1b[200~{text}\x1b[201~");
        check_every_split(bytes.as_bytes(), &[InputEvent::Paste(text.into())]);
    }
    let events = decode(&[b"x\x1b[200~one\x1b[201~y\x1b[200~two\x1b[201~\r"]);
    assert_eq!(keys(&events), "x <paste> y <paste> enter");
}

#[test]
fn an_invalid_utf8_paste_keeps_its_text() {
    let events = decode(&[b"\x1b[200~a\xffb\x1b[201~"]);
    assert_eq!(events, [InputEvent::Paste("a\u{fffd}b".into())]);
}

#[test]
fn an_unfinished_paste_is_delivered_after_a_timeout() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.feed(b"\x1b[200~half\r", &mut out);
    assert_eq!(out, []);
    assert!(decoder.timeout(Escape::Sequence).is_some());
    decoder.expire(&mut out);
    decoder.feed(b"a", &mut out);
    assert_eq!(out[0], InputEvent::Paste("half\r".into()));
    assert_eq!(keys(&out), "<paste> a");
}

#[test]
fn a_paste_takes_linear_time() {
    let text = "\x1b[201x".repeat(700_000);
    let bytes = format!("\x1b[200~{text}\x1b[201~");
    for size in [1, 1000, bytes.len()] {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        let started = std::time::Instant::now();
        for chunk in bytes.as_bytes().chunks(size) {
            decoder.feed(chunk, &mut out);
        }
        // Quadratic work takes minutes here. Linear work takes well below a second, even
        // unoptimized.
        assert!(
            started.elapsed().as_secs() < 20,
            "{size}: {:?}",
            started.elapsed()
        );
        assert_eq!(out, [InputEvent::Paste(text.clone())]);
    }
}

#[test]
fn only_a_possible_key_has_a_short_timeout() {
    let wait = |bytes: &[u8], escape| {
        let mut decoder = Decoder::default();
        decoder.feed(bytes, &mut Vec::new());
        decoder.timeout(escape).map(|wait| wait.as_millis())
    };
    assert_eq!(wait(b"", Escape::Ambiguous), None);
    assert_eq!(wait(b"a", Escape::Ambiguous), None);
    assert_eq!(wait(b"\xc3", Escape::Ambiguous), None);
    assert_eq!(wait(b"\x1b", Escape::Ambiguous), Some(25));
    assert!(wait(b"\x1b", Escape::Sequence) > Some(25));
    assert!(wait(b"\x1b[1;5", Escape::Ambiguous) > wait(b"\x1b[", Escape::Ambiguous));
    assert!(wait(b"\x1b[200~", Escape::Ambiguous) > wait(b"\x1b[1;5", Escape::Ambiguous));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// Pieces of real sequences in any order, split anywhere, give the same events as a single
    /// read.
    #[test]
    fn any_split_gives_the_same_events(
        parts in prop::collection::vec(part(), 0..12),
        cuts in prop::collection::vec(0_usize..400, 0..8),
    ) {
        let bytes = parts.concat();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let whole = decode(&[&bytes]);
        prop_assert_eq!(&decode(&pieces), &whole);
        prop_assert_eq!(&decode(&single), &whole);
    }

    /// After any bytes and a timeout, the next key is decoded correctly.
    #[test]
    fn no_bytes_spoil_the_keys_after_a_pause(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        decoder.feed(&bytes, &mut out);
        decoder.expire(&mut out);
        prop_assert_eq!(decoder.timeout(Escape::Ambiguous), None);
        out.clear();
        decoder.feed(b"a\x1b[1;5A", &mut out);
        prop_assert_eq!(keys(&out), "a ctrl+up");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(8) })]

    /// 100,000 random bytes never panic, give no more events than bytes, and decode the same byte
    /// by byte.
    #[test]
    fn random_bytes_do_no_harm(seed in any::<u64>()) {
        let bytes = random_bytes(seed, 100_000);
        let whole = decode(&[&bytes]);
        prop_assert!(whole.len() <= bytes.len());
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(decode(&single), whole);
    }
}

/// Random bytes, many of which start, continue or end sequences.
fn random_bytes(mut seed: u64, len: usize) -> Vec<u8> {
    const TELLING: &[u8] = b"\x1b\x1b\x1b[[]OP_?<;:0123456789~$uMAR\x07\\\xc3\xe2\x80\xff\r\x03";
    let mut next = || {
        // SplitMix64.
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize
    };
    let mut byte = || match next() {
        odd if odd % 2 == 1 => TELLING[(odd >> 8) % TELLING.len()],
        even => (even >> 8) as u8,
    };
    (0..len).map(|_| byte()).collect()
}

fn part() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(KEYS).prop_map(|(bytes, _)| bytes.as_bytes().to_vec());
    let other = prop::sample::select(vec![
        b"\x1b[200~paste \xc3\xa4\x1b[201~".to_vec(),
        b"\x1b[200~open".to_vec(),
        b"\x1b[<0;10;20M".to_vec(),
        b"\x1b[M !!".to_vec(),
        b"\x1b]11;rgb:0000/0000/0000\x1b\\".to_vec(),
        b"\x1bP>|xterm(390)\x1b\\".to_vec(),
        b"\xf0\x9f\x98".to_vec(),
    ]);
    prop_oneof![known, other, prop::collection::vec(any::<u8>(), 0..6)]
}

/// The events of these reads, with nothing after them.
fn decode(reads: &[&[u8]]) -> Vec<InputEvent> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for read in reads {
        decoder.feed(read, &mut out);
    }
    decoder.expire(&mut out);
    out
}

fn check_every_split(bytes: &[u8], expected: &[InputEvent]) {
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(
            decode(&[head, tail]),
            expected,
            "{:?} at {at}",
            bytes.escape_ascii()
        );
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(
        decode(&single),
        expected,
        "{:?} byte by byte",
        bytes.escape_ascii()
    );
}

/// Keys in writing, other events by their kind.
fn keys(events: &[InputEvent]) -> String {
    let name = |event: &InputEvent| match event {
        InputEvent::Key(press) => {
            let written = press.to_string();
            assert_eq!(
                written.parse::<KeyPress>().ok().as_ref(),
                Some(press),
                "{written}"
            );
            written
        }
        InputEvent::Paste(_) => "<paste>".into(),
        InputEvent::Mouse(_) => "<mouse>".into(),
        InputEvent::Focus(_) => "<focus>".into(),
        InputEvent::Report(_) => "<report>".into(),
        InputEvent::Closed => "<closed>".into(),
    };
    events.iter().map(name).collect::<Vec<_>>().join(" ")
}
