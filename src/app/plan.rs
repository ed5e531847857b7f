//! Decides what to do from the command line and the settings, before anything starts. Every refusal
//! happens here, with a suggestion.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::args::{OutputMode, RunArgs, existing_folder};
use super::config::{Layers, Origin, Settings};
use super::dirs::Dirs;
use super::models::Models;
use super::outcome::StartError;
use super::prompt::Silence;
use super::sessions::{Choice, Opened, Refused};
use super::trust::{Trust, Verdict};
use super::{catalogue, keys, prompt};
use crate::agent::session::Session;
use crate::llm::local::{self, DiscoveredServer};
use crate::llm::{Catalog, CatalogOptions, Content, Keys, Model, ThinkingLevel};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEnd {
    Screen,
    /// The last reply on stdout.
    Print,
    /// Event records on stdout.
    Json,
    /// Another program drives the agent over stdin and stdout.
    Rpc,
    /// An editor drives the agent, and others, over stdin and stdout.
    Acp,
    /// The demo as plain text on stdout.
    PlainDemo,
}

impl FrontEnd {
    /// Whether someone can answer questions and send more prompts.
    pub fn has_user(self) -> bool {
        matches!(self, Self::Screen | Self::Rpc | Self::Acp)
    }
}

/// Which standard streams are terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stdio {
    /// The user types.
    pub stdin: bool,
    /// The user reads.
    pub stdout: bool,
}

/// Everything a plan needs that can be read without waiting.
pub struct Loaded {
    pub args: RunArgs,
    /// The end of `--timeout`, measured from the start of the program.
    pub deadline: Option<Instant>,
    pub settings: Settings,
    pub layers: Layers,
    pub cwd: PathBuf,
    /// The session to resume; `None` for a new one.
    pub resumed: Option<Opened>,
    /// A session that couldn't be opened; the screen asks how to continue.
    pub refused: Option<Refused>,
    pub catalog: Arc<Catalog>,
    pub keys: Keys,
    /// Whether the user trusts the project.
    pub trust: Trust,
}

impl Loaded {
    /// Reads the settings, the catalogue and where keys are. Calls `say` before it waits.
    pub fn new(
        args: RunArgs,
        dirs: &Dirs,
        env: &HashMap<String, String>,
        say: impl Fn(&str),
    ) -> Result<Self, StartError> {
        let deadline = args.timeout.map(|limit| Instant::now() + limit);
        let mut cwd = working_folder(args.cd.as_deref())?;
        let choice = Choice::of(&args, &dirs.sessions(), &cwd)?;
        let (resumed, refused) = match resume(&args, &choice, &mut cwd, dirs, deadline, say)? {
            Ok(opened) => (opened, None),
            Err(refused) => (None, Some(refused)),
        };
        let mut trust = Trust::load(&dirs.projects_file(), &cwd)?;
        if args.trust {
            trust.verdict = Verdict::Trusted;
        }
        let layers = run_layers(&args, dirs, &trust)?;
        let mut settings = Settings::resolve(&layers).map_err(StartError::usage)?;
        let keys = keys::load(dirs, &settings, env, &cwd)?;
        let catalog = Arc::new(catalog(&settings, dirs)?);
        // Commands never see variables that hold keys, however they are named.
        let variables = catalog.current().key_variables();
        keys.register(&variables);
        settings.tools.bash_secret_env.extend(variables);
        Ok(Self {
            args,
            deadline,
            settings,
            layers,
            cwd,
            resumed,
            refused,
            catalog,
            keys,
            trust,
        })
    }

    /// What's wrong with ignored settings.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        let own = self.layers.left_out.iter();
        let own = own.map(|fault| format!("ignored: {fault}"));
        own.chain(self.project_fault())
    }

    /// The files of an untrusted folder that tiller ignores, if any.
    pub fn ignored_files(&self) -> Option<String> {
        let files = self.trust.undecided()?;
        Some(format!(
            "folder not trusted, ignoring {files} (--trust to use them)"
        ))
    }

    /// Refuses a project whose limits can't be read, because no user sees that.
    pub fn check_limits(&self) -> Result<(), StartError> {
        if self.layers.project_unlimited {
            let why = "can't read the project's limits on calls; fix its settings";
            return Err(StartError::usage(why));
        }
        Ok(())
    }

    /// What's wrong with the project's settings, if tiller ignores them.
    fn project_fault(&self) -> Option<String> {
        if let Some(fault) = &self.layers.project_fault {
            return Some(format!("ignoring the project's settings: {fault}"));
        }
        let dropped = &self.settings.permission_rules.dropped;
        (!dropped.is_empty()).then(|| {
            let rules = dropped.join(", ");
            format!("ignoring project rules that loosen permissions: {rules}")
        })
    }

    fn leave_project_out(&mut self, fault: String) -> Result<(), StartError> {
        let mut layers = self.layers.clone().with_limits_of_project();
        let secret_env = std::mem::take(&mut self.settings.tools.bash_secret_env);
        self.settings = Settings::resolve(&layers).map_err(StartError::usage)?;
        self.settings.tools.bash_secret_env = secret_env;
        layers.project_fault = Some(fault);
        self.layers = layers;
        Ok(())
    }
}

