//! The model layer from outside: the catalogue, recorded streams, request bodies, real sockets.
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

pub mod kit;
mod local;
mod adapted;
mod vendor_rules;
mod auth;
mod endings;
mod catalog;
mod classify;
mod toml_fault;
mod windows;
mod sse;
mod http;
mod recorded;
mod responses;
mod handover;
mod hosts;
mod sockets;
mod billing;
mod bodies;
mod google;
mod scripted;
