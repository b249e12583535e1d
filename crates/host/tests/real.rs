//! This machine, whatever it is. Nothing here depends on time or on rights: what may be refused is
//! checked either way. Settings are made in threads of their own, which end with the test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use flyball_host::{
    Errno, Host, HostKind, Permissions, Power, ProcessSpec, RealHost, Scheduling, Status, Topology,
    Wake, hot,
};
use flyball_units::{CpuId, CpuSet, Diagnostic, ErrorKind, Nanos};
use std::path::Path;

/// Runs a test in a thread of its own, so that its settings end with it.
fn apart(test: impl FnOnce(&dyn Host) + Send) {
    std::thread::scope(|scope| {
        scope.spawn(|| test(&RealHost::new()));
    });
}

#[test]
fn affinity_is_set_and_read_back_in_this_thread_only() {
    apart(|host| {
        let all = host.affinity_get().unwrap();
        let last = all.iter().last().unwrap();
        host.affinity_set(&last.into()).unwrap();
        assert_eq!(host.affinity_get().unwrap(), last.into());
        assert_eq!(host.current_cpu().unwrap(), last);
        assert_eq!(hot::current_cpu().unwrap(), last);
    });
    apart(|host| {
        let error = host.affinity_set(&CpuId(CpuSet::LIMIT - 1).into()).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EINVAL));
        assert!(host.affinity_set(&CpuSet::new()).is_err());
        let mut more = host.affinity_get().unwrap();
        more.insert(CpuId(CpuSet::LIMIT - 1));
        let error = host.affinity_set(&more).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotApplied, "{error}");
    });
}

#[test]
fn scheduling_takes_or_says_why_not() {
    apart(|host| {
        host.scheduling_set(Scheduling::Batch { nice: 5 }).unwrap();
        assert_eq!(host.scheduling_get(), Ok(Scheduling::Batch { nice: 5 }));
        host.scheduling_set(Scheduling::Idle).unwrap();
    });
    let deadline = Scheduling::Deadline {
        runtime: Nanos::from_micros(100),
        deadline: Nanos::from_millis(10),
        period: Nanos::from_millis(10),
    };
    let fifo = Scheduling::Fifo { priority: 7 };
    for scheduling in [fifo, Scheduling::RoundRobin { priority: 7 }, deadline] {
        apart(move |host| match host.scheduling_set(scheduling) {
            Ok(()) => assert_eq!(host.scheduling_get(), Ok(scheduling)),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Permission, "{error}");
                assert!(error.to_string().contains(&scheduling.to_string()));
            }
        });
    }
    apart(|host| {
        let error = host.scheduling_set(Scheduling::Fifo { priority: 1000 }).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EINVAL));
    });
}

#[test]
fn permissions_change_nothing() {
    apart(|host| {
        let before = (host.scheduling_get(), host.affinity_get(), host.timer_slack_get());
        let permissions = Permissions::probe(host);
        assert_eq!(permissions.all.len(), 6);
        assert_eq!(before, (host.scheduling_get(), host.affinity_get(), host.timer_slack_get()));
        let fifo = host.scheduling_set(Scheduling::Fifo { priority: 1 });
        assert_eq!(permissions.grants(Power::RealTime), fifo.is_ok());
    });
}

#[test]
fn clocks_run_forwards() {
    apart(|host| {
        assert_eq!(host.kind(), HostKind::Real);
        let (now, cpu) = (host.now(), host.thread_cpu_time().unwrap());
        let deadline = now + Nanos::from_millis(1);
        assert_eq!(host.sleep_until(deadline), Ok(Wake::OnTime));
        assert!(host.now() >= deadline);
        assert_eq!(host.sleep_until(Nanos::ZERO), Ok(Wake::OnTime), "the past is now");
        host.multiply_chain(100_000);
        assert!(host.thread_cpu_time().unwrap() > cpu);
        assert!(host.process_cpu_time().unwrap() > Nanos::ZERO);
        assert!(host.realtime() > Nanos::from_secs(1_700_000_000));
        let rate = host.counter_hz().unwrap();
        assert!(rate.hz > 1e6 && rate.hz < 1e11, "{rate:?}");
        assert!(rate.relative_uncertainty > 0.0);
        assert_eq!(host.counter_hz(), Ok(rate), "remembered");
    });
}

