//! Runs effects on stored sessions on other threads, and sends back their results.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_blocking;

use super::msg::EffectResult;
use super::overlay::TextSearch;
use super::session_effect::{SessionEffect, SessionResult};
use crate::agent::session::Session;
use crate::agent::{AgentHandle, OpenSession};
use crate::app::dirs::Dirs;
use crate::app::models::Models;
use crate::app::sessions::{self, Choice, LOOK_AGAIN, Opened, Refusal, SessionFacts, SessionScope};
use crate::llm::Model;

#[derive(Clone, Debug)]
pub(super) struct SessionEffectRunner {
    pub dirs: Dirs,
    pub cwd: PathBuf,
    pub handle: AgentHandle,
    pub models: Arc<Models>,
    pub results: UnboundedSender<EffectResult>,
    pub reading: Reading,
    pub waiting: Arc<AtomicU64>,
}

/// Readings for the open list: only the latest search and preview continue.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    search: Arc<AtomicU64>,
    preview: Arc<AtomicU64>,
}

impl SessionEffectRunner {
    pub fn run(&mut self, effect: SessionEffect) {
        let root = self.dirs.sessions();
        match effect {
            SessionEffect::List(scope) => {
                let cwd = self.cwd.clone();
                self.block(move || SessionResult::List(scope, sessions::rows(&root, &cwd, scope)));
            }
            SessionEffect::ReadRecent => {
                let cwd = self.cwd.clone();
                self.block(move || SessionResult::Recent(sessions::recent(&root, &cwd)));
            }
            SessionEffect::Search(query, scope) => self.search(query, scope),
            SessionEffect::Preview(path) => {
                let wanted = next(&self.reading.preview);
                let results = self.results.clone();
                spawn_blocking(move || {
                    if let Some(facts) = SessionFacts::read(&path, wanted).transpose() {
                        send(&results, SessionResult::Preview(path, facts.map(Arc::new)));
                    }
                });
            }
            SessionEffect::ReadFacts(path) => self.block(move || {
                let facts = if path.exists() {
                    SessionFacts::read(&path, || true).map(Option::unwrap_or_default)
                } else {
                    Err("Nothing stored yet: the session starts with your first prompt".into())
                };
                SessionResult::Facts(facts.map(Box::new))
            }),
            SessionEffect::ReadStates => {
                self.block(move || SessionResult::States(sessions::states(&root)));
            }
            SessionEffect::StopReading => {
                drop(next(&self.reading.search));
                drop(next(&self.reading.preview));
            }
            SessionEffect::Rename(path, name) => {
                let results = self.results.clone();
                tokio::spawn(async move {
                    let renamed = sessions::rename(&root, &path, &name).await;
                    send(&results, SessionResult::Renamed(path, name, renamed));
                });
            }
            SessionEffect::Remove(path) => {
                let trash = self.dirs.trash();
                self.block(move || {
                    let removed = sessions::remove(&root, &trash, &path);
                    SessionResult::Removed(path, removed.map_err(|error| error.message))
                });
            }
            SessionEffect::Open(choice) => self.open(choice, None::<fn() -> bool>),
            SessionEffect::Wait(path) => {
                self.open(Choice::Open(path), Some(next(&self.waiting)));
            }
            SessionEffect::StopWaiting => drop(next(&self.waiting)),
        }
    }

    fn search(&self, query: String, scope: SessionScope) {
        let wanted = next(&self.reading.search);
        let (root, cwd) = (self.dirs.sessions(), self.cwd.clone());
        let results = self.results.clone();
        spawn_blocking(move || {
            let give = |found, state| {
                send(&results, SessionResult::Found(query.clone(), found, state));
            };
            sessions::search_text(&root, &cwd, scope, &query, &wanted, |found| {
                give(found, TextSearch::Running);
            });
            if wanted() {
                give(Vec::new(), TextSearch::Done);
            }
        });
    }

    /// Opens another session. With `waits` it tries again while that is in use.
    fn open(&self, choice: Choice, waits: Option<impl Fn() -> bool + Send + 'static>) {
        let runner = self.clone();
        tokio::spawn(async move {
            loop {
                let (choice, it) = (choice.clone(), runner.clone());
                let opened = spawn_blocking(move || {
                    choice.fits(&it.cwd)?;
                    let opened = choice.open(&it.dirs.sessions(), &it.cwd, None);
                    opened.map(|opened| opened.with_trial(&it.dirs.trials()))
                });
                let opened = opened.await;
                if waits.as_ref().is_some_and(|waits| !waits()) {
                    return;
                }
                match opened {
                    Ok(Ok(opened)) => return runner.go_on(opened).await,
                    Ok(Err(refused))
                        if waits.is_some() && matches!(refused.why, Refusal::InUse { .. }) =>
                    {
                        tokio::time::sleep(LOOK_AGAIN).await;
                    }
                    Ok(Err(refused)) => {
                        return send(&runner.results, SessionResult::Opened(Err(refused)));
                    }
                    Err(panic) => {
                        let error = format!("tiller crashed while opening this session: {panic}");
                        return send(&runner.results, SessionResult::NotOpened(error));
                    }
                }
            }
        });
    }

    async fn go_on(self, opened: Opened) {
        let Opened {
            session,
            facts,
            mut notices,
            prompt,
        } = opened;
        let model = model_of(&session, &self.models).await;
        let model = model.unwrap_or_else(|notice| {
            notices.push(notice);
            None
        });
        let opened = self.handle.open(OpenSession {
            thinking: session.thinking(),
            spill_dir: session
                .path()
                .unwrap_or(&self.dirs.sessions())
                .with_extension(""),
            session,
            facts,
            model,
        });
        if let Err(refused) = opened.await {
            return send(&self.results, SessionResult::NotOpened(refused.to_string()));
        }
        if let Some(prompt) = prompt {
            let _ = self.results.send(EffectResult::Forked(prompt));
        }
        send(&self.results, SessionResult::Opened(Ok(notices)));
    }

    fn block(&self, work: impl FnOnce() -> SessionResult + Send + 'static) {
        let results = self.results.clone();
        spawn_blocking(move || send(&results, work()));
    }
}

/// Starts a reading and cancels earlier ones. The returned function tells whether it's still wanted.
fn next(latest: &Arc<AtomicU64>) -> impl Fn() -> bool + Send + use<> {
    let own = latest.fetch_add(1, Ordering::Relaxed) + 1;
    let latest = Arc::clone(latest);
    move || latest.load(Ordering::Relaxed) == own
}

fn send(results: &UnboundedSender<EffectResult>, result: SessionResult) {
    let _ = results.send(EffectResult::Session(result));
}

async fn model_of(session: &Session, models: &Models) -> Result<Option<Arc<Model>>, String> {
    let Some(model) = session.model() else {
        return Ok(None);
    };
    let id = format!("{}/{}", model.provider, model.model_id);
    match models.resolve(&id).await {
        Ok((model, _)) => Ok(Some(Arc::new(model))),
        Err(error) => Err(format!("Can't use {id}, the session's model: {error}")),
    }
}
