//! Key files and the table of actions.

use std::collections::HashSet;

use tiller::app::action::{Action, Scope, actions};
use tiller::app::tui::keymap::{Chord, Keymap, Meaning, label};
use tiller::app::tui::popups::{HelpRow, help_rows};
use tiller::app::tui::terminal::input::{KeyPress, ParseKeyError};

fn resolve(map: &Keymap, key: &str, scope: Scope) -> Option<Action> {
    map.resolve(key.parse().expect("a key"), scope)
}

#[test]
fn the_built_in_file_is_complete_and_correct() {
    let text = include_str!("../../assets/keymap.toml");
    assert_eq!(Keymap::with("assets/keymap.toml", text).1, []);
    let table: toml::Table = text.parse().expect("toml");
    let sections = table.values().filter_map(toml::Value::as_table);
    let listed: Vec<&str> = sections
        .flat_map(|it| it.keys().map(String::as_str))
        .collect();
    // Commands that every front end runs have no default key.
    let of_screen = actions().filter(|spec| !matches!(spec.action, Action::Command(_)));
    let named: HashSet<&str> = of_screen.map(|spec| spec.name).collect();
    assert_eq!(listed.iter().copied().collect::<HashSet<_>>(), named);
    let keymap = Keymap::default();
    for spec in actions() {
        let reachable = spec.slash.is_some() || keymap.label(spec.action).is_some();
        assert!(reachable, "{} has no way to it", spec.name);
        // Each action and each name has one row.
        assert_eq!(spec.action.spec().name, spec.name);
        assert_eq!(Action::from_name(spec.name), Some(spec.action));
    }
}

#[test]
fn the_default_keys_match_the_design() {
    let map = Keymap::default();
    for (key, action) in [
        ("enter", Action::Submit),
        ("alt+enter", Action::FollowUp),
        ("ctrl+q", Action::FollowUp),
        ("ctrl+enter", Action::SteerNow),
        ("shift+enter", Action::Newline),
        ("ctrl+j", Action::Newline),
        ("esc", Action::Cancel),
        ("ctrl+c", Action::Interrupt),
        ("ctrl+d", Action::Quit),
        ("ctrl+o", Action::ToggleOutput),
        ("ctrl+t", Action::ToggleThinking),
        ("ctrl+g", Action::ExternalEditor),
        ("ctrl+r", Action::HistorySearch),
        ("ctrl+f", Action::Search),
        ("ctrl+x", Action::CopyReply),
        ("alt+x", Action::CopyList),
        ("ctrl+z", Action::Suspend),
        ("ctrl+l", Action::Models),
        ("ctrl+p", Action::NextModel),
        ("alt+.", Action::ThinkingUp),
        ("alt+,", Action::ThinkingDown),
        ("f1", Action::Help),
        ("alt+up", Action::TakeBack),
        ("ctrl+_", Action::Undo),
        ("alt+_", Action::Redo),
        ("shift+tab", Action::NextPermissionMode),
    ] {
        assert_eq!(resolve(&map, key, Scope::Everywhere), Some(action), "{key}");
    }
    assert_eq!(
        resolve(&map, "ctrl+b", Scope::Everywhere),
        None,
        "unused so far"
    );
}

/// A popup's own keys take precedence in it and do nothing elsewhere.
#[test]
fn a_popups_keys_only_work_in_it() {
    let (map, faults) = Keymap::with("k", "list_next = \"ctrl+t\"\nundo = \"q\"");
    assert_eq!(faults, []);
    for (key, scope, action) in [
        ("ctrl+p", Scope::Everywhere, Some(Action::NextModel)),
        ("ctrl+p", Scope::List, Some(Action::ListPrevious)),
        ("ctrl+t", Scope::List, Some(Action::ListNext)),
        ("ctrl+t", Scope::Everywhere, Some(Action::ToggleThinking)),
        ("ctrl+n", Scope::List, None),
        ("q", Scope::Pager, Some(Action::Undo)),
        ("q", Scope::List, Some(Action::Undo)),
        ("y", Scope::Everywhere, None),
        ("esc", Scope::List, Some(Action::Back)),
        ("esc", Scope::Everywhere, Some(Action::Cancel)),
    ] {
        assert_eq!(resolve(&map, key, scope), action, "{key} in {scope:?}");
    }
}

