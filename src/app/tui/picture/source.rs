//! The pictures of a message: their names, heads and bytes.

use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use super::head::Head;
use crate::app::humanize::bytes;
use crate::app::sanitize::visible_line;
use crate::app::tui::text::width::ellipsis_middle;
use crate::llm::{Content, Image, Message};

/// The most columns of a name in a caption.
const NAME: usize = 60;

/// An undecoded picture of a message.
#[derive(Clone)]
pub(crate) struct Picture {
    /// Identifies its bytes.
    id: u64,
    caption: String,
    /// Width and height in pixels; `None` if it can't be shown.
    size: Option<(u32, u32)>,
    message: Arc<Message>,
    /// The index of its block in the message.
    block: usize,
}

impl Picture {
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Its caption: name, size, or why it isn't shown. One line.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// Width and height in pixels; `None` if it can't be shown.
    pub fn size(&self) -> Option<(u32, u32)> {
        self.size
    }

    pub fn base64(&self) -> &str {
        match self.message.content().get(self.block) {
            Some(Content::Image(image)) => &image.data,
            _ => "",
        }
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture({:x}, {:?})", self.id, self.size)
    }
}

impl PartialEq for Picture {
    fn eq(&self, other: &Self) -> bool {
        (self.id, self.block) == (other.id, other.block)
    }
}

/// The pictures of a message in order, with their names if known.
pub(crate) fn pictures(message: &Arc<Message>, names: &[String]) -> Vec<Picture> {
    let blocks = message.content().iter().enumerate();
    let images = blocks.filter_map(|(block, content)| match content {
        Content::Image(image) => Some((block, image)),
        _ => None,
    });
    let picture = |(number, (block, image)): (usize, (usize, &Image))| {
        let head = Head::read(&image.data);
        let mut hasher = DefaultHasher::new();
        hasher.write(image.data.as_bytes());
        Picture {
            id: hasher.finish(),
            caption: caption(names.get(number), image, head),
            size: head.size.filter(|_| head.fault.is_none()),
            message: Arc::clone(message),
            block,
        }
    };
    images.enumerate().map(picture).collect()
}

/// A caption for each picture in a message.
pub(crate) fn captions(content: &[Content], names: &[String]) -> Vec<String> {
    let images = content.iter().filter_map(|block| match block {
        Content::Image(image) => Some(image),
        _ => None,
    });
    let numbered = images.enumerate();
    numbered
        .map(|(number, image)| caption(names.get(number), image, Head::read(&image.data)))
        .collect()
}

/// A picture's caption: name, size, or why it isn't shown. One line.
fn caption(name: Option<&String>, image: &Image, head: Head) -> String {
    let name = visible_line(name.unwrap_or(&image.mime_type));
    let mut caption = format!("▣ {}", ellipsis_middle(&name, NAME));
    if let Some((width, height)) = head.size {
        let _ = write!(caption, "  {width}x{height}");
    }
    let weight = image.data.trim_end_matches('=').len() as u64 * 3 / 4;
    let _ = write!(caption, "  {}", bytes(weight));
    if let Some(fault) = head.fault {
        let _ = write!(caption, "  {fault}");
    }
    caption
}
