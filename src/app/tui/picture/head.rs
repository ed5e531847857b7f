//! Reads the head of a picture: its size, or why it can't be shown. Decodes no pixels.

use std::fmt;
use std::io::Cursor;
use std::panic::catch_unwind;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::{ImageDecoder, ImageReader, Limits};

/// Base64 letters to search for the size first; metadata of cameras may take more.
const HEAD: usize = 256 * 1024;
/// The most memory for a decoded picture, at four bytes per pixel.
pub const MAX_DECODED: u64 = 128 * 1024 * 1024;

/// Why a picture isn't shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its format is unknown.
    Unknown,
    /// It would take too much memory.
    TooLarge,
    Damaged,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "not shown: unknown image format",
            Self::TooLarge => "not shown: too many pixels",
            Self::Damaged => "not shown: the file is damaged",
        })
    }
}

/// The facts known before decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Width and height in pixels, upright.
    pub size: Option<(u32, u32)>,
    pub fault: Option<Fault>,
}

impl Head {
    pub fn read(base64: &str) -> Self {
        let size = [HEAD, base64.len()].into_iter().find_map(|end| {
            let end = end.min(base64.len());
            let bytes = BASE64_STANDARD.decode(base64.get(..end)?).ok()?;
            // The bytes are untrusted, and decoders have bugs.
            catch_unwind(|| dimensions(&bytes)).ok()?
        });
        let fault = match size {
            None => Some(Fault::Unknown),
            Some((0, _) | (_, 0)) => Some(Fault::Damaged),
            Some((width, height)) if u64::from(width) * u64::from(height) > MAX_DECODED / 4 => {
                Some(Fault::TooLarge)
            }
            Some(_) => None,
        };
        Self { size, fault }
    }
}

/// A decoder with limited memory, if the format is known.
pub fn decoder(bytes: &[u8], most: u64) -> Option<impl ImageDecoder> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(most);
    let reader = ImageReader::new(Cursor::new(bytes));
    let mut reader = reader.with_guessed_format().ok()?;
    reader.limits(limits);
    reader.into_decoder().ok()
}

fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut decoder = decoder(bytes, MAX_DECODED)?;
    let (width, height) = decoder.dimensions();
    // From 5 on, Exif orientations swap width and height.
    let lies = decoder.orientation().is_ok_and(|it| it.to_exif() >= 5);
    Some(if lies {
        (height, width)
    } else {
        (width, height)
    })
}
