//! The only place that puts the parts together: from the command line to an agent with a front end.
//!
//! Order matters for one reason, the first frame: nothing on the way to it reads more than the
//! settings, and everything slow (HTTP client, TLS roots, syntaxes) is made on first use.

use std::collections::HashMap;
use std::fs;
use std::io::{self, IsTerminal};
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use nix::sys::signal::Signal;
use tokio::runtime::Runtime;

use super::args::{Args, AuthCommand, ConfigCommand, SubCommand};
use super::cli::{self, AuthContext, Json, Output, PlainDemo, Print, Sink};
use super::config::Settings;
use super::demo::Scratch;
use super::dirs::Dirs;
use super::models::Models;
use super::outcome::{Outcome, StartError};
use super::plan::{self, FrontEnd, Loaded, Plan, Stdio};
use super::sessions::Opened;
use super::trust::Trust;
use super::tui::app::{SessionInfo, Start, Status};
use super::{catalogue, keys, log, tui};
use crate::agent::memory::InstructionSources;
use crate::agent::process::{Processes, Secrets};
use crate::agent::session::folder::folder_for;
use crate::agent::session::{History, Session};
use crate::agent::{self, AgentHandle, AgentOptions, SlowReader, Toolbox, tools};
use crate::llm::local::{self, DiscoveredServer, LocalServer};
use crate::llm::scripted::{Scripted, demo_model, demo_script};
use crate::llm::{Client, Content, Keys, Message, Model, Provider, ThinkingLevel};

/// Worker threads: one for the agent, one for what it waits for; the screen has the main thread.
const WORKERS: usize = 2;
/// Threads the program cannot do without: the main one, the workers, and one for blocking work.
const THREADS: usize = WORKERS + 2;
const NO_THREADS: &str = "cannot start its threads; is there a limit on processes (`ulimit -u`, or a \
                          container's pids limit)?";
/// How long idle threads for blocking work stay.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// The whole program, from arguments to exit code.
pub fn run() -> ExitCode {
    // A write beyond `ulimit -f` is an error like a full disk, not the end of the program. Caught,
    // not ignored: commands would inherit that.
    let _ = signal_hook::flag::register(Signal::SIGXFSZ as i32, Arc::default());
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = error.exit_code() as u8;
            return match error.print() {
                // --help and --version print to stdout; a usage error to stderr.
                Err(failed) if code == 0 => cli::write_failed(&failed).into(),
                _ => ExitCode::from(code),
            };
        }
    };
    let separated = std::env::args_os().any(|argument| argument == "--");
    let started = match args.run.mistyped_command() {
        Some((word, nearest)) if !separated => Err(StartError::usage(no_command(word, nearest))),
        _ => start(args),
    };
    started.unwrap_or_else(|error| {
        cli::eprint_line(&format!("tiller: {error}"));
        error.outcome.into()
    })
}

fn no_command(word: &str, nearest: Option<String>) -> String {
    let hint = match nearest {
        Some(name) => format!("did you mean tiller {name}?"),
        None => "tiller --help lists them.".to_owned(),
    };
    format!("no sub-command '{word}': {hint} To send it as a prompt: tiller -- {word}")
}

fn start(args: Args) -> Result<ExitCode, StartError> {
    let env: HashMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let dirs = Dirs::from_env(&env, Dirs::account_home)?;
    if let Some(command) = &args.command {
        return Ok(sub_command(command, &dirs, &env)?.into());
    }
    let stdio = Stdio {
        stdin: io::stdin().is_terminal(),
        stdout: io::stdout().is_terminal(),
    };
    let loaded = Loaded::new(args.run, &dirs, &env)?;
    // Before anything is waited for, and while there is one thread. Best effort: commands get a
    // clean environment in any case.
    let secrets = Secrets::new(&loaded.settings.tools.bash_secret_env);
    let _ = keys::scrub_environ(|name| secrets.hide(name));
    let plan = Plan::new(loaded, &dirs, stdio, discover)?;
    cli::eprint_panics(plan.loaded.keys.redactor().clone());
    let store = plan.loaded.keys.store();
    if let (Some(notice), false) = (store.notice(), plan.front_end == FrontEnd::Screen) {
        cli::eprint_line(&format!("tiller: {notice}"));
    }
    if let (Some(files), FrontEnd::Print | FrontEnd::Json) =
        (plan.loaded.trust.undecided(), plan.front_end)
    {
        cli::eprint_line(&format!(
            "tiller: left out, because this folder is not trusted: {files} (--trust takes it in)"
        ));
    }
    let runtime = start_runtime()?;
    let code = runtime.block_on(run_plan(plan, &dirs, &env));
    // A thread that waits for a slow disk or terminal must not hold the exit up.
    runtime.shutdown_background();
    code
}

