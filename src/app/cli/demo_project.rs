//! `tiller demo --project`: a small project with a bug and a failing test, to try tiller on.

use std::fs;
use std::io;
use std::path::Path;

use crate::app::out;
use crate::app::outcome::{Outcome, StartError};

const FILES: [(&str, &str); 4] = [
    (
        ".gitignore",
        include_str!("../../../assets/demo_project/gitignore"),
    ),
    (
        "README.md",
        include_str!("../../../assets/demo_project/README.md"),
    ),
    (
        "bill.py",
        include_str!("../../../assets/demo_project/bill.py"),
    ),
    (
        "test_bill.py",
        include_str!("../../../assets/demo_project/test_bill.py"),
    ),
];

/// Writes the project into `dir` and prints what to do next. Refuses a folder that isn't empty.
pub fn demo_project(dir: &Path) -> Result<Outcome, StartError> {
    let name = dir.display();
    match write(dir) {
        Ok(true) => Ok(out::print(&format!(
            "Wrote a small Python project with a bug to {name}. Next:\n\n  \
             cd {name}\n  \
             python3 -m unittest      # one of four tests fails\n  \
             tiller \"A test fails. Find the bug and fix it.\"\n"
        ))),
        Ok(false) => Err(StartError::usage(format!(
            "{name} isn't empty. Name another folder: tiller demo --project DIR"
        ))),
        Err(error) => Err(StartError::failed(format!(
            "can't write to {name}: {error}"
        ))),
    }
}

/// False if the folder isn't empty.
fn write(dir: &Path) -> io::Result<bool> {
    fs::create_dir_all(dir)?;
    if fs::read_dir(dir)?.next().is_some() {
        return Ok(false);
    }
    for (name, text) in FILES {
        fs::write(dir.join(name), text)?;
    }
    Ok(true)
}
