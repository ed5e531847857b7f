//! THE TABLE of everything a user can trigger on the screen. The rows of [`commands`],
//! which every front end runs, follow it.
//!
//! Keys, slash commands, the help and the key table of the docs all come from both. The default keys are
//! in `assets/keymap.toml`, in the format of a user's key file. A test checks that it lists every
//! action. `update` decides what an action does.

pub use super::action_scope::{Group, Scope};
use super::commands::{self, SlashCommand};

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionSpec {
    /// The action.
    pub action: Action,
    /// Its name in key files.
    pub name: &'static str,
    /// A short help text.
    pub help: &'static str,
    /// Where its keys work.
    pub scope: Scope,
    /// Its heading in the help.
    pub group: Group,
    /// Its command without the slash, if it has one.
    pub slash: Option<&'static str>,
    /// The argument of its command, if any.
    pub argument: Option<&'static str>,
}

/// Builds [`Action`] and [`ACTIONS`] from rows: action, name in key files, help, group, scope (if not
/// everywhere), command and its argument (if any).
macro_rules! actions {
    ($($action:ident $name:literal $help:literal, $group:ident $(in $scope:ident)?
        $(, slash $slash:literal $($argument:literal)?)?;)*) => {
        /// One thing a user can trigger.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $help] $action,)*
            /// A command that every front end runs.
            Command(&'static SlashCommand),
        }

        /// The table, in the order of the help.
        const ACTIONS: &[ActionSpec] = &[$(ActionSpec {
            action: Action::$action,
            name: $name,
            help: $help,
            // The first value: that of the row, or else the default.
            scope: [$(Scope::$scope,)? Scope::Everywhere][0],
            group: Group::$group,
            slash: [$(Some($slash),)? None][0],
            argument: [$($(Some($argument),)?)? None][0],
        },)*];

        impl Action {
            /// Its row of the table, for a constant.
            ///
            /// # Panics
            /// Panics for a command, which is not in the table.
            pub(super) const fn row(self) -> ActionSpec {
                #[derive(Clone, Copy)]
                enum Row { $($action,)* }
                match self {
                    $(Self::$action => ACTIONS[Row::$action as usize],)*
                    Self::Command(_) => panic!("a command has its own row"),
                }
            }
        }
    };
}