/// Starts the runtime. One thread for blocking work lives as long as the program does: a limit that
/// is reached later makes such work wait for that thread, not fail.
fn start_runtime() -> Result<Runtime, StartError> {
    // tokio panics where not one thread can be started, and hangs while that unwinds.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {
        cli::eprint_line(&format!("tiller: {NO_THREADS}"));
        process::exit(Outcome::Failed as i32);
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_keep_alive(FOREVER)
        .enable_all()
        .build()
        .map_err(|error| StartError::failed(format!("cannot start the runtime: {error}")))?;
    runtime.spawn_blocking(|| {});
    panic::set_hook(hook);
    // Of those that come after the first one it does not say that they could not be started; what
    // they should do is then never done.
    let started = fs::read_dir("/proc/self/task").map_or(usize::MAX, Iterator::count);
    if started < THREADS {
        runtime.shutdown_background();
        return Err(StartError::failed(NO_THREADS.to_owned()));
    }
    Ok(runtime)
}

/// What needs no agent.
fn sub_command(
    command: &SubCommand,
    dirs: &Dirs,
    env: &HashMap<String, String>,
) -> Result<Outcome, StartError> {
    let home = dirs.home.as_deref();
    let trust = || {
        let cwd = plan::working_folder(None).ok();
        let load = |cwd: PathBuf| Trust::load(&dirs.projects_file(), &cwd);
        cwd.map(load).transpose()
    };
    match command {
        SubCommand::Config { what } => {
            let assignments = match what {
                ConfigCommand::Show { config, .. } => config.as_slice(),
                ConfigCommand::Path => &[],
            };
            let layers = plan::layers(dirs, trust()?.as_ref(), assignments)?;
            Ok(cli::config(what, &layers, &dirs.config_file()))
        }
        SubCommand::Models(what) => {
            let layers = plan::layers(dirs, trust()?.as_ref(), &what.config)?;
            let settings = Settings::resolve(&layers).map_err(StartError::usage)?;
            if let Some(url) = &what.refresh {
                return refresh(url, &settings, dirs);
            }
            let keys = keys::load(dirs, &settings, env, &plan::working_folder(None)?)?;
            let catalog = Arc::new(plan::catalog(&settings, dirs)?);
            let models = plan::models(&settings, dirs, &catalog, &keys);
            let found = discover(&models);
            let default = plan::default_model(&settings, &models, &catalog, &keys, &found);
            let rows = models.list(&found).rows;
            let as_of = catalog.current();
            let as_of = as_of.built_in().as_of();
            cli::models(what, rows, default.as_deref(), as_of)
        }
        SubCommand::Auth { what } => auth(what, dirs, env),
        SubCommand::Sessions(what) => {
            let place = cli::SessionsPlace {
                root: dirs.sessions(),
                trash: dirs.trash(),
                home,
                redactor: &|| Ok(registered_keys(dirs, env)?.redactor().clone()),
            };
            cli::sessions(what, &place)
        }
        SubCommand::Status(what) => cli::status(what, &dirs.sessions(), home),
    }
}

/// All keys there are, for what must show none of them.
fn registered_keys(dirs: &Dirs, env: &HashMap<String, String>) -> Result<Keys, StartError> {
    let settings = Settings::resolve(&plan::layers(dirs, None, &[])?).map_err(StartError::usage)?;
    let keys = keys::load(dirs, &settings, env, &plan::working_folder(None)?)?;
    let catalog = Arc::new(plan::catalog(&settings, dirs)?);
    keys.register(&catalog.current().key_variables());
    Ok(keys)
}

/// Fetches a newer catalogue of models from `url`, or from where the settings say.
fn refresh(url: &str, settings: &Settings, dirs: &Dirs) -> Result<Outcome, StartError> {
    let url = match url {
        "" => settings.catalogue_url.as_str(),
        url => url,
    };
    if url.is_empty() {
        return Err(StartError::usage(
            "no URL to fetch models from: tiller models --refresh=URL, or models.catalogue_url in \
             config.toml",
        ));
    }
    let runtime = current_thread()?;
    let summary = runtime.block_on(catalogue::refresh(url, &dirs.catalogue_file()))?;
    Ok(cli::print(&summary))
}

