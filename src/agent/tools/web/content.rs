//! What the model gets of a page: text, a picture, or the reason why neither.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use regex::bytes::Regex;

use super::markdown;
use super::request::{MAX_BODY, Page};
use crate::hooks::quoted;
use crate::tools::kind::{self, Kind};
use crate::tools::read::image_of;
use tiller_llm::Image;

/// Where a page names its encoding, in bytes from its beginning.
const HEAD: usize = 4096;
/// The longest name of a type in bytes.
const MAX_TYPE: usize = 100;

/// The content of a page.
#[derive(Debug, PartialEq)]
pub(super) enum PageContent {
    Text(String),
    Picture(Image),
}

/// Reads the content of a page.
///
/// # Errors
/// What the page is instead of text or a picture.
pub(super) fn content(page: &Page) -> Result<PageContent, String> {
    let head = &page.body[..page.body.len().min(kind::HEAD)];
    let media = media_type(page, head);
    let is_text = match media.as_str() {
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/toml"
        | "application/yaml"
        | "application/x-yaml"
        | "application/x-sh"
        | "application/sql" => true,
        media => media.starts_with("text/") || media.ends_with("+json") || media.ends_with("+xml"),
    };
    if is_html(&media) {
        return Ok(PageContent::Text(markdown::to_text(
            &decode(page),
            &page.url,
        )));
    }
    if is_text && !kind::has_nul(head) || page.body.is_empty() {
        return Ok(PageContent::Text(decode(page).into_owned()));
    }
    match image_of(&page.body) {
        Some(Ok(picture)) if !page.is_cut => Ok(PageContent::Picture(picture)),
        Some(Err(why)) => Err(format!("a picture that can't be read: {why}")),
        Some(Ok(_)) | None => Err(what(page, &media)),
    }
}

fn is_html(media: &str) -> bool {
    matches!(media, "text/html" | "application/xhtml+xml")
}

/// The type that the server names, or the one that the content has.
pub(super) fn media_type(page: &Page, head: &[u8]) -> String {
    let named = page.content_type.split(';').next().unwrap_or_default();
    let named = named.trim().to_ascii_lowercase();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "/+-._".contains(c);
    let is_type = (1..=MAX_TYPE).contains(&named.len()) && named.chars().all(is_part);
    if is_type && named != "application/octet-stream" {
        return named;
    }
    match kind::of(head) {
        Kind::Text | Kind::Utf16 => {
            let start = String::from_utf8_lossy(head).trim_start().to_lowercase();
            let is_page = start.starts_with("<!doctype html") || start.starts_with("<html");
            if is_page { "text/html" } else { "text/plain" }.to_owned()
        }
        Kind::Picture(mime) => mime.to_owned(),
        Kind::Binary(what) => what,
    }
}

fn what(page: &Page, media: &str) -> String {
    let more = if page.is_cut { "more than " } else { "" };
    let size = kind::size(page.body.len() as u64);
    format!(
        "it is {media} ({more}{size}), and web_fetch reads only HTML, text, JSON and pictures. A command can \
         download it, if the user lets it use the network: curl -LO {}",
        quoted(page.url.as_str())
    )
}

/// The text in the encoding that the byte order mark, the server or the page names.
fn decode(page: &Page) -> Cow<'_, str> {
    let body = &page.body[..page.body.len().min(MAX_BODY)];
    let (_, parameters) = page.content_type.split_once(';').unwrap_or_default();
    let label = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches(['"', '\'']))
    });
    let named = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    let named = named.or_else(|| in_page(&body[..body.len().min(HEAD)]));
    let encoding = named.unwrap_or_else(|| {
        // Without a name, what isn't UTF-8 is mostly this.
        match std::str::from_utf8(body) {
            Err(error) if error.error_len().is_some() => WINDOWS_1252,
            _ => UTF_8,
        }
    });
    encoding.decode(body).0
}

fn in_page(head: &[u8]) -> Option<&'static Encoding> {
    let pattern = r#"(?i)<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([a-z0-9_-]+)"#;
    let found = Regex::new(pattern).ok()?.captures(head)?;
    // A page that can name it in ASCII isn't UTF-16.
    Encoding::for_label(found.get(1)?.as_bytes()).filter(|it| it.is_ascii_compatible())
}
