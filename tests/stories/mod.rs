//! Random stories of a user of the real program, checked against promises. Nothing typed is lost,
//! nothing typed runs, session files stay valid, requests only grow, and nothing is sent after a
//! stop.
//!
//! `TILLER_STORIES` is the number of stories (default 40). `TILLER_STORY_SEED` is the first one's
//! seed (default 1, so that every run tells the same stories). `TILLER_TEST_PROGRAM` names another
//! build of tiller. A failing story prints its seed and what the user did. `TILLER_STORIES=1
//! TILLER_STORY_SEED=...` tells it again.

mod laws;
mod model;
mod random;
mod story;

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use story::Story;

#[test]
fn random_user_stories_keep_the_promises() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|it| it.parse::<u64>().ok())
    };
    let count = number("TILLER_STORIES").unwrap_or(40);
    let first = number("TILLER_STORY_SEED").unwrap_or(1);
    println!("{count} stories from seed {first}");
    let next = AtomicU64::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..count.min(number("TILLER_STORY_THREADS").unwrap_or(4)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    if let Err(failure) = tell(first.wrapping_add(at)) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} of {count} stories failed:\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

/// Tells the story of a seed. Fails with what went wrong and what the user did before.
fn tell(seed: u64) -> Result<(), String> {
    let mut story = Story::new(seed);
    let told = std::panic::catch_unwind(AssertUnwindSafe(|| story.tell()));
    let result = match told {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(broken)) => broken,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()))
                .unwrap_or_default()
        }
    };
    Err(format!("seed {seed}: {result}\n{}", story.account()))
}
