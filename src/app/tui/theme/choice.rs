//! Chooses the theme for this terminal.

use std::sync::Arc;

use super::ColorDepth;
use super::library::Themes;
use super::load::{LoadedTheme, ThemeError};
use super::source::Kind;
use super::system::TerminalColors;

/// The setting that picks a theme to match the terminal.
pub const AUTO: &str = "auto";

/// The theme settings, and what is known about the terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct ThemeChoice {
    pub themes: Arc<Themes>,
    /// The colors the terminal can show.
    pub depth: ColorDepth,
    /// `auto`, or the name of a theme.
    pub wanted: String,
    /// The setting that names it, with its file and line.
    pub setting: Option<String>,
    /// The theme of `auto` on a dark background.
    pub for_dark: String,
    /// The theme of `auto` on a light background.
    pub for_light: String,
    /// The colors that the terminal reported.
    pub terminal: TerminalColors,
    /// Whether the desktop is dark or light: the terminal's report, or before that `COLORFGBG`.
    pub scheme: Option<Kind>,
    /// Whether the terminal has answered everything, but not with its background.
    pub is_silent: bool,
}

impl Default for ThemeChoice {
    fn default() -> Self {
        Self {
            themes: Arc::default(),
            depth: ColorDepth::default(),
            wanted: AUTO.to_owned(),
            setting: None,
            for_dark: "dark".to_owned(),
            for_light: "light".to_owned(),
            terminal: TerminalColors::default(),
            scheme: None,
            is_silent: false,
        }
    }
}

impl ThemeChoice {
    pub fn name_of<'a>(&'a self, wanted: &'a str) -> &'a str {
        if wanted != AUTO {
            return wanted;
        }
        let is_rich = matches!(self.depth, ColorDepth::TrueColor | ColorDepth::Indexed256);
        let told = self.terminal.is_light();
        let is_light = told.or(self.scheme.map(|kind| kind == Kind::Light));
        match is_light {
            _ if !is_rich => "ansi",
            Some(true) => &self.for_light,
            // For any background.
            None if self.is_silent => "ansi",
            Some(false) | None => &self.for_dark,
        }
    }

    /// The theme for `wanted`.
    ///
    /// # Errors
    ///
    /// There is no theme of this name; the message lists all names.
    pub fn load(&self, wanted: &str) -> Result<LoadedTheme, ThemeError> {
        let name = self.name_of(wanted);
        self.themes.load(name, self.depth, &self.terminal)
    }
}
