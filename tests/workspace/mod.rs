//! The workspace: in which zone a path is.

mod zones;
