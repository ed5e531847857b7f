//! The thread that saves drafts and history, in order. It retries failed writes (a full disk).

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::effect::DraftChange;
use crate::agent::AgentHandle;
use crate::agent::session::StoredSession;
use crate::agent::session::folder::folder_for;
use crate::app::dirs::Dirs;
use crate::app::sessions::{short_id, title_of};
use crate::app::tui::composer::{DraftFile, HistoryFile, SavedDraft};
use crate::app::tui::msg::EffectResult;
use crate::app::tui::start::DraftElsewhere;

/// How long to wait before a retry.
const RETRY: Duration = Duration::from_secs(10);

/// The longest prompt to store, in bytes: a longer one would push out many others.
const MAX_PROMPT: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) enum Job {
    Remember(Vec<String>),
    LoadDraft(PathBuf),
    SaveDraft(SavedDraft),
    /// Another session replaces the current one.
    ChangeSession(DraftChange, PathBuf),
    /// Replies once everything before it was tried.
    Flush(Sender<()>),
}

/// The handle of the thread, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Storage(Sender<Job>);

impl Storage {
    /// Starts the thread, or tells the user if it can't.
    pub(super) fn start(
        dirs: &Dirs,
        cwd: &Path,
        handle: AgentHandle,
        results: UnboundedSender<EffectResult>,
    ) -> Option<Self> {
        let (sender, jobs) = channel();
        let writer = Writer {
            history: HistoryFile::new(dirs.history_file()),
            drafts: DraftFile::new(folder_for(&dirs.drafts(), cwd)),
            prompts: VecDeque::new(),
            draft: None,
            given: Default::default(),
            error_shown: false,
            handle,
            results: results.clone(),
        };
        let thread = thread::Builder::new().name("storage".into());
        if let Err(error) = thread.spawn(move || writer.run(&jobs)) {
            let text = format!("Couldn't start saving drafts and history: {error}");
            let _ = results.send(EffectResult::Failed(text));
            return None;
        }
        Some(Self(sender))
    }

    pub(super) fn send(&self, job: Job) {
        let _ = self.0.send(job);
    }

    /// Waits until everything sent so far was written or has failed.
    pub(super) fn flush(&self, timeout: Duration) {
        let (done, wait) = channel();
        self.send(Job::Flush(done));
        let _ = wait.recv_timeout(timeout);
    }
}

struct Writer {
    history: HistoryFile,
    drafts: DraftFile,
    prompts: VecDeque<String>,
    draft: Option<SavedDraft>,
    /// How many earlier drafts the screen got, and the last one, in case the program ends first.
    given: (usize, SavedDraft),
    /// Whether the user knows that nothing can be written.
    error_shown: bool,
    /// Tells the agent to drop messages that a draft holds.
    handle: AgentHandle,
    results: UnboundedSender<EffectResult>,
}

impl Writer {
    fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            let settled = self.prompts.is_empty() && self.draft.is_none();
            let timeout = if settled { Duration::MAX } else { RETRY };
            let first = match jobs.recv_timeout(timeout) {
                Ok(job) => Some(job),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return self.write(),
            };
            let mut flushed = Vec::new();
            // Takes all waiting jobs at once: of several drafts, only the last is written.
            for job in first.into_iter().chain(jobs.try_iter()) {
                match job {
                    Job::Remember(prompts) => self.remember(prompts),
                    Job::SaveDraft(draft) => self.draft = Some(draft),
                    Job::LoadDraft(session) => self.load_draft(session),
                    Job::ChangeSession(change, session) => self.change_session(change, session),
                    Job::Flush(done) => flushed.push(done),
                }
            }
            self.write();
            for done in flushed {
                let _ = done.send(());
            }
        }
    }

    fn remember(&mut self, prompts: Vec<String>) {
        for prompt in prompts {
            if prompt.len() > MAX_PROMPT {
                let text = "That prompt is over 1 MiB: it's in the history only until you quit";
                self.fail(text.to_owned());
            } else {
                self.prompts.push_back(prompt);
            }
        }
    }

    fn load_draft(&mut self, session: PathBuf) {
        let is_new = !session.exists();
        match self.drafts.open(session) {
            Ok(left) => {
                self.give(left.draft);
                if let Some(elsewhere) = left.elsewhere.filter(|_| is_new) {
                    self.send(EffectResult::DraftElsewhere(waits_in(elsewhere)));
                }
            }
            Err(error) => self.fail(format!("Couldn't read the unsent draft: {error}")),
        }
    }

    fn change_session(&mut self, change: DraftChange, session: PathBuf) {
        let left = match change {
            DraftChange::ComesAlong => return self.drafts.come_along(session),
            DraftChange::Stays(left) => left,
        };
        self.draft = Some(left.clone());
        let kept = self.write_draft();
        match self.drafts.change_to(session) {
            Ok(draft) => self.give(draft),
            Err(error) => self.fail(format!("Couldn't read the unsent draft: {error}")),
        }
        if let Err(text) = kept {
            // It would be lost with the previous session.
            self.draft = None;
            self.give(Some(left));
            self.fail(text);
        }
    }

    fn write(&mut self) {
        let draft = self.write_draft();
        let prompts = self.write_prompts();
        match draft.and(prompts) {
            Ok(()) => self.error_shown = false,
            // Reported once, not at every retry.
            Err(text) if !std::mem::replace(&mut self.error_shown, true) => self.fail(text),
            Err(_) => {}
        }
    }

    fn write_draft(&mut self) -> Result<(), String> {
        if let Some(draft) = &mut self.draft {
            if draft.taken < self.given.0 {
                draft.come_after(&self.given.1);
                draft.taken = self.given.0;
            }
            let saved = self.drafts.save(draft);
            saved.map_err(|error| format!("Couldn't save the unsent draft: {error}"))?;
            if !draft.returned.is_empty() {
                self.handle.release(draft.returned.clone());
            }
            self.draft = None;
        }
        Ok(())
    }

    fn give(&mut self, draft: Option<SavedDraft>) {
        if let Some(draft) = draft {
            self.handle.release(draft.returned.clone());
            self.given = (self.given.0 + 1, draft.clone());
            self.send(EffectResult::Draft(draft));
        }
    }

    fn write_prompts(&mut self) -> Result<(), String> {
        while let Some(prompt) = self.prompts.front() {
            let written = self.history.append(prompt);
            written.map_err(|error| format!("Couldn't save the prompt history: {error}"))?;
            self.prompts.pop_front();
        }
        Ok(())
    }

    fn fail(&self, text: String) {
        self.send(EffectResult::Failed(text));
    }

    fn send(&self, result: EffectResult) {
        let _ = self.results.send(result);
    }
}

/// The notice that the session in this file has unsent text.
fn waits_in(session: PathBuf) -> DraftElsewhere {
    let stored = StoredSession::at(&session);
    let head = stored.head();
    let label = head.name.unwrap_or_else(|| title_of(&head.title));
    let id = short_id(&stored.id);
    let notice =
        format!("The session “{label}” has unsent text: /resume, or tiller --session {id}");
    DraftElsewhere { session, notice }
}