#[test]
fn threads_are_accounted() {
    apart(|host| {
        let tid = host.thread_id();
        let before = (host.usage().unwrap(), host.cpu_time_of(tid).unwrap());
        let reader = host.schedstat_of(tid).unwrap();
        let first = reader.read().unwrap();
        host.multiply_chain(3_000_000);
        // Long enough that it is not over before it began, however late this thread is.
        host.sleep_until(host.now() + Nanos::from_millis(50)).unwrap();
        let used = host.usage().unwrap().since(before.0);
        assert!(used.voluntary > 0);
        assert!(host.cpu_time_of(tid).unwrap() > before.1);
        assert!(reader.read().unwrap().run_time > first.run_time);
        assert!(host.schedstat().unwrap().run_time > Nanos::ZERO);
        for wrong in [0, u32::MAX, 1 << 22] {
            assert_eq!(host.cpu_time_of(wrong).unwrap_err().errno(), Some(Errno::ESRCH), "{wrong}");
        }
        assert!(host.schedstat_of(u32::MAX).unwrap_err().is_absent());
    });
}

#[test]
fn timer_slack_and_stack() {
    apart(|host| {
        host.timer_slack_set(Nanos(1)).unwrap();
        assert!(host.timer_slack_get().unwrap() <= Nanos(1));
        host.prefault_stack(256 * 1024).unwrap();
        let error = host.prefault_stack(1 << 40).unwrap_err();
        assert!(error.to_string().contains("bytes of room"), "{error}");
    });
}

#[test]
fn a_program_s_code_is_brought_into_memory() {
    apart(|host| {
        let loaded = host.load_program().unwrap();
        let maps = host.read(Path::new("/proc/self/smaps")).unwrap();
        let (mut code, mut there, mut size) = (false, 0, 0);
        for line in maps.lines() {
            let kilobytes = |of: &str| -> Option<u64> {
                line.strip_prefix(of)?.trim().strip_suffix("kB")?.trim().parse().ok()
            };
            match line.split_whitespace().nth(1) {
                Some(rights) if rights.len() == 4 && rights.ends_with(['p', 's']) => {
                    code = rights == "r-xp" && line.contains(" /");
                }
                _ if !code => {}
                _ => {
                    size += kilobytes("Size:").unwrap_or(0);
                    there += kilobytes("Rss:").unwrap_or(0);
                }
            }
        }
        assert!(size > 100 && loaded / 1024 >= size, "{size} of {loaded} bytes");
        assert_eq!(there, size, "kB in memory");
    });
}

#[test]
fn cycles_count_or_say_why_not() {
    apart(|host| match host.open_cycles() {
        Ok(mut counter) => {
            let first = counter.read().unwrap();
            host.multiply_chain(1_000_000);
            let counted = counter.read().unwrap().since(first);
            assert!(!counted.is_whole() || counted.instructions >= 1_000_000, "{counted:?}");
        }
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Permission));
        }
    });
}

#[test]
fn files_are_read_and_errors_name_them() {
    let host = RealHost::new();
    let times = host.cpu_times().unwrap();
    let topology = Topology::discover(&host).unwrap();
    assert_eq!(times.cpus.len(), topology.online.len());
    assert!(times.user_hz > 0 && times.running.is_some());
    assert!(host.exists(Path::new("/proc/self")));
    assert!(host.read_link(Path::new("/proc/self")).is_ok());
    let error = host.read(Path::new("/proc/no-such-file")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "read failed on /proc/no-such-file: No such file or directory (ENOENT)"
    );
    assert!(host.list(Path::new("/proc/stat")).unwrap_err().to_string().contains("ENOTDIR"));
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(host.writable(folder.path()), Ok(true));
    assert!(host.writable(Path::new("/no-such-folder/x")).unwrap_err().is_absent());
}

