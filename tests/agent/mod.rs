//! The agent against a scripted provider and tools that wait for the test's word.

mod fixture;
mod text;