actions! {
    Submit "submit" "Send. While the agent works: steer it", Sending;
    FollowUp "follow_up" "Queue the text until the agent is done", Sending;
    SteerNow "steer_now" "Steer at once, cutting short what's running", Sending;
    TakeBack "take_back" "Take the queued messages back to edit them", Sending;
    Cancel "cancel" "Stop the agent, or close what's open", Stopping;
    Interrupt "interrupt" "Stop the agent, or clear the prompt. Twice: quit", Stopping;
    EditPrompt "edit_prompt" "Edit your last prompt and send it again", Stopping;
    UndoTurn "undo_turn" "Undo the file changes of the last prompt", Stopping, slash "undo";
    RedoTurn "redo_turn" "Redo the changes you undid last", Stopping, slash "redo";
    Rewind "rewind" "Go back to an earlier prompt: files, conversation or both", Stopping, slash "rewind";
    Try "try" "Try a prompt in a copy, then keep or discard it", Stopping, slash "try" "PROMPT";
    Models "models" "Choose a model", Model, slash "model" "NAME";
    NextModel "next_model" "Switch to the next favorite model", Model;
    PreviousModel "previous_model" "Switch to the previous favorite model", Model;
    ThinkingUp "thinking_up" "Raise the thinking level", Model;
    ThinkingDown "thinking_down" "Lower the thinking level", Model;
    Thinking "thinking" "Show or set the thinking level", Model, slash "thinking" "LEVEL";
    SaveModel "save_model" "Make a model the default for new sessions (in /model)", Model;
    Status "status" "Show cost, context window, session and model calls", Model, slash "status" "[PART]";
    NewSession "new_session" "Start a new session", Sessions, slash "new";
    Resume "resume" "Open another session", Sessions, slash "resume" "[WORDS]";
    CloneSession "clone_session" "Continue in a copy of this session", Sessions, slash "clone";
    Tree "tree" "Show all branches of the session (also Esc twice)", Sessions, slash "tree";
    Fork "fork" "Start a new session from an earlier prompt", Sessions, slash "fork";
    NextPermissionMode "next_permission_mode" "Switch the mode: plan, ask, auto", Permissions;
    PermissionMode "permission_mode" "Show or set the mode: plan, ask, auto, full", Permissions, slash "permission" "MODE";
    Trust "trust" "Trust this folder: load its AGENTS.md and settings", Permissions, slash "trust" "[no]";
    ToggleOutput "toggle_output" "Show or hide all tool output", Looking;
    ToggleThinking "toggle_thinking" "Show or hide all thinking", Looking;
    ToggleCell "toggle_cell" "Show or hide the lowest entry that folds", Looking;
    ToggleTodo "toggle_todo" "Show or hide the todo list", Looking, slash "todo";
    PageUp "page_up" "Scroll up a page", Looking;
    PageDown "page_down" "Scroll down a page", Looking;
    ScrollTop "scroll_top" "Scroll to the start", Looking;
    ScrollBottom "scroll_bottom" "Scroll to the end and follow it", Looking;
    PreviousPrompt "previous_prompt" "Scroll to the previous prompt", Looking;
    NextPrompt "next_prompt" "Scroll to the next prompt", Looking;
    Search "search" "Search the conversation", Looking, slash "find" "TEXT";
    CopyReply "copy_reply" "Copy the last reply", Looking;
    CopyList "copy_list" "Copy a reply, code, command or output from a list", Looking, slash "copy";
    SelectText "select_text" "Select text with the keyboard", Looking, slash "select";
    ToggleMouse "toggle_mouse" "Turn the mouse off or on until you quit", Looking, slash "mouse";
    Newline "newline" "Start a new line", Writing;
    HistorySearch "history_search" "Search your earlier prompts", Writing;
    Complete "complete" "Complete a path, a command or a file after @", Writing;
    PasteImage "paste_image" "Paste the image in the clipboard", Writing;
    ExternalEditor "external_editor" "Edit the prompt in $VISUAL or $EDITOR", Writing;
    Undo "undo" "Undo the last edit", Writing;
    Redo "redo" "Redo the edit you undid last", Writing;
    Left "left" "Move left (Shift with this or another move: select)", Writing;
    Right "right" "Move right", Writing;
    Up "up" "Move up. On the first line: the previous prompt", Writing;
    Down "down" "Move down. On the last line: the next prompt", Writing;
    WordLeft "word_left" "Move a word left", Writing;
    WordRight "word_right" "Move a word right", Writing;
    LineStart "line_start" "Move to the start of the line", Writing;
    LineEnd "line_end" "Move to the end of the line", Writing;
    JumpForward "jump_to_character" "Jump forward to the character you type next", Writing;
    JumpBack "jump_back_to_character" "Jump back to the character you type next", Writing;
    DeleteBackward "delete_backward" "Delete the character before the cursor", Writing;
    DeleteForward "delete_forward" "Delete the character at the cursor", Writing;
    CutToSpaceBackward "cut_to_space_backward" "Cut back to the last space", Writing;
    CutWordBackward "cut_word_backward" "Cut the word before the cursor", Writing;
    CutWordForward "cut_word_forward" "Cut the word after the cursor", Writing;
    CutToStart "cut_to_start" "Cut to the start of the line", Writing;
    CutToEnd "cut_to_end" "Cut to the end of the line", Writing;
    Yank "yank" "Insert what you cut last", Writing;
    YankPop "yank_pop" "Replace the text just inserted with an earlier cut", Writing;
    Help "help" "Search all keys, commands and pages (also ?)", Program, slash "help" "[WORDS]";
    Settings "settings" "Change settings", Program, slash "settings" "WORDS";
    Theme "theme" "Choose the colors of the screen", Program, slash "theme" "NAME";
    Login "login" "Add an API key", Program, slash "login" "PROVIDER";
    Suspend "suspend" "Suspend tiller (fg resumes it)", Program;
    Quit "quit" "Quit (its key only when the prompt is empty)", Program, slash "quit";
    Accept "accept" "Choose or confirm what's selected", Popups in Popup;
    Back "back" "Close, or go back", Popups in Popup;
    ListPrevious "list_previous" "Select the previous row (also Up)", Popups in List;
    ListNext "list_next" "Select the next row (also Down)", Popups in List;
    ListAll "list_all" "Show or hide models without a key (in /model)", Popups in List;
    TreeFilter "tree_filter" "Show other entries: prompts, labels, all (in /tree)", Popups in Tree;
    TreeFilterBack "tree_filter_back" "Go back to the previous filter (in /tree)", Popups in Tree;
    TreeLabel "tree_label" "Label the entry (in /tree)", Popups in Tree;
    SessionFolders "session_folders" "Show sessions of all folders, or this one (in /resume)", Popups in Sessions;
    SessionRename "session_rename" "Rename the session (in /resume)", Popups in Sessions;
    SessionRemove "session_remove" "Move the session to the trash (in /resume)", Popups in Sessions;
    SessionCopy "session_copy" "Open a copy of the session (in /resume)", Popups in Sessions;
    SelectMark "select_mark" "Start or end a selection (in /select)", Popups in Selecting;
    SelectLines "select_lines" "Select whole lines (in /select)", Popups in Selecting;
    SelectSwap "select_swap" "Go to the other end of the selection (in /select)", Popups in Selecting;
    SelectCopy "select_copy" "Copy the selection or the line (in /select)", Popups in Selecting;
    SelectOpen "select_open" "Open the file or link at the cursor (in /select)", Popups in Selecting;
    PagerNext "pager_next" "Scroll down a page (in a text)", Popups in Pager;
}

