//! Whole frames, at the sizes people have.

use tiller::agent::{Phase, RunState};

use super::app_kit::Desk;

/// What must be on the screen at every size that counts as usable.
#[test]
fn esc_stops_is_said_during_a_run_and_at_no_other_time() {
    let phases = [
        Phase::Requesting,
        Phase::Streaming,
        Phase::Tools(vec![
            "a_tool_with_quite_a_long_name".into(),
            "another".into(),
        ]),
        Phase::Retrying { attempt: 2, at: 0 },
        Phase::Compacting,
        Phase::Asking,
    ];
    for (width, height) in [(40, 10), (41, 12), (80, 24), (200, 60), (40, 60), (200, 10)] {
        let mut desk = Desk::new(width, height);
        for phase in &phases {
            desk.write(
                "a long text that goes on and on and on, over more than one row of it\n\n\n",
            );
            for key in ["shift+enter"; 12] {
                desk.key(key);
            }
            desk.running(phase.clone());
            desk.waiting(&["one", "two", "three", "four"], &["five", "six"]);
            desk.wait(61_000);
            let frame = desk.frame();
            assert!(
                frame.contains("Esc stops"),
                "{width}x{height} {phase:?}\n{frame}"
            );
            assert!(
                frame.contains("full"),
                "{width}x{height} {phase:?}\n{frame}"
            );
            for (state, word) in [
                (RunState::Stopping { processes: 1 }, "stopping"),
                (RunState::Idle, ""),
            ] {
                desk.state(state.clone());
                let frame = desk.frame();
                assert!(
                    !frame.contains("Esc stops"),
                    "{width}x{height} {state:?}\n{frame}"
                );
                assert!(frame.contains(word), "{width}x{height} {state:?}\n{frame}");
            }
        }
    }
}

#[test]
fn help_does_not_say_that_something_runs() {
    let mut desk = Desk::new(100, 60);
    desk.key("f1");
    assert!(!desk.frame().contains("Esc stops"));
}

#[test]
fn a_screen_of_any_size_can_be_drawn() {
    for width in (0..13).chain([17, 40, 300]) {
        for height in (0..10).chain([13, 100]) {
            let mut desk = Desk::new(width, height);
            desk.frame();
            desk.write("日本語 text that is longer than the row");
            desk.running(Phase::Streaming);
            desk.waiting(&["日本"], &["x"]);
            desk.frame();
            for key in ["f1", "pagedown", "esc", "ctrl+r", "esc"] {
                desk.key(key);
                desk.frame();
            }
        }
    }
}
