//! Scrolling and folding by key.

use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::popups::CallPage;
use crate::app::tui::transcript::{CellClass, Fold, ScrollBy};

pub fn act(app: &mut App, action: Action) {
    let by = match action {
        Action::PageUp => ScrollBy::Pages(-1),
        Action::PageDown => ScrollBy::Pages(1),
        Action::ScrollTop => ScrollBy::Top,
        Action::ScrollBottom => ScrollBy::End,
        Action::PreviousPrompt => ScrollBy::PreviousPrompt,
        Action::NextPrompt => ScrollBy::NextPrompt,
        Action::ToggleOutput if app.areas.question_cut => {
            app.overlays.push(CallPage::default().into());
            return;
        }
        Action::ToggleOutput => return toggle(app, CellClass::Tool),
        Action::ToggleThinking => return toggle(app, CellClass::Thinking),
        Action::ToggleTodo => return toggle_todo(app),
        Action::ToggleCell => {
            if app.transcript.toggle_recent() {
                app.screen = app.screen.reading();
            } else {
                app.say_for("Nothing to fold here", 2000);
            }
            return;
        }
        _ => return,
    };
    app.screen = match by {
        ScrollBy::End => app.screen.closed(),
        _ => app.screen.reading(),
    };
    app.transcript.scroll(by);
}

/// Leaves the full-screen view and returns to the inline screen. Returns whether it was open.
pub fn stop_reading(app: &mut App) -> bool {
    let reads = app.is_reading();
    if reads {
        app.screen = app.screen.closed();
        app.transcript.scroll(ScrollBy::End);
    }
    reads
}

fn toggle(app: &mut App, class: CellClass) {
    let fold = app.transcript.fold_of(class).toggled();
    app.transcript.set_all(class, fold);
    // Printed rows can't change, so show it on the full screen.
    if fold == Fold::Open {
        app.screen = app.screen.reading();
    }
}

fn toggle_todo(app: &mut App) {
    if app.work.todo.items.is_empty() {
        return drop(app.say("No todo list; the model makes one for longer work"));
    }
    if app.work.todo.is_done() {
        return drop(app.say(format!("todo: {}", app.work.todo.progress())));
    }
    let fold = if app.opens_todo(app.size) {
        Fold::Folded
    } else {
        Fold::Open
    };
    app.todo_fold = Some(fold);
}
