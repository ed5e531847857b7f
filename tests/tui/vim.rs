//! The editor with vim keys: a text with its caret, keys, and the result.

use proptest::prelude::*;
use tiller::agent::{AgentEvent, Phase};
use tiller::app::action::Action as A;
use tiller::app::tui::composer::{Composer, VimKey, VimMode, is_search};
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::Msg;
use tiller::app::tui::terminal::input::InputEvent;
use unicode_segmentation::UnicodeSegmentation;

use super::app_kit::TestTui;
use super::app_questions::choice;
use super::composer::changes;
use super::composer_reference::{text, wild};

/// An editor in normal mode with this text; `│` is before the character under the caret.
fn editor(text: &str) -> Composer {
    let mut editor = Composer::new(60, 10);
    editor.set(&text.replace('│', ""));
    editor.set_vim(true);
    editor.vim_press(VimKey::Escape);
    let caret = text.find('│').expect("a caret");
    editor.vim_press(VimKey::Char('g'));
    editor.vim_press(VimKey::Char('g'));
    let before = text[..caret].chars().collect::<Vec<_>>();
    for c in before {
        match c {
            '\n' => press(&mut editor, "j0"),
            _ => press(&mut editor, "l"),
        }
    }
    editor
}

/// `␛` is Esc, `␍` a new line, `␈` Backspace, `®` Ctrl+R. `↧`, `↥`, `⟳`, `→` and `⌫` are Ctrl+K,
/// Ctrl+Y, Alt+Y, Ctrl+Right and Ctrl+W, in any mode.
fn press(editor: &mut Composer, keys: &str) {
    for key in keys.chars() {
        let others = [
            ('↧', A::CutToEnd),
            ('↥', A::Yank),
            ('⟳', A::YankPop),
            ('→', A::WordRight),
            ('⌫', A::CutWordBackward),
        ];
        if let Some((_, action)) = others.iter().find(|(other, _)| *other == key) {
            editor.apply(*action);
            continue;
        }
        let searches = editor.vim().is_some_and(|(_, keys)| is_search(&keys));
        let key = match key {
            '␛' => VimKey::Escape,
            '®' => VimKey::Redo,
            '␍' if searches => VimKey::Char('\n'),
            '␈' if searches => VimKey::Erase,
            c => VimKey::Char(c),
        };
        if !editor.vim_press(key)
            && let VimKey::Char(c) = key
        {
            match c {
                '␍' => editor.apply(A::Newline),
                '␈' => editor.apply(A::DeleteBackward),
                c => editor.insert(c),
            }
        }
    }
}

fn picture(editor: &Composer) -> String {
    let mut marked = editor.clone();
    marked.set_vim(false);
    marked.insert('│');
    marked.text()
}

