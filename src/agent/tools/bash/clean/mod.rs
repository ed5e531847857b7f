//! The cleaning of what programs print, before a model or a person sees it.

mod cleaner;

pub use cleaner::Cleaner;

#[cfg(test)]
mod tests;