/// Opens the session in `choice`, in its own folder unless the user named another. Otherwise
/// returns the refusal that the screen can ask about.
fn resume(
    args: &RunArgs,
    choice: &Choice,
    cwd: &mut PathBuf,
    dirs: &Dirs,
    deadline: Option<Instant>,
    say: impl Fn(&str),
) -> Result<Result<Option<Opened>, Refused>, StartError> {
    let at = args.at.as_deref();
    if *choice == Choice::New {
        let flags = [
            (at.is_some(), "--at"),
            (args.read_only, "--read-only"),
            (args.wait, "--wait"),
        ];
        return match flags.into_iter().find(|(given, _)| *given) {
            Some((_, flag)) => Err(StartError::usage(format!(
                "{flag} needs a session: add -c, --session or --fork"
            ))),
            None => Ok(Ok(None)),
        };
    }
    if args.cd.is_none() {
        match choice.folder() {
            Ok(folder) => *cwd = folder.unwrap_or(std::mem::take(cwd)),
            // A folder name that isn't UTF-8 can't be stored.
            Err(_) if choice.fits(cwd).is_ok() => {}
            Err(refused) => return Ok(Err(refused)),
        }
    }
    let root = dirs.sessions();
    let opened = if args.wait {
        choice.open_when_free(&root, cwd, at, deadline, say)?
    } else {
        choice.open(&root, cwd, at)
    };
    match opened {
        Err(refused) if !refused.is_question() => Err(refused.into()),
        opened => Ok(opened.map(|it| Some(it.with_trial(&dirs.trials())))),
    }
}

pub struct Plan {
    pub loaded: Loaded,
    pub stdio: Stdio,
    pub front_end: FrontEnd,
    /// The first message; may be empty.
    pub prompt: Vec<Content>,
    pub chosen: Chosen,
}

impl Plan {
    /// Makes the plan. Reads the user's models, `@FILE`s and piped stdin to its end. `look` queries
    /// the model servers on this machine, and only if nothing else decides the model.
    pub fn new(
        mut loaded: Loaded,
        dirs: &Dirs,
        stdio: Stdio,
        look: impl Fn(&Models) -> Arc<[DiscoveredServer]>,
    ) -> Result<Self, StartError> {
        let chosen = match Chosen::new(&loaded, dirs, &look) {
            // A model that only the project's authors can use must not block the user.
            Err(error) if loaded.layers.has_project() => {
                loaded.leave_project_out(error.message)?;
                Chosen::new(&loaded, dirs, &look)
            }
            chosen => chosen,
        };
        let chosen = chosen?;
        let model = chosen.model.as_ref();
        let args = &loaded.args;
        let prompt = read_prompt(&loaded, stdio, model.is_some())?;
        let front_end = front_end(args, stdio, model.is_some(), !prompt.is_empty());
        if front_end == FrontEnd::Rpc && !prompt.is_empty() {
            return Err(StartError::usage(
                "--mode rpc takes no prompt: send {\"type\":\"prompt\",\"message\":\"...\"} on stdin",
            ));
        }
        let cannot_ask = front_end != FrontEnd::Screen || model.is_none();
        if let (Some(refused), true) = (&loaded.refused, cannot_ask) {
            return Err(refused.clone().into());
        }
        // The demo would be written into it.
        if let (Some(resumed), None) = (&loaded.resumed, model) {
            return Err(resumed.no_model());
        }
        let silent = !matches!(front_end, FrontEnd::Screen | FrontEnd::PlainDemo) && !args.demo;
        if silent && !front_end.has_user() && prompt.is_empty() {
            return Err(StartError::usage(
                "no prompt. Pass one, such as tiller -p \"explain this project\", or pipe it in; the full \
                 screen needs a terminal on stdin and stdout",
            ));
        }
        if silent && model.is_none() {
            return Err(StartError::failed(
                "no model: found no API key and no model server on this machine. Add a key:\n  \
                 tiller auth add anthropic\nor\n  export ANTHROPIC_API_KEY=...\nor describe a \
                 provider in models.toml and choose its model with -m provider/id",
            ));
        }
        // Removes the session if the run can't begin.
        if let (true, Some((model, _)), []) = (silent, model, chosen.fallback.as_slice())
            && let Some(error) = chosen.models.missing_key(&model.provider)
        {
            return Err(StartError::failed(error.to_string()));
        }
        Ok(Self {
            loaded,
            stdio,
            front_end,
            prompt,
            chosen,
        })
    }
}

