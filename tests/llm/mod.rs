//! The model layer from outside: the catalog, recorded streams, request bodies, real sockets.

mod catalog;
mod recorded;
