//! Temporary failures in the real program: one countdown each, and the answer arrives without a key
//! press.

use crate::support::job;
use crate::support::model_server::{Cut, Failure, Reply, Wire};
use crate::support::screen::{Launch, Screen};

#[test]
fn each_failure_counts_down_and_recovers() {
    let page = "<html><head><title>Bad Gateway</title></head></html>";
    for wire in Wire::ALL {
        let failures = [
            Reply::error(Failure::RateLimit).header("retry-after", "3"),
            Reply::http(502, "text/html", page),
            Reply::http(503, "application/json", ""),
            Reply::http(529, "application/json", "{}"),
            Reply::text("half").cut_after(0, Cut::Reset),
        ];
        let prompts = ["one", "two", "three", "four", "five"];
        let mut replies = Vec::new();
        for (failure, prompt) in failures.into_iter().zip(prompts) {
            replies.push(failure);
            replies.push(Reply::text(format!("Answer to {prompt}.")));
        }
        let (server, sandbox) = job::stage_with(replies);
        let screen = Launch::new(&sandbox)
            .args(&["-m", wire.model(), "--config", "retry.base_ms=700"])
            .start();
        screen.wait_for("Ask for anything");
        for (at, prompt) in prompts.into_iter().enumerate() {
            screen.keys(&format!("{prompt}<enter>"));
            let seconds = if at == 0 { 3 } else { 1 };
            screen.wait_for(&format!("retry 1/5 in {seconds} s"));
            screen.wait_for(&format!("Answer to {prompt}."));
            screen.wait_gone("Esc stops");
        }
        assert_eq!(server.requests().len(), 10, "{wire:?}");
        screen.keys("<c-d>");
        assert_eq!(screen.wait_exit().code, 0);
    }
}

#[test]
fn esc_stops_the_countdown_and_enter_sends_again() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::error(Failure::RateLimit).header("retry-after", "50"),
        Reply::error(Failure::RateLimit).header("retry-after", "50"),
        Reply::text("Here I am."),
    ]);
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::Chat.model()])
        .start();
    screen.wait_for("Ask for anything");
    screen.keys("go<enter>");
    wait_for_less(&screen, 50);
    screen.keys("<esc>");
    screen.wait_for("Enter retry");
    assert_eq!(server.requests().len(), 1);
    screen.keys("<enter>");
    wait_for_less(&screen, 50);
    screen.keys("<enter>");
    screen.wait_for("Here I am.");
    screen.wait_gone("Esc stops");
    assert_eq!(server.requests().len(), 3);
    screen.keys("<c-d>");
    assert_eq!(screen.wait_exit().code, 0);
}

/// Waits until fewer than `seconds` are left before the first retry.
fn wait_for_less(screen: &Screen, seconds: u32) {
    screen.wait_until("the countdown", |view| {
        let text = view.text();
        let counted = text.split("retry 1/5 in ").nth(1);
        let left = counted.and_then(|rest| rest.split(' ').next());
        left.and_then(|left| left.parse().ok())
            .is_some_and(|left: u32| left < seconds)
    });
}
