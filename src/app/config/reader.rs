//! Reads single settings as the types that others need. An error names the value and its place.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toml::Value;

use super::layers::Layers;
use crate::agent::{QueueMode, Threshold};
use crate::llm::local::{Address, LocalServer, ServerAddrs};

pub(super) struct Reader<'a>(pub &'a Layers);

impl Reader<'_> {
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<T, String> {
        self.convert(key, |value| {
            let read = value.clone().try_into();
            read.map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())
        })
    }

    pub fn parsed<T>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, String> {
        self.convert(key, |value| parse(value.as_str().unwrap_or_default()))
    }

    pub fn convert<T>(
        &self,
        key: &str,
        convert: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<T, String> {
        let value = self.0.find(key);
        let (value, _) = value.ok_or_else(|| format!("setting {key} has no value"))?;
        convert(value).map_err(|error| self.0.fault(key, &error))
    }

    fn expect<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<T, String> {
        self.convert(key, |value| {
            read(value).ok_or_else(|| format!("expected {expected}"))
        })
    }

    pub fn one_of<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<T, String> {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        self.expect(key, &format!("one of {}", names.join(", ")), |value| {
            let found = words.iter().find(|(word, _)| value.as_str() == Some(word));
            found.map(|(_, meaning)| *meaning)
        })
    }

    pub fn not_zero<T: TryFrom<u64>>(&self, key: &str) -> Result<T, String> {
        self.expect(key, "a whole number from 1", |value| {
            let number = u64::try_from(value.as_integer()?).ok()?;
            T::try_from(number).ok().filter(|_| number > 0)
        })
    }

    pub fn share(&self, key: &str) -> Result<f64, String> {
        let expected = "a share of the window from 0.05 to 1, such as 0.8";
        self.number(key, expected, |share| (0.05..=1.0).contains(&share))
    }

    pub fn dollars(&self, key: &str) -> Result<f64, String> {
        let expected = "US dollars from 0, such as 2.5";
        self.number(key, expected, |usd| usd.is_finite() && usd >= 0.0)
    }

    fn number(&self, key: &str, expected: &str, fits: impl Fn(f64) -> bool) -> Result<f64, String> {
        self.expect(key, expected, |value| {
            let number = value.clone().try_into().ok();
            number.filter(|number| fits(*number))
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
        self.one_of(key, &[("all", QueueMode::All), ("one", QueueMode::One)])
    }
}
