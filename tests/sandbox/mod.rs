//! Commands in their sandbox: what they may do, and what they try in vain.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod place;
mod outside;
mod basics;
mod attempts;
mod escapes;
mod tools;
mod endings;
