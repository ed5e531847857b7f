//! Where hosts of Chat Completions differ, by provider and address.
//!
//! What is not known to differ gets the oldest form, which everybody understands.

use crate::llm::handoff::IdRule;
use crate::llm::model::Model;
use crate::llm::quirks::ThinkingForm;

/// How a host wants to be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// The system prompt of a thinking model goes under `developer`.
    pub developer_role: bool,
    /// The output limit is `max_completion_tokens`.
    pub completion_tokens: bool,
    /// How thinking is asked for.
    pub thinking: ThinkingForm,
    /// Every answer of a thinking model must carry `reasoning_content`, an empty one if need be.
    pub reasoning_always: bool,
    /// Which tool call ids it takes.
    pub ids: IdRule,
    /// It understands `prompt_cache_key`.
    pub cache_key: bool,
    /// It serves Anthropic models with Anthropic's cache marks.
    pub cache_marks: bool,
    /// It has to be asked to send usage in a stream.
    pub stream_usage: bool,
    /// A conversation with tool calls needs a list of tools, an empty one if need be.
    pub empty_tools: bool,
}

/// The quirks of the host at `base_url` for `model`: what the user says of them, else what is known
/// of the host.
pub fn of(model: &Model, base_url: &str) -> Quirks {
    let base_url = base_url.to_ascii_lowercase();
    let is = |provider: &str, hosts: &[&str]| {
        model.provider == provider || hosts.iter().any(|host| base_url.contains(host))
    };
    let openai = is("openai", &["api.openai.com", "openai.azure.com"]);
    let openrouter = is("openrouter", &["openrouter.ai"]);
    let deepseek = is("deepseek", &["deepseek.com"]);
    let mistral = is("mistral", &["api.mistral.ai"]);
    let thinking = if openrouter {
        ThinkingForm::Object
    } else if deepseek {
        ThinkingForm::SwitchAndEffort
    } else if is("zai", &["api.z.ai", "bigmodel.cn"]) || is("moonshotai", &["api.moonshot."]) {
        ThinkingForm::Switch
    } else if is("together", &["api.together."]) {
        ThinkingForm::Enabled
    } else if is("nvidia", &["integrate.api.nvidia.com"]) {
        ThinkingForm::None
    } else {
        ThinkingForm::Effort
    };
    let ids = if mistral {
        IdRule::Mistral
    } else if openai {
        IdRule::OpenAi
    } else {
        IdRule::Any
    };
    let anthropic = model.id.starts_with("anthropic/");
    let said = &model.quirks;
    Quirks {
        developer_role: said.developer_role.unwrap_or(openai),
        completion_tokens: said.completion_tokens.unwrap_or(openai),
        thinking: said.thinking.unwrap_or(thinking),
        reasoning_always: said.reasoning_always.unwrap_or(deepseek),
        ids: said.ids.unwrap_or(ids),
        cache_key: (said.cache_key).unwrap_or_else(|| base_url.contains("api.openai.com")),
        cache_marks: said.cache_marks.unwrap_or(openrouter && anthropic),
        stream_usage: said.stream_usage.unwrap_or(true),
        empty_tools: said.empty_tools.unwrap_or(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::model::Api;

    #[test]
    fn hosts_are_known_by_provider_or_address() {
        let quirks = |provider: &str, base_url: &str| {
            of(
                &Model::new(provider, "m", Api::OpenAiChat, base_url),
                base_url,
            )
        };
        // A provider stays itself behind a proxy, and a host whatever the user calls it.
        for known in [
            quirks("openai", "http://127.0.0.1:1/v1"),
            quirks("mine", "https://api.openai.com/v1"),
        ] {
            assert!(known.developer_role && known.completion_tokens);
            assert_eq!(known.ids, IdRule::OpenAi);
        }
        assert!(
            !quirks("openai", "http://127.0.0.1:1/v1").cache_key,
            "only the host itself"
        );
        let plain = quirks("lab", "http://127.0.0.1:1/v1");
        assert!(!plain.developer_role && !plain.completion_tokens && !plain.reasoning_always);
        assert_eq!(
            (plain.thinking, plain.ids),
            (ThinkingForm::Effort, IdRule::Any)
        );
        assert_eq!(
            quirks("mistral", "https://api.mistral.ai/v1").ids,
            IdRule::Mistral
        );
        assert!(quirks("deepseek", "https://api.deepseek.com").reasoning_always);
        for (provider, form) in [
            ("openrouter", ThinkingForm::Object),
            ("deepseek", ThinkingForm::SwitchAndEffort),
            ("zai", ThinkingForm::Switch),
            ("moonshotai", ThinkingForm::Switch),
            ("together", ThinkingForm::Enabled),
            ("nvidia", ThinkingForm::None),
            ("groq", ThinkingForm::Effort),
        ] {
            assert_eq!(quirks(provider, "http://x").thinking, form, "{provider}");
        }
        let marks = Model::new("openrouter", "anthropic/claude", Api::OpenAiChat, "");
        assert!(of(&marks, "").cache_marks);
    }
}
