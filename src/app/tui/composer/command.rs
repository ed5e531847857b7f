//! Everything that can be done to the text, one variant each.

/// One edit or motion. Which key means which is the keymap's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditCommand {
    /// Types a character.
    Insert(char),
    /// Inserts a paste: cleaned, and as one atomic block when it is long.
    Paste(String),
    /// Begins a new line.
    NewLine,
    /// Deletes the character or block before the caret.
    Backspace,
    /// Deletes the character or block after the caret.
    Delete,
    /// Kills back to the start of the word.
    KillWordLeft,
    /// Kills back to the last space (Ctrl+W).
    KillToSpaceLeft,
    /// Kills to the end of the word.
    KillWordRight,
    /// Kills to the start of the line; at its start, the line end before it.
    KillToLineStart,
    /// Kills to the end of the line; at its end, the line end.
    KillToLineEnd,
    /// Inserts what was killed last.
    Yank,
    /// Right after a yank: replaces it by what was killed before.
    YankPop,
    /// One character or block to the left.
    Left,
    /// One character or block to the right.
    Right,
    /// To the start of the word.
    WordLeft,
    /// To the end of the word.
    WordRight,
    /// One row up, in the same column where possible; from the first row: the previous prompt.
    Up,
    /// One row down, in the same column where possible; from the last row: the next prompt.
    Down,
    /// To the start of the line.
    LineStart,
    /// To the end of the line.
    LineEnd,
    /// Replaces everything (an external editor, a history entry); can be undone.
    Set(String),
    /// Empties the editor; the draft is kept in the history.
    Clear,
    /// Takes back the last step.
    Undo,
    /// Takes back the last undo.
    Redo,
}
