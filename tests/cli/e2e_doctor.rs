//! `tiller doctor` says what works and how to fix what doesn't. It changes nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::sandbox::Sandbox;

const KEY: &str = "sk-test-9f8e7d6c5b4a39281706";

fn check<'a>(report: &'a Value, title: &str, name: &str) -> &'a Value {
    let found = checks(report, title, name).into_iter().next();
    found.unwrap_or_else(|| panic!("no {title}/{name} in {report:#}"))
}

fn checks<'a>(report: &'a Value, title: &str, name: &str) -> Vec<&'a Value> {
    let sections = report["sections"].as_array().unwrap();
    let section = sections
        .iter()
        .find(|it| it["title"].as_str().unwrap().starts_with(title));
    let checks = section.unwrap()["checks"].as_array().unwrap();
    checks.iter().filter(|it| it["name"] == name).collect()
}

fn doctor(sandbox: &Sandbox) -> (Option<i32>, Value) {
    let ran = sandbox.run(&["doctor", "--json"]);
    assert_eq!(ran.stderr, "", "{ran:#?}");
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY));
    (ran.code, serde_json::from_str(&ran.stdout).unwrap())
}

#[test]
fn doctor_reports_a_good_setup_and_changes_nothing() {
    let mut sandbox = Sandbox::with(&[("a.txt", "a")]);
    sandbox.set("MISTRAL_API_KEY", KEY);
    sandbox.git_init();
    let before = sandbox.all_files();
    let (code, report) = doctor(&sandbox);
    assert_eq!(
        (code, &report["ok"]),
        (Some(0), &Value::Bool(true)),
        "{report:#}"
    );
    let key = check(&report, "Keys", "mistral");
    assert_eq!(key["text"], "environment variable MISTRAL_API_KEY");
    for (title, name) in [
        ("System", "commands"),
        ("System", "git"),
        ("Folders", "sessions"),
        ("Folders", "disk"),
        ("Settings", "config.toml"),
        ("Project", "repository"),
    ] {
        assert_eq!(
            check(&report, title, name)["state"],
            "good",
            "{title}/{name}"
        );
    }
    assert_eq!(check(&report, "Terminal", "terminal")["state"], "note");
    assert_eq!(sandbox.all_files(), before);
    let text = sandbox.run(&["doctor"]);
    assert!(
        text.stdout.contains("\n  ✓ config.toml ")
            && text.stdout.contains("\n  - terminal  ")
            && text.stdout.contains("\n  - models.toml "),
        "{}",
        text.stdout
    );
}

#[test]
fn doctor_fails_without_a_sandbox_and_says_how_to_get_one() {
    let mut sandbox = Sandbox::new();
    sandbox.set("MISTRAL_API_KEY", KEY);
    sandbox.set("TILLER_SANDBOX_WITHOUT", "namespaces,landlock,seccomp");
    let (code, report) = doctor(&sandbox);
    assert_eq!((code, &report["ok"]), (Some(1), &Value::Bool(false)));
    let together = check(&report, "Sandbox", "together");
    assert_eq!(together["state"], "bad");
    let way_out = together["wayOut"].as_str().unwrap();
    assert!(way_out.contains("user namespaces"), "{way_out}");
}

#[test]
fn doctor_names_the_line_of_each_error_and_checks_the_rest() {
    let sandbox = Sandbox::new();
    let write = |name: &str, text: &str| fs::write(sandbox.config().join(name), text).unwrap();
    write("config.toml", "\n[agent]\nmax_iteration = 3\n");
    write("models.toml", "[providers.lab]\napi = \"telepathy\"\n");
    write("keymap.toml", "\nsubmit = \"entre\"\nundoo = \"f5\"\n");
    write("projects.toml", "[trust\n");
    write("auth.toml", "\n[anthropic\nkey = \"sk\"\n");
    sandbox.write("AGENTS.md", "Use tabs.");
    let (code, report) = doctor(&sandbox);
    assert_eq!(
        (code, &report["ok"]),
        (Some(1), &Value::Bool(false)),
        "{report:#}"
    );
    for (name, expected) in [
        (
            "config.toml",
            "config.toml:3): did you mean agent.max_iterations?",
        ),
        ("models.toml", "telepathy"),
        ("keymap.toml", "keymap.toml:2: "),
        ("keymap.toml", "keymap.toml:3: "),
        ("projects.toml", "not valid TOML"),
        ("auth.toml", "line 2 is not valid TOML"),
    ] {
        let checks = checks(&report, "Settings", name);
        let tells = |check: &&Value| check["text"].as_str().unwrap().contains(expected);
        let check = checks.into_iter().find(tells);
        let check = check.unwrap_or_else(|| panic!("{expected}: {report:#}"));
        assert_eq!(check["state"], "bad", "{name}");
        assert!(
            check["wayOut"].as_str().unwrap().contains(name),
            "{check:#}"
        );
    }
    let keys = check(&report, "Keys", "none");
    assert!(keys["wayOut"].as_str().unwrap().contains("tiller auth add"));
}

