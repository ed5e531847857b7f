//! The full screen as one of the front ends, and what else only a build with it has.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Handle;

use super::run_context::RunContext;
use super::runtime::current_thread;
use crate::agent::permission::PermissionMode;
use crate::agent::session::folder::folder_for;
use crate::agent::session::{HistoryFacts, Session, SessionBranch, StoredSession};
use crate::agent::{AgentHandle, SlowReader};
use crate::app::cli::{DocsTerminal, ScreenOffer};
use crate::app::color_depth::color_depth;
use crate::app::config::{Layers, Settings, overrides};
use crate::app::dirs::Dirs;
use crate::app::host::Host;
use crate::app::out;
use crate::app::outcome::StartError;
use crate::app::plan::{Loaded, Plan};
use crate::app::project::Project;
use crate::app::serve::OpenScreen;
use crate::app::sessions::title_of;
use crate::app::trust::has_foreign_permissions;
use crate::app::tui::app::{SessionInfo, Start, Status};
use crate::app::tui::composer::DraftFile;
use crate::app::tui::keymap::Keymap;
use crate::app::tui::layout::MEASURE;
use crate::app::tui::theme::{AUTO, ThemeChoice, Themes};
use crate::app::tui::{self, ExitKind, LentTerminal, Tty, TuiOptions};
use crate::llm::Model;
use crate::llm::local::LocalServer;
use crate::llm::scripted::demo_script;

const MUST_CHOOSE: &str =
    "Your default model can't be used. Choose another with /model; until then tiller sends nothing";

/// The session as the first frame shows it.
pub(super) struct Shown {
    session: Option<SessionInfo>,
    history: (Arc<SessionBranch>, HistoryFacts),
}

impl Shown {
    pub fn of(session: &Session, facts: &HistoryFacts) -> Self {
        Self {
            session: session.path().map(|file| SessionInfo {
                name: session.tree().name().map(str::to_owned),
                is_read_only: session.is_read_only(),
                title: title_of(&session.first_prompt().unwrap_or_default()),
                file: file.to_owned(),
            }),
            history: (Arc::new(session.branch()), facts.clone()),
        }
    }
}

/// Shows the screen until the user leaves it. Returns the exit code, and the arguments of the program to
/// continue with, if any: in another session or folder it has this run's flags.
pub(super) async fn run(
    context: &RunContext,
    plan: &Plan,
    shown: Shown,
    (host, handle): (Host, &AgentHandle),
    dirs: &Dirs,
) -> Result<(u8, Option<Vec<OsString>>), StartError> {
    let tty = Tty::own().map_err(|error| StartError::failed(format!("no terminal: {error}")))?;
    let options = options(context, plan, shown, host, Arc::new(tty));
    // On the heap, or this future would hold all of the screen's state.
    let end = Box::pin(tui::run(options)).await;
    if let Some(unsaved) = handle.shutdown().await {
        out::eprint_error(unsaved);
    }
    let code = end.code();
    let args = &plan.loaded.args;
    let again = match end {
        ExitKind::Unusable(why) => return Err(StartError::usage(why)),
        ExitKind::Reopen(session) => {
            let session = vec!["--session".into(), session.into()];
            Some([session, args.for_other_folder()].concat())
        }
        ExitKind::Attach(session) => {
            let id = StoredSession::at(&session).id;
            Some(vec!["attach".into(), id.into()])
        }
        ExitKind::Anew(model, draft) => {
            // For the next program that opens a session there.
            let folder = folder_for(&dirs.drafts(), &plan.loaded.cwd);
            if !args.no_session
                && let Err(error) = DraftFile::new(folder).save(&draft)
            {
                tracing::warn!("what was typed in the demo is lost: {error}");
            }
            let mut args = args.clone();
            args.model = model.or(args.model);
            let folder = args.for_folder(&plan.loaded.cwd);
            Some([folder, args.for_other_folder()].concat())
        }
        _ => None,
    };
    Ok((code, again))
}

/// The terminal on stdout, to lay out pages for it.
pub(super) fn docs_terminal<'a>(
    var: impl Fn(&str) -> &'a str,
    pager: &str,
) -> Option<DocsTerminal> {
    let size = Tty::own().ok()?.size();
    let columns = usize::from(size.width.min(MEASURE));
    let depth = color_depth(var);
    Some(DocsTerminal {
        rows: usize::from(size.height),
        pager: pager.to_owned(),
        lay_out: Box::new(move |markdown| tui::ansi_markdown(markdown, columns, depth)),
    })
}

/// The names of all themes, with those in the user's `folder`.
pub(super) fn theme_names(folder: &Path) -> Vec<String> {
    Themes::read(folder).names().map(str::to_owned).collect()
}

/// The errors in the user's keymap.
pub(super) fn wrong_keys(file: &Path) -> Vec<String> {
    let (_, wrong) = Keymap::load(file);
    wrong.iter().map(ToString::to_string).collect()
}

