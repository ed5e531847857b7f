//! How tiller uses git: it runs it so that nothing of the user's or the project's starts, and reads
//! git's own files without it.

mod command;
mod folders;
mod head;
mod remade;
mod search_path;
mod settings;
mod timed;

pub(crate) use command::Git;
pub use command::GitError;
pub(crate) use folders::{
    ALTERNATES, GITDIR, GitFolders, RUNS_CODE, git_folders, is_git_folder, path_in, read_small,
};
pub(crate) use head::{GitHead, repository};
pub use head::{git_head, project_root};
pub(crate) use remade::{can_be_made_again, is_cache};
pub(crate) use search_path::distrust_programs_in;
pub use search_path::search_path;
pub(crate) use settings::{Setting, Settings, text_of};
pub(crate) use timed::{LIMIT, TimedGit};
