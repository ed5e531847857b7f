//! Switches the agent to another session.

use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::Host;
use crate::agent::OpenSession;
use crate::agent::session::Session;
use crate::app::sessions::{Choice, LOOK_AGAIN, Opened, Refusal, Refused};
use crate::llm::Model;

/// The session that the agent has switched to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedTo {
    /// For the user.
    pub notices: Vec<String>,
    /// The prompt that the fork starts before.
    pub prompt: Option<String>,
}

/// Why the agent didn't switch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// The user may decide how to continue.
    #[error("{}", .0.message())]
    Refused(Refused),
    /// No answer of the user would help.
    #[error("{0}")]
    Failed(String),
}

/// Why a session in an editor isn't replaced by another one.
const KEPT: &str = "This session is a thread of an editor. Start or open another thread there";

impl Host {
    /// Switches to the chosen session.
    pub async fn open(&self, choice: Choice) -> Result<SwitchedTo, NotOpened> {
        let opened = self.read(choice).await?;
        self.switch_to(opened).await
    }

    /// Like [`open`](Self::open), but tries again while another process has the session open.
    /// Returns `None` once `wanted` is false.
    pub async fn open_when_free(
        &self,
        choice: Choice,
        wanted: impl Fn() -> bool,
    ) -> Option<Result<SwitchedTo, NotOpened>> {
        loop {
            let opened = self.read(choice.clone()).await;
            if !wanted() {
                return None;
            }
            match opened {
                Err(NotOpened::Refused(refused))
                    if matches!(refused.why, Refusal::InUse { .. }) =>
                {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                Ok(opened) => return Some(self.switch_to(opened).await),
                Err(refused) => return Some(Err(refused)),
            }
        }
    }

    /// Opens the session's file, which may take long.
    async fn read(&self, choice: Choice) -> Result<Opened, NotOpened> {
        if self.keeps_session {
            return Err(NotOpened::Failed(KEPT.to_owned()));
        }
        let host = self.clone();
        let opened = spawn_blocking(move || {
            if choice == Choice::New && !host.is_stored {
                return Ok(Opened::unstored(&host.cwd));
            }
            choice.fits(&host.cwd)?;
            let opened = choice.open(&host.dirs.sessions(), &host.cwd, None);
            opened.map(|opened| opened.with_trial(&host.dirs.trials()))
        });
        match opened.await {
            Ok(opened) => opened.map_err(NotOpened::Refused),
            Err(panic) => {
                let error = format!("tiller crashed while opening this session: {panic}");
                Err(NotOpened::Failed(error))
            }
        }
    }

    async fn switch_to(&self, opened: Opened) -> Result<SwitchedTo, NotOpened> {
        let Opened {
            session,
            facts,
            mut notices,
            prompt,
        } = opened;
        let model = self.model_of(&session).await;
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
        match opened.await {
            Ok(()) => Ok(SwitchedTo { notices, prompt }),
            Err(refused) => Err(NotOpened::Failed(refused.to_string())),
        }
    }

    async fn model_of(&self, session: &Session) -> Result<Option<Arc<Model>>, String> {
        let Some(model) = session.model() else {
            return Ok(None);
        };
        let id = format!("{}/{}", model.provider, model.model_id);
        match self.models.resolve(&id).await {
            Ok((model, _)) => Ok(Some(Arc::new(model))),
            Err(error) => Err(format!("Can't use {id}, the session's model: {error}")),
        }
    }
}
