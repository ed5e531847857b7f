//! The `read` tool: pages, limits, pictures, and everything that isn't a text file.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::{ImageFormat, RgbImage};
use proptest::prelude::*;
use serde_json::json;
use tiller::agent::{Details, ToolSettings};
use tiller::llm::Content;

use super::{TestTools, fifo, is_root, text};

fn numbered(count: usize) -> String {
    (1..=count).fold(String::new(), |text, n| text + &format!("line {n}\n"))
}

#[test]
fn texts_are_returned_unchanged() {
    let tools = TestTools::new();
    let cases: [(&[u8], &str); 12] = [
        // A text can begin like a magic number.
        (b"BM is short for benchmark", "BM is short for benchmark"),
        (b"MZ and GIF89a are magic", "MZ and GIF89a are magic"),
        (b"#!/bin/sh\n", "#!/bin/sh\n"),
        (b"a\nb\n", "a\nb\n"),
        (b"a\nb", "a\nb"),
        (b"a\r\nb\r\n", "a\r\nb\r\n"),
        (b"a\rb", "a\rb"),
        (b"\xef\xbb\xbfa\n", "a\n"),
        (b"", "[the file is empty]"),
        (b"\n", "\n"),
        (
            b"a\tb\x1b[31mred\x7f\r\nplain\rline\n",
            "a\tb\\x1b[31mred\\x7f\r\nplain\rline\n\
             [control bytes are shown as \\x1b and the like]",
        ),
        (
            b"caf\xe9 noir\n",
            "caf\u{fffd} noir\n[bytes that are not valid UTF-8 are shown as \u{fffd}]",
        ),
    ];
    for (bytes, expected) in cases {
        tools.put("f", bytes);
        assert_eq!(
            tools.ok("read", json!({"file_path": "f"})),
            expected,
            "{}",
            bytes.escape_ascii()
        );
    }
}

#[test]
fn paths_are_accepted_in_the_forms_models_write() {
    let tools = TestTools::new();
    let odd = "it\u{2019}s 5\u{202f}PM.png";
    for name in ["a.txt", "a%b", "@b.txt", odd, "caf\u{e9}.md", "@types/c.ts"] {
        tools.put(name, name);
    }
    let url = |name: &str| format!("file://{}", tools.path(name).display());
    for (raw, expected) in [
        ("a.txt", "a.txt"),
        ("@a.txt", "a.txt"),
        ("@b.txt", "@b.txt"),
        ("it's 5 PM.png", odd),
        ("@it's 5 PM.png", odd),
        ("cafe\u{301}.md", "caf\u{e9}.md"),
        ("@types/c.ts", "@types/c.ts"),
        (&url("a%2Etxt"), "a.txt"),
        (&url("a%b"), "a%b"),
    ] {
        assert_eq!(
            tools.ok("read", json!({"file_path": raw})),
            expected,
            "{raw}"
        );
    }
    let error = tools.err("read", json!({"file_path": "~"}));
    assert_eq!(error, "~ is a folder, not a file. Use ls to list it.");
    // A new file must not go into a folder with a similar name.
    tools.ok(
        "write",
        json!({"file_path": "it's 5 PM.png", "content": "new"}),
    );
    assert_eq!(tools.bytes(odd), odd.as_bytes());
}

#[test]
fn pages_say_where_to_continue() {
    let tools = TestTools::new();
    tools.put("f", numbered(2500));
    let whole = tools.ok("read", json!({"file_path": "f"}));
    assert!(
        whole.ends_with(
            "line 2000\n[truncated: lines 1-2000 of 2500. Use offset=2001 to continue.]"
        )
    );
    assert_eq!(
        tools.ok("read", json!({"file_path": "f", "offset": 7, "limit": 2})),
        "line 7\nline 8\n[truncated: lines 7-8 of 2500. Use offset=9 to continue.]"
    );
    assert_eq!(
        tools.ok("read", json!({"path": "f", "offset": 2500})),
        "line 2500\n"
    );
    assert_eq!(
        tools.err("read", json!({"file_path": "f", "offset": 2501})),
        "Offset 2501 is beyond the end of f: it has 2500 lines."
    );
    tools.put("one", "x");
    assert_eq!(
        tools.err("read", json!({"file_path": "one", "offset": 9})),
        "Offset 9 is beyond the end of one: it has 1 line."
    );
}

