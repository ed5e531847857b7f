//! What prompts and notes say about the environment: the user's and project's files, the shell, the
//! git repository. Files are read before each call. Git is queried once in the background, and no
//! prompt waits for it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::collect::{Collected, InstructionSources, collect, vendor_file};
use super::environment::{Environment, git_state};
use super::instructions::Instructions;
use super::system_files::SystemFiles;
use crate::git::{LIMIT, project_root, repository};
use tiller_llm::Model;

/// Time limit per git query in the background.
const PATIENT: Duration = Duration::from_secs(10);

/// How long to wait for the files of the user and the project.
pub(crate) const FILES_LIMIT: Duration = Duration::from_secs(3);

/// Why files are left out on a slow disk.
const TOO_SLOW: &str =
    "Reading the instruction files took too long; tiller leaves them out for now.";
/// The same where not even those were read that a prompt is made of.
const ALL_TOO_SLOW: &str =
    "Reading SYSTEM.md and the instruction files took too long; tiller leaves them out for now.";

/// The environment according to its files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    pub environment: Environment,
    /// `SYSTEM.md` and `APPEND_SYSTEM.md`; `None` if reading timed out.
    pub files: Option<SystemFiles>,
    /// The instruction files, for each vendor's file name.
    instructions: Vec<(Option<&'static str>, Collected)>,
    /// The project, if its instruction files are ignored.
    pub untrusted: Option<PathBuf>,
    /// Known instruction files that no longer exist.
    pub gone: BTreeSet<String>,
    /// Whether reading timed out; this is then the previous result, if any.
    is_late: bool,
}

impl Surroundings {
    /// Reads what a prompt in `cwd` needs, except instruction files. Blocks.
    fn without_instructions(sources: &InstructionSources, cwd: &Path) -> Self {
        Self {
            environment: Environment::read(cwd),
            files: Some(SystemFiles::read(sources, cwd)),
            untrusted: (!sources.project).then(|| project_root(cwd).to_path_buf()),
            ..Self::default()
        }
    }

    /// Reads the files for a session in `cwd` and the instruction files of `folders`; finds which
    /// `known` ones no longer exist. Blocks.
    pub fn read(
        sources: &InstructionSources,
        cwd: &Path,
        folders: &BTreeSet<PathBuf>,
        known: &BTreeSet<String>,
    ) -> Self {
        let found = Self::without_instructions(sources, cwd);
        let gone = known.iter().filter(|path| !Path::new(path).exists());
        Self {
            gone: gone.cloned().collect(),
            ..found.with_instructions(sources, cwd, folders)
        }
    }

    fn with_instructions(
        self,
        sources: &InstructionSources,
        cwd: &Path,
        folders: &BTreeSet<PathBuf>,
    ) -> Self {
        Self {
            instructions: collect(sources, cwd, folders),
            ..self
        }
    }

    /// The same after a timeout.
    pub fn late(self) -> Self {
        let is_late = true;
        Self { is_late, ..self }
    }

    pub fn instructions(&self, model: &Model) -> &[Instructions] {
        self.collected(model).map_or(&[], |found| &found.files)
    }

    /// The paths of all instruction files, for any model.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        let files = self.instructions.iter().flat_map(|(_, it)| &it.files);
        files.map(|file| file.path.clone())
    }

    /// The files left out for `model`, with reasons.
    pub fn faults(&self, model: &Model) -> Vec<String> {
        let found = self.collected(model);
        let mut faults = found.map_or_else(Vec::new, |found| found.refused.clone());
        let too_slow = if self.files.is_some() {
            TOO_SLOW
        } else {
            ALL_TOO_SLOW
        };
        faults.extend(self.is_late.then(|| too_slow.to_owned()));
        faults
    }

    fn collected(&self, model: &Model) -> Option<&Collected> {
        let name = vendor_file(model);
        let mut all = self.instructions.iter();
        all.find_map(|(vendor, found)| (*vendor == name).then_some(found))
    }
}

/// A background look at the environment, started when the user types the first key.
#[derive(Clone, Debug)]
pub(crate) struct PlaceLook {
    sources: InstructionSources,
    found: watch::Receiver<Found>,
}

