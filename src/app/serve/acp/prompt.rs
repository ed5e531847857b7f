//! The blocks of a prompt as a message. Files that the editor names become mentions in the text, as the
//! user would type them; their content follows as attachments.

use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::wire::{Block, Resource, RpcError};
use crate::app::attachments::{attach_mentions, mention};
use crate::app::prompt::file_block;
use crate::app::serve::pictures;
use crate::app::steer::MAX_MESSAGE;
use crate::llm::Content;
use crate::llm::message::{Image, content_text};

/// A message, and the files it mentions but doesn't contain, with the reason.
pub(super) async fn content(
    blocks: Vec<Block>,
    cwd: PathBuf,
) -> Result<(Vec<Content>, Vec<String>), RpcError> {
    let mut text = String::new();
    let mut attached = Vec::new();
    let mut images = Vec::new();
    for block in blocks {
        match block {
            Block::Text { text: more } => text.push_str(&more),
            Block::Image { data, mime_type } => images.push(Image { data, mime_type }),
            Block::ResourceLink { uri } => text.push_str(&place(&uri, &cwd).mention()),
            Block::Resource { resource } => {
                let Resource {
                    uri,
                    text: content,
                    blob,
                    mime_type,
                } = resource;
                let place = place(&uri, &cwd);
                text.push_str(&place.mention());
                match (content, blob, mime_type) {
                    (Some(content), ..) => {
                        let block = file_block(&place.path, place.lines, &content);
                        attached.push(Content::text(block));
                    }
                    (None, Some(data), Some(mime_type)) if mime_type.starts_with("image/") => {
                        images.push(Image { data, mime_type });
                    }
                    _ => {}
                }
            }
        }
    }
    // Model servers reject NUL, in this and every later request.
    let text = text.replace('\0', "\u{fffd}");
    if text.len() + content_text(&attached).len() > MAX_MESSAGE {
        let error = "the prompt is longer than 1 MiB; write it to a file and name the file";
        return Err(RpcError::params(error));
    }
    let pictures = pictures::prepare(images).await.map_err(RpcError::params)?;
    if text.trim().is_empty() && pictures.is_empty() {
        return Err(RpcError::params("the prompt is empty"));
    }
    let mut content = Vec::new();
    if !text.trim().is_empty() {
        content.push(Content::text(text));
    }
    content.extend(attached);
    let attaching = spawn_blocking(move || attach_mentions(content, &cwd));
    let (mut content, left_out) = attaching
        .await
        .map_err(|panic| RpcError::internal(panic.to_string()))?;
    content.extend(pictures);
    Ok((content, left_out))
}

/// What a URI means.
#[derive(Debug, PartialEq)]
struct Place {
    /// A path, relative if it is in the working folder; or a URI that names no file.
    path: String,
    lines: Option<(usize, usize)>,
    is_file: bool,
}

impl Place {
    /// How the text names it.
    fn mention(&self) -> String {
        let lines = match self.lines {
            Some((first, last)) => format!(":{first}-{last}"),
            None => String::new(),
        };
        if self.is_file {
            mention(&self.path, &lines)
        } else {
            self.path.clone()
        }
    }
}

fn place(uri: &str, cwd: &Path) -> Place {
    let Some(rest) = uri.strip_prefix("file://") else {
        return Place {
            path: uri.to_owned(),
            lines: None,
            is_file: false,
        };
    };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let path = decoded(rest.split('?').next().unwrap_or(rest));
    let path = Path::new(&path);
    let path = path.strip_prefix(cwd).unwrap_or(path);
    // `L5`, `L5:7` and `L5-7`.
    let numbers = fragment.strip_prefix('L').map(|lines| {
        let numbers = lines.split([':', '-']);
        numbers.map(|it| it.trim_start_matches('L').parse().ok())
    });
    let lines = numbers.and_then(|mut numbers| {
        let first = numbers.next()??;
        let last = numbers.next().flatten().unwrap_or(first);
        Some((first, last))
    });
    Place {
        path: path.to_string_lossy().into_owned(),
        lines: lines.filter(|(first, last)| 1 <= *first && first <= last),
        is_file: true,
    }
}

/// Without percent escapes.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let escaped = after.get(..2).filter(|_| *byte == b'%');
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(escaped) => {
                bytes.push(escaped);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_becomes_a_mention() {
        for (uri, expected) in [
            ("file:///p/src/a.rs", "@src/a.rs"),
            ("file:///p/src/a%20b.rs", "@\"src/a b.rs\""),
            ("file:///p/a.rs#L5:7", "@a.rs:5-7"),
            ("file:///p/a.rs?symbol=f#L5-L7", "@a.rs:5-7"),
            ("file:///p/a.rs#L0", "@a.rs"),
            ("file:///p/100%", "@100%"),
            ("file:///other/a.rs", "@/other/a.rs"),
            ("https://example.org/x", "https://example.org/x"),
        ] {
            assert_eq!(place(uri, Path::new("/p")).mention(), expected, "{uri}");
        }
    }
}
