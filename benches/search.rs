//! grep and find over 44,000 files through the tools' own interface, compared with ripgrep and fd
//! if they're installed. Runs alternate, and the median ratio counts. Also prints the memory used.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tiller::agent::process::Processes;
use tiller::agent::tools::builtin;
use tiller::agent::workspace::Reach;
use tiller::agent::{Details, Effects, Progress, Tool, ToolContext, ToolSettings};
use tokio_util::sync::CancellationToken;

const FILES: usize = 44_000;
const ROUNDS: usize = 11;

fn main() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let started = Instant::now();
    plant(dir.path());
    println!("{FILES} files in {:.1} s", started.elapsed().as_secs_f64());
    let tools = builtin(&ToolSettings::default());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let ours = |name: &str, args: &Value| {
        let tool = tools
            .iter()
            .find(|tool| tool.spec().name == name)
            .expect("the tool");
        call(&runtime, tool, args, dir.path())
    };
    let rg = installed(&["rg"]);
    let fd = installed(&["fd", "fdfind"]);
    let rg_flags = ["-n", "--hidden", "--no-require-git", "-g", "!.git"];
    let fd_flags = ["--hidden", "--exclude", ".git", "--type", "f"];
    let cases = [
        (
            "grep rare literal",
            "grep",
            json!({"pattern": "needle_in_haystack"}),
            rg,
            vec!["needle_in_haystack"],
        ),
        (
            "grep no match",
            "grep",
            json!({"pattern": "no_such_word"}),
            rg,
            vec!["no_such_word"],
        ),
        (
            "grep common word",
            "grep",
            json!({"pattern": "return"}),
            rg,
            vec!["return"],
        ),
        ("grep .", "grep", json!({"pattern": "."}), rg, vec!["."]),
        (
            "find all names",
            "find",
            json!({"pattern": "*"}),
            fd,
            vec!["."],
        ),
        (
            "find *.rs",
            "find",
            json!({"pattern": "*.rs"}),
            fd,
            vec!["--glob", "*.rs"],
        ),
    ];
    println!("{:20} {:>10} {:>10} {:>7}", "", "tiller", "peer", "ratio");
    for (title, tool, args, peer, peer_args) in &cases {
        let flags = if *tool == "grep" {
            &rg_flags[..]
        } else {
            &fd_flags[..]
        };
        ours(tool, args);
        let (mut mine, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let own = ours(tool, args);
            mine.push(own);
            if let Some(peer) = peer {
                let other = run(peer, flags, peer_args, dir.path());
                theirs.push(other);
                ratios.push(own.as_secs_f64() / other.as_secs_f64());
            }
        }
        let ratio = median(ratios).map_or("-".into(), |ratio| format!("{ratio:.2}"));
        println!(
            "{title:20} {:>10} {:>10} {ratio:>7}",
            shown(mine),
            shown(theirs)
        );
    }
    println!("peak memory {} KiB", peak_kib());
}

/// A tree like a large project's: many folders, small files, one with the needle.
fn plant(root: &Path) {
    let words = [
        "fn", "return", "value", "let mut", "struct", "for x in", "match", "import", "0x1f",
    ];
    let mut state = 7_u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize
    };
    fs::create_dir(root.join(".git")).expect("a folder");
    fs::write(root.join(".gitignore"), "*.log\ntarget/\n").expect("a file");
    for number in 0..FILES {
        let folder = root.join(format!(
            "crate{}/src/part{}",
            number / 1100,
            number / 22 % 50
        ));
        if number % 22 == 0 {
            fs::create_dir_all(&folder).expect("folders");
        }
        let ending = ["rs", "ts", "md", "json"][number % 4];
        let file = fs::File::create(folder.join(format!("file{number}.{ending}"))).expect("a file");
        let mut file = std::io::BufWriter::new(file);
        for _ in 0..20 + next() % 160 {
            let (a, b) = (words[next() % words.len()], words[next() % words.len()]);
            writeln!(file, "    {a} {b} = {};", next() % 10_000).expect("a line");
        }
        if number == 31_337 {
            writeln!(file, "needle_in_haystack").expect("a line");
        }
    }
}

fn call(
    runtime: &tokio::runtime::Runtime,
    tool: &Arc<dyn Tool>,
    args: &Value,
    cwd: &Path,
) -> Duration {
    let details = Arc::new(Details::Text(tiller::agent::tool::TextDetails::default()));
    let context = ToolContext {
        variables: Vec::new(),
        call_id: String::from("call"),
        asker: tiller::agent::Asker::default(),
        sandbox: None,
        cwd: cwd.to_path_buf(),
        spill_file: cwd.join("spill"),
        cancel: CancellationToken::new(),
        progress: Progress::new(details).0,
        processes: Processes::new(),
        redactor: tiller::llm::auth::Redactor::default(),
        effects: Effects::default(),
        reach: Reach::everything(),
        shown: None,
    };
    let started = Instant::now();
    let output = runtime
        .block_on(tool.execute(args.clone(), context))
        .expect("a result");
    assert!(!output.content.is_empty());
    started.elapsed()
}

fn installed(names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| {
        let mut probe = Command::new(name);
        probe
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    })
}

fn run(program: &str, flags: &[&str], args: &[&str], cwd: &Path) -> Duration {
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(flags)
        .args(args)
        .arg(".")
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the peer should start");
    // Reads the output as a caller would, but doesn't keep it, because the memory measured is ours.
    let mut output = child.stdout.take().expect("its output");
    std::io::copy(&mut output, &mut std::io::sink()).expect("its output");
    child.wait().expect("the peer should exit");
    started.elapsed()
}

fn median(mut ratios: Vec<f64>) -> Option<f64> {
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied()
}

fn shown(times: Vec<Duration>) -> String {
    let seconds = times.iter().map(Duration::as_secs_f64).collect();
    median(seconds).map_or("-".into(), |seconds| format!("{:.1} ms", seconds * 1000.0))
}

/// The most memory this process has ever used.
fn peak_kib() -> String {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("VmHWM:"))?;
            Some(line.trim().trim_end_matches(" kB").to_string())
        })
        .unwrap_or("unknown".into())
}
