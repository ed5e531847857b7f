//! The editor's keys for vim: what comes in, and what the screen tells of it.

use super::super::editor::Composer;
use super::mode::{VimKey, VimMode};
use super::state::Vim;

impl Composer {
    /// Lets keys be vim's, or not.
    pub fn set_vim(&mut self, on: bool) {
        self.vim = on.then(Vim::default);
        self.vim_insert();
    }

    /// Vim's mode, and the keys of a command that is not whole yet; none where keys are not vim's.
    pub fn vim(&self) -> Option<(VimMode, String)> {
        self.vim.as_ref().map(|vim| (vim.mode(), vim.keys()))
    }

    /// A key for vim; false where it is not for it.
    pub fn vim_press(&mut self, key: VimKey) -> bool {
        let Some(mut vim) = self.vim.take() else {
            return false;
        };
        let taken = vim.press(key, self);
        self.vim = Some(vim);
        taken
    }

    /// What is typed next is text.
    pub fn vim_insert(&mut self) {
        self.visual = None;
        let mark = self.draft.undo.mark();
        if let Some(vim) = &mut self.vim {
            vim.begin_anew(mark);
        }
    }

    /// Ends visual mode: something else than vim's keys did away with what was selected.
    pub(in super::super) fn vim_deselect(&mut self) {
        self.visual = None;
        if let Some(vim) = &mut self.vim {
            vim.deselect();
        }
    }

    /// The caret may have moved by an action that is not vim's: what is selected goes up to it.
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
