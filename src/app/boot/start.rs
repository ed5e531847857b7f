//! From arguments to exit code: runs a sub-command, or an agent with its front end.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::panic;
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::runtime::Runtime;

use super::agents::OwnAgents;
use super::run_context::RunContext;
use super::screen;
use super::sub_command::{discover, sub_command};
use crate::agent::Accept;
use crate::agent::process::Processes;
use crate::agent::process::Secrets;
use crate::agent::session::Header;
use crate::app::args::{self, Args, OutputMode, SubCommand};
use crate::app::attachments::{attach_mentions_of, is_too_large};
use crate::app::cli::{self, Json, Output, PlainDemo, Print, Sink, Task};
use crate::app::commands::CustomCommands;
use crate::app::dirs::Dirs;
use crate::app::hook_files::HookFiles;
use crate::app::host::Host;
use crate::app::outcome::{Outcome, StartError};
use crate::app::plan::{FrontEnd, Loaded, Plan, Stdio, working_folder};
use crate::app::prompt::whole_file;
use crate::app::resources::{attach_resources, mentions_resources};
use crate::app::serve::{EventsFile, SteerSocket, run_acp, run_rpc, steer_by_file};
use crate::app::unread_flags::check_flags;
use crate::app::{keys, out};
use crate::llm::Content;
use crate::llm::scripted::demo_script;

/// Worker threads: one for the agent, one for its IO. The screen uses the main thread.
const WORKERS: usize = 2;
/// Threads tiller can't do without: the main one, the workers, and one for blocking work.
const THREADS: usize = WORKERS + 2;
const NO_THREADS: &str = "can't start threads; raise the limit on processes (`ulimit -u`, or the \
                          container's pids limit)";
/// How long idle threads for blocking work stay alive.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// The whole program, from arguments to exit code.
pub fn run() -> ExitCode {
    // Turns a write beyond `ulimit -f` into an error like a full disk, and lets a SIGUSR1 that nothing
    // waits for pass; both would end the program. Catches them, because commands would inherit ignoring them.
    for signal in [Signal::SIGXFSZ, Signal::SIGUSR1] {
        let _ = signal_hook::flag::register(signal as i32, Arc::default());
    }
    let typed: Vec<OsString> = std::env::args_os().collect();
    let mut args = match Args::parse_in_any_order(&typed) {
        Ok(args) => args,
        Err(error) => {
            let words = typed.iter().skip(1);
            let words = words.map(|word| word.to_string_lossy().into_owned());
            let error = args::explain(error, &words.collect::<Vec<String>>());
            let code = error.exit_code() as u8;
            return match error.print() {
                // --help and --version print to stdout; a usage error to stderr.
                Err(failed) if code == 0 => out::write_failed(&failed).into(),
                _ => ExitCode::from(code),
            };
        }
    };
    if let Some(provider) = args.run.provider.take() {
        args.run.model = Some(match args.run.model.take() {
            // Its name alone means its default model.
            None => provider,
            Some(model) if model.starts_with(&format!("{provider}/")) => model,
            Some(model) => format!("{provider}/{model}"),
        });
    }
    args.run.find_separator(std::env::args_os());
    let refusal = args.run.mistyped_command();
    let refusal = refusal.or_else(|| {
        let cwd = working_folder(args.run.cd.as_deref()).unwrap_or_default();
        args.run.slash_command(&|| {
            let dirs = Dirs::from_env(&environment(), Dirs::account_home).ok()?;
            // What matters is whether there is one; an untrusted one is refused later.
            Some(CustomCommands::new(&dirs, &cwd, false))
        })
    });
    let started = match refusal {
        Some(why) => Err(StartError::usage(why)),
        None => start(args),
    };
    started.unwrap_or_else(|error| {
        out::eprint_error(&error);
        error.outcome.into()
    })
}

fn environment() -> HashMap<String, String> {
    let named = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(named).collect()
}

