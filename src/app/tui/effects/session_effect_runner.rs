//! Runs effects on stored sessions on other threads, and sends back their results.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_blocking;

use super::session_effect::{SessionEffect, SessionResult};
use crate::app::host::{Host, NotOpened, SwitchedTo};
use crate::app::sessions::{self, Choice, SessionFacts, SessionScope};
use crate::app::tui::msg::EffectResult;
use crate::app::tui::popups::TextSearch;

#[derive(Clone)]
pub(super) struct SessionEffectRunner {
    pub host: Host,
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
        let root = self.host.dirs.sessions();
        match effect {
            SessionEffect::List(scope) => {
                let cwd = self.host.cwd.clone();
                self.block(move || SessionResult::List(scope, sessions::rows(&root, &cwd, scope)));
            }
            SessionEffect::ReadRecent => {
                let cwd = self.host.cwd.clone();
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
                let trash = self.host.dirs.trash();
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
        let (root, cwd) = (self.host.dirs.sessions(), self.host.cwd.clone());
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

    /// Opens another session. With `wanted` it tries again while that is in use.
    fn open(&self, choice: Choice, wanted: Option<impl Fn() -> bool + Send + 'static>) {
        let (host, results) = (self.host.clone(), self.results.clone());
        tokio::spawn(async move {
            let opened = match wanted {
                Some(wanted) => host.open_when_free(choice, wanted).await,
                None => Some(host.open(choice).await),
            };
            let result = match opened {
                None => return,
                Some(Ok(SwitchedTo { notices, prompt })) => {
                    if let Some(prompt) = prompt {
                        let _ = results.send(EffectResult::Forked(prompt));
                    }
                    SessionResult::Opened(Ok(notices))
                }
                Some(Err(NotOpened::Refused(refused))) => SessionResult::Opened(Err(refused)),
                Some(Err(NotOpened::Failed(error))) => SessionResult::NotOpened(error),
            };
            send(&results, result);
        });
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
