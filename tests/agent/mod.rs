//! The agent against a scripted provider and tools that wait for the test's word.

mod fixture;

mod text;
mod tools;
mod steering;
mod abort;
mod limits;
mod pressure;
mod sessions;
mod nothing_lost;
