//! The only place that puts the parts together: from the command line to an agent with a front end.
//!
//! Order matters here for one reason: the first frame. Nothing on the way to it reads more than
//! the settings, and everything slow (HTTP client, TLS roots, syntaxes) is made on first use.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;

use super::args::{Args, ConfigCommand, OutputMode, RunArgs, SubCommand};
use super::cli::{self, Json, OnceOptions, Play, Print, Sink};
use super::config::{Layers, Origin, Settings};
use super::demo::{self, Demo};
use super::dirs::Dirs;
use super::outcome::{Outcome, StartError};
use super::{log, prompt, tui};
use crate::agent::process::Processes;
use crate::agent::session::SessionLog;
use crate::agent::{self, AgentHandle, AgentOptions, Toolbox, tools};
use crate::llm::{Catalog, Content, Keys, Model, Provider, ThinkingLevel, Wires};

/// Worker threads: one for the agent, one for what it waits for; the screen has the main thread.
const WORKERS: usize = 2;

/// The whole program, from arguments to exit code.
pub fn run() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    match start(args) {
        Ok(code) => code,
        Err(error) => {
            cli::complain(&format!("tiller: {error}"));
            error.outcome.into()
        }
    }
}

fn start(args: Args) -> Result<ExitCode, StartError> {
    let env: HashMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let dirs = Dirs::from_env(&env)?;
    if let Some(SubCommand::Config { what }) = &args.command {
        let mut layers = Layers::defaults();
        if let ConfigCommand::Show { config, .. } = what {
            layers = read_layers(&dirs, config)?;
        }
        return Ok(cli::config(what, &layers, &dirs.config_file()).into());
    }
    let plan = Plan::new(args.run, &dirs)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(|error| StartError::failed(format!("cannot start the runtime: {error}")))?;
    let code = runtime.block_on(plan.run(&dirs, &env));
    // Threads that wait for a slow disk or terminal must not hold the exit up.
    runtime.shutdown_background();
    code
}

/// How the run meets people or programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrontEnd {
    Screen,
    Print,
    Json,
    Play,
}

/// What is to be done, decided before anything is started.
struct Plan {
    args: RunArgs,
    settings: Settings,
    cwd: PathBuf,
    front_end: FrontEnd,
    prompt: Vec<Content>,
    catalog: Arc<Catalog>,
    keys: Keys,
    /// The model, or the demo where there is none to speak to.
    model: Option<(Model, ThinkingLevel)>,
}

impl Plan {
    fn new(args: RunArgs, dirs: &Dirs) -> Result<Self, StartError> {
        let mut layers = read_layers(dirs, &args.config)?;
        add_flags(&mut layers, &args)?;
        let settings = Settings::resolve(&layers).map_err(usage)?;
        if settings.permission != "full" {
            return Err(StartError::usage(format!(
                "--permission {} is not available yet: use --permission full, which runs \
                 everything without asking",
                settings.permission
            )));
        }
        let cwd = working_folder(args.cd.as_deref())?;
        let keys = Keys::from_env();
        let catalog = Arc::new(Catalog::load(&dirs.models_file()).map_err(usage)?);
        let model = choose_model(&args, &settings, &catalog, &keys)?;

        let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let asked_to_print = args.print || args.mode.is_some();
        // Without a model and without a word to go on there is nothing to wait for on stdin.
        let patience = (!asked_to_print && args.prompt.is_empty() && model.is_none()).then_some(200);
        let stdin = if std::io::stdin().is_terminal() {
            None
        } else {
            prompt::piped_stdin(patience)?
        };
        let content = prompt::build(&args.prompt, stdin.as_deref(), &cwd)?;
        let front_end = match args.mode {
            Some(OutputMode::Json) => FrontEnd::Json,
            Some(OutputMode::Text) => FrontEnd::Print,
            None if args.print => FrontEnd::Print,
            None if terminal => FrontEnd::Screen,
            None if model.is_none() && content.is_empty() => FrontEnd::Play,
            None => FrontEnd::Print,
        };
        if matches!(front_end, FrontEnd::Print | FrontEnd::Json) && content.is_empty() && !args.demo
        {
            return Err(StartError::usage(
                "no prompt: give one as an argument or on stdin, for example tiller -p \"explain \
                 this project\"; the full screen needs a terminal on stdin and stdout",
            ));
        }
        if front_end != FrontEnd::Screen && model.is_none() && !content.is_empty() && !args.demo {
            return Err(StartError::failed(no_model()));
        }
        Ok(Self { args, settings, cwd, front_end, prompt: content, catalog, keys, model })
    }

    async fn run(self, dirs: &Dirs, env: &HashMap<String, String>) -> Result<ExitCode, StartError> {
        let demo = match &self.model {
            Some(_) => None,
            None => Some(Demo::create().map_err(|error| {
                StartError::failed(format!("cannot make the demo's scratch folder: {error}"))
            })?),
        };
        let keep = demo.is_none() && !self.args.no_session;
        if keep {
            log::start(&dirs.log(), env.get("TILLER_LOG").map(String::as_str));
        }
        let cwd = demo.as_ref().map_or_else(|| self.cwd.clone(), |demo| demo.folder().to_owned());
        let session = keep.then(|| SessionLog::create(&dirs.sessions(), &cwd));
        let spill = Spill::new(session.as_ref());
        let (model, thinking) = match &self.model {
            Some(chosen) => chosen.clone(),
            None => (demo::model(), ThinkingLevel::Medium),
        };
        let header = Header::new(session.as_ref());
        let session_info = session.as_ref().map(|session| tui::SessionInfo {
            name: None,
            file: session.path().to_owned(),
        });
        let handle = self.start_agent(&cwd, &model, thinking, session, spill.folder(), demo.as_ref())?;
        let outcome = match self.front_end {
            FrontEnd::Screen => {
                let exit = tui::run(self.screen(dirs, handle.clone(), &cwd, model, thinking, session_info, keep, demo.is_some()))
                    .await;
                handle.shutdown().await;
                if !exit.summary.is_empty() {
                    cli::say(&exit.summary);
                }
                ExitCode::from(exit.kind.code())
            }
            FrontEnd::Print => self.once(handle, &mut Print::default(), demo.is_some()).await,
            FrontEnd::Play => self.once(handle, &mut Play::default(), true).await,
            FrontEnd::Json => {
                let mut sink = Json::start(&header.id, &cwd, &header.timestamp);
                self.once(handle, &mut sink, demo.is_some()).await
            }
        };
        drop((spill, demo));
        Ok(outcome)
    }
}
