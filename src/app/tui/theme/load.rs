//! From TOML to a [`Theme`]: inheritance, palette, slots, syntax map. Unknown names are refused
//! with the nearest known one, because a misspelt slot would otherwise just look wrong.

use std::collections::BTreeMap;

use ratatui::style::{Modifier, Style};
use serde::Deserialize;
use thiserror::Error;

use super::color::{self, ColorDepth};
use super::slots::{SLOTS, SyntaxRule, Theme};
use crate::llm::nearest::nearest;

/// The themes that are built in, and their sources.
const BUILT_IN: [(&str, &str); 3] = [
    ("dark", include_str!("../../../../themes/dark.toml")),
    ("light", include_str!("../../../../themes/light.toml")),
    ("ansi", include_str!("../../../../themes/ansi.toml")),
];

/// Why a theme could not be loaded, with the theme's name and the nearest name that is known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ThemeError(String);

/// A theme file as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawTheme {
    inherits: Option<String>,
    palette: BTreeMap<String, String>,
    ui: BTreeMap<String, RawStyle>,
    syntax: BTreeMap<String, RawStyle>,
}

/// A style as written: a color, or a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a color, or a table of fg, bg, bold, dim, italic, underline, strike, reverse"
)]
enum RawStyle {
    Color(String),
    Full(FullStyle),
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FullStyle {
    fg: Option<String>,
    bg: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    strike: bool,
    reverse: bool,
}

impl Theme {
    /// The names of the built-in themes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The built-in theme `name`, in the colors of `depth`.
    pub fn load(name: &str, depth: ColorDepth) -> Result<Self, ThemeError> {
        Self::from_toml(name, source(name)?, depth)
    }

    /// A theme from the text of a theme file; it may inherit a built-in one.
    pub fn from_toml(name: &str, text: &str, depth: ColorDepth) -> Result<Self, ThemeError> {
        let raw = read(name, text)?;
        let merged = match &raw.inherits {
            // Built-in themes inherit from a built-in root only, so this ends after one step.
            Some(parent) => merge(read(parent, source(parent)?)?, raw),
            None => raw,
        };
        let merged = if depth == ColorDepth::None {
            // Without colors a background alone says nothing: the ansi theme says the same things
            // with reverse, bold and underline.
            merge(merged, read("ansi", source("ansi")?)?)
        } else {
            merged
        };
        resolve(name, &merged, depth)
    }
}

fn source(name: &str) -> Result<&'static str, ThemeError> {
    BUILT_IN
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
        .ok_or_else(|| {
            let names: Vec<_> = Theme::names().collect();
            let near = nearest(name, names.iter().copied());
            let near = near.map_or_else(
                || "there".to_owned(),
                |near| format!("did you mean '{near}'? There"),
            );
            let all = names.join(", ");
            ThemeError(format!("unknown theme '{name}': {near} are {all}"))
        })
}

fn read(name: &str, text: &str) -> Result<RawTheme, ThemeError> {
    toml::from_str(text).map_err(|error| {
        let error = error.to_string();
        ThemeError(format!("theme '{name}': {}", error.trim_end()))
    })
}

fn merge(mut parent: RawTheme, child: RawTheme) -> RawTheme {
    parent.palette.extend(child.palette);
    parent.ui.extend(child.ui);
    parent.syntax.extend(child.syntax);
    parent
}

fn resolve(name: &str, raw: &RawTheme, depth: ColorDepth) -> Result<Theme, ThemeError> {
    let mut theme = Theme::plain(name);
    for (slot, style) in &raw.ui {
        let style = resolve_style(name, raw, style)?;
        let Some(target) = theme.slot_mut(slot) else {
            let hint = did_you_mean(nearest(slot, SLOTS.iter().copied()));
            let error = format!("theme '{name}': unknown slot '{slot}' in [ui]{hint}");
            return Err(ThemeError(error));
        };
        *target = depth.style(style);
    }
    for (scopes, style) in &raw.syntax {
        theme.syntax.push(SyntaxRule {
            scopes: scopes.clone(),
            style: depth.style(resolve_style(name, raw, style)?),
        });
    }
    Ok(theme)
}

