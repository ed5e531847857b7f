//! The details of a model as text: window, limits, prices, thinking, API, address, key.

use std::fmt::Write;

use ratatui_core::style::Style;

use crate::app::humanize::{grouped, price, window};
use crate::app::models::{BUILT_IN, KeyState, ModelEntry};
use crate::app::tui::theme::Theme;
use crate::app::tui::view::line::StyledLine;
use crate::llm::{Model, PriceTier};

/// All details in lines of at most `columns`: how to get a missing key, then the most important.
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
    if entry.origin != BUILT_IN {
        details.push((format!("From: {}", entry.origin), quiet));
    }
    let lines = details.into_iter();
    lines
        .flat_map(|(text, style)| StyledLine::wrapped(&text, style, columns))
        .collect()
}

/// Short prices of input and output, or an empty text if none is known.
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
    let tools = if model.tools { "" } else { " · no tool calls" };
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
        return "No thinking".to_owned();
    }
    let levels: Vec<&str> = levels.iter().map(|level| level.as_str()).collect();
    format!("Thinking: {}", levels.join(", "))
}