pub struct Chosen {
    pub models: Arc<Models>,
    /// The model to use; `None` for the demo.
    pub model: Option<(Model, ThinkingLevel)>,
    pub fallback: Vec<Model>,
}

impl Chosen {
    /// Chooses by command line, session and settings; calls `look` at most once.
    fn new(
        loaded: &Loaded,
        dirs: &Dirs,
        look: impl Fn(&Models) -> Arc<[DiscoveredServer]>,
    ) -> Result<Self, StartError> {
        let Loaded {
            args,
            settings,
            catalog,
            keys,
            ..
        } = loaded;
        let models = Arc::new(models(settings, dirs, catalog, keys));
        let found = LazyCell::new(|| look(&models));
        let look = || Arc::clone(&found);
        let model = match choose_model(loaded, &models, look)? {
            None if !args.demo => {
                let best = best_model(catalog, keys, || Arc::clone(&found));
                best.map(|model| (model, args.thinking.unwrap_or(settings.thinking)))
            }
            named => named,
        };
        let fallback = fallback_models(loaded, &models, look)?;
        drop(found);
        Ok(Self {
            models,
            model,
            fallback,
        })
    }
}

/// The settings for every command, including the project's if it is trusted.
pub fn layers(
    dirs: &Dirs,
    trust: Option<&Trust>,
    assignments: &[String],
) -> Result<Layers, StartError> {
    let mut layers = Layers::defaults();
    let file = layers.add_user_file(&dirs.config_file());
    file.map_err(StartError::usage)?;
    if let Some(trust) = trust {
        trust.add_settings(&mut layers);
    }
    let mut assignments = assignments.iter();
    let added = assignments.try_for_each(|it| layers.add_assignment(it));
    added.map_err(StartError::usage).map(|()| layers)
}

/// The models, with the settings and the user's file applied.
pub fn catalog(settings: &Settings, dirs: &Dirs) -> Result<Catalog, StartError> {
    let options = CatalogOptions {
        aliases: settings.aliases.clone(),
        context_window: settings.context_window,
        built_in: catalogue::newest(&dirs.catalogue_file()),
    };
    Catalog::open(&dirs.models_file(), options).map_err(StartError::usage)
}

pub fn models(settings: &Settings, dirs: &Dirs, catalog: &Arc<Catalog>, keys: &Keys) -> Models {
    Models::new(
        Arc::clone(catalog),
        keys.clone(),
        settings.servers.clone(),
        settings.favorites.clone(),
        dirs.config_file(),
    )
}

fn run_layers(args: &RunArgs, dirs: &Dirs, trust: &Trust) -> Result<Layers, StartError> {
    let mut layers = layers(dirs, Some(trust), &args.config)?;
    let mut flags = args.settings();
    let added =
        flags.try_for_each(|(flag, key, value)| layers.add_value(Origin::Flag(flag), key, &value));
    added.map_err(StartError::usage).map(|()| layers)
}

/// The folder given with `-C`, or the current one.
pub fn working_folder(cd: Option<&Path>) -> Result<PathBuf, StartError> {
    let Some(folder) = cd else {
        return std::env::current_dir().map_err(|error| {
            StartError::failed(format!(
                "can't use the working folder: {error}. Choose another with -C"
            ))
        });
    };
    let fault = |why| StartError::usage(format!("-C {}: {why}", folder.display()));
    existing_folder(folder).map_err(fault)
}

