//! The append-only session file. (Contract stub.)

/// One open session file.
#[derive(Debug)]
pub struct SessionLog {}
