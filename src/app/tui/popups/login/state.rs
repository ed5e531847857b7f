//! Adding an API key as plain data: the providers, and the key typed so far. The key is never shown, and
//! never stored with other typed text.

use zeroize::Zeroizing;

use crate::app::keys::{looks_like_a_key, products_of, provider_of_product, server_without_key};
use crate::app::models::ProviderKey;
use crate::app::tui::popups::Picker;
use crate::llm::Secret;
use crate::llm::nearest::nearest;

/// No provider has longer keys.
const MAX_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Login {
    pub picker: Picker,
    /// The providers that need a key; `None` until they are read.
    pub providers: Option<Vec<ProviderKey>>,
    /// The provider requested before they were read.
    pub named: Option<String>,
    /// The provider, and the part of its key typed so far.
    pub typing: Option<(String, Secret)>,
    pub fault: Option<String>,
}

impl Login {
    pub fn read(&mut self, providers: Vec<ProviderKey>) {
        self.providers = Some(providers);
        self.search();
        if let Some(named) = self.named.take() {
            let named = provider_of_product(&named).map_or(named, str::to_owned);
            let known = self.providers.iter().flatten().any(|it| it.name == named);
            if known {
                self.typing = Some((named, Secret::new("")));
            } else if let Some(server) = server_without_key(&named) {
                self.fault = Some(needs_no_key(server));
            } else {
                let names = self.providers.iter().flatten().map(|it| &*it.name);
                let near = nearest(&named, names);
                let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
                self.fault = Some(match &*near {
                    "" => format!("No provider '{named}'. Choose one from the list."),
                    near => format!("No provider '{named}'{near}"),
                });
            }
        }
    }

    pub fn search(&mut self) {
        if self.holds_key() {
            return self.picker.set_matches(Vec::new(), 0);
        }
        let providers = self.providers.iter().flatten();
        self.picker.find(providers.map(|it| {
            let products = products_of(&it.name).collect::<Vec<_>>().join(" ");
            format!("{} {products}", it.name)
        }));
    }

    /// Whether the query is a key instead of a provider.
    pub fn holds_key(&self) -> bool {
        looks_like_a_key(self.picker.query())
    }

    /// What to say if no provider matches.
    pub fn no_match(&self) -> String {
        match server_without_key(self.picker.query()) {
            Some(server) => needs_no_key(server),
            None => "No match. Choose the provider first, then paste the key".to_owned(),
        }
    }

    /// Drops a key in the query; whether there was one.
    pub fn refuse_key(&mut self) -> bool {
        let holds_key = self.holds_key();
        if holds_key {
            self.picker = Picker::default();
            self.search();
            self.fault = Some("Choose the provider first, then paste the key".to_owned());
        }
        holds_key
    }

    pub fn chosen(&self) -> Option<&ProviderKey> {
        self.providers.as_ref()?.get(self.picker.chosen()?)
    }

    /// Adds to the key, without the line breaks and the space before it that a paste may have.
    pub fn type_key(&mut self, text: &str) {
        if let Some((_, key)) = &mut self.typing {
            let mut longer = Zeroizing::new(key.expose().to_owned());
            for c in text.chars().filter(|c| !c.is_control()) {
                if !c.is_whitespace() || !longer.is_empty() {
                    longer.push(c);
                }
            }
            let end = longer.floor_char_boundary(MAX_BYTES);
            longer.truncate(end);
            *key = Secret::new(&*longer);
            self.fault = None;
        }
    }

    pub fn delete_backward(&mut self) {
        if let Some((_, key)) = &mut self.typing {
            let mut shorter = Zeroizing::new(key.expose().to_owned());
            shorter.pop();
            *key = Secret::new(&*shorter);
            self.fault = None;
        }
    }
}

fn needs_no_key(server: &str) -> String {
    format!("{server} needs no key: start it, then choose its model with /model")
}
