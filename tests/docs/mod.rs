//! Keeps the documentation right: the pages of reference are made from the program's own tables, and what
//! the other pages say about links, commands, flags and settings is looked up there.
//!
//! These are unit tests of `src/app`, because the tables are private to it. After a change to a table:
//! `TILLER_WRITE_DOCS=1 cargo test --lib docs`.

mod reference;
mod records;
mod pages;
mod examples;
mod other_agents;

use std::path::{Path, PathBuf};

/// The folder of the package.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A page of documentation: its path below the package, and its text.
struct Page {
    path: String,
    text: String,
}

/// README.md and its like, and every page of the book.
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

/// Fails with all `faults`, one a line.
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
