//! The only way for a session's texts into HTML. All but tiller's own markup goes through here.

use std::fmt::{Display, Write};

use crate::app::sanitize::for_terminal;

/// Appends `text` as element content or a quoted attribute, control characters visible.
pub fn push_text(out: &mut String, text: &str) {
    for c in for_terminal(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

pub fn push_element(out: &mut String, tag: &str, class: &str, text: &str) {
    open(out, tag, class);
    push_text(out, text);
    push(out, format_args!("</{tag}>"));
}

pub fn open(out: &mut String, tag: &str, class: &str) {
    match class {
        "" => push(out, format_args!("<{tag}>")),
        class => push(out, format_args!("<{tag} class=\"{class}\">")),
    }
}

/// Appends tiller's own markup.
pub fn push(out: &mut String, text: impl Display) {
    let _ = write!(out, "{text}");
}

/// Returns the address if a link may lead there.
pub fn safe_url(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(':')?;
    let known = ["http", "https", "mailto"];
    known
        .iter()
        .any(|it| scheme.eq_ignore_ascii_case(it))
        .then_some(url)
}
