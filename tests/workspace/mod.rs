//! The workspace: which zone a path is in, and what the file tools of a call can reach.

mod remotes;
mod commands;
mod doors;
#[cfg(target_os = "linux")]
mod private;
mod races;
mod zones;
