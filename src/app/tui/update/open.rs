//! Opening the file or link under a Ctrl+click or Alt+click.

use crate::agent::NoticeLevel;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TerminalEffect};
use crate::app::tui::effects::open_target::OpenTarget;

pub fn found(app: &mut App, found: Result<OpenTarget, String>) -> Vec<Effect> {
    match found {
        Ok(OpenTarget::File(file, line)) => {
            vec![Effect::Terminal(TerminalEffect::OpenFile(file, line))]
        }
        Ok(OpenTarget::Address(address)) => app.say(format!("Opened {address}")),
        Err(why) => app.say(why),
    }
}

pub fn closed(app: &mut App, closed: Result<(), String>) {
    if let Err(error) = closed {
        app.transcript.push_notice(NoticeLevel::Error, error);
    }
}
