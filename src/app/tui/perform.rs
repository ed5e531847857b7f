//! Does what `update` wants done and answers with results. Nothing here blocks the loop: files are
//! read and written on other threads.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use super::composer::HistoryFile;
use super::effect::{Effect, Way};
use super::msg::{EffectResult, FoundModel};
use crate::agent::{AgentHandle, QueueKind};
use crate::app::models::Models;
use crate::llm::Model;
use crate::llm::local::Found;

/// How long leaving waits for the prompt history to be on disk.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long the servers of this machine are given while the list of models is open: it stands
/// already, and an Ollama with many models has much to say.
const LOCAL_PATIENCE: Duration = Duration::from_secs(1);

/// The world as far as effects reach.
#[derive(Debug)]
pub struct World {
    handle: AgentHandle,
    models: Arc<Models>,
    cwd: PathBuf,
    history: Option<HistoryFile>,
    writer: Option<Writer>,
    results: UnboundedSender<EffectResult>,
}

/// The thread that appends to the history file, in order.
#[derive(Debug)]
struct Writer {
    prompts: std_mpsc::Sender<Vec<String>>,
    thread: JoinHandle<()>,
}

impl World {
    /// A world with this agent, folder and history file; results go to `results`.
    pub fn new(
        handle: AgentHandle,
        models: Arc<Models>,
        cwd: PathBuf,
        history: Option<PathBuf>,
        results: UnboundedSender<EffectResult>,
    ) -> Self {
        Self {
            handle,
            models,
            cwd,
            history: history.map(HistoryFile::new),
            writer: None,
            results,
        }
    }

    /// Does it. What concerns the terminal is the loop's and is ignored here.
    pub fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Warm => self.handle.warm(),
            Effect::Prompt(content) => self.handle.prompt(content),
            Effect::Queue(QueueKind::Steering, content) => self.handle.steer(content),
            Effect::Queue(QueueKind::FollowUp, content) => self.handle.follow_up(content),
            Effect::SteerNow => self.handle.steer_now(),
            Effect::TakeBack => self.handle.take_back(None),
            Effect::Abort => self.handle.abort(),
            Effect::GoOn => self.handle.go_on(),
            Effect::ReadBranch => self.read_branch(),
            Effect::LoadHistory => self.load_history(),
            Effect::Remember(prompts) => self.remember(prompts),
            Effect::Edit(text) => self.edit(text),
            Effect::ListModels => self.list_models(),
            Effect::FindModel(name) => self.find_model(name),
            Effect::FindFavorites(way) => self.find_favorites(way),
            Effect::SetModel(model) => self.handle.set_model(Model::clone(&model)),
            Effect::SetThinking(level) => self.handle.set_thinking(level),
            Effect::SaveDefault(full_id) => self.save_default(full_id),
            Effect::Suspend
            | Effect::EnableKitty
            | Effect::ConfirmKitty
            | Effect::Answered
            | Effect::Exit(_) => {}
        }
    }

    /// Waits for what is still being written, but not for long.
    pub async fn finish(&mut self) {
        if let Some(Writer { prompts, thread }) = self.writer.take() {
            drop(prompts);
            let _ = tokio::time::timeout(PATIENCE, thread).await;
        }
    }

    fn read_branch(&self) {
        let (cwd, results) = (self.cwd.clone(), self.results.clone());
        tokio::task::spawn_blocking(move || {
            let _ = results.send(EffectResult::Branch(branch(&cwd)));
        });
    }

    fn load_history(&self) {
        let (Some(file), results) = (self.history.clone(), self.results.clone()) else {
            return;
        };
        tokio::task::spawn_blocking(move || {
            let _ = results.send(match file.load() {
                Ok(prompts) => EffectResult::History(prompts),
                Err(error) => {
                    EffectResult::Failed(format!("The prompt history cannot be read: {error}"))
                }
            });
        });
    }

    fn remember(&mut self, prompts: Vec<String>) {
        let Some(file) = &self.history else { return };
        let writer = self.writer.get_or_insert_with(|| {
            let (sender, receiver) = std_mpsc::channel::<Vec<String>>();
            let (file, results) = (file.clone(), self.results.clone());
            let thread = tokio::task::spawn_blocking(move || {
                let mut complained = false;
                for prompt in receiver.iter().flatten() {
                    if let (Err(error), false) = (file.append(&prompt), complained) {
                        complained = true;
                        let text = format!("The prompt history cannot be written: {error}");
                        let _ = results.send(EffectResult::Failed(text));
                    }
                }
            });
            Writer {
                prompts: sender,
                thread,
            }
        });
        let _ = writer.prompts.send(prompts);
    }

    /// Twice: at once with what this machine's servers said last, then with what they say now.
    fn list_models(&self) {
        let (models, results) = (Arc::clone(&self.models), self.results.clone());
        tokio::spawn(async move {
            let list = |found: Arc<[Found]>| {
                let (models, results) = (Arc::clone(&models), results.clone());
                tokio::task::spawn_blocking(move || {
                    let listing = Arc::new(models.list(&found));
                    let _ = results.send(EffectResult::Models(listing));
                })
            };
            let before = models.found();
            let (_, found) = tokio::join!(
                list(Arc::clone(&before)),
                models.look_around(LOCAL_PATIENCE)
            );
            if found != before {
                let _ = list(found).await;
            }
        });
    }

    fn find_model(&self, name: String) {
        let (models, results) = (Arc::clone(&self.models), self.results.clone());
        tokio::spawn(async move {
            let found = models.resolve(&name).await.map(|(model, thinking)| {
                let key = models.key_state(&model.provider);
                FoundModel {
                    model: Arc::new(model),
                    thinking,
                    key,
                }
            });
            let _ = results.send(EffectResult::Model(found));
        });
    }

    fn find_favorites(&self, way: Way) {
        let (models, results) = (Arc::clone(&self.models), self.results.clone());
        tokio::spawn(async move {
            let favorites = models.favorites().await;
            let favorites = favorites.into_iter().map(Arc::new).collect();
            let _ = results.send(EffectResult::Favorites(favorites, way));
        });
    }

    fn save_default(&self, full_id: String) {
        let (models, results) = (Arc::clone(&self.models), self.results.clone());
        tokio::task::spawn_blocking(move || {
            let saved = models.save_default(&full_id);
            let _ = results.send(EffectResult::Saved(saved));
        });
    }

    fn edit(&self, text: String) {
        let results = self.results.clone();
        tokio::spawn(async move {
            let _ = results.send(EffectResult::Edited(external_editor(&text).await));
        });
    }
}

