//! Compares two texts line by line or word by word. All code uses this one function, because each
//! element type would be compiled separately.

use std::time::Instant;

use similar::{Algorithm, capture_diff_slices_deadline};
pub use similar::{DiffOp, DiffTag};

/// Returns a text's lines with their line ends.
pub fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns the steps from `old` to `new`, in order, covering both. Parts not compared by `deadline`
/// are treated as replaced.
pub fn compare(old: &[&[u8]], new: &[&[u8]], deadline: Instant) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline))
}
