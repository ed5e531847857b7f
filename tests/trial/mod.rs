//! Trials on real git repositories in temporary folders: how one begins, is discarded and is kept.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fixture;

mod begin;
mod keep;
mod places;
mod random;
