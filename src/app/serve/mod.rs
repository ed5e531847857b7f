//! Front ends for other programs: clients of the agent's handle that never block the agent.

mod socket_file;
mod steer_socket;
mod steer_file;
mod events_file;
mod lines;
mod pictures;
mod returned;
mod rpc;
mod acp;

pub use acp::{Agents, OpenAgent, run_acp};
pub use events_file::EventsFile;
pub use rpc::run_rpc;
pub use steer_file::steer_by_file;
pub use steer_socket::{OpenScreen, SteerSocket};
