//! What the tests share: a model server, a sandboxed project, a screen, a finder of stray
//! processes.
#![allow(
    dead_code,
    unused_imports,
    reason = "each test uses a part; the example shares the server"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

pub mod browser;
pub mod model_server;
pub mod sandbox;
pub mod screen;
pub mod tmux;
pub mod job;
pub mod hook_server;
pub mod local_server;
pub mod mcp_http;
pub mod marked;
pub mod prefix;
pub mod acp;
pub mod rpc;

/// The program under test: this build, or the one that `TILLER_TEST_PROGRAM` names.
pub fn program() -> String {
    std::env::var("TILLER_TEST_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_tiller").to_owned())
}

/// Permission mode `full`, with a user who can answer questions.
pub fn everything_allowed() -> tiller::agent::PermissionOptions {
    use tiller::agent::permission::{PermissionMode, Policy};
    tiller::agent::PermissionOptions {
        policy: Policy::new(PermissionMode::Full, Vec::new()),
        places: tiller::agent::workspace::Places::default(),
        temporary: None,
        has_user: true,
    }
}
