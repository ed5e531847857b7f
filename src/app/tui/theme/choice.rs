//! Which theme is wanted, and which one that is on this terminal.

use std::sync::Arc;

use super::color::ColorDepth;
use super::library::Themes;
use super::load::{LoadedTheme, ThemeError};
use super::source::Kind;
use super::system::TerminalColors;

/// The setting that leaves the choice to the terminal.
pub const AUTO: &str = "auto";

/// The settings about themes, and what is known of the terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct ThemeChoice {
    pub themes: Arc<Themes>,
    /// The colors the terminal can show.
    pub depth: ColorDepth,
    /// `auto`, or the name of a theme.
    pub wanted: String,
    /// What `auto` takes on a dark ground.
    pub for_dark: String,
    /// What it takes on a light one.
    pub for_light: String,
    /// The colors of the terminal, as far as it told them.
    pub terminal: TerminalColors,
    /// Whether the desktop is dark or light, where the terminal tells when that changes; before that what
    /// `COLORFGBG` says of the terminal.
    pub scheme: Option<Kind>,
    /// Whether the terminal has answered everything, and did not tell its ground.
    pub is_silent: bool,
}

impl Default for ThemeChoice {
    fn default() -> Self {
        Self {
            themes: Arc::default(),
            depth: ColorDepth::default(),
            wanted: AUTO.to_owned(),
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
            // Made for any ground.
            None if self.is_silent => "ansi",
            Some(false) | None => &self.for_dark,
        }
    }

    /// The theme that `wanted` is now.
    ///
    /// # Errors
    /// There is none of this name; the text says which there are.
    pub fn load(&self, wanted: &str) -> Result<LoadedTheme, ThemeError> {
        let name = self.name_of(wanted);
        self.themes.load(name, self.depth, &self.terminal)
    }
}
