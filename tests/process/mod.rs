//! Commands and their process trees, with the real supervisor: what the result says, and that
//! nothing survives.

mod bench;
mod results;
mod survivors;
mod killed;
mod figures;
