//! Themes in 256 colors. The nearest color to a dark tint is a gray, so diff backgrounds are chosen
//! by hue, and text on them gets enough contrast.

use ratatui_core::style::{Color, Modifier};

use super::color::indexed_rgb;
use super::contrast::{Rgb, contrast, readable};
use super::slots::Theme;
use super::source::Kind;

/// The darkest and the lightest colors of the cube: green, red, blue.
const DARK: [u8; 3] = [22, 52, 17];
const LIGHT: [u8; 3] = [194, 224, 189];
/// The least contrast of text on a diff background: the palette has no darker green.
const LEAST: f64 = 3.0;

/// Gives `theme`, the nearest colors to `full`, diff backgrounds that differ like those of `full`.
pub(super) fn fit(theme: &mut Theme, full: &mut Theme) {
    let (Some(added), Some(removed)) = (rgb(full.diff_added.bg), rgb(full.diff_removed.bg)) else {
        return;
    };
    let (grounds, usual) = match theme.kind {
        Kind::Dark => (DARK, (0, 0, 0)),
        Kind::Light => (LIGHT, (255, 255, 255)),
    };
    let ground = rgb(full.screen.bg).unwrap_or(usual);
    let taken = [theme.screen.bg, theme.code_block.bg];
    let is_free = |index: &u8| !taken.contains(&Some(Color::Indexed(*index)));
    let mut others: Vec<u8> = grounds.into_iter().filter(is_free).collect();
    let green = nearest_hue(added, ground, &others);
    others.retain(|index| *index != green);
    let red = nearest_hue(removed, ground, &others);
    let code = full
        .code_block
        .bg
        .filter(|_| theme.code_block.bg == theme.screen.bg);
    for slot in Theme::SLOTS {
        let Some(was) = full.slot_mut(slot).map(|style| *style) else {
            continue;
        };
        let Some(style) = theme.slot_mut(slot) else {
            continue;
        };
        let index = match was.bg {
            bg if bg == Some(to_color(added)) => green,
            bg if bg == Some(to_color(removed)) => red,
            bg if bg.is_some() && bg == code => {
                style.bg = style.bg.map(next_gray);
                continue;
            }
            _ => continue,
        };
        style.bg = Some(Color::Indexed(index));
        if let Some(color) = rgb(was.fg) {
            style.fg = Some(Color::Indexed(text_on(color, &[index])));
        }
    }
    for (word, line) in [
        (&mut theme.diff_added_word, green),
        (&mut theme.diff_removed_word, red),
    ] {
        // No other background of this hue leaves text readable.
        word.bg = Some(Color::Indexed(line));
        word.add_modifier |= Modifier::BOLD | Modifier::UNDERLINED;
    }
    for (rule, was) in theme.syntax.iter_mut().zip(&full.syntax) {
        if let Some(color) = rgb(was.style.fg) {
            rule.style.fg = Some(Color::Indexed(text_on(color, &[green, red])));
        }
    }
}

fn rgb(color: Option<Color>) -> Option<Rgb> {
    match color {
        Some(Color::Rgb(r, g, b)) => Some((r, g, b)),
        _ => None,
    }
}

fn to_color((r, g, b): Rgb) -> Color {
    Color::Rgb(r, g, b)
}

/// The color in `grounds` whose hue is nearest to the difference of `tint` and `ground`.
fn nearest_hue(tint: Rgb, ground: Rgb, grounds: &[u8]) -> u8 {
    let hue = |color: Rgb, from: Rgb| {
        let change = [
            f64::from(color.0) - f64::from(from.0),
            f64::from(color.1) - f64::from(from.1),
            f64::from(color.2) - f64::from(from.2),
        ];
        let mean = change.iter().sum::<f64>() / 3.0;
        change.map(|channel| channel - mean)
    };
    let wanted = hue(tint, ground);
    let likeness = |index: &u8| {
        let found = hue(indexed_rgb(*index), (0, 0, 0));
        let length = found.iter().map(|it| it * it).sum::<f64>().sqrt();
        found
            .iter()
            .zip(wanted)
            .map(|(one, other)| one * other)
            .sum::<f64>()
            / length
    };
    let best = grounds
        .iter()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    best.copied().unwrap_or_default()
}

/// The nearest color that is readable on all of these backgrounds.
fn text_on(color: Rgb, grounds: &[u8]) -> u8 {
    let grounds: Vec<Rgb> = grounds.iter().map(|index| indexed_rgb(*index)).collect();
    let wanted = readable(color, &grounds, LEAST);
    let reads = |index: &u8| {
        let color = indexed_rgb(*index);
        grounds
            .iter()
            .all(|ground| contrast(color, *ground) >= LEAST)
    };
    let far = |index: &u8| super::color::distance(wanted, indexed_rgb(*index));
    let all = (16..=255).filter(reads);
    all.min_by_key(far).unwrap_or(15)
}

/// The next gray, away from the nearer end of the ramp.
fn next_gray(color: Color) -> Color {
    match color {
        Color::Indexed(16) => Color::Indexed(233),
        Color::Indexed(231) => Color::Indexed(254),
        Color::Indexed(gray @ 232..=243) => Color::Indexed(gray + 1),
        Color::Indexed(gray @ 244..) => Color::Indexed(gray - 1),
        color => color,
    }
}
