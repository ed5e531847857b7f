//! Adds the pictures of messages to the cells, each with a line of text.

use std::ops::Range;
use std::sync::Arc;

use super::calls;
use super::cell::{CellBody, ToolCell};
use super::cells::Cells;
use super::state::Transcript;
use crate::agent::tool::Details;
use crate::app::attachments::{picture_names, typed_text};
use crate::app::tui::picture::{Picture, PictureLayout, captions, pictures};
use crate::llm::message::Text;
use crate::llm::{Content, Message, ToolResultMessage, UserMessage};

impl Transcript {
    /// How to show pictures; `None` shows only captions.
    pub fn set_pictures(&mut self, layout: Option<PictureLayout>) {
        self.pictures = layout;
    }

    pub(crate) fn pictures(&self) -> Option<PictureLayout> {
        self.pictures
    }

    /// Whether a call shows a picture below its title.
    pub(crate) fn shows_picture_of(&self, tool: &ToolCell) -> bool {
        self.pictures.is_some() && !tool.pictures.is_empty()
    }
}

/// A user's message as shown: the typed text, and a line for each picture.
pub(super) fn user_text(content: &[Content]) -> String {
    with_captions(content, &captions(content, &picture_names(content)))
}

pub(super) fn user_cell(whole: &Arc<Message>, message: &UserMessage) -> CellBody {
    let names = picture_names(&message.content);
    let pictures = pictures(whole, &names);
    let captions: Vec<&str> = pictures.iter().map(Picture::caption).collect();
    CellBody::User {
        text: with_captions(&message.content, &captions),
        pastes: pasted(&message.content),
        pictures,
        confirmed: true,
        is_external: message.origin.is_some(),
    }
}

/// Adds the pictures of its result to a call's cell. Returns whether there are any.
pub(super) fn attach(cells: &mut Cells, whole: &Arc<Message>, result: &ToolResultMessage) -> bool {
    let is_picture = |block: &Content| matches!(block, Content::Image(_));
    if !result.content.iter().any(is_picture) {
        return false;
    }
    let Some(index) = cells.of_call(&result.tool_call_id) else {
        return false;
    };
    calls::change(cells, index, |tool| {
        let name = match &*tool.details {
            Details::Text(text) => text.path.rsplit('/').next(),
            _ => None,
        };
        let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
        tool.pictures = pictures(whole, name.as_slice());
    });
    true
}

/// The pasted ranges of a prompt. A session file may claim anything.
pub(super) fn pasted(content: &[Content]) -> Vec<Range<u32>> {
    let Some(Content::Text(Text { text, pastes, .. })) = content.first() else {
        return Vec::new();
    };
    let mut end = 0;
    let is_part = |paste: &&Range<u32>| {
        let part = text.get(paste.start as usize..paste.end as usize);
        let is_part = paste.start >= end && part.is_some_and(|part| !part.is_empty());
        end = if is_part { paste.end } else { end };
        is_part
    };
    pastes.iter().filter(is_part).cloned().collect()
}

fn with_captions(content: &[Content], captions: &[impl AsRef<str>]) -> String {
    let mut text = typed_text(content);
    for caption in captions {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(caption.as_ref());
    }
    text
}
