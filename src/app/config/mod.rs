//! Settings: layers of TOML, each value with its origin.
