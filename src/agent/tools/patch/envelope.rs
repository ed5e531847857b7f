//! What models wrap patches in: a shell command with a here-document, a code fence, a JSON array or
//! object. Takes the wrapping off and leaves the patch as it is.

use serde_json::Value;

use super::marker::{Marker, marker};

/// The lines of the patch in `text`, from its first marker on, each with its number (from 1) in
/// the text. CR before LF is dropped.
pub fn lines(text: &str) -> Vec<(usize, String)> {
    let unpacked = from_json(text);
    let text = unpacked.as_deref().unwrap_or(text);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines: Vec<(usize, &str)> = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .collect();
    let start = begin(&lines);
    let closers: Vec<String> = lines[..start.unwrap_or(0)]
        .iter()
        .filter_map(|(_, line)| closer(line))
        .collect();
    let same_line = start.and_then(|start| closer(lines[start].1));
    let mut rest = lines.split_off(start.unwrap_or(0));
    let is_closer = |line: &str| {
        let line = line.trim();
        line.is_empty()
            || closers
                .iter()
                .chain(&same_line)
                .any(|closer| closer == line)
    };
    while rest.last().is_some_and(|(_, line)| is_closer(line)) {
        rest.pop();
    }
    rest.into_iter()
        .map(|(number, line)| (number, line.to_owned()))
        .collect()
}

/// Where the patch begins: at its first marker, even behind other words on that line.
fn begin(lines: &[(usize, &str)]) -> Option<usize> {
    let is_begin =
        |line: &str| line.contains("*** Begin Patch") || marker(line) == Some(Marker::Begin);
    let opens = |line: &str| {
        matches!(
            marker(line),
            Some(Marker::Add(_) | Marker::Delete(_) | Marker::Update(_))
        )
    };
    lines
        .iter()
        .position(|(_, line)| is_begin(line) || opens(line))
}

/// The line that closes what `line` opens, if it opens a here-document or a code fence.
fn closer(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with("```") {
        return Some("```".to_owned());
    }
    let (_, tag) = line.split_once("<<")?;
    let tag = tag.trim_start_matches('-').trim_start();
    let tag = tag.split_whitespace().next()?;
    Some(tag.trim_matches(['\'', '"']).to_owned()).filter(|tag| !tag.is_empty())
}

/// The patch out of `["apply_patch", "..."]`, `{"input": "..."}` and the like.
fn from_json(text: &str) -> Option<String> {
    let text = text.trim_start();
    if !text.starts_with(['{', '[', '"']) {
        return None;
    }
    let is_patch = |value: &Value| value.as_str().is_some_and(|text| text.contains("***"));
    let found = match serde_json::from_str(text).ok()? {
        Value::Array(items) => items.into_iter().find(is_patch),
        Value::Object(map) => map.into_iter().map(|(_, value)| value).find(is_patch),
        value => Some(value).filter(is_patch),
    };
    match found? {
        Value::String(text) => Some(text),
        _ => None,
    }
}
