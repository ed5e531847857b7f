//! How the session stores the details of tool calls.

use tiller::agent::Details;
use tiller::agent::tool::{CommandDetails, DiffDetails, FilesDetails, TextDetails};

#[test]
fn details_are_read_back_as_stored() {
    let details = Details::Diff(DiffDetails {
        path: "a.rs".into(),
        diff: "+1 x".into(),
        first_changed_line: Some(1),
        added: 1,
        ..DiffDetails::default()
    });
    let json = details.to_json();
    assert_eq!(json["kind"], "diff");
    assert_eq!(json["firstChangedLine"], 1);
    assert_eq!(Details::from_json(json), details);
    let foreign = serde_json::json!({ "exit": 3 });
    assert!(matches!(Details::from_json(foreign), Details::Other(_)));
}

#[test]
fn long_details_are_shortened_and_keep_their_kind() {
    let most = 10_000;
    for details in [
        Details::Command(CommandDetails {
            output: "ä\u{1}".repeat(100_000),
            exit_code: Some(1),
            ..CommandDetails::default()
        }),
        Details::Files(FilesDetails {
            files: vec!["name/".into(); 100_000],
            ..FilesDetails::default()
        }),
        Details::Diff(DiffDetails {
            files: vec![
                DiffDetails {
                    diff: "+".repeat(90_000),
                    ..DiffDetails::default()
                };
                9
            ],
            ..DiffDetails::default()
        }),
    ] {
        let json = details.to_json_within(most);
        assert!(json.to_string().len() <= most);
        let back = Details::from_json(json);
        assert_eq!(
            std::mem::discriminant(&back),
            std::mem::discriminant(&details)
        );
    }
    let short = Details::Text(TextDetails {
        text: "x".repeat(9_000),
        ..TextDetails::default()
    });
    assert_eq!(short.to_json_within(most), short.to_json());
}
