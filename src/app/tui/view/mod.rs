//! From the `App` to a buffer of cells. Nothing here changes what the person sees next time.

pub mod transcript;
