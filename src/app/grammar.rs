//! Finds the grammar that colors a piece of code.

use syntect::parsing::{SyntaxReference, SyntaxSet};

/// The grammar for the language of a fence, or for the end of a file name.
pub fn find<'a>(grammars: &'a SyntaxSet, token: &str) -> Option<&'a SyntaxReference> {
    let found = grammars.find_syntax_by_token(token)?;
    // Two rules of that grammar pass `x /*` to each other without end. Babel's has no such rules.
    match found.name.as_str() {
        "JavaScript" => grammars.find_syntax_by_token("js"),
        _ => Some(found),
    }
}
