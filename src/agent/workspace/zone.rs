//! The kinds of places there are, from harmless to delicate.

/// What a path is to the workspace. In the order of how much is asked before it is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// In the workspace.
    Inside,
    /// In the workspace, but what is written there makes code run: `.tiller`, what belongs to git,
    /// start-up files of the shell. Free to read.
    ReadOnly,
    /// Elsewhere.
    Outside,
    /// Holds secrets: neither read nor written without a question, wherever it is.
    Protected,
}
