//! Reads single settings as the types of those who need them; what is wrong is told with the value and
//! its place.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toml::Value;

use super::layers::Layers;
use crate::agent::{QueueMode, Threshold};
use crate::llm::local::{Address, LocalServer, ServerAddrs};

/// The merged layers, read value by value.
pub(super) struct Reader<'a>(pub &'a Layers);

impl Reader<'_> {
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<T, String> {
        self.convert(key, |value| {
            let read = value.clone().try_into();
            read.map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())
        })
    }

    /// The word of `key`, as `parse` takes it.
    pub fn parsed<T>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, String> {
        self.convert(key, |value| parse(value.as_str().unwrap_or_default()))
    }

    /// The value of `key`, as `convert` takes it.
    pub fn convert<T>(
        &self,
        key: &str,
        convert: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<T, String> {
        let value = self.0.find(key);
        let (value, layer) = value.ok_or_else(|| format!("setting {key} has no value"))?;
        convert(value)
            .map_err(|error| format!("setting {key} = {value} ({}): {error}", layer.place(key)))
    }

    /// The word of `key`, which is one of `words`.
    pub fn one_of(&self, key: &str, words: &[&str]) -> Result<String, String> {
        self.parsed(key, |text| {
            if words.contains(&text) {
                Ok(text.to_owned())
            } else {
                Err(format!("expected one of {}", words.join(", ")))
            }
        })
    }

    pub fn not_zero<T: TryFrom<u64>>(&self, key: &str) -> Result<T, String> {
        self.convert(key, |value| {
            let number = value.as_integer().and_then(|it| u64::try_from(it).ok());
            let number = number
                .filter(|it| *it > 0)
                .and_then(|it| it.try_into().ok());
            number.ok_or_else(|| "expected a whole number from 1".to_owned())
        })
    }

    pub fn share(&self, key: &str) -> Result<f64, String> {
        self.convert(key, |value| {
            let share: f64 = value.clone().try_into().unwrap_or(f64::NAN);
            let fault = || "expected a share of the window from 0.05 to 1, such as 0.8".to_owned();
            (0.05..=1.0)
                .contains(&share)
                .then_some(share)
                .ok_or_else(fault)
        })
    }

    pub fn dollars(&self, key: &str) -> Result<f64, String> {
        self.convert(key, |value| {
            let usd: f64 = value.clone().try_into().unwrap_or(f64::NAN);
            let ok = usd.is_finite() && usd >= 0.0;
            ok.then_some(usd)
                .ok_or_else(|| "expected US dollars from 0, such as 2.5".to_owned())
        })
    }

    pub fn servers(&self) -> Result<ServerAddrs, String> {
        let mut addresses = BTreeMap::new();
        for server in LocalServer::ALL {
            let facts = server.facts();
            let parse = |text: &str| match text.trim() {
                "" if server == LocalServer::Ollama => Ok(None),
                text => Address::parse(text, facts.port).map(Some),
            };
            let address = self.parsed(&format!("models.servers.{}", facts.id), parse)?;
            addresses.extend(address.map(|address| (server, address)));
        }
        Ok(ServerAddrs {
            wanted: self.get("models.local")?,
            addresses,
            ollama_window: None,
        })
    }

    pub fn thresholds(&self) -> Result<BTreeMap<String, Threshold>, String> {
        let key = "compaction.thresholds";
        let parse = |(model, text): (String, String)| match text.parse() {
            Ok(threshold) => Ok((model, threshold)),
            Err(error) => Err(format!("setting {key}.\"{model}\": {error}")),
        };
        self.0.string_map(key).into_iter().map(parse).collect()
    }

    pub fn queue_mode(&self, key: &str) -> Result<QueueMode, String> {
        Ok(match self.one_of(key, &["all", "one"])?.as_str() {
            "one" => QueueMode::One,
            _ => QueueMode::All,
        })
    }
}
