//! Where hosts of Chat Completions differ: one table, by provider and address.
//!
//! What is not known to differ gets the oldest form, which everybody understands. What a person says
//! in `models.toml` wins over the table. How a model's reasoning goes back is not here: it goes the
//! way it came (`reasoning`).

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
    /// It drops the reasoning of earlier turns unless told not to (`clear_thinking`).
    pub clears_thinking: bool,
    /// Every answer of a thinking model must carry `reasoning_content`, and an empty one counts as
    /// none.
    pub reasoning_always: bool,
    /// Reasoning goes back as a part of the content, under no other name.
    pub reasoning_parts: bool,
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
    /// Results carry the name of their tool.
    pub result_names: bool,
    /// A person's words cannot follow results: an answer must stand between.
    pub answer_after_results: bool,
}

struct Host {
    /// The provider's id in the catalogue.
    provider: &'static str,
    /// Parts of its addresses, in lower case.
    addresses: &'static [&'static str],
    quirks: Quirks,
}

const PLAIN: Quirks = Quirks {
    developer_role: false,
    completion_tokens: false,
    thinking: ThinkingForm::Effort,
    clears_thinking: false,
    reasoning_always: false,
    reasoning_parts: false,
    ids: IdRule::Any,
    cache_key: false,
    cache_marks: false,
    stream_usage: true,
    empty_tools: false,
    result_names: false,
    answer_after_results: false,
};

const OPENAI: Quirks = Quirks {
    developer_role: true,
    completion_tokens: true,
    ids: IdRule::OpenAi,
    cache_key: true,
    ..PLAIN
};

/// The hosts that are known to differ.
const HOSTS: &[Host] = &[
    Host {
        provider: "openai",
        addresses: &["api.openai.com"],
        quirks: OPENAI,
    },
    Host {
        provider: "azure",
        addresses: &["openai.azure.com"],
        quirks: Quirks {
            cache_key: false,
            ..OPENAI
        },
    },
    Host {
        provider: "openrouter",
        addresses: &["openrouter.ai"],
        quirks: Quirks {
            thinking: ThinkingForm::Object,
            cache_marks: true,
            ..PLAIN
        },
    },
    // Refuses fields it does not know.
    Host {
        provider: "groq",
        addresses: &["api.groq.com"],
        quirks: Quirks {
            completion_tokens: true,
            ..PLAIN
        },
    },
    // Refuses fields it does not know.
    Host {
        provider: "cerebras",
        addresses: &["api.cerebras.ai"],
        quirks: Quirks {
            completion_tokens: true,
            ..PLAIN
        },
    },
    Host {
        provider: "xai",
        addresses: &["api.x.ai"],
        quirks: Quirks {
            completion_tokens: true,
            ..PLAIN
        },
    },
    Host {
        provider: "deepseek",
        addresses: &["api.deepseek.com"],
        quirks: Quirks {
            thinking: ThinkingForm::SwitchAndEffort,
            reasoning_always: true,
            ..PLAIN
        },
    },
    // Refuses fields it does not know, `stream_options` among them: usage comes anyhow.
    Host {
        provider: "mistral",
        addresses: &["api.mistral.ai"],
        quirks: Quirks {
            ids: IdRule::Mistral,
            reasoning_parts: true,
            stream_usage: false,
            result_names: true,
            ..PLAIN
        },
    },
    Host {
        provider: "moonshotai",
        addresses: &["api.moonshot."],
        quirks: Quirks {
            thinking: ThinkingForm::Switch,
            reasoning_always: true,
            cache_key: true,
            ..PLAIN
        },
    },
    Host {
        provider: "zai",
        addresses: &["api.z.ai", "bigmodel.cn"],
        quirks: Quirks {
            thinking: ThinkingForm::Switch,
            clears_thinking: true,
            ..PLAIN
        },
    },
    Host {
        provider: "xiaomi",
        addresses: &["xiaomimimo.com"],
        quirks: Quirks {
            completion_tokens: true,
            thinking: ThinkingForm::Switch,
            reasoning_always: true,
            ..PLAIN
        },
    },
    Host {
        provider: "together",
        addresses: &["api.together."],
        quirks: Quirks {
            thinking: ThinkingForm::Enabled,
            ..PLAIN
        },
    },
    Host {
        provider: "nvidia",
        addresses: &["integrate.api.nvidia.com"],
        quirks: Quirks {
            thinking: ThinkingForm::None,
            ..PLAIN
        },
    },
    // The servers of one's own: their templates know whether to think.
    Host {
        provider: "llamacpp",
        addresses: &[],
        quirks: Quirks {
            thinking: ThinkingForm::Template,
            ..PLAIN
        },
    },
    Host {
        provider: "vllm",
        addresses: &[],
        quirks: Quirks {
            thinking: ThinkingForm::Template,
            ..PLAIN
        },
    },
];

