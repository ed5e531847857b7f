//! Front ends that print: print mode, JSON mode, sub-commands.
