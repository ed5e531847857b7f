//! Token counts of the two OpenAI protocols: the same idea under other names.

use serde_json::Value;

use crate::message::Usage;

/// Where a usage object has each count: JSON pointers; the first that exists wins.
pub struct UsageFields {
    /// Prompt tokens, cached ones included.
    pub input: &'static str,
    /// Tokens of the answer.
    pub output: &'static str,
    /// The reasoning tokens among them.
    pub reasoning: &'static str,
    /// Prompt tokens read from the cache.
    pub cache_read: &'static [&'static str],
    /// Prompt tokens written to the cache.
    pub cache_write: &'static [&'static str],
}

/// The tiers at list price.
const USUAL_TIERS: [&str; 4] = ["default", "auto", "standard", "on_demand"];

/// The service tier that served `response`, if it has its own price.
pub fn tier(response: &Value) -> Option<&str> {
    let tier = response["service_tier"].as_str();
    tier.filter(|tier| !USUAL_TIERS.contains(tier))
}

pub fn usage(counts: &Value, fields: &UsageFields) -> Usage {
    let count = |pointer: &str| counts.pointer(pointer).and_then(Value::as_u64);
    let first = |pointers: &[&str]| pointers.iter().find_map(|pointer| count(pointer));
    let prompt = count(fields.input).unwrap_or_default();
    let mut output = count(fields.output).unwrap_or_default();
    let reasoning = count(fields.reasoning).filter(|tokens| *tokens > 0);
    // xAI leaves reasoning out of the output tokens, as its total shows.
    if let (Some(total), Some(reasoning)) = (count("/total_tokens"), reasoning)
        && total == prompt + output + reasoning
    {
        output += reasoning;
    }
    let cache_read = first(fields.cache_read).unwrap_or_default().min(prompt);
    let cache_write = first(fields.cache_write)
        .unwrap_or_default()
        .min(prompt - cache_read);
    Usage {
        input: prompt - cache_read - cache_write,
        output,
        cache_read,
        cache_write,
        reasoning,
        ..Usage::default()
    }
}

/// What OpenRouter bills, in US dollars: its own price, and with the user's own key the price of the
/// provider. <https://openrouter.ai/docs/use-cases/usage-accounting>
pub fn billed(counts: &Value) -> Option<f64> {
    let cost = counts["cost"].as_f64()?;
    let upstream = match counts["is_byok"].as_bool() {
        Some(true) => counts["cost_details"]["upstream_inference_cost"].as_f64(),
        _ => None,
    };
    Some(cost + upstream.unwrap_or_default())
        .filter(|dollars| dollars.is_finite() && *dollars >= 0.0)
}
