//! Chooses which images of a conversation to send: providers limit their number and size per request.
//!
//! It drops the oldest. As that changes the prefix of the request, it happens in steps. At the limit,
//! half of it becomes free, and nothing changes until the limit is reached again.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::api::Api;
use crate::message::{Content, Image, Message};
use crate::model::Model;

const MIB: usize = 1024 * 1024;

/// Most images in one request, and most bytes of them as base64.
struct Limits {
    count: usize,
    bytes: usize,
}

/// The model's limits in the catalog, or those that the vendor of its API documents. The chat API has
/// many hosts, so it gets a limit that most accept. An eighth of the bytes is for text.
fn limits(model: &Model) -> Limits {
    let (count, mib) = match model.api {
        Api::AnthropicMessages if model.context_window <= 200_000 => (100, 32),
        Api::AnthropicMessages => (600, 32),
        Api::OpenAiResponses => (1500, 512),
        Api::GoogleGenerateContent => (3000, 20),
        Api::OpenAiChat | Api::Scripted => (100, 20),
    };
    let known = |limit: Option<u64>| usize::try_from(limit?).ok();
    let bytes = known(model.limits.request_bytes).unwrap_or(mib * MIB);
    Limits {
        count: known(model.limits.images).unwrap_or(count),
        bytes: bytes - bytes / 8,
    }
}

#[derive(Default)]
pub(super) struct LeftOut {
    images: HashSet<*const Image>,
    /// The message of the last step. Thinking before it saw images that are gone.
    pub since: usize,
}

impl LeftOut {
    /// The images in `messages` to leave out for `model`.
    pub fn of(messages: &[Arc<Message>], model: &Model) -> Self {
        let limits = limits(model);
        let mut out = Self::default();
        let mut kept: VecDeque<&Image> = VecDeque::new();
        let mut bytes = 0;
        for (at, message) in messages.iter().enumerate() {
            for block in message.content() {
                let Content::Image(image) = block else {
                    continue;
                };
                kept.push_back(image);
                bytes += image.data.len();
                if kept.len() <= limits.count && bytes <= limits.bytes {
                    continue;
                }
                out.since = at;
                // Always keep the newest: the provider says what is wrong with it.
                while kept.len() > 1 && (kept.len() > limits.count / 2 || bytes > limits.bytes / 2)
                {
                    let Some(oldest) = kept.pop_front() else {
                        break;
                    };
                    bytes -= oldest.data.len();
                    out.images.insert(std::ptr::from_ref(oldest));
                }
            }
        }
        out
    }

    pub fn contains(&self, image: &Image) -> bool {
        self.images.contains(&std::ptr::from_ref(image))
    }
}
