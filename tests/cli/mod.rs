//! Front ends that print, tested end to end.

mod config;
mod e2e_auth;
mod e2e_bad_sessions;
mod e2e_budget;
mod e2e_demo;
mod e2e_doctor;
mod e2e_errors;
mod e2e_tls;
mod e2e_events;
mod e2e_flags;
mod e2e_json;
mod e2e_killed;
mod e2e_local;
mod e2e_permission;
mod e2e_policy;
mod e2e_print;
mod e2e_redaction;
mod e2e_resume;
mod e2e_sessions;
mod e2e_stdout;
mod e2e_steer;
mod e2e_steer_file;
mod e2e_trust;
mod e2e_upgrade;
mod export;
mod models;
