//! What a tool call may do: one pure function, [`decide()`], from a [`Policy`] (mode and rules) and a
//! [`Request`] (what the call is about to do) to a [`Decision`] with its reason.
//!
//! Rules decide before the mode does: deny beats ask beats allow, wherever they stand; the rules that
//! are built in are defaults, which a more exact rule of the user's replaces. A command line is read
//! by a shell grammar (`shell`), every simple command of it is judged, and the strictest answer counts.
//! What cannot be read with certainty is asked.
//!
//! No file is opened and nothing is started here: zones of paths are looked up before.

mod mode;
mod rule;
mod rules_text;
mod shell;
mod matching;
mod read_only;
mod check;
mod policy;
mod exact;
mod remotes;
mod outside;
mod suggest;
mod decision;
mod command;
mod decide;
mod folders;

pub use check::tightened;
pub use decide::decide;
pub use decision::{Confinement, Decision, Judged, PathUse, Request, Verdict};
pub use folders::folders;
pub use mode::PermissionMode;
pub use policy::Policy;
pub use rule::{Action, Origin, Rule};
pub use rules_text::{RuleFault, parse_rules, rules_to_toml, rules_to_toml_under};
pub use suggest::wider as suggest_wider;
