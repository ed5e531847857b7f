//! All available themes: the built-in ones, and the files in the user's `themes` folder.

use std::fs;
use std::path::Path;

use super::load::ThemeError;
use crate::llm::nearest::nearest;
use crate::llm::read_small::read_small;

/// The names and texts of the built-in themes.
macro_rules! built_in {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../themes/", $name, ".toml")))),*]
    };
}

/// The built-in themes that users can choose, and their sources.
const BUILT_IN: &[(&str, &str)] = built_in! {
    "dark" "light" "ansi"
    "gruvbox-dark" "gruvbox-light"
    "nord"
    "tokyo-night" "tokyo-day"
    "catppuccin-mocha" "catppuccin-latte"
    "solarized-dark" "solarized-light"
    "rose-pine"
    "everforest"
    "dracula"
    "kanagawa"
    "colorblind-dark" "colorblind-light"
    "contrast-dark"
};

/// Added to `ansi` when there is no color at all.
const PLAIN: &[(&str, &str)] = built_in!("plain");

/// The theme made from the terminal's colors.
const SYSTEM: &str = "system";

/// All themes that can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Themes {
    own: Vec<OwnTheme>,
    /// The user's themes that can't be read, with the errors.
    unreadable: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OwnTheme {
    name: String,
    file: String,
    text: String,
}

impl Themes {
    /// Reads the user's themes: the `.toml` files of `folder`, which need not exist.
    pub fn read(folder: &Path) -> Self {
        let (mut own, mut unreadable) = (Vec::new(), Vec::new());
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let name = path.file_stem().and_then(|name| name.to_str());
            let is_toml = path.extension().is_some_and(|kind| kind == "toml");
            let Some(name) = name.filter(|_| is_toml).map(str::to_owned) else {
                continue;
            };
            let file = path.display().to_string();
            match read_small(&path) {
                Ok(text) => own.push(OwnTheme { name, file, text }),
                Err(error) => unreadable.push((name, format!("{file}: {error}"))),
            }
        }
        own.sort_by(|one, other| one.name.cmp(&other.name));
        Self { own, unreadable }
    }

    /// Adds a theme as if it were in the user's folder.
    #[must_use]
    pub fn with(mut self, name: &str, text: &str) -> Self {
        self.own.push(OwnTheme {
            name: name.to_owned(),
            file: format!("{name}.toml"),
            text: text.to_owned(),
        });
        self
    }

    /// All names, the user's own last.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let built_in = BUILT_IN.iter().map(|(name, _)| *name);
        let own = self.own.iter().map(|theme| theme.name.as_str());
        let is_new = |name: &&str| BUILT_IN.iter().all(|(known, _)| known != name);
        built_in.chain([SYSTEM]).chain(own.filter(is_new))
    }

    /// Whether the theme is the user's.
    pub fn is_own(&self, name: &str) -> bool {
        self.own.iter().any(|theme| theme.name == name)
    }

    /// The file and text of a theme; the user's own wins over a built-in one.
    pub(super) fn text(&self, name: &str) -> Option<(&str, &str)> {
        let own = self.own.iter().find(|theme| theme.name == name);
        let own = own.map(|theme| (theme.file.as_str(), theme.text.as_str()));
        own.or_else(|| find(BUILT_IN, name))
    }

    pub(super) fn built_in(name: &str) -> Option<(&'static str, &'static str)> {
        find(BUILT_IN, name).or_else(|| find(PLAIN, name))
    }

    pub(super) fn unknown(&self, name: &str) -> ThemeError {
        if let Some((_, why)) = self.unreadable.iter().find(|(it, _)| it == name) {
            return ThemeError(why.clone());
        }
        let hint = match nearest(name, self.names()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "/theme lists them all".to_owned(),
        };
        ThemeError(format!("unknown theme '{name}': {hint}"))
    }
}

fn find(
    themes: &[(&'static str, &'static str)],
    name: &str,
) -> Option<(&'static str, &'static str)> {
    themes.iter().find(|(known, _)| *known == name).copied()
}
