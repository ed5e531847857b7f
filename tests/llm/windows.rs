//! Context windows: which number applies, which windows are too small, and answers that hide an
//! overflow.

use tiller::llm::window_check::{MIN_CONTEXT, check_min, warning};
use tiller::llm::{
    Api, AssistantMessage, Content, ErrorClass, Model, StopReason, Thinking, Usage, overflow,
    window,
};

fn model(window: u64) -> Model {
    Model {
        context_window: window,
        ..Model::new("lab", "m", Api::OpenAiChat, "")
    }
}

#[test]
fn the_models_window_overrides_settings_and_settings_override_the_default() {
    for (model, config, tokens, source) in [
        (200_000, 50_000, 200_000, "model"),
        (200_000, 0, 200_000, "model"),
        (0, 50_000, 50_000, "config"),
        (0, 0, 100_000, "default"),
    ] {
        let (window, from) = window::of(model, config);
        assert_eq!((window, from.as_str()), (tokens, source));
    }
}

#[test]
fn a_small_window_is_rejected_or_warned_about() {
    for (tokens, refused, warned) in [
        (0, false, false),
        (1, true, true),
        (15_999, true, true),
        (16_000, false, true),
        (31_999, false, true),
        (32_000, false, false),
        (1_000_000, false, false),
    ] {
        let error =
            format!("lab/m: Model context window too small ({tokens} tokens). Minimum is 16000.");
        let seen = check_min(&model(tokens), MIN_CONTEXT).map(|error| error.message);
        assert_eq!(seen, refused.then_some(error), "{tokens}");
        let text = format!("Low context window for lab/m: {tokens} tokens (warn threshold: 32000)");
        assert_eq!(warning(&model(tokens)), warned.then_some(text), "{tokens}");
    }
}

#[test]
fn an_empty_success_can_be_an_overflow() {
    let text = || vec![Content::text("Hi")];
    let blank = || vec![Content::text(" \n")];
    let thought = || vec![Content::Thinking(Thinking::default())];
    let raw = Some("model_context_window_exceeded");
    let (stop, length) = (StopReason::Stop, StopReason::Length);
    // Content, stop reason, the vendor's word, prompt, output, window; true for an overflow.
    for case in [
        (vec![], stop, None, 100, 0, 1000, false),
        (vec![], stop, None, 1001, 0, 1000, true),
        (blank(), stop, None, 1001, 1, 1000, true),
        (thought(), stop, None, 1001, 1, 1000, true),
        (text(), stop, None, 1001, 1, 1000, false),
        (vec![], stop, None, 1001, 0, 0, false),
        (vec![], length, None, 990, 0, 1000, true),
        (vec![], length, None, 989, 0, 1000, false),
        (vec![], length, None, 990, 5, 1000, false),
        (text(), length, None, 1000, 0, 1000, false),
        (vec![], length, raw, 0, 0, 1000, true),
        (text(), length, raw, 900, 9, 1000, false),
        (vec![], StopReason::Error, None, 1001, 0, 1000, false),
        (vec![], StopReason::Aborted, None, 1001, 0, 1000, false),
    ] {
        let shown = format!("{case:?}");
        let (content, stop_reason, raw, input, output, window, expected) = case;
        let message = AssistantMessage {
            content,
            stop_reason,
            raw_stop_reason: raw.map(str::to_owned),
            usage: Usage {
                input: input / 2,
                cache_read: input - input / 2,
                output,
                ..Usage::default()
            },
            ..AssistantMessage::default()
        };
        let error = overflow::hidden(&message, &model(window));
        assert_eq!(error.is_some(), expected, "{shown}: {error:?}");
        if let Some(error) = error {
            assert_eq!(error.class, ErrorClass::Overflow);
            assert!(error.to_string().contains("larger window"), "{error}");
        }
    }
}
