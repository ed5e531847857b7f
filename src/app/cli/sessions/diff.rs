//! `tiller sessions diff`: compares two branches of a session.

use std::fmt::Write as _;

use serde_json::json;

use super::super::out;
use super::place::SessionsPlace;
use crate::agent::session::{Comparison, SessionView};
use crate::app::args::SessionDiffArgs;
use crate::app::branches::{ComparisonLine, comparison_lines};
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::find;

/// Width of a figure's name, and of the first branch's figure.
const NAME: usize = 16;
const FIGURE: usize = 24;

pub fn diff(what: &SessionDiffArgs, place: &SessionsPlace<'_>) -> Result<Outcome, StartError> {
    let path = find(&what.session, &place.root)?;
    let shown = path.display();
    let view = SessionView::open(&path)
        .map_err(|error| StartError::failed(format!("can't read the session {shown}: {error}")))?;
    let names: Vec<&str> = what.branches.iter().map(String::as_str).collect();
    let (a, b) = (view.tree().branches_named(&names))
        .map_err(|error| StartError::usage(format!("{shown}: {error}")))?;
    let comparison = Comparison::new(&view, a, b)
        .map_err(|error| StartError::failed(format!("can't read the session {shown}: {error}")))?;
    if what.json {
        return Ok(out::print(&format!("{}\n", json!(comparison))));
    }
    let mut text = String::new();
    for line in comparison_lines(&comparison) {
        let line = match line {
            ComparisonLine::Heading(heading) => heading,
            ComparisonLine::Figure { name, a, b } => format!("  {name:<NAME$}{a:<FIGURE$}{b}"),
            ComparisonLine::Text(text) => format!("  {text}"),
            ComparisonLine::Blank => String::new(),
        };
        let _ = writeln!(text, "{}", for_terminal(&line));
    }
    Ok(out::print(&text))
}
