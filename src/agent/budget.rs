//! A budget and its spending: one account for a session and all runs it starts. The caller books
//! each model call and checks the account before the next one. Knows no prices.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::lock::lock;
use tiller_llm::local::LocalServer;
use tiller_llm::{Model, Usage};

/// tiller warns the user once, at this share of a limit.
const NOTICE_AT: f64 = 0.8;

/// Spending limits. 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// US dollars.
    pub usd: f64,
    /// Tokens read and written by models, including cached ones.
    pub tokens: u64,
}

/// A limit of a [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BudgetLimit {
    /// US dollars.
    Usd(f64),
    /// Tokens.
    Tokens(u64),
}

impl fmt::Display for BudgetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usd(usd) => write!(f, "${usd}"),
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
        }
    }
}

/// A limit that is used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetReached {
    /// The limit that was reached.
    pub limit: BudgetLimit,
    /// What has been spent, in the unit of the limit.
    pub spent: BudgetLimit,
    /// The limit if the user continues.
    pub next: BudgetLimit,
}

impl fmt::Display for BudgetReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget of {} reached: {} spent", self.limit, self.spent)
    }
}

/// What a session and its runs have spent of their budget. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Account(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The budget of every session.
    budget: Budget,
    /// Whether a flag set its dollars, and its tokens.
    flags: [bool; 2],
    /// The amount by which a limit is raised.
    step: Budget,
    limit: Budget,
    spent: Budget,
    /// `true` once the user was told that little is left.
    told: bool,
    /// Models without a price that the user was told about.
    unpriced: HashSet<String>,
}

impl Account {
    /// `flags` says whether a flag set the dollars, and the tokens.
    pub fn new(budget: Budget, flags: [bool; 2]) -> Self {
        Self(Arc::new(Mutex::new(State {
            budget,
            flags,
            step: budget,
            limit: budget,
            ..State::default()
        })))
    }

    /// Returns an account for a session that has already used `usage`. The budget that the session stores
    /// can only lower the limits, because its file may be someone else's. A limit set by a flag wins.
    pub(super) fn for_session(&self, usage: &Usage, said: Option<Budget>) -> Self {
        let State { budget, flags, .. } = *lock(&self.0);
        let mut limit = budget;
        if let Some(said) = said {
            let is_lower = |said: f64, limit: f64| said > 0.0 && (limit <= 0.0 || said < limit);
            if !flags[0] && is_lower(said.usd, limit.usd) {
                limit.usd = said.usd;
            }
            if !flags[1] && is_lower(said.tokens as f64, limit.tokens as f64) {
                limit.tokens = said.tokens;
            }
        }
        Self(Arc::new(Mutex::new(State {
            budget,
            flags,
            step: limit,
            limit,
            spent: amount(usage),
            ..State::default()
        })))
    }

    /// Replaces the limits, for this session only.
    pub(super) fn set_limit(&self, limit: Budget) {
        let mut state = lock(&self.0);
        (state.step, state.limit, state.told) = (limit, limit, false);
        state.flags = [false; 2];
    }

    pub fn limit(&self) -> Budget {
        lock(&self.0).limit
    }

    /// Returns the limit that is used up, if any. No model may be called then.
    pub fn reached(&self) -> Option<BudgetReached> {
        lock(&self.0).reached()
    }

    /// Raises the limits that are used up, by whole budgets.
    pub fn raise(&self) {
        let mut state = lock(&self.0);
        while let Some(BudgetReached { next, .. }) = state.reached() {
            match next {
                BudgetLimit::Usd(usd) => state.limit.usd = usd,
                BudgetLimit::Tokens(tokens) => state.limit.tokens = tokens,
            }
            state.told = false;
        }
    }

    /// Returns what to tell the user before a call of `model`: its price is unknown.
    pub(super) fn before_call(&self, model: &Model) -> Option<String> {
        let known = model.has_known_price();
        (!known).then(|| lock(&self.0).no_price(model)).flatten()
    }

