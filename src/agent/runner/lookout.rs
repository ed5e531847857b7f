//! What the model is told of the place it works in: gathered when a run begins, and again when calls
//! touch a folder with instruction files of its own. Bounded in time: what a slow disk does not give
//! in time is left out. Decides nothing about what is told.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::gate;
use super::link::{Opening, RunLink, RunMessage};
use crate::agent::memory::{
    Environment, InstructionSources, Surroundings, SystemFiles, collect, instruction_files,
    project_root,
};
use crate::agent::paths::expand;
use crate::agent::tool::Effects;
use crate::agent::toolbox::{Lookup, Toolbox};
use crate::llm::{Message, Model, ToolCall};

/// How long reading the files of the user and the project may take.
const FILES_LIMIT: Duration = Duration::from_secs(1);
/// Words of a command that are looked at.
const MAX_WORDS: usize = 100;

/// What a run knows of the place.
#[derive(Clone, Debug)]
pub(super) struct Lookout {
    sources: InstructionSources,
    cwd: PathBuf,
    root: PathBuf,
    model: Arc<Model>,
    /// The folders of the project, besides those around `cwd`, that tools have looked into.
    folders: BTreeSet<PathBuf>,
}

impl Lookout {
    /// Gathers what a run begins with, and reports it unless the user ends the run.
    pub async fn begin(link: &RunLink, cwd: &Path, opening: Opening) -> Self {
        let Opening {
            begins,
            model,
            messages,
            instructions,
            toolbox,
        } = opening;
        let mut lookout = Self {
            root: project_root(cwd).to_path_buf(),
            cwd: cwd.to_path_buf(),
            sources: instructions,
            model,
            folders: BTreeSet::new(),
        };
        let mut reader = lookout.clone();
        let files = within_limit(move || {
            for message in &messages {
                if let Message::Assistant(answer) = &**message {
                    reader.touch(&toolbox, answer.tool_calls());
                }
            }
            let files = begins.then(|| SystemFiles::read(&reader.sources, &reader.cwd));
            (reader.collect(), files.unwrap_or_default(), reader.folders)
        });
        let environment = async {
            if begins {
                Some(Environment::gather(cwd, lookout.sources.project).await)
            } else {
                None
            }
        };
        let gathered = async { tokio::join!(files, environment) };
        let Some((files, environment)) = link.unless_cancelled(gathered).await else {
            return lookout;
        };
        let (mut found, files, folders) = files.unwrap_or_else(|| {
            let text = "Reading the instruction files took too long: they are left out for now.";
            let found = Surroundings {
                faults: vec![text.to_owned()],
                ..Surroundings::default()
            };
            (found, SystemFiles::default(), BTreeSet::new())
        });
        found.first = environment.map(|environment| (environment, files));
        lookout.folders = folders;
        link.report(RunMessage::Surroundings(found)).await;
        lookout
    }

    /// Reports the instruction files of the folders that `calls` were the first to touch.
    pub async fn look_into(&mut self, link: &RunLink, toolbox: &Arc<Toolbox>, calls: &[ToolCall]) {
        if !self.sources.project || calls.is_empty() {
            return;
        }
        let (mut reader, toolbox, calls) = (self.clone(), Arc::clone(toolbox), calls.to_vec());
        let found = within_limit(move || {
            let before = reader.folders.clone();
            reader.touch(&toolbox, &calls);
            let mut new = reader.folders.difference(&before);
            let found = new.any(|folder| !instruction_files(folder).is_empty());
            (found.then(|| reader.collect()), reader.folders)
        });
        let Some(Some((found, folders))) = link.unless_cancelled(found).await else {
            return;
        };
        self.folders = folders;
        if let Some(found) = found {
            link.report(RunMessage::Surroundings(found)).await;
        }
    }

    /// The instruction files as they are now.
    fn collect(&self) -> Surroundings {
        let found = collect(&self.sources, &self.cwd, &self.model, &self.folders);
        Surroundings {
            first: None,
            instructions: Some(found.files),
            faults: found.refused,
            untrusted: (!self.sources.project).then(|| self.root.clone()),
        }
    }

    /// Takes in the folders that `calls` look into.
    fn touch<'a>(&mut self, toolbox: &Toolbox, calls: impl IntoIterator<Item = &'a ToolCall>) {
        if !self.sources.project {
            return;
        }
        for call in calls {
            let Lookup::Tool(tool) = toolbox.find(&call.name) else {
                continue;
            };
            let Effects {
                reads,
                writes,
                command,
                ..
            } = gate::effects(&**tool, &call.arguments);
            let words = command.as_deref().map(words).unwrap_or_default();
            let paths = reads.iter().chain(&writes).map(String::as_str).chain(words);
            for path in paths {
                self.touch_path(path);
            }
        }
    }

    fn touch_path(&mut self, path: &str) {
        let path = expand(path.strip_prefix('@').unwrap_or(path));
        let path = without_dots(&self.cwd.join(path));
        let below = path
            .ancestors()
            .take_while(|folder| folder.starts_with(&self.root))
            .filter(|folder| !self.cwd.starts_with(folder));
        for folder in below {
            // Then those above it are known too.
            if self.folders.contains(folder) {
                break;
            }
            if folder.is_dir() {
                self.folders.insert(folder.to_path_buf());
            }
        }
    }
}

/// What a shell may take for paths in `command`.
fn words(command: &str) -> Vec<&str> {
    let ends = |c: char| c.is_whitespace() || "'\"();|&<>=`$".contains(c);
    let words = command.split(ends).filter(|word| !word.is_empty());
    words.take(MAX_WORDS).collect()
}

/// `path` without `.` and `..`, as it is written.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// What `work` gives, unless it takes too long.
async fn within_limit<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let done = timeout(FILES_LIMIT, spawn_blocking(work)).await;
    done.ok()?.ok()
}
