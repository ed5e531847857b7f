//! Runs without a screen and without permission flags. The mode is `auto`, and whatever it would
//! ask about is denied.

use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::job;
use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::sandbox::Sandbox;

/// What the model gets as the result of each of these calls, with a new user's settings.
fn told(sandbox: &Sandbox, flags: &[&str], calls: &[(&str, Value)]) -> Vec<String> {
    let replies = calls
        .iter()
        .map(|(tool, args)| Reply::call(tool, args.clone()));
    let server = ModelServer::start(Script::of(replies.chain([Reply::text("Done.")])));
    let arguments = [&["--mode", "json", "-m", Wire::Chat.model(), "go"], flags].concat();
    let output = sandbox
        .tiller(&arguments)
        .envs(server.env())
        .output()
        .unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:#?}");
    let text = |result: &Value| {
        let content = result["content"].as_array().unwrap().iter();
        content
            .filter_map(|it| it["text"].as_str())
            .collect::<String>()
    };
    let stdout = String::from_utf8(output.stdout).unwrap();
    let records = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let ended = records.filter(|it: &Value| it["type"] == "tool_execution_end");
    ended.map(|it| text(&it["result"])).collect()
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({"command": command}))
}

/// A repository with a remote, outside `/tmp`. None where the sandbox doesn't work.
fn repository() -> Option<Sandbox> {
    let sandbox = Sandbox::outside_tmp().with_default_mode();
    if !sandbox.machine_confines() {
        return None;
    }
    sandbox.write("file", "x\n");
    sandbox.git_init();
    for arguments in [
        &["init", "-q", "--bare", "../remote.git"][..],
        &["remote", "add", "origin", "../remote.git"],
    ] {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(sandbox.path());
        assert!(
            git.env_clear()
                .envs(sandbox.env())
                .status()
                .unwrap()
                .success()
        );
    }
    Some(sandbox)
}

#[test]
fn work_in_the_project_needs_no_permission() {
    let Some(sandbox) = repository() else { return };
    let told = told(
        &sandbox,
        &[],
        &[
            ("write", json!({"file_path": "new", "content": "1\n"})),
            bash(
                "echo 2 >> new && git add new && git -c user.name=a -c user.email=a@b commit -qm new && git status -s | wc -l",
            ),
            bash("touch ../outside; echo $? && ! test -e ../outside"),
            bash("cat ../config/config.toml"),
        ],
    );
    assert_eq!(sandbox.read("new"), "1\n2\n");
    assert_eq!(told[1].trim(), "0", "{told:#?}");
    assert!(told[2].contains("Read-only file system"), "{told:#?}");
    assert!(told[3].contains("[its output contains “"), "{told:#?}");
}

/// The user closed the folder, so tiller offers no way in.
#[test]
fn a_protected_folder_is_named_and_no_rerun_is_offered() {
    let Some(sandbox) = repository() else { return };
    sandbox.write("secrets/a.txt", "key");
    let protected = format!(
        "permission.protected=[{:?}]",
        sandbox.path().join("secrets")
    );
    let flags = ["--config", &protected];
    let calls = [bash("cat secrets/a.txt"), bash("cd secrets && git status")];
    for result in told(&sandbox, &flags, &calls) {
        assert!(result.contains("secrets is protected]"), "{result}");
        assert!(!result.contains("may have blocked it"), "{result}");
    }
}

/// The denial names a rule. With that rule in the settings, the same call runs.
#[test]
fn a_denial_names_the_rule_that_would_allow_the_call() {
    let Some(sandbox) = repository() else { return };
    let push = [bash("git push -q origin main")];
    let pushed = || {
        sandbox
            .path()
            .join("../remote.git/refs/heads/main")
            .exists()
    };
    let refused = told(&sandbox, &[], &push);
    let begin = "Not permitted: git push publishes commits";
    assert!(refused[0].starts_with(begin), "{refused:#?}");
    let (_, rule) = refused[0]
        .split_once("with a rule in config.toml:\n")
        .unwrap();
    assert!(!pushed());
    let file = sandbox.config().join("config.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{settings}\n{rule}\n")).unwrap();
    let allowed = told(&sandbox, &[], &push);
    assert!(pushed(), "{allowed:#?}");
}