/// The quirks of the host at `base_url` for `model`: what the user says of them, else what is known
/// of the host. A host is known by its address whatever the user calls it, and a provider stays
/// itself behind a proxy.
pub fn of(model: &Model, base_url: &str) -> Quirks {
    let base_url = base_url.to_ascii_lowercase();
    let here = |host: &&Host| host.addresses.iter().any(|part| base_url.contains(part));
    let at_home = HOSTS.iter().find(here);
    let host = at_home.or_else(|| HOSTS.iter().find(|host| host.provider == model.provider));
    let known = host.map_or(PLAIN, |host| host.quirks);
    let said = &model.quirks;
    Quirks {
        developer_role: said.developer_role.unwrap_or(known.developer_role),
        completion_tokens: said.completion_tokens.unwrap_or(known.completion_tokens),
        thinking: said.thinking.unwrap_or(known.thinking),
        clears_thinking: known.clears_thinking,
        reasoning_always: said.reasoning_always.unwrap_or(known.reasoning_always),
        reasoning_parts: said.reasoning_parts.unwrap_or(known.reasoning_parts),
        ids: said.ids.unwrap_or(known.ids),
        // What stands between may not know it.
        cache_key: (said.cache_key).unwrap_or(known.cache_key && at_home.is_some()),
        cache_marks: (said.cache_marks)
            .unwrap_or(known.cache_marks && model.id.starts_with("anthropic/")),
        stream_usage: said.stream_usage.unwrap_or(known.stream_usage),
        empty_tools: said.empty_tools.unwrap_or(known.empty_tools),
        result_names: said.result_names.unwrap_or(known.result_names),
        answer_after_results: (said.answer_after_results).unwrap_or(known.answer_after_results),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::model::Api;

    fn quirks(provider: &str, base_url: &str) -> Quirks {
        let model = Model::new(provider, "m", Api::OpenAiChat, base_url);
        of(&model, base_url)
    }

    #[test]
    fn hosts_are_known_by_address_or_provider() {
        for host in HOSTS {
            let behind_a_proxy = quirks(host.provider, "http://127.0.0.1:1/v1");
            for address in host.addresses {
                let at_home = quirks("mine", &format!("https://{address}/V1"));
                assert_eq!(
                    at_home.cache_key, host.quirks.cache_key,
                    "{}",
                    host.provider
                );
                let same = Quirks {
                    cache_key: false,
                    ..at_home
                };
                assert_eq!(behind_a_proxy, same, "{}", host.provider);
            }
        }
        assert_eq!(quirks("lab", "http://127.0.0.1:1/v1"), PLAIN);
        // The address says more than the name.
        assert!(quirks("openai", "https://api.deepseek.com").reasoning_always);
        let marks = Model::new("openrouter", "anthropic/claude", Api::OpenAiChat, "");
        assert!(of(&marks, "").cache_marks);
        assert!(!quirks("openrouter", "").cache_marks);
    }

    #[test]
    fn the_users_word_wins() {
        let mut model = Model::new("mistral", "m", Api::OpenAiChat, "");
        model.quirks.ids = Some(IdRule::Any);
        model.quirks.result_names = Some(false);
        model.quirks.stream_usage = Some(true);
        model.quirks.reasoning_parts = Some(false);
        assert_eq!(of(&model, "https://api.mistral.ai/v1"), PLAIN);
    }
}
