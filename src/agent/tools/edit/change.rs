//! The change of one file, worked out and not made yet: shown to the user where they are asked, then
//! made. What is made is what was shown.

use super::atomic;
use super::locked_file::{CurrentFile, LockedFile};
use crate::agent::tool::{Details, DiffDetails, Rehearsal, ToolError, ToolOutput};

/// A change that is possible as far as can be known before.
pub struct Change {
    pub file: LockedFile,
    /// What is there; none when nothing is.
    pub before: Option<CurrentFile>,
    pub after: Vec<u8>,
    /// For users.
    pub details: DiffDetails,
    /// For the model, when it is made.
    pub report: String,
}

impl Change {
    /// What the user is asked about.
    ///
    /// # Errors
    /// The file may not be written.
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

    /// Makes it. The last step of a call: its end is waited for also when the call is cancelled.
    ///
    /// # Errors
    /// The file could not be written, or the user was `shown` another change.
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

    /// Whether the file would hold anything else than before.
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

/// Fails when the user was `shown` another change than the one with this fingerprint.
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
