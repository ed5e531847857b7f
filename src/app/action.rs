//! THE TABLE: everything a person can trigger, once.
//!
//! Keys, slash commands, help and the key table of the README are readings of it. The default keys
//! stand in `assets/keymap.toml`, in the form a user's own file has; a test keeps the two complete
//! against each other. What an action does is `update`'s business, never this file's.

#![allow(
    clippy::enum_glob_use,
    reason = "a table of forty rows reads better without prefixes"
)]

use Action::*;
use Group::*;
use When::*;

/// One thing a person can trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Send the text, or queue it as steering.
    Submit,
    /// Send the text, or queue it for after the run.
    FollowUp,
    /// Deliver waiting steering at once, or go on at the limit.
    SteerNow,
    /// Take waiting messages back into the editor.
    TakeBack,
    /// Stop the run; close what is open.
    Cancel,
    /// Stop the run, clear the editor, or leave.
    Interrupt,
    /// Leave on an empty editor, else delete forward.
    Quit,
    /// Stop the program until the shell continues it.
    Suspend,
    /// Show the keys.
    Help,
    /// Edit the text in `$VISUAL` or `$EDITOR`.
    ExternalEditor,
    /// Search earlier prompts.
    HistorySearch,
    /// Choose a model.
    Models,
    /// The next model of the favourites.
    NextModel,
    /// The one before.
    PreviousModel,
    /// Think harder.
    ThinkingUp,
    /// Think less.
    ThinkingDown,
    /// Say or set how hard the model thinks.
    Thinking,
    /// Make the model the default.
    SaveModel,
    /// Fold or open all tool output.
    ToggleOutput,
    /// Fold or open all thinking.
    ToggleThinking,
    /// Fold or open one cell.
    ToggleCell,
    /// Scroll up a page.
    PageUp,
    /// Scroll down a page.
    PageDown,
    /// Scroll to the first line.
    ScrollTop,
    /// Scroll to the end and follow it.
    ScrollBottom,
    /// Scroll to the prompt before.
    PreviousPrompt,
    /// Scroll to the next prompt.
    NextPrompt,
    /// List the iterations.
    Iterations,
    /// Start a new line.
    Newline,
    /// Move left.
    Left,
    /// Move right.
    Right,
    /// Move up, or to the earlier prompt.
    Up,
    /// Move down, or to the later prompt.
    Down,
    /// Move a word left.
    WordLeft,
    /// Move a word right.
    WordRight,
    /// Move to the start of the line.
    LineStart,
    /// Move to the end of the line.
    LineEnd,
    /// Delete the character before.
    DeleteBackward,
    /// Delete the character under the caret.
    DeleteForward,
    /// Cut back to the last space.
    CutToSpaceBackward,
    /// Cut the word before.
    CutWordBackward,
    /// Cut the word after.
    CutWordForward,
    /// Cut to the start of the line.
    CutToStart,
    /// Cut to the end of the line.
    CutToEnd,
    /// Insert what was cut last.
    Yank,
    /// Replace the inserted text by what was cut before it.
    YankPop,
    /// Undo.
    Undo,
    /// Redo.
    Redo,
}

/// When an action is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Only while nothing runs.
    Idle,
    /// Only while a run is under way.
    Running,
    /// Always.
    Always,
}

/// The heading an action stands under in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Sending and stopping.
    Talking,
    /// Who answers.
    Model,
    /// Looking at the transcript.
    Looking,
    /// Writing in the editor.
    Writing,
    /// The program itself.
    Program,
}

impl Group {
    /// All groups in the order of the help.
    pub const ALL: [Self; 5] = [Talking, Model, Looking, Writing, Program];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Talking => "Talking to the model",
            Model => "Choosing the model",
            Looking => "Looking around",
            Writing => "Writing",
            Program => "The program",
        }
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// What it is.
    pub action: Action,
    /// Its name in key files.
    pub name: &'static str,
    /// A few words for menus and messages.
    pub title: &'static str,
    /// What it does, for the help.
    pub help: &'static str,
    /// When it is allowed.
    pub when: When,
    /// The heading it stands under.
    pub group: Group,
    /// The command that triggers it when it is all that was typed, without the slash.
    pub slash: Option<&'static str>,
    /// What may stand behind the command, for the help; nothing may when there is none.
    pub argument: Option<&'static str>,
}

