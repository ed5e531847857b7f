//! Pictures in a size models take: bytes go through untouched where they can, else the picture is
//! turned upright, made smaller and encoded anew. A picture that does not decode is an error here,
//! since in a conversation it would make every later request fail.

use std::io::Cursor;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

/// Longest side in pixels.
pub const MAX_SIDE: u32 = 2000;
/// Most bytes in base64.
pub const MAX_BASE64: usize = 4_718_592;
/// Larger files are not read.
pub const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Memory a decoded picture may take.
const MAX_DECODED: u64 = 512 * 1024 * 1024;

/// A picture ready for a model.
pub struct Picture {
    /// The bytes in base64.
    pub base64: String,
    /// Their MIME type.
    pub mime: &'static str,
    /// Width and height in the file.
    pub original: (u32, u32),
    /// Width and height as sent.
    pub sent: (u32, u32),
}

/// Bytes, MIME type, width and height.
type Encoded = (Vec<u8>, &'static str, (u32, u32));

/// Prepares the picture in `bytes`, whose MIME type is `mime`. The error says what is wrong with
/// it.
pub fn prepare(bytes: &[u8], mime: &'static str) -> Result<Picture, String> {
    let (picture, original) = decode(bytes)?;
    let fits = picture.width() <= MAX_SIDE && picture.height() <= MAX_SIDE;
    let (bytes, mime, sent) =
        if fits && base64_len(bytes.len()) <= MAX_BASE64 && mime != "image/bmp" {
            (bytes.to_vec(), mime, original)
        } else {
            shrink(&picture)?
        };
    Ok(Picture {
        base64: BASE64_STANDARD.encode(bytes),
        mime,
        original,
        sent,
    })
}

fn decode(bytes: &[u8]) -> Result<(DynamicImage, (u32, u32)), String> {
    let text = |error: image::ImageError| error.to_string();
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(text)?;
    let original = decoder.dimensions();
    let orientation = decoder.orientation().map_err(text)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(text)?;
    picture.apply_orientation(orientation);
    Ok((picture, original))
}

/// The largest encoding that fits: PNG first, which keeps text sharp, then JPEG, then smaller.
fn shrink(picture: &DynamicImage) -> Result<Encoded, String> {
    let mut side = MAX_SIDE;
    while side >= 16 {
        let smaller;
        let candidate = if picture.width() > side || picture.height() > side {
            smaller = picture.resize(side, side, FilterType::Triangle);
            &smaller
        } else {
            picture
        };
        let size = (candidate.width(), candidate.height());
        let mut png = Vec::new();
        candidate
            .write_to(&mut Cursor::new(&mut png), ImageFormat::Png)
            .map_err(|error| error.to_string())?;
        if base64_len(png.len()) <= MAX_BASE64 {
            return Ok((png, "image/png", size));
        }
        let plain = DynamicImage::ImageRgb8(candidate.to_rgb8());
        for quality in [85, 60] {
            let mut jpeg = Vec::new();
            plain
                .write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, quality))
                .map_err(|error| error.to_string())?;
            if base64_len(jpeg.len()) <= MAX_BASE64 {
                return Ok((jpeg, "image/jpeg", size));
            }
        }
        side = side * 3 / 4;
    }
    Err("it cannot be made small enough".into())
}

fn base64_len(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}
