//! Programs at the socket: a service, its guardian and its programs are processes of their own, and what a hostile
//! one could send is sent.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]
#![allow(clippy::print_stderr, clippy::print_stdout)]
#![cfg(target_os = "linux")]

mod stage;

use flyball_host::{Host, Input, ProcessIdentity, RealHost, Watched};
use flyball_qos::{By, Rules, Served, Target, Whose, Wish, guard, recover, run, served};
use stage::{FOLDER, Stage};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Whether switches may be watched here, without which there is no service.
fn is_possible() -> bool {
    let host = RealHost::new();
    let this = ProcessIdentity::this(&host).unwrap();
    let watched = host
        .open_task(this.pid, this.pid)
        .and_then(|task| host.watch_switches(&task, Watched::Births).map(drop));
    if let Err(error) = &watched {
        eprintln!("skipped: {error}");
    }
    watched.is_ok()
}

/// Not a test: the service of a stage.
#[test]
#[ignore = "a process of other tests"]
fn service_process() {
    let Some(host) = Stage::inherited() else { return };
    let rules = Rules::read(&std::env::var("RULES").unwrap()).unwrap();
    let target = Target::Named(Whose::default());
    let socket = Some(std::env::var_os("SOCKET").map(PathBuf::from));
    let wish = Wish { target, rules, children: false, by: By::Clamps, socket };
    host.catch_interrupts().unwrap();
    let folder = flyball_qos::qos_folder(&host).unwrap();
    let shared: std::sync::Arc<dyn Host> = std::sync::Arc::new(host);
    let ended = run(&shared, &folder, &wish, Input::Empty, &mut |_, _| ());
    println!("{ended:?}");
    assert!(ended.is_ok(), "{ended:?}");
}

/// Not a test: its guardian.
#[test]
#[ignore = "a process of other tests"]
fn guardian_process() {
    let Some(host) = Stage::inherited() else { return };
    guard(&host, &flyball_qos::qos_folder(&host).unwrap()).unwrap();
}

