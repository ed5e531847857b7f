//! Collects what the model is told about its surroundings: when a run starts, and before each later
//! call, since files change and calls touch folders with their own instruction files. Has a time
//! limit; what a slow disk doesn't deliver in time is left out. Doesn't decide what the model is told.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::gate;
use super::link::{Opening, RunLink, RunMessage};
use crate::git::project_root;
use crate::lock::lock;
use crate::memory::{FILES_LIMIT, InstructionSources, PlaceLook, Surroundings};
use crate::paths::{expand, without_dots};
use crate::tool::Effects;
use crate::toolbox::{Lookup, Toolbox};
use tiller_llm::{Message, ToolCall};

/// How long a run waits for git if no user is waiting for the first token.
const GIT_LIMIT: Duration = Duration::from_secs(2);
/// Most words of a command that are examined.
const MAX_WORDS: usize = 100;

/// The folders of the project that tools of a conversation have looked into, except those around the
/// working folder. All its runs share them, so a look that took too long for one helps the next.
pub(crate) type Folders = Arc<Mutex<BTreeSet<PathBuf>>>;

/// What a run knows about its surroundings.
#[derive(Clone)]
pub(super) struct Lookout {
    sources: InstructionSources,
    cwd: PathBuf,
    toolbox: Arc<Toolbox>,
    look: PlaceLook,
    folders: Folders,
    /// The instruction files that the model knows or may have been told about since.
    known: BTreeSet<String>,
}

impl Lookout {
    /// Collects what a run starts with, and reports it unless the user ends the run.
    pub async fn begin(link: &RunLink, opening: Opening) -> Self {
        let mut lookout = Self {
            cwd: link.env.home.clone(),
            sources: opening.instructions,
            toolbox: opening.toolbox,
            look: opening.look,
            folders: opening.folders,
            known: opening.known,
        };
        if opening.waits_for_git {
            let mut look = lookout.look.clone();
            let finished = timeout(GIT_LIMIT, look.finished());
            link.unless_cancelled(finished).await;
        }
        let messages = opening.messages;
        let calls = move |reader: &Self, folders: &mut _| {
            for message in &messages {
                if let Message::Assistant(answer) = &**message {
                    reader.touch(answer.tool_calls(), folders);
                }
            }
        };
        lookout.read(link, calls).await;
        lookout
    }

    /// Reports the surroundings before the next model call. `calls` were made since the last look.
    pub async fn look_into(&mut self, link: &RunLink, calls: Vec<ToolCall>) {
        self.read(link, move |reader, folders| reader.touch(&calls, folders))
            .await;
    }

    /// Lets `touch` add folders, then reads the files and reports them.
    async fn read(
        &mut self,
        link: &RunLink,
        touch: impl FnOnce(&Self, &mut BTreeSet<PathBuf>) + Send + 'static,
    ) {
        let reader = self.clone();
        let reading = spawn_blocking(move || {
            let mut folders = lock(&reader.folders);
            touch(&reader, &mut folders);
            Surroundings::read(&reader.sources, &reader.cwd, &folders, &reader.known)
        });
        let Some(read) = link.unless_cancelled(timeout(FILES_LIMIT, reading)).await else {
            return;
        };
        let found = match read {
            Ok(Ok(found)) => found,
            _ => self.look.files().unwrap_or_default().late(),
        };
        self.known.extend(found.paths());
        link.report(RunMessage::Surroundings(found)).await;
    }

    /// Adds the folders that `calls` look into.
    fn touch<'a>(
        &self,
        calls: impl IntoIterator<Item = &'a ToolCall>,
        folders: &mut BTreeSet<PathBuf>,
    ) {
        if !self.sources.project {
            return;
        }
        let root = project_root(&self.cwd).to_path_buf();
        let mut looked_at = HashSet::new();
        for call in calls {
            let Lookup::Tool(tool) = self.toolbox.find(&call.name) else {
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
                let path = expand(path.strip_prefix('@').unwrap_or(path));
                let path = without_dots(&self.cwd.join(path));
                let below = path
                    .ancestors()
                    .take_while(|folder| folder.starts_with(&root))
                    .filter(|folder| !self.cwd.starts_with(folder));
                for folder in below {
                    // The folders above it are known as well.
                    if folders.contains(folder) || !looked_at.insert(folder.to_path_buf()) {
                        break;
                    }
                    if folder.is_dir() {
                        folders.insert(folder.to_path_buf());
                    }
                }
            }
        }
    }
}

/// The words of `command` that a shell may take for paths.
fn words(command: &str) -> Vec<&str> {
    let ends = |c: char| c.is_whitespace() || "'\"();|&<>=`$".contains(c);
    let words = command.split(ends).filter(|word| !word.is_empty());
    words.take(MAX_WORDS).collect()
}