#[test]
fn limits_can_be_set_and_cut_between_lines() {
    let tools = TestTools::with(&ToolSettings {
        read_max_bytes: 20,
        ..ToolSettings::default()
    });
    tools.put("f", numbered(9));
    assert_eq!(
        tools.ok("read", json!({"file_path": "f"})),
        "line 1\nline 2\nline 3\n[truncated: lines 1-3 of 9. Use offset=4 to continue.]"
    );
    tools.put("long", format!("{}\nnext\n", "\u{e9}".repeat(500)));
    assert_eq!(
        tools.ok("read", json!({"file_path": "long"})),
        format!(
            "{}\n[line 1 is 1001 bytes long; only its first 20 are shown]\n\
             [truncated: lines 1-1 of 2. Use offset=2 to continue.]",
            "\u{e9}".repeat(10)
        )
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    // A page has whole lines only, and no more than the limit.
    #[test]
    fn a_page_has_whole_lines_within_its_limits(
        content in "[a\u{e9}\u{1f600}\n]{0,60}",
        offset in 1..12_usize,
        limit in 1..6_usize,
        max_bytes in 4..24_usize,
    ) {
        let tools = TestTools::with(&ToolSettings {
            read_max_bytes: max_bytes,
            ..ToolSettings::default()
        });
        tools.put("f", &content);
        let lines: Vec<&str> = content.split_inclusive('\n').collect();
        let args = json!({"file_path": "f", "offset": offset, "limit": limit});
        let Ok(output) = tools.call("read", args) else {
            prop_assert!(offset > lines.len().max(1));
            return Ok(());
        };
        let told = text(&output);
        let shown = told.split('[').next().unwrap_or_default();
        let Details::Text(details) = output.details else {
            panic!("no text details");
        };
        prop_assert_eq!(details.total_lines, Some(lines.len() as u64));
        let from = lines.get(offset - 1..).unwrap_or_default();
        let count = details.line_count as usize;
        let expected = from[..count].concat();
        if told.contains("bytes long; only its first") {
            prop_assert_eq!(count, 1);
            prop_assert!(expected.len() > max_bytes);
            let shown = shown.strip_suffix('\n').unwrap_or(shown);
            prop_assert!(expected.starts_with(shown) && shown.len() + 4 > max_bytes);
        } else {
            prop_assert_eq!(shown, &expected);
            prop_assert!(expected.trim_end().len() <= max_bytes);
            let more = from.get(count);
            let full = more.is_none_or(|line| shown.len() + line.trim_end().len() > max_bytes);
            prop_assert!(count == limit || full);
        }
    }
}

#[test]
fn details_have_what_the_screen_needs() {
    let tools = TestTools::new();
    tools.put("src/f", numbered(30));
    let output = tools
        .call(
            "read",
            json!({"file_path": "src/f", "offset": 3, "limit": 2}),
        )
        .unwrap();
    let Details::Text(details) = output.details else {
        panic!("no text details");
    };
    assert_eq!(details.path, "src/f");
    assert_eq!(details.text, "line 3\nline 4\n");
    assert_eq!(
        (details.first_line, details.line_count, details.total_lines),
        (3, 2, Some(30))
    );
}

#[test]
fn a_file_that_is_not_text_is_refused_at_once() {
    let tools = TestTools::new();
    std::fs::create_dir(tools.path("dir")).unwrap();
    fifo(&tools.path("fifo"));
    symlink("loop", tools.path("loop")).unwrap();
    symlink("nowhere", tools.path("dangling")).unwrap();
    symlink("fifo", tools.path("to-fifo")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(tools.path("socket")).unwrap();
    tools.put("f", "x");
    tools.put("nul", b"text\0more");
    tools.put("elf", [&b"\x7fELF"[..], &[0; 60]].concat());
    tools.put("pdf", b"%PDF-1.7\n");
    tools.put("zip", b"PK\x03\x04\x14\0\0\0\x08\0");
    let late = [b"text\n".repeat(2000), b"\0".to_vec()].concat();
    tools.put("late", late);
    let cases = [
        ("missing", "File not found: missing"),
        ("dir", "dir is a folder, not a file. Use ls to list it."),
        ("fifo", "fifo is a named pipe (FIFO), not a file."),
        ("to-fifo", "to-fifo is a named pipe (FIFO), not a file."),
        ("socket", "socket is a socket, not a file."),
        ("/dev/zero", "/dev/zero is a device, not a file."),
        ("/dev/tty", "/dev/tty is a device, not a file."),
        ("loop", "Can't open loop: too many levels of symbolic links"),
        ("dangling", "File not found: dangling"),
        (
            "f/g",
            "File not found: f/g (part of the path is a file, not a folder)",
        ),
        (
            "nul",
            "nul is a binary file (unknown type, 9 bytes); read shows only text and pictures.",
        ),
        (
            "elf",
            "elf is a binary file (application/x-executable, 64 bytes); read shows only text and pictures.",
        ),
        (
            "zip",
            "zip is a binary file (application/zip, 10 bytes); read shows only text and pictures.",
        ),
        (
            "pdf",
            "pdf is a binary file (application/pdf, 9 bytes); read shows only text and pictures.",
        ),
        (
            "late",
            "late is a binary file (NUL bytes in the text, 9.8 KB); read shows only text and pictures.",
        ),
        (
            "",
            "error: invalid input: Missing required parameter: file_path",
        ),
        (
            "a\0b",
            "Can't open a\0b: file name contained an unexpected NUL byte",
        ),
    ];
    for (path, expected) in cases {
        let args = json!({"file_path": path, "offset": if path == "late" { 1999 } else { 1 }});
        assert_eq!(tools.err("read", args), expected);
    }
}

#[test]
fn an_unreadable_file_is_refused() {
    let tools = TestTools::new();
    let path = tools.put("secret", "x");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let result = tools.call("read", json!({"file_path": "secret"}));
    if is_root() {
        assert_eq!(text(&result.unwrap()), "x");
    } else {
        assert_eq!(result.unwrap_err(), "Permission denied: secret");
    }
}

#[test]
fn a_file_of_ten_gigabytes_is_refused_without_reading_it() {
    let tools = TestTools::new();
    let file = std::fs::File::create(tools.path("sparse")).unwrap();
    file.set_len(10 << 30).unwrap();
    assert_eq!(
        tools.err("read", json!({"file_path": "sparse"})),
        "sparse is a binary file (unknown type, 10.0 GB); read shows only text and pictures."
    );
    assert_eq!(
        tools.err(
            "edit",
            json!({"file_path": "sparse", "old_text": "a", "new_text": "b"})
        ),
        "sparse is 10.0 GB; edit handles files up to 64.0 MB."
    );
}

#[test]
fn a_large_log_is_counted_to_its_end() {
    let tools = TestTools::new();
    let mut file = std::io::BufWriter::new(std::fs::File::create(tools.path("log")).unwrap());
    for n in 0..400_000 {
        writeln!(file, "{n:024}").unwrap();
    }
    drop(file);
    let text = tools.ok("read", json!({"file_path": "log"}));
    assert!(text.len() < 52_000);
    assert!(text.ends_with("[truncated: lines 1-2000 of 400000. Use offset=2001 to continue.]"));
}

#[test]
fn utf_16_is_decoded() {
    let tools = TestTools::new();
    for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let text = "\u{feff}gr\u{fc}n\nrot\n".encode_utf16();
        tools.put("f", text.flat_map(to_bytes).collect::<Vec<u8>>());
        assert_eq!(
            tools.ok("read", json!({"file_path": "f"})),
            "gr\u{fc}n\nrot\n[shown as UTF-8; the file is UTF-16]"
        );
    }
}

#[test]
fn a_cancelled_call_ends() {
    let tools = TestTools::new();
    tools.put("f", "x");
    let context = tools.context();
    context.cancel.cancel();
    let result = tools.call_in("read", json!({"file_path": "f"}), context);
    assert_eq!(result.unwrap_err(), "Tool execution cancelled");
}

fn encoded(width: u32, height: u32, format: ImageFormat, noise: bool) -> Vec<u8> {
    let mut state = 1_u32;
    let picture = RgbImage::from_fn(width, height, |x, y| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [a, b, c, _] = if noise {
            state.to_be_bytes()
        } else {
            [x as u8, y as u8, 7, 0]
        };
        image::Rgb([a, b, c])
    });
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

#[test]
fn pictures_are_sent_and_scaled_to_fit() {
    let tools = TestTools::new();
    let small = encoded(40, 30, ImageFormat::Png, false);
    let cases = [
        ("small.png", small.clone(), "image/png", (40, 30)),
        (
            "small.jpg",
            encoded(40, 30, ImageFormat::Jpeg, false),
            "image/jpeg",
            (40, 30),
        ),
        (
            "small.gif",
            encoded(40, 30, ImageFormat::Gif, false),
            "image/png",
            (40, 30),
        ),
        (
            "small.webp",
            encoded(40, 30, ImageFormat::WebP, false),
            "image/png",
            (40, 30),
        ),
        (
            "small.bmp",
            encoded(40, 30, ImageFormat::Bmp, false),
            "image/png",
            (40, 30),
        ),
        ("no-ending", small, "image/png", (40, 30)),
        (
            "wide.png",
            encoded(4000, 10, ImageFormat::Png, false),
            "image/png",
            (2000, 5),
        ),
        (
            "noise.png",
            encoded(1500, 1500, ImageFormat::Png, true),
            "image/jpeg",
            (1500, 1500),
        ),
    ];
    for (name, bytes, mime, (width, height)) in cases {
        tools.put(name, &bytes);
        let output = tools.call("read", json!({"file_path": name})).unwrap();
        let Content::Image(image) = &output.content[1] else {
            panic!("{name}: no image block");
        };
        assert_eq!(image.mime_type, mime, "{name}");
        assert!(image.data.len() <= 4_718_592, "{name}");
        let sent = BASE64_STANDARD.decode(&image.data).unwrap();
        let decoded = image::load_from_memory(&sent).unwrap();
        assert_eq!(
            (decoded.width(), decoded.height()),
            (width, height),
            "{name}"
        );
        if (mime, name.ends_with("bmp")) == (decoded_mime(&bytes), false) && width == 40 {
            assert_eq!(sent, bytes, "{name} was changed");
        }
        assert!(
            text(&output).starts_with(&format!("Picture {name} [image/")),
            "{name}"
        );
    }
}

fn decoded_mime(bytes: &[u8]) -> &'static str {
    image::guess_format(bytes).unwrap().to_mime_type()
}

