//! The policy of a running agent. It follows the stored rules: after their files have changed, the next call
//! uses the new ones. Knows no files; a [`RuleSource`] reads them.

use std::sync::{Arc, Mutex};

use tokio::task::spawn_blocking;

use crate::event::NoticeLevel;
use crate::lock::lock;
use crate::options::RuleSource;
use crate::permission::Policy;

/// The mode and rules that apply now. Clones share them.
#[derive(Clone)]
pub(crate) struct LivePolicy {
    current: Arc<Mutex<Arc<Policy>>>,
    source: Option<Arc<Mutex<Box<dyn RuleSource>>>>,
}

impl LivePolicy {
    pub fn new(policy: Policy, source: Option<Box<dyn RuleSource>>) -> Self {
        Self {
            current: Arc::new(Mutex::new(Arc::new(policy))),
            source: source.map(|source| Arc::new(Mutex::new(source))),
        }
    }

    pub fn get(&self) -> Arc<Policy> {
        Arc::clone(&lock(&self.current))
    }

    pub fn change<T>(&self, change: impl FnOnce(&mut Policy) -> T) -> T {
        change(Arc::make_mut(&mut lock(&self.current)))
    }

    /// Takes over stored rules that have changed. Returns what the user should know. Rules that can't be
    /// read change nothing.
    pub async fn follow(&self) -> Option<(NoticeLevel, String)> {
        let (source, policy) = (Arc::clone(self.source.as_ref()?), self.clone());
        let followed = spawn_blocking(move || {
            // Held until they apply, so that a call judged at the same time waits for them.
            let mut source = lock(&source);
            match source.changed()? {
                Ok(rules) => {
                    let of_rules = policy.change(|it| it.replace_stored(rules)).then(|| {
                        "Your permission rules have changed, and apply from now on. To list them: \
                         /permissions"
                            .to_owned()
                    });
                    let told: Vec<_> = of_rules.into_iter().chain(source.other_changes()).collect();
                    (!told.is_empty()).then(|| (NoticeLevel::Info, told.join("\n")))
                }
                Err(why) => Some((
                    NoticeLevel::Warning,
                    format!("Can't read the changed permission rules, so the old ones stay: {why}"),
                )),
            }
        });
        followed.await.ok().flatten()
    }
}
