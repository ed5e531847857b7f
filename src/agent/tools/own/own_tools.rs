//! The user's tools of an agent, read again when their files change.

use std::sync::{Arc, Mutex};

use tokio::task::spawn_blocking;

use super::super::bash::Bash;
use super::super::settings::ToolSettings;
use super::manifest::OwnTool;
use super::tool::Program;
use crate::event::NoticeLevel;
use crate::lock::lock;
use crate::tool::Tool;

/// Reads the tools that apply, while an agent runs.
pub trait ToolSource: Send {
    /// Returns the tools if they may have changed since the last call. The first call returns them all.
    fn changed(&mut self) -> Option<FoundTools>;
}

/// The tools that apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundTools {
    /// Those of the project first. Names are unique.
    pub tools: Vec<OwnTool>,
    /// What the user should know.
    pub notices: Vec<(NoticeLevel, String)>,
}

/// The tools of the user. Cheap to clone.
#[derive(Clone, Default)]
pub struct OwnTools(Option<Arc<Shared>>);

struct Shared {
    source: Mutex<Box<dyn ToolSource>>,
    /// Runs their programs.
    bash: Arc<Bash>,
}

/// Tools, and notices about them.
type Changed = (Vec<Arc<dyn Tool>>, Vec<(NoticeLevel, String)>);

impl OwnTools {
    /// Returns the tools of `source`, read when the first run begins. `settings` limit their output.
    pub fn new(source: Box<dyn ToolSource>, settings: &ToolSettings) -> Self {
        Self(Some(Arc::new(Shared {
            source: Mutex::new(source),
            bash: Arc::new(Bash::new(settings)),
        })))
    }

    /// Reads the tools if their files have changed.
    pub(crate) async fn changed(&self) -> Option<Changed> {
        let shared = self.0.clone()?;
        let read = spawn_blocking(move || {
            let found = lock(&shared.source).changed()?;
            let tools = found.tools.into_iter();
            let tools = tools.map(|tool| Program::of(tool, &shared.bash));
            Some((tools.collect(), found.notices))
        });
        read.await.ok().flatten()
    }
}
