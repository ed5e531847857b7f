//! Random work in both trees.
