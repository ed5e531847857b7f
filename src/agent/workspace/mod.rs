//! Where a session may look and write: the workspace, and what is out of bounds in it and outside.
//! A path is judged by where it leads (`locate`), never by its name, and says only which [`Zone`] it
//! is in: what a mode makes of zones is not decided here.
//!
//! What was decided comes back as a [`Reach`], and tools open their files through it, by descriptor:
//! between the decision and the use a link may have taken the place of a folder.

mod zone;
mod folded;
mod builtin;
mod git_folders;
mod git_settings;
mod hooks;
mod repositories;
mod places;
mod private;
mod locate;
mod exact;
mod folder;
mod reach;
mod closed;
mod disarm;
mod for_commands;

pub(in crate::agent) use closed::Closed;
pub(in crate::agent) use folder::{MadeFolder, Place, remove_folders};
pub(in crate::agent) use git_folders::{GitFolders, git_folders};
pub use hooks::{FILTER, GitRemotes, TRANSPORT};
pub(in crate::agent) use locate::destinations;
pub use locate::{Access, Located};
pub use places::{Places, Workspace};
pub use private::PrivateFolders;
pub use reach::Reach;
pub use repositories::Repositories;
pub use zone::Zone;