/// Names of these commands in other agents, some with an argument.
pub(crate) const ALIASES: [(&str, &str); 37] = [
    ("clear", "new"),
    ("reset", "new"),
    ("exit", "quit"),
    ("cost", "status cost"),
    ("stats", "status cost"),
    ("usage", "status cost"),
    ("tokens", "status cost"),
    ("context", "status context"),
    ("session", "status session"),
    ("iterations", "status calls"),
    ("config", "settings"),
    ("approvals", "permissions"),
    ("rules", "permissions"),
    ("plan", "permission plan"),
    ("auto", "permission auto"),
    ("yolo", "permission full"),
    ("skip-permissions", "permission full"),
    ("rename", "name"),
    ("effort", "thinking"),
    ("continue", "resume"),
    ("branch", "clone"),
    ("checkpoint", "rewind"),
    ("restore", "rewind"),
    ("revert", "undo"),
    ("cancel", "stop"),
    ("todos", "todo"),
    ("keys", "help"),
    ("hotkeys", "help"),
    ("keymap", "help"),
    ("share", "export"),
    ("allowed-tools", "permissions"),
    ("connect", "login"),
    ("models", "model"),
    ("q", "quit"),
    ("sessions", "resume"),
    ("summarize", "compact"),
    ("themes", "theme"),
];

