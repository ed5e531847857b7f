//! Sub-commands, which need no agent.

use std::collections::HashMap;
use std::io::{IsTerminal as _, Read};
use std::path::Path;
use std::sync::Arc;

use super::config::config;
use super::doctor::doctor;
use super::run_context::permission_options;
use super::runtime::current_thread;
use super::screen;
use crate::agent;
use crate::agent::permission::Policy;
use crate::agent::process::Processes;
use crate::app::args::{self, AuthCommand, PolicyCheckArgs, PolicyCommand, SubCommand};
use crate::app::cli::{self, AuthContext};
use crate::app::config::{Layers, Settings};
use crate::app::dirs::Dirs;
use crate::app::humanize::shell_word;
use crate::app::keys::KnownSecrets;
use crate::app::mcp_files::McpFiles;
use crate::app::models::Models;
use crate::app::outcome::{Outcome, StartError};
use crate::app::stored_rules::StoredRules;
use crate::app::trust::Trust;
use crate::app::{catalogue, keys, out, plan};
use crate::llm::local::{self, DiscoveredServer};

pub(super) fn sub_command(
    command: &SubCommand,
    dirs: &Dirs,
    env: &HashMap<String, String>,
) -> Result<Outcome, StartError> {
    let home = dirs.home.as_deref();
    match command {
        SubCommand::Config { what } => config(what, dirs, env),
        // `start` begins these.
        SubCommand::Acp(_) => Ok(Outcome::Done),
        SubCommand::Demo { project } => {
            cli::demo_project(project.as_deref().unwrap_or(Path::new("tiller-demo")))
        }
        SubCommand::Doctor { json } => doctor(dirs, env, *json),
        SubCommand::Models(what) => {
            let layers = layers(dirs, &what.config)?;
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
            let resolve = |name: &str| {
                let named = models.resolve_with(name, || Arc::clone(&found));
                named.map(|(model, _)| model.full_id())
            };
            cli::models(what, rows, default.as_deref(), as_of, resolve)
        }
        SubCommand::Auth { what } => auth(what, dirs, env),
        SubCommand::Sessions(what) => {
            let place = cli::SessionsPlace {
                root: dirs.sessions(),
                trash: dirs.trash(),
                home,
                redactor: &|| Ok(known_secrets(dirs, env)?.redactor()),
            };
            cli::sessions(what, &place)
        }
        SubCommand::Policy { what } => policy(what, dirs),
        SubCommand::Mcp { what } => {
            let files = McpFiles::new(dirs, &plan::working_folder(None)?, false, env, &[]);
            cli::mcp(what, &files, dirs)
        }
        SubCommand::Docs { words } => docs(words, env),
        SubCommand::Completions { shell } => Ok(out::print(&args::completions(*shell))),
        SubCommand::Man { command } => Ok(out::print(&args::man(command)?)),
        SubCommand::Attach(what) => cli::attach(what, &dirs.sessions(), home, screen::to_lend),
        SubCommand::Steer(what) => cli::steer(what, &dirs.sessions(), home),
        SubCommand::Status(what) => cli::status(what, &dirs.sessions(), home),
    }
}

fn policy(what: &PolicyCommand, dirs: &Dirs) -> Result<Outcome, StartError> {
    let cwd = plan::working_folder(None)?;
    let rules = |config: &[String]| {
        let trust = Trust::load(&dirs.projects_file(), &cwd)?;
        say_ignored(&trust);
        let settings = Settings::resolve(&layers(dirs, config)?).map_err(StartError::usage)?;
        let mut rules = settings.permission_rules.rules;
        rules.extend(trust.rules);
        Ok::<_, StartError>((rules, settings.places.missing()))
    };
    match what {
        PolicyCommand::Check(what) => policy_check(what, dirs),
        PolicyCommand::List { json, config } => {
            let (rules, missing) = rules(config)?;
            for why in missing {
                out::eprint_line(&format!("tiller: {why}"));
            }
            Ok(cli::list_rules(&rules, *json))
        }
        PolicyCommand::Allow(_) | PolicyCommand::Ask(_) | PolicyCommand::Deny(_) => {
            cli::add_rule(dirs, &cwd, what)
        }
        PolicyCommand::Remove { rule, json } => {
            let stored = StoredRules { dirs, cwd: &cwd };
            let name = rule.join(" ");
            let (rules, _) = rules(&[])?;
            cli::remove_stored_rule(&stored, &dirs.sessions(), &rules, &name, *json)
        }
    }
}

/// Says that the rules of an untrusted project don't apply.
fn say_ignored(trust: &Trust) {
    if trust.ignores_settings() {
        out::eprint_line(
            "tiller: ignoring .tiller/config.toml, because this folder isn't trusted. To use its rules: type \
             /trust in tiller",
        );
    }
}

