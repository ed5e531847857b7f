//! Builds a [`Theme`] from its file and those it inherits from. It reports mistakes and uses the
//! inherited entry instead; only an unknown theme is an error.

use std::collections::BTreeSet;

use ratatui_core::style::{Color, Style};
use thiserror::Error;

use super::indexed;
use super::library::Themes;
use super::slots::{SyntaxRule, Theme};
use super::source::{Kind, Placed, RawStyle, Source, ThemeWarning};
use super::system::{TerminalColors, system_source};
use super::{ColorDepth, color};

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ThemeError(pub(super) String);

#[derive(Clone, Debug, PartialEq)]
pub struct LoadedTheme {
    pub theme: Theme,
    pub warnings: Vec<ThemeWarning>,
}

impl Theme {
    /// The built-in theme `name`, in the colors of `depth`.
    ///
    /// # Errors
    ///
    /// There is no theme of this name; the message lists all names.
    pub fn load(name: &str, depth: ColorDepth) -> Result<Self, ThemeError> {
        let loaded = Themes::default().load(name, depth, &TerminalColors::default());
        loaded.map(|loaded| loaded.theme)
    }
}

impl Themes {
    /// The theme `name`, in the colors of `depth`. `system` is made from the terminal's colors.
    ///
    /// # Errors
    ///
    /// There is no theme of this name; the message lists all names.
    pub fn load(
        &self,
        name: &str,
        depth: ColorDepth,
        terminal: &TerminalColors,
    ) -> Result<LoadedTheme, ThemeError> {
        let mut warnings = Vec::new();
        let mut chain = Chain::default();
        if name == "system" {
            chain.sources.push(system_source(terminal));
        } else {
            let (file, text) = self.text(name).ok_or_else(|| self.unknown(name))?;
            chain.sources.push(read(file, text, &mut warnings));
        }
        self.add_parents(name, &mut chain, &mut warnings);
        // It would be unreadable on the other kind of background, so it paints its own.
        let is_light = chain.kind() == Kind::Light;
        if terminal.is_light().is_some_and(|told| told != is_light)
            && chain.palette_color("ground", &mut Vec::new()) == Some(Color::Reset)
            && chain.has_rich_colors()
        {
            let text = if is_light { LIGHT_SCREEN } else { DARK_SCREEN };
            chain.sources.insert(0, Source::read(name, text).0);
        }
        // With sixteen colors or none, backgrounds don't work: the theme for that uses bold,
        // underline and reverse instead.
        let poor = match depth {
            ColorDepth::None => vec!["ansi", "plain"],
            ColorDepth::Ansi16 if chain.has_rich_colors() => vec!["ansi"],
            _ => Vec::new(),
        };
        for name in poor {
            if let Some((file, text)) = Self::built_in(name) {
                chain.sources.insert(0, read(file, text, &mut warnings));
            }
        }
        let mut theme = chain.resolve(name, depth, &mut warnings);
        if depth == ColorDepth::Indexed256 {
            let full = &mut chain.resolve(name, ColorDepth::TrueColor, &mut Vec::new());
            indexed::fit(&mut theme, full);
        }
        Ok(LoadedTheme { theme, warnings })
    }

    /// Adds the themes that the last of the chain inherits from, down to the root.
    fn add_parents(&self, name: &str, chain: &mut Chain, warnings: &mut Vec<ThemeWarning>) {
        let mut seen = vec![name.to_owned()];
        loop {
            let last = chain.sources.last();
            let parent = match last.and_then(|source| source.inherits.as_ref()) {
                Some(parent) => parent.clone(),
                None if seen.iter().any(|name| name == ROOT) => return,
                None => Placed {
                    value: ROOT.to_owned(),
                    file: "".into(),
                    line: 0,
                },
            };
            let found = match self.text(&parent.value) {
                Some(_) if seen.contains(&parent.value) => {
                    Err(format!("'{}' inherits from itself", parent.value))
                }
                Some(found) => Ok((parent.value.clone(), found)),
                None => Err(self.unknown(&parent.value).0),
            };
            let (name, (file, text)) = match found {
                Ok(found) => found,
                Err(why) => {
                    let value = format!("{why}; using '{ROOT}' instead");
                    warnings.push(ThemeWarning { value, ..parent });
                    match self.text(ROOT) {
                        Some(root) if !seen.iter().any(|name| name == ROOT) => {
                            (ROOT.to_owned(), root)
                        }
                        _ => return,
                    }
                }
            };
            chain.sources.push(read(file, text, warnings));
            seen.push(name);
        }
    }
}

