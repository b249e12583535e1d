//! The recorded machine keeps settings per thread and has a clock of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use flyball_host::manifest::{Calls, Manifest, Tried};
use flyball_host::{Errno, Host, ProcessSpec, RecordedHost, Scheduling, Wake};
use flyball_units::{CpuId, Diagnostic, Nanos};

fn host() -> RecordedHost {
    RecordedHost::from_listing(include_str!("../machines/arm-big-little.txt")).unwrap()
}

#[test]
fn time_moves_only_when_told() {
    let host = host();
    assert_eq!(host.now(), host.now());
    let later = host.now() + Nanos::from_secs(3600);
    assert_eq!(host.sleep_until(later), Ok(Wake::OnTime));
    assert_eq!(host.now(), later);
    host.sleep_until(Nanos::ZERO).unwrap();
    assert_eq!(host.now(), later, "never backwards");
    let before = host.counter();
    host.multiply_chain(320);
    assert_eq!(host.counter() - before, 960, "3 cycles each at 1 GHz");
    assert_eq!(host.thread_cpu_time(), Ok(Nanos(960)));
    assert_eq!(host.cpu_time_of(host.thread_id()), Ok(Nanos(960)));
    assert_eq!(host.schedstat().unwrap().run_time, Nanos(960));
    host.interrupt();
    assert_eq!(host.sleep_until(later + Nanos(1)), Ok(Wake::Interrupted));
}

#[test]
fn chain_agrees_with_the_real_one() {
    let real = flyball_host::RealHost::new();
    for multiplies in [0, 1, 32, 33, 1000] {
        assert_eq!(host().multiply_chain(multiplies), real.multiply_chain(multiplies));
    }
}

#[test]
fn settings_of_one_thread_are_not_those_of_another() {
    let host = host();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            host.affinity_set(&CpuId(3).into()).unwrap();
            assert_eq!(host.current_cpu(), Ok(CpuId(3)));
        });
    });
    assert_eq!(host.affinity_get().unwrap().to_string(), "0-3");
    assert!(host.affinity_set(&CpuId(9).into()).is_err());
}

#[test]
fn rights_are_those_of_the_recorded_machine() {
    let fifo = Scheduling::Fifo { priority: 1 };
    assert_eq!(host().scheduling_set(fifo).unwrap_err().errno(), Some(Errno::EPERM));
    assert_eq!(host().scheduling_set(Scheduling::Other { nice: 3 }), Ok(()));
    let calls = Calls { real_time: Tried::Worked, cycles: Tried::Worked, ..Calls::default() };
    let root = host().with_manifest(Manifest { calls, ..Manifest::default() });
    assert_eq!(root.scheduling_set(fifo), Ok(()));
    assert_eq!(root.scheduling_get(), Ok(fifo));
    assert!(root.open_cycles().unwrap().read().is_ok());
    assert!(host().open_cycles().is_err());
    assert!(host().spawn(&ProcessSpec::new("true", [""; 0])).is_err());
    assert_eq!(host().env("HOME"), None);
    assert_eq!(host().with_env("HOME", "/x").env("HOME").as_deref(), Some("/x"));
}

#[test]
fn files_change_in_memory_where_the_process_might_have_written() {
    let listing = "/sys/a/b = 1\n/sys/c = 2\n/t/instances /\n/t/trace_pipe = x";
    let mut manifest = Manifest::default();
    manifest.calls.writable = [("/sys/a".to_owned(), true), ("/t".to_owned(), true)].into();
    let host = RecordedHost::from_listing(listing).unwrap().with_manifest(manifest);
    host.write("/sys/a/b".as_ref(), "5").unwrap();
    assert_eq!(host.read("/sys/a/b".as_ref()), Ok("5\n".to_owned()));
    let refused = host.write("/sys/c".as_ref(), "5").unwrap_err();
    assert_eq!(refused.errno(), Some(Errno::EACCES));
    assert!(refused.hint().unwrap().contains("sudo"));
    host.make_dir("/t/instances/x".as_ref()).unwrap();
    let mut stream = host.open_stream("/t/instances/x/trace_pipe".as_ref()).unwrap();
    let mut buffer = [0; 16];
    assert_eq!(stream.read(&mut buffer), Ok(Some(2)));
    assert_eq!(stream.read(&mut buffer), Ok(None));
    host.remove_dir("/t/instances/x".as_ref()).unwrap();
    assert_eq!(host.list("/t/instances".as_ref()), Ok(vec![]));
}
