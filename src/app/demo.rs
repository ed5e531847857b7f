//! The demo's temporary project: made from the script's files, removed after the demo.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::llm::scripted::demo_script;

/// The project of the demo. Dropping it removes it.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// Creates the project of the built-in demo.
    pub fn create() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("tiller-demo-").tempdir()?;
        for file in &demo_script().files {
            let path = folder.path().join(&file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            // File texts begin with a line break to read better in the source.
            fs::write(path, file.text.trim_start_matches('\n'))?;
        }
        Ok(Self { folder })
    }

    /// The project's folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_it() {
        let scratch = Scratch::create().unwrap();
        let path = scratch.path().to_owned();
        assert!(path.join("README.md").is_file());
        drop(scratch);
        assert!(!path.exists());
    }
}
