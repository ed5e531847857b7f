//! Makes the agents of `tiller acp`: one for each session, with the settings of its folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::run_context::RunContext;
use super::screen;
use super::sub_command::discover;
use crate::agent::Accept;
use crate::agent::process::Processes;
use crate::app::args::RunArgs;
use crate::app::dirs::Dirs;
use crate::app::outcome::StartError;
use crate::app::plan::{Loaded, Plan, Stdio};
use crate::app::serve::{Agents, OpenAgent, SteerSocket};
use crate::app::sessions::remove;

/// What all agents of the program share.
pub(super) struct OwnAgents {
    pub args: RunArgs,
    pub dirs: Dirs,
    /// The variables at the start. The keys have been removed from the environment since.
    pub env: HashMap<String, String>,
    pub processes: Processes,
}

impl Agents for OwnAgents {
    fn open(&self, cwd: PathBuf, session: Option<PathBuf>) -> Result<OpenAgent, StartError> {
        let Self {
            dirs,
            env,
            processes,
            ..
        } = self;
        let args = RunArgs {
            cd: Some(cwd),
            session: session.map(|file| file.to_string_lossy().into_owned()),
            ..self.args.clone()
        };
        let stdio = Stdio {
            stdin: false,
            stdout: false,
        };
        let loaded = Loaded::new(args, dirs, env, |_| {})?;
        let mut plan = Plan::new(loaded, dirs, stdio, discover)?;
        plan.loaded.check_limits()?;
        let mut notices: Vec<String> = plan.loaded.faults().collect();
        notices.extend(plan.loaded.ignored_files());
        let resumed = plan.loaded.resumed.take();
        let (context, session, facts) = RunContext::new(&plan, resumed, dirs, env)?;
        notices.extend(context.notices.iter().cloned());
        let handle = context.start_agent(session, facts, &plan, dirs, env, processes)?;
        let host = context.host(&plan, dirs, env, handle, processes);
        let socket = SteerSocket::open(
            host.clone(),
            dirs.sockets.clone(),
            Accept::Always,
            screen::for_clients(&context, &plan, &host),
            false,
        );
        let keep = Box::new((socket, context));
        Ok(OpenAgent {
            host,
            notices,
            keep,
        })
    }

    fn sessions(&self) -> PathBuf {
        self.dirs.sessions()
    }

    fn remove(&self, file: &Path) -> Result<(), StartError> {
        remove(&self.dirs.sessions(), &self.dirs.trash(), file).map(drop)
    }
}
