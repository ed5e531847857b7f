//! Recently shown pictures at their sizes, and which of them the terminal has. Only pictures on the
//! screen are loaded, a few at a time; those unseen for longest go first.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use super::head::Fault;
use super::kitty::{self, Reader};
use super::layout::{PictureLayout, Protocol};
use super::placed::PlacedPicture;
use super::scale::Scaled;
use super::worker::{Job, Key, PictureWorker, Wake};

/// Bytes of pictures to keep besides those on the screen.
const KEPT: usize = 24 * 1024 * 1024;
/// The most pictures in work at a time, so that none waits for those scrolled past.
const AT_ONCE: usize = 2;

/// How long the last frames wait for pictures in total.
const AT_END: Duration = Duration::from_secs(1);

/// Everything drawing knows about pictures. Can be dropped at any time.
#[derive(Default)]
pub struct PictureCache {
    wake: Option<Wake>,
    /// Started with the first picture.
    worker: Option<PictureWorker>,
    layout: Option<PictureLayout>,
    /// Whether rows are printed for good, so that the terminal must keep the pictures.
    prints: bool,
    reader: Reader,
    known: HashMap<Key, Entry>,
    weight: usize,
    in_work: usize,
    patience: Duration,
    frame: u64,
    last_number: u32,
    /// Bytes to send to the terminal before the frame.
    outgoing: Vec<u8>,
}

pub struct Entry {
    /// `None` while it's in work.
    pub scaled: Option<Result<Scaled, Fault>>,
    pub number: u32,
    sent: bool,
    used: u64,
}

impl PictureCache {
    /// Calls `wake` from another thread when `poll` has something to do; `var` reads variables.
    pub fn new(wake: Wake, prints: bool, var: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            wake: Some(wake),
            prints,
            reader: var("TMUX").map_or(Reader::Terminal, |_| Reader::Tmux),
            ..Self::default()
        }
    }

    /// Takes finished pictures. Returns whether there were any.
    pub fn poll(&mut self) -> bool {
        self.take_in(Duration::ZERO)
    }

    /// The last frames follow: wait for missing pictures.
    pub fn be_patient(&mut self) {
        self.patience = AT_END;
    }

    /// Waits for pictures in work, if this is the time for it. Returns whether one came.
    pub fn wait(&mut self) -> bool {
        let start = Instant::now();
        let found = self.take_in(self.patience);
        self.patience = self.patience.saturating_sub(start.elapsed());
        found
    }

    fn take_in(&mut self, wait: Duration) -> bool {
        let mut found = false;
        while self.in_work > 0
            && let Some(worker) = &self.worker
            && let Some((key, scaled)) = worker.receive(wait)
        {
            found = true;
            self.in_work -= 1;
            let Some(entry) = self.known.get_mut(&key) else {
                continue;
            };
            self.weight += scaled.as_ref().map_or(0, Scaled::weight);
            entry.scaled = Some(scaled);
        }
        found
    }

    pub fn is_busy(&self) -> bool {
        self.in_work > 0
    }

    /// Starts a frame that shows pictures like this.
    pub fn begin(&mut self, layout: Option<PictureLayout>) {
        self.frame += 1;
        self.layout = layout;
    }

    pub fn layout(&self) -> Option<PictureLayout> {
        self.layout
    }

    /// A picture on the screen. Requests it if it isn't ready.
    pub fn see(&mut self, placed: &PlacedPicture) -> Option<&Entry> {
        let layout = self.layout?;
        let size = (placed.columns, placed.rows);
        let key = Key {
            id: placed.picture.id(),
            cells: size,
            pixels: layout.pixels(size),
            protocol: layout.protocol,
        };
        if !self.known.contains_key(&key) {
            if self.in_work >= AT_ONCE {
                return None;
            }
            self.in_work += 1;
            let wake = &mut self.wake;
            let worker = self.worker.get_or_insert_with(|| {
                let nobody: fn() -> Wake = || std::sync::Arc::new(|| {});
                PictureWorker::start(wake.clone().unwrap_or_else(nobody))
            });
            worker.send(Job {
                key,
                picture: placed.picture.clone(),
            });
            let entry = Entry {
                scaled: None,
                number: self.next_number(),
                sent: false,
                used: self.frame,
            };
            self.known.insert(key, entry);
        }
        let entry = self.known.get_mut(&key)?;
        entry.used = self.frame;
        if let (Some(Ok(Scaled::Png(png))), Protocol::Kitty, false) =
            (&entry.scaled, layout.protocol, entry.sent)
        {
            kitty::send(self.reader, entry.number, size, png, &mut self.outgoing);
            entry.sent = true;
        }
        Some(entry)
    }

    pub fn lacks(&mut self, placed: &PlacedPicture) -> bool {
        let is_waiting = |it: &Entry| it.scaled.is_none();
        self.layout.is_some() && self.see(placed).is_none_or(is_waiting)
    }

    /// Ends a frame: drops pictures unseen for longest.
    pub fn end(&mut self) {
        if self.weight <= KEPT {
            return;
        }
        let old = |(key, entry): (&Key, &Entry)| (entry.used, *key);
        let unseen = self.known.iter().filter(|(_, it)| it.used < self.frame);
        let mut unseen: Vec<_> = unseen.map(old).collect();
        unseen.sort_unstable_by_key(|(used, _)| *used);
        for (_, key) in unseen {
            if self.weight <= KEPT {
                break;
            }
            let Some(entry) = self.known.remove(&key) else {
                continue;
            };
            if let Some(Ok(scaled)) = &entry.scaled {
                self.weight -= scaled.weight();
            }
            if entry.sent && !self.prints {
                kitty::delete(self.reader, entry.number, &mut self.outgoing);
            }
        }
    }

    /// Takes the bytes to send to the terminal before the painted frame.
    pub fn take_outgoing(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.outgoing)
    }

    /// The terminal switched to another screen, which has no pictures yet.
    pub fn forget_sent(&mut self) {
        for entry in self.known.values_mut() {
            entry.sent = false;
        }
    }

    /// Appends bytes that remove all pictures from the terminal, except those that stay.
    pub fn withdraw(&mut self, out: &mut Vec<u8>) {
        self.outgoing.clear();
        for entry in self.known.values().filter(|it| it.sent && !self.prints) {
            kitty::delete(self.reader, entry.number, out);
        }
        self.forget_sent();
    }

    /// Numbers start elsewhere in each process, because several can share a terminal.
    fn next_number(&mut self) -> u32 {
        const COLORS: u32 = 0xff_ffff;
        if self.last_number == 0 {
            self.last_number = std::process::id().wrapping_mul(0x9e37_79b1) & COLORS;
        }
        self.last_number = (self.last_number + 1) & COLORS;
        if self.last_number == 0 {
            self.last_number = 1;
        }
        self.last_number
    }
}

