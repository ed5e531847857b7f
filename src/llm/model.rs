//! A model: its address, its abilities and its prices.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::api::Api;
use super::message::{Cost, Usage};
use super::quirks::Quirks;
use super::window::{self, WindowSource};

/// How hard a model should think.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// Not at all.
    Off,
    /// As little as the model can.
    Minimal,
    /// A little.
    Low,
    /// The usual amount.
    #[default]
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as the model can.
    Max,
}

impl ThinkingLevel {
    /// All levels, from least to most.
    pub const ALL: [Self; 7] = [
        Self::Off,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Xhigh,
        Self::Max,
    ];

    /// Splits a trailing `:level` off a name.
    pub fn split_off(name: &str) -> (&str, Option<Self>) {
        let parsed = name.rsplit_once(':');
        let parsed = parsed.and_then(|(bare, level)| Some((bare, Some(level.parse().ok()?))));
        parsed.unwrap_or((name, None))
    }

    /// The name used on the command line and in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for ThinkingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ThinkingLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|level| level.as_str() == text).ok_or_else(|| {
            format!(
                "unknown thinking level '{text}': use off, minimal, low, medium, high, xhigh or max"
            )
        })
    }
}

/// US dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prices {
    /// Fresh prompt tokens.
    pub input: f64,
    /// Produced tokens.
    pub output: f64,
    /// Prompt tokens read from a cache.
    pub cache_read: f64,
    /// Prompt tokens written to a cache.
    pub cache_write: f64,
    /// Other prices for long prompts, from the smallest to the largest.
    pub tiers: Vec<PriceTier>,
    /// The price factor of each service tier, by the provider's word for it: `fast = 2`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub service_tiers: BTreeMap<String, f64>,
}

/// The prices of a whole response whose prompt is longer than `above`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PriceTier {
    /// Prompt tokens, cached ones included.
    pub above: u64,
    /// Fresh prompt tokens.
    pub input: f64,
    /// Produced tokens.
    pub output: f64,
    /// Prompt tokens read from a cache.
    pub cache_read: f64,
    /// Prompt tokens written to a cache.
    pub cache_write: f64,
}

/// Further facts that affect the price of a response, besides its tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Billing<'a> {
    /// The service tier that answered, if not the default.
    pub tier: Option<&'a str>,
    /// How many of the cache writes last an hour.
    pub hour_writes: u64,
    /// The provider's own figure for the cost, in US dollars.
    pub billed: Option<f64>,
}

/// The price of writing a token to the one-hour cache, as a factor of a fresh token.
/// <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>
const HOUR_WRITE: f64 = 2.0;

/// Limits of one request, where known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InputLimits {
    /// Most images of one request.
    pub images: Option<u64>,
    /// Most bytes of one request. Images get seven eighths of them.
    pub request_bytes: Option<u64>,
}

impl Prices {
    /// All prices with their keys, including those of the tiers.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let rows = [[self.input, self.output, self.cache_read, self.cache_write]].into_iter();
        let tiers = self.tiers.iter();
        let rows = rows.chain(tiers.map(|it| [it.input, it.output, it.cache_read, it.cache_write]));
        rows.flat_map(|row| {
            ["input", "output", "cache_read", "cache_write"]
                .into_iter()
                .zip(row)
        })
    }

    /// The cost of `usage`, by kind and in total. `None` for a service tier of unknown price.
    pub fn cost(&self, usage: &Usage, billing: &Billing) -> Cost {
        let list = self.list_cost(usage, billing.hour_writes);
        let factor = match billing.tier {
            None => 1.0,
            Some(tier) => self.service_tiers.get(tier).copied().unwrap_or_default(),
        };
        let total = billing.billed.unwrap_or(list.total * factor);
        list.scaled_to(total)
    }

    fn list_cost(&self, usage: &Usage, hour_writes: u64) -> Cost {
        let of = |tokens: u64, price: f64| tokens as f64 * price / 1_000_000.0;
        let prompt = usage.input + usage.cache_read + usage.cache_write;
        let tier = self.tiers.iter().rev().find(|tier| prompt > tier.above);
        let [input_price, output, cache_read, cache_write] = match tier {
            Some(tier) => [tier.input, tier.output, tier.cache_read, tier.cache_write],
            None => [self.input, self.output, self.cache_read, self.cache_write],
        };
        let input = of(usage.input, input_price);
        let output = of(usage.output, output);
        let cache_read = of(usage.cache_read, cache_read);
        let hour_writes = hour_writes.min(usage.cache_write);
        let cache_write = of(usage.cache_write - hour_writes, cache_write)
            + of(hour_writes, input_price * HOUR_WRITE);
        Cost {
            input,
            output,
            cache_read,
            cache_write,
            total: input + output + cache_read + cache_write,
        }
    }
}