/// In lists and questions, Enter and Esc belong to separate actions.
#[test]
fn remapping_the_editor_leaves_lists_usable() {
    let (map, faults) = Keymap::with("k", "submit = \"alt+enter\"\n[editor]\nnewline = \"enter\"");
    assert_eq!(faults, []);
    for scope in [
        Scope::List,
        Scope::Tree,
        Scope::Sessions,
        Scope::Pager,
        Scope::Selecting,
    ] {
        assert_eq!(
            resolve(&map, "enter", scope),
            Some(Action::Accept),
            "{scope:?}"
        );
        assert_eq!(resolve(&map, "esc", scope), Some(Action::Back), "{scope:?}");
    }
    assert_eq!(
        resolve(&map, "enter", Scope::Everywhere),
        Some(Action::Newline)
    );
}

#[test]
fn chords_run_one_action() {
    let file =
        "settings = [\"ctrl+k ctrl+s\", \"f5\"]\nhelp = \"ctrl+k ctrl+k\"\nlist_next = \"ctrl+k\"";
    let (map, faults) = Keymap::with("k", file);
    assert_eq!(faults, []);
    for (keys, scope, meaning) in [
        ("ctrl+k", Scope::Everywhere, Meaning::Begins),
        (
            "ctrl+k ctrl+s",
            Scope::Everywhere,
            Meaning::Action(Action::Settings),
        ),
        ("ctrl+k ctrl+k", Scope::Pager, Meaning::Action(Action::Help)),
        ("ctrl+k ctrl+x", Scope::Everywhere, Meaning::Nothing),
        (
            "ctrl+s",
            Scope::Everywhere,
            Meaning::Action(Action::SaveModel),
        ),
        // In a list it is a single key.
        ("ctrl+k", Scope::List, Meaning::Action(Action::ListNext)),
    ] {
        let chord: Chord = keys.parse().expect(keys);
        assert_eq!(
            map.meaning(chord.keys(), scope),
            meaning,
            "{keys} in {scope:?}"
        );
    }
    assert_eq!(
        map.keys(Action::CutToEnd).count(),
        0,
        "its key now starts chords"
    );
    assert_eq!(
        map.label(Action::Settings).as_deref(),
        Some("Ctrl+K Ctrl+S")
    );
}

#[test]
fn the_users_file_overrides_the_defaults() {
    let (_, faults) = Keymap::with("k", "rewind = \"esc esc\"\ncancel = \"f9\"");
    assert_eq!(faults, [], "cancel has another key");
    let (map, faults) = Keymap::with("k", "follow_up = [\"ctrl+o\"]\nundo = []\nsuspend='f5'");
    assert_eq!(faults, []);
    assert_eq!(
        resolve(&map, "ctrl+o", Scope::Everywhere),
        Some(Action::FollowUp)
    );
    assert_eq!(
        resolve(&map, "ctrl+q", Scope::Everywhere),
        None,
        "only the listed keys apply"
    );
    assert_eq!(
        map.keys(Action::ToggleOutput).count(),
        0,
        "a reassigned key no longer runs its old action"
    );
    assert_eq!(map.keys(Action::Undo).count(), 0);
    assert_eq!(map.label(Action::Suspend).as_deref(), Some("F5"));
    assert_eq!(
        resolve(&map, "enter", Scope::Everywhere),
        Some(Action::Submit),
        "other actions keep their keys"
    );
}

