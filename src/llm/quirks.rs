//! Where servers and models differ: one struct, read by serde from `quirks` tables of the built-in
//! catalog and the user's `models.toml`.
//!
//! Facts about a host are data in `assets/models.toml`, never code. The APIs only read the fields.

use serde::{Deserialize, Serialize};
use toml::Table;

use super::api::Api;

/// How a server differs from others. An unknown server gets the oldest form, which every server
/// understands; [`Quirks::of_api`] has these defaults.
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
    /// Chat: every answer of a thinking model needs `reasoning_content`, and an empty one is like none.
    pub reasoning_always: bool,
    /// Chat: reasoning goes back as a part of the content.
    pub reasoning_parts: bool,
    /// Chat: which ids of tool calls the server accepts.
    pub ids: IdRule,
    /// Chat: the server understands `prompt_cache_key`. A proxy of the host may not know it.
    pub cache_key: bool,
    /// Chat and Anthropic: the server understands Anthropic's cache marks.
    pub cache_marks: bool,
    /// Anthropic: cache marks ask for an hour instead of five minutes.
    pub hour_cache: bool,
    /// Anthropic: tools can have cache marks too.
    pub tool_cache_marks: bool,
    /// Chat: the server streams usage only on request (`stream_options`).
    pub stream_usage: bool,
    /// Chat: the server streams the arguments of calls only on request (`tool_stream: true`).
    pub tool_stream: bool,
    /// Chat: a conversation with tool calls needs a list of tools, even an empty one.
    pub empty_tools: bool,
    /// Chat: results carry the name of their tool.
    pub result_names: bool,
    /// Chat: results and the next user message need an answer between them.
    pub answer_after_results: bool,
    /// Responses: a tool can take free text in a grammar instead of JSON.
    pub custom_tools: bool,
    /// Responses and Google: the result of a call can include images.
    pub result_images: bool,
    /// Responses: a request needs no output limit.
    pub open_output: bool,
    /// The output limit, in tokens, for a host that charges the limit against a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u64>,
    /// Responses: a new effort level is an item of the conversation, so that the cache stays valid.
    pub effort_updates: bool,
    /// Responses: the server can summarize its reasoning.
    pub summaries: bool,
    /// Anthropic: the model takes an effort, not a budget of thinking tokens. If unset, depends on
    /// whether its levels are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive_thinking: Option<bool>,
    /// Anthropic: thinking blocks are valid only with the exact system prompt, tools and messages they
    /// were made with. The server refuses any other prefix.
    pub thinking_binding: bool,
    /// Anthropic: send back thinking blocks with an empty signature.
    pub empty_signatures: bool,
    /// Anthropic: tools accept `eager_input_streaming`.
    pub eager_tool_input: bool,
    /// Anthropic: the server understands `anthropic-beta` headers.
    pub betas: bool,
    /// Anthropic: the key goes into `authorization: Bearer`, not `x-api-key`.
    pub bearer: bool,
    /// Google: calls and results carry ids.
    pub call_ids: bool,
    /// Google: the first call of an answer needs a signature.
    pub call_signatures: bool,
    /// Google: the range of the thinking budget, in tokens. If unset, the model decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<BudgetRange>,
    /// Headers that carry the session's id, so that its requests reach the same cache.
    pub session_headers: Vec<String>,
    /// A 400 with an empty body means that the prompt is too long.
    pub empty_400_is_overflow: bool,
    /// The path that checks a key, if the list of models needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_check: Option<String>,
}

impl Quirks {
    /// The defaults for an unknown server of this API.
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

    /// Overrides these quirks with those of `table`.
    pub fn with(self, table: &QuirksTable) -> Self {
        if table.0.is_empty() {
            return self;
        }
        let mut all = Table::try_from(&self).unwrap_or_default();
        all.extend(table.0.clone());
        // Reading the table has already checked it.
        all.try_into().unwrap_or(self)
    }
}

/// A checked `quirks` table as written, so that only the keys it has override others.
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
            // It must stay below the provider's address.
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
    /// `reasoning: { enabled: BOOL }`, or `reasoning_effort` for models that always think.
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

/// The thinking budgets that a Google model accepts, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetRange {
    /// The form of "no thinking".
    pub off: i64,
    /// The smallest budget for a model that thinks.
    pub min: i64,
    /// The largest budget.
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
    /// At most 40 characters; ids from other servers become `[a-zA-Z0-9_-]{1,40}`.
    OpenAi,
    /// `[a-zA-Z0-9_-]{1,64}`, and no id twice in a conversation. A call of the model's own keeps the id
    /// of its item after a `|`, as stored.
    Responses,
    /// Exactly nine letters and digits.
    Mistral,
    /// Any id that the server itself made; ids from other servers, as `OpenAi`.
    #[default]
    Any,
}
