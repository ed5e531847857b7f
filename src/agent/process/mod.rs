//! Commands and their whole process trees. (Contract stub.)

/// The commands under way. Cheap to clone; all clones speak of the same commands.
#[derive(Clone, Debug, Default)]
pub struct Processes {}

impl Processes {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many process trees started here are still alive.
    pub fn alive(&self) -> usize {
        0
    }

    /// Tells every tree to die: SIGTERM, 2 s, SIGKILL. Returns at once.
    pub fn stop_all(&self) {}

    /// Kills every tree now. Returns at once.
    pub fn kill_all(&self) {}

    /// Returns when no process started here is alive.
    pub async fn empty(&self) {}
}