/// Asks the model servers of this machine, if anything listens there at all: mostly nothing does, and
/// a closed port says so at once.
fn discover(models: &Models) -> Arc<[DiscoveredServer]> {
    if !local::is_listening(models.addrs()) {
        return Arc::new([]);
    }
    match current_thread() {
        Ok(runtime) => runtime.block_on(models.discover(local::DISCOVERY_TIMEOUT)),
        Err(_) => Arc::new([]),
    }
}

fn auth(
    what: &AuthCommand,
    dirs: &Dirs,
    env: &HashMap<String, String>,
) -> Result<Outcome, StartError> {
    let settings = Settings::resolve(&plan::layers(dirs, None, &[])?).map_err(StartError::usage)?;
    let keys = keys::load(dirs, &settings, env, &plan::working_folder(None)?)?;
    let catalog = plan::catalog(&settings, dirs)?;
    let runtime = current_thread()?;
    let outcome = runtime.block_on(async {
        let processes = Processes::new();
        let commands = keys::run_in_shell(&processes, dirs.config.clone(), env);
        let auth = AuthContext {
            catalog,
            keys: keys.with_commands(commands),
        };
        auth.run(what).await
    });
    runtime.shutdown_background();
    outcome
}

fn current_thread() -> Result<Runtime, StartError> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build();
    runtime.map_err(|error| StartError::failed(format!("cannot start the runtime: {error}")))
}

async fn run_plan(
    mut plan: Plan,
    dirs: &Dirs,
    env: &HashMap<String, String>,
) -> Result<ExitCode, StartError> {
    let resumed = plan.loaded.resumed.take();
    let (context, session) = RunContext::new(&plan, resumed, dirs, env)?;
    let header = session.header().clone();
    let history = session.history();
    let messages = history.messages.clone();
    let handle = context.start_agent(session, history, &plan, dirs, env)?;
    let mut sink: Box<dyn Sink> = match plan.front_end {
        FrontEnd::Screen => {
            let end = tui::run(context.screen(&plan, messages, dirs, handle.clone())).await;
            handle.shutdown().await;
            if let tui::ExitKind::Unusable(why) = &end {
                return Err(StartError::usage(why));
            }
            return Ok(ExitCode::from(end.code()));
        }
        FrontEnd::Print if plan.stdio.stdout => Box::new(Print::new(Output::Tty)),
        FrontEnd::Print => Box::new(Print::new(Output::Pipe)),
        FrontEnd::PlainDemo => Box::new(PlainDemo::default()),
        FrontEnd::Json => Box::new(Json::new(header)),
    };
    let prompt = match context.scratch {
        Some(_) => vec![Content::text(demo_script().prompt)],
        None => plan.prompt,
    };
    let timeout = plan.loaded.args.timeout;
    let outcome = cli::run_headless(handle, prompt, timeout, &mut *sink).await;
    Ok(outcome.into())
}

/// Where a run takes place: folders, session, model. Dropping it removes what was temporary.
struct RunContext {
    cwd: PathBuf,
    model: Model,
    thinking: ThinkingLevel,
    scratch: Option<Scratch>,
    session_file: Option<PathBuf>,
    /// Where outputs too long for the model go: beside the session, else to a folder that is made
    /// when needed.
    spill_dir: PathBuf,
    /// What the user should read about the session.
    notices: Vec<String>,
}

impl RunContext {
    /// Makes ready for a run, and opens its session.
    fn new(
        plan: &Plan,
        resumed: Option<Opened>,
        dirs: &Dirs,
        env: &HashMap<String, String>,
    ) -> Result<(Self, Session), StartError> {
        let (scratch, model, thinking) = match &plan.model {
            Some((model, thinking)) => (None, model.clone(), *thinking),
            None => {
                let scratch = Scratch::create().map_err(|error| {
                    StartError::failed(format!("cannot make the demo's scratch folder: {error}"))
                })?;
                (Some(scratch), demo_model(), ThinkingLevel::Medium)
            }
        };
        let cwd = scratch
            .as_ref()
            .map_or(plan.loaded.cwd.as_path(), Scratch::path)
            .to_owned();
        let keep = scratch.is_none() && !plan.loaded.args.no_session;
        if keep {
            let filter = env.get("TILLER_LOG").map(String::as_str);
            log::start(&dirs.log(), filter, plan.loaded.keys.redactor());
        }
        let (session, notices) = match resumed {
            Some(resumed) => (resumed.session, resumed.notices),
            None if keep => (Session::create(&dirs.sessions(), &cwd), Vec::new()),
            None => (Session::unstored(&cwd), Vec::new()),
        };
        let session_file = session.path().map(Path::to_owned);
        let spill_dir = match &session_file {
            Some(file) => file.with_extension(""),
            None => {
                let name = format!("tiller-{}", uuid::Uuid::new_v4().simple());
                std::env::temp_dir().join(name)
            }
        };
        let context = Self {
            cwd,
            model,
            thinking,
            scratch,
            session_file,
            spill_dir,
            notices,
        };
        Ok((context, session))
    }

