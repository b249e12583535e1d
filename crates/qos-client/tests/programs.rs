//! Programs that use the crate and the header, beside a service that notes what they say, and beside none.
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stderr)]
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const FLAGS: [&str; 7] =
    ["-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread", "-Wno-unknown-warning-option"];

/// What a program of this package's folder is, compiled by `compiler`; none where there is none.
fn compiled(dir: &Path, compiler: &str, standard: &str, source: &str) -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = dir.join(Path::new(source).file_stem().unwrap());
    let mut command = Command::new(compiler);
    command.args(FLAGS).arg(standard).arg("-I").arg(package.join("include"));
    if compiler == "c++" {
        command.args(["-x", "c++"]);
    }
    command.arg(package.join(source)).arg("-o").arg(&program).arg("-lm");
    match command.output() {
        Err(error) => {
            eprintln!("skipped: {compiler}: {error}");
            None
        }
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(program)
        }
    }
}

fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.ancestors().nth(2).unwrap().join("examples").join(name)
}

/// A service: the number of a connection, and a line that came over it.
fn service(dir: &Path) -> (PathBuf, Receiver<(usize, String)>) {
    let path = dir.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (send, stream) = (send.clone(), stream.unwrap());
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = send.send((number, line));
                }
            });
        }
    });
    (path, receive)
}

/// What a program said up to its end, with its own number as `SELF`, and what it printed.
fn said(dir: &Path, program: &Path, word: &str) -> (Vec<String>, String) {
    let (socket, heard) = service(dir);
    let child = Command::new(program)
        .arg(word)
        .env("FLYBALL_QOS_SOCKET", &socket)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{program:?}: {output:?}");
    let mut lines = Vec::new();
    while let Ok((number, line)) = heard.recv_timeout(Duration::from_millis(300)) {
        lines.push(format!("{number} {}", line.replace(&pid, "SELF")));
    }
    std::fs::remove_file(socket).unwrap();
    (lines, String::from_utf8(output.stdout).unwrap())
}

#[test]
fn frame_loops_say_what_they_are_once_and_each_frame() {
    let dir = tempfile::tempdir().unwrap();
    let c = compiled(dir.path(), "cc", "-std=c99", "examples/c/frames.c");
    for program in c.into_iter().chain([example("frames")]) {
        let (lines, printed) = said(dir.path(), &program, "3");
        let mut expected = vec!["0 class SELF render", "0 deadline SELF 16000"];
        expected.extend(["0 begin SELF", "0 end SELF"].repeat(3));
        assert_eq!(lines, expected, "{program:?}");
        assert!(printed.starts_with("with a service: "), "{printed}");
        assert!(printed.contains(" of 3 frames missed"), "{printed}");
    }
}

#[test]
fn an_audio_callback_says_it_each_time_and_it_is_sent_once() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compiled(dir.path(), "cc", "-std=c99", "examples/c/audio.c") else {
        return;
    };
    let (lines, printed) = said(dir.path(), &program, "4");
    let count = |word: &str| lines.iter().filter(|line| line.contains(word)).count();
    assert_eq!([count("class SELF audio"), count("deadline SELF 2000")], [1, 1], "{lines:?}");
    assert_eq!([count("begin SELF"), count("end SELF")], [4, 4], "{lines:?}");
    assert!(printed.contains("of 4 callbacks late"), "{printed}");
}

#[test]
fn a_servers_thread_works_for_as_long_as_a_request_takes() {
    let dir = tempfile::tempdir().unwrap();
    let (lines, printed) = said(dir.path(), &example("server"), "5");
    let tid = lines[0].split(' ').nth(2).unwrap();
    let mut expected = vec![format!("0 deadline {tid} 20000")];
    expected.extend((0..5).flat_map(|_| [format!("0 begin {tid}"), format!("0 end {tid}")]));
    assert_eq!(lines, expected);
    assert!(tid != "SELF" && printed.starts_with("with a service: 5 requests"), "{printed}");
}

#[test]
fn the_header_is_cpp_too() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compiled(dir.path(), "c++", "-std=c++11", "examples/c/frames.c") else {
        return;
    };
    assert_eq!(said(dir.path(), &program, "1").0.len(), 4);
}

#[test]
fn examples_do_their_work_without_a_service() {
    let dir = tempfile::tempdir().unwrap();
    let c = ["frames", "audio"];
    let c = c.map(|name| compiled(dir.path(), "cc", "-std=c99", &format!("examples/c/{name}.c")));
    let rust = ["frames", "server"].map(|name| Some(example(name)));
    for program in c.into_iter().chain(rust).flatten() {
        // A socket that nobody listens at, and none.
        let stale = dir.path().join("stale");
        drop(UnixListener::bind(&stale).unwrap());
        for socket in [stale.clone(), dir.path().join("none"), PathBuf::new()] {
            let mut command = Command::new(&program);
            let output = command.arg("2").env("FLYBALL_QOS_SOCKET", &socket).output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success() && printed.starts_with("without"), "{printed}");
        }
        std::fs::remove_file(stale).unwrap();
    }
}

#[test]
fn without_a_service_calls_are_no_system_calls() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compiled(dir.path(), "cc", "-std=c99", "tests/hostile.c") else { return };
    let begin = Instant::now();
    let run = Command::new(&program).arg("loop").env("FLYBALL_QOS_SOCKET", "").status().unwrap();
    let each = begin.elapsed().as_nanos() / 2_000_000;
    eprintln!("{each} ns a call");
    assert!(run.success() && each < 1_000, "{each}");
    let mut traced = Command::new("strace");
    traced.arg("-f").arg(&program).arg("loop").env("FLYBALL_QOS_SOCKET", "/none");
    let Ok(output) = traced.output() else { return eprintln!("skipped: no strace") };
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !text.contains("exited with 0") {
        return eprintln!("skipped: strace: {text}");
    }
    assert_eq!(text.matches("connect(").count(), 1, "{text}");
    assert!(text.lines().count() < 200, "{text}");
}

#[test]
fn a_child_has_a_connection_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compiled(dir.path(), "cc", "-std=c99", "tests/hostile.c") else { return };
    let (lines, _) = said(dir.path(), &program, "fork");
    let of = |number: &str| {
        let own = lines.iter().filter_map(|line| line.strip_prefix(number));
        own.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of("0 "), ["begin SELF", "end SELF", "begin SELF"]);
    let child = of("1 ");
    assert!(child.len() == 1 && !child[0].contains("SELF"), "{lines:?}");
}

#[test]
fn nothing_is_sent_to_a_descriptor_that_has_become_another_ones() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compiled(dir.path(), "cc", "-std=c99", "tests/hostile.c") else { return };
    let (lines, _) = said(dir.path(), &program, "closed");
    assert_eq!(lines, ["0 begin SELF", "0 end SELF"]);
}

#[test]
fn a_program_outlives_its_service_without_noticing() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compiled(dir.path(), "cc", "-std=c99", "tests/hostile.c") else { return };
    let socket = dir.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut child = Command::new(&program)
        .arg("gone")
        .env("FLYBALL_QOS_SOCKET", &socket)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (stream, _) = listener.accept().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    drop((stream, listener));
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let ended = child.wait().unwrap();
    assert!(ended.success(), "{ended}");
}