#[test]
fn keys_work_as_in_vim() {
    let mut wrong = Vec::new();
    for (text, keys, expected) in [
        // Motions.
        ("│one two", "l", "o│ne two"),
        ("one│ two", "h", "on│e two"),
        ("│one\ntwo", "hh", "│one\ntwo"),
        ("on│e\ntwo", "l", "on│e\ntwo"),
        ("│one two, three", "w", "one │two, three"),
        ("│one two, three", "2w", "one two│, three"),
        ("│one two, three", "2W", "one two, │three"),
        ("│one\n\n  two", "w", "one\n│\n  two"),
        ("│one\n\n  two", "ww", "one\n\n  │two"),
        ("one two, th│ree", "b", "one two, │three"),
        ("one two, │three", "bb", "one │two, three"),
        ("one two, │three", "B", "one │two, three"),
        ("│one two", "e", "on│e two"),
        ("on│e two, x", "e", "one tw│o, x"),
        ("on│e two, x", "E", "one two│, x"),
        ("  one│ two", "0", "│  one two"),
        ("  one│ two", "^", "  │one two"),
        ("  o│ne two", "$", "  one tw│o"),
        ("│a.b.c.d", "f.", "a│.b.c.d"),
        ("│a.b.c.d", "2f.", "a.b│.c.d"),
        ("│a.b.c.d", "t.", "│a.b.c.d"),
        ("│ab.c.d", "t.", "a│b.c.d"),
        ("│a.b.c.d", "f.;", "a.b│.c.d"),
        ("│a.b.c.d", "f.;;,", "a.b│.c.d"),
        ("a.b.c.│d", "F.", "a.b.c│.d"),
        ("a.b.cc│d", "T.", "a.b.│ccd"),
        ("ab.c│d", "fx", "ab.c│d"),
        ("one\nt│wo\nthree", "gg", "│one\ntwo\nthree"),
        ("o│ne\ntwo\nthree", "G", "one\ntwo\n│three"),
        ("o│ne\ntwo\nthree", "2G", "one\n│two\nthree"),
        ("o│ne\ntwo", "j", "one\nt│wo"),
        ("one\nt│wo", "k", "o│ne\ntwo"),
        // Deleting.
        ("on│e two", "x", "on│ two"),
        ("o│ne two", "3x", "o│two"),
        ("on│e", "x", "o│n"),
        ("on│e", "X", "o│e"),
        ("one │two three", "dw", "one │three"),
        ("one │two\nthree", "dw", "one│ \nthree"),
        ("│one two three", "2dw", "│three"),
        ("│one two three", "d2w", "│three"),
        ("│one two three", "de", "│ two three"),
        ("one two│ three", "db", "one │ three"),
        ("one │two three", "D", "one│ "),
        ("one │two three", "d0", "│two three"),
        ("one t│wo three", "df ", "one t│three"),
        ("one t│wo three", "dt ", "one t│ three"),
        ("one\nt│wo\nthree", "dd", "one\n│three"),
        ("one\nt│wo", "dd", "│one"),
        ("o│ne\ntwo\nthree", "2dd", "│three"),
        ("o│ne\ntwo\nthree", "dj", "│three"),
        ("one\ntwo\nth│ree", "dk", "│one"),
        ("one\nt│wo\nthree", "dG", "│one"),
        ("one\nt│wo\nthree", "dgg", "│three"),
        ("o│ne", "dd", "│"),
        // Changing and inserting.
        ("one │two three", "cwnew␛", "one ne│w three"),
        ("one │two three", "c2wnew␛", "one ne│w"),
        ("one │two three", "Cnew␛", "one ne│w"),
        ("  one│ two\nx", "ccnew␛", "ne│w\nx"),
        ("on│e", "sx␛", "on│x"),
        ("on│e", "ix␛", "on│xe"),
        ("on│e", "ax␛", "one│x"),
        ("  on│e", "Ix␛", "  │xone"),
        ("│one", "Ax␛", "one│x"),
        ("o│ne\ntwo", "ox␛", "one\n│x\ntwo"),
        ("one\nt│wo", "Ox␛", "one\n│x\ntwo"),
        ("o│ne", "ia␍b␛", "oa\n│bne"),
        ("o│ne", "rx", "o│xe"),
        ("│one", "2rx", "x│xe"),
        ("on│e", "2rx", "on│e"),
        ("│e\u{301}", "2rx", "│e\u{301}"),
        ("o│nE two", "3~", "oNe │two"),
        // Yanking and putting.
        ("│one two", "ywwP", "one one│ two"),
        ("│one two", "yyp", "one two\n│one two"),
        ("one\nt│wo", "yyP", "one\n│two\ntwo"),
        ("one\nt│wo", "yy2p", "one\ntwo\n│two\ntwo"),
        ("│ab", "xp", "b│a"),
        ("│ab", "xP", "│ab"),
        ("│one\ntwo", "ddp", "two\n│one"),
        ("│one two", "wyw0P", "tw│oone two"),
        ("│one\n  two\nthree", "jyyjVp", "one\n  two\n  │two"),
        // Text objects.
        ("one t│wo three", "diw", "one │ three"),
        ("one t│wo three", "daw", "one │three"),
        ("one t│wo", "daw", "on│e"),
        ("one │ two", "diw", "one│two"),
        ("f(a, \"b │c\")", "ci\"x␛", "f(a, \"│x\")"),
        ("f(a, \"b │c\")", "da\"", "f(a, │)"),
        ("│f(a, \"b c\")", "di\"", "f(a, \"│\")"),
        ("f(a, [1, │2])", "di[", "f(a, [│])"),
        ("f(a, [1, │2])", "di(", "f(│)"),
        ("f(a, [1, │2])", "da(", "│f"),
        ("f│(a)", "dib", "f(│)"),
        ("{ a\n  b│ }", "di{", "{│}"),
        ("a│b", "di(", "a│b"),
        // Undo and repeat.
        ("one │two three", "dwu", "one │two three"),
        ("one │two three", "dwu®", "one │three"),
        ("│", "ione two␍three␛u", "│"),
        ("│one", "cwa b c␛u", "│one"),
        ("│one two three", "dw.", "│three"),
        ("│one two three", "cwx␛w.", "x │x three"),
        ("│one", "Ax␛.", "onex│x"),
        ("│a b c d", "x2.", "│ c d"),
        ("│one two", "cwx␛wviwcbar␛0.", "│x bar"),
        // Selecting.
        ("o│ne two", "vlld", "o│two"),
        ("o│ne two", "vhd", "│e two"),
        ("o│ne two", "viwd", "│ two"),
        ("o│ne two", "vwcx␛", "o│xwo"),
        ("o│ne\ntwo\nthree", "Vjd", "│three"),
        ("one\nt│wo", "vD", "│one"),
        ("o│ne two", "vey0P", "n│eone two"),
        ("o│ne two", "vlold", "on│ two"),
        ("o│ne two", "vl␛x", "on│ two"),
        ("o│ne two", "ve~", "o│NE two"),
        ("o│ne\ntwo", "vjrx", "o│xx\nxxo"),
        // Counts before inserting.
        ("│one", "3ix␛", "xx│xone"),
        ("│one", "3ax␛", "oxx│xne"),
        ("o│ne", "2Ia-␛", "a-a│-one"),
        ("│one", "2A!␛", "one!│!"),
        ("o│ne\ntwo", "2ox␛", "one\nx\n│x\ntwo"),
        ("one\nt│wo", "2Ox␛", "one\nx\n│x\ntwo"),
        ("│one", "2ix␛.", "xx│xxone"),
        ("│one", "ix␛3.", "xx│xxone"),
        ("│one", "2ix␛u", "│one"),
        // Everything typed is repeated, including keys that aren't vim's.
        ("│one two", "cwab cd⌫ef␛w.", "ab ef ab e│f"),
        ("│one two", "cwabc␈␈x␛w.", "ax a│x"),
        ("│one two", "cwx␍y␛w.", "x\ny x\n│y"),
        ("a │one", "cw⌫x␛0.", "│x"),
        // Lines and words.
        ("one t│wo\nx\nthree", "$jj", "one two\nx\nthre│e"),
        ("one\nlo│nger\nx\ntwo", "$kjj", "one\nlonger\n│x\ntwo"),
        ("one\ntw│o\nthree", "yk", "on│e\ntwo\nthree"),
        ("one\ntw│o\nthree", "yj", "one\ntw│o\nthree"),
        ("one\ntwo\nth│ree", "ygg", "on│e\ntwo\nthree"),
        ("o│ne two three", "ve␛wgvd", "o│ two three"),
        ("o│ne two", "ve␛$gvx", "o│ two"),
        ("one\nt│wo", ">>", "one\n    │two"),
        ("o│ne\n\ntwo\nx", "3>>", "    │one\n\n    two\nx"),
        ("o│ne\ntwo", ">j.", "        │one\n        two"),
        ("      o│ne", "<<", "  │one"),
        ("  o│ne", "<<", "│one"),
        ("o│ne\ntwo", "Vj2>", "        │one\n        two"),
        ("\to│ne", "<<u", "\to│ne"),
        ("o│ne\n  two\nthree", "J", "one│ two\nthree"),
        ("o│ne\n  two\nthree", "3J", "one two│ three"),
        ("o│ne\ntwo\nx", "VjJ", "one│ two\nx"),
        ("f│(\n)", "J", "f(│)"),
        ("o│ne", "J", "o│ne"),
        ("one\n\n│two", "kJ", "one\n│two"),
        ("f│(a, [b])", "%", "f(a, [b]│)"),
        ("│f(a, [b])", "%", "f(a, [b]│)"),
        ("f(a, [b│])", "%", "f(a, │[b])"),
        ("f(\n│)", "d%", "│f"),
        ("one two t│hree", "ge", "one tw│o three"),
        ("one two, t│hree", "gege", "one tw│o, three"),
        ("one two, t│hree", "2gE", "on│e two, three"),
        ("o│ne\ntwo\n\nthree", "}", "one\ntwo\n│\nthree"),
        ("o│ne\n\n\ntwo\n\nx", "}}", "one\n\n\ntwo\n│\nx"),
        ("one\n\ntwo\nt│hree", "{", "one\n│\ntwo\nthree"),
        ("one\nt│wo", "}", "one\ntw│o"),
        ("one\nt│wo", "{", "│one\ntwo"),
        // Searching.
        ("o│ne two one Two", "/two␍", "one │two one Two"),
        ("o│ne two one Two", "/two␍n", "one two one │Two"),
        ("o│ne two one Two", "/two␍2n", "one │two one Two"),
        ("o│ne two one Two", "/Two␍", "one two one │Two"),
        ("one │two one", "?one␍", "│one two one"),
        ("o│ne two one", "/one␍N", "│one two one"),
        ("o│ne two", "/x␍", "o│ne two"),
        ("o│ne two", "v/tw␍d", "o│wo"),
        ("o│ne two one", "/two␍0dn", "│two one"),
        ("o│ne two one two", "d/two␍", "o│two one two"),
        ("o│ne two one two", "d2/two␍", "o│two"),
        ("one two │three", "d?one␍", "│three"),
        ("o│ne two", "d/x␍", "o│ne two"),
        ("o│ne last two", "0d/last␍.", "│last two"),
        // Unknown commands do nothing.
        ("o│ne", "qzZ", "o│ne"),
        ("o│ne", "d␛x", "o│e"),
        ("│日本e\u{301}👩‍👩‍👧x", "lllx", "日本e\u{301}│x"),
    ] {
        let mut editor = editor(text);
        assert_eq!(picture(&editor), text, "the start of {keys}");
        press(&mut editor, keys);
        let found = picture(&editor);
        if found != expected {
            wrong.push(format!(
                "{keys} on {text:?}: {found:?} instead of {expected:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn other_keys_and_vim_keys_do_not_interfere() {
    // The yanked text is gone, so YankPop can't replace it.
    let mut both = editor("│one two");
    both.apply(A::CutToEnd);
    both.apply(A::Yank);
    press(&mut both, "dd");
    both.apply(A::YankPop);
    assert_eq!(both.text(), "");
    // A vim deletion ends a sequence of cuts.
    let mut both = editor("│abc def");
    both.apply(A::CutWordForward);
    press(&mut both, "x");
    both.apply(A::CutToEnd);
    both.apply(A::Yank);
    assert_eq!(both.text(), "def");
    // Another command resets the column that `j` aims for.
    let mut both = editor("on│e\nx\ntwo");
    press(&mut both, "j~j");
    assert_eq!(picture(&both), "one\nX\n│two");
    // With a count `k` stays in the text; without one it opens the previous prompt.
    let mut both = Composer::new(60, 10);
    both.history_mut().push("earlier");
    both.set("one\ntwo");
    both.set_vim(true);
    press(&mut both, "␛5k");
    assert_eq!(picture(&both), "│one\ntwo");
    press(&mut both, "k");
    assert_eq!(both.text(), "earlier");
    // Sending a prompt resets the change that `.` repeats.
    let mut both = editor("│one");
    press(&mut both, "cwx␛");
    both.take();
    press(&mut both, "all new␛0.");
    assert_eq!(both.text(), "x new");
}

#[test]
fn visual_mode_ends_with_its_selection() {
    let mode = |tui: &TestTui| tui.app.composer.vim().map(|(mode, _)| mode.name());
    let visual = || {
        let mut tui = TestTui::new(80, 24);
        tui.app.composer.set_vim(true);
        tui.write("one two");
        tui.key("esc");
        tui.write("0v");
        assert_eq!(mode(&tui), Some("visual"));
        tui
    };
    // Ctrl+C copies only once, then stops and clears as usual.
    let mut tui = visual();
    tui.write("e");
    let copied = tui.key("ctrl+c");
    assert!(matches!(&copied[..], [Effect::Copy(..)]), "{copied:?}");
    assert_eq!(mode(&tui), Some("normal"));
    tui.key("ctrl+c");
    assert_eq!(tui.text(), "");
    // After a cut with another key nothing is selected, so `d` waits for a motion.
    let mut tui = visual();
    tui.write("e");
    tui.key("ctrl+k");
    assert_eq!((mode(&tui), tui.text()), (Some("normal"), " two".into()));
    tui.write("d");
    assert_eq!(tui.text(), " two");
    let mut tui = visual();
    tui.send(Msg::Input(InputEvent::Paste("1".into())));
    assert_eq!((mode(&tui), tui.text()), (Some("normal"), "1ne two".into()));
    // A motion that isn't vim's extends the selection.
    let mut tui = visual();
    tui.key("ctrl+right");
    let selected = tui.app.composer.selected_text();
    assert_eq!(selected.as_deref(), Some("one "));
    tui.write("d");
    assert_eq!(tui.text(), "two");
}

#[test]
fn keys_without_a_character_cancel_a_command() {
    let mut tui = TestTui::new(80, 24);
    tui.app.composer.set_vim(true);
    tui.write("one two");
    tui.key("esc");
    for (begun, key) in [("r", "left"), ("f", "delete"), ("2", "home"), ("d", "esc")] {
        tui.write(begun);
        tui.key(key);
        let (_, keys) = tui.app.composer.vim().unwrap();
        assert_eq!(keys, "", "{begun} {key}");
    }
    assert_eq!(tui.text(), "one to");
}

#[test]
fn a_written_answer_is_text_in_normal_mode() {
    let mut tui = TestTui::new(80, 24);
    tui.app.composer.set_vim(true);
    tui.key("esc");
    tui.running(Phase::Tools(Vec::new()));
    let open = vec![choice(1)];
    tui.agent(AgentEvent::Questions { open });
    tui.wait(500);
    tui.write("use both");
    assert_eq!(tui.text(), "use both");
}

#[test]
fn the_border_shows_the_mode_and_esc_first_leaves_insert_mode() {
    let mut tui = TestTui::new(80, 24);
    tui.app.composer.set_vim(true);
    tui.write("one two");
    assert!(tui.frame().contains("runs everything · insert "));
    tui.running(Phase::Streaming);
    assert_eq!(tui.key("esc"), []);
    tui.write("2d");
    assert!(tui.frame().contains("· normal 2d "), "{}", tui.frame());
    assert_eq!(tui.key("esc"), []);
    tui.write("bv");
    assert!(tui.frame().contains("· visual "));
    assert_eq!(tui.key("esc"), []);
    tui.now += 1000;
    assert_eq!(tui.key("esc"), [Effect::Abort]);
    tui.write("x");
    assert_eq!(tui.text(), "one wo");
    // Enter sends, and the next prompt starts in insert mode.
    tui.key("enter");
    tui.write("x");
    assert_eq!(tui.text(), "x");
    // A command typed from normal mode is a command too.
    tui.key("esc");
    tui.write("dd/he");
    assert_eq!(tui.text(), "/he");
    assert_eq!(
        tui.app.composer.vim().map(|(mode, _)| mode),
        Some(VimMode::Insert)
    );
}

#[test]
fn slash_searches_and_a_colon_says_there_are_no_ex_commands() {
    let mut tui = TestTui::new(80, 24);
    tui.app.composer.set_vim(true);
    tui.write("one two one");
    tui.key("esc");
    tui.write(":");
    assert!(tui.frame().contains("No ex commands"), "{}", tui.frame());
    tui.write("0/twx");
    assert!(tui.frame().contains("· normal /twx "), "{}", tui.frame());
    tui.key("backspace");
    assert_eq!(tui.key("enter"), []);
    tui.write("x/one");
    tui.key("enter");
    tui.write("nx");
    assert_eq!(tui.text(), "ne wo one");
    // In a search these letters don't wait for a second character.
    for end in ["r", "t", "f", "F", "T"] {
        tui.write(&format!("0/x{end}"));
        tui.key("backspace");
        assert!(tui.frame().contains("· normal /x "), "{}", tui.frame());
        tui.key("esc");
    }
    // Nothing is sent. Esc, deleting the slash or another key ends the search.
    for key in ["esc", "backspace", "left"] {
        tui.write("/");
        tui.key(key);
        tui.write("~~");
    }
    assert_eq!(tui.text().to_lowercase(), "ne wo one");
}

#[test]
fn searches_end_with_any_letter_and_lines_are_cut_at_characters() {
    let mut tui = TestTui::new(80, 24);
    tui.app.composer.set_vim(true);
    for end in ["r", "f", "F", "t", "T"] {
        tui.app.composer.set(&format!("a x{end} b"));
        tui.key("esc");
        tui.write(&format!("0/x{end}"));
        assert_eq!(tui.key("enter"), []);
        tui.write("D");
        assert_eq!(tui.text(), "a ", "{end}");
        tui.write("i");
    }
    tui.app.composer.set("one two");
    tui.key("esc");
    tui.write("03l3r");
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "one\no");
    tui.write("u");
    assert_eq!(tui.text(), "one two");
}

#[test]
fn huge_counts_are_limited_and_cheap() {
    let many = "9".repeat(40);
    for keys in ["dl", "dd", "dj", "d$", "dw", "x", "dn", ">>", "u", "J", "p"] {
        let mut editor = editor("│one two");
        for c in many.chars().chain("/o\n".chars()) {
            editor.vim_press(VimKey::Char(c));
        }
        press(&mut editor, "␛0");
        let (operator, motion) = keys.split_at(keys.len() - 1);
        press(&mut editor, &[&many, operator, &many, motion].concat());
    }
    let mut editor = editor("│one two");
    press(&mut editor, &format!("{many}x"));
    assert_eq!(editor.text(), "");
}

#[test]
fn a_key_jumps_to_a_character() {
    let mut tui = TestTui::new(80, 24);
    tui.write("let (a, b) = (c, d);");
    for (keys, typed, expected) in [
        ("ctrl+alt+]", "(", "let (a, b) = │(c, d);"),
        ("ctrl+alt+]", "(", "let │(a, b) = (c, d);"),
        ("ctrl+]", ",", "let (a│, b) = (c, d);"),
        ("ctrl+]", ",", "let (a, b) = (c│, d);"),
    ] {
        tui.key(keys);
        assert!(tui.frame().contains("Type the character"));
        tui.write(typed);
        assert_eq!(picture(&tui.app.composer), expected);
    }
    tui.key("ctrl+]");
    tui.write("z");
    assert!(tui.frame().contains("No z after the cursor"));
    // Waiting for the character times out.
    tui.key("ctrl+]");
    tui.wait(3001);
    tui.write("!");
    assert_eq!(tui.text(), "let (a, b) = (c!, d);");
    tui.key("backspace");
    // Esc ends the waiting, not the run.
    tui.running(Phase::Streaming);
    tui.key("ctrl+]");
    assert_eq!(tui.key("esc"), []);
    // Any other key works as usual.
    tui.key("ctrl+]");
    tui.key("left");
    tui.write("x");
    assert_eq!(tui.text(), "let (a, b) = (xc, d);");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// With any keys on any text nothing breaks, the caret stays between characters, and everything
    /// can be undone.
    #[test]
    fn any_keys_on_any_text(text in text(wild()), keys in prop::collection::vec(any_key(), 1..60)) {
        holds(&text, &keys)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "runs PROPTEST_CASES cases; 10,000 take a minute"]
    fn many_random_keys_on_any_text(text in text(wild()), keys in prop::collection::vec(any_key(), 1..60)) {
        holds(&text, &keys)?;
    }
}

fn any_key() -> impl Strategy<Value = char> {
    let keys = "hjklwbeWBE0^$fFtT;,gGxXdcypPDCYsSr~u®.iaIAoOvV\"'([{<)]}>%Jnge/N?123␛␛␛␍␍␈ ab日\u{301}↧↥⟳→⌫";
    prop::sample::select(keys.chars().collect::<Vec<_>>())
}

fn holds(text: &str, keys: &[char]) -> Result<(), TestCaseError> {
    let mut editor = Composer::new(20, 5);
    editor.set_vim(true);
    editor.set(text);
    // In full, a paste may join the characters beside it; as a placeholder it never does.
    let pastes = keys.len().is_multiple_of(2);
    if pastes {
        editor.paste(&"long\n".repeat(20));
    }
    let start = editor.text();
    for (number, key) in keys.iter().enumerate() {
        // Counts multiplied by counts would only take time.
        if editor.text().len() > 20_000 {
            break;
        }
        press(&mut editor, &key.to_string());
        let text = editor.text();
        let marked = picture(&editor);
        let caret = marked.find('│').expect("expected the caret");
        let between = caret == text.len() || text.grapheme_indices(true).any(|(at, _)| at == caret);
        prop_assert!(
            pastes || between,
            "{:?} at {} after {:?}",
            text,
            caret,
            &keys[..=number]
        );
        let layout = editor.layout();
        prop_assert!(usize::from(layout.cursor.1) < layout.rows.len());
        editor.selected_text();
    }
    editor.set_vim(false);
    while changes(&mut editor, A::Undo) {
        if editor.text() == start {
            return Ok(());
        }
    }
    prop_assert_eq!(editor.text(), "");
    Ok(())
}
