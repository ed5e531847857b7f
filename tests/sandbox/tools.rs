//! Everyday tools in a sandbox without a network. They find what they need in their caches.

use tiller::agent::process::ExitStatus;
use tiller::agent::process::sandbox::{Confined, Sandbox, signs_of_confinement};

use super::place::{Place, machine_has_all_layers};

/// Runs `script`, which must succeed, in an empty part of a workspace.
async fn works(needs: &str, script: &str) {
    let look = format!("command -v {needs}");
    let found = std::process::Command::new("bash")
        .args(["-c", &look])
        .output();
    if !found.unwrap().status.success() {
        println!("SKIPPED: no {needs} here");
        return;
    }
    if !machine_has_all_layers() {
        return;
    }
    let place = Place::new();
    let ran = place.run(place.auto(), &format!("set -e; {script}")).await;
    assert_eq!(ran.exit, Some(ExitStatus::Exited(0)), "{}", ran.output);
}

#[tokio::test]
async fn cargo_builds_tests_and_runs() {
    let script = r#"
        mkdir -p crate/src; cd crate
        # A workspace of its own: `cargo init` would join the one above.
        printf '[package]\nname = "thing"\nedition = "2024"\n[workspace]\n' > Cargo.toml
        cat > src/main.rs <<'END'
fn main() { println!("built"); }
#[test]
fn serves_itself() {
    use std::io::{Read, Write};
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = std::net::TcpStream::connect(server.local_addr().unwrap()).unwrap();
    client.write_all(b"hi").unwrap();
    let mut got = [0; 2];
    server.accept().unwrap().0.read_exact(&mut got).unwrap();
    let socket = std::os::unix::net::UnixListener::bind("socket").unwrap();
    std::os::unix::net::UnixStream::connect("socket").unwrap();
    drop(socket);
}
END
        cargo test -q --offline; cargo run -q --offline | grep built"#;
    works("cargo", script).await;
}

#[tokio::test]
async fn git_commits_branches_and_merges() {
    let script = r#"
        git() { command git -c user.name=t -c user.email=t@example.org "$@"; }
        git init -q sub -b main; cd sub
        echo 1 > a; git add a; git commit -qm one
        git switch -qc other; echo 2 > a; git commit -qam two; git switch -q main
        git merge -q --no-ff -m three other; git stash list; git gc -q; git log --oneline | wc -l | grep 3"#;
    works("git", script).await;
}

#[tokio::test]
async fn python_makes_an_environment_and_installs_into_it() {
    let script = r#"
        python3 -m venv env; . env/bin/activate
        mkdir -p thing/thing; echo 'x = 1' > thing/thing/__init__.py
        cp -r thing/thing env/lib/python3*/site-packages/
        python -c 'import thing; assert thing.x == 1'; pip --version; pip list >/dev/null
        python -m multiprocessing.spawn 2>/dev/null || true
        python - <<'END'
import concurrent.futures, http.server, multiprocessing, os, pty, subprocess, threading, urllib.request
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
assert urllib.request.urlopen(f"http://localhost:{server.server_port}/").status == 200
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(abs, [-1, 2]) == [1, 2]
assert multiprocessing.Value("i", 3).value == 3
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("tty", ["tty"])
assert b"/dev/pts/" in os.read(terminal, 100)
END"#;
    works("python3", script).await;
}

#[tokio::test]
async fn npm_installs_runs_scripts_and_serves() {
    let script = r#"
        export npm_config_cache=$TMPDIR/npm npm_config_update_notifier=false
        mkdir -p a b; cd b; echo '{"name":"b","version":"1.0.0","main":"i.js"}' > package.json
        echo 'module.exports = 7' > i.js; npm pack -s >/dev/null; cd ../a
        echo '{"name":"a","scripts":{"test":"node t.js"}}' > package.json
        cat > t.js <<'END'
if (require("b") !== 7) process.exit(1);
require("os").networkInterfaces();
const server = require("http").createServer((q, a) => a.end("ok"));
server.listen(0, () => fetch(`http://localhost:${server.address().port}`)
    .then(r => r.text()).then(t => process.exit(t === "ok" ? 0 : 2)));
END
        npm install -s --offline --no-audit ../b/b-1.0.0.tgz; npm test -s"#;
    works("npm", script).await;
}

#[tokio::test]
async fn go_builds_and_tests() {
    let script = r#"
        export GOCACHE=$TMPDIR/go GOFLAGS=-mod=mod; mkdir m; cd m; go mod init thing
        printf 'package main\nimport "testing"\nfunc main() {}\nfunc TestX(t *testing.T) {}\n' > m_test.go
        printf 'package main\nfunc main() { println("ok") }\n' > m.go; sed -i 3d m_test.go
        go build; go test"#;
    works("go", script).await;
}

#[tokio::test]
async fn make_and_the_c_compiler_build() {
    let script = r#"
        printf 'int main(void) { return 0; }\n' > t.c
        printf 't: t.c\n\tcc -o t t.c\n' > Makefile; make -s -j2; ./t"#;
    works("cc", script).await;
}

#[tokio::test]
async fn the_machines_network_is_available_if_allowed() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let place = Place::new();
    let sandbox = Sandbox {
        network: tiller::agent::process::sandbox::Network::Host,
        ..place.auto()
    };
    let ran = place
        .run(sandbox, &format!(": <> /dev/tcp/127.0.0.1/{port}"))
        .await;
    assert_eq!(ran.exit, Some(ExitStatus::Exited(0)), "{}", ran.output);
}

#[tokio::test]
async fn without_the_network_tools_fail_without_retrying() {
    use tiller::agent::process::sandbox::Network;

    let place = Place::new();
    for (network, expected) in [(Network::Loopback, "0\n"), (Network::Host, "\n")] {
        let sandbox = Sandbox {
            network,
            ..place.auto()
        };
        let ran = place.run(sandbox, "echo $npm_config_fetch_retries").await;
        assert_eq!(ran.output, expected, "{network:?}");
    }
}

#[tokio::test]
async fn the_result_shows_that_the_sandbox_blocked_a_command() {
    let place = Place::new();
    for (command, expected) in [
        ("touch @OUT@/x", Some(Confined::Files)),
        ("cat @OUT@/../home/.ssh/id", Some(Confined::Files)),
        ("git config --file .git/config a.b c", Some(Confined::Files)),
        ("rm -r .git", Some(Confined::Files)),
        ("echo x > /dev/tcp/192.0.2.1/80", Some(Confined::Network)),
        (
            "python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'",
            Some(Confined::Network),
        ),
        (
            "git ls-remote https://example.org/x",
            Some(Confined::Network),
        ),
        ("cat nothing", None),
        ("echo 'permission denied'", None),
        ("./file", None),
    ] {
        let outside = place.path("outside").display().to_string();
        let ran = place
            .run(place.auto(), &command.replace("@OUT@", &outside))
            .await;
        let signs = signs_of_confinement(&ran.output, &ran.exit.unwrap());
        let signs = signs.map(|signs| signs.0);
        assert_eq!(signs, expected, "{command}: {}", ran.output);
    }
}
