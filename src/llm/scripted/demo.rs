//! The demo that runs without a key: its script and its model.

use super::super::api::Api;
use super::super::model::Model;
use super::script::Script;

const DEMO: &str = include_str!("../../../assets/demo.toml");

/// The script of the demo, `assets/demo.toml`.
pub fn demo_script() -> Script {
    Script::parse(DEMO).expect("assets/demo.toml is checked by a test")
}

/// The model that the demo pretends to be.
pub fn demo_model() -> Model {
    Model {
        name: "Demo (a script, not a model)".to_owned(),
        reasoning: true,
        ..Model::new("demo", "demo", Api::Scripted, "")
    }
}