fn choose_model(
    loaded: &Loaded,
    models: &Models,
    look: impl Fn() -> Arc<[DiscoveredServer]>,
) -> Result<Option<(Model, ThinkingLevel)>, StartError> {
    let Loaded { args, settings, .. } = loaded;
    let session = loaded.resumed.as_ref().map(|resumed| &resumed.session);
    if args.demo {
        return Ok(None);
    }
    // A resumed session keeps its model, unless the user asks for another or it is unavailable.
    let own = session
        .filter(|_| args.model.is_none())
        .and_then(Session::model);
    let own = own.map(|own| format!("{}/{}", own.provider, own.model_id));
    if let Some(Ok((model, _))) = own.map(|own| models.resolve_with(&own, &look)) {
        let thinking = args.thinking.or(session.and_then(Session::thinking));
        return Ok(Some((model, thinking.unwrap_or(settings.thinking))));
    }
    if settings.model.is_empty() {
        return Ok(None);
    }
    let fault = |why: String| match args.model {
        Some(_) => why,
        None => {
            let fault = loaded.layers.fault("models.default", &why);
            format!("{fault}\nTo change it: tiller config set models.default PROVIDER/ID")
        }
    };
    let named = models.resolve_with(&settings.model, look);
    let (model, level) = named.map_err(|why| StartError::usage(fault(why)))?;
    // `--thinking` wins over the level in `model:level`, which wins over the setting.
    let thinking = args.thinking.or(level).unwrap_or(settings.thinking);
    Ok(Some((model, thinking)))
}

/// The model to use if the command line names none, as `provider/id`, if there is a clear choice.
pub fn default_model(
    settings: &Settings,
    models: &Models,
    catalog: &Catalog,
    keys: &Keys,
    found: &Arc<[DiscoveredServer]>,
) -> Option<String> {
    let model = if settings.model.is_empty() {
        best_model(catalog, keys, || Arc::clone(found))?
    } else {
        let look = || Arc::clone(found);
        models.resolve_with(&settings.model, look).ok()?.0
    };
    Some(model.full_id())
}

/// The default model: the best with a key, or else the best on this machine.
fn best_model(
    catalog: &Catalog,
    keys: &Keys,
    look: impl FnOnce() -> Arc<[DiscoveredServer]>,
) -> Option<Model> {
    let best = catalog.current().default_model(keys);
    best.or_else(|| local::best(&look()).cloned())
}

/// The models in `models.fallback`. Reports a wrong name at the start, not when it is needed.
fn fallback_models(
    loaded: &Loaded,
    models: &Models,
    look: impl Fn() -> Arc<[DiscoveredServer]>,
) -> Result<Vec<Model>, StartError> {
    let fault = |why: String| {
        let fault = loaded.layers.fault("models.fallback", &why);
        StartError::usage(format!("{fault}\nTo change it: tiller config edit"))
    };
    let resolve = |name: &String| Ok(models.resolve_with(name, &look).map_err(fault)?.0);
    loaded.settings.fallback.iter().map(resolve).collect()
}

fn read_prompt(loaded: &Loaded, stdio: Stdio, has_model: bool) -> Result<Vec<Content>, StartError> {
    let Loaded { args, cwd, .. } = loaded;
    if args.demo {
        return Ok(Vec::new());
    }
    let is_served = matches!(args.mode, Some(OutputMode::Rpc | OutputMode::Acp));
    let stdin = if stdio.stdin || args.no_stdin || is_served {
        None
    } else {
        // Without model and prompt tiller plays the demo, which must not wait for a pipe left open.
        let idle = !has_model && !args.print && args.mode.is_none() && args.prompt.is_empty();
        let silence = if idle { Silence::Empty } else { Silence::Said };
        prompt::piped_stdin(silence, loaded.deadline)?
    };
    prompt::build(&args.prompt, stdin.as_deref(), cwd)
}

fn front_end(args: &RunArgs, stdio: Stdio, has_model: bool, has_prompt: bool) -> FrontEnd {
    match args.mode {
        Some(OutputMode::Json) => FrontEnd::Json,
        Some(OutputMode::Rpc) => FrontEnd::Rpc,
        Some(OutputMode::Acp) => FrontEnd::Acp,
        Some(OutputMode::Text) => FrontEnd::Print,
        None if args.print => FrontEnd::Print,
        None if stdio.stdin && stdio.stdout => FrontEnd::Screen,
        None if args.demo || (!has_model && !has_prompt) => FrontEnd::PlainDemo,
        None => FrontEnd::Print,
    }
}