/// The table, in the order of the help.
#[rustfmt::skip]
pub const ACTIONS: &[Spec] = &[
    row(Submit, "submit", "Send", "Send the text; while a run is under way it waits as steering and goes out before the next tool or model call. On the empty editor: go on after a limit or a failure, or retry now", Always, Talking),
    row(FollowUp, "follow_up", "Send afterwards", "Send the text; while a run is under way it waits until the run is done", Always, Talking),
    row(SteerNow, "steer_now", "Steer now", "Queue the text as steering and deliver all waiting steering now, cutting short what runs; without any: as Enter on the empty editor", Always, Talking),
    row(TakeBack, "take_back", "Take back", "Take the waiting messages back into the editor", Running, Talking),
    row(Cancel, "cancel", "Stop", "Stop the run; waiting messages come back into the editor. Closes what is open", Always, Talking),
    row(Interrupt, "interrupt", "Stop, clear, leave", "Stop the run; else clear the editor (the text stays in the history); else, pressed twice within 2 s, leave", Always, Talking),
    argument(row(Models, "models", "Models", "Choose a model from a list: type to filter, Enter chooses, Tab shows more of it; or, with a name, take that one. While a run is under way it counts from the next model call", Always, Model), "model", "NAME"),
    row(NextModel, "next_model", "Next model", "Take the next model of models.favorites (or of those used in this session)", Always, Model),
    row(PreviousModel, "previous_model", "Previous model", "Take the one before (where the terminal tells this key from Ctrl+P)", Always, Model),
    row(ThinkingUp, "thinking_up", "Think harder", "Let the model think harder, as far as it can", Always, Model),
    row(ThinkingDown, "thinking_down", "Think less", "Let the model think less", Always, Model),
    argument(row(Thinking, "thinking", "Thinking", "Say how hard the model thinks, or set it (off, minimal, low, medium, high, xhigh, max)", Always, Model), "thinking", "LEVEL"),
    row(SaveModel, "save_model", "Make it the default", "Make the model the default of new sessions, in config.toml; in the list of models the chosen one", Always, Model),
    row(ToggleOutput, "toggle_output", "Fold tool output", "Fold or open the output of all tools", Always, Looking),
    row(ToggleThinking, "toggle_thinking", "Fold thinking", "Fold or open all thinking", Always, Looking),
    row(ToggleCell, "toggle_cell", "Fold one", "Fold or open the lowest entry on the screen that can fold; a click does it for any", Always, Looking),
    row(PageUp, "page_up", "Page up", "Scroll up a page (the wheel scrolls too)", Always, Looking),
    row(PageDown, "page_down", "Page down", "Scroll down a page", Always, Looking),
    row(ScrollTop, "scroll_top", "To the start", "Scroll to the start of the conversation", Always, Looking),
    row(ScrollBottom, "scroll_bottom", "To the end", "Scroll to the end and follow it", Always, Looking),
    row(PreviousPrompt, "previous_prompt", "Previous prompt", "Scroll to the prompt before", Always, Looking),
    row(NextPrompt, "next_prompt", "Next prompt", "Scroll to the next prompt", Always, Looking),
    slash(row(Iterations, "iterations", "Iterations", "List what happened, one model call after the other: time, tokens, tool calls", Always, Looking), "iterations"),
    row(Newline, "newline", "New line", "Start a new line (so does Enter behind a backslash)", Always, Writing),
    row(Left, "left", "Left", "Move left", Always, Writing),
    row(Right, "right", "Right", "Move right", Always, Writing),
    row(Up, "up", "Up", "Move up; on the first line: the earlier prompt", Always, Writing),
    row(Down, "down", "Down", "Move down; on the last line: the later prompt", Always, Writing),
    row(WordLeft, "word_left", "Word left", "Move a word left", Always, Writing),
    row(WordRight, "word_right", "Word right", "Move a word right", Always, Writing),
    row(LineStart, "line_start", "Line start", "Move to the start of the line", Always, Writing),
    row(LineEnd, "line_end", "Line end", "Move to the end of the line", Always, Writing),
    row(DeleteBackward, "delete_backward", "Delete back", "Delete the character before the caret", Always, Writing),
    row(DeleteForward, "delete_forward", "Delete", "Delete the character under the caret", Always, Writing),
    row(CutToSpaceBackward, "cut_to_space_backward", "Cut to space", "Cut back to the last space", Always, Writing),
    row(CutWordBackward, "cut_word_backward", "Cut word back", "Cut the word before the caret", Always, Writing),
    row(CutWordForward, "cut_word_forward", "Cut word", "Cut the word behind the caret", Always, Writing),
    row(CutToStart, "cut_to_start", "Cut to start", "Cut to the start of the line", Always, Writing),
    row(CutToEnd, "cut_to_end", "Cut to end", "Cut to the end of the line", Always, Writing),
    row(Yank, "yank", "Yank", "Insert what was cut last", Always, Writing),
    row(YankPop, "yank_pop", "Yank earlier", "Replace what was just inserted by what was cut before it", Always, Writing),
    row(Undo, "undo", "Undo", "Undo the last change of the text", Always, Writing),
    row(Redo, "redo", "Redo", "Redo what was undone", Always, Writing),
    row(ExternalEditor, "external_editor", "External editor", "Edit the text in $VISUAL or $EDITOR", Always, Writing),
    row(HistorySearch, "history_search", "Search prompts", "Search earlier prompts", Always, Writing),
    slash(row(Help, "help", "Help", "Show this list of keys", Always, Program), "keys"),
    row(Suspend, "suspend", "Suspend", "Stop tiller until the shell continues it (fg)", Always, Program),
    slash(row(Quit, "quit", "Leave", "Leave on an empty editor (asks while a run is under way); else delete the character under the caret", Always, Program), "quit"),
];

