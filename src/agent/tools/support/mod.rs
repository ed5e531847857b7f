//! What the built-in tools share: paths, safe opening, atomic writes, stamps of what the model
//! has seen, matching, diffs, pictures, and limits on what goes to the model.
