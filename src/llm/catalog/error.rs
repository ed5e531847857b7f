//! Why a model cannot be had from the catalog.

/// What is wrong with a model's name or with `models.toml`, and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CatalogError(pub(super) String);