/// One model of one provider, ready for requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Provider id: the part before the slash.
    pub provider: String,
    /// Model id as the provider knows it: the part after the slash.
    pub id: String,
    /// The name the user sees.
    pub name: String,
    /// `provider/id` of the listed model whose facts this newer, unlisted one borrows.
    pub like: Option<String>,
    /// The API to speak.
    pub api: Api,
    /// The address: scheme, host and path prefix, without the API's own path.
    pub base_url: String,
    /// Window in tokens; 0 when unknown.
    pub context_window: u64,
    /// Where that figure comes from.
    pub window_source: WindowSource,
    /// Most tokens it can produce in one response.
    pub max_output: u64,
    /// Whether it can think.
    pub reasoning: bool,
    /// The thinking levels it accepts, each with the provider's own word. An empty word means: leave the
    /// parameter out. An empty map means the usual levels, see [`Model::supported_thinking`].
    pub thinking_levels: BTreeMap<ThinkingLevel, String>,
    /// Whether it can see images.
    pub vision: bool,
    /// Most images and bytes of one request.
    pub limits: InputLimits,
    /// Whether it can use tools. If not, tiller offers none.
    pub tools: bool,
    /// Its price.
    pub prices: Prices,
    /// The edit format it handles best.
    pub edit_format: EditFormat,
    /// How its server differs from others.
    pub quirks: Quirks,
    /// Fields that the user adds to every request body. They override tiller's own.
    pub options: Map<String, Value>,
}

/// The edit tool that a model gets. All of them do the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditFormat {
    /// `edit`: old text, new text.
    #[default]
    Edit,
    /// `apply_patch`: a patch in the v4a format.
    ApplyPatch,
    /// `replace`: Gemini's own shape of old and new text.
    Replace,
}

/// Output limit of an unlisted model, in tokens.
pub const DEFAULT_MAX_OUTPUT: u64 = 16_384;

impl Model {
    /// Whether a call's cost is known: from the prices, or as OpenRouter reports it with each answer.
    pub fn has_known_price(&self) -> bool {
        self.prices != Prices::default() || self.provider == "openrouter"
    }

    /// A model with a known address and nothing else: default limits, no prices, text only, no thinking.
    pub fn new(
        provider: impl Into<String>,
        id: impl Into<String>,
        api: Api,
        base_url: impl Into<String>,
    ) -> Self {
        let id = id.into();
        Self {
            provider: provider.into(),
            name: id.clone(),
            like: None,
            id,
            api,
            base_url: base_url.into(),
            context_window: window::DEFAULT,
            window_source: WindowSource::Default,
            max_output: DEFAULT_MAX_OUTPUT,
            reasoning: false,
            thinking_levels: BTreeMap::new(),
            vision: false,
            limits: InputLimits::default(),
            tools: true,
            prices: Prices::default(),
            edit_format: EditFormat::default(),
            quirks: Quirks::of_api(api),
            options: Map::new(),
        }
    }

    /// The window in tokens, or 0 if it is unknown or only an estimate.
    pub fn known_window(&self) -> u64 {
        match self.window_source {
            WindowSource::Estimate => 0,
            _ => self.context_window,
        }
    }

    /// `provider/id`.
    pub fn full_id(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// The levels this model supports, from least to most. Only `off` for a model that can't think.
    pub fn supported_thinking(&self) -> Vec<ThinkingLevel> {
        if !self.reasoning {
            return vec![ThinkingLevel::Off];
        }
        if self.thinking_levels.is_empty() {
            return ThinkingLevel::ALL
                .into_iter()
                .filter(|level| *level <= ThinkingLevel::High)
                .collect();
        }
        self.thinking_levels.keys().copied().collect()
    }

    /// The nearest level this model supports: the next higher one, or else the highest.
    pub fn clamp_thinking(&self, level: ThinkingLevel) -> ThinkingLevel {
        let supported = self.supported_thinking();
        supported
            .iter()
            .copied()
            .find(|candidate| *candidate >= level)
            .or(supported.last().copied())
            .unwrap_or(ThinkingLevel::Off)
    }

    /// The provider's own word for `level`, or `None` to leave the parameter out.
    pub fn thinking_word(&self, level: ThinkingLevel) -> Option<&str> {
        match self.thinking_levels.get(&level) {
            Some(word) if word.is_empty() => None,
            Some(word) => Some(word),
            None if level == ThinkingLevel::Off => None,
            None => Some(level.as_str()),
        }
    }
}
