//! The table: how to get to where each action works, and what the screen shows afterwards.

#![allow(
    clippy::enum_glob_use,
    reason = "a table of eighty rows reads better without prefixes"
)]

use tiller::app::action::Action::{self, *};

/// A check that runs with every key of an action.
#[derive(Clone, Copy)]
pub struct Row {
    pub action: Action,
    /// What to type first; `{text}` waits until the screen shows it.
    pub before: &'static str,
    /// What the screen must show before the key.
    pub ready: &'static str,
    /// What to type after the key.
    pub then: &'static str,
    /// What the screen must show then.
    pub shows: &'static str,
    /// What the screen must no longer show.
    pub hides: &'static str,
    /// What to type to return to the start.
    pub after: &'static str,
}

const fn row(action: Action, before: &'static str, ready: &'static str) -> Row {
    Row {
        action,
        before,
        ready,
        then: "",
        shows: "",
        hides: "",
        after: "",
    }
}

impl Row {
    const fn then(self, then: &'static str) -> Self {
        Self { then, ..self }
    }

    const fn shows(self, shows: &'static str) -> Self {
        Self { shows, ..self }
    }

    const fn hides(self, hides: &'static str) -> Self {
        Self { hides, ..self }
    }

    const fn after(self, after: &'static str) -> Self {
        Self { after, ..self }
    }
}

/// Types a text, presses the key, and types an X. The position of the X shows what the key did.
const fn edits(
    action: Action,
    before: &'static str,
    ready: &'static str,
    left: &'static str,
) -> Row {
    row(action, before, ready)
        .then("X")
        .shows(left)
        .after("<c-c>")
}

