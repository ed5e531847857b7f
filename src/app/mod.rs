//! Layer 3: people and other programs.

pub mod action;
pub mod cli;
pub mod config;
pub mod tui;
