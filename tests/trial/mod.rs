//! Trials on real git repositories in temporary folders: beginning, discarding and keeping one.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fixture;

mod begin;
mod keep;
mod places;
mod random;
