//! Prepares an agent for a front end, with its session, folders and model.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;

use crate::agent::hooks::{HookEnvironment, Hooks};
use crate::agent::mcp::{CALL_LIMIT, Launch, Mcp};
use crate::agent::memory::InstructionSources;
use crate::agent::permission::{PermissionMode, Policy};
use crate::agent::process::{Processes, Secrets};
use crate::agent::session::{HistoryFacts, Session};
use crate::agent::tools::own::OwnTools;
use crate::agent::undo::Undo;
use crate::agent::workspace::{Places, PrivateFolders};
use crate::agent::{
    self, AgentHandle, AgentOptions, LazyRedactor, PermissionOptions, RuleSource, ToolSelection,
    Toolbox, tools,
};
use crate::app::args::OutputMode;
use crate::app::config::Settings;
use crate::app::demo::Scratch;
use crate::app::dirs::Dirs;
use crate::app::hook_files::{HookFiles, LiveHooks};
use crate::app::host::Host;
use crate::app::keys::KnownSecrets;
use crate::app::live_rules::LiveRules;
use crate::app::mcp_files::{LiveServers, McpFiles};
use crate::app::outcome::StartError;
use crate::app::plan::{Loaded, Plan, names_mode};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::Opened;
use crate::app::tool_files::{LiveTools, ToolFiles};
use crate::app::{keys, log};
use crate::llm::http::Http;
use crate::llm::scripted::{Scripted, demo_model, demo_script};
use crate::llm::{Client, Model, Provider, ThinkingLevel};

/// The folders, session and model of a run. Dropping it removes temporary files.
pub(super) struct RunContext {
    pub cwd: PathBuf,
    pub model: Model,
    pub thinking: ThinkingLevel,
    pub scratch: Option<Scratch>,
    session_file: Option<PathBuf>,
    /// For outputs too long for the model: next to the session, or else a folder created on demand.
    spill_dir: PathBuf,
    /// Parent of the session's own temporary folders; created on demand.
    temporary: PathBuf,
    mcp: OnceLock<Mcp>,
    hooks: OnceLock<Hooks>,
    /// Notices about the session for the user.
    pub notices: Vec<String>,
}

