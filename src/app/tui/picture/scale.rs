//! Decodes and scales pictures, for a thread.

use std::io::Cursor;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageFormat, Rgba, RgbaImage};

use super::head::{Fault, MAX_DECODED, decoder};
use super::layout::Protocol;

#[derive(Clone, Debug, PartialEq)]
pub enum Scaled {
    Pixels(RgbaImage),
    Png(Vec<u8>),
}

impl Scaled {
    /// Its size in memory, in bytes.
    pub fn weight(&self) -> usize {
        match self {
            Self::Pixels(pixels) => pixels.len(),
            Self::Png(png) => png.len(),
        }
    }
}

/// Decodes a base64 picture and scales it to `size` pixels.
pub fn scale(base64: &str, size: (u32, u32), protocol: Protocol) -> Result<Scaled, Fault> {
    let bytes = BASE64_STANDARD.decode(base64).map_err(|_| Fault::Unknown)?;
    let picture = decode(&bytes)?;
    drop(bytes);
    let is_smaller = picture.width() <= size.0 && picture.height() <= size.1;
    let pixels = match protocol {
        // The terminal enlarges it.
        Protocol::Kitty if is_smaller => picture.into_rgba8(),
        _ => resize(picture, size),
    };
    if protocol == Protocol::Blocks {
        return Ok(Scaled::Pixels(pixels));
    }
    let mut png = Vec::new();
    DynamicImage::ImageRgba8(pixels)
        .write_to(&mut Cursor::new(&mut png), ImageFormat::Png)
        .map_err(|_| Fault::Damaged)?;
    Ok(Scaled::Png(png))
}

fn decode(bytes: &[u8]) -> Result<DynamicImage, Fault> {
    let mut decoder = decoder(bytes, 2 * MAX_DECODED).ok_or(Fault::Unknown)?;
    if decoder.total_bytes() > MAX_DECODED {
        return Err(Fault::TooLarge);
    }
    let orientation = decoder.orientation();
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|_| Fault::Damaged)?;
    if let Ok(orientation) = orientation {
        picture.apply_orientation(orientation);
    }
    if picture.width() == 0 || picture.height() == 0 {
        return Err(Fault::Damaged);
    }
    Ok(picture)
}

/// Averages pixels when shrinking. Transparent pixels add no color.
fn resize(picture: DynamicImage, (width, height): (u32, u32)) -> RgbaImage {
    let has_alpha = picture.color().has_alpha();
    let mut pixels = picture.into_rgba8();
    if has_alpha {
        for Rgba([r, g, b, a]) in pixels.pixels_mut() {
            for channel in [r, g, b] {
                *channel = (u16::from(*channel) * u16::from(*a) / 255) as u8;
            }
        }
    }
    let (less_width, less_height) = (width.min(pixels.width()), height.min(pixels.height()));
    let mut scaled = image::imageops::thumbnail(&pixels, less_width, less_height);
    drop(pixels);
    // Last, because a line of thirty million pixels would take gigabytes here.
    if (less_width, less_height) != (width, height) {
        scaled = image::imageops::resize(&scaled, width, height, FilterType::Triangle);
    }
    if has_alpha {
        for Rgba([r, g, b, a]) in scaled.pixels_mut().filter(|pixel| pixel[3] > 0) {
            for channel in [r, g, b] {
                *channel = (u16::from(*channel) * 255 / u16::from(*a)).min(255) as u8;
            }
        }
    }
    scaled
}
