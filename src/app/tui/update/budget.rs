//! `/budget`: shows and sets what the session may spend.

use crate::agent::{Budget, BudgetLimit, NoticeLevel};
use crate::app::humanize::{dollars, short};
use crate::app::tui::app::{App, Status};
use crate::app::tui::effect::Effect;
use crate::app::tui::run_facts::Resume;

pub fn act(app: &mut App, argument: &str) -> Vec<Effect> {
    if argument.is_empty() {
        return app.say_for(spent(&app.status), 5000);
    }
    let Some(budget) = parse(argument, app.status.budget) else {
        let text =
            format!("Not a budget: {argument}. Try /budget $5, /budget 200k tokens or /budget off");
        return app.say_for(text, 5000);
    };
    app.status.budget = budget;
    // Enter would raise the old budget; with a new one, it only resumes.
    if let Some(Resume::AtBudget(_)) = app.resume {
        app.resume = Some(Resume::AtLimit);
    }
    let text = set(&app.status);
    app.transcript.push_notice(NoticeLevel::Info, text);
    vec![Effect::SetBudget(budget)]
}

/// `before` with the limits that `text` names replaced.
fn parse(text: &str, before: Budget) -> Option<Budget> {
    let text = text.trim().to_lowercase();
    if matches!(&*text, "off" | "none") {
        return Some(Budget::default());
    }
    let tokens = text.strip_suffix("tokens").or(text.strip_suffix("token"));
    if let Some(count) = tokens {
        let count = count.trim();
        let (number, times) = match count.strip_suffix(['k', 'm']) {
            Some(number) if count.ends_with('k') => (number, 1e3),
            Some(number) => (number, 1e6),
            None => (count, 1.0),
        };
        let tokens = positive(number)? * times;
        return (tokens >= 1.0).then_some(Budget {
            tokens: tokens as u64,
            ..before
        });
    }
    let amount = text.strip_prefix('$').or(text.strip_suffix("usd"));
    let usd = positive(amount.unwrap_or(&text))?;
    Some(Budget { usd, ..before })
}

fn positive(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number)
}

/// The new limits and how much is already spent.
fn set(status: &Status) -> String {
    let Budget { usd, tokens } = status.budget;
    let (cost, read) = (status.total.cost.total, status.total.context_tokens());
    let so_far = format!("Spent so far: {} and {} tokens", dollars(cost), short(read));
    let limits = [
        (usd > 0.0).then(|| BudgetLimit::Usd(usd).to_string()),
        (tokens > 0).then(|| format!("{} tokens", short(tokens))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if limits.is_empty() {
        return format!("Budget off. {so_far}");
    }
    let is_reached = usd > 0.0 && cost >= usd || tokens > 0 && read >= tokens;
    let then = if is_reached {
        "\nThat's already spent: tiller stops before the next model call"
    } else {
        ""
    };
    format!(
        "Budget of this session: {}. {so_far}{then}",
        limits.join(" and ")
    )
}

fn spent(status: &Status) -> String {
    let Budget { usd, tokens } = status.budget;
    let (cost, read) = (status.total.cost.total, status.total.context_tokens());
    let limits = [
        (usd > 0.0).then(|| format!("{} of {}", dollars(cost), BudgetLimit::Usd(usd))),
        (tokens > 0).then(|| format!("{} of {} tokens", short(read), short(tokens))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if limits.is_empty() {
        let (cost, read) = (dollars(cost), short(read));
        return format!("No budget; spent {cost} and {read} tokens · /budget $5 to set one");
    }
    format!("Spent: {}", limits.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_limits_are_parsed() {
        let before = Budget {
            usd: 1.0,
            tokens: 7,
        };
        let of = |usd, tokens| Some(Budget { usd, tokens });
        for (text, expected) in [
            ("$5", of(5.0, 7)),
            ("0.25", of(0.25, 7)),
            ("3 USD", of(3.0, 7)),
            ("200k tokens", of(1.0, 200_000)),
            ("1.5M tokens", of(1.0, 1_500_000)),
            ("900 tokens", of(1.0, 900)),
            ("off", of(0.0, 0)),
            ("0", None),
            ("-1", None),
            ("inf", None),
            ("nan", None),
            ("tokens", None),
            ("0.1 tokens", None),
            ("$", None),
            ("lots", None),
        ] {
            assert_eq!(parse(text, before), expected, "{text}");
        }
    }
}
