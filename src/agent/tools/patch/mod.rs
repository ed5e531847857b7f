//! The `apply_patch` tool (`tool`) for patches in the v4a format (`*** Begin Patch`). A patch is read
//! (`parse`), found in a file (`seek`; `explain` if that fails), applied in memory (`apply` for one file,
//! `plan` for all), and only then written, all or nothing (`commit`). Nothing before `plan` does IO.

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
