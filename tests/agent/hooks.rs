//! What hooks learn between runs. `cli::e2e_hooks` has the rest.

use std::time::Duration;

use tiller::agent::hooks::{FoundHooks, HookEnvironment, HookSource, Hooks, read_hooks};
use tiller::agent::process::{Orphans, Processes};
use tokio::time::{advance, pause, resume};

use super::fixture::{Setup, say, within};

struct Fixed(Option<FoundHooks>);

impl HookSource for Fixed {
    fn changed(&mut self) -> Option<FoundHooks> {
        self.0.take()
    }
}

#[tokio::test]
async fn a_minute_after_the_last_run_hooks_learn_that_the_user_is_idle() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let command = format!("cat >> {}", seen.display());
    let text = serde_json::json!({"hooks": {"Notification": [
        {"matcher": "idle_prompt", "hooks": [{"type": "command", "command": command}]},
    ]}});
    let hooks = read_hooks(folder.path(), false, &text.to_string()).hooks;
    let source = Fixed(Some(FoundHooks {
        hooks,
        ..FoundHooks::default()
    }));
    let processes = Processes::with_supervisor(env!("CARGO_BIN_EXE_tiller"), Orphans::Leave);
    let environment = HookEnvironment {
        commands: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
        ..HookEnvironment::default()
    };
    let place = folder.path().to_owned();
    let mut agent = Setup {
        answers: vec![say("one"), say("two")],
        has_user: true,
        hooks: Hooks::new(Box::new(source), &processes, environment, place),
        processes: Some(processes),
        ..Setup::default()
    }
    .start();
    let wait = async |seconds| {
        pause();
        advance(Duration::from_secs(seconds)).await;
        resume();
    };
    agent.prompt("a");
    agent.settled().await;
    wait(59).await;
    agent.prompt("b");
    agent.settled().await;
    wait(59).await;
    assert!(!seen.exists(), "it is not a minute since the last run");
    wait(2).await;
    within(async {
        while !std::fs::read_to_string(&seen).is_ok_and(|text| text.ends_with('\n')) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let text = std::fs::read_to_string(&seen).unwrap();
    let input: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(input["notification_type"], "idle_prompt");
}
