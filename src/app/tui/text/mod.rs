//! Prepares text for the screen, without knowing the transcript: width, wrapping, markdown, colors.

mod context;
pub mod width;
pub(crate) mod span;
pub mod link;
pub(crate) mod row;
pub(crate) mod row_log;
pub(crate) mod wrap;
mod highlight;
pub(crate) mod copying;
pub(crate) mod code;
pub mod markdown;
pub(crate) mod diff;

pub use code::HighlightCache;
pub use context::RenderContext;
pub use highlight::HighlightWorker;
pub(crate) use row::lines;
pub(crate) use row::{Fill, Opens};
pub use row::{Line, Row};
pub use width::width;
pub use wrap::{Break, Prefix, wrap};
