//! Token counts of the two OpenAI protocols: the same idea under other names.

use serde_json::Value;

use crate::llm::message::Usage;
use crate::llm::model::Prices;

/// Where a usage object holds which count: JSON pointers, the first that is there counts.
pub struct UsageFields {
    /// Prompt tokens, cached ones included.
    pub input: &'static str,
    /// Tokens of the answer.
    pub output: &'static str,
    /// Those of them that are reasoning.
    pub reasoning: &'static str,
    /// Prompt tokens read from the cache.
    pub cache_read: &'static [&'static str],
    /// Prompt tokens written to the cache.
    pub cache_write: &'static [&'static str],
}

/// The usage in `counts`, at `prices` unless the provider says what it bills.
pub fn usage(counts: &Value, fields: &UsageFields, prices: &Prices) -> Usage {
    let count = |pointer: &str| counts.pointer(pointer).and_then(Value::as_u64);
    let first = |pointers: &[&str]| pointers.iter().find_map(|pointer| count(pointer));
    let prompt = count(fields.input).unwrap_or_default();
    let mut output = count(fields.output).unwrap_or_default();
    let reasoning = count(fields.reasoning).filter(|tokens| *tokens > 0);
    // xAI leaves reasoning out of the output tokens; its total tells.
    if let (Some(total), Some(reasoning)) = (count("/total_tokens"), reasoning)
        && total == prompt + output + reasoning
    {
        output += reasoning;
    }
    let cache_read = first(fields.cache_read).unwrap_or_default().min(prompt);
    let cache_write = first(fields.cache_write)
        .unwrap_or_default()
        .min(prompt - cache_read);
    let mut usage = Usage {
        input: prompt - cache_read - cache_write,
        output,
        cache_read,
        cache_write,
        reasoning,
        ..Usage::default()
    };
    usage.total_tokens = usage.context_tokens();
    usage.cost = prices.cost(&usage);
    if let Some(billed) = billed(counts) {
        usage.cost = usage.cost.scaled_to(billed);
    }
    usage
}

/// What OpenRouter bills, in US dollars: its own price, and with a key of the user's the price of
/// the provider behind it. <https://openrouter.ai/docs/use-cases/usage-accounting>
fn billed(counts: &Value) -> Option<f64> {
    let cost = counts["cost"].as_f64()?;
    let upstream = match counts["is_byok"].as_bool() {
        Some(true) => counts["cost_details"]["upstream_inference_cost"].as_f64(),
        _ => None,
    };
    Some(cost + upstream.unwrap_or_default())
        .filter(|dollars| dollars.is_finite() && *dollars >= 0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FIELDS: UsageFields = UsageFields {
        input: "/prompt_tokens",
        output: "/completion_tokens",
        reasoning: "/completion_tokens_details/reasoning_tokens",
        cache_read: &["/prompt_tokens_details/cached_tokens"],
        cache_write: &[],
    };

    #[test]
    fn what_the_provider_bills_beats_the_prices() {
        let prices = Prices {
            input: 1_000_000.0,
            output: 2_000_000.0,
            ..Prices::default()
        };
        for (more, expected) in [
            (json!({}), 4.0),
            (json!({ "cost": 0.5 }), 0.5),
            (json!({ "cost": 0.0 }), 0.0),
            (json!({ "cost": "much" }), 4.0),
            (json!({ "cost": -1.0 }), 4.0),
            (
                json!({ "cost": 0.1, "is_byok": true, "cost_details": { "upstream_inference_cost": 0.9 } }),
                1.0,
            ),
            (
                json!({ "cost": 0.1, "is_byok": false, "cost_details": { "upstream_inference_cost": 0.9 } }),
                0.1,
            ),
        ] {
            let mut counts = json!({ "prompt_tokens": 2, "completion_tokens": 1 });
            for (key, value) in more.as_object().unwrap() {
                counts[key] = value.clone();
            }
            let cost = usage(&counts, &FIELDS, &prices).cost;
            assert!((cost.total - expected).abs() < 1e-9, "{counts}: {cost:?}");
            assert!(
                (cost.input + cost.output - cost.total).abs() < 1e-9,
                "{cost:?}"
            );
        }
        let free = usage(
            &json!({ "completion_tokens": 1, "cost": 0.5 }),
            &FIELDS,
            &Prices::default(),
        );
        assert!((free.cost.total - 0.5).abs() < 1e-9);
    }
}
