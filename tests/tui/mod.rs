//! The screen: its pieces, and the whole program in a pseudo-terminal.

mod app_kit;
mod app_keys;
mod app_context;
mod app_frames;
mod app_storm;
mod app_questions;
mod app_retry;
mod app_sessions;
mod app_timeline;
mod app_tree;
mod app_trials;
mod keymap;
mod models;
mod screen_away;
mod screen_buffer;
mod screen_panic;

mod composer;
mod composer_model;
mod input_decoder;
mod input_reader;
mod markdown;
mod text;
mod transcript;
mod transcript_pages;
mod transcript_support;
mod transcript_titles;
mod transcript_patch;

mod e2e_abort;
mod e2e_compact;
mod e2e_demo;
mod e2e_disk;
mod e2e_export;
mod e2e_iterations;
mod e2e_job;
mod e2e_kept;
mod e2e_models;
mod e2e_status;
mod e2e_resume;
mod e2e_retry;
mod e2e_terminal;
mod e2e_tree;
mod e2e_trial;
mod e2e_trust;
mod e2e_undo;