/// Commands that other agents have and tiller doesn't, and what to do instead.
pub(crate) const ELSEWHERE: &str = "memory memories: edit AGENTS.md; /init writes one
allow: answer a request with a rule, or type /permissions allow COMMAND
network: allow it for a command with a rule; see `tiller docs permissions#let-it-use-the-network`
ollama: choose its model with /model
docs tutorial: type /help WORDS, or run `tiller docs tutorial` in a shell
save: tiller saves each session itself; /export writes it to a file
image file upload: type @ and the path of the file, or paste a picture
attach: type @ and a file's path, or paste a picture; in another terminal, run `tiller attach`
upgrade update: install tiller again, as you did before
ask: /permission ask asks before each change; /plan only reads
tools: /permission shows what runs without asking; --tools chooses tools at the start
editor edit: Ctrl+G opens the prompt in your editor; Alt+E edits your last prompt
retry: press Enter on the empty prompt, or Alt+E to edit your last prompt
history: Ctrl+R searches your earlier prompts; /resume lists your sessions
delete remove: open /resume; Ctrl+D moves a session to the trash
web fetch browse url: put the address into your prompt; the model runs curl if you allow it
shell bash terminal: type ! and the command
cd: quit, then run `tiller -C DIR`
reload: quit, then run `tiller -c`
keybindings: change keys in keymap.toml next to config.toml; /help lists them
release-notes changelog: see CHANGELOG.md where you got tiller
goal: write the goal into your prompt; /todo shows the steps
doctor setup: type `!tiller doctor`; commands don't see exported keys, so it may miss yours. /login adds a key
log logs debug: type `!tiller doctor`; the log is in ~/.local/state/tiller/log
version about: run `tiller --version` in a shell
add-dir: quit, then run `tiller -c --add-dir DIR`
security-review: type /review for security
vim: switch on Vim keys in /settings vim
statusline title: tiller's status line can't be changed; /settings ui.title sets the window title
output-style personality: write it into APPEND_SYSTEM.md next to config.toml
mention: type @ and a part of the file's name
btw side: /clone asks in a copy; /resume goes back
fast: /model switches models, /thinking low thinks less
ide: editors start `tiller acp`; here, @FILE adds a file to a prompt
pr_comments pr-comments: type it as a prompt: Read the comments with gh
diff: run `!git diff`; in a shell, `tiller sessions diff` compares branches
migrate: `tiller docs coming-from` says what to do with your files
permission-mode: /permission shows or sets the mode, and Shift+Tab changes it
install-github-app: `tiller docs github actions` has a job to copy
import: quit, then run `tiller sessions import FILE` and `tiller -c`
label: open /tree; Alt+L labels the entry
terminal-setup: nothing to set up; Ctrl+J starts a new line everywhere
sandbox: commands run in a sandbox, except in full mode; see /permission
agents subagents: tiller has no subagents; /try works in a copy
skills prompts: type / to see them; `tiller docs skills` says where they are
plugin plugins extensions apps: tiller has none; `tiller docs skills` says what it reads
tasks bashes background: tiller runs nothing in the background
ps: tiller runs nothing in the background; `tiller status` lists the open sessions
search web-search: tiller has no web search; /find searches this conversation
raw: /select selects text; `tiller --inline` leaves it to your terminal
insights: tiller has no report over sessions; /cost shows this one
mobile: over ssh, run `tiller attach`
experimental: tiller has no such switches; /settings has all settings
loop: run `tiller -p` in a loop of your shell; see `tiller docs many runs`
voice: use the dictation of your system
bug feedback: tiller sends no reports; open an issue where you got tiller
logout: type `!tiller auth remove PROVIDER`, such as anthropic";

/// All rows: the table and the commands that every front end runs.
pub fn actions() -> impl Iterator<Item = &'static ActionSpec> {
    let commands = commands::all().map(|command| &command.spec);
    let commands = commands.filter(|spec| matches!(spec.action, Action::Command(_)));
    ACTIONS.iter().chain(commands)
}

impl Action {
    /// Returns its row of the table.
    ///
    /// # Panics
    /// Never: each action has a row.
    pub fn spec(self) -> &'static ActionSpec {
        let mut rows = actions();
        rows.find(|spec| spec.action == self)
            .expect("each action has a row")
    }

    /// Returns the action with this name in key files.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut rows = actions();
        rows.find(|spec| spec.name == name).map(|spec| spec.action)
    }

    /// Returns the action of a command line (without the slash) and its argument.
    pub fn from_slash(command: &str) -> Option<(Self, &str)> {
        let command = command.trim();
        let (word, rest) = command
            .split_once(char::is_whitespace)
            .unwrap_or((command, ""));
        let rest = rest.trim();
        let alias = ALIASES.iter().find(|(alias, _)| *alias == word);
        let word = alias.map_or(word, |(_, command)| command);
        let (word, rest) = match word.split_once(' ') {
            Some(whole) if rest.is_empty() => whole,
            _ => (word, rest),
        };
        actions()
            .filter(|spec| rest.is_empty() || spec.argument.is_some())
            .find(|spec| spec.slash == Some(word))
            .map(|spec| (spec.action, rest))
    }
}
