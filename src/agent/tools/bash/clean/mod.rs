//! The cleaning of what programs print, before a model or a user sees it.

mod cleaner;

pub use cleaner::Cleaner;

#[cfg(test)]
mod tests;