/// On the empty editor, after a conversation of two prompts.
pub const IDLE: &[Row] = &[
    row(JumpForward, "one two<home>", "│ one two")
        .then("tX")
        .shows("│ one Xtwo")
        .after("<c-c>"),
    row(JumpBack, "one two", "│ one two")
        .then("oX")
        .shows("│ one twXo")
        .after("<c-c>"),
    edits(Newline, "ab", "│ ab", "│ X "),
    edits(Left, "ab", "│ ab", "│ aXb"),
    edits(Right, "ab<left><left>", "│ ab", "│ aXb"),
    edits(Up, "ab<c-j>cd", "│ cd", "│ abX"),
    edits(Down, "ab<c-j>cd<up>", "│ cd", "│ cdX"),
    edits(WordLeft, "one two", "│ one two", "│ one Xtwo"),
    edits(WordRight, "one two<home>", "│ one two", "│ oneX two"),
    edits(LineStart, "ab", "│ ab", "│ Xab"),
    edits(LineEnd, "ab<home>", "│ ab", "│ abX"),
    edits(DeleteBackward, "abc", "│ abc", "│ abX"),
    edits(DeleteForward, "abc<home>", "│ abc", "│ Xbc"),
    edits(CutToSpaceBackward, "one two.three", "two.three", "│ one X "),
    edits(CutWordBackward, "one two.three", "two.three", "│ one two.X"),
    edits(CutWordForward, "one two<home>", "│ one two", "│ X two"),
    edits(CutToStart, "one two", "│ one two", "│ X "),
    edits(CutToEnd, "one two<home>", "│ one two", "│ X "),
    edits(Yank, "one<c-u>ab", "│ ab", "│ aboneX"),
    edits(YankPop, "one<c-u>two<c-u><c-y>", "│ two", "│ oneX"),
    edits(Undo, "one<c-u>", "│ Ask", "│ oneX"),
    row(Redo, "one<c-u><c-_>", "│ one").hides("│ one"),
    row(Complete, "look at src/ma", "src/ma")
        .shows("src/math.rs")
        .after("<c-c>"),
    row(ExternalEditor, "draft", "│ draft")
        .shows("│ from the editor")
        .after("<c-c>"),
    row(PasteImage, "", "").shows("picture"),
    row(HistorySearch, "", "")
        .shows("─ Earlier prompts")
        .after("<esc>"),
    row(Interrupt, "abc", "│ abc").hides("│ abc"),
    row(Suspend, "", "").shows("Can't suspend"),
    row(Help, "", "").shows("─ Help").after("<esc>"),
    row(Cancel, "<f1>", "─ Help").hides("─ Help"),
    // Models.
    row(Models, "", "").shows("─ Models").after("<esc>"),
    row(
        NextModel,
        "/model anthropic/claude-haiku-5-5<enter>",
        "claude-haiku",
    )
    .shows("claude-sonnet-5-5 "),
    row(
        PreviousModel,
        "/model anthropic/claude-haiku-5-5<enter>",
        "claude-haiku",
    )
    .shows("claude-sonnet-5-5 "),
    row(ThinkingUp, "/thinking low<enter>", " low ").shows(" medium "),
    row(ThinkingDown, "/thinking high<enter>", " high ").shows(" medium "),
    // Before the models are there, the key has nothing to save.
    row(SaveModel, "<c-l>", "● anthropic/")
        .shows("Saved as the default model")
        .after("<esc>"),
    row(NextPermissionMode, "", "")
        .shows("─ plan ")
        .after("<s-tab><s-tab><s-tab>"),
    // Reading.
    row(PageUp, "", "").shows("below").after("<c-end>{line 90}"),
    row(PageDown, "<c-home>", "❯ first")
        .hides("❯ first")
        .after("<c-end>{line 90}"),
    row(ScrollTop, "", "")
        .shows("❯ first")
        .after("<c-end>{line 90}"),
    row(ScrollBottom, "<c-home>", "❯ first").shows("line 90"),
    row(PreviousPrompt, "", "")
        .shows("❯ second")
        .after("<c-end>{line 90}"),
    row(NextPrompt, "<c-home><c-down>", "❯ first")
        .shows("❯ second")
        .hides("❯ first")
        .after("<c-end>{line 90}"),
    row(ToggleOutput, "<c-home><c-down>", "36 earlier")
        .hides("36 earlier")
        .after("<c-o><c-end>{line 90}"),
    row(ToggleThinking, "<c-home>", "∴")
        .shows("Thought of it")
        .after("<c-t><c-end>{line 90}"),
    row(ToggleCell, "<c-home>", "36 earlier")
        .hides("36 earlier")
        .after("<a-o><c-end>{line 90}"),
    row(Search, "", "").shows(" Find ").after("<esc>"),
    row(CopyReply, "", "").shows("through the terminal"),
    row(CopyList, "", "").shows("─ Copy").after("<esc>"),
    row(Status, "", "").shows("─ Status").after("<esc>"),
    row(ToggleTodo, "", "").shows("No todo list"),
    row(SelectText, "", "").shows(" Space mark").after("<esc>"),
    row(SelectMark, "<a-s>", " mark ")
        .shows(" Selecting ")
        .after("<esc><esc>"),
    row(SelectLines, "<a-s>", " mark ")
        .shows(" Selecting lines ")
        .after("<esc><esc>"),
    row(SelectCopy, "<a-s>", " mark ").shows("Copied"),
    // Popups.
    row(ListNext, "/settings<enter>editor", "Edit prompts with")
        .hides("Edit prompts with")
        .after("<esc>"),
    row(
        ListPrevious,
        "/settings<enter>editor{Edit prompts with}<down>",
        "Use the mouse",
    )
    .shows("Edit prompts with")
    .after("<esc>"),
    row(ListAll, "<c-l>", "without a key")
        .hides("without a key")
        .after("<esc>"),
    row(TreeFilter, "/tree<enter>", "default ·")
        .shows("no tools ·")
        .after("<esc>"),
    row(TreeFilterBack, "/tree<enter>", "default ·")
        .shows("all ·")
        .after("<esc>"),
    row(TreeLabel, "/tree<enter>", "default ·")
        .shows("label ›")
        .after("<esc><esc>"),
    row(SessionFolders, "/resume<enter>", "elsewhen")
        .shows("Sessions in all folders")
        .after("<esc>"),
    row(SessionRename, "/resume<enter>", "elsewhen")
        .shows("Name ›")
        .after("<esc><esc>"),
    row(SessionRemove, "/resume<enter>", "elsewhen")
        .shows("to the trash?")
        .after("<esc><esc>"),
    row(Accept, "<f1>follow it", "› follow it").hides("─ Help"),
    row(Back, "<f1>", "─ Help").hides("─ Help"),
    row(PagerNext, "<a-i>", "─ Status")
        .then("<right>")
        .shows("System prompt")
        .after("<esc>"),
    row(SelectSwap, "<a-s>v<up><up>", " Selecting ")
        .then("<up><up>y")
        .shows("Copied 1 character"),
    row(SelectOpen, "<a-s>", " mark ")
        .shows("isn't a file")
        .after("<esc>"),
    // Actions that switch to another conversation.
    row(EditPrompt, "", "").shows("│ second").after("<c-c>"),
    row(
        SessionCopy,
        "/resume<enter>{elsewhen}elsewhen",
        "› elsewhen",
    )
    .shows("Said elsewhen."),
];

/// During an answer that never ends.
pub const RUNNING: &[Row] = &[
    row(Submit, "by the way", "│ by the way").shows("↳ steer"),
    row(FollowUp, "after that", "│ after that").shows("▸ then"),
    row(TakeBack, "after that<a-enter>", "▸ then")
        .shows("│ after that")
        .hides("▸ then"),
    row(Cancel, "", "").hides("Esc stops"),
    row(Interrupt, "", "").hides("Esc stops"),
    row(SteerNow, "at once", "│ at once").shows("❯ at once"),
    row(Quit, "", "").shows("─ Quit?").after("<esc>"),
];
