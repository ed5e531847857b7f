//! The terminal: its modes, keys and signals, and the way of a frame to it.

mod modes;
pub mod tty;
pub(crate) mod tty_writer;
pub mod screen_buffer;
pub mod inline_buffer;
pub(crate) mod cell_writer;
pub(crate) mod row_move;
pub(crate) mod display;
pub(crate) mod window;
pub(crate) mod signals;
pub(crate) mod job_control;
pub(crate) mod attached;
pub mod input;
pub mod screen_mode;

pub use modes::Terminal;