/// Not a test: a program that says what it is told to, and then waits for the end of its input. `SELF` is its own
/// first thread.
#[test]
#[ignore = "a process of other tests"]
fn program_process() {
    let Some(dir) = std::env::var_os(FOLDER) else { return };
    let Ok(mut stream) = UnixStream::connect(Path::new(&dir).join("qos/socket")) else {
        return println!("answer: no connection");
    };
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    for line in std::env::var("SAYS").unwrap().split(';') {
        let line = line.replace("SELF", &std::process::id().to_string());
        writeln!(stream, "{line}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        println!("answer: {}", answer.trim_end());
    }
    let _ = std::io::stdin().read(&mut [0]);
}

/// Not a test: a program of the crate for programs, which works until the end of its input, and then no more.
#[test]
#[ignore = "a process of other tests"]
fn client_process() {
    if std::env::var_os(FOLDER).is_none() {
        return;
    }
    flyball_qos_client::class("ui");
    flyball_qos_client::deadline_ms(8);
    let work = flyball_qos_client::work();
    println!("answer: {} {}", this_thread(), flyball_qos_client::is_connected());
    let _ = std::io::stdin().read(&mut [0]);
    drop(work);
    println!("answer: done");
    std::thread::sleep(Duration::from_secs(30));
}

fn again(name: &str, dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(FOLDER, dir).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

struct Service {
    dir: tempfile::TempDir,
    process: Child,
}

impl Service {
    fn start(rules: &str) -> Service {
        let dir = tempfile::tempdir().unwrap();
        fs_err::set_permissions(dir.path(), PermissionsExt::from_mode(0o711)).unwrap();
        let process = Service::process(dir.path(), rules);
        let service = Service { dir, process };
        wait_for("a socket", || UnixStream::connect(service.socket()).is_ok());
        service
    }

    fn process(dir: &Path, rules: &str) -> Child {
        again("service_process", dir).env("RULES", rules).spawn().unwrap()
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("qos/socket")
    }

    fn connect(&self) -> Program {
        let stream = UnixStream::connect(self.socket()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Program { answers: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    /// The lower clamp of a thread, by its number.
    fn clamp(&self, tid: u32) -> u32 {
        let names = fs_err::read_dir(self.dir.path().join("clamps")).unwrap();
        let of = |entry: std::io::Result<fs_err::DirEntry>| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let (number, start) = name.split_once('-')?;
            let is = number == tid.to_string() && !start.contains('.');
            is.then(|| fs_err::read_to_string(entry.path()).ok()?.parse::<u32>().ok())?
        };
        // Of numbers that were given twice, whichever still has one.
        names.filter_map(of).max().unwrap_or(0)
    }

    /// What it says of itself; not so often that a user's messages go into that.
    fn served(&self) -> Served {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            std::thread::sleep(Duration::from_millis(30));
            match served(&RealHost::new(), Some(&self.socket())) {
                Some(served) => return served,
                None => assert!(Instant::now() < end, "an answer within 20 s"),
            }
        }
    }

    /// A program of its own that says these lines, as this user or another one; its answers.
    fn program(&self, says: &str, user: Option<u32>) -> (Child, Vec<String>) {
        let mut command = again("program_process", self.dir.path());
        command.env("SAYS", says);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let mut child = command.spawn().unwrap();
        let mut answers = Vec::new();
        // Kept open: what it prints later goes nowhere.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while answers.len() < says.split(';').count() {
            let Some(Ok(line)) = lines.next() else { break };
            if let Some((_, answer)) = line.split_once("answer: ") {
                answers.push(answer.to_owned());
            }
        }
        (child, answers)
    }

    fn end(mut self) -> String {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let mut said = String::new();
        self.process.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(self.process.wait().unwrap().success(), "{said}");
        assert!(!self.socket().exists() && !self.dir.path().join("qos/qos.json").exists());
        said
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Program {
    stream: UnixStream,
    answers: BufReader<UnixStream>,
}

impl Program {
    fn say(&mut self, line: &str) {
        self.stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn answer(&mut self) -> String {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }

    fn ask(&mut self, line: &str) -> String {
        self.say(&format!("?{line}"));
        self.answer()
    }
}

fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(Instant::now() < end, "{what} within 20 s");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn this_thread() -> u32 {
    RealHost::new().thread_id()
}

const OPEN: &str = "[socket]\n";

#[test]
fn work_raises_a_threads_clamp_at_once_and_for_as_long_as_it_lasts() {
    if !is_possible() {
        return;
    }
    let service = Service::start(OPEN);
    let mut program = service.connect();
    let tid = this_thread();
    assert_eq!(program.ask(&format!("begin {tid}")), "ok");
    wait_for("a clamp", || service.clamp(tid) > 0);
    // It grows by itself while the thread sleeps, too: work is work.
    wait_for("the whole", || service.clamp(tid) == 1024);
    let status = service.served();
    assert_eq!(status.programs.len(), 1);
    assert!(status.programs[0].threads[0].works);
    assert_eq!(program.ask(&format!("end {tid}")), "ok");
    wait_for("none", || service.clamp(tid) == 0);
    // 8 ms: the ramp that is at 80 % 3 ms before, so at once more than the usual one has after 2 ms.
    assert_eq!(program.ask(&format!("deadline {tid} 8000")), "ok");
    program.say(&format!("begin {tid}"));
    wait_for("a steeper ramp", || service.clamp(tid) >= 280);
    wait_for("the whole", || service.clamp(tid) == 1024);
    // Who forgets the end has it for a second.
    wait_for("the end", || service.clamp(tid) == 0);
    assert!(!service.served().programs[0].threads[0].works);
    drop(program);
    let said = service.end();
    assert!(said.contains("left_out: 0"), "{said}");
}

#[test]
fn classes_are_given_within_limits_and_taken_back_with_the_connection() {
    if !is_possible() {
        return;
    }
    let host = RealHost::new();
    let service = Service::start(
        "[socket]\nthreads = 2\n[class.first]\nnice = -3\n[class.slow]\nnice = 17\n",
    );
    let mut program = service.connect();
    let tid = this_thread();
    let share = || {
        let task = host.open_task(std::process::id(), tid).unwrap();
        host.fair_share(&task).unwrap()
    };
    let before = share();
    assert_eq!(program.ask(&format!("class {tid} slow")), "ok");
    wait_for("a nice value", || share().nice == 17);
    let threads = service.served().programs.remove(0).threads;
    assert_eq!(threads[0].class.as_deref(), Some("slow"));
    let refused = program.ask(&format!("class {tid} first"));
    assert!(refused.starts_with("no: expected a class (audio, background, render, slow, ui)"));
    assert_eq!(share().nice, 17);
    assert_eq!(program.ask(&format!("class {tid} -")), "ok");
    wait_for("its own", || share() == before);
    assert_eq!(program.ask(&format!("class {tid} slow")), "ok");
    wait_for("a nice value", || share().nice == 17);
    // A user has so many threads and no more.
    let (send, receive) = std::sync::mpsc::channel();
    let (end, ends) = std::sync::mpsc::channel::<()>();
    let ends = std::sync::Arc::new(std::sync::Mutex::new(ends));
    let others: Vec<_> = (0..2)
        .map(|_| {
            let (send, ends) = (send.clone(), ends.clone());
            std::thread::spawn(move || {
                send.send(this_thread()).unwrap();
                let _ = ends.lock().unwrap().recv();
            })
        })
        .collect();
    let [one, two] = [receive.recv().unwrap(), receive.recv().unwrap()];
    assert_eq!(program.ask(&format!("begin {one}")), "ok");
    let refused = program.ask(&format!("begin {two}"));
    assert_eq!(refused, "no: expected at most 2 threads of a user, found one more");
    drop(program);
    wait_for("what it had", || share() == before && service.clamp(one) == 0);
    drop(end);
    others.into_iter().for_each(|thread| thread.join().unwrap());
    service.end();
}

#[test]
fn only_threads_of_ones_own_process_may_be_named() {
    if !is_possible() {
        return;
    }
    let service = Service::start(OPEN);
    let (mut other, answers) = service.program("?begin SELF", None);
    assert_eq!(answers, ["ok"]);
    let mut program = service.connect();
    for tid in [1, service.process.id(), other.id(), 4_194_304, u32::MAX] {
        for line in ["begin", "class", "deadline"] {
            let argument = [("class", " ui"), ("deadline", " 8000")];
            let argument = argument.iter().find(|(verb, _)| *verb == line).map_or("", |it| it.1);
            let answer = program.ask(&format!("{line} {tid}{argument}"));
            assert!(answer.starts_with("no: expected a thread of process"), "{tid}: {answer}");
        }
        // What a stranger asks to end goes on.
        assert_eq!(program.ask(&format!("end {tid}")), "ok");
    }
    assert_eq!(service.clamp(1), 0);
    let status = service.served();
    let theirs = status.programs.iter().find(|it| it.pid == other.id()).unwrap();
    assert!(theirs.threads[0].works || service.clamp(other.id()) == 0);
    assert_eq!(status.refused, 15);
    other.kill().unwrap();
    other.wait().unwrap();
    drop(program);
    service.end();
}

/// As root: a program of nobody's.
#[test]
fn another_user_has_its_own_threads_and_sees_its_own_programs() {
    const NOBODY: u32 = 65_534;
    let is_root = RealHost::new().read(Path::new("/proc/self/status")).unwrap();
    if !is_possible() || !is_root.contains("Uid:\t0\t0") {
        return eprintln!("skipped: this takes root");
    }
    let service = Service::start(OPEN);
    let mut own = service.connect();
    assert_eq!(own.ask(&format!("begin {}", this_thread())), "ok");
    let says = format!("?begin SELF;?begin {};status", std::process::id());
    let (mut theirs, answers) = service.program(&says, Some(NOBODY));
    if answers.is_empty() {
        return eprintln!("skipped: user {NOBODY} may not run this test's program");
    }
    assert_eq!(answers[0], "ok");
    assert!(answers[1].starts_with("no: expected a thread of process"), "{answers:?}");
    let status: Served = serde_json::from_str(&answers[2]).unwrap();
    assert_eq!(status.programs, [], "neither the others nor the one that asks");
    let all = service.served().programs;
    let of = |user| all.iter().filter(|program| program.user == user).count();
    assert_eq!((of(0), of(NOBODY)), (1, 1));
    theirs.kill().unwrap();
    theirs.wait().unwrap();
    drop(own);
    service.end();
}

#[test]
fn bad_torn_and_endless_messages_are_refused_and_nobody_waits_for_them() {
    if !is_possible() {
        return;
    }
    let service = Service::start(OPEN);
    let tid = this_thread();
    let mut hostile = service.connect();
    // Half a message, and silence.
    hostile.stream.write_all(b"begin 12").unwrap();
    let mut honest = service.connect();
    assert_eq!(honest.ask(&format!("begin {tid}")), "ok");
    hostile.stream.write_all(b"x\n").unwrap();
    assert!(hostile.answer().starts_with("no: expected begin and a thread's number"));
    // A line without an end.
    for _ in 0..100 {
        hostile.stream.write_all(&[b'a'; 1000]).unwrap();
    }
    hostile.stream.write_all(b"\n").unwrap();
    assert!(hostile.answer().starts_with("no: expected at most 64 bytes a line"));
    hostile.stream.write_all(b"\x1b[31m\xff\0\n").unwrap();
    let answer = hostile.answer();
    assert!(answer.starts_with("no: ") && !answer.contains('\x1b'), "{answer}");
    assert_eq!(hostile.ask(&format!("begin {tid}")), "ok");
    let status = service.served();
    assert_eq!(status.refused, 3);
    // Torn in the middle by its end.
    hostile.stream.write_all(b"begin ").unwrap();
    drop(hostile);
    wait_for("its end", || service.served().programs.len() == 1);
    // A thread goes with the connection that asked last.
    wait_for("none", || service.clamp(tid) == 0);
    assert_eq!(honest.ask(&format!("begin {tid}")), "ok");
    wait_for("a clamp", || service.clamp(tid) > 0);
    drop(honest);
    service.end();
}

/// Bytes of memory that a process has.
fn memory(pid: u32) -> u64 {
    let status = fs_err::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

fn cpu_ticks(pid: u32) -> u64 {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit_once(") ").unwrap().1.to_owned();
    let fields: Vec<&str> = rest.split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_flood_costs_neither_memory_nor_time_and_ends_the_work_of_who_makes_it() {
    if !is_possible() {
        return;
    }
    let service = Service::start("[socket]\nmessages = 500\n");
    let (pid, tid) = (service.process.id(), this_thread());
    let mut flood = service.connect();
    assert_eq!(flood.ask(&format!("begin {tid}")), "ok");
    wait_for("a clamp", || service.clamp(tid) > 0);
    let (before, ticks) = (memory(pid), cpu_ticks(pid));
    flood.stream.set_nonblocking(true).unwrap();
    let (begin, mut sent) = (Instant::now(), 0_u64);
    let line = format!("begin {tid}\n").repeat(100);
    while begin.elapsed() < Duration::from_secs(3) {
        match flood.stream.write(line.as_bytes()) {
            Ok(length) => sent += length as u64,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    let took = cpu_ticks(pid) - ticks;
    let grown = memory(pid).saturating_sub(before);
    eprintln!("{sent} bytes in 3 s: {took} ticks of 10 ms, {grown} bytes more");
    assert!(took < 100 && grown < 4 << 20, "{took} ticks, {grown} bytes");
    assert!(sent > 100_000, "{sent}");
    flood.stream.set_nonblocking(false).unwrap();
    drop(flood);
    wait_for("none", || service.clamp(tid) == 0);
    // The user's own quota goes with the second.
    std::thread::sleep(Duration::from_millis(1100));
    let mut program = service.connect();
    assert_eq!(program.ask(&format!("begin {tid}")), "ok");
    let status = service.served();
    assert!(status.refused > 1000, "{status:?}");
    drop(program);
    service.end();
}

#[test]
fn a_user_has_so_many_connections_and_newcomers_wait_their_turn() {
    if !is_possible() {
        return;
    }
    let service = Service::start("[socket]\nprograms = 3\n");
    let tid = this_thread();
    let mut programs = Vec::new();
    for _ in 0..3 {
        let mut program = service.connect();
        // Behind the answer, who went before has gone.
        assert_eq!(program.ask(&format!("begin {tid}")), "ok");
        programs.push(program);
    }
    let mut more = service.connect();
    let answer = more.answer();
    assert!(answer.starts_with("no: expected 3 connections of a user or fewer"), "{answer}");
    drop(programs);
    // A storm of them neither ends it nor keeps it busy.
    let ticks = cpu_ticks(service.process.id());
    for _ in 0..600 {
        let _ = UnixStream::connect(service.socket());
    }
    std::thread::sleep(Duration::from_millis(500));
    let took = cpu_ticks(service.process.id()) - ticks;
    assert!(took < 50, "{took} ticks");
    wait_for("an answer", || {
        let mut program = service.connect();
        program.ask(&format!("begin {tid}")) == "ok"
    });
    service.end();
}

#[test]
fn a_program_that_is_killed_in_its_work_leaves_nothing() {
    if !is_possible() {
        return;
    }
    let service = Service::start("[socket]\nwork = \"60s\"\n");
    for _ in 0..10 {
        let (mut program, answers) = service.program("?class SELF ui;?begin SELF", None);
        assert_eq!(answers, ["ok", "ok"]);
        wait_for("a clamp", || service.clamp(program.id()) > 0);
        program.kill().unwrap();
        program.wait().unwrap();
        wait_for("its end", || service.served().programs.is_empty());
    }
    // The journal forgets it, too.
    let journal = service.dir.path().join("qos/qos.json");
    wait_for("a journal without it", || {
        !fs_err::read_to_string(&journal).unwrap().contains("\"asked\"")
    });
    service.end();
}

#[test]
fn a_service_that_is_killed_leaves_no_clamp_and_the_next_one_takes_its_place() {
    if !is_possible() {
        return;
    }
    let mut service = Service::start("[socket]\nwork = \"60s\"\n");
    let mut program = service.connect();
    let tid = this_thread();
    assert_eq!(program.ask(&format!("begin {tid}")), "ok");
    wait_for("a clamp", || service.clamp(tid) == 1024);
    service.process.kill().unwrap();
    service.process.wait().unwrap();
    let killed = Instant::now();
    wait_for("none", || service.clamp(tid) == 0);
    eprintln!("the guardian took {:?}", killed.elapsed());
    let refused = program.stream.write_all(b"end 1\n").unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::BrokenPipe);
    // Its socket is still there, and nobody's.
    assert!(service.socket().exists());
    wait_for("the guardian's end", || !service.dir.path().join("qos/qos.json").exists());
    service.process = Service::process(service.dir.path(), OPEN);
    wait_for("a socket", || UnixStream::connect(service.socket()).is_ok());
    assert_eq!(service.connect().ask(&format!("begin {tid}")), "ok");
    service.end();
}

#[test]
fn kills_at_any_instant_leave_nothing_once_it_is_recovered() {
    if !is_possible() {
        return;
    }
    let rounds = std::env::var("KILLS").map_or(12, |count| count.parse().unwrap());
    let kill = |pid: u64| {
        let killed = Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap();
        assert!(killed.success());
    };
    let tid = this_thread();
    for round in 0..rounds {
        let mut service = Service::start("[socket]\nmessages = 100000\nwork = \"60s\"\n");
        let mut program = service.connect();
        assert_eq!(program.ask(&format!("deadline {tid} 8000")), "ok");
        let journal = fs_err::read_to_string(service.dir.path().join("qos/qos.json")).unwrap();
        let journal: serde_json::Value = serde_json::from_str(&journal).unwrap();
        let guardian = journal["guardian"]["pid"].as_u64().unwrap();
        let end = Instant::now() + Duration::from_micros(700 * (round % 23));
        let mut works = false;
        loop {
            works = !works;
            program.say(&format!("{} {tid}", if works { "begin" } else { "end" }));
            if Instant::now() >= end {
                break;
            }
            std::thread::sleep(Duration::from_micros(300));
        }
        // The service alone, or its guardian with it.
        if round % 3 == 0 {
            kill(guardian);
        }
        service.process.kill().unwrap();
        if round % 3 == 1 {
            kill(guardian);
        }
        service.process.wait().unwrap();
        let stage = Stage::new(service.dir.path());
        wait_for("a recovery", || recover(&stage, &service.dir.path().join("qos")).is_ok());
        assert_eq!(service.clamp(tid), 0, "round {round}");
        assert!(!service.dir.path().join("qos/qos.json").exists());
    }
}

/// As root: the number of a thread that has ended is given to the next one.
#[test]
fn a_number_that_is_given_away_has_nothing_of_its_former_thread() {
    let last = Path::new("/proc/sys/kernel/ns_last_pid");
    if !is_possible() || !RealHost::new().writable(last).unwrap_or(false) {
        return eprintln!("skipped: numbers of threads cannot be chosen here");
    }
    let service = Service::start("[socket]\nwork = \"60s\"\n");
    let mut program = service.connect();
    let mut met = 0;
    for _ in 0..50 {
        let (send, receive) = std::sync::mpsc::channel();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let first = std::thread::spawn(move || {
            send.send(this_thread()).unwrap();
            let _ = wait.recv();
        });
        let tid = receive.recv().unwrap();
        assert_eq!(program.ask(&format!("begin {tid}")), "ok");
        // Clamps of a stage are files by number and start, and starts are known in ticks of 10 ms: the kernel's
        // threads differ, the files only in another tick.
        std::thread::sleep(Duration::from_millis(11));
        drop(go);
        first.join().unwrap();
        fs_err::write(last, (tid - 1).to_string()).unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let second = std::thread::spawn(move || {
            send.send(this_thread()).unwrap();
            let _ = wait.recv();
        });
        if receive.recv().unwrap() == tid {
            met += 1;
            let start = start_of(tid);
            let clamp = service.dir.path().join(format!("clamps/{tid}-{start}"));
            assert_eq!(program.ask(&format!("end {tid}")), "ok");
            let clamp = fs_err::read_to_string(&clamp).unwrap_or_default();
            assert!(["", "0"].contains(&clamp.as_str()), "{clamp}");
            let works = |it: &flyball_qos::ServedProgram| it.threads.iter().any(|it| it.works);
            assert!(!service.served().programs.iter().any(works));
        }
        drop(go);
        second.join().unwrap();
    }
    eprintln!("{met} of 50 numbers were given again");
    drop(program);
    service.end();
}

fn start_of(tid: u32) -> u64 {
    let host = RealHost::new();
    host.open_task(std::process::id(), tid).unwrap().identity().start
}

#[test]
fn what_a_working_thread_makes_inherits_nothing() {
    if !is_possible() {
        return;
    }
    let service = Service::start("[socket]\nwork = \"60s\"\n");
    let mut program = service.connect();
    let tid = this_thread();
    assert_eq!(program.ask(&format!("begin {tid}")), "ok");
    wait_for("the whole", || service.clamp(tid) == 1024);
    // As the kernel has it, but for all that are born from here on.
    fs_err::write(service.dir.path().join("born-with"), "1024").unwrap();
    let is_freed = |tid: u32| {
        let start = fs_err::read_to_string(format!("/proc/{tid}/stat")).unwrap();
        let start = start.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().to_owned();
        let clamp = service.dir.path().join(format!("clamps/{tid}-{start}"));
        fs_err::read_to_string(clamp).is_ok_and(|clamp| clamp == "0")
    };
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    wait_for("a child without", || is_freed(child.id()));
    let (send, receive) = std::sync::mpsc::channel();
    let (end, ends) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        send.send(this_thread()).unwrap();
        let _ = ends.recv();
    });
    let made = receive.recv().unwrap();
    wait_for("a thread without", || is_freed(made));
    assert_eq!(service.clamp(tid), 1024);
    child.kill().unwrap();
    child.wait().unwrap();
    drop((end, program));
    thread.join().unwrap();
    wait_for("none", || service.clamp(tid) == 0);
    service.end();
}

#[test]
fn a_service_without_descriptors_lets_programs_wait_and_goes_on() {
    if !is_possible() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 40; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    command.args(["service_process", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(FOLDER, dir.path()).env("RULES", "[socket]\nprograms = 1000\n");
    let process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let service = Service { dir, process };
    wait_for("a socket", || UnixStream::connect(service.socket()).is_ok());
    let programs: Vec<Program> = (0..100).map(|_| service.connect()).collect();
    let ticks = cpu_ticks(service.process.id());
    std::thread::sleep(Duration::from_secs(2));
    let took = cpu_ticks(service.process.id()) - ticks;
    assert!(took < 20, "{took} ticks");
    drop(programs);
    let mut program = service.connect();
    assert_eq!(program.ask(&format!("begin {}", this_thread())), "ok");
    drop(program);
    service.end();
}

/// A program that makes threads for ever, and asks for each of them.
#[test]
fn threads_that_come_and_go_are_forgotten() {
    if !is_possible() {
        return;
    }
    let service = Service::start("[socket]\nmessages = 100000\n[class.slow]\nnice = 17\n");
    let mut program = service.connect();
    assert_eq!(program.ask(&format!("begin {}", this_thread())), "ok");
    let journal = service.dir.path().join("qos/qos.json");
    let mut longest = 0;
    for _ in 0..1200 {
        let mut program = Program {
            stream: program.stream.try_clone().unwrap(),
            answers: BufReader::new(program.stream.try_clone().unwrap()),
        };
        let thread = std::thread::spawn(move || {
            assert_eq!(program.ask(&format!("class {} slow", this_thread())), "ok");
        });
        thread.join().unwrap();
        longest = longest.max(fs_err::metadata(&journal).map_or(0, |found| found.len()));
    }
    eprintln!("{longest} bytes of journal");
    assert!(longest < 256 * 1024, "{longest}");
    assert!(service.served().programs[0].threads.len() < 20);
    drop(program);
    service.end();
}

/// As root: with the two capabilities, the mask and the locks of the unit that ships.
#[test]
fn the_units_capabilities_are_enough() {
    const NOBODY: u32 = 65_534;
    let status = RealHost::new().read(Path::new("/proc/self/status")).unwrap();
    if !is_possible() || !status.contains("Uid:\t0\t0") {
        return eprintln!("skipped: this takes root");
    }
    let dir = tempfile::tempdir().unwrap();
    fs_err::set_permissions(dir.path(), PermissionsExt::from_mode(0o711)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--no-new-privs", "--bounding-set", "-all,+sys_nice,+perfmon", "sh", "-c"]);
    command.arg("umask 077; exec \"$0\" \"$@\"").arg(std::env::current_exe().unwrap());
    command.args(["service_process", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command
        .env(FOLDER, dir.path())
        .env("RULES", "[socket]\nclasses = [\"first\"]\n[class.first]\nnice = -3\n");
    let process = match command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
        Ok(process) => process,
        Err(error) => return eprintln!("skipped: setpriv: {error}"),
    };
    let service = Service { dir, process };
    wait_for("a socket", || UnixStream::connect(service.socket()).is_ok());
    let (mut theirs, answers) = service.program("?class SELF first;?begin SELF", Some(NOBODY));
    if answers.is_empty() {
        return eprintln!("skipped: user {NOBODY} may not run this test's program");
    }
    assert_eq!(answers, ["ok", "ok"]);
    let host = RealHost::new();
    let nice = || {
        let task = host.open_task(theirs.id(), theirs.id()).unwrap();
        host.fair_share(&task).unwrap().nice
    };
    wait_for("a nice value", || nice() == -3);
    wait_for("a clamp", || service.clamp(theirs.id()) > 0);
    theirs.kill().unwrap();
    theirs.wait().unwrap();
    let said = service.end();
    assert!(said.contains("not_lent: 0"), "{said}");
}

#[test]
fn a_client_that_does_not_read_its_answers_is_let_go() {
    if !is_possible() {
        return;
    }
    let service = Service::start("[socket]\nmessages = 100000\n");
    let mut deaf = service.connect();
    let tid = this_thread();
    assert_eq!(deaf.ask(&format!("begin {tid}")), "ok");
    wait_for("a clamp", || service.clamp(tid) > 0);
    wait_for("its end", || deaf.stream.write_all(b"status\n".repeat(100).as_slice()).is_err());
    wait_for("none", || service.clamp(tid) == 0);
    assert_eq!(service.connect().ask(&format!("begin {tid}")), "ok");
    service.end();
}

#[test]
fn the_crate_for_programs_is_understood() {
    if !is_possible() {
        return;
    }
    let service = Service::start("[socket]\nwork = \"60s\"\n");
    let mut command = again("client_process", service.dir.path());
    let mut program = command.env("FLYBALL_QOS_SOCKET", service.socket()).spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let mut answer = || {
        let said = lines.by_ref().map_while(Result::ok);
        said.into_iter().find_map(|line| Some(line.split_once("answer: ")?.1.to_owned())).unwrap()
    };
    let first = answer();
    let (tid, connected) = first.split_once(' ').unwrap();
    assert_eq!(connected, "true");
    let tid: u32 = tid.parse().unwrap();
    wait_for("the whole", || service.clamp(tid) == 1024);
    let status = service.served();
    let [thread] = &status.programs[0].threads[..] else { panic!("{status:?}") };
    assert_eq!((thread.tid, thread.class.as_deref(), thread.works), (tid, Some("ui"), true));
    assert_eq!(thread.deadline.map(|deadline| deadline.0), Some(8_000_000));
    assert_eq!((status.programs[0].messages, status.refused), (3, 0));
    program.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(answer(), "done");
    wait_for("none", || service.clamp(tid) == 0);
    program.kill().unwrap();
    program.wait().unwrap();
    service.end();
}

#[test]
fn a_socket_in_a_place_of_others_is_refused() {
    if !is_possible() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("qos");
    fs_err::create_dir(&place).unwrap();
    fs_err::set_permissions(&place, PermissionsExt::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink("/tmp/elsewhere", place.join("socket")).unwrap();
    let mut refused = Service::process(dir.path(), OPEN);
    let mut said = String::new();
    refused.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!refused.wait().unwrap().success());
    assert!(said.contains("a link"), "{said}");
    assert!(!place.join("qos.json").exists());
    // Another service's, in its own folder.
    let service = Service::start(OPEN);
    fs_err::remove_file(place.join("socket")).unwrap();
    let mut second = again("service_process", dir.path())
        .env("RULES", OPEN)
        .env("SOCKET", service.socket())
        .spawn()
        .unwrap();
    let mut said = String::new();
    second.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!second.wait().unwrap().success());
    assert!(said.contains("LockFolder"), "{said}");
    assert_eq!(service.connect().ask(&format!("begin {}", this_thread())), "ok");
    service.end();
}

/// Not a test: how long after a message a clamp changes, and what messages cost the service.
#[test]
#[ignore = "a measurement: cargo test -p flyball-qos --test programs times -- --ignored --nocapture"]
fn times() {
    let service = Service::start("[socket]\nmessages = 100000\n");
    let (pid, tid) = (service.process.id(), this_thread());
    let mut program = service.connect();
    assert_eq!(program.ask(&format!("deadline {tid} 8000")), "ok");
    let place = service.dir.path().join(format!("clamps/{tid}-{}", start_of(tid)));
    let clamp = || fs_err::read_to_string(&place).unwrap_or_default().parse().unwrap_or(0_u32);
    let mut delays = Vec::new();
    for _ in 0..300 {
        program.say(&format!("begin {tid}"));
        let begin = Instant::now();
        while clamp() == 0 {}
        delays.push(begin.elapsed());
        program.say(&format!("end {tid}"));
        while clamp() > 0 {}
        std::thread::sleep(Duration::from_millis(5));
    }
    delays.sort();
    eprintln!("begin to clamp: median {:?}, 90 % {:?}", delays[150], delays[270]);
    // Each thread has its own; the service has one that does anything.
    let cpu = || {
        let tasks = fs_err::read_dir(format!("/proc/{pid}/task")).unwrap();
        let of = |task: std::io::Result<fs_err::DirEntry>| {
            let text = fs_err::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        };
        tasks.filter_map(of).sum::<u64>()
    };
    let before = cpu();
    for _ in 0..1000 {
        program.say(&format!("begin {tid}"));
        std::thread::sleep(Duration::from_millis(1));
        program.say(&format!("end {tid}"));
        std::thread::sleep(Duration::from_millis(1));
    }
    eprintln!("{} us of the service a message", (cpu() - before) / 2_000_000);
}
