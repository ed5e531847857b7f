//! Model servers on this machine: which ones answer, and which models they have.
//!
//! `probe` asks only addresses of this machine, each for a few milliseconds. `replies` reads the answers
//! without sending anything. After that, the usual APIs talk to the models.

mod server;
mod probe;
mod replies;
mod names;

pub use names::resolve;
pub use probe::{DISCOVERY_TIMEOUT, DiscoveredServer, best, discover, is_listening, loaded_window};
pub use server::{Address, LocalServer, ServerAddrs};
