//! THE TABLE: everything a user can trigger, once.
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

pub use super::action_scope::{Group, Scope};

/// One thing a user can trigger.
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
    /// Mention the picture in the clipboard.
    PasteImage,
    /// Complete the path before the caret.
    Complete,
    /// Search earlier prompts.
    HistorySearch,
    /// Have a summary stand for the conversation so far.
    Compact,
    /// Go back to before the last compaction.
    Uncompact,
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
    /// Fold or open the todo list.
    ToggleTodo,
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
    /// Try a prompt out.
    Try,
    /// Take a trial over.
    KeepTrial,
    /// Go back to before a trial.
    DiscardTrial,
    /// Take back what the last prompt changed in files.
    UndoTurn,
    /// Make changes again that were taken back.
    RedoTurn,
    /// Go back to before a prompt.
    Rewind,
    /// Have the model write an AGENTS.md.
    Init,
    /// Trust the project, or not.
    Trust,
    /// Choose the colors.
    Theme,
    /// Show all keys.
    Keys,
    /// Show what the session has cost and where its time went.
    Stats,
    /// The same, by the name others look for.
    Cost,
    /// Change the settings.
    Settings,
    /// Store a key.
    Login,
    /// Leave the mouse to the terminal, or take it back.
    ToggleMouse,
    /// List the iterations.
    Iterations,
    /// Search the conversation.
    Search,
    /// Copy the last reply.
    CopyReply,
    /// Choose what to copy from a list.
    CopyList,
    /// Select with the keys.
    SelectText,
    /// While selecting: begin here, or end it.
    SelectMark,
    /// While selecting: the same by lines.
    SelectLines,
    /// While selecting: go on at the other end.
    SelectSwap,
    /// While selecting: copy.
    SelectCopy,
    /// While selecting: open what is under the cursor.
    SelectOpen,
    /// Show where the window goes.
    ContextUsage,
    /// Go on with another session.
    Resume,
    /// Begin a new session.
    NewSession,
    /// Name the session.
    NameSession,
    /// Show what is known of the session.
    SessionFacts,
    /// Go on with a copy of the branch.
    CloneSession,
    /// Go on with a copy of a session file.
    ImportSession,
    /// Write the session into a file for others.
    Export,
    /// Show the tree of the session.
    Tree,
    /// Begin another session from an earlier prompt.
    Fork,
    /// Label the last entry.
    Label,
    /// Compare two branches.
    CompareBranches,
    /// Edit the last prompt and send it again.
    EditPrompt,
    /// The next permission mode.
    NextPermissionMode,
    /// Say or set the permission mode.
    PermissionMode,
    /// Say or set what the session may spend.
    Budget,
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
    /// Move to the next such character.
    JumpForward,
    /// Move to the one before.
    JumpBack,
    /// Undo.
    Undo,
    /// Redo.
    Redo,
    /// In a popup or a question: take what is selected.
    Accept,
    /// In a popup: close it.
    Back,
    /// In a list: the row before.
    ListPrevious,
    /// In a list: the next row.
    ListNext,
    /// In the list of models: those without a key too, or not.
    ListAll,
    /// In a list: show or hide the details of the selected row.
    ListDetails,
    /// In the tree: show other entries.
    TreeFilter,
    /// In the tree: the same, the other way round.
    TreeFilterBack,
    /// In the tree: label the chosen entry.
    TreeLabel,
    /// In the list of sessions: those of all folders, or of this one.
    SessionFolders,
    /// In the list of sessions: another name for the selected one.
    SessionRename,
    /// In the list of sessions: the selected one goes to the trash.
    SessionRemove,
    /// In the list of sessions: a copy of the selected one.
    SessionCopy,
    /// In a popup that is only read: the next page.
    PagerNext,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct ActionSpec {
    /// What it is.
    pub action: Action,
    /// Its name in key files.
    pub name: &'static str,
    /// What it does, for the help.
    pub help: &'static str,
    /// Where its keys count.
    pub scope: Scope,
    /// The heading it stands under.
    pub group: Group,
    /// The command that triggers it when it is all that was typed, without the slash.
    pub slash: Option<&'static str>,
    /// What may stand behind the command, for the help; nothing may when there is none.
    pub argument: Option<&'static str>,
}

