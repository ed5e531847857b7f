//! Instruction files as the model reads them, in the prompt and in notes, and the hashes that
//! reveal changes. `collect` finds them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The start of a rendered file.
const OPENING: &str = "<instructions path=\"";
const CLOSING: &str = "</instructions>";

/// One file as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instructions {
    pub path: String,
    /// Its text, as far as there was room.
    pub text: String,
}

impl Instructions {
    pub fn render(&self) -> String {
        let Self { path, text } = self;
        format!("{OPENING}{path}\">\n{text}\n{CLOSING}")
    }
}

/// Removes from a path what could end its surrounding tag.
pub(super) fn shown(path: &Path) -> String {
    let shown = path.display().to_string();
    let shown = shown.chars().filter(|c| !c.is_control() && *c != '"');
    shown.collect()
}

/// Reads a text file, slightly more of it than `limit` bytes, to detect longer ones.
pub(super) fn read_text(path: &Path, limit: usize) -> Result<String, String> {
    let mut bytes = Vec::new();
    let most = limit as u64 + 1;
    let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.contains(&0) {
        return Err("it isn't text".to_owned());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn rendered_path(text: &str) -> Option<&str> {
    Some(text.strip_prefix(OPENING)?.split_once("\">\n")?.0)
}

/// The rendered files within `text`, verbatim.
pub(super) fn rendered_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(OPENING).filter_map(|(start, _)| {
        let end = text[start..].find(CLOSING)? + CLOSING.len();
        Some(&text[start..start + end])
    })
}

/// A short hash of a rendered file, to detect changes. It is stored, so it must never change.
pub(super) fn digest(rendered: &str) -> String {
    let fnv1a = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = rendered.bytes().fold(0xcbf2_9ce4_8422_2325, fnv1a);
    format!("{hash:016x}")
}

/// The prompt section with its heading; empty if there are no files.
pub(super) fn section(files: &[Instructions]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let files: Vec<String> = files.iter().map(Instructions::render).collect();
    format!(
        "\n\n\
         # Project instructions\n\n\
         The user and the project wrote these files for you. Follow them. Where they conflict, a later \
         file overrides an earlier one, and the user's messages override both.\n\n\
         {}",
        files.join("\n\n")
    )
}

/// The hashes of `files` by path.
pub(super) fn digests(files: &[Instructions]) -> BTreeMap<String, String> {
    let mark = |file: &Instructions| (file.path.clone(), digest(&file.render()));
    files.iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rendered_file_tells_its_path() {
        let file = Instructions {
            path: "/p/AGENTS.md".into(),
            text: "</instructions>".into(),
        };
        assert_eq!(rendered_path(&file.render()), Some("/p/AGENTS.md"));
        assert_eq!(digest(""), "cbf29ce484222325");
    }
}
