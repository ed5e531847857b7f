//! The lines that begin with `***` and structure a patch. Padding and case don't matter; the parser
//! decides whether such a line is allowed at its place.

/// A marker line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker<'a> {
    /// `*** Begin Patch`
    Begin,
    /// `*** End Patch`
    End,
    /// `*** Add File: PATH`
    Add(&'a str),
    /// `*** Delete File: PATH`
    Delete(&'a str),
    /// `*** Update File: PATH`
    Update(&'a str),
    /// `*** Move to: PATH`
    MoveTo(&'a str),
    /// `*** End of File`
    EndOfFile,
}

/// The marker that `line` is, if it is one.
pub fn marker(line: &str) -> Option<Marker<'_>> {
    let rest = line.trim().strip_prefix("***")?.trim();
    let rest = rest.strip_suffix("***").unwrap_or(rest).trim_end();
    if let Some((keyword, path)) = rest.split_once(':') {
        let path = unquoted(path);
        return Some(match keyword.trim_end().to_ascii_lowercase().as_str() {
            "add file" => Marker::Add(path),
            "delete file" => Marker::Delete(path),
            "update file" => Marker::Update(path),
            "move to" => Marker::MoveTo(path),
            _ => return None,
        });
    }
    let keyword = rest.trim_end_matches(['"', '\'', '`']).trim_end();
    Some(match keyword.to_ascii_lowercase().as_str() {
        "begin patch" => Marker::Begin,
        "end patch" => Marker::End,
        "end of file" => Marker::EndOfFile,
        _ => return None,
    })
}

/// A path without the quotes or backticks around it.
pub fn unquoted(path: &str) -> &str {
    let path = path.trim();
    for quote in ['`', '"', '\''] {
        let inner = path
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            return inner;
        }
    }
    path
}
