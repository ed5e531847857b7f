//! Keys: what they are, where they come from, and how they stay secret.
//!
//! `credentials` looks for a key in a fixed order. `keys` fetches it just before use. `redact`
//! removes it from everything that tiller shows or stores.

mod secret;
mod redact;
mod store;
mod keys;
mod credentials;

pub use credentials::{KeyLocation, KeySpec, ProviderAuth};
pub use keys::{KeyFiles, Keys, RunCommand};
pub use redact::{RedactStream, Redactor};
pub use secret::Secret;
pub use store::Store;
