//! `web_fetch`: reads a web page as text.
//!
//! It only reads what a URL names: it runs no scripts, keeps no cookies and sends no credentials.

mod address;
mod request;
mod html;
mod markdown;
mod content;
mod tool;
#[cfg(test)]
mod tests;

pub use tool::{WEB_FETCH, WebFetch};
