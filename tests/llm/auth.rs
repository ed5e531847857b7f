//! API keys: where tiller looks for them, how it fetches and stores them, and how it hides them.

use std::collections::HashMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use proptest::prelude::*;
use tiller::llm::auth::{KeyFiles, KeyLocation, KeySpec, ProviderAuth, Redactor, Store};
use tiller::llm::{ErrorClass, Keys, LlmError, Secret};

const VARIABLES: [&str; 2] = ["FIRST_KEY", "SECOND_KEY"];

/// The location of `lab`'s key, and the key. The sources are `api_key` in `models.toml`, the stored
/// key, the environment and `.env`, each as `NAME=value` separated by spaces.
fn locate(
    api_key: Option<&str>,
    stored: bool,
    env: &str,
    env_file: &str,
) -> Result<String, LlmError> {
    let location = lab(api_key, stored, env, env_file, |lab, keys| {
        lab.key_location(keys)
    })?;
    Ok(match &location {
        KeyLocation::Command(command, file) => format!("{command} of {}", file.display()),
        _ => format!("{location}: {}", location.inline().unwrap().expose()),
    })
}

/// What `ask` finds out about `lab` with these sources.
fn lab<T>(
    api_key: Option<&str>,
    stored: bool,
    env: &str,
    env_file: &str,
    ask: impl FnOnce(ProviderAuth<'_>, &Keys) -> T,
) -> T {
    let map = |text: &str| -> HashMap<String, String> {
        let pairs = text.split(' ').filter_map(|pair| pair.split_once('='));
        pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::load(&folder.path().join("auth.toml")).unwrap();
    if stored {
        store.put("lab", Some(Secret::new("stored"))).unwrap();
    }
    let env_file = map(env_file);
    let files = move || {
        Ok(KeyFiles {
            store: store.clone(),
            env_file: Some(("/p/.env".into(), env_file.clone())),
        })
    };
    let keys: Keys = map(env).into_iter().collect();
    let auth = ProviderAuth {
        provider: "lab",
        api_key,
        variables: &VARIABLES.map(str::to_owned),
        key_in_headers: false,
        models_file: Path::new("/c/models.toml"),
    };
    ask(auth, &keys.with_files(files).unwrap())
}

#[test]
fn a_refused_stored_key_names_the_variable_that_it_beats() {
    for (env, expected) in [
        ("", "Replace it: tiller auth add lab"),
        (
            "SECOND_KEY=e2",
            "SECOND_KEY is set but not used; to use it: tiller auth remove lab",
        ),
    ] {
        let hint = lab(None, true, env, "", |lab, keys| lab.hint(keys));
        assert!(hint.starts_with("It was the key in auth.toml"), "{hint}");
        assert!(hint.contains(expected), "{hint}");
    }
}

#[test]
fn a_key_comes_from_models_file_store_environment_or_env_file_in_this_order() {
    let env = "SECOND_KEY=e2 LAB_KEY=e3 FIRST_KEY=";
    let both = "FIRST_KEY=e1 SECOND_KEY=e2";
    let file = "FIRST_KEY=f1 LAB_KEY=f3 OTHER=f4";
    let command = "pass show lab of /c/models.toml";
    for (api_key, stored, env, file, expected) in [
        (Some("sk-1"), true, env, file, "models.toml: sk-1"),
        (
            Some("$LAB_KEY"),
            true,
            env,
            file,
            "models.toml, variable LAB_KEY: e3",
        ),
        (
            Some("$LAB_KEY"),
            true,
            "",
            file,
            "models.toml, variable LAB_KEY: f3",
        ),
        (Some("!pass show lab"), true, env, file, command),
        (None, true, env, file, "auth.toml: stored"),
        (None, true, "", "", "auth.toml: stored"),
        (
            None,
            false,
            env,
            file,
            "environment variable SECOND_KEY: e2",
        ),
        (
            None,
            false,
            both,
            file,
            "environment variable FIRST_KEY: e1",
        ),
        (None, false, "", file, "FIRST_KEY in /p/.env: f1"),
        (
            None,
            false,
            "OTHER=x",
            "SECOND_KEY=f2",
            "SECOND_KEY in /p/.env: f2",
        ),
    ] {
        assert_eq!(locate(api_key, stored, env, file).unwrap(), expected);
    }
    assert!(locate(None, false, "OTHER=x", "OTHER=x").is_err());
    let unset = locate(Some("$LAB_KEY"), true, "", "").unwrap_err();
    assert!(
        unset.message.contains("$LAB_KEY, which isn't set"),
        "{unset}"
    );
}

#[test]
fn an_api_key_is_a_literal_a_variable_or_a_command() {
    let cases = [
        ("sk-1", KeySpec::Literal(Secret::new("sk-1"))),
        (" sk-1\n", KeySpec::Literal(Secret::new("sk-1"))),
        ("$LAB_KEY", KeySpec::Variable("LAB_KEY".into())),
        ("${LAB_KEY}", KeySpec::Variable("LAB_KEY".into())),
        ("$$x", KeySpec::Literal(Secret::new("$x"))),
        ("$!x", KeySpec::Literal(Secret::new("!x"))),
        ("!pass show lab", KeySpec::Command("pass show lab".into())),
    ];
    for (text, expected) in cases {
        assert_eq!(KeySpec::parse(text), expected, "{text}");
    }
}

#[test]
fn debug_output_never_shows_a_key() {
    let keys: Keys = [("LAB_KEY".to_owned(), "sk-very-secret".to_owned())]
        .into_iter()
        .collect();
    let shown = format!(
        "{keys:?} {:?} {:?} {:?}",
        Secret::new("sk-very-secret"),
        KeySpec::parse("sk-very-secret"),
        KeyLocation::Stored(Secret::new("sk-very-secret")),
    );
    assert!(!shown.contains("very"), "{shown}");
    assert_eq!(keys.get("LAB_KEY"), Some("sk-very-secret"));
}

#[test]
fn an_empty_variable_is_not_set() {
    let keys: Keys = [("A".to_owned(), "  ".to_owned())].into_iter().collect();
    assert_eq!(keys.get("A"), None);
}

/// Keys whose command prints `key-1`, then `key-2`, up to `last`, and the number of its runs. The
/// command `fail` fails.
fn counting(last: usize) -> (Keys, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let run = move |command: &str| {
        let run = last.min(counter.fetch_add(1, Ordering::Relaxed) + 1);
        let got = match command {
            "fail" => Err("exit code 3: no such entry".to_owned()),
            _ => Ok(Secret::new(format!("key-{run}"))),
        };
        async move {
            tokio::task::yield_now().await;
            got
        }
        .boxed()
    };
    (Keys::default().with_commands(Arc::new(run)), runs)
}

fn command(text: &str) -> KeyLocation {
    KeyLocation::Command(text.to_owned(), "/c/models.toml".into())
}

#[tokio::test]
async fn a_key_command_runs_again_only_after_its_key_is_rejected() {
    let (keys, runs) = counting(2);
    let location = command("print");
    let (first, second) = tokio::join!(keys.fetch("lab", &location), keys.fetch("lab", &location));
    let first = first.unwrap().unwrap();
    assert_eq!(first.expose(), "key-1");
    assert_eq!(second.unwrap().unwrap().expose(), "key-1");
    assert_eq!(
        keys.clone().fetch("lab", &location).await.unwrap(),
        Some(first.clone())
    );
    assert_eq!(runs.load(Ordering::Relaxed), 1);

    let new = keys.renew("lab", &location, &first).await.unwrap();
    assert_eq!(new.expose(), "key-2");
    // Another request whose old key was rejected gets the new key.
    assert_eq!(keys.renew("lab", &location, &first).await, Some(new));
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    assert_eq!(keys.redactor().redact("(key-1 key-2)"), "(*** ***)");
}

#[tokio::test]
async fn a_command_that_prints_the_rejected_key_again_is_not_retried() {
    let (keys, _) = counting(1);
    let location = command("print");
    let key = keys.fetch("lab", &location).await.unwrap().unwrap();
    assert_eq!(keys.renew("lab", &location, &key).await, None);
}

#[tokio::test]
async fn a_failed_command_is_reported_and_retried() {
    let (keys, runs) = counting(2);
    for _ in 0..2 {
        let error = keys.fetch("lab", &command("fail")).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Auth);
        assert_eq!(
            error.to_string(),
            "no API key for lab: the command that prints it failed: exit code 3: no such \
             entry\nTry the command in a shell: it is api_key under [providers.lab] in /c/models.toml"
        );
    }
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn stored_keys_are_reread_and_readable_only_by_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/tiller/auth.toml");
    let mut store = Store::load(&path).unwrap();
    assert_eq!(store.providers().count(), 0);
    let odd = "k\"e'y\\=é";
    store.put("lab.one two", Some(Secret::new(odd))).unwrap();
    // Another tiller process that read the file earlier.
    let mut other = Store::load(&path).unwrap();
    store.put("openai", Some(Secret::new("k1"))).unwrap();
    other.put("x", Some(Secret::new("k2"))).unwrap();

    let read = Store::load(&path).unwrap();
    assert_eq!(read.get("lab.one two"), Some(&Secret::new(odd)));
    assert_eq!(read.get("openai"), Some(&Secret::new("k1")));
    assert_eq!(read.get("x"), Some(&Secret::new("k2")));
    assert_eq!(read.notice(), None);
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));

    other.put("x", None).unwrap();
    assert_eq!(
        Store::load(&path).unwrap().providers().collect::<Vec<_>>(),
        ["lab.one two", "openai"]
    );
    let files = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(files, 1, "a temporary file is left");
}