fn resolve_style(name: &str, raw: &RawTheme, style: &RawStyle) -> Result<Style, ThemeError> {
    let full = match style {
        RawStyle::Color(fg) => FullStyle {
            fg: Some(fg.clone()),
            ..FullStyle::default()
        },
        RawStyle::Full(full) => full.clone(),
    };
    let color = |text: &Option<String>| -> Result<_, ThemeError> {
        let Some(text) = text else { return Ok(None) };
        let value = raw.palette.get(text).unwrap_or(text);
        color::parse(value).map(Some).ok_or_else(|| {
            let hint = did_you_mean(nearest(value, raw.palette.keys().map(String::as_str)));
            ThemeError(format!(
                "theme '{name}': '{value}' is neither a color nor in [palette]{hint}"
            ))
        })
    };
    let mut result = Style::new();
    result.fg = color(&full.fg)?;
    result.bg = color(&full.bg)?;
    for (on, modifier) in [
        (full.bold, Modifier::BOLD),
        (full.dim, Modifier::DIM),
        (full.italic, Modifier::ITALIC),
        (full.underline, Modifier::UNDERLINED),
        (full.strike, Modifier::CROSSED_OUT),
        (full.reverse, Modifier::REVERSED),
    ] {
        if on {
            result = result.add_modifier(modifier);
        }
    }
    Ok(result)
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(": did you mean '{name}'?"))
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    #[test]
    fn built_in_themes_load_at_every_depth() {
        for name in Theme::names() {
            for depth in [
                ColorDepth::None,
                ColorDepth::Ansi16,
                ColorDepth::Indexed256,
                ColorDepth::TrueColor,
            ] {
                let theme = Theme::load(name, depth).unwrap();
                assert!(!theme.syntax.is_empty());
                assert_eq!(theme.name, name);
            }
        }
    }

    #[test]
    fn built_in_themes_style_every_slot() {
        let dark = read("dark", source("dark").unwrap()).unwrap();
        for slot in SLOTS {
            assert!(dark.ui.contains_key(*slot), "dark.toml lacks {slot}");
        }
    }

    #[test]
    fn no_color_means_no_color() {
        for name in Theme::names() {
            let mut theme = Theme::load(name, ColorDepth::None).unwrap();
            for slot in SLOTS {
                let style = *theme.slot_mut(slot).unwrap();
                assert_eq!((style.fg, style.bg), (None, None), "{name} {slot}");
            }
        }
    }

    #[test]
    fn the_ansi_theme_names_only_the_sixteen() {
        let mut theme = Theme::load("ansi", ColorDepth::TrueColor).unwrap();
        for slot in SLOTS {
            let style = *theme.slot_mut(slot).unwrap();
            for color in [style.fg, style.bg].into_iter().flatten() {
                assert!(!matches!(color, Color::Rgb(..)), "{slot}: {color:?}");
            }
        }
        for rule in &theme.syntax {
            assert!(
                !matches!(rule.style.fg, Some(Color::Rgb(..))),
                "{}",
                rule.scopes
            );
        }
    }

    #[test]
    fn children_override_palette_and_slots() {
        let text = "inherits = \"dark\"\n[palette]\naccent = \"#010203\"\n[ui]\nerror = { fg = \"accent\", bold = true }\n";
        let theme = Theme::from_toml("mine", text, ColorDepth::TrueColor).unwrap();
        assert_eq!(theme.accent.fg, Some(Color::Rgb(1, 2, 3)));
        assert_eq!(theme.error.fg, Some(Color::Rgb(1, 2, 3)));
        assert!(theme.error.add_modifier.contains(Modifier::BOLD));
    }

    #[test]
    fn faults_are_named_with_a_suggestion() {
        let cases = [
            ("[ui]\ntool_nmae = \"red\"\n", "did you mean 'tool_name'"),
            (
                "[palette]\naccent = \"#010203\"\n[ui]\ntext = \"acent\"\n",
                "did you mean 'accent'",
            ),
            ("[ui]\ntext = { fg = \"red\", blink = true }\n", "bold"),
            ("[colors]\n", "unknown field"),
            ("inherits = \"drak\"\n", "did you mean 'dark'"),
        ];
        for (text, expected) in cases {
            let error = Theme::from_toml("mine", text, ColorDepth::TrueColor).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
