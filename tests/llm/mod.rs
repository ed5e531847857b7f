//! The model layer from outside: the catalog, recorded streams, request bodies, real sockets.

mod kit;
mod catalog;
mod recorded;
mod sockets;
mod bodies;
