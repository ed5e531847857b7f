//! Keys: what they are, where they come from, and how they are kept out of sight.
//!
//! A key is looked for in one order (`credentials`), fetched only when its provider is about to be
//! used (`keys`), and redacted from everything that is shown or stored (`redact`).

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