fn start(mut args: Args) -> Result<ExitCode, StartError> {
    let env = environment();
    let dirs = Dirs::from_env(&env, Dirs::account_home)?;
    if !matches!(
        args.command,
        Some(SubCommand::Doctor { .. } | SubCommand::Docs { .. })
    ) {
        dirs.check_config(&env)?;
    }
    if let Some(SubCommand::Demo { project: None }) = &args.command {
        args.run.demo = true;
    } else if let Some(SubCommand::Acp(acp)) = args.command {
        args.run = acp.into();
    } else if let Some(command) = &args.command {
        return Ok(sub_command(command, &dirs, &env)?.into());
    }
    let stdio = Stdio {
        stdin: io::stdin().is_terminal(),
        stdout: io::stdout().is_terminal(),
    };
    check_flags(&args.run, stdio)?;
    let loaded = Loaded::new(args.run, &dirs, &env, |text| {
        out::eprint_line(&format!("tiller: {text}"));
    })?;
    // Before any waiting, and while there is one thread. Commands get a clean environment anyway.
    let secrets = Secrets::new(&loaded.settings.tools.bash_secret_env);
    let _ = keys::scrub_environ(|name| secrets.hide(name));
    if loaded.args.mode == Some(OutputMode::Acp) {
        return serve_acp(loaded, dirs, env);
    }
    let mut plan = Plan::new(loaded, &dirs, stdio, discover)?;
    out::eprint_panics(plan.loaded.keys.redactor().clone());
    let store = plan.loaded.keys.store();
    if let (Some(notice), false) = (store.notice(), plan.front_end == FrontEnd::Screen) {
        out::eprint_line(&format!("tiller: {notice}"));
    }
    if let (Some(ignored), FrontEnd::Print | FrontEnd::Json | FrontEnd::Rpc) =
        (plan.loaded.ignored_files(), plan.front_end)
    {
        out::eprint_line(&format!("tiller: {ignored}"));
    }
    if plan.front_end != FrontEnd::Screen {
        attach(&mut plan)?;
        if plan.stores_unattended_run() {
            dirs.check_data()?;
        }
        plan.loaded.check_limits()?;
        let hooks = HookFiles::new(&dirs, &plan.loaded.cwd);
        hooks
            .own_fault()
            .map_or(Ok(()), |fault| Err(StartError::usage(fault)))?;
        for fault in plan.loaded.faults() {
            out::eprint_line(&format!("tiller: {fault}"));
        }
    }
    let runtime = start_runtime()?;
    let code = runtime.block_on(run_plan(plan, &dirs, &env));
    // A thread that waits for a slow disk or terminal must not delay the exit.
    runtime.shutdown_background();
    code
}

/// Attaches the files that the words of the prompt mention, and says which it didn't.
fn attach(plan: &mut Plan) -> Result<(), StartError> {
    let Loaded { args, cwd, .. } = &plan.loaded;
    let words = args
        .prompt
        .iter()
        .filter(|word| whole_file(word, cwd).is_none());
    let words: Vec<&str> = words.map(String::as_str).collect();
    let content = std::mem::take(&mut plan.prompt);
    let (content, left_out) = attach_mentions_of(&words.join("\n"), content, cwd);
    plan.prompt = content;
    for left_out in left_out {
        // As with the mention alone: the prompt is about that file.
        let missing = left_out.split_once(" (no such file");
        let begins = |word: &&str| missing.is_some_and(|(it, _)| word.starts_with(it));
        let way_out = if missing.is_some() {
            ". Without the @ it is text"
        } else {
            ""
        };
        // `@app.route` and `@types/node` may be text.
        let is_path = missing.is_some_and(|(it, _)| it.contains('/') && it.contains('.'));
        let is_outside = left_out.contains(" (outside the project");
        // An answer without the file would cost money, and nobody can stop it.
        if words.iter().any(begins) || is_path || is_outside || is_too_large(&left_out) {
            return Err(StartError::usage(format!("can't use {left_out}{way_out}")));
        }
        out::eprint_line(&format!("tiller: not attached: {left_out}{way_out}"));
    }
    Ok(())
}

/// Serves an editor. Each of its sessions makes its own plan, so no key is needed yet.
fn serve_acp(
    loaded: Loaded,
    dirs: Dirs,
    env: HashMap<String, String>,
) -> Result<ExitCode, StartError> {
    out::eprint_panics(loaded.keys.redactor().clone());
    let runtime = start_runtime()?;
    let processes = Processes::new();
    let agents = OwnAgents {
        args: loaded.args,
        dirs,
        env,
        processes: processes.clone(),
    };
    tell_waiting("an editor");
    let outcome = runtime.block_on(run_acp(Arc::new(agents), &processes));
    runtime.shutdown_background();
    Ok(outcome.into())
}

/// Starts the runtime. One thread for blocking work lives as long as the program. If a thread limit
/// is reached later, such work waits for that thread instead of failing.
fn start_runtime() -> Result<Runtime, StartError> {
    // tokio panics if it can't start any thread, and hangs while that panic unwinds.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {
        out::eprint_error(NO_THREADS);
        process::exit(i32::from(Outcome::Failed.code()));
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_keep_alive(FOREVER)
        .enable_all()
        .build()
        .map_err(|error| StartError::failed(format!("can't start the runtime: {error}")))?;
    runtime.spawn_blocking(|| {});
    panic::set_hook(hook);
    // tokio doesn't report that later threads failed to start; their work would never be done.
    let started = fs::read_dir("/proc/self/task").map_or(usize::MAX, Iterator::count);
    if started < THREADS {
        runtime.shutdown_background();
        return Err(StartError::failed(NO_THREADS.to_owned()));
    }
    Ok(runtime)
}

