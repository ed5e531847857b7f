//! Adding an API key as plain data: the providers, and the key typed so far. The key is never shown, and
//! never stored with other typed text.

use zeroize::Zeroizing;

use crate::app::keys::provider_of_product;
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
        let providers = self.providers.iter().flatten();
        self.picker.find(providers.map(|it| it.name.clone()));
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
