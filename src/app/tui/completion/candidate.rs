//! A row of the completion list.

/// Something to insert at the caret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// The text that replaces the typed text.
    pub insert: String,
    pub label: String,
    pub detail: String,
    pub key: String,
}

impl Candidate {
    pub(crate) fn new(name: impl Into<String>, detail: impl Into<String>) -> Self {
        let label = name.into();
        Self {
            insert: label.clone(),
            label,
            detail: detail.into(),
            key: String::new(),
        }
    }

    /// Whether it has only a label.
    pub(crate) fn is_alone(&self) -> bool {
        self.detail.is_empty() && self.key.is_empty()
    }
}
