//! The matrix: every kind of cell, every overlay and every question, at three sizes and in four sets
//! of colors. A scene is one line of a table and one snapshot: its text at each size, and which style
//! stands where, once for all colors.

mod cells;
mod overlays;
mod questions;
mod picture;
mod scenes;

use super::app_kit::TestTui;

/// A name, and what makes the scene of an empty screen.
type Scene = (&'static str, fn(&mut TestTui));

/// Takes the snapshots of these scenes.
fn check(scenes: &[Scene]) {
    for (name, play) in scenes {
        insta::with_settings!({omit_expression => true}, {
            insta::assert_snapshot!(*name, picture::of(name, *play));
        });
    }
}

#[test]
fn cells() {
    check(cells::SCENES);
}

#[test]
fn overlays() {
    check(overlays::SCENES);
}

#[test]
fn questions() {
    check(questions::SCENES);
}
