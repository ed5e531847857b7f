//! Cleans program output before the model or the user sees it.

mod cleaner;

pub use cleaner::Cleaner;

#[cfg(test)]
mod tests;