async fn run_plan(
    mut plan: Plan,
    dirs: &Dirs,
    env: &HashMap<String, String>,
) -> Result<ExitCode, StartError> {
    let events = plan.loaded.args.events.as_deref();
    let events = events.map(EventsFile::open).transpose()?;
    let resumed = plan.loaded.resumed.take();
    let (context, session, facts) = RunContext::new(&plan, resumed, dirs, env)?;
    let header = session.header().clone();
    let shown = screen::Shown::of(&session, &facts);
    let is_stored = session.root().is_some();
    let processes = Processes::new();
    let handle = context.start_agent(session, facts, &plan, dirs, env, &processes)?;
    let events = events.map(|file| file.follow(&header, &handle));
    let accept = match plan.front_end {
        FrontEnd::Screen | FrontEnd::Rpc => Accept::Always,
        _ => Accept::Running,
    };
    let host = context.host(&plan, dirs, env, handle.clone(), &processes);
    let must_choose = plan.chosen.is_substitute && context.scratch.is_none();
    let socket = is_stored.then(|| {
        let screens = screen::for_clients(&context, &plan, &host);
        SteerSocket::open(
            host.clone(),
            dirs.sockets.clone(),
            accept,
            screens,
            must_choose,
        )
    });
    let steered = steer_by_file(
        handle.clone(),
        &dirs.state,
        &context.cwd,
        accept,
        must_choose,
    );
    if let Err(error) = steered {
        tracing::warn!("SIGUSR1 cannot be caught: {error}");
    }
    if let Err(why) = ask_servers(&host, &mut plan).await {
        handle.shutdown().await;
        return Err(StartError::usage(why));
    }
    let mut again = None;
    let code = if plan.front_end == FrontEnd::Screen {
        let host = (host, &handle);
        let (code, args) = screen::run(&context, &plan, shown, host, dirs).await?;
        again = args;
        ExitCode::from(code)
    } else if plan.front_end == FrontEnd::Rpc {
        tell_waiting("a program");
        run_rpc(host, &processes, &context.notices).await.into()
    } else {
        let outcome = run_without_screen(plan, &context, header, host, &processes, is_stored).await;
        outcome.into()
    };
    if let Some(socket) = socket {
        socket.close().await;
    }
    if let Some(events) = events {
        events.finish().await;
    }
    // Removes the demo's folder; the program that replaces this one wouldn't.
    drop(context);
    match again {
        Some(args) => Err(start_again(&args, env)),
        None => Ok(code),
    }
}

/// Adds what the prompt of the command line wants of MCP servers: a prompt, and resources.
async fn ask_servers(host: &Host, plan: &mut Plan) -> Result<(), String> {
    let typed = plan.loaded.args.prompt.join(" ");
    host.expand_prompt(&typed, &mut plan.prompt).await?;
    if plan.front_end == FrontEnd::Screen || !mentions_resources(&plan.prompt) {
        // The screen attaches them itself.
        return Ok(());
    }
    let content = std::mem::take(&mut plan.prompt);
    let (content, left_out) = attach_resources(&host.mcp, content).await;
    plan.prompt = content;
    for left_out in left_out {
        out::eprint_line(&format!("tiller: not attached: {left_out}"));
    }
    Ok(())
}

/// Tells someone who typed a command for programs why nothing happens.
fn tell_waiting(who: &str) {
    if io::stdin().is_terminal() {
        out::eprint_line(&format!(
            "tiller: waiting for the messages of {who} on stdin. Ctrl+C ends this"
        ));
    }
}

/// Replaces this process with a tiller with these arguments. It uses its own folder's settings and trust.
/// Returns only on failure.
fn start_again(args: &[OsString], env: &HashMap<String, String>) -> StartError {
    let program = std::env::current_exe().unwrap_or_else(|_| "tiller".into());
    let mut command = process::Command::new(program);
    command.args(args);
    // Restores the keys that were erased from this process's environment.
    let error = command.env_clear().envs(env).exec();
    StartError::failed(format!(
        "can't continue there: {error}; try tiller {}",
        args.join(OsStr::new(" ")).display()
    ))
}

async fn run_without_screen(
    plan: Plan,
    context: &RunContext,
    header: Header,
    host: Host,
    processes: &Processes,
    is_stored: bool,
) -> Outcome {
    let mut sink: Box<dyn Sink> = match plan.front_end {
        FrontEnd::Json => Box::new(Json::new(header)),
        FrontEnd::PlainDemo => Box::new(PlainDemo::default()),
        _ if plan.stdio.stdout => Box::new(Print::new(Output::Tty)),
        _ => Box::new(Print::new(Output::Pipe)),
    };
    for notice in &context.notices {
        out::eprint_line(&format!("tiller: {notice}"));
    }
    let task = match (&context.scratch, plan.loaded.args.command()) {
        (Some(_), _) => Task::Prompt(vec![Content::text(demo_script().prompt)]),
        (None, Some((command, argument))) => {
            Task::Command(Box::new(host.clone()), command, argument)
        }
        (None, None) => Task::Prompt(plan.prompt),
    };
    let deadline = plan.loaded.deadline.map(tokio::time::Instant::from_std);
    cli::run_headless(
        host.handle,
        processes,
        task,
        deadline,
        is_stored,
        &mut *sink,
    )
    .await
}
