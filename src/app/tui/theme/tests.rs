//! Tests of the built-in themes, of inheritance and of contrast.

use ratatui_core::style::{Color, Style};

use super::color::indexed_rgb;
use super::contrast::{Rgb, contrast};
use super::load::LoadedTheme;
use super::{ColorDepth, Kind, TerminalColors, Theme, Themes};

const DEPTHS: [ColorDepth; 4] = [
    ColorDepth::None,
    ColorDepth::Ansi16,
    ColorDepth::Indexed256,
    ColorDepth::TrueColor,
];

fn names() -> Vec<String> {
    Themes::default().names().map(str::to_owned).collect()
}

/// The colors of every slot.
fn colors(theme: &mut Theme) -> Vec<Color> {
    let styles = Theme::SLOTS
        .iter()
        .map(|slot| *theme.slot_mut(slot).unwrap());
    let colors = styles.flat_map(|style| [style.fg, style.bg]);
    colors.flatten().collect()
}

fn own(text: &str) -> LoadedTheme {
    let themes = Themes::default().with("mine", text);
    themes
        .load("mine", ColorDepth::TrueColor, &TerminalColors::default())
        .unwrap()
}

#[test]
fn built_in_themes_load_at_every_depth_in_its_colors() {
    assert!(names().len() > 12);
    for (name, depth) in names()
        .iter()
        .flat_map(|name| DEPTHS.map(|depth| (name, depth)))
    {
        let themes = Themes::default();
        let loaded = themes
            .load(name, depth, &TerminalColors::default())
            .unwrap();
        assert_eq!(loaded.warnings, [], "{name}");
        let mut theme = loaded.theme;
        assert!(!theme.syntax.is_empty());
        assert_eq!(&theme.name, name);
        let rgb = |color: &Color| matches!(color, Color::Rgb(..));
        let found = colors(&mut theme);
        assert_eq!(depth == ColorDepth::None, found.is_empty(), "{name}");
        if depth == ColorDepth::Ansi16 || name == "ansi" {
            let of_syntax = theme.syntax.iter().filter_map(|rule| rule.style.fg);
            assert!(!found.into_iter().chain(of_syntax).any(|color| rgb(&color)));
        }
    }
}

#[test]
fn the_root_theme_styles_every_slot() {
    let (_, text) = Themes::built_in("dark").unwrap();
    let (dark, warnings) = super::source::Source::read("dark", text);
    assert_eq!(warnings, []);
    for slot in Theme::SLOTS {
        assert!(dark.ui.contains_key(*slot), "dark.toml lacks {slot}");
    }
}

// For slots with the terminal's own colors.
const DARK: (Rgb, Rgb) = ((0xd8, 0xda, 0xe0), (0x16, 0x18, 0x1d));
const LIGHT: (Rgb, Rgb) = ((0x1f, 0x24, 0x30), (0xff, 0xff, 0xff));

/// The texts of a theme with too little contrast; `most` limits the requirement.
fn unreadable(theme: &Theme, most: f64) -> Vec<String> {
    let (ink, ground) = match theme.kind {
        Kind::Dark => DARK,
        Kind::Light => LIGHT,
    };
    let rgb = |color: Option<Color>, usual: Rgb| match color {
        Some(Color::Rgb(r, g, b)) => (r, g, b),
        Some(Color::Indexed(index @ 16..)) => indexed_rgb(index),
        _ => usual,
    };
    let screen = theme.screen;
    let ink = rgb(screen.fg, ink);
    let ground = rgb(screen.bg, ground);
    let mut found = Vec::new();
    let mut check = |what: &str, style: Style, under: Rgb, least: f64| {
        let got = contrast(rgb(style.fg, ink), rgb(style.bg, under));
        let least = least.min(most);
        if got < least {
            found.push(format!("{}: {what} {got:.2} < {least}", theme.name));
        }
    };
    let popup = rgb(theme.popup.bg, ground);
    for slot in Theme::SLOTS {
        let style = *theme.clone().slot_mut(slot).unwrap();
        // Rules, bars and marks without letters need less contrast.
        let is_line = matches!(
            *slot,
            "rule" | "table_border" | "quote_bar" | "context_free" | "popup_border"
        );
        let least = if is_line || slot.starts_with("editor_") && style.fg.is_none() {
            3.0
        } else {
            4.5
        };
        let fg = match *slot {
            "diff_added_word" | "diff_removed_word" => theme.diff_added.fg,
            _ => style.fg,
        };
        check(slot, Style { fg, ..style }, ground, least);
        // These appear in popups, too.
        if matches!(
            *slot,
            "dim" | "faint" | "accent" | "warning" | "error" | "key_hint" | "tool_ok"
        ) {
            check(&format!("{slot} in a popup"), style, popup, 4.5);
        }
    }
    for rule in &theme.syntax {
        for (place, under, least) in [
            ("", screen, 4.5),
            (" in a block", theme.code_block, 4.5),
            (" added", theme.diff_added, 4.5),
            (" removed", theme.diff_removed, 4.5),
            (" in an added word", theme.diff_added_word, 3.0),
            (" in a removed word", theme.diff_removed_word, 3.0),
        ] {
            let (what, under) = (format!("{}{place}", rule.scopes), rgb(under.bg, ground));
            check(&what, rule.style, under, least);
        }
    }
    found
}