#[test]
fn children_are_run_timed_and_captured() {
    let host = RealHost::new();
    let spec = ProcessSpec::new("sh", ["-c", "echo out; echo err >&2; exit 3"]).captured();
    let exit = host.spawn(&spec).unwrap().wait(None).unwrap().unwrap();
    assert_eq!(exit.status, Status::Code(3));
    assert_eq!((exit.stdout.as_slice(), exit.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
    assert!(exit.usage.cpu_time > Nanos::ZERO && exit.elapsed > Nanos::ZERO);
    assert!(!exit.is_success());
}

/// It is our memory in which a child begins, but nothing else of ours: no handler, no blocked signal, no file.
#[test]
fn children_begin_afresh() {
    apart(|host| {
        host.catch_interrupts().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let kept = fs_err::canonicalize(folder.path()).unwrap();
        let output = |program: &str, arguments: &[&str]| {
            let spec = ProcessSpec {
                environment: vec![("ADDED".into(), "word".into())],
                folder: Some(folder.path().to_owned()),
                ..ProcessSpec::new(program, arguments).captured()
            };
            let exit = host.spawn(&spec).unwrap().wait(None).unwrap().unwrap();
            assert!(exit.is_success(), "{exit:?}");
            String::from_utf8(exit.stdout).unwrap()
        };
        let status = output("cat", &["/proc/self/status"]);
        let signals = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        let pipe = 1 << (libc::SIGPIPE - 1);
        assert_eq!((signals("SigBlk:"), signals("SigCgt:"), signals("SigIgn:") & pipe), (0, 0, 0));
        // Files that whoever started us left open are passed on, ours are not; one is the folder that is listed.
        let passed_on = |file: &fs_err::DirEntry| {
            let info = fs_err::read_to_string(file.path()).unwrap_or_default();
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
            let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
            flags.is_some_and(|flags| flags & libc::O_CLOEXEC as u32 == 0)
        };
        let ours = fs_err::read_dir("/proc/self/fdinfo").unwrap().map(Result::unwrap);
        let expected = ours.filter(passed_on).count() + 1;
        assert_eq!(output("ls", &["/proc/self/fd"]).lines().count(), expected);
        let told = output("sh", &["-c", "cat; pwd; echo $ADDED $PATH; ps -o pgid= $$; echo $$"]);
        let told: Vec<&str> = told.lines().map(str::trim).collect();
        let path = host.env("PATH").unwrap();
        assert_eq!(told[..2], [kept.to_str().unwrap(), &format!("word {path}")]);
        assert_eq!(told[2], told[3], "a group of its own");
        // As execvp does it: a script that names no interpreter.
        let script = folder.path().join("script");
        fs_err::write(&script, "echo \"$1 $ADDED\"\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode;
        fs_err::set_permissions(&script, mode(0o755)).unwrap();
        assert_eq!(output("./script", &["one"]), "one word\n");
        fs_err::set_permissions(&script, mode(0o644)).unwrap();
        let refused = |program: &str, spec: ProcessSpec| {
            let error = host.spawn(&ProcessSpec { program: program.into(), ..spec }).unwrap_err();
            error.errno()
        };
        let plain = ProcessSpec::default;
        assert_eq!(refused(script.to_str().unwrap(), plain()), Some(Errno::EACCES));
        assert_eq!(refused("no-such-program", plain()), Some(Errno::ENOENT));
        assert_eq!(refused("", plain()), Some(Errno::ENOENT));
        let nowhere = ProcessSpec { folder: Some("/no-such-folder".into()), ..plain() };
        assert_eq!(refused("true", nowhere), Some(Errno::ENOENT));
    });
}

/// A copy of our memory would take the longer the more we have, and each page would fault again after it.
#[test]
fn a_start_copies_nothing_of_ours() {
    apart(|host| {
        let mut memory = vec![1_u8; 32 << 20];
        let before = host.usage().unwrap().minor_faults;
        assert!(
            host.spawn(&ProcessSpec::new("true", [""; 0])).unwrap().wait(None).unwrap().is_some()
        );
        memory.iter_mut().step_by(4096).for_each(|byte| *byte = std::hint::black_box(2));
        let faults = host.usage().unwrap().minor_faults - before;
        assert!(faults < 1000, "{faults} of {} pages", memory.len() / 4096);
    });
}

#[test]
fn children_can_be_given_up() {
    let host = RealHost::new();
    let mut child = host.spawn(&ProcessSpec::new("sleep", ["1000"])).unwrap();
    assert_eq!(child.wait(Some(host.now())), Ok(None), "it still runs");
    child.terminate().unwrap();
    assert_eq!(child.wait(None).unwrap().unwrap().status, Status::Signal(15));
    assert_eq!(child.wait(None).unwrap_err().errno(), Some(Errno::ECHILD));
    let child = host.spawn(&ProcessSpec::new("sleep", ["1000"])).unwrap();
    let folder = format!("/proc/{}", child.id());
    assert!(host.exists(Path::new(&folder)));
    drop(child);
    assert!(!host.exists(Path::new(&folder)), "dropped means dead and reaped");
    let error = host.spawn(&ProcessSpec::new("/no-such-program", [""])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput);
    assert!(error.to_string().contains("no-such-program") && error.hint().is_some());
}

#[test]
fn children_of_children_are_no_trap() {
    let host = RealHost::new();
    // The pipe stays open after the end of the shell: its output is there all the same.
    let spec = ProcessSpec::new("sh", ["-c", "echo out; sleep 1000 & echo $!"]).captured();
    let mut child = host.spawn(&spec).unwrap();
    let exit = child.wait(None).unwrap().unwrap();
    let output = String::from_utf8(exit.stdout).unwrap();
    let left_behind = output.strip_prefix("out\n").unwrap().trim();
    let kill = ProcessSpec::new("kill", ["-9", left_behind]);
    assert!(host.spawn(&kill).unwrap().wait(None).unwrap().unwrap().is_success());
    // Killing means the whole group.
    let spec = ProcessSpec::new("sh", ["-c", "sleep 1000; true"]).captured();
    let mut child = host.spawn(&spec).unwrap();
    child.kill().unwrap();
    assert_eq!(child.wait(None).unwrap().unwrap().status, Status::Signal(9));
}

#[test]
fn idle_latency_is_held_or_refused() {
    let host = RealHost::new();
    // The loosest bound there is, so that nothing changes.
    match host.hold_idle_latency(Nanos::from_micros(i32::MAX as u64)) {
        Ok(hold) => assert_eq!(hold.limit(), Nanos::from_micros(i32::MAX as u64)),
        Err(error) => assert!(error.to_string().contains("/dev/cpu_dma_latency"), "{error}"),
    }
    assert!(host.hold_idle_latency(Nanos(u64::MAX)).is_err());
}

#[test]
fn writes_folders_and_streams() {
    let host = RealHost::new();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    fs_err::write(&file, "before").unwrap();
    host.write(&file, "be").unwrap();
    assert_eq!(host.read_bytes(&file).unwrap(), b"before", "nothing is truncated");
    assert!(host.write(&dir.path().join("none"), "x").unwrap_err().is_absent());
    let folder = dir.path().join("d");
    host.make_dir(&folder).unwrap();
    assert_eq!(host.make_dir(&folder).unwrap_err().errno(), Some(Errno::EEXIST));
    host.remove_dir(&folder).unwrap();
    let mut stream = host.open_stream(&file).unwrap();
    let mut buffer = [0; 4];
    assert_eq!(stream.read(&mut buffer), Ok(Some(4)));
    assert_eq!(stream.read(&mut buffer), Ok(Some(2)));
    assert_eq!(stream.read(&mut buffer), Ok(None));
    let before = host.now();
    assert_eq!(host.wait_streams(&[], before + Nanos::from_millis(20)), Ok(false));
    assert!(host.now().since(before) >= Nanos::from_millis(20));
    assert_eq!(host.wait_streams(&[stream], before + Nanos::from_secs(60)), Ok(true));
}
