//! The temporary folders of a session.

use std::fs;

use tiller::agent::workspace::PrivateFolders;

#[test]
fn only_the_leftovers_of_a_killed_session_are_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let place = || PrivateFolders::new_place(temporary.path());
    let (used, left) = (place(), place());
    let in_use = PrivateFolders::make(&used).unwrap();
    drop(PrivateFolders::make(&left).unwrap());
    fs::write(left.join("tmp/file"), "x").unwrap();
    let other = temporary.path().join("tiller-other");
    fs::create_dir(&other).unwrap();
    let (target, link) = (temporary.path().join("target"), place());
    fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    PrivateFolders::remove_stale(temporary.path());
    assert!(!left.exists());
    assert!(used.join("tmp").is_dir() && other.is_dir() && link.is_symlink() && target.is_dir());
    // A command can still hold the content, or another part of the program can hold the same
    // folders.
    let again = PrivateFolders::make(&used).unwrap();
    drop(in_use);
    PrivateFolders::remove_stale(temporary.path());
    assert!(again.folders()[0].is_dir());
    drop(again);
    PrivateFolders::remove_stale(temporary.path());
    assert!(!used.exists());
}