impl fmt::Debug for PictureCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PictureCache({})", self.known.len())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use image::{ImageFormat, Rgba, RgbaImage};
    use ratatui_core::style::Style;

    use super::*;
    use crate::app::tui::picture::pictures;
    use crate::app::tui::theme::ColorDepth;
    use crate::llm::{Content, Image, Message, UserMessage};

    fn placed() -> PlacedPicture {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let picture = RgbaImage::from_pixel(40, 40, Rgba([200, 0, 0, 128]));
        picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
        let image = Image {
            data: BASE64_STANDARD.encode(bytes.into_inner()),
            mime_type: "image/png".into(),
        };
        let message = Arc::new(Message::User(UserMessage {
            content: vec![Content::Image(image)],
            origin: None,
            queue_id: None,
            timestamp: 0,
        }));
        PlacedPicture {
            picture: pictures(&message, &[]).remove(0),
            first: 0,
            rows: 2,
            quiet: Style::new(),
            x: 0,
            columns: 4,
        }
    }

    /// The font changed, but not the number of cells; painting the cells mixes the background in.
    #[test]
    fn a_picture_is_scaled_again_when_its_pixels_change() {
        for (protocol, of_cell) in [(Protocol::Kitty, true), (Protocol::Blocks, false)] {
            let layout = PictureLayout {
                protocol,
                cell: (10, 20),
                rows: 16,
                ground: (0, 0, 0),
                depth: ColorDepth::TrueColor,
            };
            let larger = PictureLayout {
                cell: (20, 40),
                ..layout
            };
            let lighter = PictureLayout {
                ground: (255, 255, 255),
                ..layout
            };
            let placed = placed();
            for (other, expected) in [(larger, of_cell), (lighter, false)] {
                let mut cache = PictureCache::default();
                cache.begin(Some(layout));
                assert!(cache.lacks(&placed));
                cache.be_patient();
                assert!(cache.wait());
                assert!(!cache.lacks(&placed));
                cache.begin(Some(other));
                assert_eq!(cache.lacks(&placed), expected, "{protocol:?} {other:?}");
            }
        }
    }
}
