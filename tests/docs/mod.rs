//! Keeps the documentation correct. The reference pages are made from the program's own tables.
//! Links, commands, flags and settings on the other pages are checked against those tables.
//!
//! These are unit tests of `src/app`, because the tables are private to it. After a change to a
//! table, run `TILLER_WRITE_DOCS=1 cargo test --lib docs`.

mod reference;
mod records;
mod pages;
mod examples;
mod other_agents;

use std::path::{Path, PathBuf};

/// The package's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A documentation page: its path in the package and its text.
struct Page {
    path: String,
    text: String,
}

/// README.md and the like, and every page of the book.
fn pages() -> Vec<Page> {
    let mut paths: Vec<String> = ["README", "CONTRIBUTING", "CHANGELOG", "SECURITY"]
        .map(|name| format!("{name}.md"))
        .into();
    let mut folders = vec!["docs/src".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().display());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if Path::new(&path).extension().is_some_and(|it| it == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = |path: String| Page {
        text: std::fs::read_to_string(root().join(&path)).unwrap(),
        path,
    };
    paths.into_iter().map(read).collect()
}

/// Fails with all `faults`, one per line.
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
