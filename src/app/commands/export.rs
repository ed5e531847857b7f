//! `/export`: writes the session to a file for other people.

use super::{Run, Running, SlashCommand};
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::export::{default_folder, export_on_request};
use crate::app::host::Host;
use tokio::task::spawn_blocking;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "export",
        help: "Export the session to HTML, Markdown or JSONL",
        scope: Scope::Everywhere,
        group: Group::Sessions,
        slash: Some("export"),
        argument: Some("FILE"),
    },
    arguments: &[
        ("--branch", "current branch only"),
        ("--force", "overwrite an existing file"),
        ("session.html", "one page for a browser"),
        ("session.md", "Markdown, current branch"),
        ("session.jsonl", "the stored session, keys removed"),
    ],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, argument: &'a str) -> Running<'a> {
    Box::pin(async move {
        let file = host.session_file().await?;
        let (argument, cwd) = (argument.to_owned(), host.cwd.clone());
        let exports = host.dirs.exports();
        let redactor = host.secrets.redactor();
        let written = spawn_blocking(move || {
            let folder = default_folder(&cwd, exports);
            export_on_request(&file, &argument, (&cwd, &folder), &redactor)
        });
        written.await.map_err(|panic| panic.to_string())?
    })
}
