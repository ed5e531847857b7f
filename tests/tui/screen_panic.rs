//! A panic while tiller has the terminal. The tests start this test program again, in a
//! pseudo-terminal, to run a screen that panics.

use std::sync::Arc;

use tiller::app::tui::terminal::Terminal;
use tiller::app::tui::terminal::tty::Tty;

use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

const WHERE: &str = "TILLER_TEST_PANIC";

/// Takes the terminal and panics. The tests below start it; otherwise it does nothing.
#[tokio::test]
#[ignore = "started by other tests"]
async fn screen_that_panics() {
    let Ok(place) = std::env::var(WHERE) else {
        return;
    };
    let terminal = Terminal::enter(
        Arc::new(Tty::own().unwrap()),
        tiller::app::manners::Manners::default(),
    )
    .unwrap();
    terminal.enable_kitty().unwrap();
    terminal.write(b"\x1b[?2026h\x1b[3;9rhalf a frame").unwrap();
    if place == "elsewhere" {
        let _ = std::thread::spawn(|| panic!("nobody sees this")).join();
        terminal.write(b"\x1b[?2026l\x1b[rstill here").unwrap();
        return;
    }
    panic!("the reason of the panic");
}

fn play(sandbox: &Sandbox, place: &str) -> Screen {
    let program = std::env::current_exe().unwrap();
    Launch::new(sandbox)
        .args(&[
            "--exact",
            "tui::screen_panic::screen_that_panics",
            "--ignored",
            "--nocapture",
        ])
        .env(WHERE, place)
        .start_program(&program.to_string_lossy())
}

#[test]
fn a_panic_restores_the_terminal_before_its_report() {
    let sandbox = Sandbox::new();
    let screen = play(&sandbox, "here");
    let exit = screen.wait_exit();
    assert_eq!(exit.code, 101);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
    assert!(!screen.is_alternate());
    // The message is on the main screen, where it stays.
    assert!(
        screen.text().contains("the reason of the panic"),
        "{}",
        screen.text()
    );
}

#[test]
fn a_panic_in_another_thread_is_not_printed_over_the_screen() {
    let sandbox = Sandbox::new();
    let screen = play(&sandbox, "elsewhere");
    let exit = screen.wait_exit();
    assert_eq!(exit.code, 0);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(raw.contains("still here"), "{raw}");
    assert!(!raw.contains("nobody sees this"), "{raw}");
}
