//! tiller: a full-screen terminal coding agent.

pub mod agent;
pub mod app;
pub mod llm;
