//! Front ends for other programs: clients of the agent's handle that no user looks at. They never
//! hold the agent up, whatever is sent to them or not read from them.

mod socket_file;
mod steer_socket;
mod steer_file;
mod events_file;

pub use events_file::EventsFile;
pub use steer_file::steer_by_file;
pub use steer_socket::SteerSocket;
