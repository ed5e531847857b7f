//! The search tools: `grep`, `find` and `ls`. A search has a `root` and a `budget`. `walk` goes through
//! folders as `ignores` allow, and `glob` matches names. `hits` keeps the first hits, and `results`
//! cuts them.

mod grep;
mod find;
mod ls;
mod results;
mod root;
mod budget;
mod walk;
mod queue;
mod ignores;
mod hits;
mod glob;

pub use budget::{Budget, Limits};
pub use find::Find;
pub use grep::Grep;
pub use ignores::{IgnoreLoader, Rules};
pub use ls::Ls;
pub use queue::Queue;
