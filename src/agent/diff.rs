//! The difference of two texts, as steps over their lines or words. All of the program compares
//! through this one function: each type of element would be compiled on its own.

use std::time::Instant;

use similar::{Algorithm, capture_diff_slices_deadline};
pub use similar::{DiffOp, DiffTag};

/// A text's lines with their ends.
pub fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The steps from `old` to `new`, in order, covering both. What is not compared by `deadline`
/// counts as replaced.
pub fn compare(old: &[&[u8]], new: &[&[u8]], deadline: Instant) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline))
}
