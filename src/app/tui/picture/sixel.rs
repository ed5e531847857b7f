//! Sixel graphics: a picture with few colors, and a part of it as the bytes that draw it.
//!
//! Six rows of pixels at a time, a color at a time: each character is a column of six, repeats are
//! counted.

use std::collections::HashMap;
use std::io::Write as _;

use color_quant::NeuQuant;
use image::RgbaImage;

use super::pixel::over;

/// Colors of a picture at most, which all terminals have.
const COLORS: usize = 255;
/// Where nothing of the picture is seen.
const NOTHING: u8 = 255;
/// Pixels that are looked at, about, when colors are chosen.
const SAMPLES: usize = 60_000;
/// Rows of pixels in a band.
const BAND: u32 = 6;

/// A picture with at most 255 colors.
#[derive(Clone, Debug, PartialEq)]
pub struct Indexed {
    width: u32,
    /// The number of each pixel's color.
    pixels: Vec<u8>,
    colors: Vec<(u8, u8, u8)>,
}

impl Indexed {
    /// Brings a picture down to few colors, over a ground.
    pub fn new(picture: &RgbaImage, ground: (u8, u8, u8)) -> Self {
        let seen: Vec<Option<(u8, u8, u8)>> =
            picture.pixels().map(|pixel| over(*pixel, ground)).collect();
        let width = picture.width();
        if let Some(exact) = exactly(width, &seen) {
            return exact;
        }
        let flat: Vec<u8> = seen
            .iter()
            .flatten()
            .flat_map(|&(r, g, b)| [r, g, b, 255])
            .collect();
        let every = (seen.len() / SAMPLES).clamp(1, 30) as i32;
        let chosen = NeuQuant::new(every, COLORS, &flat);
        let colors = chosen.color_map_rgb();
        let colors = colors
            .chunks_exact(3)
            .map(|it| (it[0], it[1], it[2]))
            .collect();
        // Colors that are nearly the same get the same one without another search.
        let mut known: HashMap<(u8, u8, u8), u8> = HashMap::new();
        let pixels = seen.iter().map(|pixel| {
            let Some((r, g, b)) = *pixel else {
                return NOTHING;
            };
            let near = known.entry((r >> 2, g >> 2, b >> 2));
            *near.or_insert_with(|| chosen.index_of(&[r, g, b, 255]) as u8)
        });
        Self {
            width,
            pixels: pixels.collect(),
            colors,
        }
    }

    /// Bytes of memory it takes.
    pub fn weight(&self) -> usize {
        self.pixels.len()
    }

    /// Appends what draws the part of so many pixels that begins at `(left, top)` where the cursor is.
    pub fn draw(&self, (left, top): (u32, u32), (width, height): (u32, u32), out: &mut Vec<u8>) {
        let rows = self.pixels.len() as u32 / self.width.max(1);
        let width = width.min(self.width.saturating_sub(left));
        let height = height.min(rows.saturating_sub(top));
        // Pixels that are not drawn stay as they are.
        let _ = write!(out, "\x1bP0;1;0q\"1;1;{width};{height}");
        let mut told = [false; 256];
        let mut columns: Vec<Vec<u8>> = vec![Vec::new(); 256];
        for band in (0..height).step_by(BAND as usize) {
            if band > 0 {
                out.push(b'-');
            }
            for y in band..height.min(band + BAND) {
                let from = ((top + y) * self.width + left) as usize;
                for (x, color) in self.pixels[from..from + width as usize].iter().enumerate() {
                    if *color != NOTHING {
                        let column = &mut columns[usize::from(*color)];
                        column.resize(width as usize, 0);
                        column[x] |= 1 << (y - band);
                    }
                }
            }
            let mut is_first = true;
            for (color, column) in columns.iter_mut().enumerate() {
                if column.is_empty() {
                    continue;
                }
                if !std::mem::take(&mut is_first) {
                    out.push(b'$');
                }
                if !std::mem::replace(&mut told[color], true) {
                    let (r, g, b) = self.colors.get(color).copied().unwrap_or_default();
                    let [r, g, b] = [r, g, b].map(|it| (u32::from(it) * 100 + 127) / 255);
                    let _ = write!(out, "#{color};2;{r};{g};{b}");
                }
                let _ = write!(out, "#{color}");
                repeats(column, out);
                column.clear();
            }
        }
        out.extend_from_slice(b"\x1b\\");
    }
}

/// The pixels by the numbers of their colors, where these are few.
fn exactly(width: u32, seen: &[Option<(u8, u8, u8)>]) -> Option<Indexed> {
    let mut numbers: HashMap<(u8, u8, u8), u8> = HashMap::new();
    let mut colors = Vec::new();
    let mut pixels = Vec::with_capacity(seen.len());
    for pixel in seen {
        let Some(color) = pixel else {
            pixels.push(NOTHING);
            continue;
        };
        let number = match numbers.get(color) {
            Some(number) => *number,
            None if colors.len() == COLORS => return None,
            None => {
                let number = colors.len() as u8;
                numbers.insert(*color, number);
                colors.push(*color);
                number
            }
        };
        pixels.push(number);
    }
    Some(Indexed {
        width,
        pixels,
        colors,
    })
}

