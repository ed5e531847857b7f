//! `tiller doctor`: looks at everything a run stands on, tries what can be tried, and says the way out of
//! what is not good. Changes nothing, except that reading the stored keys closes them to others.

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
pub use settings::{left_out, problem, project};
pub use system::{sandbox, system};
pub use terminal::terminal;
