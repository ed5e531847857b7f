//! How the screen behaves towards the terminal and the user in front of it.

use super::from_word::from_word;

/// What the screen does beside showing the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// Whether the mouse is tiller's; else it is left to the terminal.
    pub mouse: bool,
    /// Whether the window gets a title.
    pub title: bool,
    /// Whether progress is told to terminals that show it.
    pub progress: bool,
    /// How often the screen changes while text streams in.
    pub motion: Motion,
    /// Whether the editor's keys are vim's.
    pub vim: bool,
    /// Whether calls that only look show what they found.
    pub previews: bool,
    /// Whether links are told to the terminal.
    pub links: Links,
    /// How pictures are shown.
    pub images: Images,
    /// Whether the conversation is appended to the normal screen instead of filling an alternate one.
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

/// Whether addresses and places in files are told to the terminal as links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// To terminals that are known to take them.
    #[default]
    Auto,
    /// To every terminal.
    On,
    /// Never.
    Off,
}

from_word!(Links { "auto" => Auto, "on" => On, "off" => Off });

/// How pictures are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Images {
    /// As well as the terminal can.
    #[default]
    Auto,
    /// Not at all: what they are called, and how large they are.
    Off,
    /// By kitty's graphics protocol.
    Kitty,
    /// As half blocks.
    Blocks,
}

// Older settings name a protocol that is gone.
from_word!(Images {
    "auto" | "iterm2" | "sixel" => Auto, "off" => Off, "kitty" => Kitty, "blocks" => Blocks
});

/// How often the screen changes by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Motion {
    /// As often as there is something new.
    #[default]
    Full,
    /// A few times a second: for slow connections, and for eyes that want rest.
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