#[test]
fn errors_name_their_line() {
    for (text, line, wanted) in [
        (
            "\nsubmitt = \"enter\"",
            2,
            "unknown action `submitt`: did you mean `submit`?",
        ),
        (
            "frobnicate = \"enter\"",
            1,
            "unknown action `frobnicate`: F1",
        ),
        (
            "submit = \"ctrl+entr\"",
            1,
            "unknown key `ctrl+entr`: did you mean `ctrl+enter`?",
        ),
        (
            "allow_once = \"y\"",
            1,
            "`allow_once` no longer exists: to answer a question",
        ),
        ("submit = \"ctrl-x\"", 1, "did you mean `ctrl+x`?"),
        (
            "undo = [\n\"ctrl+z\",\n\"blorp\"]",
            3,
            "unknown key `blorp`",
        ),
        ("undo = 3", 1, "a key must be a string in quotes"),
        (
            "undo = \"ctrl+k ctrl+entr\"",
            1,
            "unknown key `ctrl+k ctrl+entr`",
        ),
        (
            "undo = \"ctrl+k\"\nredo = \"ctrl+k ctrl+s\"",
            2,
            "`ctrl+k ctrl+s` clashes with `ctrl+k`, which is bound to `undo`",
        ),
        (
            "undo = \"ctrl+k a b\"\nredo = \"ctrl+k a\"",
            2,
            "`ctrl+k a` clashes with `ctrl+k a b`, which is bound to `undo`",
        ),
        (
            "undo = \"f5\"\nredo = \"f5\"",
            2,
            "`f5` is already bound to `undo`",
        ),
        (
            "rewind = \"esc esc\"",
            1,
            "`rewind` takes the last key of `cancel` (Stop the agent, or close what's open): give `cancel` another",
        ),
        ("\nundo = \"ctrl+c\"", 2, "the last key of `interrupt`"),
        (
            "undo = \"f5\"\nundo = \"f6\"",
            2,
            "'undo' is already on line 1",
        ),
        ("# fine\n\nundo = [", 3, ""),
    ] {
        let (_, faults) = Keymap::with("keys.toml", text);
        let error = faults.first().expect(text);
        assert_eq!(error.line, line, "{error}");
        assert!(
            error
                .to_string()
                .starts_with(&format!("keys.toml:{line}: ")),
            "{error}"
        );
        assert!(error.message.contains(wanted), "{error}");
    }
}

#[test]
fn keys_are_shown_readably() {
    for (key, wanted) in [
        ("ctrl+enter", "Ctrl+Enter"),
        ("pageup", "PageUp"),
        ("f1", "F1"),
        ("ctrl+_", "Ctrl+_"),
        ("ctrl+a", "Ctrl+A"),
        ("a", "a"),
        ("ctrl++", "Ctrl++"),
        ("alt+shift+ä", "Alt+Shift+Ä"),
        ("ctrl+k  ctrl+s", "Ctrl+K Ctrl+S"),
    ] {
        let chord: Chord = key.parse().expect("a key");
        assert_eq!(label(chord), wanted);
    }
}

#[test]
fn every_action_is_in_the_help_with_its_keys() {
    let keymap = Keymap::default();
    let rows = help_rows(&keymap);
    for spec in actions() {
        let keys: Vec<String> = keymap.keys(spec.action).map(label).collect();
        let found = rows.iter().find_map(|row| match row {
            HelpRow::Entry(entry) => Some(entry).filter(|entry| entry.spec == Some(spec)),
            HelpRow::Heading(_) => None,
        });
        let found = found.expect(spec.name);
        assert_eq!(found.keys, keys.join(", "), "{}", spec.name);
        assert_eq!(found.text, spec.help);
        let begins = |slash| found.command.starts_with(&format!("/{slash}"));
        assert!(spec.slash.is_none_or(begins), "{}", spec.name);
        assert!(spec.help.len() <= 60, "too long: {}", spec.help);
    }
}

