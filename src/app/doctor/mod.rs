//! `tiller doctor`: checks everything a run depends on, tries what it can, and says how to fix
//! problems. It changes nothing, except that reading the stored keys makes their file private.

mod report;
mod system;
mod terminal;
mod terminal_query;
mod keys;
mod folders;
mod settings;

pub use folders::folders;
pub use keys::keys;
pub use report::{Report, Section};
pub use settings::{doubtful, left_out, not_used, problems, project, unread_permissions};
pub use system::{sandbox, system};
pub use terminal::terminal;
