//! The full screen: one loop, one plain `App`, one pure `update`, one `view`.
//!
//! Everything that happens is a `Msg`. `update` changes the `App` and returns `Effect`s, which the
//! `EffectRunner` runs. `view` paints the `App` into a buffer, and `ScreenBuffer` turns the
//! difference into bytes. Nothing here talks to a model: everything goes through the agent's handle
//! and comes back as its events.

pub mod options;

mod event_loop;
mod subscription;
mod clock;
mod exit_summary;
mod setup;

pub mod terminal;
pub mod effects;
pub mod app;
mod session_info;
mod session_switch;
mod start;
pub mod msg;
pub mod update;

pub mod keymap;
pub mod composer;
pub mod completion;
pub(crate) mod shell;
pub mod transcript;
pub mod popups;
pub(crate) mod answer_delay;
pub(crate) mod answers;
pub(crate) mod question_strip;
pub(crate) mod rule_draft;
pub(crate) mod run_facts;
pub(crate) mod timeline;
pub(crate) mod pointer;

pub(crate) mod layout;
pub mod view;
pub mod theme;
pub mod text;
pub mod picture;
mod ansi_markdown;

pub(crate) use ansi_markdown::ansi_markdown;
pub(crate) use event_loop::run;
pub use options::ExitKind;
pub(crate) use options::TuiOptions;
pub(crate) use terminal::attached::{LentTerminal, show as show_attached};
pub(crate) use terminal::tty::Tty;
