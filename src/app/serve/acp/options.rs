//! What the user selects for a session: permission mode, model and thinking. Clients show the mode as a
//! session mode, and newer ones all three as configuration options.

use std::sync::Arc;

use serde_json::{Value, json};

use super::wire::RpcError;
use crate::agent::Snapshot;
use crate::agent::permission::PermissionMode;
use crate::app::host::Host;
use crate::llm::{Model, ThinkingLevel};

#[derive(Debug)]
pub(super) struct Options {
    mode: PermissionMode,
    model: Arc<Model>,
    thinking: ThinkingLevel,
    /// The models to choose from.
    models: Vec<Model>,
}

impl Options {
    pub fn new(snapshot: &Snapshot, models: Vec<Model>) -> Self {
        Self {
            mode: snapshot.permission,
            model: Arc::clone(&snapshot.model),
            thinking: snapshot.thinking,
            models,
        }
    }

    /// Sets the mode; returns whether it changed.
    pub fn set_mode(&mut self, mode: PermissionMode) -> bool {
        std::mem::replace(&mut self.mode, mode) != mode
    }

    /// Sets the model and the level; returns whether one changed.
    pub fn set_model(&mut self, model: &Arc<Model>, thinking: ThinkingLevel) -> bool {
        let is_new = self.model.full_id() != model.full_id() || self.thinking != thinking;
        (self.model, self.thinking) = (Arc::clone(model), thinking);
        is_new
    }

    /// Selects `value` for the option `id`.
    pub async fn select(&mut self, id: &str, value: &str, host: &Host) -> Result<(), RpcError> {
        match id {
            "mode" => {
                self.mode = value.parse().map_err(RpcError::params)?;
                host.handle.set_permission(self.mode);
            }
            "model" => {
                // Not only one of the list: a server on this machine may have started since.
                let found = host.models.resolve(value).await.map_err(RpcError::params)?;
                let model = found.0;
                if model.full_id() != value {
                    return Err(RpcError::params(format!("no model {value}")));
                }
                self.model = Arc::new(model.clone());
                host.handle.set_model(model);
            }
            "thinking" => {
                self.thinking = value.parse().map_err(RpcError::params)?;
                host.handle.set_thinking(self.thinking);
            }
            _ => return Err(RpcError::params(format!("no option {id}"))),
        }
        Ok(())
    }

    pub fn mode(&self) -> &'static str {
        self.mode.name()
    }

    /// The session modes.
    pub fn modes(&self) -> Value {
        let modes = PermissionMode::ALL.map(|mode| {
            json!({"id": mode.name(), "name": title(mode.name()), "description": mode.meaning()})
        });
        json!({"currentModeId": self.mode.name(), "availableModes": modes})
    }

    /// The configuration options.
    pub fn config(&self) -> Value {
        let modes = PermissionMode::ALL.map(|mode| {
            let name = mode.name();
            json!({"value": name, "name": title(name), "description": mode.meaning()})
        });
        let current = self.model.full_id();
        let models = self.models.iter();
        let mut models: Vec<Value> = models
            .map(|model| json!({"value": model.full_id(), "name": name_of(model)}))
            .collect();
        if models.iter().all(|model| model["value"] != current) {
            models.insert(0, json!({"value": current, "name": name_of(&self.model)}));
        }
        let levels = self.model.supported_thinking();
        let levels: Vec<Value> = levels
            .iter()
            .map(|level| json!({"value": level.as_str(), "name": title(level.as_str())}))
            .collect();
        let thinking = self.model.clamp_thinking(self.thinking).as_str();
        json!([
            select(
                "mode",
                "Permission mode",
                "mode",
                self.mode.name(),
                json!(modes)
            ),
            select("model", "Model", "model", &current, json!(models)),
            select(
                "thinking",
                "Thinking",
                "thought_level",
                thinking,
                json!(levels)
            ),
        ])
    }
}

fn select(id: &str, name: &str, category: &str, current: &str, options: Value) -> Value {
    json!({
        "id": id,
        "name": name,
        "category": category,
        "type": "select",
        "currentValue": current,
        "options": options,
    })
}

fn name_of(model: &Model) -> String {
    format!("{} ({})", model.name, model.provider)
}

/// With a capital letter.
fn title(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}
