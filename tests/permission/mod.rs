//! What needs no permission: tables of decisions, and laws that hold for all of them.

mod commands;
mod fixture;
mod laws;
mod rules;
