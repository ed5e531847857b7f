//! From TOML to a [`Theme`]: inheritance, palette, slots, syntax map. Unknown names are refused,
//! because a misspelt slot would otherwise just look wrong.

use std::collections::BTreeMap;

use ratatui::style::{Modifier, Style};
use serde::Deserialize;
use thiserror::Error;

use super::color::{self, ColorDepth};
use super::slots::{SyntaxRule, Theme};
use crate::llm::nearest::nearest;

/// The themes that are built in, and their sources.
const BUILT_IN: [(&str, &str); 3] = [
    ("dark", include_str!("../../../../themes/dark.toml")),
    ("light", include_str!("../../../../themes/light.toml")),
    ("ansi", include_str!("../../../../themes/ansi.toml")),
];

/// Why a theme could not be loaded.
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
        let raw = built_in(name)?;
        let mut merged = match &raw.inherits {
            // Built-in themes inherit from a built-in root only, so this ends after one step.
            Some(parent) => merge(built_in(parent)?, raw),
            None => raw,
        };
        if depth == ColorDepth::None {
            // Without colors a background alone says nothing: the ansi theme says the same things
            // with reverse, bold and underline.
            merged = merge(merged, built_in("ansi")?);
        }
        resolve(name, &merged, depth)
    }
}

fn built_in(name: &str) -> Result<RawTheme, ThemeError> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return read(name, text);
    }
    let names: Vec<_> = Theme::names().collect();
    let near = nearest(name, names.iter().copied());
    let near = near.map_or_else(
        || "there".to_owned(),
        |near| format!("did you mean '{near}'? There"),
    );
    let all = names.join(", ");
    Err(ThemeError(format!(
        "unknown theme '{name}': {near} are {all}"
    )))
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
            let error = format!("theme '{name}': unknown slot '{slot}' in [ui]");
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
            let error = format!("theme '{name}': '{value}' is neither a color nor in [palette]");
            ThemeError(error)
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

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::super::slots::SLOTS;
    use super::*;

    const DEPTHS: [ColorDepth; 4] = [
        ColorDepth::None,
        ColorDepth::Ansi16,
        ColorDepth::Indexed256,
        ColorDepth::TrueColor,
    ];

    /// The colors of every slot.
    fn colors(theme: &mut Theme) -> Vec<Color> {
        let styles = SLOTS.iter().map(|slot| *theme.slot_mut(slot).unwrap());
        let colors = styles.flat_map(|style| [style.fg, style.bg]);
        colors.flatten().collect()
    }

    #[test]
    fn built_in_themes_load_at_every_depth_in_its_colors() {
        for (name, depth) in Theme::names().flat_map(|name| DEPTHS.map(|depth| (name, depth))) {
            let mut theme = Theme::load(name, depth).unwrap();
            assert!(!theme.syntax.is_empty());
            assert_eq!(theme.name, name);
            let rgb = |color: &Color| matches!(color, Color::Rgb(..));
            let found = colors(&mut theme);
            assert_eq!(depth == ColorDepth::None, found.is_empty(), "{name}");
            if name == "ansi" {
                let of_syntax = theme.syntax.iter().filter_map(|rule| rule.style.fg);
                assert!(!found.into_iter().chain(of_syntax).any(|color| rgb(&color)));
            }
        }
    }

    #[test]
    fn the_root_of_the_themes_styles_every_slot() {
        let dark = built_in("dark").unwrap();
        for slot in SLOTS {
            assert!(dark.ui.contains_key(*slot), "dark.toml lacks {slot}");
        }
    }

    #[test]
    fn children_override_the_palette_and_faults_are_named() {
        let accent = |name| Theme::load(name, ColorDepth::TrueColor).unwrap().accent;
        assert_ne!(
            accent("light"),
            accent("dark"),
            "light only has another palette"
        );
        let cases = [
            ("[ui]\ntool_nmae = \"red\"\n", "unknown slot 'tool_nmae'"),
            ("[ui]\ntext = \"acent\"\n", "'acent' is neither"),
            ("[ui]\ntext = { fg = \"red\", blink = true }\n", "bold"),
            ("[colors]\n", "unknown field"),
        ];
        for (text, expected) in cases {
            let loaded = read("mine", text).and_then(|raw| resolve("mine", &raw, ColorDepth::None));
            let error = loaded.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = Theme::load("drak", ColorDepth::None)
            .unwrap_err()
            .to_string();
        assert!(error.contains("did you mean 'dark'"), "{error}");
    }
}
