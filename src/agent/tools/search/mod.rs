//! The tools that search: `grep`, `find` and `ls`, on one walk through folders (`walk`) and one set
//! of limits (`limits`); `hits` keeps grep's best results, `glob` says what globs mean.

mod grep;
mod find;
mod ls;
mod walk;
mod hits;
mod glob;
mod limits;

pub use find::Find;
pub use grep::Grep;
pub use ls::Ls;