#[test]
fn a_key_press_has_one_written_form() {
    for (typed, written) in [
        ("ctrl+enter", "ctrl+enter"),
        ("Ctrl+Enter", "ctrl+enter"),
        ("alt+up", "alt+up"),
        ("shift+tab", "shift+tab"),
        ("f1", "f1"),
        ("F35", "f35"),
        ("ctrl+_", "ctrl+_"),
        ("ctrl+shift+-", "ctrl+_"),
        ("ctrl+shift+_", "ctrl+_"),
        ("a", "a"),
        ("A", "A"),
        ("shift+a", "A"),
        ("shift+1", "!"),
        ("alt+A", "alt+shift+a"),
        ("shift+ctrl+x", "ctrl+shift+x"),
        ("control+C", "ctrl+shift+c"),
        ("+", "+"),
        ("ctrl++", "ctrl++"),
        ("ctrl+plus", "ctrl++"),
        ("ctrl+space", "ctrl+space"),
        ("alt+.", "alt+."),
        ("alt+ä", "alt+ä"),
        ("alt+Ä", "alt+shift+ä"),
        ("meta+cmd+escape", "alt+super+esc"),
        ("PgUp", "pageup"),
    ] {
        let press: KeyPress = typed.parse().expect(typed);
        assert_eq!(press.to_string(), written, "{typed}");
        assert_eq!(written.parse(), Ok(press), "{written}");
    }
}

#[test]
fn invalid_keys_are_rejected() {
    for text in [
        "",
        "ctrl+",
        "hyper+a",
        "f0",
        "f36",
        "ab",
        "ctrl+enter+a",
        "\x1b",
        "ctrl",
    ] {
        assert_eq!(
            text.parse::<KeyPress>(),
            Err(ParseKeyError(text.into())),
            "{text:?}"
        );
    }
}

#[test]
fn only_a_bare_character_is_text() {
    for (key, text) in [
        ("a", Some('a')),
        ("shift+a", Some('A')),
        ("ctrl+a", None),
        ("enter", None),
    ] {
        let press: KeyPress = key.parse().expect("a key");
        assert_eq!(press.text(), text, "{key}");
    }
}

#[test]
fn a_missing_file_changes_nothing() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for path in [
        "/no/such/keymap.toml".into(),
        file.path().join("keymap.toml"),
    ] {
        assert_eq!(Keymap::load(&path).1, [], "{path:?}");
    }
}

/// Half a key file is better than none: errors are shown, the other lines apply.
#[test]
fn lines_without_errors_apply() {
    let text = "submitt = \"f7\"\nundo = [\"f5\", \"blorp\"]\nredo = \"f5\"\nhelp = \"nokey\"\nsuspend = \"f9\"\n";
    let (map, faults) = Keymap::with("k", text);
    let lines: Vec<usize> = faults.iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [1, 2, 3, 4], "{faults:?}");
    assert_eq!(resolve(&map, "f5", Scope::Everywhere), Some(Action::Undo));
    assert_eq!(
        resolve(&map, "f9", Scope::Everywhere),
        Some(Action::Suspend)
    );
    assert_eq!(
        resolve(&map, "f1", Scope::Everywhere),
        Some(Action::Help),
        "a line with only errors changes nothing"
    );
    assert_eq!(map.keys(Action::Redo).count(), 0);
    for (text, expected) in [
        (
            "\nquit = Ctrl+Q",
            "k:2: write `quit = \"ctrl+q\"`; tiller ignores this file",
        ),
        (
            "ctrl+q = \"quit\"",
            "k:1: write `quit = \"ctrl+q\"`; tiller ignores this file",
        ),
        (
            "help = 3",
            "k:1: a key must be a string in quotes, as in `quit = \"ctrl+q\"`",
        ),
    ] {
        let (_, faults) = Keymap::with("k", text);
        assert_eq!(faults[0].to_string(), expected);
    }
    let (map, faults) = Keymap::with("k", "undo = [");
    assert_eq!(faults.len(), 1);
    assert_eq!(map, Keymap::default());
}