impl Action {
    /// Its row.
    pub fn spec(self) -> &'static Spec {
        ACTIONS
            .iter()
            .find(|spec| spec.action == self)
            .unwrap_or(&ACTIONS[0])
    }

    /// The action of this name in key files.
    pub fn from_name(name: &str) -> Option<Self> {
        ACTIONS
            .iter()
            .find(|spec| spec.name == name)
            .map(|spec| spec.action)
    }

    /// The action behind a slash command (given without the slash), and what stands behind it.
    pub fn from_slash(command: &str) -> Option<(Self, &str)> {
        let command = command.trim();
        let (word, rest) = command
            .split_once(char::is_whitespace)
            .unwrap_or((command, ""));
        let rest = rest.trim();
        ACTIONS
            .iter()
            .filter(|spec| rest.is_empty() || spec.argument.is_some())
            .find(|spec| spec.slash == Some(word))
            .map(|spec| (spec.action, rest))
    }
}

const fn row(
    action: Action,
    name: &'static str,
    title: &'static str,
    help: &'static str,
    when: When,
    group: Group,
) -> Spec {
    Spec {
        action,
        name,
        title,
        help,
        when,
        group,
        slash: None,
        argument: None,
    }
}

const fn slash(spec: Spec, command: &'static str) -> Spec {
    Spec {
        slash: Some(command),
        ..spec
    }
}

const fn argument(spec: Spec, command: &'static str, argument: &'static str) -> Spec {
    Spec {
        argument: Some(argument),
        ..slash(spec, command)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_row_is_its_own() {
        let mut names = HashSet::new();
        let mut actions = HashSet::new();
        for spec in ACTIONS {
            assert!(names.insert(spec.name), "{} twice", spec.name);
            assert!(actions.insert(spec.action), "{} twice", spec.name);
            assert_eq!(spec.action.spec().name, spec.name);
            assert_eq!(Action::from_name(spec.name), Some(spec.action));
        }
    }

    #[test]
    fn slash_commands_find_their_action() {
        assert_eq!(Action::from_slash("quit"), Some((Quit, "")));
        assert_eq!(Action::from_slash("quit now"), None);
        assert_eq!(Action::from_slash("nothing"), None);
        assert_eq!(Action::from_slash("model"), Some((Models, "")));
        let found = Action::from_slash("model  gpt 5 ");
        assert_eq!(found, Some((Models, "gpt 5")));
        assert_eq!(Action::from_slash("models"), None);
    }
}
