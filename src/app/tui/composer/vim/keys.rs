//! The editor's interface to vim: keys in, mode out.

use super::super::editor::Composer;
use super::mode::{VimKey, VimMode};
use super::state::Vim;

impl Composer {
    /// Turns vim keys on or off.
    pub fn set_vim(&mut self, on: bool) {
        self.vim = on.then(Vim::default);
        self.vim_insert();
    }

    /// Vim's mode and the keys of an incomplete command; `None` without vim keys.
    pub fn vim(&self) -> Option<(VimMode, String)> {
        self.vim.as_ref().map(|vim| (vim.mode(), vim.keys()))
    }

    /// Handles a vim key; false if vim doesn't use it.
    pub fn vim_press(&mut self, key: VimKey) -> bool {
        let Some(mut vim) = self.vim.take() else {
            return false;
        };
        let taken = vim.press(key, self);
        self.vim = Some(vim);
        taken
    }

    /// Switches to insert mode.
    pub fn vim_insert(&mut self) {
        self.visual = None;
        let mark = self.draft.undo.mark();
        if let Some(vim) = &mut self.vim {
            vim.begin_anew(mark);
        }
    }

    /// Ends visual mode after something other than vim removed the selection.
    pub(in super::super) fn vim_deselect(&mut self) {
        self.visual = None;
        if let Some(vim) = &mut self.vim {
            vim.deselect();
        }
    }

    /// Another action may have moved the caret: extends the selection to it.
    pub(in super::super) fn vim_follow(&mut self) {
        if let (Some(vim), Some((_, revision))) = (&self.vim, &self.visual) {
            if *revision == self.draft.revision() {
                self.visual = Some((vim.selected(&self.draft), *revision));
            } else {
                self.vim_deselect();
            }
        }
    }
}
