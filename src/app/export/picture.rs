//! Pictures as HTML. The first bytes decide about the type, because the declared one may be wrong.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::escape::{push, push_element};
use crate::llm::Image;

/// Base64 letters that hold the first twelve bytes.
const HEAD: usize = 16;

pub(super) fn push_image(out: &mut String, image: &Image) {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    match picture_type(&image.data) {
        Some(kind) if image.data.bytes().all(is_base64) => push(
            out,
            format_args!(
                "<img class=\"picture\" alt=\"A picture ({kind})\" loading=\"lazy\" \
                 src=\"data:image/{kind};base64,{}\">\n",
                image.data
            ),
        ),
        _ => {
            let text = format!("Unsupported picture ({})", image.mime_type);
            push_element(out, "p", "note", &text);
        }
    }
}

/// The type of the picture in `base64`, if every browser shows it.
pub(super) fn picture_type(base64: &str) -> Option<&'static str> {
    let head = STANDARD.decode(base64.get(..HEAD)?).ok()?;
    match head.as_slice() {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("png"),
        [0xff, 0xd8, 0xff, ..] => Some("jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P'] => Some("webp"),
        _ => None,
    }
}
