//! A theme file as written, each entry with its line. Mistakes become warnings and the rest is
//! used: a misspelled color must not cost the screen.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ratatui_core::style::Modifier;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::slots::Theme;
use crate::llm::nearest::nearest;

/// An entry of a theme file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed<T> {
    pub value: T,
    pub file: Arc<str>,
    pub line: usize,
}

/// What's wrong with an entry, and what tiller uses instead.
pub type ThemeWarning = Placed<String>;

impl fmt::Display for ThemeWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.value)
    }
}

/// A style as written; missing fields are unset.
#[derive(Clone, Debug, Default)]
pub(super) struct RawStyle {
    pub fg: Option<String>,
    pub bg: Option<String>,
    pub modifiers: Modifier,
}

/// The kind of terminal a theme is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Terminals with a dark background.
    #[default]
    Dark,
    /// Terminals with a light background.
    Light,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub inherits: Option<Placed<String>>,
    pub kind: Option<Kind>,
    pub palette: BTreeMap<String, Placed<String>>,
    pub ui: BTreeMap<String, Placed<RawStyle>>,
    pub syntax: BTreeMap<String, Placed<RawStyle>>,
}

const MODIFIERS: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underline", Modifier::UNDERLINED),
    ("strike", Modifier::CROSSED_OUT),
    ("reverse", Modifier::REVERSED),
];

impl Source {
    /// Reads `text`; `file` is its name in messages.
    pub fn read(file: &str, text: &str) -> (Self, Vec<ThemeWarning>) {
        let mut reader = Reader {
            file: file.into(),
            text,
            warnings: Vec::new(),
        };
        let mut source = Self::default();
        match DeTable::parse(text) {
            Ok(table) => reader.theme(table.get_ref(), &mut source),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let message = format!("{}; theme ignored", error.message());
                reader.warn(at, message);
            }
        }
        (source, reader.warnings)
    }
}

struct Reader<'a> {
    file: Arc<str>,
    text: &'a str,
    warnings: Vec<ThemeWarning>,
}

impl Reader<'_> {
    fn warn(&mut self, at: usize, message: impl Into<String>) {
        let warning = self.placed(at, message.into());
        self.warnings.push(warning);
    }

    fn placed<T>(&self, at: usize, value: T) -> Placed<T> {
        let before = &self.text[..at.min(self.text.len())];
        Placed {
            value,
            file: Arc::clone(&self.file),
            line: before.matches('\n').count() + 1,
        }
    }

    fn theme(&mut self, table: &DeTable<'_>, source: &mut Source) {
        for (name, value) in in_order(table) {
            let at = name.span().start;
            match (name.get_ref().as_ref(), value.get_ref()) {
                ("inherits", DeValue::String(parent)) => {
                    source.inherits = Some(self.placed(at, parent.to_string()));
                }
                ("kind", DeValue::String(kind)) if kind == "dark" => {
                    source.kind = Some(Kind::Dark);
                }
                ("kind", DeValue::String(kind)) if kind == "light" => {
                    source.kind = Some(Kind::Light);
                }
                ("kind", _) => self.warn(at, "kind must be \"dark\" or \"light\""),
                ("inherits", _) => self.warn(at, "inherits must be the name of a theme"),
                ("palette", DeValue::Table(colors)) => {
                    source.palette = self.entries(colors, |reader, at, _, value| {
                        reader.color(at, value.get_ref())
                    });
                }
                ("ui", DeValue::Table(slots)) => source.ui = self.entries(slots, Self::slot),
                ("syntax", DeValue::Table(rules)) => {
                    source.syntax = self.entries(rules, |reader, _, _, style| reader.style(style));
                }
                ("palette" | "ui" | "syntax", _) => self.warn(at, "expected a table"),
                (other, _) => {
                    let known = ["inherits", "kind", "palette", "ui", "syntax"];
                    self.warn(at, unknown("entry", other, known.into_iter()));
                }
            }
        }
    }

    /// Applies `read` to the entries of a table, with place, name and value.
    fn entries<T>(
        &mut self,
        table: &DeTable<'_>,
        read: impl Fn(&mut Self, usize, &str, &Spanned<DeValue<'_>>) -> Option<T>,
    ) -> BTreeMap<String, Placed<T>> {
        let mut entries = BTreeMap::new();
        for (name, value) in in_order(table) {
            let at = name.span().start;
            if let Some(value) = read(self, at, name.get_ref(), value) {
                entries.insert(name.get_ref().to_string(), self.placed(at, value));
            }
        }
        entries
    }

    fn slot(&mut self, at: usize, name: &str, value: &Spanned<DeValue<'_>>) -> Option<RawStyle> {
        if Theme::SLOTS.contains(&name) {
            return self.style(value);
        }
        self.warn(at, unknown("slot", name, Theme::SLOTS.iter().copied()));
        None
    }

    /// The text of a color; an index may be a number.
    fn color(&mut self, at: usize, value: &DeValue<'_>) -> Option<String> {
        let color = color_text(value);
        if color.is_none() {
            self.warn(at, NO_COLOR);
        }
        color
    }

    /// A style: a color or a table; `None` if nothing in it is valid.
    fn style(&mut self, value: &Spanned<DeValue<'_>>) -> Option<RawStyle> {
        let at = value.span().start;
        let DeValue::Table(fields) = value.get_ref() else {
            let fg = color_text(value.get_ref());
            if fg.is_none() {
                self.warn(at, NO_STYLE);
            }
            return fg.map(|fg| RawStyle {
                fg: Some(fg),
                ..RawStyle::default()
            });
        };
        let mut style = RawStyle::default();
        for (name, value) in in_order(fields) {
            let (at, name) = (name.span().start, name.get_ref().as_ref());
            let modifier = MODIFIERS.iter().find(|(modifier, _)| *modifier == name);
            match (name, modifier, value.get_ref()) {
                ("fg", _, value) => style.fg = self.color(at, value),
                ("bg", _, value) => style.bg = self.color(at, value),
                (_, Some((_, modifier)), DeValue::Boolean(true)) => style.modifiers |= *modifier,
                (_, Some(_), DeValue::Boolean(false)) => {}
                (name, Some(_), _) => self.warn(at, format!("{name} must be true or false")),
                (name, None, _) => {
                    let modifiers = MODIFIERS.iter().map(|(name, _)| *name);
                    let known = ["fg", "bg"].into_iter().chain(modifiers);
                    self.warn(at, unknown("part of a style", name, known));
                }
            }
        }
        Some(style)
    }
}

const NO_COLOR: &str = "a color is #rrggbb, an index below 256, a name from [palette] or of the \
     terminal's sixteen, or \"default\"; value ignored";
const NO_STYLE: &str = "a style is a color, or a table of fg, bg, bold, dim, italic, underline, \
     strike, reverse; value ignored";

fn color_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(near) => format!("unknown {what} '{name}': did you mean '{near}'? Ignored"),
        None => format!("unknown {what} '{name}'; ignored"),
    }
}

/// The entries in file order, so that the first mistake in the file is reported first.
fn in_order<'a, 'b>(
    table: &'a DeTable<'b>,
) -> Vec<(
    &'a Spanned<std::borrow::Cow<'b, str>>,
    &'a Spanned<DeValue<'b>>,
)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}