/// Appends columns of six pixels; those at the end that are not drawn are left out.
fn repeats(columns: &[u8], out: &mut Vec<u8>) {
    let drawn = columns.iter().rposition(|column| *column != 0);
    let columns = &columns[..drawn.map_or(0, |last| last + 1)];
    for run in columns.chunk_by(|one, other| one == other) {
        let column = run[0] + b'?';
        match run.len() {
            count @ 1..=3 => out.extend(std::iter::repeat_n(column, count)),
            count => {
                let _ = write!(out, "!{count}");
                out.push(column);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use image::Rgba;

    use super::*;

    /// The pixels that sixel data draws: width, height, and what is drawn where.
    fn decode(bytes: &[u8]) -> (u32, u32, HashMap<(u32, u32), [u32; 3]>) {
        let text = std::str::from_utf8(bytes).unwrap();
        let data = text.strip_prefix("\x1bP0;1;0q\"1;1;").unwrap();
        let mut data = data.strip_suffix("\x1b\\").unwrap();
        let number = |data: &mut &str| -> u32 {
            let end = data
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(data.len());
            let value = data[..end].parse().unwrap();
            *data = &data[end..];
            value
        };
        let skip = |data: &mut &str, c: char| *data = data.strip_prefix(c).unwrap();
        let width = number(&mut data);
        skip(&mut data, ';');
        let height = number(&mut data);
        let (mut x, mut y, mut color) = (0, 0, 0);
        let mut palette = HashMap::new();
        let mut pixels = HashMap::new();
        while let Some(c) = data.chars().next() {
            data = &data[1..];
            let (count, column) = match c {
                '#' => {
                    color = number(&mut data);
                    if data.starts_with(";2;") {
                        data = &data[3..];
                        let r = number(&mut data);
                        skip(&mut data, ';');
                        let g = number(&mut data);
                        skip(&mut data, ';');
                        palette.insert(color, [r, g, number(&mut data)]);
                    }
                    continue;
                }
                '$' => {
                    x = 0;
                    continue;
                }
                '-' => {
                    (x, y) = (0, y + 6);
                    continue;
                }
                '!' => {
                    let count = number(&mut data);
                    let c = data.as_bytes()[0];
                    data = &data[1..];
                    (count, c)
                }
                c => (1, c as u8),
            };
            assert!((b'?'..=b'~').contains(&column));
            for _ in 0..count {
                for bit in (0..6).filter(|bit| (column - b'?') & (1 << bit) != 0) {
                    pixels.insert((x, y + bit), palette[&color]);
                }
                x += 1;
            }
        }
        (width, height, pixels)
    }

    #[test]
    fn a_part_of_a_picture_is_drawn_as_it_is() {
        // Fifths of the full strength, which are the same in per cent.
        let picture = RgbaImage::from_fn(40, 23, |x, y| {
            let level = |value: u32| (value % 6 * 51) as u8;
            let alpha = if (x + y) % 7 == 0 { 0 } else { 255 };
            Rgba([level(x / 3), level(y), level(x + y), alpha])
        });
        let indexed = Indexed::new(&picture, (0, 0, 0));
        for (at, size) in [
            ((0, 0), (40, 23)),
            ((0, 5), (40, 6)),
            ((7, 3), (11, 13)),
            ((39, 22), (1, 1)),
            ((30, 20), (99, 99)),
        ] {
            let mut out = Vec::new();
            indexed.draw(at, size, &mut out);
            let (width, height, pixels) = decode(&out);
            assert_eq!(
                (width, height),
                (size.0.min(40 - at.0), size.1.min(23 - at.1))
            );
            for y in 0..height {
                for x in 0..width {
                    let Rgba([r, g, b, a]) = *picture.get_pixel(at.0 + x, at.1 + y);
                    let expected = [r, g, b].map(|it| u32::from(it) * 100 / 255);
                    let expected = Some(expected).filter(|_| a > 0);
                    assert_eq!(pixels.get(&(x, y)).copied(), expected, "{x},{y} of {at:?}");
                }
            }
        }
    }

    /// What has more colors gets near ones, whatever its size.
    #[test]
    fn many_colors_become_few() {
        for (width, height) in [(16, 17), (23, 24), (40, 50), (300, 100)] {
            let picture = RgbaImage::from_fn(width, height, |x, y| {
                let (r, g) = (x * 255 / width, y * 255 / height);
                Rgba([r as u8, g as u8, (x * y % 256) as u8, 255])
            });
            let mut out = Vec::new();
            Indexed::new(&picture, (0, 0, 0)).draw((0, 0), (width, height), &mut out);
            let (_, _, pixels) = decode(&out);
            assert_eq!(pixels.len() as u32, width * height);
            let far = pixels.iter().map(|((x, y), found)| {
                let wanted = picture.get_pixel(*x, *y);
                let channels = found.iter().zip(wanted.0);
                channels
                    .map(|(one, other)| (one * 255 / 100).abs_diff(u32::from(other)))
                    .sum::<u32>()
            });
            let mean = far.sum::<u32>() / (width * height);
            assert!(mean < 50, "{width}x{height}: {mean}");
        }
    }
}
