//! Where hosts of Responses differ, by provider and address.
//!
//! What is not known to differ gets the form that everybody understands.

use crate::llm::catalog::pattern::Name;
use crate::llm::model::Model;

/// The first version of GPT that takes custom tools.
const CUSTOM_SINCE: u32 = 5;

/// How a host wants to be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// A tool may take free text in a grammar's form instead of JSON.
    pub custom_tools: bool,
    /// The result of a call may hold pictures. llama.cpp and LM Studio refuse even a list of texts.
    pub result_images: bool,
    /// Thoughts may be asked for in summary.
    pub summaries: bool,
}

/// The quirks of the host at `base_url` for `model`: what the user says of them, else what is known
/// of the host.
pub fn of(model: &Model, base_url: &str) -> Quirks {
    let base_url = base_url.to_ascii_lowercase();
    let openai = model.provider == "openai"
        || ["api.openai.com", ".azure.com"]
            .iter()
            .any(|host| base_url.contains(host));
    let said = &model.quirks;
    Quirks {
        custom_tools: (said.custom_tools).unwrap_or_else(|| takes_custom_tools(&model.id)),
        result_images: said.result_images.unwrap_or(openai),
        summaries: said.summaries.unwrap_or(true),
    }
}

/// GPT from 5 on; `gpt-oss` and the like have no version.
fn takes_custom_tools(id: &str) -> bool {
    let id = id.rsplit('/').next().unwrap_or(id);
    id.starts_with("gpt-") && Name::parse(id).age().0.first().copied() >= Some(CUSTOM_SINCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::model::Api;

    #[test]
    fn custom_tools_are_for_newer_gpts() {
        for (id, expected) in [
            ("gpt-6.1-sol", true),
            ("gpt-5", true),
            ("gpt-5.3-codex", true),
            ("openai/gpt-5.4-mini", true),
            ("gpt-4o", false),
            ("gpt-4.1-mini", false),
            ("gpt-oss-120b", false),
            ("gpt-scripted", false),
            ("o4-mini", false),
            ("chat-latest", false),
            ("grok-4.7", false),
        ] {
            assert_eq!(takes_custom_tools(id), expected, "{id}");
        }
    }

    #[test]
    fn hosts_are_known_by_provider_or_address() {
        let pictures = |provider: &str, base_url: &str| {
            let model = Model::new(provider, "m", Api::OpenAiResponses, base_url);
            of(&model, base_url).result_images
        };
        assert!(pictures("openai", "http://127.0.0.1:1/v1"));
        assert!(pictures("mine", "https://me.openai.azure.com/openai/v1"));
        assert!(!pictures("xai", "https://api.x.ai/v1"));
        assert!(!pictures("llama.cpp", "http://127.0.0.1:8080/v1"));

        let mut told = Model::new("xai", "grok", Api::OpenAiResponses, "");
        told.quirks.custom_tools = Some(true);
        told.quirks.result_images = Some(true);
        let quirks = of(&told, "");
        assert!(quirks.custom_tools && quirks.result_images);
    }
}
