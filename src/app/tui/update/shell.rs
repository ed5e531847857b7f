//! The user's own commands: `!command` runs and shares its output with the model in the next
//! message, `!!command` only runs.

use std::path::PathBuf;

use crate::agent::event::ToolStatus;
use crate::agent::tool::CommandDetails;
use crate::app::host::CommandEnd;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::shell::ShellRun;
use crate::app::tui::transcript::ScrollBy;
use crate::llm::Content;

/// Runs a command as typed, including its exclamation marks.
pub fn run(app: &mut App, typed: &str) -> Vec<Effect> {
    let typed = typed.trim();
    let (told, command) = match typed.strip_prefix("!!") {
        Some(command) => (false, command.trim()),
        None => (true, typed.trim_start_matches('!').trim()),
    };
    if command.is_empty() {
        app.say("!cmd shares its output with the model, !!cmd doesn't");
        return Vec::new();
    }
    if let Some(running) = &app.shell {
        let text = format!(
            "`{}` is still running; press Esc to stop it",
            running.details.command
        );
        app.say(text);
        return Vec::new();
    }
    app.composer.take();
    app.shells += 1;
    let run = ShellRun {
        id: format!("shell-{}", app.shells),
        details: CommandDetails {
            command: command.to_owned(),
            ..CommandDetails::default()
        },
        since: app.now,
        told,
    };
    app.transcript.scroll(ScrollBy::End);
    app.transcript.begin_command(&run.id, command, app.now);
    let effect = Effect::RunShell(run.id.clone(), command.to_owned());
    app.shell = Some(run);
    vec![effect]
}

pub fn wrote(app: &mut App, id: &str, details: CommandDetails) {
    if let Some(run) = app.shell.as_mut().filter(|run| run.id == id) {
        run.details = details.clone();
        app.transcript.show_command(id, details);
        app.draft_changed();
    }
}

pub fn ended(app: &mut App, id: &str, end: CommandEnd) {
    let Some(run) = app.shell.take_if(|run| run.id == id) else {
        return;
    };
    if run.told {
        tell(app, end.block());
    }
    let status = match end.failure {
        Some(_) => ToolStatus::Error,
        None => ToolStatus::Ok,
    };
    app.transcript
        .end_command(id, end.details, status, end.failure);
}

/// Leaves the session: output so far stays with it, later output goes to neither session.
pub fn leave(app: &mut App) {
    if let Some(run) = &mut app.shell {
        let block = run.unfinished("still running when the user switched sessions");
        run.told = false;
        if let Some(block) = block {
            tell(app, block);
            app.hint = None;
        }
    }
}

/// Attaches a command's output to the next message.
fn tell(app: &mut App, block: String) {
    app.told.push(block);
    app.save_draft_at = Some(app.now);
    app.say("The model sees this output with your next message");
}

/// Esc or Ctrl+C: stops the running command, if any. Its output so far stays.
pub fn stop(app: &mut App) -> Option<Vec<Effect>> {
    let run = app.shell.take()?;
    // The hint may say that this command is still running.
    app.hint = None;
    if let Some(block) = run.unfinished("stopped") {
        tell(app, block);
    }
    app.transcript
        .end_command(&run.id, run.details, ToolStatus::Cancelled, None);
    Some(vec![Effect::StopShell])
}

pub fn picture(app: &mut App, file: Result<PathBuf, String>) {
    match file {
        Ok(path) => app
            .message_mut()
            .mention(&[path.to_string_lossy().into_owned()]),
        Err(why) => drop(app.say_for(why, 5000)),
    }
}

pub fn along(app: &mut App, mut content: Vec<Content>) -> Vec<Content> {
    content.extend(app.told.drain(..).map(Content::text));
    content
}