#[test]
fn flags_choose_other_modes() {
    let Some(sandbox) = repository() else { return };
    for (flags, made) in [
        (&[][..], false),
        (&["--permission", "ask"], false),
        (&["--permission", "plan"], false),
        (&["--config", "permission.mode=full"], true),
        (&["--permission", "full"], true),
    ] {
        let outside = sandbox.path().join("../outside");
        let write = ("write", json!({"file_path": "../outside", "content": "x"}));
        let told = told(&sandbox, flags, &[write]);
        assert_eq!(outside.exists(), made, "{flags:?}: {told:?}");
        assert_eq!(told[0].starts_with("Not permitted: "), !made, "{told:?}");
        let _ = std::fs::remove_file(outside);
    }
}

/// tiller prints the answer. stderr names each denial and a line that allows it, and the exit code
/// says that something was denied. The line works as described.
#[test]
fn denials_show_in_the_exit_code_and_on_stderr() {
    let Some(sandbox) = repository() else { return };
    for mode in [&["-p"][..], &["--mode", "json"]] {
        let replies = [
            Reply::call("bash", json!({"command": "git push -q origin main"})),
            Reply::text("I may not push."),
            Reply::call("bash", json!({"command": "git push -q origin main"})),
            Reply::text("Pushed."),
        ];
        let server = ModelServer::start(Script::of(replies));
        let arguments = [mode, &["-m", Wire::Chat.model(), "push"]].concat();
        let mut command = sandbox.tiller(&arguments);
        let output = command.envs(server.env()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        if mode == ["-p"] {
            assert_eq!(output.stdout, b"I may not push.\n");
        }
        let begin = "tiller: refused: git push -q origin main (git push publishes commits; ";
        assert!(stderr.starts_with(begin), "{stderr}");
        let line = stderr.trim_end().split_once("To allow it: tiller ");
        let line = line.and_then(|(_, line)| line.strip_suffix(')'));
        let words: Vec<&str> = line.expect(&stderr).split(' ').collect();
        assert_eq!(words, ["policy", "allow", "--no-sandbox", "git", "push"]);
        assert_eq!(sandbox.run(&words).code, Some(0));
        let mut command = sandbox.tiller(&arguments);
        let output = command.envs(server.env()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let ran = sandbox.run(&["policy", "remove", "git push"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let remote = sandbox.path().join("../remote.git/refs/heads/main");
        std::fs::remove_file(remote).expect("the push should have created the remote file");
    }
}

#[test]
fn a_denied_network_names_the_narrow_way_out_once() {
    let Some(sandbox) = repository() else { return };
    let curl = |page: &str| {
        let command = format!("curl https://example.org/{page}");
        Reply::call("bash", json!({"command": command}))
    };
    let replies = [curl("a"), curl("b"), curl("a"), Reply::text("I may not.")];
    let server = ModelServer::start(Script::of(replies));
    let mut command = sandbox.tiller(&["-p", "-m", Wire::Chat.model(), "go"]);
    let output = command.envs(server.env()).output().unwrap();
    let reason = "it contacts a server and could send anything";
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        format!(
            "tiller: refused: curl https://example.org/a ({reason}. To allow it: tiller policy allow \
             --exact --network curl 'https://example.org/a')\n\
             tiller: refused: curl https://example.org/b ({reason}. To allow it: tiller policy allow \
             --exact --network curl 'https://example.org/b')\n"
        )
    );
    let file = sandbox.config().join("config.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let rule = "tool = 'bash'\nprefix = ['curl']\naction = 'allow'\nnetwork = true";
    std::fs::write(&file, format!("{settings}\n[[permission.rules]]\n{rule}\n")).unwrap();
    let ran = sandbox.run(&["policy", "check", "curl https://example.org/a"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        ran.stdout.contains("in the sandbox with network"),
        "{ran:#?}"
    );
}

#[test]
fn calls_that_a_rule_or_the_mode_denies_are_reported() {
    let deny = "permission.rules=[{tool=\"bash\",prefix=[\"make\"],action=\"deny\"}]";
    let make = ("bash", json!({"command": "make all"}));
    let write = ("write", json!({"path": "a.txt", "content": "x"}));
    for (flags, (tool, arguments), begin) in [
        (["--config", deny], make, "tiller: refused: make all ("),
        (["--permission", "plan"], write, "tiller: refused: write"),
    ] {
        let replies = [Reply::call(tool, arguments), Reply::text("I may not.")];
        let (_server, sandbox) = job::stage_with(replies.to_vec());
        let ran = sandbox.run(&[&["-p", "-m", Wire::Chat.model(), "go"], &flags[..]].concat());
        assert_eq!(ran.code, Some(3), "{ran:#?}");
        assert_eq!(ran.stdout, "I may not.\n");
        assert!(ran.stderr.starts_with(begin), "{ran:#?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
    }
}

#[test]
fn without_a_working_sandbox_auto_asks_and_says_why() {
    for (without, why) in [
        ("namespaces", "read-only files inside the writable folders"),
        (
            "processes,landlock",
            "commands could send signals to other processes",
        ),
        ("namespaces,landlock", "commands could read hidden files"),
        (
            "namespaces,landlock,seccomp",
            "commands could use the network",
        ),
    ] {
        let Some(mut sandbox) = repository() else {
            return;
        };
        sandbox.set("TILLER_SANDBOX_WITHOUT", without);
        let told = told(&sandbox, &[], &[bash("touch made")]);
        let begin = "Not permitted: no sandbox works on this machine: ";
        assert!(told[0].starts_with(begin), "{without}: {told:?}");
        assert!(told[0].contains(why), "{without}: {told:?}");
        assert!(!sandbox.path().join("made").exists(), "{without}");
    }
}

/// Namespaces are enough. Most kernels have a Landlock too old to contain signals.
#[test]
fn auto_works_with_namespaces_alone() {
    for without in ["landlock", "processes", "landlock,seccomp"] {
        let Some(mut sandbox) = repository() else {
            return;
        };
        sandbox.set("TILLER_SANDBOX_WITHOUT", without);
        let told = told(&sandbox, &[], &[bash("touch made; echo done")]);
        assert!(told[0].starts_with("done"), "{without}: {told:?}");
        assert!(sandbox.path().join("made").exists(), "{without}");
    }
}

/// Where tiller can't create namespaces, `bwrap` does, if it's installed.
#[test]
fn bwrap_confines_commands_where_tiller_cannot() {
    let Some(mut sandbox) = repository() else {
        return;
    };
    sandbox.set("TILLER_SANDBOX_WITHOUT", "own_namespaces");
    let home = sandbox.env().into_iter().find(|(name, _)| name == "HOME");
    let home = std::path::PathBuf::from(home.unwrap().1);
    let secret = home.join(".ssh/id");
    std::fs::create_dir_all(secret.parent().unwrap()).unwrap();
    std::fs::write(&secret, "secret\n").unwrap();
    std::fs::write(home.join(".netrc"), "secret\n").unwrap();
    // Sockets of other programs: one in a hidden folder, one in a folder that commands see.
    let _agent = UnixListener::bind(home.join(".ssh/agent")).unwrap();
    let _server = UnixListener::bind(sandbox.path().join("server")).unwrap();
    // Like husky: a hook folder inside another read-only folder.
    sandbox.write(".husky/pre-commit", "true\n");
    sandbox.write(".husky/_/pre-commit", "true\n");
    let hooks = ["config", "core.hooksPath", ".husky/_"];
    let set = Command::new("git")
        .args(hooks)
        .current_dir(sandbox.path())
        .status();
    assert!(set.unwrap().success());
    let outside = sandbox.path().join("../outside");
    let command = format!(
        "touch made /tmp/mine && echo written; cat {secret} {outside}; \
         touch .git/config .husky/_/pre-commit .husky/pre-commit {outside}; \
         ls /tmp; cat {home}/.netrc && echo empty; \
         python3 -c 'import socket; socket.socket(1).connect(\"server\")' 2>&1 | tail -1; \
         ls /proc | grep -c '^[0-9]'",
        home = home.display(),
        secret = secret.display(),
        outside = outside.display()
    );
    std::fs::write(&outside, "x\n").unwrap();
    let told = told(&sandbox, &[], &[bash(&command)]);
    if !std::path::Path::new("/usr/bin/bwrap").exists() {
        let why = "Not permitted: no sandbox works on this machine: ";
        assert!(told[0].starts_with(why), "{told:?}");
        return;
    }
    assert!(told[0].starts_with("written\n"), "{told:?}");
    assert!(!told[0].contains("secret\n"), "{told:?}");
    assert_eq!(
        told[0].matches("Read-only file system").count(),
        4,
        "{told:?}"
    );
    assert!(told[0].contains("\nmine\nempty\n"), "{told:?}");
    assert!(told[0].contains("Connection refused"), "{told:?}");
    assert!(sandbox.path().join("made").exists());
    let mut processes = told[0]
        .lines()
        .filter_map(|line| line.parse::<usize>().ok());
    assert!(
        processes.next_back().is_some_and(|count| count < 8),
        "{told:?}"
    );
}

/// A repository that a command makes runs nothing at the user's next `git status`.
#[test]
fn a_repository_made_by_a_command_runs_nothing_later() {
    for (flags, runs) in [(&[][..], false), (&["--permission", "full"], true)] {
        let Some(sandbox) = repository() else { return };
        let evil = sandbox.path().join("../evil");
        let make = format!(
            "mkdir -p a/b/c/sub && cd a/b/c/sub && git init -q && git config user.name x \
             && git config core.fsmonitor 'touch {}'",
            evil.display()
        );
        let told = told(&sandbox, flags, &[bash(&make)]);
        assert_eq!(told[0].contains("(core.fsmonitor)"), !runs, "{told:?}");
        let mut git = Command::new("git");
        git.arg("status")
            .current_dir(sandbox.path().join("a/b/c/sub"));
        let status = git.env_clear().envs(sandbox.env()).output().unwrap();
        assert!(status.status.success(), "{status:?}");
        assert_eq!(evil.exists(), runs, "{flags:?}: {told:?}");
    }
}

/// PATH may lead into the project, as with the bin folder of an activated virtual environment. Two
/// lookups matter: when tiller runs git itself, and when git runs programs after a rule let it out
/// of the sandbox.
#[test]
fn a_program_planted_on_path_never_runs_outside_the_sandbox() {
    let Some(mut sandbox) = repository() else {
        return;
    };
    let (added, own) = (
        sandbox.path().join("../added"),
        sandbox.path().join(".venv/bin"),
    );
    std::fs::create_dir_all(added.join("bin")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}/bin:{path}", own.display(), added.display());
    sandbox.set("PATH", &path);
    let file = sandbox.config().join("config.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let rule = "prefix = [\"git\", \"fetch\"]\naction = \"allow\"\nsandbox = false\n";
    let settings = format!(
        "{settings}\n[permission]\nwritable = [{added:?}]\n\n[[permission.rules]]\ntool = \"bash\"\n{rule}"
    );
    std::fs::write(&file, settings).unwrap();
    let ran = sandbox.path().join("../ran");
    let plant = |program: &str| {
        format!(
            "echo 'touch {}; exit 1' > {program}; chmod +x {program}",
            ran.display()
        )
    };
    let plants = format!(
        "mkdir -p .venv/bin; {}; {}",
        plant(&added.join("bin/git").display().to_string()),
        plant(".venv/bin/ssh")
    );
    let told = told(
        &sandbox,
        &[],
        &[bash(&plants), bash("git fetch -q origin"), bash("true")],
    );
    assert!(
        added.join("bin/git").exists() && own.join("ssh").exists(),
        "{told:?}"
    );
    assert!(
        told[1].contains(".venv/bin/ssh, which a command may have changed"),
        "{told:?}"
    );
    assert!(!ran.exists(), "{told:?}");
}

/// git exits successfully anyway, and the next commit would bring the old file to the other branch.
#[test]
fn a_file_that_git_could_not_update_is_named() {
    let Some(sandbox) = repository() else { return };
    sandbox.write(".vscode/tasks.json", "old");
    let branches = "git config user.name a && git config user.email a@b && git add -A \
                    && git commit -qm old && git switch -qc other && echo new > .vscode/tasks.json \
                    && git commit -qam new && git switch -q -";
    let made = Command::new("bash")
        .args(["-c", branches])
        .current_dir(sandbox.path())
        .env_clear()
        .envs(sandbox.env())
        .status();
    assert!(made.unwrap().success());
    let told = told(
        &sandbox,
        &[],
        &[bash("git switch other; cat .vscode/tasks.json")],
    );
    assert!(told[0].contains("old"), "{told:?}");
    assert!(
        told[0].contains("[git could not update .vscode/tasks.json: "),
        "{told:?}"
    );
}

/// Commands and file tools share the session's temporary files, and other programs on the machine
/// don't see them.
#[test]
fn commands_and_file_tools_share_the_sessions_private_tmp() {
    let Some(sandbox) = repository() else { return };
    let name = format!("tiller-test-{}", std::process::id());
    let [one, two] = ["one", "two"].map(|it| format!("/tmp/{name}-{it}"));
    let told = told(
        &sandbox,
        &[],
        &[
            bash(&format!("echo from a command > {one}")),
            ("read", json!({"file_path": one})),
            (
                "write",
                json!({"file_path": two, "content": "from a tool\n"}),
            ),
            bash(&format!("cat {two}; sed -i s/tool/command/ {two}")),
            (
                "edit",
                json!({"file_path": two, "old_text": "command", "new_text": "tool again"}),
            ),
            ("grep", json!({"pattern": "from", "path": two})),
            ("ls", json!({"path": "/tmp"})),
        ],
    );
    assert_eq!(told[1], "from a command\n", "{told:#?}");
    assert!(told[2].contains(&two), "{told:#?}");
    assert!(told[3].starts_with("from a tool"), "{told:#?}");
    assert!(told[5].contains("from a tool again"), "{told:#?}");
    assert!(told[6].contains(&format!("{name}-one")), "{told:#?}");
    for path in [one, two] {
        assert!(!std::path::Path::new(&path).exists(), "{path}");
    }
    let left = std::fs::read_dir(sandbox.tmp()).unwrap().flatten();
    let left: Vec<_> = left.map(|it| it.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_project_below_tmp_keeps_its_path() {
    let sandbox = Sandbox::new().with_default_mode();
    if !sandbox.machine_confines() {
        return;
    }
    sandbox.write("file", "there\n");
    let path = sandbox.path().join("file").display().to_string();
    let told = told(
        &sandbox,
        &[],
        &[
            bash(&format!("pwd; cat {path}; echo changed > file")),
            ("read", json!({"file_path": path})),
        ],
    );
    assert!(told[0].ends_with("there"), "{told:?}");
    assert_eq!(told[1], "changed\n");
    assert_eq!(sandbox.read("file"), "changed\n");
}

#[test]
fn in_the_home_folder_auto_asks_and_says_so_once() {
    let Some(mut sandbox) = repository() else {
        return;
    };
    let home = sandbox.path();
    for home in [home.clone(), home.join("below")] {
        std::fs::create_dir_all(&home).unwrap();
        sandbox.set("HOME", &home.display().to_string());
        let calls = [
            bash("touch made"),
            ("write", json!({"file_path": "made", "content": "x"})),
        ];
        let told = told(&sandbox, &[], &calls);
        assert!(
            told.iter().all(|it| it.starts_with("Not permitted: ")),
            "{told:?}"
        );
        assert!(!sandbox.path().join("made").exists());
    }
    let server = ModelServer::start(Script::of([Reply::text("Done.")]));
    let mut command = sandbox.tiller(&["-p", "-m", Wire::Chat.model(), "go"]);
    let output = command.envs(server.env()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said.matches("so auto asks before every change").count(),
        1,
        "{said}"
    );
}

/// The user creates the file while no command of the session runs.
#[test]
fn after_a_denied_command_the_users_files_stay() {
    let Some(sandbox) = repository() else { return };
    let rules = r#"
[[permission.rules]]
tool = "bash"
prefix = ["sort"]
action = "ask"

[[permission.rules]]
tool = "bash"
prefix = ["cp"]
action = "allow"
sandbox = false
"#;
    let file = sandbox.config().join("config.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{settings}{rules}")).unwrap();
    // A rule lets `cp` run outside the sandbox, in place of the user in another terminal.
    let told = told(
        &sandbox,
        &[],
        &[
            bash("ls"),
            bash("sort file"),
            bash("cp file .envrc"),
            bash("ls"),
        ],
    );
    assert!(told[1].starts_with("Not permitted: "), "{told:#?}");
    assert!(!told[2].starts_with("Not permitted"), "{told:#?}");
    assert_eq!(sandbox.read(".envrc"), "x\n", "{told:#?}");
}

/// The user may have made it meanwhile, and sees no output of commands here.
#[test]
fn a_file_that_is_moved_away_is_named_on_stderr() {
    let sandbox = Sandbox::outside_tmp().with_default_mode();
    if !sandbox.machine_confines() {
        return;
    }
    let call = Reply::call("bash", json!({"command": "mkdir .tiller; sleep 0.5"}));
    let server = ModelServer::start(Script::of([call, Reply::text("Done.")]));
    let output = sandbox
        .tiller(&["-p", "-m", Wire::Chat.model(), "go"])
        .envs(server.env())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let moved = "/.tiller.refused: programs outside";
    assert!(stderr.contains(moved), "{stderr}");
}
