//! Undo on real files in temporary folders: what turns change is brought back byte by byte, whatever
//! they were changed by, and the user's git stays as it is.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fixture;

mod cover;
mod failures;
mod random;
