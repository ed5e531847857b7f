//! What a person says about how a server wants to be spoken to, where hosts differ. What is not said
//! is decided by the wire from provider and address.

use serde::Deserialize;

use super::handoff::IdRule;

/// The words of a `quirks` table in `models.toml`: of a provider, or of one model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct QuirkWords {
    /// Chat: the system prompt of a thinking model goes under `developer`.
    pub developer_role: Option<bool>,
    /// Chat: the output limit is `max_completion_tokens`, not `max_tokens`.
    pub completion_tokens: Option<bool>,
    /// Chat: the parameter that asks for thinking.
    pub thinking: Option<ThinkingForm>,
    /// Chat: every answer of a thinking model carries `reasoning_content`.
    pub reasoning_always: Option<bool>,
    /// Chat: reasoning goes back as a part of the content.
    pub reasoning_parts: Option<bool>,
    /// Chat: which ids of tool calls are taken.
    pub ids: Option<IdRule>,
    /// Chat: `prompt_cache_key` is understood.
    pub cache_key: Option<bool>,
    /// Chat and Anthropic: Anthropic's cache marks are understood.
    pub cache_marks: Option<bool>,
    /// Chat: usage in streams has to be asked for (`stream_options`).
    pub stream_usage: Option<bool>,
    /// Chat: a conversation with tool calls needs a list of tools, an empty one if need be.
    pub empty_tools: Option<bool>,
    /// Chat: results carry the name of their tool.
    pub result_names: Option<bool>,
    /// Chat: an answer must stand between results and a person's words.
    pub answer_after_results: Option<bool>,
    /// Responses: a tool may take free text in a grammar's form instead of JSON.
    pub custom_tools: Option<bool>,
    /// Responses: the result of a call may hold pictures.
    pub result_images: Option<bool>,
    /// Responses: thoughts may be asked for in summary.
    pub summaries: Option<bool>,
    /// Anthropic: the model is told how hard to try, not how many tokens to think.
    pub adaptive_thinking: Option<bool>,
    /// Anthropic: the key goes into `authorization: Bearer`, not `x-api-key`.
    pub bearer: Option<bool>,
}

/// The parameter that asks for thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingForm {
    /// `reasoning_effort: WORD`.
    Effort,
    /// `reasoning: { effort: WORD }`.
    Object,
    /// `thinking: { type: enabled | disabled }` and `reasoning_effort`.
    SwitchAndEffort,
    /// `thinking: { type: enabled | disabled }`, and `reasoning_effort` for models whose levels are
    /// listed.
    Switch,
    /// `reasoning: { enabled: BOOL }`, or `reasoning_effort` for models that cannot be told not to.
    Enabled,
    /// `chat_template_kwargs: { enable_thinking: BOOL }` and `reasoning_effort`.
    Template,
    /// Nothing: it thinks as it likes.
    None,
}

impl QuirkWords {
    /// The keys of the table.
    pub const KEYS: [&str; 17] = [
        "developer_role",
        "completion_tokens",
        "thinking",
        "reasoning_always",
        "reasoning_parts",
        "ids",
        "cache_key",
        "cache_marks",
        "stream_usage",
        "empty_tools",
        "result_names",
        "answer_after_results",
        "custom_tools",
        "result_images",
        "summaries",
        "adaptive_thinking",
        "bearer",
    ];

    /// Lays what `words` say over these.
    pub fn overlay(&mut self, words: &Self) {
        let Self {
            developer_role,
            completion_tokens,
            thinking,
            reasoning_always,
            reasoning_parts,
            ids,
            cache_key,
            cache_marks,
            stream_usage,
            empty_tools,
            result_names,
            answer_after_results,
            custom_tools,
            result_images,
            summaries,
            adaptive_thinking,
            bearer,
        } = self;
        lay(developer_role, words.developer_role);
        lay(completion_tokens, words.completion_tokens);
        lay(thinking, words.thinking);
        lay(reasoning_always, words.reasoning_always);
        lay(reasoning_parts, words.reasoning_parts);
        lay(ids, words.ids);
        lay(cache_key, words.cache_key);
        lay(cache_marks, words.cache_marks);
        lay(stream_usage, words.stream_usage);
        lay(empty_tools, words.empty_tools);
        lay(result_names, words.result_names);
        lay(answer_after_results, words.answer_after_results);
        lay(custom_tools, words.custom_tools);
        lay(result_images, words.result_images);
        lay(summaries, words.summaries);
        lay(adaptive_thinking, words.adaptive_thinking);
        lay(bearer, words.bearer);
    }
}

fn lay<T>(below: &mut Option<T>, above: Option<T>) {
    if above.is_some() {
        *below = above;
    }
}
