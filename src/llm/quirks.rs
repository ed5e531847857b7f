//! Where servers and models differ: one struct, read by serde from `quirks` tables of the built-in
//! catalogue and of the user's `models.toml`.
//!
//! What is known of a host is data in `assets/models.toml`, never code. The APIs only read the
//! fields.

use serde::{Deserialize, Serialize};
use toml::Table;

use super::api::Api;

/// How a server wants to be spoken to. What is not known to differ gets the oldest form, which every
/// server understands; [`Quirks::of_api`] has these defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// Chat: the system prompt of a thinking model goes under `developer`.
    pub developer_role: bool,
    /// Chat: the output limit is `max_completion_tokens`, not `max_tokens`.
    pub completion_tokens: bool,
    /// Chat and Google: the parameter that asks for thinking.
    pub thinking: ThinkingFormat,
    /// Chat: drops the reasoning of earlier turns unless told not to (`clear_thinking: false`).
    pub clears_thinking: bool,
    /// Chat: every answer of a thinking model carries `reasoning_content`, and an empty one counts
    /// as none.
    pub reasoning_always: bool,
    /// Chat: reasoning goes back as a part of the content.
    pub reasoning_parts: bool,
    /// Chat: which ids of tool calls are taken.
    pub ids: IdRule,
    /// Chat: `prompt_cache_key` is understood. Only of the host itself: a proxy may not know it.
    pub cache_key: bool,
    /// Chat and Anthropic: Anthropic's cache marks are understood.
    pub cache_marks: bool,
    /// Anthropic: cache marks ask for an hour instead of five minutes.
    pub hour_cache: bool,
    /// Anthropic: cache marks are taken on tools too.
    pub tool_cache_marks: bool,
    /// Chat: usage in streams has to be asked for (`stream_options`).
    pub stream_usage: bool,
    /// Chat: the arguments of calls are streamed only when asked for (`tool_stream: true`).
    pub tool_stream: bool,
    /// Chat: a conversation with tool calls needs a list of tools, an empty one if need be.
    pub empty_tools: bool,
    /// Chat: results carry the name of their tool.
    pub result_names: bool,
    /// Chat: an answer must stand between results and the user's words.
    pub answer_after_results: bool,
    /// Responses: a tool may take free text in a grammar's form instead of JSON.
    pub custom_tools: bool,
    /// Responses and Google: the result of a call may hold images.
    pub result_images: bool,
    /// Responses: a request needs no output limit.
    pub open_output: bool,
    /// The output limit, in tokens, to ask for where the host counts the limit against a rate, and not
    /// what was produced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u64>,
    /// Responses: another effort in the middle of a conversation is an item of it, so that what is
    /// cached stays valid.
    pub effort_updates: bool,
    /// Responses: summaries of the reasoning may be asked for.
    pub summaries: bool,
    /// Anthropic: the model is given an effort, not a budget of tokens to think. Without it: whether
    /// its levels are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive_thinking: Option<bool>,
    /// Anthropic: thinking blocks are bound to the exact system prompt, tools and messages they were
    /// made with; a request with another prefix is refused.
    pub thinking_binding: bool,
    /// Anthropic: thinking blocks with an empty signature are sent back.
    pub empty_signatures: bool,
    /// Anthropic: tools take `eager_input_streaming`.
    pub eager_tool_input: bool,
    /// Anthropic: `anthropic-beta` headers are understood.
    pub betas: bool,
    /// Anthropic: the key goes into `authorization: Bearer`, not `x-api-key`.
    pub bearer: bool,
    /// Google: calls and results carry ids.
    pub call_ids: bool,
    /// Google: the first call of an answer needs a signature.
    pub call_signatures: bool,
    /// Google: the tokens a thinking budget may have; without it the model decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<BudgetRange>,
    /// Headers that carry the id of the session, so that requests of one session reach the same
    /// cache.
    pub session_headers: Vec<String>,
    /// A 400 with an empty body refuses a prompt that is too long.
    pub empty_400_is_overflow: bool,
    /// The path that checks a key, where the list of models is open to everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_check: Option<String>,
}

impl Quirks {
    /// What holds for a server of which nothing is known but its API.
    pub fn of_api(api: Api) -> Self {
        Self {
            cache_marks: api == Api::AnthropicMessages,
            tool_cache_marks: true,
            stream_usage: true,
            summaries: true,
            betas: api == Api::AnthropicMessages,
            call_ids: true,
            thinking: match api {
                Api::GoogleGenerateContent => ThinkingFormat::Budget,
                _ => ThinkingFormat::Effort,
            },
            ..Self::default()
        }
    }

    /// These quirks with those of `table` in their place.
    pub fn with(self, table: &QuirksTable) -> Self {
        if table.0.is_empty() {
            return self;
        }
        let mut all = Table::try_from(&self).unwrap_or_default();
        all.extend(table.0.clone());
        // Each table was checked when it was read.
        all.try_into().unwrap_or(self)
    }
}

/// A `quirks` table as written: checked, and kept so that only what it holds is laid over others.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "Table")]
pub struct QuirksTable(Table);

impl QuirksTable {
    /// Whether the table sets the quirk `name`.
    pub fn sets(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl TryFrom<Table> for QuirksTable {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        let quirks = Quirks::deserialize(table.clone()).map_err(|it| it.message().to_owned())?;
        match quirks.key_check {
            // Behind the address of the provider, or it would be another one.
            Some(path) if !path.starts_with('/') => {
                Err("key_check: expected a path that begins with '/'".to_owned())
            }
            _ => Ok(Self(table)),
        }
    }
}

/// The parameter that asks for thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingFormat {
    /// `reasoning_effort: WORD`; for Google `thinkingLevel: WORD`.
    #[default]
    Effort,
    /// `reasoning: { effort: WORD }`.
    Object,
    /// `thinking: { type: enabled | disabled }` and `reasoning_effort`.
    SwitchAndEffort,
    /// `thinking: { type: enabled | disabled }`.
    Switch,
    /// `reasoning: { enabled: BOOL }`, or `reasoning_effort` for models that cannot be told not to.
    Enabled,
    /// `chat_template_kwargs: { enable_thinking: BOOL }` and `reasoning_effort`.
    Template,
    /// `chat_template_args: { enable_thinking: BOOL }` and `reasoning_effort`.
    TemplateArgs,
    /// Google: `thinkingBudget: TOKENS`.
    Budget,
    /// No parameter: the model thinks as it likes.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetRange {
    /// What is sent for no thinking.
    pub off: i64,
    pub min: i64,
    pub max: i64,
}

/// Which ids of tool calls an API accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdRule {
    /// `[a-zA-Z0-9_-]{1,64}`, and no id twice in a conversation.
    Anthropic,
    /// `[a-zA-Z0-9_-]{1,64}`, and no id twice in a conversation.
    Google,
    /// At most 40 characters; what others made up, as `[a-zA-Z0-9_-]{1,40}`.
    OpenAi,
    /// `[a-zA-Z0-9_-]{1,64}`, and no id twice in a conversation; a call of the model's own keeps the
    /// id of its item behind a `|`, as it was stored.
    Responses,
    /// Exactly nine letters and digits.
    Mistral,
    /// Whatever the server itself made up; what others made up, as `OpenAi`.
    #[default]
    Any,
}