impl RunContext {
    /// Prepares a run and opens its session.
    pub fn new(
        plan: &Plan,
        resumed: Option<Opened>,
        dirs: &Dirs,
        env: &HashMap<String, String>,
    ) -> Result<(Self, Session, HistoryFacts), StartError> {
        let (scratch, model, thinking) = match &plan.chosen.model {
            Some((model, thinking)) => (None, model.clone(), *thinking),
            None => {
                let scratch = Scratch::create().map_err(|error| {
                    StartError::failed(format!("can't create the demo's temporary folder: {error}"))
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
        let opened = match resumed {
            Some(resumed) => resumed,
            None if keep => Opened::new(&dirs.sessions(), &cwd),
            None => Opened::unstored(&cwd),
        };
        let Opened {
            session,
            facts,
            mut notices,
            prompt: _,
        } = opened;
        if let (Some(own), None) = (session.model(), &plan.loaded.args.model) {
            let own = format!("{}/{}", own.provider, own.model_id);
            let now = model.full_id();
            if own != now {
                let own = for_terminal(&own);
                notices.push(format!(
                    "The session's model, {own}, is no longer available; continuing with {now}"
                ));
            }
        }
        let holds_home = || {
            dirs.home
                .as_ref()
                .is_some_and(|home| home.starts_with(&cwd))
        };
        if plan.loaded.settings.permission == PermissionMode::Auto && holds_home() {
            notices.push(
                "This folder contains your home, so auto asks before every change. Start tiller in a \
                 project instead"
                    .to_owned(),
            );
        }
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
            temporary: PrivateFolders::new_place(&std::env::temp_dir()),
            mcp: OnceLock::new(),
            hooks: OnceLock::new(),
            notices,
        };
        Ok((context, session, facts))
    }

    pub fn start_agent(
        &self,
        session: Session,
        facts: HistoryFacts,
        plan: &Plan,
        dirs: &Dirs,
        env: &HashMap<String, String>,
        processes: &Processes,
    ) -> Result<AgentHandle, StartError> {
        let Loaded {
            args,
            settings,
            trust,
            ..
        } = &plan.loaded;
        let commands = keys::run_in_shell(&processes.scope(), dirs.config.clone(), env);
        let keys = plan.loaded.keys.clone().with_commands(commands);
        let tools = tools::builtin(&settings.tools);
        let selection = self.tool_set(settings, trust.is_trusted(), dirs);
        let toolbox = Toolbox::select(tools, &selection).map_err(StartError::usage)?;
        let script: Option<Arc<dyn Provider>> = match self.scratch {
            Some(_) => Some(Arc::new(Scripted::new(demo_script()))),
            None => None,
        };
        Ok(agent::start(AgentOptions {
            provider: Arc::new(
                Client::new(Arc::clone(&plan.loaded.catalog), keys, script)
                    .with_smallest_window(settings.min_context_window)
                    .with_caching(settings.caching)
                    .with_max_output(settings.max_output)
                    .with_idle_timeout(settings.idle_timeout),
            ),
            model: self.model.clone(),
            fallback: plan.chosen.fallback.clone(),
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
            facts,
            spill_dir: self.spill_dir.clone(),
            trials: self.session_file.is_some().then(|| dirs.trials()),
            undo: (self.session_file.is_some())
                .then(|| Undo::new(dirs.undo(), settings.undo_max_bytes)),
            permission: self.permission(plan, dirs),
            rule_source: self.rule_source(plan, dirs),
            rules: settings.rules.clone(),
            budget: settings.budget,
            budget_flags: [args.budget_usd.is_some(), args.budget_tokens.is_some()],
            redactor: redactor(plan),
            hooks: self.hooks(plan, dirs, (processes, env)),
            own_tools: self.own_tools(plan, dirs),
            mcp: self.mcp(plan, &self.mcp_files(plan, dirs, env), processes),
        }))
    }

    /// Which tools the model may use. It may name the user's.
    fn tool_set(&self, settings: &Settings, trusted: bool, dirs: &Dirs) -> ToolSelection {
        let selection = settings.tool_set.clone();
        if selection == ToolSelection::default() {
            return selection;
        }
        selection.with_own(ToolFiles::new(dirs, &self.cwd).names(trusted))
    }

    fn own_tools(&self, plan: &Plan, dirs: &Dirs) -> OwnTools {
        if self.scratch.is_some() {
            return OwnTools::default();
        }
        let Loaded { settings, args, .. } = &plan.loaded;
        let files = ToolFiles::new(dirs, &self.cwd);
        let source = Box::new(LiveTools::new(files, args.trust));
        OwnTools::new(source, &settings.tools)
    }

    /// The hooks of the agent, and of its host, which lists them.
    fn hooks(
        &self,
        plan: &Plan,
        dirs: &Dirs,
        (processes, env): (&Processes, &HashMap<String, String>),
    ) -> Hooks {
        if self.scratch.is_some() {
            return Hooks::default();
        }
        let Loaded { settings, args, .. } = &plan.loaded;
        let hooks = self.hooks.get_or_init(|| {
            let files = HookFiles::new(dirs, &self.cwd);
            let source = Box::new(LiveHooks::new(files, args.trust));
            let environment = Secrets::new(&settings.tools.bash_secret_env).environment();
            let environment = HookEnvironment {
                commands: environment,
                all: env.clone(),
            };
            Hooks::new(source, processes, environment, self.cwd.clone())
        });
        hooks.clone()
    }

    fn mcp_files(&self, plan: &Plan, dirs: &Dirs, env: &HashMap<String, String>) -> McpFiles {
        let Loaded { settings, args, .. } = &plan.loaded;
        let of_commands = Secrets::new(&settings.tools.bash_secret_env).environment();
        McpFiles::new(dirs, &self.cwd, args.trust, env, &of_commands)
    }

    /// The servers of the agent and of its host.
    fn mcp(&self, plan: &Plan, files: &McpFiles, processes: &Processes) -> Mcp {
        if self.scratch.is_some() {
            return Mcp::default();
        }
        let settings = &plan.loaded.settings;
        let servers = self.mcp.get_or_init(|| {
            let mut environment = Secrets::new(&settings.tools.bash_secret_env).environment();
            environment.push(("CLAUDE_PROJECT_DIR".into(), self.cwd.clone().into()));
            let launch = Launch {
                processes: processes.scope(),
                environment,
                cwd: self.cwd.clone(),
                http: Http::with_idle_timeout(CALL_LIMIT),
            };
            let source = Box::new(LiveServers::new(files.clone()));
            Mcp::new(source, launch, settings.tools.clone())
        });
        servers.clone()
    }

    fn permission(&self, plan: &Plan, dirs: &Dirs) -> PermissionOptions {
        let Loaded {
            settings, trust, ..
        } = &plan.loaded;
        let rules = settings.permission_rules.rules.iter().chain(&trust.rules);
        let mut policy = Policy::new(settings.permission, rules.cloned().collect());
        policy.keeps_mode = names_mode(&plan.loaded.layers);
        let mut options = permission_options(settings, policy, &self.cwd, dirs);
        let added = plan.loaded.args.add_dir.iter().cloned();
        options.places.writable.extend(added);
        // Only Linux can mount them over the shared ones.
        options.temporary = cfg!(target_os = "linux").then(|| self.temporary.clone());
        options.has_user = plan.front_end.has_user();
        options
    }

    fn rule_source(&self, plan: &Plan, dirs: &Dirs) -> Option<Box<dyn RuleSource>> {
        if self.scratch.is_some() {
            return None;
        }
        let args = &plan.loaded.args;
        let rules = LiveRules::new(dirs.clone(), &self.cwd, args.trust, args.config.clone());
        Some(Box::new(rules))
    }

    /// What a front end needs besides the agent's events.
    pub fn host(
        &self,
        plan: &Plan,
        dirs: &Dirs,
        env: &HashMap<String, String>,
        handle: AgentHandle,
        processes: &Processes,
    ) -> Host {
        let mcp_files = self.mcp_files(plan, dirs, env);
        let Loaded {
            settings,
            keys,
            catalog,
            trust,
            ..
        } = &plan.loaded;
        Host {
            handle,
            dirs: dirs.clone(),
            cwd: self.cwd.clone(),
            models: Arc::clone(&plan.chosen.models),
            secrets: KnownSecrets::new(keys, catalog, &settings.tools.bash_secret_env),
            hidden: settings.tools.bash_hidden.clone(),
            tool_set: self.tool_set(settings, trust.is_trusted(), dirs),
            processes: processes.scope(),
            mcp: self.mcp(plan, &mcp_files, processes),
            mcp_files,
            hooks: self.hooks.get().cloned().unwrap_or_default(),
            is_stored: self.session_file.is_some(),
            trusted: watch::Sender::new(trust.is_trusted()),
            keeps_session: plan.loaded.args.mode == Some(OutputMode::Acp),
        }
    }
}

/// Permissions for calls in `cwd`, by these settings.
pub(super) fn permission_options(
    settings: &Settings,
    policy: Policy,
    cwd: &Path,
    dirs: &Dirs,
) -> PermissionOptions {
    PermissionOptions {
        policy,
        places: Places {
            cwd: cwd.to_owned(),
            // On Linux the session has its own temporary folder. Elsewhere commands share files
            // with the file tools through the system's, and models write to `/tmp` even if TMPDIR
            // differs.
            temporary: if cfg!(target_os = "linux") {
                Vec::new()
            } else {
                vec![std::env::temp_dir(), PathBuf::from("/tmp")]
            },
            private: None,
            writable: settings.places.writable.clone(),
            caches: settings.places.caches.clone(),
            protected: settings.places.protected.clone(),
            home: dirs.home.clone(),
            own: vec![dirs.config.clone(), dirs.data.clone(), dirs.state.clone()],
            readable: Vec::new(),
        },
        temporary: None,
        has_user: false,
    }
}

/// Redacts secrets in tool output, unless the user turned that off.
fn redactor(plan: &Plan) -> LazyRedactor {
    let Loaded {
        settings,
        keys,
        catalog,
        ..
    } = &plan.loaded;
    let secrets = settings
        .redact
        .then(|| KnownSecrets::new(keys, catalog, &settings.tools.bash_secret_env));
    secrets.map_or_else(LazyRedactor::default, |secrets| {
        LazyRedactor::new(move || secrets.redactor())
    })
}

impl Drop for RunContext {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.temporary);
        if self.session_file.is_none() {
            let _ = fs::remove_dir_all(&self.spill_dir);
        }
    }
}
