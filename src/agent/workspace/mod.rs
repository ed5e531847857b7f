//! Where a session may read and write: the workspace, and what is off limits inside and outside it.
//! A path is judged by where it leads (`locate`), never by its name. This module only determines its
//! [`Zone`]; what a mode allows in a zone is decided elsewhere.
//!
//! The decision comes back as a [`Reach`]. Tools open their files through it, by descriptor, because
//! a link may replace a folder between the decision and the use.

mod folded;
mod builtin;
mod hooks;
mod repositories;
mod places;
mod private;
mod locate;
mod exact;
mod folder;
mod reach;
mod disarm;
mod for_commands;

pub(crate) use folder::{MadeFolder, Place, remove_folders};
pub use hooks::{FILTER, GitRemotes, TRANSPORT};
pub(crate) use locate::destinations;
pub use locate::{Access, Located, Zone};
pub use places::{Places, Workspace};
pub(crate) use private::PREFIX;
pub use private::PrivateFolders;
pub(crate) use reach::Closed;
pub use reach::Reach;
pub use repositories::Repositories;
