//! The system's keyring: the Secret Service of a Linux desktop (GNOME Keyring, KWallet, KeePassXC),
//! over the session bus.
//!
//! Speaks just enough D-Bus for five calls: a client for all of it would add forty crates and a
//! runtime of its own to a program that needs a key once a session. Every wait has an end.

mod values;
mod bus;
mod secret_service;

pub(crate) use secret_service::keyring;
