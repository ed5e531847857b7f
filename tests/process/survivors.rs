//! No process survives: the tests try every known way out of a process tree, abort it, and count
//! the living.

use super::bash_tool::BashTool;
use crate::support::marked::MarkedProcesses;

/// A way to escape, and how many processes must be alive before the abort.
pub struct Escape {
    pub name: &'static str,
    pub script: &'static str,
    pub alive: usize,
}

const fn escape(name: &'static str, script: &'static str, alive: usize) -> Escape {
    Escape {
        name,
        script,
        alive,
    }
}

pub const ESCAPES: &[Escape] = &[
    escape("plain", "SLEEP & SLEEP", 3),
    escape("setsid", "setsid SLEEP & SLEEP", 3),
    escape("double fork", "(setsid sh -c 'SLEEP & exec SLEEP' &) ; SLEEP", 3),
    escape("closed pipes, env -i", "env -i setsid SLEEP <&- >&- 2>&- & SLEEP", 3),
    escape("nohup and disown", "nohup SLEEP >/dev/null 2>&1 & disown; SLEEP", 2),
    escape("stopped", "SLEEP & kill -STOP $!; (kill -STOP $BASHPID; SLEEP) & SLEEP", 4),
    escape("shell kills itself", "SLEEP & setsid SLEEP & kill -9 $$", 2),
    escape(
        "signals to the supervisor",
        "for s in TERM INT HUP QUIT USR1 USR2 ALRM TSTP TTIN TTOU CHLD CONT; do kill -$s $PPID; done
         SLEEP & SLEEP",
        3,
    ),
    escape("stops the supervisor", "SLEEP & kill -STOP $PPID; SLEEP", 2),
    escape(
        "stops the supervisor over and over",
        "trap '' TERM; while :; do kill -STOP $PPID; sleep 0.01; done & SLEEP",
        3,
    ),
    // Reaches 4 after tiller has woken the supervisor twice.
    escape(
        "stops the supervisor whenever it is woken",
        "trap '' TERM; n=0
         while :; do
             if [ \"$(cut -d' ' -f3 /proc/$PPID/stat)\" != T ]; then
                 n=$((n + 1)); kill -STOP $PPID
                 if [ $n = 3 ]; then SLEEP & SLEEP & fi
             fi
             sleep 0.2
         done & SLEEP",
        5,
    ),
    escape("200 children", "for i in {1..200}; do SLEEP & done; wait", 201),
    escape("ignores TERM", "trap '' TERM; SLEEP & SLEEP", 3),
    escape("200 ignore TERM", "trap '' TERM; for i in {1..200}; do SLEEP & done; wait", 201),
    escape(
        "200 ignore TERM and are stopped",
        "trap '' TERM; for i in {1..200}; do SLEEP & kill -STOP $!; done; SLEEP",
        201,
    ),
    escape(
        "restarts what dies",
        "trap '' TERM; while :; do SLEEP; setsid SLEEP; done & SLEEP",
        4,
    ),
    escape(
        "endless fork loop that ignores TERM",
        "trap '' TERM; while :; do sleep 0.2 & done",
        30,
    ),
    escape("chain of fork and exit", "c() { (c) & }; c; SLEEP", 1),
    escape("16 chains", "c() { (c) & }; for i in {1..16}; do c; done; SLEEP", 1),
    escape(
        "16 chains with setsid that ignore TERM",
        "trap '' TERM; c() { setsid bash -c c & }; export -f c
         for i in {1..16}; do c; done; SLEEP",
        1,
    ),
    escape(
        "64 chains with setsid",
        "c() { setsid bash -c c & }; export -f c; for i in {1..64}; do c; done; SLEEP",
        1,
    ),
    escape("own group moves", "set -m; SLEEP & (set -m; SLEEP & SLEEP) & SLEEP", 5),
    escape("kills its group", "trap 'kill -9 0' EXIT; setsid SLEEP & while [ $(cut -d' ' -f6 /proc/$!/stat) != $! ]; do :; done", 1),
];

async fn stop_one(escape: &Escape) {
    let bash = BashTool::new();
    let marked = MarkedProcesses::new();
    let call = bash.start(&marked.script(escape.script));
    marked.wait_for(escape.alive).await;
    // For a chain this is all that's certain, because each process exits before it can be counted.
    marked.wait_for_command("sleep").await;
    call.cancel.cancel();
    drop(call);
    // Also ends descendants of processes that exited before the abort.
    bash.processes.stop_all();
    bash.empty().await;
    marked.assert_none().await;
}

/// Makes one test per escape, so that a failure names it.
macro_rules! escapes {
    ($($test:ident: $name:literal,)*) => {$(
        #[tokio::test]
        async fn $test() {
            stop_one(ESCAPES.iter().find(|escape| escape.name == $name).unwrap()).await;
        }
    )*

        #[test]
        fn every_escape_has_a_test() {
            let tested = [$($name),*];
            for escape in ESCAPES {
                assert!(tested.contains(&escape.name), "{}", escape.name);
            }
        }
    };
}

escapes! {
    plain: "plain",
    setsid: "setsid",
    double_fork: "double fork",
    closed_pipes: "closed pipes, env -i",
    nohup: "nohup and disown",
    stopped: "stopped",
    shell_kills_itself: "shell kills itself",
    signals_to_the_supervisor: "signals to the supervisor",
    stops_the_supervisor: "stops the supervisor",
    stops_the_supervisor_over_and_over: "stops the supervisor over and over",
    stops_the_supervisor_whenever_it_is_woken: "stops the supervisor whenever it is woken",
    two_hundred_children: "200 children",
    ignores_term: "ignores TERM",
    two_hundred_ignore_term: "200 ignore TERM",
    two_hundred_stopped: "200 ignore TERM and are stopped",
    restarts_what_dies: "restarts what dies",
    endless_fork_loop: "endless fork loop that ignores TERM",
    chain: "chain of fork and exit",
    chains: "16 chains",
    chains_with_setsid: "16 chains with setsid that ignore TERM",
    many_chains_with_setsid: "64 chains with setsid",
    own_groups: "own group moves",
    kills_its_group: "kills its group",
}

#[tokio::test]
async fn a_dropped_call_ends_like_a_cancelled_one() {
    let bash = BashTool::new();
    let marked = MarkedProcesses::new();
    {
        let tool = bash.start(&marked.script("setsid SLEEP & SLEEP"));
        marked.wait_for(3).await;
        tool.abort();
    }
    bash.empty().await;
    marked.assert_none().await;
}

#[tokio::test]
async fn kill_all_does_not_wait_for_those_that_ignore_term() {
    let bash = BashTool::new();
    let other = BashTool::new();
    let (marked, patient) = (MarkedProcesses::new(), MarkedProcesses::new());
    let script = "trap '' TERM; setsid SLEEP & SLEEP";
    let call = bash.start(&marked.script(script));
    let waits = other.start(&patient.script(script));
    marked.wait_for(3).await;
    patient.wait_for(3).await;
    // The test stops the other one first, so it would also end first if both had a grace period.
    waits.cancel.cancel();
    waits.end().await;
    call.cancel.cancel();
    call.end().await;
    // Within the grace period, like a second Ctrl+C.
    bash.processes.kill_all();
    tokio::select! {
        () = bash.empty() => {}
        () = other.processes.empty() => panic!("kill_all must not wait for the grace period"),
    }
    marked.assert_none().await;
    other.empty().await;
}

#[tokio::test]
async fn stopping_many_commands_ends_them_together() {
    let bash = BashTool::new();
    let marked = MarkedProcesses::new();
    let calls: Vec<_> = (0..8)
        .map(|_| bash.start(&marked.script("setsid SLEEP & SLEEP")))
        .collect();
    marked.wait_for(24).await;
    assert_eq!(bash.processes.alive(), 8);
    bash.processes.stop_all();
    for call in calls {
        assert_eq!(call.end().await.text, "[killed by signal 15]");
    }
    bash.empty().await;
    marked.assert_none().await;
}
