//! What is known of a model, in words: window, limits, prices, thinking, wire, address, key.

use std::fmt::Write;

use ratatui::style::Style;

use super::line::StyledLine;
use crate::app::models::{KeyState, ModelEntry};
use crate::app::tui::humanize::{grouped, price};
use crate::app::tui::theme::Theme;
use crate::llm::{Model, PriceTier};

/// Everything, in lines of at most `columns`: the way to the missing key first, then what matters
/// most for a choice.
pub fn lines(theme: &Theme, entry: &ModelEntry, columns: usize) -> Vec<StyledLine> {
    let model = &*entry.model;
    let quiet = theme.popup.patch(theme.dim);
    let mut details: Vec<(String, Style)> = Vec::new();
    if let KeyState::Missing(hint) = &entry.key {
        details.push((format!("No key. {hint}"), theme.popup.patch(theme.warning)));
    }
    details.push((limits(model), theme.popup));
    details.extend(prices(model).map(|prices| (prices, theme.popup)));
    details.push((thinking(model), theme.popup));
    let place = format!("{} at {}", model.api.as_str(), model.base_url);
    details.push((place, quiet));
    details.push((format!("From: {}", entry.origin), quiet));
    let lines = details.into_iter();
    lines
        .flat_map(|(text, style)| StyledLine::wrapped(&text, style, columns))
        .collect()
}

/// A window in few characters: `200k`, `1M`; `?` when it is not known.
pub fn window(tokens: u64) -> String {
    match tokens {
        0 => "?".to_owned(),
        1..1000 => tokens.to_string(),
        // Powers of two are told as what they are called.
        1000..1_000_000 if tokens.is_multiple_of(1024) && !tokens.is_multiple_of(1000) => {
            format!("{}k", tokens / 1024)
        }
        1000..1_000_000 => format!("{}k", tokens / 1000),
        _ => {
            let millions = format!("{:.1}", (tokens / 100_000) as f64 / 10.0);
            format!("{}M", millions.trim_end_matches(".0"))
        }
    }
}

/// What input and output cost, shortly; nothing when no price is known.
pub fn price_pair(model: &Model) -> String {
    let prices = &model.prices;
    if prices.input == 0.0 && prices.output == 0.0 {
        return String::new();
    }
    format!("{} / {}", price(prices.input), price(prices.output))
}

fn limits(model: &Model) -> String {
    let window = match model.context_window {
        0 => "window unknown".to_owned(),
        tokens => format!("window {}", grouped(tokens)),
    };
    let inputs = if model.vision { "text, images" } else { "text" };
    let tools = if model.tools {
        ""
    } else {
        " · takes no tools"
    };
    let name = if model.name == model.id {
        String::new()
    } else {
        format!("{} · ", model.name)
    };
    format!(
        "{name}{window} · output {} tokens · reads {inputs}{tools}",
        grouped(model.max_output)
    )
}

fn prices(model: &Model) -> Option<String> {
    let prices = &model.prices;
    let base = PriceTier {
        above: 0,
        input: prices.input,
        output: prices.output,
        cache_read: prices.cache_read,
        cache_write: prices.cache_write,
    };
    if base.input == 0.0 && base.output == 0.0 && prices.tiers.is_empty() {
        return None;
    }
    let mut text = format!("Per million tokens: {}", tier(&base));
    for of in &prices.tiers {
        let _ = write!(text, "; above {}: {}", window(of.above), tier(of));
    }
    Some(text)
}

fn tier(of: &PriceTier) -> String {
    let mut text = format!("{} in, {} out", price(of.input), price(of.output));
    for (amount, what) in [
        (of.cache_read, "cache read"),
        (of.cache_write, "cache write"),
    ] {
        if amount > 0.0 {
            let _ = write!(text, ", {} {what}", price(amount));
        }
    }
    text
}

fn thinking(model: &Model) -> String {
    let levels = model.supported_thinking();
    if !model.reasoning {
        return "Does not think".to_owned();
    }
    let levels: Vec<&str> = levels.iter().map(|level| level.as_str()).collect();
    format!("Thinks: {}", levels.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_told_in_few_characters() {
        for (tokens, expected) in [
            (0, "?"),
            (512, "512"),
            (4096, "4k"),
            (8192, "8k"),
            (131_072, "128k"),
            (128_000, "128k"),
            (200_000, "200k"),
            (262_144, "256k"),
            (400_000, "400k"),
            (1_000_000, "1M"),
            (1_047_576, "1M"),
            (1_048_576, "1M"),
            (1_500_000, "1.5M"),
            (2_000_000, "2M"),
        ] {
            assert_eq!(window(tokens), expected, "{tokens}");
        }
    }
}