/// Prints documentation, laid out if a terminal reads it that knows styles.
fn docs(words: &[String], env: &HashMap<String, String>) -> Result<Outcome, StartError> {
    let var = |name: &str| env.get(name).map_or("", String::as_str);
    if !std::io::stdout().is_terminal() || matches!(var("TERM"), "" | "dumb") {
        return cli::docs(words, None);
    }
    let pager = env.get("PAGER").map_or("less", String::as_str);
    cli::docs(words, screen::docs_terminal(var, pager).as_ref())
}

fn policy_check(what: &PolicyCheckArgs, dirs: &Dirs) -> Result<Outcome, StartError> {
    let what = &what.with_flags_before();
    if let Some(why) = what.unknown_flag(std::env::args_os()) {
        return Err(StartError::usage(why));
    }
    let layers = layers(dirs, &what.config)?;
    let settings = Settings::resolve(&layers).map_err(StartError::usage)?;
    for dropped in &settings.permission_rules.dropped {
        out::eprint_line(&format!(
            "tiller: ignoring a project rule that loosens permissions: {dropped}. {}",
            plan::OWN_INSTEAD
        ));
    }
    let mode = what.permission.unwrap_or(settings.permission);
    let cwd = plan::working_folder(None)?;
    let trust = Trust::load(&dirs.projects_file(), &cwd)?;
    say_ignored(&trust);
    let rules = settings
        .permission_rules
        .rules
        .iter()
        .cloned()
        .chain(trust.rules)
        .collect();
    let command = match what.command.as_slice() {
        [] => return Ok(cli::check_rules(&Policy::new(mode, rules), what.json)),
        [command] => command.clone(),
        [quoted, ..] if quoted.contains(' ') => {
            return Err(StartError::usage("put flags before the command"));
        }
        words => {
            // An operator stays one: `a '&&' b` means two commands.
            let is_quoted = |word: &str| word.contains([' ', '\n', '\'', '"']);
            let words = words.iter().map(|word| match word.as_str() {
                word if is_quoted(word) => shell_word(Path::new(word)),
                word => word.to_owned(),
            });
            words.collect::<Vec<_>>().join(" ")
        }
    };
    let text = if command == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| StartError::failed(format!("can't read stdin: {error}")))?;
        let text = String::from_utf8(bytes);
        text.map_err(|_| StartError::usage("the command on stdin is not UTF-8"))?
    } else {
        command
    };
    let options = permission_options(&settings, Policy::new(mode, rules), &cwd, dirs);
    let processes = Processes::new();
    let runtime = current_thread()?;
    let judged = runtime.block_on(agent::judge_command(&options, &text, &processes));
    runtime.shutdown_background();
    let judged = judged.map_err(StartError::failed)?;
    Ok(cli::explain_command(
        &text,
        &judged,
        &options.policy,
        &cwd,
        what.json,
    ))
}

/// The settings in the working folder, and the project's if it is trusted. Reports ignored ones.
pub(super) fn layers(dirs: &Dirs, assignments: &[String]) -> Result<Layers, StartError> {
    let cwd = plan::working_folder(None).ok();
    let trust = cwd.map(|cwd| Trust::load(&dirs.projects_file(), &cwd));
    layers_in(dirs, trust.transpose()?.as_ref(), assignments)
}

/// The settings in a folder that is trusted or not. Reports ignored ones.
pub(super) fn layers_in(
    dirs: &Dirs,
    trust: Option<&Trust>,
    assignments: &[String],
) -> Result<Layers, StartError> {
    let layers = plan::layers(dirs, trust, assignments)?;
    for fault in &layers.left_out {
        out::eprint_line(&format!("tiller: ignored: {fault}"));
    }
    if let Some(fault) = &layers.project_fault {
        out::eprint_line(&format!("tiller: ignoring the project's settings: {fault}"));
    }
    Ok(layers)
}

/// All keys, for commands that must not show them.
fn known_secrets(dirs: &Dirs, env: &HashMap<String, String>) -> Result<KnownSecrets, StartError> {
    let settings = Settings::resolve(&plan::layers(dirs, None, &[])?).map_err(StartError::usage)?;
    let keys = keys::load(dirs, &settings, env, &plan::working_folder(None)?)?;
    let catalog = Arc::new(plan::catalog(&settings, dirs)?);
    Ok(KnownSecrets::new(
        &keys,
        &catalog,
        &settings.tools.bash_secret_env,
    ))
}

/// Fetches a newer model catalogue from `url`, or from the URL in the settings.
fn refresh(url: &str, settings: &Settings, dirs: &Dirs) -> Result<Outcome, StartError> {
    let url = match url {
        "" => settings.catalogue_url.as_str(),
        url => url,
    };
    if url.is_empty() {
        return Err(StartError::usage(
            "no URL to fetch models from: use tiller models --refresh=URL, or set models.catalogue_url",
        ));
    }
    let runtime = current_thread()?;
    let summary = runtime.block_on(catalogue::refresh(url, &dirs.catalogue_file()))?;
    Ok(out::print(&summary))
}

/// Queries model servers on this machine, if any port is open. A closed port fails at once.
pub(super) fn discover(models: &Models) -> Arc<[DiscoveredServer]> {
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
