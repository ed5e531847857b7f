//! The theme made from the terminal's own colors: its sixteen colors with enough contrast, and
//! backgrounds mixed from them.

use std::fmt::Write;

use super::contrast::{Rgb, luminance, mix, readable};
use super::source::Source;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalColors {
    pub ink: Option<Rgb>,
    pub ground: Option<Rgb>,
    pub sixteen: [Option<Rgb>; 16],
}

impl TerminalColors {
    /// Whether the background is light; `None` if unknown.
    pub fn is_light(&self) -> Option<bool> {
        self.ground.map(|ground| luminance(ground) > 0.18)
    }
}

/// The least contrast of text.
const LEAST: f64 = 4.5;

/// The theme as the text of a file; without the terminal's colors, that of sixteen colors.
pub(super) fn system_source(colors: &TerminalColors) -> Source {
    let text = match (colors.ground, colors.is_light()) {
        (Some(ground), Some(is_light)) => write(colors, ground, is_light),
        _ => "inherits = \"ansi\"\n".to_owned(),
    };
    Source::read("system", &text).0
}

fn write(colors: &TerminalColors, ground: Rgb, is_light: bool) -> String {
    let plain = if is_light {
        (31, 36, 48)
    } else {
        (216, 218, 224)
    };
    let ink = readable(colors.ink.unwrap_or(plain), &[ground], 7.0);
    let inherits = if is_light { "light" } else { "dark" };
    let mut text = format!("inherits = \"{inherits}\"\n[palette]\n");
    let mut set = |name: &str, (r, g, b): Rgb| {
        let _ = writeln!(text, "{name} = \"#{r:02x}{g:02x}{b:02x}\"");
    };
    // The usual values, for colors the terminal didn't report.
    let of = |bright: usize, usual: Rgb| {
        let index = if is_light { bright - 8 } else { bright };
        let told = colors.sixteen[index].or(colors.sixteen[bright - 8]);
        told.unwrap_or(usual)
    };
    let red = of(9, (196, 48, 59));
    let green = of(10, (46, 125, 58));
    let yellow = of(11, (148, 99, 0));
    let blue = of(12, (43, 95, 217));
    let magenta = of(13, (138, 63, 184));
    let cyan = of(14, (13, 116, 128));
    let user = mix(ground, ink, 0.07);
    let code = mix(ground, ink, 0.04);
    let (added, removed) = (mix(ground, green, 0.14), mix(ground, red, 0.14));
    let grounds = [ground, user, code, added, removed];
    let read = |color| readable(color, &grounds, LEAST);
    set("ink", ink);
    set("dim", read(mix(ink, ground, 0.35)));
    set("faint", read(mix(ink, ground, 0.5)));
    set("comment", read(mix(ink, ground, 0.45)));
    set("accent", read(blue));
    set("blue", read(blue));
    set("green", read(green));
    set("red", read(red));
    set("yellow", read(yellow));
    set("orange", read(mix(red, yellow, 0.6)));
    set("magenta", read(magenta));
    set("cyan", read(cyan));
    set("user_bg", user);
    set("code_bg", code);
    set("add_bg", added);
    set("add_word", mix(ground, green, 0.3));
    set("del_bg", removed);
    set("del_word", mix(ground, red, 0.3));
    set("select_bg", mix(ground, blue, 0.25));
    set("popup_bg", code);
    text
}
