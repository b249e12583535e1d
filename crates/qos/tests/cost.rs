//! What a controller takes of a CPU beside a thread that sleeps and runs so many times a second.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]
#![allow(clippy::print_stderr, clippy::print_stdout)]
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "the tests of programs use more of it")]
mod stage;

use flyball_host::{Host, Input, RealHost};
use flyball_qos::{By, Rules, Target, Wish, guard, run};
use stage::{FOLDER, Stage};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a thread is watched.
const TIME: Duration = Duration::from_secs(8);

/// Not a test: a thread that is woken `RATE` times a second, and has next to nothing to do.
#[test]
#[ignore = "a process of another one"]
fn switching_process() {
    let Ok(rate) = std::env::var("RATE") else { return };
    let rate: f64 = rate.parse().unwrap();
    let end = Instant::now() + TIME;
    let mut times = 0;
    while Instant::now() < end {
        let pause = if rate == 0.0 { TIME } else { Duration::from_secs_f64(1.0 / rate) };
        std::thread::sleep(pause);
        times += 1;
    }
    let host = RealHost::new();
    let each = host.thread_cpu_time().unwrap().as_secs_f64() * 1e6 / f64::from(times);
    eprintln!("       {each:.1} us of its own CPU time a switch");
}

/// Not a test: the controller of that process, until that has ended.
#[test]
#[ignore = "a process of another one"]
fn controller_process() {
    let Some(host) = Stage::inherited() else { return };
    let pids = vec![std::env::var("PID").unwrap().parse().unwrap()];
    let rules = Rules::read("[[rule]]\nramp = 4\n").unwrap();
    let target = Target::Running { pids, names: Vec::new(), threads: Vec::new() };
    let wish = Wish { target, rules, children: false, by: By::Clamps, socket: None };
    host.catch_interrupts().unwrap();
    let folder = flyball_qos::qos_folder(&host).unwrap();
    let shared: std::sync::Arc<dyn Host> = std::sync::Arc::new(host);
    let ended = run(&shared, &folder, &wish, Input::Empty, &mut |_, _| ()).unwrap();
    let seconds = ended.elapsed.as_secs_f64();
    eprintln!(
        "{:>6} switches a second: {:.3} % of a CPU, {:.0} wake-ups a second",
        (ended.counts.switches as f64 / seconds).round(),
        ended.cpu_time.as_secs_f64() / seconds * 100.0,
        ended.wakes as f64 / seconds
    );
}

/// Not a test: its guardian.
#[test]
#[ignore = "a process of another one"]
fn guardian_process() {
    let Some(host) = Stage::inherited() else { return };
    guard(&host, &flyball_qos::qos_folder(&host).unwrap()).unwrap();
}

fn again(name: &str, variable: &str, value: String) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(variable, value).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Not a test: what it takes on this machine, whose clamps are files here.
#[test]
#[ignore = "a measurement: cargo test --release -p flyball-qos --test cost beside -- --ignored --nocapture"]
fn beside_threads_that_switch() {
    for rate in [0, 100, 1550] {
        let alone = again("switching_process", "RATE", rate.to_string()).status().unwrap();
        assert!(alone.success());
        let dir = tempfile::tempdir().unwrap();
        let mut thread: Child =
            again("switching_process", "RATE", rate.to_string()).spawn().unwrap();
        let mut controller = again("controller_process", "PID", thread.id().to_string());
        let ended = controller.env(FOLDER, dir.path()).status().unwrap();
        thread.wait().unwrap();
        assert!(ended.success());
    }
}