#[test]
fn a_file_readable_by_others_is_restricted_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("auth.toml");
    fs::write(&path, "[lab]\nkey = \"k\"\n").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let store = Store::load(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    assert!(store.notice().unwrap().contains("mode 640"), "{store:?}");
    assert!(store.get("lab").is_some());
    assert_eq!(Store::load(&path).unwrap().notice(), None);
}

#[test]
fn a_symlink_stays_a_symlink() {
    let folder = tempfile::tempdir().unwrap();
    let (real, path) = (folder.path().join("real"), folder.path().join("auth.toml"));
    fs::write(&real, "").unwrap();
    symlink(&real, &path).unwrap();
    Store::load(&path)
        .unwrap()
        .put("lab", Some(Secret::new("k1")))
        .unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert!(fs::read_to_string(real).unwrap().contains("k1"));
}

#[test]
fn an_entry_without_a_key_is_reported_and_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("auth.toml");
    for entry in [
        "lab = \"sk-secret\"",
        "[lab]\nkey = \"\"",
        "[lab]\nkeyring = true",
    ] {
        fs::write(&path, format!("{entry}\n[x]\nkey = \"k\"\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let store = Store::load(&path).unwrap();
        assert_eq!(store.get("x"), Some(&Secret::new("k")));
        let notice = store.notice().unwrap();
        let told = notice.contains("tiller auth add lab") && !notice.contains("secret");
        assert!(told, "{notice}");
    }
}

#[test]
fn a_broken_file_is_reported_without_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("auth.toml");
    for (text, expected) in [
        ("[lab]\nkey = \"sk-secret\n", "line 2 is not valid TOML"),
        (
            "[a]\nkey = 1\n\n[lab\nkey = \"sk-secret\"\n",
            "line 4 is not valid",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let error = Store::load(&path).unwrap_err();
        assert!(
            error.contains(expected) && !error.contains("secret"),
            "{error}"
        );
    }
}

fn redactor(secrets: &[&str]) -> Redactor {
    let redactor = Redactor::default();
    for secret in secrets {
        redactor.add(&Secret::new(secret));
    }
    redactor
}

#[test]
fn keys_are_redacted_however_they_are_written() {
    let keys = redactor(&["sk-abcdef0123456789", "a/b+c=0123456789", "test", "x"]);
    for (text, expected) in [
        ("no key here", "no key here"),
        (
            "bad key: sk-abcdef0123456789, try again",
            "bad key: ***, try again",
        ),
        ("sk-abcdef0123456789sk-abcdef0123456789", "******"),
        ("é sk-abcdef0123456789 é", "é *** é"),
        (r#"{"k":"a\/b+c=0123456789"}"#, r#"{"k":"***"}"#),
        ("?key=a%2Fb%2Bc%3D0123456789&x", "?key=***&x"),
        (
            "key 'test' in the latest testing",
            "key '***' in the latest testing",
        ),
        ("x marks", "x marks"),
    ] {
        assert_eq!(keys.redact(text), expected);
    }
    assert_eq!(
        keys.redact_bytes(b"\xff sk-abcdef0123456789"),
        &b"\xff ***"[..]
    );
}

#[test]
fn a_key_that_contains_another_is_redacted_whole() {
    for order in [
        ["abcdefghijkl", "abcdefghijklmnop"],
        ["abcdefghijklmnop", "abcdefghijkl"],
    ] {
        assert_eq!(redactor(&order).redact("-abcdefghijklmnop-"), "-***-");
    }
}

proptest! {
    #[test]
    fn no_part_of_a_key_remains(
        key in "[!-~]{12,40}",
        before in ".{0,20}",
        after in ".{0,20}",
    ) {
        let redacted = redactor(&[&key]).redact(&format!("{before}{key}{after}")).into_owned();
        prop_assert!(!redacted.contains(&key) || "***".contains(&key), "{redacted}");
    }
}

#[test]
fn results_show_the_name_of_a_secret_instead() {
    let keys = Redactor::default();
    for (name, secret) in [
        ("LAB_TOKEN", "tok/5f2c+9e7ab1d04386"),
        ("PIN", "hunter2"),
        ("DB_PASSWORD", "postgres"),
        ("SHORT", "Tr0ub4dor"),
        ("PEM", "-----BEGIN-----\nMIIE\n-----END-----"),
    ] {
        keys.add_named(name, &Secret::new(secret));
    }
    for (text, expected) in [
        ("a=tok/5f2c+9e7ab1d04386;", "a=[redacted: LAB_TOKEN];"),
        (
            "?t=tok%2f5f2c%2B9e7ab1d04386",
            "?t=tok%2f5f2c%2B9e7ab1d04386",
        ),
        ("?t=tok%2f5f2c%2b9e7ab1d04386", "?t=[redacted: LAB_TOKEN]"),
        ("?t=tok%2F5f2c%2B9e7ab1d04386", "?t=[redacted: LAB_TOKEN]"),
        // `user:TOKEN` of an Authorization header. The ends of the base64 text belong to its
        // neighbors.
        (
            "dXNlcjp0b2svNWYyYys5ZTdhYjFkMDQzODY=",
            "dXNlcjp[redacted: LAB_TOKEN]Y=",
        ),
        ("pass hunter2, postgres", "pass hunter2, postgres"),
        ("'Tr0ub4dor' xTr0ub4dor", "'[redacted: SHORT]' xTr0ub4dor"),
        (
            r#"{"k":"-----BEGIN-----\nMIIE\n-----END-----"}"#,
            r#"{"k":"[redacted: PEM]"}"#,
        ),
    ] {
        assert_eq!(keys.redact_result(text), expected);
    }
    // No one registered this token; its form gives it away.
    keys.add_tokens();
    let token = format!("ghp_{}", "aB3".repeat(12));
    for (text, expected) in [
        (format!("t={token}\\n"), "t=[redacted: token]\\n"),
        (token.replace("_a", "_-a"), "[redacted: token]"),
        (String::from("ghp_aB3"), "ghp_aB3"),
    ] {
        assert_eq!(keys.redact_result(&text), expected);
    }
    let text = "x [redacted: OTHER] [redacted: LAB_TOKEN]";
    assert_eq!(keys.mark_in(text).as_deref(), Some("[redacted: LAB_TOKEN]"));
    assert_eq!(keys.mark_in("[redacted: LAB_TOKENS]"), None);
}

proptest! {
    #[test]
    fn a_text_in_pieces_is_redacted_like_the_whole(
        parts in proptest::collection::vec(
            prop_oneof![
                "tok-5f2c9e7ab1d04386", "Tr0ub4dor", "tok-5f2c", "[a-z ]{0,3}", "é\n", "ghp_",
                "ghp_[a-z]{35,37}"
            ],
            0..12
        ),
        size in 1usize..9,
    ) {
        let keys = Redactor::default();
        keys.add_named("A", &Secret::new("tok-5f2c9e7ab1d04386"));
        keys.add_named("B", &Secret::new("Tr0ub4dor"));
        keys.add_tokens();
        let text = parts.concat();
        let whole = keys.redact_result(&text).into_owned();
        let mut stream = keys.stream();
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            stream.push(piece, &mut out);
            let shown = String::from_utf8_lossy(&out).into_owned() + &stream.preview("");
            // Something that looks like a token can leave the rest of a secret that it overlaps.
            let leaks = shown.contains("tok-5f2c9") && !whole.contains("tok-5f2c9");
            prop_assert!(!leaks && !shown.ends_with("tok-"), "{shown}");
        }
        stream.finish(&mut out);
        prop_assert_eq!(String::from_utf8(out).unwrap(), whole);
    }
}

#[test]
fn a_mask_shows_only_the_end_of_a_long_key() {
    for (key, expected) in [
        ("sk-ant-api03-abcdefgh1234", "***1234"),
        ("0123456789abcdef", "***cdef"),
        ("0123456789abcde", "***"),
        ("", "***"),
        ("schlüsselschlüsselß€ßé", "***ß€ßé"),
    ] {
        assert_eq!(Secret::new(key).masked(), expected, "{key}");
    }
}
