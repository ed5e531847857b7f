//! The screen: its pieces, and the whole program in a pseudo-terminal.

mod screen_canvas;

mod input_decoder;
mod input_reader;