fn options(
    context: &RunContext,
    plan: &Plan,
    shown: Shown,
    host: Host,
    tty: Arc<Tty>,
) -> TuiOptions {
    let Loaded { settings, keys, .. } = &plan.loaded;
    let mut notices = Vec::new();
    if context.scratch.is_none() {
        if settings.model.is_empty()
            && let Some(server) = LocalServer::from_id(&context.model.provider)
        {
            notices.push(format!(
                "No API key found; using {} on this machine",
                server.facts().title
            ));
        }
        if settings.permission == PermissionMode::Full {
            notices.push(
                "Full mode: no questions, no sandbox. Use it only in a container or VM".to_owned(),
            );
        }
        notices.extend(plan.loaded.faults());
        if plan.chosen.is_substitute {
            notices.push(MUST_CHOOSE.to_owned());
        }
        notices.extend(plan.loaded.trust.undecided().map(|files| {
            format!("Folder not trusted, so tiller ignores: {files}. To use them: /trust")
        }));
        // Until the user has rules here.
        if settings.permission_rules.rules.is_empty()
            && (host.dirs.home.as_deref()).is_some_and(has_foreign_permissions)
        {
            notices.push(
                "The permissions in ~/.claude/settings.json don't apply here: \
                 tiller docs coming-from#your-permission-lists"
                    .to_owned(),
            );
        }
    }
    notices.extend(keys.store().notice().map(str::to_owned));
    notices.extend_from_slice(&context.notices);
    TuiOptions {
        events: host.handle.subscribe(SlowReader::Drop),
        project: project(context, plan, &host),
        status: Status {
            session: shown.session,
            permission: settings.permission,
            budget: settings.budget,
            waiting: context.scratch.is_some().then(|| plan.loaded.cwd.clone()),
            ..Status::new(&context.cwd, context.model.clone(), context.thinking)
        },
        start: Start {
            prompt: plan.prompt.clone(),
            demo: context.scratch.is_some().then(|| (demo_script().prompt, 0)),
            demo_asked: plan.loaded.args.demo,
            history: shown.history,
            resume: plan.loaded.args.resume.as_deref() == Some(""),
            refused: plan.loaded.refused.clone(),
            recent: None,
            asks_trust: context.scratch.is_none() && plan.loaded.trust.undecided().is_some(),
            no_key: (plan.chosen.models.missing_key(&context.model.provider))
                .filter(|error| error.to_string().contains("/login"))
                .map(|_| context.model.provider.clone()),
            must_choose: plan.chosen.is_substitute && context.scratch.is_none(),
            notices,
            client: 0,
            draft_elsewhere: None,
        },
        notify: settings.notify,
        manners: settings.manners,
        theme: theme(settings, &plan.loaded.layers),
        host,
        overrides: overrides(&plan.loaded.layers).into(),
        tty,
        joining: None,
    }
}

fn project(context: &RunContext, plan: &Plan, host: &Host) -> Option<Project> {
    let Loaded { trust, layers, .. } = &plan.loaded;
    let file = host.dirs.config_file();
    (context.scratch.is_none())
        .then(|| Project::new(trust.clone(), layers.clone(), file, host.trusted.clone()))
}

fn theme(settings: &Settings, layers: &Layers) -> ThemeChoice {
    let setting = layers.fault("ui.theme", "");
    ThemeChoice {
        setting: (settings.theme != AUTO).then(|| setting.trim_end_matches(": ").to_owned()),
        wanted: settings.theme.clone(),
        for_dark: settings.theme_dark.clone(),
        for_light: settings.theme_light.clone(),
        ..ThemeChoice::default()
    }
}

/// Opens screens in the terminals of clients that attach to the session.
#[allow(
    clippy::unnecessary_wraps,
    reason = "a build without the screen has none"
)]
pub(super) fn for_clients(context: &RunContext, plan: &Plan, host: &Host) -> Option<OpenScreen> {
    let Loaded {
        settings, layers, ..
    } = &plan.loaded;
    let (notify, manners, theme) = (settings.notify, settings.manners, theme(settings, layers));
    let overrides: Arc<[_]> = overrides(layers).into();
    let project = project(context, plan, host);
    let (host, runtime) = (host.clone(), Handle::current());
    let clients = AtomicU64::new(1);
    Some(Arc::new(move |request| {
        let terminal = request.terminal.clone();
        let tty = Arc::new(Tty::of_client(request).map_err(|error| {
            format!(
                "it can't open your terminal {}: {error}",
                terminal.display()
            )
        })?);
        let client = clients.fetch_add(1, Ordering::Relaxed);
        let host = Host {
            handle: host.handle.for_client(client),
            ..host.clone()
        };
        let runtime = runtime.clone();
        let (theme, overrides, project) = (theme.clone(), Arc::clone(&overrides), project.clone());
        Ok(Box::new(move |stream| {
            let Some((now, events)) = runtime.block_on(host.handle.resubscribe()) else {
                return;
            };
            let session = now.session.clone();
            let status = Status {
                session: session.path.map(|file| SessionInfo {
                    name: session.name,
                    is_read_only: session.read_only,
                    title: title_of(&session.first_prompt.unwrap_or_default()),
                    file,
                }),
                permission: now.permission,
                budget: now.budget,
                total: now.usage.clone(),
                ..Status::new(&host.cwd, Model::clone(&now.model), now.thinking)
            };
            tui::show_attached(&runtime, stream, now, |joining| TuiOptions {
                events,
                project,
                status,
                start: Start {
                    client,
                    ..Start::default()
                },
                notify,
                manners,
                theme,
                host,
                overrides,
                tty,
                joining: Some(joining),
            });
        }))
    }))
}

/// The terminal of `tiller attach`, to lend to the session's program; `None` if stdin or stdout isn't one.
pub(super) fn to_lend() -> Option<ScreenOffer> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return None;
    }
    let (terminal, request) = LentTerminal::new().ok()?;
    let lend = move |stream| {
        let runtime = current_thread().map_err(io::Error::other)?;
        let ended = runtime.block_on(terminal.lend(stream));
        runtime.shutdown_background();
        ended
    };
    Some((request, Box::new(lend)))
}
