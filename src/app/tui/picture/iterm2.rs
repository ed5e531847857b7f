//! iTerm2's inline pictures: a file in base64, and how many cells it fills.

use std::io::Write as _;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::imageops::crop_imm;
use image::{ExtendedColorType, ImageEncoder, RgbaImage};

/// Appends what draws the part of so many pixels that begins at `at`, into so many cells from the cursor
/// on. The cursor may be elsewhere then.
pub fn draw(
    picture: &RgbaImage,
    at: (u32, u32),
    size: (u32, u32),
    (columns, rows): (u16, u16),
    out: &mut Vec<u8>,
) {
    let part = crop_imm(picture, at.0, at.1, size.0, size.1).to_image();
    let mut png = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Up);
    let (width, height) = part.dimensions();
    if encoder
        .write_image(part.as_raw(), width, height, ExtendedColorType::Rgba8)
        .is_err()
    {
        return;
    }
    let _ = write!(
        out,
        "\x1b]1337;File=inline=1;size={};width={columns};height={rows};\
         preserveAspectRatio=0;doNotMoveCursor=1:{}\x07",
        png.len(),
        BASE64_STANDARD.encode(png)
    );
}

#[cfg(test)]
mod tests {
    use image::Rgba;

    use super::*;

    #[test]
    fn a_part_of_a_picture_is_a_file_of_its_own() {
        let picture = RgbaImage::from_fn(40, 40, |x, y| Rgba([x as u8, y as u8, 7, 200]));
        let mut out = Vec::new();
        draw(&picture, (10, 20), (20, 15), (2, 1), &mut out);
        let text = String::from_utf8(out).unwrap();
        let text = text.strip_prefix("\x1b]1337;File=inline=1;").unwrap();
        let (keys, base64) = text.strip_suffix('\x07').unwrap().split_once(':').unwrap();
        let png = BASE64_STANDARD.decode(base64).unwrap();
        let expected = format!(
            "size={};width=2;height=1;preserveAspectRatio=0;doNotMoveCursor=1",
            png.len()
        );
        assert_eq!(keys, expected);
        let part = image::load_from_memory(&png).unwrap().to_rgba8();
        assert_eq!(part.dimensions(), (20, 15));
        assert_eq!(*part.get_pixel(3, 4), Rgba([13, 24, 7, 200]));
    }
}
