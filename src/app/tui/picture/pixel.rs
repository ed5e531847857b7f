//! The color of a pixel that something may be seen through.

use image::Rgba;

/// How much of a pixel must be seen for it to count.
const SEEN: u8 = 32;

/// The color of a pixel over a ground; none where the ground is seen.
pub fn over(Rgba([r, g, b, a]): Rgba<u8>, ground: (u8, u8, u8)) -> Option<(u8, u8, u8)> {
    if a < SEEN {
        return None;
    }
    let mix = |channel: u8, below: u8| {
        let (part, rest) = (u32::from(a), u32::from(255 - a));
        ((u32::from(channel) * part + u32::from(below) * rest) / 255) as u8
    };
    Some((mix(r, ground.0), mix(g, ground.1), mix(b, ground.2)))
}