/// Lets the person edit `text` in `$VISUAL` or `$EDITOR`; the terminal must be given back by now.
async fn external_editor(text: &str) -> Result<String, String> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| {
            std::env::var(name)
                .ok()
                .filter(|value| !value.trim().is_empty())
        })
        .unwrap_or_else(|| "vi".to_owned());
    let failed = |error: std::io::Error| format!("The editor `{editor}` failed: {error}");
    let file = tempfile::Builder::new()
        .prefix("tiller-")
        .suffix(".md")
        .tempfile()
        .map_err(failed)?;
    tokio::fs::write(file.path(), text).await.map_err(failed)?;
    // Through a shell, since people put options into these variables.
    let status = tokio::process::Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(file.path())
        .stdin(Stdio::inherit())
        .status()
        .await
        .map_err(failed)?;
    if !status.success() {
        return Err(format!(
            "The editor `{editor}` ended with {status}; the text is as it was.\n\
             $VISUAL or $EDITOR names the editor."
        ));
    }
    let bytes = tokio::fs::read(file.path()).await.map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The branch checked out in the repository around `folder`, without starting git: its name, or
/// the beginning of the commit when there is none.
fn branch(folder: &Path) -> Option<String> {
    let git = folder
        .ancestors()
        .map(|folder| folder.join(".git"))
        .find(|git| git.exists())?;
    let git = if git.is_dir() {
        git
    } else {
        // A worktree or submodule: a file that says where.
        let text = read_short(&git)?;
        let target = text.strip_prefix("gitdir:")?.trim();
        git.parent()?.join(target)
    };
    let head = read_short(&git.join("HEAD"))?;
    let head = head.trim();
    match head.strip_prefix("ref:") {
        Some(name) => {
            let name = name.trim();
            Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned())
        }
        None => head.get(..7).map(str::to_owned),
    }
}

/// The beginning of a small file; none when it is no plain file (opening a FIFO would wait).
fn read_short(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path)
        .ok()?
        .take(4096)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_read_without_git() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let git = root.path().join(".git");
        std::fs::create_dir_all(git.join("worktrees/w")).unwrap();
        for (head, wanted) in [
            ("ref: refs/heads/main\n", Some("main")),
            ("ref: refs/heads/feature/x\n", Some("feature/x")),
            (
                "0123456789abcdef0123456789abcdef01234567\n",
                Some("0123456"),
            ),
            ("", None),
        ] {
            std::fs::write(git.join("HEAD"), head).unwrap();
            assert_eq!(branch(&inner).as_deref(), wanted, "{head:?}");
        }
        std::fs::write(git.join("worktrees/w/HEAD"), "ref: refs/heads/side\n").unwrap();
        std::fs::write(inner.join(".git"), "gitdir: ../../.git/worktrees/w\n").unwrap();
        assert_eq!(branch(&inner).as_deref(), Some("side"));
    }
}
