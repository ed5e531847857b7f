//! While the model is still writing a command, starts the checks it needs before it can run. In a large
//! project they take longer than the command. Asks, starts and records nothing.

use futures_util::future::join;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::gate;
use super::link::{RunLink, Turn};
use crate::toolbox::Lookup;
use tiller_llm::{Content, StreamEvent};

/// Looks ahead if `event` starts a call that will run a command.
pub(super) fn look_ahead(link: &RunLink, turn: &Turn, event: &StreamEvent) {
    let StreamEvent::BlockStart {
        block: Content::ToolCall(call),
        ..
    } = event
    else {
        return;
    };
    let Lookup::Tool(tool) = turn.toolbox.find(&call.name) else {
        return;
    };
    let runs_command = gate::effects(&**tool, &json!({ "command": "" })).command;
    if runs_command.is_none() {
        return;
    }
    let (permissions, processes) = (link.env.permissions.clone(), link.processes.clone());
    let (undo, cwd) = (link.env.undo.clone(), link.env.cwd.clone());
    tokio::spawn(async move {
        let folders = permissions.look_ahead(&processes);
        let files = spawn_blocking(move || undo.as_ref().map(|undo| undo.look_ahead(&cwd)));
        join(folders, files).await
    });
}
