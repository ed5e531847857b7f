//! `tiller docs`: prints the pages of the documentation.

use crate::app::manual::{PAGES, find_page};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};

/// Prints the page with this name, or a list of all pages.
pub fn docs(name: Option<&str>) -> Result<Outcome, StartError> {
    let list = PAGES
        .iter()
        .map(|page| format!("  {:<22}{}\n", page.topic, page.title()));
    let list = list.collect::<String>();
    let Some(name) = name else {
        return Ok(out::print(&format!(
            "Pages, each for `tiller docs PAGE`:\n\n{list}"
        )));
    };
    match find_page(name) {
        Some(page) => Ok(out::print(page.text)),
        None => Err(StartError::usage(format!("no page '{name}'"))),
    }
}