/// The palette for a theme without text and background colors, on the other kind of background.
const DARK_SCREEN: &str = "[palette]\ntext = \"#d8dae0\"\nground = \"#16181d\"\n";
const LIGHT_SCREEN: &str = "[palette]\ntext = \"#1f2430\"\nground = \"#ffffff\"\n";

/// The base of every theme: it has every slot.
pub(super) const ROOT: &str = "dark";

fn read(file: &str, text: &str, warnings: &mut Vec<ThemeWarning>) -> Source {
    let (source, found) = Source::read(file, text);
    warnings.extend(found);
    source
}

/// A theme and its ancestors; earlier ones win.
#[derive(Default)]
struct Chain {
    sources: Vec<Source>,
}

impl Chain {
    fn kind(&self) -> Kind {
        let mut kinds = self.sources.iter().filter_map(|source| source.kind);
        kinds.next().unwrap_or_default()
    }

    /// Whether the theme uses more than the terminal's own colors.
    fn has_rich_colors(&self) -> bool {
        let names = self.sources.iter().flat_map(|source| source.palette.keys());
        names.into_iter().any(|name| {
            let color = self.palette_color(name, &mut Vec::new());
            matches!(color, Some(Color::Rgb(..) | Color::Indexed(16..)))
        })
    }

    fn resolve(&self, name: &str, depth: ColorDepth, warnings: &mut Vec<ThemeWarning>) -> Theme {
        let mut theme = Theme::plain(name);
        theme.kind = self.kind();
        for slot in Theme::SLOTS {
            if let Some(style) = self.first_good(|source| source.ui.get(*slot), warnings)
                && let Some(target) = theme.slot_mut(slot)
            {
                *target = depth.style(style);
            }
        }
        let rules = self.sources.iter().flat_map(|source| source.syntax.keys());
        for scopes in rules.collect::<BTreeSet<&String>>() {
            if let Some(style) = self.first_good(|source| source.syntax.get(scopes), warnings) {
                theme.syntax.push(SyntaxRule {
                    scopes: scopes.clone(),
                    style: depth.style(style),
                });
            }
        }
        theme
    }

    /// The first style from `entry` whose colors exist.
    fn first_good<'a>(
        &'a self,
        entry: impl Fn(&'a Source) -> Option<&'a Placed<RawStyle>>,
        warnings: &mut Vec<ThemeWarning>,
    ) -> Option<Style> {
        for placed in self.sources.iter().filter_map(entry) {
            match self.style(&placed.value, warnings) {
                Ok(style) => return Some(style),
                Err(name) => warn_once(
                    warnings,
                    placed,
                    format!("'{name}' is neither a color nor in [palette]; style ignored"),
                ),
            }
        }
        None
    }

    /// The style, or the name of an unknown color.
    fn style(&self, raw: &RawStyle, warnings: &mut Vec<ThemeWarning>) -> Result<Style, String> {
        let mut style = Style::new().add_modifier(raw.modifiers);
        for (name, target) in [(&raw.fg, &mut style.fg), (&raw.bg, &mut style.bg)] {
            if let Some(name) = name {
                let known = self.palette_color(name, warnings);
                *target = known.or_else(|| color::parse(name));
                if target.is_none() {
                    return Err(name.clone());
                }
            }
        }
        Ok(style)
    }

    /// The palette color `name`, which may refer to another one.
    fn palette_color(&self, name: &str, warnings: &mut Vec<ThemeWarning>) -> Option<Color> {
        let mut name = name.to_owned();
        let mut seen = Vec::new();
        'names: loop {
            let entries = self.sources.iter();
            let entries = entries.filter_map(|source| source.palette.get(&name));
            for entry in entries {
                let value = &entry.value;
                let is_other =
                    *value != name && self.sources.iter().any(|it| it.palette.contains_key(value));
                if is_other && !seen.contains(value) {
                    seen.push(std::mem::replace(&mut name, value.clone()));
                    continue 'names;
                }
                match color::parse(value) {
                    Some(color) => return Some(color),
                    None => warn_once(
                        warnings,
                        entry,
                        format!("'{value}' isn't a color; using the inherited one"),
                    ),
                }
            }
            return None;
        }
    }
}

fn warn_once<T>(warnings: &mut Vec<ThemeWarning>, placed: &Placed<T>, value: String) {
    let (file, line) = (placed.file.clone(), placed.line);
    let warning = ThemeWarning { value, file, line };
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
}
