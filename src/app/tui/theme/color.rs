//! The colors a terminal can show, and reducing others to them.

use ratatui_core::style::{Color, Style};

use crate::app::color_depth::ColorDepth;

impl ColorDepth {
    pub(super) fn style(self, mut style: Style) -> Style {
        style.fg = style.fg.and_then(|color| self.color(color));
        style.bg = style.bg.and_then(|color| self.color(color));
        style.underline_color = style.underline_color.and_then(|color| self.color(color));
        style
    }

    /// The nearest color of this depth to a picture's pixel.
    pub(crate) fn pixel(self, (r, g, b): (u8, u8, u8)) -> Option<Color> {
        self.color(Color::Rgb(r, g, b))
    }

    /// The nearest color of this depth; `None` without colors.
    fn color(self, color: Color) -> Option<Color> {
        match (self, color) {
            (Self::None, _) => None,
            (Self::Indexed256, Color::Rgb(r, g, b)) => Some(Color::Indexed(nearest_256(r, g, b))),
            (Self::Ansi16, Color::Rgb(r, g, b)) => Some(nearest_16(r, g, b)),
            (Self::Ansi16, Color::Indexed(index)) if index >= 16 => {
                let (r, g, b) = indexed_rgb(index);
                Some(nearest_16(r, g, b))
            }
            (_, color) => Some(color),
        }
    }
}

/// Parses a color in a theme: `#rrggbb`, an index below 256, a name, or `default`.
pub(super) fn parse(text: &str) -> Option<Color> {
    match text {
        "default" => Some(Color::Reset),
        _ => text.parse().ok(),
    }
}

/// The levels of each channel in the color cube, which starts at index 16.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

fn nearest_256(r: u8, g: u8, b: u8) -> u8 {
    let level = |value: u8| (0..6).min_by_key(|level| CUBE[usize::from(*level)].abs_diff(value));
    let cube = [r, g, b]
        .iter()
        .fold(0, |cell, value| 6 * cell + level(*value).unwrap_or(0));
    let grays = 232..=255;
    std::iter::once(16 + cube)
        .chain(grays)
        .min_by_key(|&index| distance((r, g, b), indexed_rgb(index)))
        .unwrap_or(0)
}

pub(super) fn indexed_rgb(index: u8) -> (u8, u8, u8) {
    if index >= 232 {
        let gray = 8 + 10 * (index - 232);
        return (gray, gray, gray);
    }
    let cell = usize::from(index.saturating_sub(16));
    (CUBE[cell / 36], CUBE[cell / 6 % 6], CUBE[cell % 6])
}

/// xterm's values for the sixteen colors; other terminals have similar ones.
const SIXTEEN: [(Color, (u8, u8, u8)); 16] = [
    (Color::Black, (0, 0, 0)),
    (Color::Red, (205, 0, 0)),
    (Color::Green, (0, 205, 0)),
    (Color::Yellow, (205, 205, 0)),
    (Color::Blue, (0, 0, 238)),
    (Color::Magenta, (205, 0, 205)),
    (Color::Cyan, (0, 205, 205)),
    (Color::Gray, (229, 229, 229)),
    (Color::DarkGray, (127, 127, 127)),
    (Color::LightRed, (255, 0, 0)),
    (Color::LightGreen, (0, 255, 0)),
    (Color::LightYellow, (255, 255, 0)),
    (Color::LightBlue, (92, 92, 255)),
    (Color::LightMagenta, (255, 0, 255)),
    (Color::LightCyan, (0, 255, 255)),
    (Color::White, (255, 255, 255)),
];

fn nearest_16(r: u8, g: u8, b: u8) -> Color {
    SIXTEEN
        .iter()
        .min_by_key(|(_, rgb)| distance((r, g, b), *rgb))
        .map_or(Color::Reset, |(color, _)| *color)
}

pub(super) fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    2 * square(a.0, b.0) + 4 * square(a.1, b.1) + 3 * square(a.2, b.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_reduced_to_the_depth() {
        use Color::{Indexed, LightRed, Red, Rgb};
        use ColorDepth::{Ansi16, Indexed256, None, TrueColor};
        let cases = [
            (None, Rgb(1, 2, 3), Option::None),
            (None, Red, Option::None),
            (Indexed256, Rgb(255, 0, 0), Some(Indexed(196))),
            (Indexed256, Rgb(128, 128, 128), Some(Indexed(244))),
            (Indexed256, Red, Some(Red)),
            (Ansi16, Rgb(250, 10, 10), Some(LightRed)),
            (Ansi16, Indexed(196), Some(LightRed)),
            (Ansi16, Indexed(3), Some(Indexed(3))),
            (TrueColor, Rgb(1, 2, 3), Some(Rgb(1, 2, 3))),
        ];
        for (depth, color, expected) in cases {
            assert_eq!(depth.color(color), expected, "{depth:?} {color:?}");
        }
    }

    #[test]
    fn every_index_survives_a_round_trip() {
        for index in 16..=255_u8 {
            let (r, g, b) = indexed_rgb(index);
            let (r2, g2, b2) = indexed_rgb(nearest_256(r, g, b));
            assert_eq!((r, g, b), (r2, g2, b2), "{index}");
        }
    }
}
