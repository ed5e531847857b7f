//! A row of the list.

/// Something that can stand where the caret is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// What takes the place of what was typed.
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

    /// Whether nothing stands behind its label.
    pub(crate) fn is_alone(&self) -> bool {
        self.detail.is_empty() && self.key.is_empty()
    }
}
