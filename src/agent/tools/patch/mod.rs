//! The `apply_patch` tool (`tool`) and its patches in the v4a format (`*** Begin Patch`), from text
//! to files: read (`parse`), found in a file (`seek`; `explain` when not there), worked out in memory (`apply` for one file, `plan` for all of
//! them), and only then written, all or nothing (`commit`). All before `plan` do no IO.

mod tool;
mod marker;
mod parse;
mod seek;
mod explain;
mod apply;
mod plan;
mod commit;

pub use marker::{Marker, marker};
pub use tool::ApplyPatch;