    /// Books a call of `model`. Returns what to tell the user.
    pub(super) fn spend(&self, model: &Model, usage: &Usage) -> Vec<String> {
        let mut state = lock(&self.0);
        let call = amount(usage);
        state.spent.usd += call.usd;
        state.spent.tokens = state.spent.tokens.saturating_add(call.tokens);
        let free = call.usd <= 0.0 && call.tokens > 0;
        let no_price = free.then(|| state.no_price(model)).flatten();
        [no_price, state.little_left()]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl State {
    fn reached(&self) -> Option<BudgetReached> {
        let Self { limit, spent, .. } = self;
        if limit.usd > 0.0 && spent.usd >= limit.usd {
            let steps = ((spent.usd - limit.usd) / self.step.usd).floor() + 1.0;
            return Some(BudgetReached {
                limit: BudgetLimit::Usd(limit.usd),
                spent: BudgetLimit::Usd(rounded(spent.usd)),
                next: BudgetLimit::Usd(above(limit.usd + steps * self.step.usd, spent.usd)),
            });
        }
        if limit.tokens > 0 && spent.tokens >= limit.tokens {
            let steps = (spent.tokens - limit.tokens) / self.step.tokens + 1;
            let more = steps.saturating_mul(self.step.tokens);
            return Some(BudgetReached {
                limit: BudgetLimit::Tokens(limit.tokens),
                spent: BudgetLimit::Tokens(spent.tokens),
                next: BudgetLimit::Tokens(limit.tokens.saturating_add(more)),
            });
        }
        None
    }

    fn little_left(&mut self) -> Option<String> {
        let Self { limit, spent, .. } = self;
        let usd = limit.usd > 0.0 && spent.usd >= limit.usd * NOTICE_AT;
        let tokens = limit.tokens > 0 && spent.tokens as f64 >= limit.tokens as f64 * NOTICE_AT;
        let (part, limit, spent) = match (usd, tokens) {
            _ if self.told => return None,
            (true, _) => {
                let spent_usd = BudgetLimit::Usd(rounded(spent.usd));
                (
                    spent.usd / limit.usd,
                    BudgetLimit::Usd(limit.usd),
                    spent_usd,
                )
            }
            (_, true) => (
                spent.tokens as f64 / limit.tokens as f64,
                BudgetLimit::Tokens(limit.tokens),
                BudgetLimit::Tokens(spent.tokens),
            ),
            _ => return None,
        };
        self.told = true;
        // At the limit, the end of the run reports it.
        (part < 1.0).then(|| {
            let percent = (part * 100.0).floor();
            format!("{percent} % of the budget spent: {spent} of {limit}")
        })
    }

    fn no_price(&mut self, model: &Model) -> Option<String> {
        // Models on this machine have no price.
        if self.limit.usd <= 0.0 || LocalServer::from_id(&model.provider).is_some() {
            return None;
        }
        let name = model.full_id();
        self.unpriced.insert(name.clone()).then(|| {
            let (what, missing) = if model.prices.output > 0.0 {
                ("the service tier used for ", "prices.service_tiers")
            } else {
                ("", "prices")
            };
            format!(
                "The price of {what}{name} is unknown, so the budget of {} doesn't cover its calls\nSet \
                 its {missing} in models.toml, or limit tokens with budget.tokens",
                BudgetLimit::Usd(self.limit.usd)
            )
        })
    }
}

/// Returns a dollar limit above what is `spent`, however small the budget is.
fn above(usd: f64, spent: f64) -> f64 {
    let rounded = rounded(usd);
    if rounded > spent {
        rounded
    } else {
        usd.max(spent.next_up())
    }
}

/// Rounds dollars, to drop the errors of adding decimal fractions.
fn rounded(usd: f64) -> f64 {
    (usd * 1e6).round() / 1e6
}

fn amount(usage: &Usage) -> Budget {
    Budget {
        usd: usage.cost.total,
        tokens: usage.context_tokens(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiller_llm::message::Cost;
    use tiller_llm::{Api, Model};

    fn usage(usd: f64, tokens: u64) -> Usage {
        Usage {
            input: tokens / 2,
            output: tokens - tokens / 2,
            cost: Cost {
                total: usd,
                ..Cost::default()
            },
            ..Usage::default()
        }
    }

    fn dollars(usd: f64) -> Budget {
        Budget { usd, tokens: 0 }
    }

    fn model(provider: &str) -> Model {
        Model::new(provider, "m", Api::OpenAiChat, "")
    }

    fn reached(account: &Account) -> String {
        account.reached().map_or_else(String::new, |reached| {
            format!("{reached}, next {}", reached.next)
        })
    }

    #[test]
    fn a_limit_is_announced_reached_and_raised_by_whole_budgets() {
        let account = Account::new(dollars(0.1), [false; 2]);
        let shared = account.clone();
        for (usd, told, expected) in [
            (0.07, &[][..], ""),
            (0.015, &["85 % of the budget spent: $0.085 of $0.1"], ""),
            (0.005, &[], ""),
            (
                0.015,
                &[],
                "Budget of $0.1 reached: $0.105 spent, next $0.2",
            ),
        ] {
            assert_eq!(shared.spend(&model("lab"), &usage(usd, 10)), told);
            assert_eq!(reached(&account), expected);
        }
        account.raise();
        assert_eq!(reached(&shared), "");
        account.spend(&model("lab"), &usage(0.51, 1));
        assert_eq!(
            reached(&account),
            "Budget of $0.2 reached: $0.615 spent, next $0.7"
        );
        account.raise();
        assert_eq!(reached(&account), "");
    }

    #[test]
    fn a_budget_below_the_precision_of_prices_can_be_raised() {
        let account = Account::new(dollars(1e-7), [false; 2]);
        account.spend(&model("lab"), &usage(0.01, 10));
        account.raise();
        assert_eq!(reached(&account), "");
    }

    #[test]
    fn tokens_have_their_own_limit_and_a_session_starts_with_its_usage() {
        let budget = Budget {
            usd: 1.0,
            tokens: 1000,
        };
        let account = Account::new(budget, [false; 2]).for_session(&usage(0.0, 900), None);
        let told = account.spend(&model("ollama"), &usage(0.0, 50));
        assert_eq!(
            told,
            ["95 % of the budget spent: 950 tokens of 1000 tokens"]
        );
        account.spend(&model("ollama"), &usage(0.0, 2050));
        assert_eq!(
            reached(&account),
            "Budget of 1000 tokens reached: 3000 tokens spent, next 4000 tokens"
        );
        let fresh = account.for_session(&Usage::default(), None);
        assert_eq!(reached(&fresh), "");
        account.set_limit(Budget {
            usd: 0.0,
            tokens: 2000,
        });
        assert_eq!(
            reached(&account),
            "Budget of 2000 tokens reached: 3000 tokens spent, next 4000 tokens"
        );
        let told = account.spend(&model("lab"), &usage(9.0, 1));
        assert!(told.is_empty(), "{told:?}");
        // Another session gets the budget it would have had.
        let other = account.for_session(&Usage::default(), None);
        assert_eq!(other.limit(), budget);
        let none = Account::default();
        none.spend(&model("lab"), &usage(1e9, u64::MAX));
        assert_eq!(reached(&none), "");
    }

    #[test]
    fn a_stored_budget_only_lowers_the_limits_and_a_flag_wins() {
        let budget = Budget {
            usd: 1.0,
            tokens: 1000,
        };
        let said = Budget {
            usd: 0.5,
            tokens: 2000,
        };
        let limit = |account: &Account, said| {
            let account = account.for_session(&Usage::default(), said);
            let Budget { usd, tokens } = account.limit();
            (usd, tokens)
        };
        for (flags, expected) in [
            ([false, false], (0.5, 1000)),
            ([true, false], (1.0, 1000)),
            ([false, true], (0.5, 1000)),
        ] {
            let account = Account::new(budget, flags);
            assert_eq!(limit(&account, Some(said)), expected);
            assert_eq!(limit(&account, None), (1.0, 1000));
        }
        let account = Account::new(budget, [true, true]);
        account.set_limit(said);
        assert_eq!(
            limit(&account, Some(said)),
            (0.5, 1000),
            "said after the flag"
        );
        let unlimited = Account::new(Budget::default(), [false; 2]);
        assert_eq!(limit(&unlimited, Some(said)), (0.5, 2000));
        let off = Some(Budget::default());
        assert_eq!(limit(&account, off), (1.0, 1000), "a file lifts no limit");
    }

    #[test]
    fn a_model_without_a_price_is_reported_once() {
        let account = Account::new(dollars(2.0), [false; 2]);
        let told = |provider: &str| account.spend(&model(provider), &usage(0.0, 10)).len();
        assert_eq!(
            [told("lab"), told("lab"), told("x"), told("ollama")],
            [1, 0, 1, 0]
        );
        let account = Account::new(dollars(2.0), [false; 2]);
        let mut priced = model("priced");
        priced.prices.output = 1.0;
        assert_eq!(account.before_call(&priced), None);
        assert!(account.before_call(&model("lab")).is_some());
        assert_eq!(account.before_call(&model("lab")), None);
        assert!(account.spend(&model("lab"), &usage(0.0, 10)).is_empty());
        let unlimited = Account::default();
        assert_eq!(unlimited.before_call(&model("lab")), None);
        assert!(unlimited.spend(&model("lab"), &usage(0.0, 10)).is_empty());
    }
}
