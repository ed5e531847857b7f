//! `tiller policy check`, and invalid rules at start.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::sandbox::Sandbox;

fn settings(sandbox: &Sandbox, text: &str) {
    fs::create_dir_all(sandbox.config()).unwrap();
    fs::write(sandbox.config().join("config.toml"), text).unwrap();
}

#[test]
fn policy_check_tests_the_rules_against_their_examples() {
    let ran = Sandbox::new().run(&["policy", "check"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        ran.stdout.ends_with("examples: all pass\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn policy_check_explains_one_decision() {
    let sandbox = Sandbox::new();
    let line = "cargo test && sudo git -C sub push";
    let ran = sandbox.run(&["policy", "check", "--permission", "auto", line]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    for part in [
        "allow  cargo test",
        "ask    git push",
        "git push publishes commits; it runs outside the sandbox, with your credentials and hooks  [ask bash \"git push\" (built in)]",
        "auto mode: ask, without a sandbox",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
        assert_eq!(ran.stdout.matches(part).count(), 1, "{}", ran.stdout);
    }
    let ran = sandbox.run(&[
        "policy",
        "check",
        "--permission",
        "ask",
        "--json",
        "npm test",
    ]);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["verdict"], "ask");
    assert_eq!(value["commands"][0]["command"], "npm test");
    let rule = value["suggestion"].as_str().unwrap();
    assert!(rule.contains("prefix = [\"npm\", \"test\"]"), "{rule}");
    // The suggested rule answers the question.
    settings(&sandbox, rule);
    let ran = sandbox.run(&["policy", "check", "--permission", "ask", "npm test"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn policy_check_names_ignored_files_that_a_command_deletes() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "data\n");
    sandbox.git_init();
    sandbox.write("sub/data/set.csv", "1\n");
    let line = ["policy", "check", "--permission", "auto", "rm -rf sub"];
    let ran = sandbox.run(&line);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let why = "/undo can't restore what git ignores: sub/data";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
    let allowed = "tiller policy allow --exact rm -rf sub";
    assert!(ran.stdout.contains(allowed), "{}", ran.stdout);
    let allow = ["policy", "allow", "--exact", "rm", "-rf", "sub"];
    assert_eq!(sandbox.run(&allow).code, Some(0));
    assert_eq!(sandbox.run(&line).code, Some(0));
}

/// For a remote, `policy check` suggests a rule that names it. That rule answers the question, here
/// and in a session, because both decide with the same function.
#[test]
fn policy_check_judges_a_command_in_its_repository() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["init", "-q"][..],
        &["remote", "add", "origin", "https://example.org/a"],
    ] {
        let mut git = Command::new("git");
        let ran = git.args(arguments).current_dir(sandbox.path()).output();
        assert!(ran.unwrap().status.success());
    }
    let check = |line| sandbox.run(&["policy", "check", "--permission", "ask", "--json", line]);
    let asked: Value = serde_json::from_str(&check("git fetch").stdout).unwrap();
    let rule = asked["suggestion"].as_str().unwrap();
    assert!(rule.contains("remotes = [\"origin\"]"), "{rule}");
    settings(&sandbox, rule);
    assert_eq!(check("git fetch origin").code, Some(0));
    assert_eq!(check("git fetch fork").code, Some(1));
}

#[test]
fn policy_check_says_why_a_rule_of_the_user_does_not_apply() {
    let mut sandbox = Sandbox::new();
    settings(
        &sandbox,
        "[[permission.rules]]\ntool = 'bash'\nprefix = ['git']\naction = 'allow'\n\
         [[permission.rules]]\ntool = 'bash'\nprefix = ['make']\naction = 'allow'\n\
         [[permission.rules]]\ntool = 'bash'\nprefix = ['git', 'push']\naction = 'allow'\nsandbox = false\n\
         [[permission.rules]]\ntool = 'bash'\nprefix = ['docker', 'ps']\naction = 'allow'\nsandbox = false\n",
    );
    let check = |sandbox: &Sandbox, line| sandbox.run(&["policy", "check", line]).stdout;
    for (line, part) in [
        ("git push", "is more specific. Name its words"),
        ("docker ps && make", "needs a line with only that command"),
        (
            "git push --force",
            "--force may lose something, so a rule must name it: tiller policy allow --no-sandbox git push \
             --force\n",
        ),
        ("docker run x", "ready to copy: tiller docs permissions"),
    ] {
        let told = check(&sandbox, line);
        assert!(told.contains(part), "{line}: {told}");
    }
    assert!(!check(&sandbox, "make").contains("Your rule"));
    sandbox.set("TILLER_SANDBOX_WITHOUT", "namespaces,landlock,seccomp");
    let told = check(&sandbox, "make");
    assert!(told.contains("Add sandbox = false to the rule"), "{told}");
}

#[test]
fn rules_are_added_listed_and_removed() {
    let sandbox = Sandbox::new();
    for words in [
        // The next one replaces it.
        &["policy", "allow", "--no-sandbox", "npm", "test"][..],
        &["policy", "allow", "npm", "test"],
        &["policy", "deny", "git push"],
        &["policy", "allow", "--no-sandbox", "docker", "ps"],
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    let listed = sandbox.run(&["policy", "list"]).stdout;
    for part in [
        "  1  allow bash \"npm test\", in the sandbox (",
        "config.toml:",
        "  2  deny bash \"git push\"",
    ] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let rules: Value =
        serde_json::from_str(&sandbox.run(&["policy", "list", "--json"]).stdout).unwrap();
    assert_eq!(rules[2]["sandbox"], false);
    for rule in ["git push", "1"] {
        let ran = sandbox.run(&["policy", "rm", rule]);
        assert!(ran.stdout.starts_with("Removed from "), "{ran:#?}");
    }
    let listed = sandbox.run(&["policy", "list"]).stdout;
    assert!(
        !listed.contains("git push") && !listed.contains("npm"),
        "{listed}"
    );
    let ran = sandbox.run(&["policy", "remove", "npm test"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("no rule npm test"), "{ran:#?}");
    let ran = sandbox.run(&["policy", "allow", "sudo"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(
        ran.stderr.contains("sudo") && !ran.stderr.contains("append"),
        "{ran:#?}"
    );
}

#[test]
fn permissions_adds_a_rule_as_policy_does() {
    let sandbox = Sandbox::new();
    for (typed, code, told) in [
        (
            "allow --network npm install",
            0,
            "allow bash \"npm install\", with the network",
        ),
        ("deny rm '-r|-R'", 0, "deny bash \"rm -r|-R\""),
        ("", 0, "  1  allow bash \"npm install\""),
        ("allow sudo", 1, "sudo"),
        ("deny Bash(rm:*)", 1, "write: /permissions deny rm"),
        (
            "deny --exact rm",
            1,
            "/permissions deny has no option --exact",
        ),
        ("allow", 1, "/permissions allow COMMAND (or ask, deny)"),
    ] {
        let ran = sandbox.run(&["-p", &format!("/permissions {typed}")]);
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(text.contains(told), "{typed}: {ran:#?}");
    }
}

#[test]
fn a_rule_can_be_for_one_project_only() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["policy", "deny", "--project", "make", "deploy"]);
    let told = format!(
        "projects.toml: deny bash \"make deploy\", only in {}\n",
        sandbox.path().display()
    );
    assert!(ran.stdout.ends_with(&told), "{ran:#?}");
    let listed = sandbox.run(&["policy", "list"]).stdout;
    let origin = format!("(projects.toml, rule 1 of {})", sandbox.path().display());
    assert!(listed.contains(&origin), "{listed}");
    let check = || sandbox.run(&["policy", "check", "make deploy"]).stdout;
    assert!(check().contains("mode: deny"), "{}", check());
    let ran = sandbox.run(&["policy", "remove", "make deploy"]);
    assert!(ran.stdout.starts_with("Removed from "), "{ran:#?}");
    assert!(!check().contains("mode: deny"), "{}", check());
}

#[test]
fn a_rule_that_would_do_nothing_is_refused_or_named() {
    let sandbox = Sandbox::new();
    for (words, part) in [
        (&["deny", "Bash(rm:*)"][..], "tiller policy deny rm"),
        (&["deny", "--sandbox", "rm", "-rf"], "no option --sandbox"),
        (&["deny", "--network", "rm"], "no option --network"),
        (
            &["allow", "--network", "--always", "npm"],
            "no option --always",
        ),
        (
            &["allow", "npm", "test", "--network"],
            "put --network before",
        ),
        (
            &["allow", "docker"],
            "not added: docker likely can't work in the sandbox: ",
        ),
        (
            &["allow", "npm", "install"],
            "Try: tiller policy allow --network npm install\n",
        ),
    ] {
        let ran = sandbox.run(&[&["policy"], words].concat());
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains(part), "{part}: {ran:#?}");
    }
    let listed = sandbox.run(&["policy", "list"]).stdout;
    assert!(listed.starts_with("No rules of yours"), "{listed}");
    for (words, part) in [
        (
            &["--network", "npm", "install"][..],
            "\"npm install\", with the network\n",
        ),
        (
            &["gh"],
            "still asks before commands such as gh pr create --fill: ",
        ),
        (
            &["--exact", "--network", "curl", "a b"],
            "exactly \"curl a b\", with the network\n",
        ),
    ] {
        let ran = sandbox.run(&[&["policy", "allow"], words].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert!(ran.stdout.contains(part), "{part}: {ran:#?}");
        assert!(!ran.stdout.contains("Running sessions"), "{ran:#?}");
    }
    for (line, code) in [("curl 'a b'", 0), ("curl 'a b' c", 1)] {
        let ran = sandbox.run(&["policy", "check", "--permission", "auto", line]);
        assert_eq!(ran.code, Some(code), "{ran:#?}");
    }
    sandbox.run(&["policy", "deny", "make"]);
    let told = sandbox.run(&["policy", "check", "make"]).stdout;
    assert_eq!(told.matches("deny bash \"make\"").count(), 1, "{told}");
    let ran = sandbox.run(&[
        "policy",
        "check",
        "--config",
        "permission.rules=[{tool=bash}]",
    ]);
    assert!(
        ran.stderr.contains("put words in quotes: tool=\"bash\""),
        "{ran:#?}"
    );
}

#[test]
fn policy_check_names_the_line_that_allows_a_command() {
    let sandbox = Sandbox::new();
    let check = |line| {
        let words = ["policy", "check", "--permission", "auto", line];
        sandbox.run(&words).stdout
    };
    for (line, part) in [
        (
            "docker ps",
            "The same: tiller policy allow --exact --no-sandbox docker ps\n",
        ),
        (
            "curl -s https://x.org | head",
            "To allow it: tiller policy allow --exact --network curl -s 'https://x.org'\n",
        ),
        (
            "make && ssh host",
            "needs a line with only that command. Run it alone: ssh host\n",
        ),
    ] {
        let told = check(line);
        assert!(told.contains(part), "{part}: {told}");
    }
    for line in ["curl -s https://x.org && make", "rm -rf .git"] {
        assert!(!check(line).contains("policy allow"), "{line}");
    }
    let words = [
        "policy",
        "allow",
        "--exact",
        "--network",
        "curl",
        "-s",
        "https://x.org",
    ];
    assert_eq!(sandbox.run(&words).code, Some(0));
    assert!(
        check("curl -s https://x.org | head")
            .contains("auto mode: allow, in the sandbox with network")
    );
}

#[test]
fn policy_check_names_the_files_that_the_sandbox_hides() {
    let sandbox = Sandbox::with(&[("secrets/key.txt", "k"), ("a.txt", "a")]);
    let secrets = sandbox.path().join("secrets");
    settings(
        &sandbox,
        &format!("[permission]\nprotected = [{secrets:?}]\n"),
    );
    for (line, code, told) in [
        (
            "cat secrets/key.txt",
            1,
            "allow, in the sandbox, without network, but secrets/key.txt is hidden",
        ),
        ("wc -l <secrets/key.txt", 1, "but secrets/key.txt is hidden"),
        ("cat a.txt", 0, "allow, in the sandbox, without network\n"),
    ] {
        let ran = sandbox.run(&["policy", "check", line]);
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        assert!(ran.stdout.contains(told), "{}", ran.stdout);
    }
    let ran = sandbox.run(&["policy", "check", "--json", "cat secrets/key.txt"]);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["hidden"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_protected_path_that_does_not_exist_is_a_warning() {
    let sandbox = Sandbox::new();
    settings(
        &sandbox,
        "[permission]\nprotected = ['/nonexistent/secrets']\n",
    );
    let told = "permission.protected: /nonexistent/secrets doesn't exist";
    let ran = sandbox.run(&["policy", "list"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stderr.contains(told), "{ran:#?}");
    let ran = sandbox.run(&["doctor"]);
    assert!(
        ran.stdout.contains("/nonexistent/secrets doesn't exist"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_nonsensical_rule_is_rejected_with_its_line() {
    for (rule, line, why) in [
        ("tool = 'bsh'\naction = 'ask'", 3, "unknown tool 'bsh'"),
        ("tool = 'Bash'\naction = 'ask'", 3, "'Bash'; write 'bash'"),
        ("tool = 'Bash(git:*)'\naction = 'ask'", 3, "; write 'bash'"),
        ("tool = 'Glob'\naction = 'ask'", 3, "'Glob'; write 'find'"),
        (
            "tool = 'bash'\naction = 'allow'\nprefix = ['npm', 'run:*']",
            3,
            "it can never match: \"run:*\": no wildcards here; write \"npm\", \"run\"",
        ),
        (
            "tool = 'bash'\naction = 'deny'\nprefix = ['git', '*']",
            3,
            "\"*\": no wildcards here; write \"git\"",
        ),
        (
            "tool = 'bash'\naction = 'ask'\nprefix = ['git push:*|x']",
            3,
            "no wildcards here; write \"git\", \"push",
        ),
        (
            "tool = 'bash'\naction = 'deny'\nprefix = ['*']",
            3,
            "write the first words of the command",
        ),
        (
            "tool = 'bash'\naction = 'maybe'",
            5,
            "unknown value 'maybe': expected one of allow, ask, deny",
        ),
        (
            "tool = 'bash'\naction = 'allowed'",
            5,
            "unknown value 'allowed': did you mean 'allow'?",
        ),
        (
            "tool = 'bash'\naction = 'ask'\nprefix = 'npm test'",
            6,
            "expected a list; write prefix = [\"npm\", \"test\"]",
        ),
        (
            "tool = 'bash'\naction = 'ask'\nprefix = []",
            6,
            "`prefix` is empty",
        ),
        (
            "tool = 'bash'\naction = 'ask'\nprefix = ['git push']",
            3,
            "\"git\", \"push\"",
        ),
        (
            "tool = 'bash'\naction = 'ask'\npre = ['git']",
            6,
            "unknown key 'pre': did you mean 'prefix'?",
        ),
        (
            "tool = 'read'\naction = 'ask'\nprefix = ['cat']",
            3,
            "it can never match",
        ),
        (
            "tool = 'edit'\naction = 'deny'\npath = '../x'",
            3,
            "it can never match",
        ),
        (
            "tool = 'bash'\naction = 'ask'\npattern = ['git']",
            6,
            "unknown key 'pattern': write prefix = [",
        ),
        (
            "tool = 'edit'\naction = 'deny'\npath = 'a[b'",
            3,
            "is not a valid pattern",
        ),
        (
            "tool = 'bash'\naction = 'allow'\nprefix = ['sudo']",
            3,
            "'sudo' can run any command",
        ),
        (
            "tool = 'bash'\naction = 'allow'\nprefix = ['bash', '-c']",
            3,
            "'bash' can run any command",
        ),
        (
            "tool = 'bash'\naction = 'allow'\nsandbox = false",
            3,
            "every command without a sandbox",
        ),
        (
            "tool = '*'\naction = 'allow'",
            3,
            "it would allow every tool",
        ),
        (
            "tool = 'bash'\naction = 'ask'\nprefix = ['git']\nmatch = ['ls']",
            3,
            "it doesn't match 'ls', which is in match",
        ),
        (
            "tool = 'bash'\naction = 'ask'\nprefix = ['git']\nnot_match = ['ls; git x']",
            3,
            "it matches 'ls; git x', which is in not_match",
        ),
        (
            "tool = 'bash'\naction = 'ask'\nprefix = ['git']\nmatch = ['git x']\nnot_match = ['git x']",
            3,
            "is in both match and not_match",
        ),
    ] {
        let sandbox = Sandbox::new();
        settings(&sandbox, &format!("\n\n[[permission.rules]]\n{rule}\n"));
        let ran = sandbox.run(&["policy", "check"]);
        assert_eq!(ran.code, Some(2), "{rule}: {ran:#?}");
        let place = format!("config.toml:{line})");
        assert!(
            ran.stderr.contains(&place) && ran.stderr.contains(why),
            "{rule}: {}",
            ran.stderr
        );
    }
}

#[test]
fn allow_rules_of_an_untrusted_project_are_ignored_and_reported() {
    let sandbox = Sandbox::new();
    let rules = "[[permission.rules]]\ntool = 'bash'\nprefix = ['git', 'push']\naction = 'allow'\n\
                 [[permission.rules]]\ntool = 'bash'\nprefix = ['make']\naction = 'deny'\n";
    fs::create_dir_all(sandbox.path().join(".tiller")).unwrap();
    sandbox.write(".tiller/config.toml", rules);
    let check = |line: &str| sandbox.run(&["policy", "check", "--permission", "auto", line]);
    // None of the project's rules apply before the user trusts it.
    let made = check("make");
    assert_eq!(made.code, Some(0));
    assert!(made.stderr.contains("type /trust in tiller"), "{made:#?}");
    let trust = format!("[trust]\n{:?} = 'trusted'\n", sandbox.path());
    fs::create_dir_all(sandbox.config()).unwrap();
    fs::write(sandbox.config().join("projects.toml"), trust).unwrap();
    let pushed = check("git push");
    assert!(pushed.stdout.contains("auto mode: ask"), "{pushed:#?}");
    let told = "loosens permissions: allow bash \"git push\" (project: ";
    assert!(pushed.stderr.contains(told), "{}", pushed.stderr);
    let instead = "tiller policy allow --project COMMAND";
    assert!(pushed.stderr.contains(instead), "{}", pushed.stderr);
    let made = check("make");
    assert!(made.stdout.contains("auto mode: deny"), "{made:#?}");
}

#[test]
fn policy_check_reads_a_command_from_stdin() {
    let sandbox = Sandbox::new();
    let arguments = ["policy", "check", "--permission", "auto", "-"];
    let ran = sandbox.run_with(&arguments, Some("git push\n"));
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.stdout.contains("git push"), "{ran:#?}");
}

#[test]
fn a_command_needs_no_quotes() {
    let sandbox = Sandbox::new();
    let check = |words: &[&str]| sandbox.run(&[&["policy", "check"], words].concat());
    for (words, command) in [
        (
            &["--json", "git", "push", "--force"][..],
            "git push --force",
        ),
        (&["--json", "git", "push", "--json"], "git push --json"),
        (&["--json", "rm", "-rf", "a b"], "rm -rf 'a b'"),
        (
            &["--json", "cd", "x", "&&", "git", "push"],
            "cd x && git push",
        ),
        (&["--json", "--", "ls", "-h"], "ls -h"),
        (&["git push", "--json"], "git push"),
    ] {
        let ran = check(words);
        let value: Value = serde_json::from_str(&ran.stdout).expect(&ran.stderr);
        assert_eq!(value["command"], command, "{words:?}");
    }
    let ran = check(&["git push", "--permission", "ask"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.stdout.contains("ask mode: ask"), "{ran:#?}");
    let ran = check(&["--permission", "ask", "cat x; make"]);
    assert!(ran.stdout.contains("ask    make\n"), "{ran:#?}");
    assert!(ran.stdout.contains("allow  cat x\n"), "{ran:#?}");
    let ran = check(&["git push", "--force", "--permission", "ask"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("flags before the command"), "{ran:#?}");
}