/// The table, in the order of the help.
#[rustfmt::skip]
pub const ACTIONS: &[ActionSpec] = &[
    row(Submit, "submit", "Send the text; while a run is under way it waits as steering and goes out before the next tool or model call. On the empty editor: go on after a limit or a failure, retry now, or, behind a plan, have it carried out in auto", Talking),
    row(FollowUp, "follow_up", "Send the text; while a run is under way it waits until the run is done", Talking),
    row(SteerNow, "steer_now", "Queue the text as steering and deliver all waiting steering now, cutting short what runs; without any: as Enter on the empty editor, and also send what waits or go on with a session that was cut off", Talking),
    row(TakeBack, "take_back", "Take the waiting messages back into the editor", Talking),
    row(Cancel, "cancel", "Stop the run; waiting messages come back into the editor. Closes what is open", Talking),
    row(Interrupt, "interrupt", "Stop the run; else clear the editor (the text stays in the history); else, pressed twice within 2 s, leave", Talking),
    argument(row(Compact, "compact", "Summarise the conversation to make room; the model goes on from the summary and the latest messages. TEXT is what it should pay attention to. While a run is under way: before the next model call", Talking), "compact", "TEXT"),
    slash(row(Uncompact, "uncompact", "Undo the last compaction: the model reads the whole conversation again. What was said since stays in a branch", Talking), "uncompact"),
    argument(row(Try, "try", "Try a prompt in a copy, to keep or discard: the conversation forks, and in a git repository the files are copied to a worktree, until the trial is kept or discarded", Talking), "try", "PROMPT"),
    slash(row(KeepTrial, "keep_trial", "Keep the open trial: its changes go into your files, all of them or none", Talking), "keep"),
    slash(row(DiscardTrial, "discard_trial", "Discard the open trial: conversation and files are as before it", Talking), "discard"),
    slash(row(UndoTurn, "undo_turn", "Undo what the last prompt changed in files (by tools or by commands); first shows what would change. Again: the prompt before it. What others have changed since stays", Talking), "undo"),
    slash(row(RedoTurn, "redo_turn", "Make the changes again that were taken back last", Talking), "redo"),
    slash(row(Rewind, "rewind", "Go back to before a prompt, which is chosen from a list: conversation and files, or one of them", Talking), "rewind"),
    argument(row(Models, "models", "Choose a model from a list: type to filter, Enter chooses, Tab shows more of it; or, with a name, take that one. While a run is under way it counts from the next model call", Model), "model", "NAME"),
    row(NextModel, "next_model", "Take the next model of models.favorites (or of those used in this session)", Model),
    row(PreviousModel, "previous_model", "Take the one before (where the terminal tells this key from Ctrl+P)", Model),
    row(ThinkingUp, "thinking_up", "Let the model think harder, as far as it can", Model),
    row(ThinkingDown, "thinking_down", "Let the model think less", Model),
    argument(row(Thinking, "thinking", "Show or set how hard the model thinks (off, minimal, low, medium, high, xhigh, max)", Model), "thinking", "LEVEL"),
    row(SaveModel, "save_model", "Make the model the default of new sessions, in config.toml; in the list of models the chosen one", Model),
    row(ToggleOutput, "toggle_output", "Fold or open the output of all tools", Looking),
    row(ToggleThinking, "toggle_thinking", "Fold or open all thinking", Looking),
    row(ToggleCell, "toggle_cell", "Fold or open the lowest entry on the screen that can fold; a click does it for any", Looking),
    slash(row(ToggleTodo, "toggle_todo", "Fold or open the todo list that the model keeps", Looking), "todo"),
    row(PageUp, "page_up", "Scroll up a page (the wheel scrolls too)", Looking),
    row(PageDown, "page_down", "Scroll down a page", Looking),
    row(ScrollTop, "scroll_top", "Scroll to the start of the conversation", Looking),
    row(ScrollBottom, "scroll_bottom", "Scroll to the end and follow it", Looking),
    row(PreviousPrompt, "previous_prompt", "Scroll to the prompt before", Looking),
    row(NextPrompt, "next_prompt", "Scroll to the next prompt", Looking),
    argument(row(Search, "search", "Search the whole conversation, also what is folded away: type, then Enter or Up goes to the match above, Down to the one below", Looking), "find", "TEXT"),
    row(CopyReply, "copy_reply", "Copy the last reply as the model wrote it. With the mouse: a drag, a double or a triple click selects and copies; Ctrl or Alt and a click opens the file in the editor, or the address", Looking),
    slash(row(CopyList, "copy_list", "Choose what to copy from a list: replies, their code, commands, output, prompts; type to find", Looking), "copy"),
    slash(row(SelectText, "select_text", "Select in the conversation with the keys: a cursor is moved as in the editor; Enter copies what is selected, or its line", Looking), "select"),
    slash(row(ContextUsage, "context", "Show what fills the context window: prompt, tools, files, messages, results, and what a compaction would free", Looking), "context"),
    slash(row(Stats, "stats", "Show what the session has cost, what was read and written, and where the time went", Looking), "stats"),
    slash(row(Cost, "cost", "The same as /stats", Looking), "cost"),
    slash(row(Iterations, "iterations", "List what happened, one model call after the other: time, tokens, cost, tool calls; Enter looks into one", Looking), "iterations"),
    slash(row(Tree, "tree", "Show the tree of the session with all its branches: type to filter, Enter goes on from the chosen entry, Alt+Enter with a summary of what is left; a prompt comes back into the editor. Esc twice on the empty editor opens it too", Looking), "tree"),
    slash(row(Fork, "fork", "Begin another session from an earlier prompt, which is chosen from the tree and comes into the editor; this session stays as it is", Looking), "fork"),
    argument(row(Label, "label", "Label the last entry of the conversation, to find it in the tree; alone, take its label away", Looking), "label", "TEXT"),
    argument(row(CompareBranches, "compare_branches", "Compare two branches since they parted: prompts, calls, time, tokens, cost, files. A and B are labels or ids as the tree shows them; without any: this branch and the one it parted from last", Looking), "diff", "A B"),
    row(EditPrompt, "edit_prompt", "Take the last prompt back into the editor; sent again it is another branch", Talking),
    row(NextPermissionMode, "next_permission_mode", "The next permission mode: plan, ask, auto; it is in force from the next call on", Talking),
    argument(row(PermissionMode, "permission_mode", "Show or set the permission mode: plan (nothing is changed), ask (asks before each change), auto (free in the project, commands in a sandbox), full (everything, without a sandbox; asks first)", Talking), "permission", "MODE"),
    argument(row(Budget, "budget", "Show or set the budget of this session: dollars ($5), tokens (200k tokens) or off; counts before the next model call", Talking), "budget", "LIMIT"),
    row(Newline, "newline", "Start a new line (so does Enter behind a backslash)", Writing),
    row(Left, "left", "Move left; this and the other moves select while Shift is held", Writing),
    row(Right, "right", "Move right", Writing),
    row(Up, "up", "Move up; on the first line: the earlier prompt", Writing),
    row(Down, "down", "Move down; on the last line: the later prompt", Writing),
    row(WordLeft, "word_left", "Move a word left", Writing),
    row(WordRight, "word_right", "Move a word right", Writing),
    row(LineStart, "line_start", "Move to the start of the line", Writing),
    row(LineEnd, "line_end", "Move to the end of the line", Writing),
    row(JumpForward, "jump_to_character", "Move to the next character like the one that is typed then", Writing),
    row(JumpBack, "jump_back_to_character", "Move back to one before", Writing),
    row(DeleteBackward, "delete_backward", "Delete the character before the caret", Writing),
    row(DeleteForward, "delete_forward", "Delete the character under the caret", Writing),
    row(CutToSpaceBackward, "cut_to_space_backward", "Cut back to the last space", Writing),
    row(CutWordBackward, "cut_word_backward", "Cut the word before the caret", Writing),
    row(CutWordForward, "cut_word_forward", "Cut the word behind the caret", Writing),
    row(CutToStart, "cut_to_start", "Cut to the start of the line", Writing),
    row(CutToEnd, "cut_to_end", "Cut to the end of the line", Writing),
    row(Yank, "yank", "Insert what was cut last", Writing),
    row(YankPop, "yank_pop", "Replace what was just inserted by what was cut before it", Writing),
    row(Undo, "undo", "Undo the last change of the text", Writing),
    row(Redo, "redo", "Redo what was undone", Writing),
    row(ExternalEditor, "external_editor", "Edit the text in $VISUAL or $EDITOR", Writing),
    row(PasteImage, "paste_image", "Mention the picture in the clipboard; the paths of files that are dragged here, with a picture among them, become mentions too", Writing),
    row(Complete, "complete", "Complete the path before the caret; in the list of commands (`/`) or files (`@`): take the selected one", Writing),
    row(HistorySearch, "history_search", "Search earlier prompts", Writing),
    within(Scope::Popup, row(Accept, "accept", "In lists and questions: take what is selected, confirm the selected answer", Popups)),
    within(Scope::Popup, row(Back, "back", "In lists and popups: close them, go back", Popups)),
    within(Scope::List, row(ListPrevious, "list_previous", "In a list: select the row before (so does Up)", Popups)),
    within(Scope::List, row(ListNext, "list_next", "In a list: select the next row (so does Down)", Popups)),
    within(Scope::List, row(ListAll, "list_all", "In the list of models: show those without a key too, or not", Popups)),
    within(Scope::List, row(ListDetails, "list_details", "In the list of models: show or hide everything about the selected model", Popups)),
    within(Scope::Tree, row(TreeFilter, "tree_filter", "In the tree: show other entries (default, no tools, prompts, labelled, all); Left and Right fold and open branches", Popups)),
    within(Scope::Tree, row(TreeFilterBack, "tree_filter_back", "In the tree: the filters the other way round", Popups)),
    within(Scope::Tree, row(TreeLabel, "tree_label", "In the tree: label the selected entry", Popups)),
    within(Scope::Sessions, row(SessionFolders, "session_folders", "In the list of sessions: show those of all folders, or of this one only", Popups)),
    within(Scope::Sessions, row(SessionRename, "session_rename", "In the list of sessions: give the selected one another name", Popups)),
    within(Scope::Sessions, row(SessionRemove, "session_remove", "In the list of sessions: move the selected one to the trash (asks first)", Popups)),
    within(Scope::Sessions, row(SessionCopy, "session_copy", "In the list of sessions: go on with a copy of the selected one", Popups)),
    within(Scope::Selecting, row(SelectMark, "select_mark", "While selecting: begin a selection at the cursor, or end it (so does Shift with a key that moves)", Popups)),
    within(Scope::Selecting, row(SelectLines, "select_lines", "While selecting: begin a selection of whole lines", Popups)),
    within(Scope::Selecting, row(SelectSwap, "select_swap", "While selecting: go to the other end of the selection", Popups)),
    within(Scope::Selecting, row(SelectCopy, "select_copy", "While selecting: copy what is selected, or the line (so does Enter)", Popups)),
    within(Scope::Selecting, row(SelectOpen, "select_open", "While selecting: open the file or the address under the cursor", Popups)),
    within(Scope::Pager, row(PagerNext, "pager_next", "In a popup that is only read: scroll down a page (so does PageDown); what you type goes into the editor", Popups)),
    slash(row(Resume, "resume", "Go on with another session: type to find it by its name, its prompts or its text, Enter opens it", Program), "resume"),
    slash(row(NewSession, "new_session", "Begin a new session; the one before stays as it is", Program), "new"),
    slash(row(SessionFacts, "session_facts", "Show what is known of the session: file, id, name, folder, counts, tokens, cost, size, branches", Program), "session"),
    slash(row(CloneSession, "clone_session", "Go on with a copy of this branch as a session of its own; the one before stays as it is", Program), "clone"),
    argument(row(ImportSession, "import_session", "Go on with a copy of a session file, of tiller or pi", Program), "import", "FILE"),
    argument(row(NameSession, "name_session", "Name the session; alone, take its name away", Program), "name", "NAME"),
    argument(row(Export, "export", "Write the session into a new file of this folder: one HTML page, or what FILE ends with (html, md, jsonl), without any key. `--branch` before FILE: only the current branch; `--force`: replace FILE", Program), "export", "FILE"),
    slash(row(Help, "help", "Show the keys that matter (so does ? on the empty editor); again: all of them", Program), "help"),
    slash(row(Keys, "keys", "Show all keys and commands", Program), "keys"),
    argument(row(Init, "init", "Have the model write an AGENTS.md for this project, or improve the one that is there; TEXT is what you want besides. While a run is under way it waits until that is done", Program), "init", "TEXT"),
    argument(row(Settings, "settings", "Change the settings in a list: type to find one, Enter or Left and Right change it, Delete brings its default back, Ctrl+_ undoes the last change; config.toml keeps them at once, with its comments", Program), "settings", "WORDS"),
    argument(row(Login, "login", "Store the key of a provider, which counts at once: it is asked for and not shown", Program), "login", "PROVIDER"),
    slash(row(ToggleMouse, "toggle_mouse", "Leave the mouse to the terminal, to select with it, or take it back", Program), "mouse"),
    argument(row(Theme, "theme", "Choose the colors from a list that shows them at once: Enter keeps them in config.toml, Esc goes back; or, with a name, take that theme", Program), "theme", "NAME"),
    argument(row(Trust, "trust", "Trust this project from now on, in projects.toml: its AGENTS.md, settings and system prompt count, and what counts when is told. With `no`: never, and nothing asks again", Program), "trust", "no"),
    row(Suspend, "suspend", "Stop tiller until the shell continues it (fg)", Program),
    slash(row(Quit, "quit", "Leave on an empty editor (asks while a run is under way); else delete the character under the caret", Program), "quit"),
];

