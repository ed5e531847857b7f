//! What the tests share: a model server, a sandbox project, a screen, a process census.
#![allow(dead_code, unused_imports)]

pub mod model_server;
pub mod sandbox;
pub mod screen;
pub mod job;
pub mod census;
