//! The scratch project of the demo: made from the script's files, removed when the demo is over.
//! Writes nowhere but in a temporary folder of its own.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::llm::scripted::demo_script;

/// The project the demo is played in. Removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// Makes the project of the built-in demo.
    pub fn create() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("tiller-demo-").tempdir()?;
        for file in &demo_script().files {
            let path = folder.path().join(&file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            // Files are written as strings that begin with a line break, which reads better.
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
    use std::process::{Command, Output};

    use super::*;
    use crate::llm::scripted::ReplyStep;

    fn run_tests(scratch: &Scratch) -> Output {
        Command::new("bash")
            .args(["-c", "PATH=/nowhere; source tests/run.sh"])
            .current_dir(scratch.path())
            .env_remove("BASH_ENV")
            .output()
            .unwrap()
    }

    /// The bug is real, the edit of the script repairs it, and the tests need no other program.
    #[test]
    fn the_edit_of_the_demo_repairs_its_project() {
        let scratch = Scratch::create().unwrap();
        let before = run_tests(&scratch);
        assert_eq!(before.status.code(), Some(1));
        let said = String::from_utf8_lossy(&before.stdout).into_owned();
        assert!(said.contains("FAIL the thirteenth stays ashore"), "{said}");

        let script = demo_script();
        let edit = script
            .replies
            .iter()
            .flat_map(|reply| &reply.steps)
            .find_map(|step| match step {
                ReplyStep::Call { call, args } if call == "edit" => Some(args),
                _ => None,
            })
            .unwrap();
        let path = scratch.path().join(edit["file_path"].as_str().unwrap());
        let text = fs::read_to_string(&path).unwrap();
        let old = edit["old_text"].as_str().unwrap();
        assert_eq!(text.matches(old).count(), 1);
        fs::write(&path, text.replace(old, edit["new_text"].as_str().unwrap())).unwrap();

        let after = run_tests(&scratch);
        let said = String::from_utf8_lossy(&after.stdout).into_owned();
        assert_eq!(after.status.code(), Some(0), "{said}");
        assert!(said.contains("9 of 9 passed"), "{said}");
        assert!(after.stderr.is_empty(), "{after:?}");
    }

    #[test]
    fn nothing_is_left_of_it() {
        let scratch = Scratch::create().unwrap();
        let path = scratch.path().to_owned();
        assert!(path.join("README.md").is_file());
        drop(scratch);
        assert!(!path.exists());
    }
}
