//! THE TABLE: everything a user can trigger, once.
//!
//! Keys, slash commands, help and the key table of the reference are readings of it. The default keys
//! stand in `assets/keymap.toml`, in the form a user's own file has; a test keeps the two complete
//! against each other. What an action does is `update`'s business, never this file's.

pub use super::action_scope::{Group, Scope};

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

/// Makes [`Action`] and [`ACTIONS`] of rows: the action, its name in key files, its help, its group;
/// where its keys count, if not everywhere; its slash command and what may stand behind that, if it has
/// any.
macro_rules! actions {
    ($($action:ident $name:literal $help:literal, $group:ident $(in $scope:ident)?
        $(, slash $slash:literal $($argument:literal)?)?;)*) => {
        /// One thing a user can trigger.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $help] $action,)*
        }

        /// The table, in the order of the help.
        pub const ACTIONS: &[ActionSpec] = &[$(ActionSpec {
            action: Action::$action,
            name: $name,
            help: $help,
            // Of these lists the first counts: the value of the row, else that of all other rows.
            scope: [$(Scope::$scope,)? Scope::Everywhere][0],
            group: Group::$group,
            slash: [$(Some($slash),)? None][0],
            argument: [$($(Some($argument),)?)? None][0],
        },)*];
    };
}

actions! {
    Submit "submit" "Send the text; while a run is under way it waits as steering and goes out before the next tool or model call. On the empty editor: go on after a limit or a failure, retry now, or, behind a plan, have it carried out in auto", Talking;
    FollowUp "follow_up" "Send the text; while a run is under way it waits until the run is done", Talking;
    SteerNow "steer_now" "Queue the text as steering and deliver all waiting steering now, cutting short what runs; without any: as Enter on the empty editor, and also send what waits or go on with a session that was cut off", Talking;
    TakeBack "take_back" "Take the waiting messages back into the editor", Talking;
    Cancel "cancel" "Stop the run; waiting messages come back into the editor. Closes what is open", Talking;
    Interrupt "interrupt" "Stop the run; else clear the editor (the text stays in the history); else, pressed twice within 2 s, leave", Talking;
    Compact "compact" "Summarise the conversation to make room; the model goes on from the summary and the latest messages. TEXT is what it should pay attention to. While a run is under way: before the next model call", Talking, slash "compact" "TEXT";
    Uncompact "uncompact" "Undo the last compaction: the model reads the whole conversation again. What was said since stays in a branch", Talking, slash "uncompact";
    Try "try" "Try a prompt in a copy, to keep or discard: the conversation forks, and in a git repository the files are copied to a worktree, until the trial is kept or discarded", Talking, slash "try" "PROMPT";
    KeepTrial "keep_trial" "Keep the open trial: its changes go into your files, all of them or none", Talking, slash "keep";
    DiscardTrial "discard_trial" "Discard the open trial: conversation and files are as before it", Talking, slash "discard";
    UndoTurn "undo_turn" "Undo what the last prompt changed in files (by tools or by commands); first shows what would change. Again: the prompt before it. What others have changed since stays", Talking, slash "undo";
    RedoTurn "redo_turn" "Make the changes again that were taken back last", Talking, slash "redo";
    Rewind "rewind" "Go back to before a prompt, which is chosen from a list: conversation and files, or one of them", Talking, slash "rewind";
    Models "models" "Choose a model from a list: type to filter, Enter chooses, Tab shows more of it; or, with a name, take that one. While a run is under way it counts from the next model call", Model, slash "model" "NAME";
    NextModel "next_model" "Take the next model of models.favorites (or of those used in this session)", Model;
    PreviousModel "previous_model" "Take the one before (where the terminal tells this key from Ctrl+P)", Model;
    ThinkingUp "thinking_up" "Let the model think harder, as far as it can", Model;
    ThinkingDown "thinking_down" "Let the model think less", Model;
    Thinking "thinking" "Show or set how hard the model thinks (off, minimal, low, medium, high, xhigh, max)", Model, slash "thinking" "LEVEL";
    SaveModel "save_model" "Make the model the default of new sessions, in config.toml; in the list of models the chosen one", Model;
    ToggleOutput "toggle_output" "Fold or open the output of all tools", Looking;
    ToggleThinking "toggle_thinking" "Fold or open all thinking", Looking;
    ToggleCell "toggle_cell" "Fold or open the lowest entry on the screen that can fold; a click does it for any", Looking;
    ToggleTodo "toggle_todo" "Fold or open the todo list that the model keeps", Looking, slash "todo";
    PageUp "page_up" "Scroll up a page (the wheel scrolls too)", Looking;
    PageDown "page_down" "Scroll down a page", Looking;
    ScrollTop "scroll_top" "Scroll to the start of the conversation", Looking;
    ScrollBottom "scroll_bottom" "Scroll to the end and follow it", Looking;
    PreviousPrompt "previous_prompt" "Scroll to the prompt before", Looking;
    NextPrompt "next_prompt" "Scroll to the next prompt", Looking;
    Search "search" "Search the whole conversation, also what is folded away: type, then Enter or Up goes to the match above, Down to the one below", Looking, slash "find" "TEXT";
    CopyReply "copy_reply" "Copy the last reply as the model wrote it. With the mouse: a drag, a double or a triple click selects and copies; Ctrl or Alt and a click opens the file in the editor, or the address", Looking;
    CopyList "copy_list" "Choose what to copy from a list: replies, their code, commands, output, prompts; type to find", Looking, slash "copy";
    SelectText "select_text" "Select in the conversation with the keys: a cursor is moved as in the editor; Enter copies what is selected, or its line", Looking, slash "select";
    ContextUsage "context" "Show what fills the context window: prompt, tools, files, messages, results, and what a compaction would free", Looking, slash "context";
    Stats "stats" "Show what the session has cost, what was read and written, and where the time went", Looking, slash "stats";
    Cost "cost" "The same as /stats", Looking, slash "cost";
    Iterations "iterations" "List what happened, one model call after the other: time, tokens, cost, tool calls; Enter looks into one", Looking, slash "iterations";
    Tree "tree" "Show the tree of the session with all its branches: type to filter, Enter goes on from the chosen entry, Alt+Enter with a summary of what is left; a prompt comes back into the editor. Esc twice on the empty editor opens it too", Looking, slash "tree";
    Fork "fork" "Begin another session from an earlier prompt, which is chosen from the tree and comes into the editor; this session stays as it is", Looking, slash "fork";
    Label "label" "Label the last entry of the conversation, to find it in the tree; alone, take its label away", Looking, slash "label" "TEXT";
    CompareBranches "compare_branches" "Compare two branches since they parted: prompts, calls, time, tokens, cost, files. A and B are labels or ids as the tree shows them; without any: this branch and the one it parted from last", Looking, slash "diff" "A B";
    EditPrompt "edit_prompt" "Take the last prompt back into the editor; sent again it is another branch", Talking;
    NextPermissionMode "next_permission_mode" "The next permission mode: plan, ask, auto; it is in force from the next call on", Talking;
    PermissionMode "permission_mode" "Show or set the permission mode: plan (nothing is changed), ask (asks before each change), auto (free in the project, commands in a sandbox), full (everything, without a sandbox; asks first)", Talking, slash "permission" "MODE";
    Budget "budget" "Show or set the budget of this session: dollars ($5), tokens (200k tokens) or off; counts before the next model call", Talking, slash "budget" "LIMIT";
    Newline "newline" "Start a new line (so does Enter behind a backslash)", Writing;
    Left "left" "Move left; this and the other moves select while Shift is held", Writing;
    Right "right" "Move right", Writing;
    Up "up" "Move up; on the first line: the earlier prompt", Writing;
    Down "down" "Move down; on the last line: the later prompt", Writing;
    WordLeft "word_left" "Move a word left", Writing;
    WordRight "word_right" "Move a word right", Writing;
    LineStart "line_start" "Move to the start of the line", Writing;
    LineEnd "line_end" "Move to the end of the line", Writing;
    JumpForward "jump_to_character" "Move to the next character like the one that is typed then", Writing;
    JumpBack "jump_back_to_character" "Move back to one before", Writing;
    DeleteBackward "delete_backward" "Delete the character before the caret", Writing;
    DeleteForward "delete_forward" "Delete the character under the caret", Writing;
    CutToSpaceBackward "cut_to_space_backward" "Cut back to the last space", Writing;
    CutWordBackward "cut_word_backward" "Cut the word before the caret", Writing;
    CutWordForward "cut_word_forward" "Cut the word behind the caret", Writing;
    CutToStart "cut_to_start" "Cut to the start of the line", Writing;
    CutToEnd "cut_to_end" "Cut to the end of the line", Writing;
    Yank "yank" "Insert what was cut last", Writing;
    YankPop "yank_pop" "Replace what was just inserted by what was cut before it", Writing;
    Undo "undo" "Undo the last change of the text", Writing;
    Redo "redo" "Redo what was undone", Writing;
    ExternalEditor "external_editor" "Edit the text in $VISUAL or $EDITOR", Writing;
    PasteImage "paste_image" "Mention the picture in the clipboard; the paths of files that are dragged here, with a picture among them, become mentions too", Writing;
    Complete "complete" "Complete the path before the caret; in the list of commands (`/`) or files (`@`): take the selected one", Writing;
    HistorySearch "history_search" "Search earlier prompts", Writing;
    Accept "accept" "In lists and questions: take what is selected, confirm the selected answer", Popups in Popup;
    Back "back" "In lists and popups: close them, go back", Popups in Popup;
    ListPrevious "list_previous" "In a list: select the row before (so does Up)", Popups in List;
    ListNext "list_next" "In a list: select the next row (so does Down)", Popups in List;
    ListAll "list_all" "In the list of models: show those without a key too, or not", Popups in List;
    ListDetails "list_details" "In the list of models: show or hide everything about the selected model", Popups in List;
    TreeFilter "tree_filter" "In the tree: show other entries (default, no tools, prompts, labelled, all); Left and Right fold and open branches", Popups in Tree;
    TreeFilterBack "tree_filter_back" "In the tree: the filters the other way round", Popups in Tree;
    TreeLabel "tree_label" "In the tree: label the selected entry", Popups in Tree;
    SessionFolders "session_folders" "In the list of sessions: show those of all folders, or of this one only", Popups in Sessions;
    SessionRename "session_rename" "In the list of sessions: give the selected one another name", Popups in Sessions;
    SessionRemove "session_remove" "In the list of sessions: move the selected one to the trash (asks first)", Popups in Sessions;
    SessionCopy "session_copy" "In the list of sessions: go on with a copy of the selected one", Popups in Sessions;
    SelectMark "select_mark" "While selecting: begin a selection at the cursor, or end it (so does Shift with a key that moves)", Popups in Selecting;
    SelectLines "select_lines" "While selecting: begin a selection of whole lines", Popups in Selecting;
    SelectSwap "select_swap" "While selecting: go to the other end of the selection", Popups in Selecting;
    SelectCopy "select_copy" "While selecting: copy what is selected, or the line (so does Enter)", Popups in Selecting;
    SelectOpen "select_open" "While selecting: open the file or the address under the cursor", Popups in Selecting;
    PagerNext "pager_next" "In a popup that is only read: scroll down a page (so does PageDown); what you type goes into the editor", Popups in Pager;
    Resume "resume" "Go on with another session: type to find it by its name, its prompts or its text, Enter opens it", Program, slash "resume";
    NewSession "new_session" "Begin a new session; the one before stays as it is", Program, slash "new";
    SessionFacts "session_facts" "Show what is known of the session: file, id, name, folder, counts, tokens, cost, size, branches", Program, slash "session";
    CloneSession "clone_session" "Go on with a copy of this branch as a session of its own; the one before stays as it is", Program, slash "clone";
    ImportSession "import_session" "Go on with a copy of a session file, of tiller or pi", Program, slash "import" "FILE";
    NameSession "name_session" "Name the session; alone, take its name away", Program, slash "name" "NAME";
    Export "export" "Write the session into a new file of this folder: one HTML page, or what FILE ends with (html, md, jsonl), without any key. `--branch` before FILE: only the current branch; `--force`: replace FILE", Program, slash "export" "FILE";
    Help "help" "Show the keys that matter (so does ? on the empty editor); again: all of them", Program, slash "help";
    Keys "keys" "Show all keys and commands", Program, slash "keys";
    Init "init" "Have the model write an AGENTS.md for this project, or improve the one that is there; TEXT is what you want besides. While a run is under way it waits until that is done", Program, slash "init" "TEXT";
    Settings "settings" "Change the settings in a list: type to find one, Enter or Left and Right change it, Delete brings its default back, Ctrl+_ undoes the last change; config.toml keeps them at once, with its comments", Program, slash "settings" "WORDS";
    Login "login" "Store the key of a provider, which counts at once: it is asked for and not shown", Program, slash "login" "PROVIDER";
    ToggleMouse "toggle_mouse" "Leave the mouse to the terminal, to select with it, or take it back", Program, slash "mouse";
    Theme "theme" "Choose the colors from a list that shows them at once: Enter keeps them in config.toml, Esc goes back; or, with a name, take that theme", Program, slash "theme" "NAME";
    Trust "trust" "Trust this project from now on, in projects.toml: its AGENTS.md, settings and system prompt count, and what counts when is told. With `no`: never, and nothing asks again", Program, slash "trust" "no";
    Suspend "suspend" "Stop tiller until the shell continues it (fg)", Program;
    Quit "quit" "Leave on an empty editor (asks while a run is under way); else delete the character under the caret", Program, slash "quit";
}

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