    fn start_agent(
        &self,
        session: Session,
        history: History,
        plan: &Plan,
        dirs: &Dirs,
        env: &HashMap<String, String>,
    ) -> Result<AgentHandle, StartError> {
        let Loaded {
            args,
            settings,
            trust,
            ..
        } = &plan.loaded;
        let processes = Processes::new();
        let commands = keys::run_in_shell(&processes.scope(), dirs.config.clone(), env);
        let keys = plan.loaded.keys.clone().with_commands(commands);
        let tools = tools::builtin(&settings.tools);
        let toolbox = Toolbox::select(tools, &settings.tool_set).map_err(StartError::usage)?;
        let script: Option<Arc<dyn Provider>> = match self.scratch {
            Some(_) => Some(Arc::new(Scripted::new(demo_script()))),
            None => None,
        };
        Ok(agent::start(AgentOptions {
            provider: Arc::new(
                Client::new(Arc::clone(&plan.loaded.catalog), keys, script)
                    .with_smallest_window(settings.min_context_window)
                    .with_caching(settings.caching),
            ),
            model: self.model.clone(),
            fallback: plan.fallback.clone(),
            thinking: self.thinking,
            cwd: self.cwd.clone(),
            toolbox,
            processes: processes.scope(),
            system_prompt: args.system_prompt.clone(),
            append_system_prompt: args.append_system_prompt.clone(),
            instructions: match self.scratch {
                Some(_) => InstructionSources::default(),
                None => trust.sources(trust.is_trusted()),
            },
            today: Arc::new(|| jiff::Zoned::now().date()),
            session,
            history,
            spill_dir: self.spill_dir.clone(),
            rules: settings.rules.clone(),
        }))
    }

    fn screen(
        &self,
        plan: &Plan,
        history: Vec<Arc<Message>>,
        dirs: &Dirs,
        handle: AgentHandle,
    ) -> tui::TuiOptions {
        let Loaded { settings, keys, .. } = &plan.loaded;
        let mut notices = Vec::new();
        if self.scratch.is_none() {
            if settings.model.is_empty()
                && let Some(server) = LocalServer::from_id(&self.model.provider)
            {
                notices.push(format!(
                    "No API key was found; {} on this machine answers",
                    server.facts().title
                ));
            }
            notices.push("permission full: every tool runs without asking".to_owned());
            notices.extend(plan.loaded.trust.undecided().map(|files| {
                format!(
                    "Left out, because this folder is not trusted: {files}. /trust takes \
                     it in, /trust no never asks again"
                )
            }));
        }
        notices.extend(keys.store().notice().map(str::to_owned));
        notices.extend_from_slice(&self.notices);
        tui::TuiOptions {
            events: handle.subscribe(SlowReader::Drop),
            handle,
            trust: self.scratch.is_none().then(|| plan.loaded.trust.clone()),
            models: Arc::clone(&plan.models),
            status: Status {
                session: self
                    .session_file
                    .clone()
                    .map(|file| SessionInfo { name: None, file }),
                permission: settings.permission.clone(),
                ..Status::new(&self.cwd, self.model.clone(), self.thinking)
            },
            start: Start {
                prompt: plan.prompt.clone(),
                demo: self.scratch.is_some().then(|| (demo_script().prompt, 0)),
                history,
                resume: plan.loaded.args.resume,
                notices,
            },
            theme: Some(settings.theme.clone()).filter(|name| name != "auto"),
            storage: self.session_file.is_some().then(|| tui::StoredFiles {
                history: dirs.history_file(),
                drafts: folder_for(&dirs.drafts(), &self.cwd),
                sessions: dirs.sessions(),
            }),
            keymap_file: dirs.keymap_file(),
        }
    }
}

impl Drop for RunContext {
    fn drop(&mut self) {
        if self.session_file.is_none() {
            let _ = fs::remove_dir_all(&self.spill_dir);
        }
    }
}
