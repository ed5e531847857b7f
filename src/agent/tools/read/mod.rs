//! The `read` tool (`tool`): pages of text files (`page`) and pictures (`pictures`).

mod tool;
mod page;
mod pictures;

pub use pictures::{MAX_FILE as MAX_PICTURE_FILE, image_of};
pub use tool::Read;
