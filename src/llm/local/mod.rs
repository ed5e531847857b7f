//! Model servers on this machine: which ones answer, and which models they have.
//!
//! Only addresses of this machine are asked, each for a few milliseconds. What a server says is read
//! in `replies`, where no byte is sent; asking is `probe`'s. Speaking to a model afterwards is the
//! business of the APIs, as for any other.

mod server;
mod probe;
mod replies;
mod names;

pub use names::resolve;
pub use probe::{DISCOVERY_TIMEOUT, DiscoveredServer, best, discover, is_listening, loaded_window};
pub use server::{Address, LocalServer, ServerAddrs};
