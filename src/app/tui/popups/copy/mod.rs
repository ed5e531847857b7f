//! The list of things to copy.

mod state;
mod keys;
mod view;

pub(crate) use state::{CopyItem, CopyKind, CopyPicker};
