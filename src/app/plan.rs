//! Decides what to do from the command line and the settings, before anything starts. Every refusal
//! happens here, with a suggestion.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use toml::Value;

use super::args::{OutputMode, RunArgs, existing_folder};
pub use super::chosen_model::{Chosen, default_model};
use super::commands::CustomCommands;
use super::config::{Layers, Origin, Settings, WRITABLE};
use super::dirs::Dirs;
use super::models::Models;
use super::outcome::StartError;
use super::prompt::Silence;
use super::sessions::{Choice, Opened, Refused};
use super::setting_names::check_tools;
use super::tool_files::ToolFiles;
use super::trust::{Trust, Verdict};
use super::{catalogue, keys, prompt};
use crate::agent::process::Secrets;
use crate::llm::local::DiscoveredServer;
use crate::llm::scripted::demo_model;
use crate::llm::{Catalog, CatalogOptions, Content, Keys, ThinkingLevel};

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
        let mut layers = run_layers(&args, dirs, &trust)?;
        if let Some((Value::String(tools), _)) = layers.get("tools.set")
            && let Err(why) =
                check_tools(tools, &ToolFiles::new(dirs, &cwd).names(trust.is_trusted()))
        {
            // A wrong --tools is an error later.
            let fault = layers.fault("tools.set", &why);
            layers.leave_out(&fault);
        }
        let mut settings = Settings::resolve(&layers).map_err(StartError::usage)?;
        // A session continues in the mode that the user left it in, if that's stricter.
        let mut resumed = resumed;
        let own = resumed.as_ref().and_then(|it| it.session.permission());
        if let (Some(own), Some(opened)) = (own, &mut resumed)
            && own < settings.permission
            && !names_mode(&layers)
        {
            settings.permission = own;
            opened.notices.push(own.restored());
        }
        let keys = keys::load(dirs, &settings, env, &cwd)?;
        let catalog = Arc::new(catalog(&settings, dirs)?);
        // Commands never see variables that hold keys, however they are named.
        let variables = catalog.current().key_variables();
        keys.register(&variables);
        settings.tools.bash_secret_env.extend(variables);
        let secrets = Secrets::new(&settings.tools.bash_secret_env);
        let hidden = env.keys().filter(|name| secrets.hide(name.as_ref()));
        settings.tools.bash_hidden = hidden.cloned().collect();
        settings.tools.bash_hidden.sort_unstable();
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
        let folders = self.settings.places.missing_folders();
        let folders = folders.map(|why| format!("{WRITABLE}: {why}"));
        own.chain(self.project_fault()).chain(folders)
    }

    /// What's wrong with the user's `models.default`, if no other setting names a model.
    pub fn lost_default(&self) -> Option<&str> {
        let is_default = |fault: &&String| fault.starts_with("setting models.default ");
        let fault = self.layers.left_out.iter().find(is_default)?;
        self.settings.model.is_empty().then_some(fault)
    }

    /// The files of an untrusted folder that tiller ignores, if any.
    pub fn ignored_files(&self) -> Option<String> {
        let files = self.trust.undecided()?;
        Some(format!(
            "folder not trusted, ignoring {files}. To use them: add --trust, or type /trust in tiller once"
        ))
    }

    /// Refuses a project whose limits can't be read, because no user sees that.
    pub fn check_limits(&self) -> Result<(), StartError> {
        match &self.layers.project_fault {
            Some(fault) if self.layers.project_unlimited => Err(StartError::usage(format!(
                "can't read the project's limits on calls: {fault}"
            ))),
            _ => Ok(()),
        }
    }

    /// What's wrong with the project's settings, if tiller ignores them.
    fn project_fault(&self) -> Option<String> {
        if let Some(fault) = &self.layers.project_fault {
            return Some(format!("ignoring the project's settings: {fault}"));
        }
        let dropped = &self.settings.permission_rules.dropped;
        (!dropped.is_empty()).then(|| {
            let rules = dropped.join(", ");
            format!("ignoring project rules that loosen permissions: {rules}. {OWN_INSTEAD}")
        })
    }

    fn leave_project_out(&mut self, fault: String) -> Result<(), StartError> {
        self.layers = self.layers.clone().with_limits_of_project();
        self.resolve_again()?;
        self.layers.project_fault = Some(fault);
        Ok(())
    }

    /// Leaves out the setting of the user's file that `fault` is about; false if it isn't from there.
    fn leave_out(&mut self, fault: &str) -> Result<bool, StartError> {
        let is_left_out = self.layers.leave_out(fault);
        if is_left_out {
            self.resolve_again()?;
        }
        Ok(is_left_out)
    }

    fn resolve_again(&mut self) -> Result<(), StartError> {
        let tools = &mut self.settings.tools;
        let secret_env = std::mem::take(&mut tools.bash_secret_env);
        let hidden = std::mem::take(&mut tools.bash_hidden);
        let restored = self.settings.permission;
        self.settings = Settings::resolve(&self.layers).map_err(StartError::usage)?;
        self.settings.permission = self.settings.permission.min(restored);
        self.settings.tools.bash_secret_env = secret_env;
        self.settings.tools.bash_hidden = hidden;
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
        let mut chosen = Chosen::new(&loaded, dirs, &look);
        // Neither a wrong name in the user's file nor a model that only the project's authors can use must block
        // the user, as long as there is another model.
        while let Err(error) = &chosen {
            let fault = error.message.clone();
            let is_own = loaded.leave_out(&fault)?;
            let layers = &loaded.layers;
            if !is_own && (!layers.has_project() || layers.project_fault.is_some()) {
                break;
            }
            if !is_own {
                loaded.leave_project_out(fault)?;
            }
            match Chosen::new(&loaded, dirs, &look) {
                Ok(Chosen { model: None, .. }) if is_own => break,
                now => chosen = now,
            }
        }
        let mut chosen = chosen?;
        let model = chosen.model.as_ref();
        let args = &loaded.args;
        let prompt = read_prompt(&loaded, dirs, stdio, model.is_some())?;
        let front_end = front_end(args, stdio, model.is_some(), !prompt.is_empty());
        let silent = !matches!(front_end, FrontEnd::Screen | FrontEnd::PlainDemo) && !args.demo;
        let needs_model = needs_model(args);
        if silent && !needs_model && model.is_none() && loaded.resumed.is_none() {
            chosen.model = Some((demo_model(), ThinkingLevel::Medium));
        }
        // The user may not want to send anything to the vendor of another model.
        if let (true, true, Some(fault)) = (
            silent && needs_model,
            chosen.is_substitute,
            loaded.lost_default(),
        ) {
            return Err(StartError::usage(fault));
        }
        let model = chosen.model.as_ref();
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
        if silent && !front_end.has_user() && prompt.is_empty() {
            return Err(StartError::usage(
                "no prompt. Pass one, such as tiller -p \"explain this project\", or pipe it in; the full \
                 screen needs a terminal on stdin and stdout",
            ));
        }
        if silent && model.is_none() {
            let catalog = loaded.catalog.current();
            if let Some(provider) = catalog.provider_without_models() {
                let why = catalog.has_no_models(provider);
                return Err(StartError::failed(format!("no model: {why}")));
            }
            return Err(StartError::failed(
                "no model: found no API key and no model server on this machine. Add a key:\n  \
                 tiller auth add anthropic\nor\n  export ANTHROPIC_API_KEY=...\nor start a model server, \
                 such as ollama serve; see tiller docs models#local-servers",
            ));
        }
        // Removes the session if the run can't begin.
        if let (true, Some((model, _)), []) =
            (silent && needs_model, model, chosen.fallback.as_slice())
            && let Some(error) = chosen.models.missing_key(&model.provider)
        {
            let id = model.full_id();
            let why = match (&args.model, &loaded.resumed) {
                (Some(_), _) => String::new(),
                (None, Some(_)) => {
                    format!("\nThe session uses {id}. To continue with another model: add -m MODEL")
                }
                (None, None) if loaded.settings.model.is_empty() => String::new(),
                (None, None) => {
                    format!("\n{id} is your models.default. To use another model: add -m MODEL")
                }
            };
            return Err(StartError::failed(format!("{error}{why}")));
        }
        Ok(Self {
            loaded,
            stdio,
            front_end,
            prompt,
            chosen,
        })
    }

    /// Whether it runs a model without a user, in a new session that is stored.
    pub fn stores_unattended_run(&self) -> bool {
        let Loaded { args, resumed, .. } = &self.loaded;
        matches!(self.front_end, FrontEnd::Print | FrontEnd::Json)
            && self.chosen.model.is_some()
            && resumed.is_none()
            && !args.no_session
            && needs_model(args)
    }
}

fn needs_model(args: &RunArgs) -> bool {
    args.command()
        .is_none_or(|(command, _)| command.needs_model())
}

/// What to do about a project's rule that tiller ignores.
pub const OWN_INSTEAD: &str = "To allow that yourself: tiller policy allow --project COMMAND";

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

/// Whether the command line names the permission mode.
pub fn names_mode(layers: &Layers) -> bool {
    let found = layers.get("permission.mode");
    matches!(found, Some((_, Origin::Command | Origin::Flag(_))))
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

fn read_prompt(
    loaded: &Loaded,
    dirs: &Dirs,
    stdio: Stdio,
    has_model: bool,
) -> Result<Vec<Content>, StartError> {
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
    let custom = CustomCommands::new(dirs, cwd, loaded.trust.is_trusted());
    prompt::build(&args.prompt, stdin.as_deref(), cwd, &custom)
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
