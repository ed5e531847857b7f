//! The machine: what runs commands, and what confines them, each tried.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::report::{Check, Section};
use crate::agent::process::sandbox::Sandbox;
use crate::agent::process::{ExitStatus, Processes, Spawn, run_captured};

/// How long a command of these may take.
const LIMIT: Duration = Duration::from_secs(5);

pub async fn system(processes: &Processes, env: &HashMap<String, String>) -> Section {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let machine = format!(
        "{} {} {}",
        std::env::consts::OS,
        kernel.trim(),
        std::env::consts::ARCH
    );
    let mut checks = vec![
        Check::good("tiller", env!("CARGO_PKG_VERSION")),
        Check::good("system", machine.replace("  ", " ")),
    ];
    checks.push(match run(processes, env, "echo $BASH_VERSION").await {
        Ok(version) if version.is_empty() => Check::hint(
            "commands",
            "sh runs them; there is no bash on PATH",
            "Install bash: what models write is meant for it",
        ),
        Ok(version) => Check::good("commands", format!("bash {version} runs them")),
        Err(why) => Check::bad(
            "commands",
            format!("cannot be started: {why}"),
            "The tool bash, and key commands of models.toml, need that",
        ),
    });
    checks.push(match run(processes, env, "git --version").await {
        Ok(version) => Check::good("git", version.trim_start_matches("git version ")),
        Err(_) => Check::hint(
            "git",
            "is not there",
            "Install git: trials (/try) and the state of a repository in the prompt need it",
        ),
    });
    Section {
        title: "System",
        checks,
    }
}

/// What a command prints that succeeds.
async fn run(
    processes: &Processes,
    env: &HashMap<String, String>,
    command: &str,
) -> Result<String, String> {
    let spawn = Spawn {
        command: command.to_owned(),
        cwd: PathBuf::from("/"),
        environment: env
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        sandbox: None,
    };
    let captured = run_captured(processes, spawn, LIMIT, 200).await;
    let captured = captured.map_err(|error| error.to_string())?;
    match captured.exit {
        Some(ExitStatus::Exited(0)) => {
            Ok(String::from_utf8_lossy(&captured.output).trim().to_owned())
        }
        Some(ExitStatus::NotStarted(why)) => Err(why),
        Some(status) => Err(format!("{status:?}")),
        None => Err(format!("no end within {} s", LIMIT.as_secs())),
    }
}

/// What confines commands, part by part, and what is left open together.
pub fn sandbox(processes: &Processes, folder: &Path, home: Option<&Path>) -> Section {
    let support = processes.sandbox_support();
    let mut checks = vec![
        match &support.namespaces {
            Ok(()) if support.bwrap.is_some() => Check::good(
                "namespaces",
                "made by bwrap; a server that one command starts is not reached by the next",
            ),
            Ok(()) => Check::good(
                "namespaces",
                "for users, mounts, network, IPC and host name",
            ),
            Err(why) => Check::hint(
                "namespaces",
                why,
                support.remedy().unwrap_or(
                    "Install bubblewrap, which may be allowed what tiller is not; in a container the \
                     profile of its runtime refuses user namespaces",
                ),
            ),
        },
        match &support.processes {
            Ok(()) => Check::good("process ids", "a namespace with a /proc for it"),
            Err(why) => Check::hint(
                "process ids",
                why,
                "Landlock keeps signals in instead, from version 6 on (Linux 6.12);\n\
                 in a container: do not let its runtime mask parts of /proc",
            ),
        },
        match &support.landlock {
            Ok(version) => Check::good("Landlock", format!("version {version}")),
            Err(why) => Check::hint(
                "Landlock",
                why,
                "Linux 5.13 and up, with landlock among the modules of /sys/kernel/security/lsm",
            ),
        },
        match &support.seccomp {
            Ok(()) => Check::good("seccomp", "filters system calls"),
            Err(why) => Check::hint("seccomp", why, "A kernel with CONFIG_SECCOMP_FILTER"),
        },
    ];
    let usual = Sandbox {
        writable: vec![folder.to_owned()],
        read_only: vec![folder.join(".git/config")],
        hidden: home.map(|home| home.join(".ssh")).into_iter().collect(),
        ..Sandbox::default()
    };
    for promise in support.promises(&usual) {
        checks.push(if promise.kept {
            Check::good(promise.name, "kept")
        } else {
            Check::hint(
                promise.name,
                format!("not kept: {}", promise.else_what),
                "The parts above say what is missing for it",
            )
        });
    }
    let missing = support.missing(&usual);
    checks.push(if missing.is_empty() {
        Check::good("together", "a confined command is kept in")
    } else {
        Check::hint(
            "together",
            format!("from within a sandbox {}", missing.join(",\n")),
            "Mode auto asks before nearly every command here",
        )
    });
    Section {
        title: "Sandbox for commands (each tried just now)",
        checks,
    }
}
