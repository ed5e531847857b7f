//! The kinds of places, from harmless to sensitive.

/// A path's relation to the workspace, ordered by how much must be asked before touching it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// In the workspace.
    Inside,
    /// In the workspace, but files there make code run: `.tiller`, git's own files, start-up files
    /// of the shell. Free to read.
    ReadOnly,
    /// Elsewhere.
    Outside,
    /// Contains secrets: neither read nor written without asking, wherever it is.
    Protected,
}
