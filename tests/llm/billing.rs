//! Costs beyond plain token counts: service tiers and one-hour caches. Also models that are newer
//! than the catalogue.

use serde_json::{Value, json};
use tiller::llm::anthropic::AnthropicDecoder;
use tiller::llm::openai::responses::ResponsesDecoder;
use tiller::llm::{
    Catalog, Client, Message, Model, PromptCaching, ThinkingLevel, WindowSource, window_check,
};

use super::kit::{self, answer, request, sse};
use crate::support::model_server::{ModelServer, Reply, Script, Wire};

fn listed(provider: &str, id: &str) -> Model {
    Catalog::default().current().known(provider, id).unwrap()
}

fn near(cost: f64, expected: f64) -> bool {
    (cost - expected).abs() < 1e-9
}

#[test]
fn a_service_tier_has_the_vendors_price() {
    let cost = |id: &str, tier: Value| {
        let end = json!({ "type": "response.completed", "response": {
            "status": "completed", "service_tier": tier,
            "usage": { "input_tokens": 1_000, "output_tokens": 1_000 } } });
        let stream = sse(&[end]);
        let prices = listed("openai", id).prices;
        let (message, _) = kit::fold(ResponsesDecoder::default(), &prices, [stream.as_bytes()]);
        message.usage.cost.total
    };
    for (id, tier, factor) in [
        ("gpt-6.1-sol", json!("fast"), 2.0),
        ("gpt-6.1-sol", json!("priority"), 2.0),
        ("gpt-6.1-sol", json!("flex"), 0.5),
        ("gpt-6-astra", json!("ultrafast"), 6.0),
        ("gpt-5.5", json!("priority"), 2.5),
        ("gpt-6.1-sol", json!("default"), 1.0),
        ("gpt-6.1-sol", Value::Null, 1.0),
        // An unknown tier has no price; `agent::budget` tells the user.
        ("gpt-6.1-sol", json!("ultrafast"), 0.0),
    ] {
        let list = cost(id, Value::Null);
        assert!(list > 0.0);
        assert!(near(cost(id, tier.clone()), list * factor), "{id} {tier}");
    }
}

#[test]
fn anthropics_fast_mode_and_one_hour_cache_have_their_price() {
    let cost = |usage: Value| {
        let events = [
            json!({ "type": "message_start", "message": { "id": "m", "usage": usage } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 0 } }),
            json!({ "type": "message_stop" }),
        ];
        let stream = sse(&events);
        let prices = listed("anthropic", "claude-opus-5-5").prices;
        let (message, _) = kit::fold(AnthropicDecoder::default(), &prices, [stream.as_bytes()]);
        message.usage.cost.total * 1_000_000.0
    };
    // Per million tokens: $4 for input, $5 for a five-minute cache write, $8 for a one-hour one.
    assert!(near(cost(json!({ "input_tokens": 100 })), 400.0));
    assert!(near(
        cost(json!({ "input_tokens": 100, "speed": "fast" })),
        800.0
    ));
    let written = |hour: u64| json!({ "cache_creation_input_tokens": 100, "cache_creation": { "ephemeral_1h_input_tokens": hour } });
    assert!(near(cost(written(0)), 500.0));
    assert!(near(cost(written(40)), 60.0 * 5.0 + 40.0 * 8.0));
}

/// <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>
#[test]
fn a_refusal_before_output_costs_only_if_anthropic_charges_it() {
    let cost = |category: Value, said: bool| {
        let mut events = vec![
            json!({ "type": "message_start", "message": { "id": "m", "usage": { "input_tokens": 500_000, "output_tokens": 1 } } }),
        ];
        if said {
            events.push(json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "I" } }));
        }
        let delta = json!({ "stop_reason": "refusal", "stop_details": { "type": "refusal", "category": category } });
        events.push(
            json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 1 } }),
        );
        events.push(json!({ "type": "message_stop" }));
        let stream = sse(&events);
        let prices = listed("anthropic", "claude-opus-5-5").prices;
        let (message, _) = kit::fold(AnthropicDecoder::default(), &prices, [stream.as_bytes()]);
        (message.usage.cost.total, message.usage.total_tokens)
    };
    // The usage must be empty, or the tokens would count as tokens without a price.
    for category in [json!("cyber"), json!("general_harms"), Value::Null] {
        assert_eq!(cost(category.clone(), false), (0.0, 0), "{category}");
        assert!(cost(category.clone(), true).0 > 1.9, "{category}");
    }
    for category in ["bio", "frontier_llm", "reasoning_extraction"] {
        assert!(cost(json!(category), false).0 > 1.9, "{category}");
    }
}