#[test]
fn a_theme_and_a_model_that_are_none_are_problems() {
    let sandbox = Sandbox::new();
    let text = "[ui]\ntheme = \"nrod\"\n[models]\ndefault = \"sonet\"\n";
    fs::write(sandbox.config().join("config.toml"), text).unwrap();
    let (_, report) = doctor(&sandbox);
    let checks = checks(&report, "Settings", "config.toml");
    assert_eq!(checks.len(), 2, "{checks:#?}");
    for told in [
        "config.toml:2): unknown theme",
        "config.toml:4): unknown model",
    ] {
        let tells = |check: &&Value| check["text"].as_str().unwrap().contains(told);
        assert!(checks.iter().any(tells), "{told}: {checks:#?}");
    }
}

#[test]
fn doctor_reports_untrusted_project_instructions() {
    let sandbox = Sandbox::new();
    sandbox.write("AGENTS.md", "Use tabs.");
    let (_, report) = doctor(&sandbox);
    let trust = check(&report, "Project", "trust");
    assert_eq!(trust["state"], "hint");
    assert!(
        trust["text"].as_str().unwrap().contains("AGENTS.md"),
        "{trust:#}"
    );
}

#[test]
fn doctor_reports_an_unwritable_folder() {
    let sandbox = Sandbox::new();
    let data = sandbox.data();
    fs::create_dir_all(data.parent().unwrap()).unwrap();
    let _ = fs::remove_dir_all(&data);
    // Not even root can create a folder inside a file.
    fs::write(&data, "").unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o600)).unwrap();
    let (code, report) = doctor(&sandbox);
    assert_eq!(code, Some(1));
    let check = check(&report, "Folders", "sessions");
    assert_eq!(check["state"], "bad");
    assert!(
        check["text"].as_str().unwrap().contains("is not a folder"),
        "{check:#}"
    );
}

#[test]
fn doctor_decides_about_models_as_a_run_does() {
    let lab = "[providers.lab]\napi = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
               models = [{ id = \"m\" }]\n";
    for (models, config, name, state, told) in [
        (lab, "", "model", "good", "lab/m"),
        (
            lab,
            "",
            "lab",
            "bad",
            "can't connect to http://127.0.0.1:9/v1",
        ),
        (
            lab,
            "[models]\ndefault = \"gtp-6\"\n",
            "model",
            "bad",
            "models.default: unknown model 'gtp-6'",
        ),
        (
            &format!("{lab}api_key = \"$LAB_KEY\"\n").replace("models =", "#"),
            "",
            "lab",
            "hint",
            "$LAB_KEY, which isn't set",
        ),
        (
            "",
            "[models]\ndefault = \"lmstudio/x\"\n",
            "model",
            "bad",
            "LM Studio doesn't answer",
        ),
    ] {
        let sandbox = Sandbox::new();
        let off = "\n[models.servers]\nollama = \"127.0.0.1:9\"\nllamacpp = \"127.0.0.1:9\"\nlmstudio = \"127.0.0.1:9\"\n";
        fs::write(sandbox.config().join("models.toml"), models).unwrap();
        fs::write(
            sandbox.config().join("config.toml"),
            format!("{config}{off}"),
        )
        .unwrap();
        let (_, report) = doctor(&sandbox);
        let check = check(&report, "Keys", name);
        assert_eq!(check["state"], state, "{check:#}");
        assert!(check["text"].as_str().unwrap().contains(told), "{check:#}");
    }
}

#[test]
fn an_error_in_models_toml_is_no_error_in_config_toml() {
    let sandbox = Sandbox::new();
    let write = |name: &str, text: &str| fs::write(sandbox.config().join(name), text).unwrap();
    write("config.toml", "[models]\ndefault = \"sonnet\"\n");
    write("models.toml", "[providers.lab]\napi = \"telepathy\"\n");
    let (_, report) = doctor(&sandbox);
    assert_eq!(check(&report, "Settings", "config.toml")["state"], "good");
    assert_eq!(check(&report, "Settings", "models.toml")["state"], "bad");
    let text = sandbox.run(&["doctor"]).stdout;
    let (_, end) = text.rsplit_once("problem").unwrap();
    assert!(end.contains("telepathy"), "{text}");
}
