//! Folders of which a trial can be made, and of which it cannot.
