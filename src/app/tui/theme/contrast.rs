//! The contrast of two colors (WCAG 2), and mixing colors.

use std::sync::LazyLock;

/// Red, green and blue.
pub type Rgb = (u8, u8, u8);

/// The contrast of two colors, from 1 (the same) to 21 (black and white). 4.5 is enough for text.
pub fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The light of each value of a channel. Computed once: a theme in 256 colors needs thousands.
static LINEAR: LazyLock<[f64; 256]> = LazyLock::new(|| {
    std::array::from_fn(|channel| {
        let value = channel as f64 / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    })
});

/// The relative luminance of a color, from 0 to 1.
pub fn luminance((r, g, b): Rgb) -> f64 {
    let linear = |channel: u8| LINEAR[usize::from(channel)];
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// The color that is `share` of the way from `from` to `to`.
pub fn mix(from: Rgb, to: Rgb, share: f64) -> Rgb {
    let channel = |from: u8, to: u8| {
        let (from, to) = (f64::from(from), f64::from(to));
        (from + (to - from) * share).round().clamp(0.0, 255.0) as u8
    };
    (
        channel(from.0, to.0),
        channel(from.1, to.1),
        channel(from.2, to.2),
    )
}

/// Moves `color` towards black or white as far as `least` contrast on all `grounds` needs.
pub fn readable(color: Rgb, grounds: &[Rgb], least: f64) -> Rgb {
    let worst = |color| {
        let all = grounds.iter().map(|ground| contrast(color, *ground));
        all.fold(f64::INFINITY, f64::min)
    };
    let bright: f64 = grounds.iter().map(|ground| luminance(*ground)).sum();
    let towards = if bright / grounds.len().max(1) as f64 > 0.18 {
        (0, 0, 0)
    } else {
        (255, 255, 255)
    };
    let steps = (0..=20).map(|step| mix(color, towards, f64::from(step) / 20.0));
    let mut steps = steps.skip_while(|color| worst(*color) < least);
    steps.next().unwrap_or(towards)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_matches_wcag() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 0.01);
        assert!((contrast((119, 119, 119), (255, 255, 255)) - 4.48).abs() < 0.01);
        assert!((contrast((9, 9, 9), (9, 9, 9)) - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_color_is_changed_only_as_far_as_needed() {
        let white = (255, 255, 255);
        assert_eq!(readable((0, 0, 120), &[white], 4.5), (0, 0, 120));
        let yellow = readable((250, 220, 40), &[white], 4.5);
        assert!(contrast(yellow, white) >= 4.5, "{yellow:?}");
        assert!(yellow.0 > yellow.2, "still yellow: {yellow:?}");
        let gray = readable((80, 80, 80), &[(0, 0, 0), (20, 20, 30)], 4.5);
        assert!(contrast(gray, (20, 20, 30)) >= 4.5, "{gray:?}");
    }
}
