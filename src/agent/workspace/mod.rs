//! Where a session may look and write: the workspace, and what is out of bounds in it and outside.
//! A path is judged by where it leads (`locate`), never by its name, and says only which [`Zone`] it
//! is in: what a mode makes of zones is not decided here.

mod zone;
mod builtin;
mod git_folders;
mod workspace;
mod locate;

pub(in crate::agent) use locate::destinations;
pub use locate::{Access, Located};
pub use workspace::{Places, Workspace};
pub use zone::Zone;