#[test]
fn all_text_is_readable() {
    let mut found = Vec::new();
    for name in names() {
        // Those two are the terminal's own colors.
        if name != "ansi" && name != "system" {
            let theme = Theme::load(&name, ColorDepth::TrueColor).unwrap();
            found.extend(unreadable(&theme, f64::MAX));
            // The cube has no dark tints, and no green that is darker than this allows.
            let theme = Theme::load(&name, ColorDepth::Indexed256).unwrap();
            found.extend(unreadable(&theme, 3.0));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Even with few colors, a diff shows additions and removals in the theme's hues.
#[test]
fn diff_backgrounds_differ_and_keep_their_hue_in_256_colors() {
    for name in names() {
        let full = Theme::load(&name, ColorDepth::TrueColor).unwrap();
        let theme = Theme::load(&name, ColorDepth::Indexed256).unwrap();
        let Some(Color::Rgb(..)) = full.diff_added.bg else {
            continue;
        };
        let mut grounds = vec![
            theme.diff_added.bg,
            theme.diff_removed.bg,
            theme.code_block.bg,
        ];
        grounds.extend(theme.paints().then_some(theme.screen.bg));
        for (at, one) in grounds.iter().enumerate() {
            assert!(!grounds[..at].contains(one), "{name}: {grounds:?}");
        }
        for (line, number, word) in [
            (
                theme.diff_added,
                theme.diff_added_number,
                theme.diff_added_word,
            ),
            (
                theme.diff_removed,
                theme.diff_removed_number,
                theme.diff_removed_word,
            ),
        ] {
            let Some(Color::Indexed(index)) = line.bg else {
                panic!("{name}: {line:?}");
            };
            let (r, g, b) = indexed_rgb(index);
            assert!(
                r.max(g).max(b) - r.min(g).min(b) >= 25,
                "{name}: gray {index}"
            );
            assert_eq!(number.bg, line.bg, "{name}");
            assert_ne!(word, line, "{name}");
        }
    }
    for name in ["dark", "light", "nord", "gruvbox-dark", "solarized-light"] {
        let theme = Theme::load(name, ColorDepth::Indexed256).unwrap();
        let channels = [theme.diff_added.bg, theme.diff_removed.bg].map(|bg| match bg {
            Some(Color::Indexed(index)) => indexed_rgb(index),
            other => panic!("{name}: {other:?}"),
        });
        let [(r, g, _), (red, green, _)] = channels;
        assert!(g > r && red > green, "{name}: {channels:?}");
    }
}

#[test]
fn additions_and_removals_differ_for_every_eye() {
    for name in ["colorblind-dark", "colorblind-light"] {
        let theme = Theme::load(name, ColorDepth::TrueColor).unwrap();
        // Everyone can tell blue from orange, so the two must differ in that.
        for (added, removed) in [
            (theme.diff_added.bg, theme.diff_removed.bg),
            (theme.diff_added_word.bg, theme.diff_removed_word.bg),
            (theme.diff_added_number.fg, theme.diff_removed_number.fg),
        ] {
            let (Some(Color::Rgb(_, _, added)), Some(Color::Rgb(_, _, removed))) = (added, removed)
            else {
                panic!("{name} has no colors of its own");
            };
            assert!(added.abs_diff(removed) > 16, "{name}: {added} {removed}");
        }
    }
}

/// The terminal colors of Solarized, of xterm, and all gray.
#[test]
fn the_system_theme_is_readable_with_any_terminal_colors() {
    let xterm = |index: usize| {
        let on = if index < 8 { 205 } else { 255 };
        let bit = |bit: usize| if index & bit > 0 { on } else { 0 };
        Some((bit(1), bit(2), bit(4)))
    };
    for (ink, ground, sixteen) in [
        ((0x83, 0x94, 0x96), (0x00, 0x2b, 0x36), [None; 16]),
        ((0x65, 0x7b, 0x83), (0xfd, 0xf6, 0xe3), [None; 16]),
        ((255, 255, 255), (0, 0, 0), std::array::from_fn(xterm)),
        ((0, 0, 0), (255, 255, 255), std::array::from_fn(xterm)),
        (
            (127, 127, 127),
            (127, 127, 127),
            [Some((127, 127, 127)); 16],
        ),
    ] {
        let terminal = TerminalColors {
            ink: Some(ink),
            ground: Some(ground),
            sixteen,
        };
        let loaded = Themes::default()
            .load("system", ColorDepth::TrueColor, &terminal)
            .unwrap();
        assert_eq!(loaded.warnings, []);
        for color in [loaded.theme.accent, loaded.theme.error, loaded.theme.dim] {
            let Some(Color::Rgb(r, g, b)) = color.fg else {
                panic!("{ground:?}: no color of its own");
            };
            let got = contrast((r, g, b), ground);
            // No text is readable on middle gray.
            assert!(got >= 4.5 || ground == (127, 127, 127), "{ground:?}: {got}");
        }
    }
}

#[test]
fn mistakes_are_reported_with_their_line_and_the_rest_is_used() {
    for (text, line, expected) in [
        ("[ui]\ntool_nmae = \"red\"\n", 2, "did you mean 'tool_name'"),
        ("\n[ui]\ntext = \"acent\"\n", 3, "'acent' is neither"),
        (
            "[ui]\ntext = { fg = \"red\", blink = true }\n",
            2,
            "'blink'",
        ),
        (
            "[ui]\ntext = { fg = \"red\", bold = 1 }\n",
            2,
            "bold must be true or false",
        ),
        ("[ui]\ntext = [1]\n", 2, "a style is"),
        ("[colors]\n", 1, "unknown entry 'colors'"),
        ("palette = 3\n", 1, "expected a table"),
        ("[palette]\naccent = \"#12\"\n", 2, "'#12' isn't a color"),
        ("[palette]\naccent = true\n", 2, "a color is"),
        ("inherits = \"drak\"\n", 1, "did you mean 'dark'"),
        ("inherits = \"mine\"\n", 1, "inherits from itself"),
        ("kind = \"grey\"\n", 1, "kind must be"),
        ("[ui\n", 1, "theme ignored"),
    ] {
        let text = format!("{text}\n");
        let loaded = own(&text);
        let [warning] = &loaded.warnings[..] else {
            panic!("{text}: {:?}", loaded.warnings);
        };
        assert!(warning.value.contains(expected), "{text}: {warning}");
        assert_eq!(
            (&*warning.file, warning.line),
            ("mine.toml", line),
            "{text}: {warning}"
        );
        let dark = Theme::load("dark", ColorDepth::TrueColor).unwrap();
        assert_eq!(loaded.theme.error, dark.error, "{text}");
        assert_eq!(loaded.theme.accent, dark.accent, "{text}");
    }
    let loaded = own("[ui]\ntext = \"nothing\"\naccent = \"#010203\"\n");
    assert_eq!(loaded.theme.accent.fg, Some(Color::Rgb(1, 2, 3)));
}

#[test]
fn circular_inheritance_ends() {
    let themes = Themes::default()
        .with("one", "inherits = \"two\"\n[palette]\nred = \"#010101\"\n")
        .with(
            "two",
            "inherits = \"one\"\n[palette]\ngreen = \"#020202\"\n",
        );
    let loaded = themes
        .load("one", ColorDepth::TrueColor, &TerminalColors::default())
        .unwrap();
    assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
    assert_eq!(loaded.theme.error.fg, Some(Color::Rgb(1, 1, 1)));
    assert_eq!(loaded.theme.tool_ok.fg, Some(Color::Rgb(2, 2, 2)));
    let circle = "[palette]\naccent = \"blue\"\nblue = \"accent\"\n";
    let theme = own(circle).theme;
    assert!(theme.accent.fg.is_some(), "the inherited color is used");
}

#[test]
fn own_themes_win_over_built_in_ones() {
    let themes = Themes::default().with("light", "[palette]\naccent = \"#070707\"\n");
    let loaded = themes.load("light", ColorDepth::TrueColor, &TerminalColors::default());
    assert_eq!(loaded.unwrap().theme.accent.fg, Some(Color::Rgb(7, 7, 7)));
    assert_eq!(themes.names().filter(|name| *name == "light").count(), 1);
    let error = Theme::load("drak", ColorDepth::None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean 'dark'"), "{error}");
}

#[test]
fn a_folder_of_themes_is_read() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Themes::read(&folder.path().join("none")), Themes::default());
    std::fs::write(folder.path().join("sea.toml"), "inherits = \"nord\"\n").unwrap();
    std::fs::write(folder.path().join("note.txt"), "no theme").unwrap();
    let themes = Themes::read(folder.path());
    assert!(themes.is_own("sea") && !themes.is_own("nord"));
    assert_eq!(themes.names().count(), names().len() + 1);
}

#[test]
fn a_theme_paints_its_ground_on_the_other_kind_of_terminal() {
    let on = |name: &str, ground: Rgb| {
        let terminal = TerminalColors {
            ground: Some(ground),
            ..TerminalColors::default()
        };
        let loaded = Themes::default().load(name, ColorDepth::TrueColor, &terminal);
        loaded.unwrap().theme
    };
    for (name, ground, paints) in [
        ("light", (0, 0, 0), true),
        ("light", (255, 255, 255), false),
        ("dark", (255, 255, 255), true),
        ("dark", (0, 0, 0), false),
        ("ansi", (255, 255, 255), false),
        ("nord", (0, 0, 0), true),
    ] {
        let theme = on(name, ground);
        assert_eq!(theme.paints(), paints, "{name} on {ground:?}");
        if paints {
            assert_eq!(unreadable(&theme, f64::MAX), Vec::<String>::new());
        }
    }
}
