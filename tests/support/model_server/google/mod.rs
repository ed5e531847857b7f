//! Google generateContent, as the vendor's server speaks it.

mod render;
mod rules;
mod said;

pub(super) use render::{Stream, error_body};
pub(super) use rules::check;
pub(super) use said::said;

use serde_json::Value;

/// The model in a path that asks for a stream.
pub(super) fn model_of(path: &str) -> Option<&str> {
    let path = path.split('?').next().unwrap_or(path);
    path.strip_prefix("/v1beta/models/")?
        .strip_suffix(":streamGenerateContent")
}

/// Signs a call or a text, so that the server recognizes it when it comes back.
fn sign(kind: &str, name: &str, value: &Value) -> String {
    let text = format!("{kind}\0{name}\0{value}");
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // Sixteen characters of valid base64, because every signature is base64.
    format!("{sum:016x}").replace('0', "+")
}
