//! `/budget`: shows and sets what the session may spend.

use super::{Run, Running, SlashCommand};
use crate::agent::{Budget, BudgetLimit, Snapshot};
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;
use crate::app::humanize::{count_of, dollars, short};

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "budget",
        help: "Show or set the budget: $5, 200k tokens or off",
        scope: Scope::Everywhere,
        group: Group::Model,
        slash: Some("budget"),
        argument: Some("LIMIT"),
    },
    arguments: &[
        ("off", "no limit"),
        ("$5", "dollars"),
        ("200k tokens", "tokens"),
    ],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, limit: &'a str) -> Running<'a> {
    Box::pin(async move {
        let now = host.snapshot().await?;
        if limit.is_empty() {
            return Ok(spent(&now));
        }
        let budget = parse(limit, now.budget).ok_or_else(|| {
            format!("Not a budget: {limit}. Try /budget $5, /budget 200k tokens or /budget off")
        })?;
        host.handle.set_budget(budget);
        Ok(set(&now, budget))
    })
}

fn parse(text: &str, before: Budget) -> Option<Budget> {
    let text = text.trim().to_lowercase();
    if matches!(&*text, "off" | "none") {
        return Some(Budget::default());
    }
    let tokens = text.strip_suffix("tokens").or(text.strip_suffix("token"));
    if let Some(count) = tokens {
        let tokens = count_of(count.trim()).filter(|tokens| *tokens > 0)?;
        return Some(Budget { tokens, ..before });
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
fn set(now: &Snapshot, budget: Budget) -> String {
    let Budget { usd, tokens } = budget;
    let (cost, read) = (now.usage.cost.total, now.usage.context_tokens());
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

fn spent(now: &Snapshot) -> String {
    let Budget { usd, tokens } = now.budget;
    let (cost, read) = (now.usage.cost.total, now.usage.context_tokens());
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
