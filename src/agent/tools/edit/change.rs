//! A planned change of one file. The user may see it first; only what was shown is made.

use super::atomic;
use super::locked_file::{CurrentFile, LockedFile};
use crate::tool::{Details, DiffDetails, Rehearsal, ToolError, ToolOutput};

/// A change that is possible, as far as that can be known beforehand.
pub struct Change {
    pub file: LockedFile,
    /// The current file; none if there is none.
    pub before: Option<CurrentFile>,
    pub after: Vec<u8>,
    /// For users.
    pub details: DiffDetails,
    /// For the model, once it is made.
    pub report: String,
}

impl Change {
    /// The preview for the user's question.
    ///
    /// # Errors
    /// The call can't write the file.
    pub fn rehearse(self) -> Result<Rehearsal, ToolError> {
        if let Some(before) = &self.before {
            atomic::may_write(&self.file.path.real, &before.meta)
                .map_err(|error| self.file.failed(&error.into()))?;
        }
        Ok(Rehearsal {
            fingerprint: self.fingerprint(),
            changes: self.changes(),
            details: Details::Diff(self.details),
        })
    }

    /// Makes the change. This is the last step of a call, which waits for its end even if cancelled.
    ///
    /// # Errors
    /// The file couldn't be written, or the user was `shown` a different change.
    pub fn make(self, shown: Option<u64>) -> Result<ToolOutput, ToolError> {
        must_be_shown(shown, || self.fingerprint())?;
        if let Some(before) = self.before.as_ref().filter(|_| !self.changes()) {
            self.file.record(&self.after, &before.freshness);
            let report = format!(
                "{} already has exactly this content: nothing was written",
                self.file.path.shown
            );
            return Ok(ToolOutput::new(report, Details::Diff(self.details)));
        }
        self.file.write(&self.after, self.before.as_ref())?;
        Ok(ToolOutput::new(self.report, Details::Diff(self.details)))
    }

    /// Whether the file's content would change.
    fn changes(&self) -> bool {
        let before = self.before.as_ref();
        before.is_none_or(|before| before.bytes.as_ref() != Some(&self.after))
    }

    fn fingerprint(&self) -> u64 {
        let before = self.before.as_ref().map(CurrentFile::identity);
        let change = (&self.file.path.real, before, &self.after);
        self.file.fingerprint(&change)
    }
}

/// Fails if the user was `shown` a change with another fingerprint.
pub fn must_be_shown(
    shown: Option<u64>,
    fingerprint: impl FnOnce() -> u64,
) -> Result<(), ToolError> {
    if shown.is_none_or(|shown| shown == fingerprint()) {
        return Ok(());
    }
    Err(ToolError::new(
        "Nothing was changed: someone else changed the file while you waited for permission. Read it \
         again.",
    ))
}
