//! What a tool call can do. [`decide()`] is a pure function from a [`Policy`] (mode and rules) and a
//! [`Request`] (what the call is about to do) to a [`Decision`] with its reason.
//!
//! Rules decide before the mode does: deny beats ask beats allow, in any order. Built-in rules are
//! defaults, which a more specific rule of the user replaces. `shell` parses a command line; tiller
//! judges every simple command in it, and the strictest verdict wins. If anything can't be parsed for
//! certain, tiller asks.
//!
//! Nothing here opens a file or starts a process: the caller looks up the zones of paths beforehand.

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
mod needs;
mod decision;
mod command;
mod own_tool;
mod web;
mod by_hand;
mod decide;
mod folders;
mod may_run;
mod removed;
mod pip;

pub use by_hand::ByHand;
pub use check::tightened;
pub use decide::decide;
pub use decision::{Confinement, Decision, Judged, PathUse, Request, Verdict};
pub use folders::folders;
pub use may_run::may_run;
pub use mode::PermissionMode;
pub use needs::{Unmet, unmet};
pub use outside::is_one_command;
pub use pip::in_venv;
pub use policy::Policy;
pub use remotes::option_to_name;
pub use removed::{Removed, removed};
pub use rule::{Action, Origin, Rule};
pub use rules_text::{RuleFault, parse_rules, rules_to_toml, rules_to_toml_under};
pub use suggest::{is_known_program, own_tool as suggest_own_tool, wider as suggest_wider};
