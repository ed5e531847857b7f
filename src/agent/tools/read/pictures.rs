//! Makes pictures suitable for models. Bytes pass through unchanged if possible; otherwise the picture is
//! turned upright, shrunk and encoded again. A picture that can't be decoded is an error here, because it
//! would make every later request of the conversation fail.

use std::io::Cursor;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::tools::kind::{self, Kind};
use tiller_llm::Image;

/// Longest side in pixels.
const MAX_SIDE: u32 = 2000;
const MAX_BASE64: usize = 4_718_592;
/// Larger files are not read.
pub const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Memory a decoded picture may take.
const MAX_DECODED: u64 = 128 * 1024 * 1024;

/// A picture ready for a model.
pub struct Picture {
    /// The picture as sent.
    pub image: Image,
    /// Width and height in the file.
    pub original: (u32, u32),
    /// Width and height as sent.
    pub sent: (u32, u32),
}

/// Bytes, MIME type, width and height.
type Encoded = (Vec<u8>, &'static str, (u32, u32));

/// Prepares the file `bytes` for a model if it is a picture, regardless of its name.
pub fn image_of(bytes: &[u8]) -> Option<Result<Image, String>> {
    let head = &bytes[..bytes.len().min(kind::HEAD)];
    match kind::of(head) {
        Kind::Picture(mime) => {
            let picture = prepare(bytes.to_vec(), mime, || false);
            Some(picture.map(|picture| picture.image))
        }
        _ => None,
    }
}

/// Prepares the picture in `bytes`, whose MIME type is `mime`. Between steps it calls `stop`. The error
/// says what is wrong with the picture.
pub fn prepare(
    bytes: Vec<u8>,
    mime: &'static str,
    stop: impl Fn() -> bool,
) -> Result<Picture, String> {
    let (picture, original) = decode(&bytes, &stop)?;
    let fits = picture.width() <= MAX_SIDE && picture.height() <= MAX_SIDE;
    // Only these formats work everywhere: xAI, and servers that decode with stb_image, accept no others.
    let common = matches!(mime, "image/png" | "image/jpeg");
    let (bytes, mime, sent) = if common && fits && base64_len(bytes.len()) <= MAX_BASE64 {
        (bytes, mime, original)
    } else {
        drop(bytes);
        shrink(picture, stop)?
    };
    Ok(Picture {
        image: Image {
            data: BASE64_STANDARD.encode(bytes),
            mime_type: mime.into(),
        },
        original,
        sent,
    })
}

fn decode(bytes: &[u8], stop: &impl Fn() -> bool) -> Result<(DynamicImage, (u32, u32)), String> {
    let text = |error: image::ImageError| error.to_string();
    let reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    let mut decoder = reader.into_decoder().map_err(text)?;
    let original = decoder.dimensions();
    // The header already says how much memory the pixels need.
    if decoder.total_bytes() > MAX_DECODED {
        return Err(format!(
            "it has {}x{} pixels, which need {} of memory; the limit is {}. Make it smaller first.",
            original.0,
            original.1,
            kind::size(decoder.total_bytes()),
            kind::size(MAX_DECODED),
        ));
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED);
    limits.reserve(decoder.total_bytes()).map_err(text)?;
    decoder.set_limits(limits).map_err(text)?;
    let orientation = decoder.orientation().map_err(text)?;
    go_on(stop)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(text)?;
    go_on(stop)?;
    picture.apply_orientation(orientation);
    Ok((picture, original))
}

fn go_on(stop: &impl Fn() -> bool) -> Result<(), String> {
    if stop() {
        return Err("cancelled".into());
    }
    Ok(())
}

/// The largest encoding within the limit: first PNG for sharp text, then JPEG, then smaller sizes.
fn shrink(mut picture: DynamicImage, stop: impl Fn() -> bool) -> Result<Encoded, String> {
    let mut side = MAX_SIDE;
    while side >= 16 {
        go_on(&stop)?;
        if picture.width() > side || picture.height() > side {
            // Averages whole pixels: `resize` would make a copy in floating point first.
            picture = picture.thumbnail(side, side);
        }
        let size = (picture.width(), picture.height());
        let mut png = Vec::new();
        picture
            .write_to(&mut Cursor::new(&mut png), ImageFormat::Png)
            .map_err(|error| error.to_string())?;
        if base64_len(png.len()) <= MAX_BASE64 {
            return Ok((png, "image/png", size));
        }
        let plain = DynamicImage::ImageRgb8(picture.to_rgb8());
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
    Err("tiller can't make it small enough".into())
}

fn base64_len(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}