#[test]
fn a_broken_picture_never_reaches_the_model() {
    let tools = TestTools::new();
    let mut bytes = encoded(40, 30, ImageFormat::Png, true);
    bytes.truncate(200);
    tools.put("cut.png", bytes);
    let error = tools.err("read", json!({"file_path": "cut.png"}));
    assert!(
        error.starts_with("Can't show cut.png (image/png): "),
        "{error}"
    );
}

// A header of a few bytes can claim any size.
#[test]
fn a_picture_too_large_to_decode_is_refused() {
    let tools = TestTools::new();
    let mut gif = b"GIF89a\xff\xff\xff\xff\x00\x00\x00".to_vec();
    gif.extend(b"\x2c\0\0\0\0\xff\xff\xff\xff\x00\x02\x02\x4c\x01\x00\x3b");
    let mut bmp = encoded(2, 2, ImageFormat::Bmp, false);
    bmp[18..26].copy_from_slice(&[0x20, 0x4e, 0, 0, 0x20, 0x4e, 0, 0]);
    for (name, bytes) in [("gif", gif), ("bmp", bmp)] {
        tools.put(name, bytes);
        let error = tools.err("read", json!({"file_path": name}));
        assert!(
            error.starts_with(&format!("Can't show {name} (image/{name}): it has ")),
            "{error}"
        );
        assert!(
            error.ends_with("the limit is 128.0 MB. Make it smaller first."),
            "{error}"
        );
    }
}