#[tokio::test]
async fn requests_ask_for_the_one_hour_cache() {
    for (caching, expected) in [
        (PromptCaching::On, json!({ "type": "ephemeral" })),
        (
            PromptCaching::Hour,
            json!({ "type": "ephemeral", "ttl": "1h" }),
        ),
    ] {
        let server = ModelServer::start(Script::of([Reply::text("hi")]));
        server.be_lenient();
        let client: Client = kit::wires(&server).with_caching(caching);
        let model = kit::model(Wire::Anthropic, &server.url(Wire::Anthropic));
        answer(&client, request(model, vec![Message::user("x", 0)])).await;
        let body = server.request(0).body;
        let last = body["messages"][0]["content"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone();
        let marks =
            [&body["system"][0], &body["tools"][1], &last].map(|it| it["cache_control"].clone());
        assert_eq!(marks, [expected.clone(), expected.clone(), expected]);
    }
}

#[test]
fn an_unlisted_newer_model_takes_the_facts_of_its_familys_newest() {
    let catalog = Catalog::default();
    let snapshot = catalog.current();
    let sibling = listed("openai", "gpt-6.1-sol");
    let new = snapshot.unlisted("openai", "gpt-6.2-sol").unwrap();
    assert_eq!(new.like.as_deref(), Some("openai/gpt-6.1-sol"));
    assert_eq!(new.context_window, sibling.context_window);
    assert_eq!(new.window_source, WindowSource::Model);
    assert_eq!(new.max_output, sibling.max_output);
    assert_eq!(new.thinking_levels, sibling.thinking_levels);
    assert_eq!(new.quirks, sibling.quirks);
    assert!(new.vision && new.reasoning);
    assert_eq!((new.prices.input, new.name.as_str()), (0.0, "gpt-6.2-sol"));
    let told = window_check::notes(&new, ThinkingLevel::Medium);
    assert!(
        told[0].contains("thinking levels of openai/gpt-6.1-sol"),
        "{told:?}"
    );
    assert_eq!(
        window_check::notes(&sibling, ThinkingLevel::Medium),
        [""; 0]
    );
    // An older model, one of another family and one without a version inherit nothing.
    for id in ["gpt-3.5-sol", "gpt-7-nova", "my-model"] {
        assert_eq!(snapshot.unlisted("openai", id).unwrap().like, None, "{id}");
    }
    let next = snapshot.unlisted("anthropic", "claude-sonnet-6").unwrap();
    assert_eq!(next.like.as_deref(), Some("anthropic/claude-sonnet-5-5"));
    assert!(next.quirks.thinking_binding && next.reasoning);
}

/// A date or a preview suffix in the name doesn't make another model.
#[test]
fn a_dated_name_of_a_listed_model_has_its_facts() {
    let catalog = Catalog::default();
    for (provider, id, listed_id) in [
        (
            "anthropic",
            "claude-sonnet-5-5-20260928",
            "claude-sonnet-5-5",
        ),
        ("openai", "gpt-6.1-sol-2026-10-01", "gpt-6.1-sol"),
        ("google", "gemini-3.8-flash-preview", "gemini-3.8-flash"),
    ] {
        let same = catalog.current().unlisted(provider, id).unwrap();
        let known = listed(provider, listed_id);
        assert_eq!(same.like, None);
        assert_eq!(same.context_window, known.context_window, "{id}");
        assert_eq!(same.max_output, known.max_output, "{id}");
        assert_eq!(same.thinking_levels, known.thinking_levels, "{id}");
        assert_eq!(same.prices, known.prices, "{id}");
    }
    let next = catalog
        .current()
        .unlisted("google", "gemini-3.9-flash-preview");
    assert_eq!(
        next.unwrap().like.as_deref(),
        Some("google/gemini-3.8-flash")
    );
}

#[test]
fn an_adjusted_thinking_level_is_reported() {
    let sol = listed("openai", "gpt-6.1-sol");
    let told = window_check::notes(&sol, ThinkingLevel::Off);
    assert!(
        told[0].contains("no thinking level off: tiller uses low"),
        "{told:?}"
    );
    assert_eq!(window_check::notes(&sol, ThinkingLevel::Low), [""; 0]);
}
