//! How the screen treats the terminal and its user.

use super::from_word::from_word;

/// Settings of the screen besides the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// Whether tiller uses the mouse, instead of the terminal.
    pub mouse: bool,
    /// Whether to set the window title.
    pub title: bool,
    /// Whether to report progress to terminals that show it.
    pub progress: bool,
    /// How often to redraw while text streams in.
    pub motion: Motion,
    /// Whether the editor uses vim's keys.
    pub vim: bool,
    /// Whether to show the output of read-only calls.
    pub previews: bool,
    /// Whether to mark links for the terminal.
    pub links: Links,
    /// How to show pictures.
    pub images: Images,
    /// Whether to print the conversation on the normal screen instead of using an alternate one.
    pub inline: bool,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            mouse: true,
            title: true,
            progress: true,
            motion: Motion::Full,
            vim: false,
            previews: false,
            links: Links::Auto,
            images: Images::Auto,
            inline: false,
        }
    }
}

/// Whether to mark addresses and file positions as links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// In terminals known to support it.
    #[default]
    Auto,
    /// In every terminal.
    On,
    /// Never.
    Off,
}

from_word!(Links { "auto" => Auto, "on" => On, "off" => Off });

/// How to show pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Images {
    /// As well as the terminal can.
    #[default]
    Auto,
    /// Only name and size.
    Off,
    /// With kitty's graphics protocol.
    Kitty,
    /// As half blocks.
    Blocks,
}

// Older settings name a removed protocol.
from_word!(Images {
    "auto" | "iterm2" | "sixel" => Auto, "off" => Off, "kitty" => Kitty, "blocks" => Blocks
});

/// How often to redraw without input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Motion {
    /// Whenever something changes.
    #[default]
    Full,
    /// A few times a second, for slow connections and less motion.
    Reduced,
}

from_word!(Motion { "full" => Full, "reduced" => Reduced });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_protocols_that_are_gone_mean_auto() {
        for text in ["sixel", "iterm2"] {
            assert_eq!(text.parse(), Ok(Images::Auto), "{text}");
        }
        assert!("sixels".parse::<Images>().is_err());
    }
}
