//! Checks how this machine runs and sandboxes commands, by trying each part.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::report::{Check, Section};
use crate::agent::process::sandbox::{Sandbox, Support};
use crate::agent::process::{ExitStatus, Processes, Spawn, run_captured};

/// Time limit for each probe.
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
            "run by sh: no bash on PATH",
            "Install bash: models write commands for it",
        ),
        Ok(version) => Check::good("commands", format!("run by bash {version}")),
        Err(why) => Check::bad(
            "commands",
            format!("can't start: {why}"),
            "Make sure sh or bash is on PATH and can be executed",
        ),
    });
    checks.push(match run(processes, env, "git --version").await {
        Ok(version) => Check::good("git", version.trim_start_matches("git version ")),
        Err(_) => Check::hint(
            "git",
            "not found",
            "Install git: /try and the repository's state in the prompt need it",
        ),
    });
    Section {
        title: "System",
        checks,
    }
}

/// Runs `command` and returns its output if it succeeds.
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
        None => Err(format!("didn't finish within {} s", LIMIT.as_secs())),
    }
}

/// The parts of the sandbox one by one, then what they enforce together.
pub fn sandbox(processes: &Processes, folder: &Path, home: Option<&Path>) -> Section {
    let support = processes.sandbox_support();
    let mut checks = vec![
        match &support.namespaces {
            Ok(()) if support.bwrap.is_some() => Check::good(
                "namespaces",
                "via bwrap; commands can't reach servers that earlier commands started",
            ),
            Ok(()) => Check::good("namespaces", "users, mounts, network, IPC and host name"),
            Err(why) => Check::hint("namespaces", why, way_out(support)),
        },
        match &support.processes {
            Ok(()) => Check::good("process ids", "own namespace and /proc"),
            Err(why) => Check::hint(
                "process ids",
                why,
                "Use Linux 6.12 or newer, where Landlock blocks signals instead;\n\
                 in a container, don't let its runtime mask parts of /proc",
            ),
        },
        match &support.landlock {
            Ok(version) => Check::good("Landlock", format!("version {version}")),
            Err(why) => Check::hint(
                "Landlock",
                why,
                "Use Linux 5.13 or newer with landlock in /sys/kernel/security/lsm",
            ),
        },
        match &support.seccomp {
            Ok(()) => Check::good("seccomp", "filters system calls"),
            Err(why) => Check::hint("seccomp", why, "Use a kernel with CONFIG_SECCOMP_FILTER"),
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
            Check::good(promise.name, "enforced")
        } else {
            Check::hint(
                promise.name,
                format!("not enforced: {}", promise.else_what),
                "Fix the parts above that failed",
            )
        });
    }
    let missing = support.missing(&usual);
    checks.push(if missing.is_empty() {
        Check::good("together", "commands can't leave the sandbox")
    } else {
        Check::bad(
            "together",
            format!("from the sandbox, {}", missing.join(",\n")),
            format!(
                "{}\nUntil it's fixed, auto mode asks before nearly every command",
                way_out(support)
            ),
        )
    });
    Section {
        title: "Sandbox for commands (tested just now)",
        checks,
    }
}

/// How to get namespaces, which are enough for a sandbox.
fn way_out(support: &Support) -> String {
    match support.remedy() {
        Some(command) => format!("Allow user namespaces: {command}"),
        None => {
            "Install bubblewrap; in a container, let its runtime allow user namespaces, or use \
             --permission full if it holds nothing you would miss"
                .to_owned()
        }
    }
}
