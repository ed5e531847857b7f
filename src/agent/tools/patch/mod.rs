//! The `apply_patch` tool (`tool`) and its patches in the v4a format (`*** Begin Patch`), from text
//! to files: read (`parse`, of what the models really write: `envelope`), found in a file (`index`,
//! `seek`; `explain` when not there), worked out in memory (`apply` for one file, `plan` for all of
//! them), and only then written, all or nothing (`commit`). All before `plan` do no IO.

mod tool;
mod envelope;
mod marker;
mod parse;
mod index;
mod seek;
mod explain;
mod apply;
mod plan;
mod commit;

pub use marker::{Marker, marker};
pub use tool::ApplyPatch;
