//! Scrolling and folding by key.

use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::transcript::{CellClass, ScrollBy};

pub fn act(app: &mut App, action: Action) {
    let by = match action {
        Action::PageUp => ScrollBy::Pages(-1),
        Action::PageDown => ScrollBy::Pages(1),
        Action::ScrollTop => ScrollBy::Top,
        Action::ScrollBottom => ScrollBy::End,
        Action::PreviousPrompt => ScrollBy::PreviousPrompt,
        Action::NextPrompt => ScrollBy::NextPrompt,
        Action::ToggleOutput => return toggle(app, CellClass::Tool),
        Action::ToggleThinking => return toggle(app, CellClass::Thinking),
        Action::ToggleCell => {
            if !app.transcript.toggle_recent() {
                app.say("Nothing here folds", 2000);
            }
            return;
        }
        _ => return,
    };
    app.transcript.scroll(by);
}

fn toggle(app: &mut App, class: CellClass) {
    let fold = app.transcript.fold_of(class).toggled();
    app.transcript.set_all(class, fold);
}
