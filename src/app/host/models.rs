//! The models that a front end offers.

use std::time::Duration;

use tokio::task::spawn_blocking;

use super::Host;
use crate::app::models::KeyState;
use crate::llm::Model;

/// How long to wait for the model servers on this machine.
const LOCAL_SERVERS: Duration = Duration::from_millis(500);

impl Host {
    /// The models with a key, or on this machine.
    ///
    /// # Errors
    /// Fails only if reading the catalogue panics.
    pub async fn usable_models(&self) -> Result<Vec<Model>, String> {
        let found = self.models.discover(LOCAL_SERVERS).await;
        let models = self.models.clone();
        let listed = spawn_blocking(move || models.list(&found));
        let listed = listed.await.map_err(|panic| panic.to_string())?;
        let usable = listed.rows.into_iter();
        let usable = usable.filter(|row| row.key == KeyState::Ready);
        Ok(usable.map(|row| (*row.model).clone()).collect())
    }
}
