//! What may be done without a question: tables of decisions, and laws that hold of all of them.

mod commands;
mod fixture;
mod laws;
mod rules;
