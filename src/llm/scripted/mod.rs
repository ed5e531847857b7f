//! A [`Provider`](super::Provider) that plays a script instead of asking a model: the demo, tests
//! and documentation run on it. It reaches no network and reads no file.
//!
//! # The script
//!
//! TOML. Replies are given in sequence, one for each model call:
//!
//! ```toml
//! prompt = "Show me around"            # starts the script; the first reply answers it
//! text_ms = 20                         # pause before each piece of text, in milliseconds
//! thinking_ms = 15                     # the same for thinking
//! arguments_ms = 10                    # the same for the arguments of a call
//!
//! [[file]]                             # the project to play it in
//! path = "src/main.sh"
//! text = "echo hello\n"
//!
//! [[reply]]
//! steps = [
//!     { thinking = "Where is it?" },
//!     { pause_ms = 300 },
//!     { text = "I search first." },
//!     { call = "grep", args = { pattern = "hello" } },
//! ]
//!
//! [[reply]]
//! steps = [{ text = "Done." }]
//!
//! [[on_message]]                       # answers what the user types
//! when = ["key", "model"]              # any of these words, in any case; none: any message
//! steps = [{ text = "You said: {message}" }]
//! ```
//!
//! A message other than the script's own `prompt` gets the first `on_message` with a matching word. The
//! script then continues in the same response, so that steering doesn't end it. The position in the script
//! comes from the conversation and isn't stored: an aborted reply, or one with skipped calls, plays again.

mod demo;
mod play;
mod position;
mod script;

pub use demo::{demo_model, demo_script};
pub use play::Scripted;
pub use script::{ReplyStep, Script};