#[derive(Debug, Default)]
struct Found {
    files: Option<Surroundings>,
    git: Option<String>,
}

impl PlaceLook {
    /// Starts looking at `cwd`. `is_awaited` means that something waits for git's answer.
    pub fn begin(cwd: PathBuf, sources: InstructionSources, is_awaited: bool) -> Self {
        let limit = if is_awaited { LIMIT } else { PATIENT };
        let (sender, found) = watch::channel(Found::default());
        let look = Self {
            sources: sources.clone(),
            found,
        };
        tokio::spawn(async move {
            let (place, trusted) = (cwd.clone(), sources.project);
            let read = spawn_blocking(move || {
                let tell = |files| sender.send_modify(|found| found.files = Some(files));
                // First, because instruction files may be many and on a slow disk.
                let files = Surroundings::without_instructions(&sources, &place);
                tell(files.clone());
                tell(files.with_instructions(&sources, &place, &BTreeSet::new()));
                (sender, repository(&place).is_some())
            });
            let Ok((sender, is_repository)) = read.await else {
                return;
            };
            let git = if is_repository {
                git_state(&cwd, trusted, limit).await
            } else {
                String::new()
            };
            sender.send_modify(|found| found.git = Some(git));
        });
        look
    }

    /// True if it uses these `sources`.
    pub fn is_of(&self, sources: &InstructionSources) -> bool {
        self.sources == *sources
    }

    /// The files read so far.
    pub fn files(&self) -> Option<Surroundings> {
        self.found.borrow().files.clone()
    }

    /// All files, or those read within the time limit.
    pub async fn all_files(&mut self) -> Surroundings {
        let has_all = |found: &Found| {
            let files = found.files.as_ref();
            files.is_some_and(|files| !files.instructions.is_empty())
        };
        let _ = timeout(FILES_LIMIT, self.found.wait_for(has_all)).await;
        self.files().unwrap_or_default()
    }

    /// Git's answers so far.
    pub fn git(&self) -> Option<String> {
        self.found.borrow().git.clone()
    }

    /// Waits until git has answered or failed.
    pub async fn finished(&mut self) {
        let _ = self.found.wait_for(|found| found.git.is_some()).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::memory::{PromptOptions, SessionPrompts};
    use crate::toolbox::Toolbox;
    use tiller_llm::Api;

    /// One that was made while the disk of the user's files was slow, once it answers.
    #[test]
    fn a_prompt_without_the_files_of_the_user_gives_way_to_one_with_them() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("SYSTEM.md"), "You are mine.").unwrap();
        let sources = InstructionSources {
            home: None,
            user: Some(dir.path().to_owned()),
            project: false,
        };
        let (model, toolbox) = (
            Model::new("lab", "m", Api::Scripted, ""),
            Toolbox::new(vec![]),
        );
        let options = PromptOptions {
            base: None,
            append: Vec::new(),
            cwd: dir.path().to_owned(),
        };
        let today = Arc::new(|| jiff::civil::date(2026, 11, 22));
        let mut prompts = SessionPrompts::new(options.clone(), today.clone());
        let late = Surroundings::default().late();
        assert_eq!(late.faults(&model), [ALL_TOO_SLOW]);
        let without = prompts.begin(&late, &model, &toolbox, 0, true).unwrap();
        assert!(!without.system.contains("You are mine."));
        assert_eq!(prompts.begin(&late, &model, &toolbox, 2, true), None);
        // Also when the session is opened again.
        let stored = serde_json::to_value(&*without).unwrap();
        let mut prompts = SessionPrompts::new(options, today);
        prompts.restore(vec![serde_json::from_value(stored).unwrap()], &[]);
        // The result so far, if the instruction files took too long.
        let found = Surroundings::without_instructions(&sources, dir.path()).late();
        assert_eq!(found.faults(&model), [TOO_SLOW]);
        assert_eq!(prompts.begin(&found, &model, &toolbox, 4, false), None);
        let with = prompts.begin(&found, &model, &toolbox, 4, true).unwrap();
        assert!(with.system.starts_with("You are mine."), "{}", with.system);
        assert_eq!(with.thinking_from, 4);
        assert_eq!(prompts.begin(&found, &model, &toolbox, 6, true), None);
    }
}
