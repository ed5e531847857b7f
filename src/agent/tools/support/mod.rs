//! What the built-in tools share: paths, safe opening, atomic writes, stamps of what the model
//! has seen, matching, diffs, pictures, and limits on what goes to the model.

pub mod paths;
pub mod open;
pub mod stamps;
pub mod atomic;
pub mod diff;
pub mod matching;
pub mod splice;
pub mod call;
pub mod kind;
pub mod utf16;
pub mod pictures;
pub mod page;
pub mod target;
pub mod exchange;
pub mod sanitize;
pub mod limits;
pub mod glob;
pub mod walk;
pub mod hits;
