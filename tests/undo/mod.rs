//! Undo on real files in temporary folders. It restores what turns change byte by byte, whichever
//! program changed it, and leaves the user's git unchanged.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fixture;

mod cover;
mod failures;
mod random;