/// Commands by the names that other agents have for them.
pub(crate) const ALIASES: [(&str, &str); 7] = [
    ("clear", "new"),
    ("exit", "quit"),
    ("status", "session"),
    ("config", "settings"),
    ("permissions", "permission"),
    ("rename", "name"),
    ("effort", "thinking"),
];

impl Action {
    /// Its row.
    pub fn spec(self) -> &'static ActionSpec {
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
        let alias = ALIASES.iter().find(|(alias, _)| *alias == word);
        let word = alias.map_or(word, |(_, command)| command);
        ACTIONS
            .iter()
            .filter(|spec| rest.is_empty() || spec.argument.is_some())
            .find(|spec| spec.slash == Some(word))
            .map(|spec| (spec.action, rest))
    }
}

const fn row(action: Action, name: &'static str, help: &'static str, group: Group) -> ActionSpec {
    ActionSpec {
        action,
        name,
        help,
        scope: Scope::Everywhere,
        group,
        slash: None,
        argument: None,
    }
}

const fn within(scope: Scope, spec: ActionSpec) -> ActionSpec {
    ActionSpec { scope, ..spec }
}

const fn slash(spec: ActionSpec, command: &'static str) -> ActionSpec {
    ActionSpec {
        slash: Some(command),
        ..spec
    }
}

const fn argument(spec: ActionSpec, command: &'static str, argument: &'static str) -> ActionSpec {
    ActionSpec {
        argument: Some(argument),
        ..slash(spec, command)
    }
}
