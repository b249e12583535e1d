//! A recording of a machine tells the same as the machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use flyball_host::snapshot::{SnapshotError, capture};
use flyball_host::{FaultyHost, Host, Permissions, RealHost, RecordedHost, Topology};
use flyball_units::Diagnostic;
use std::path::Path;
use std::sync::Arc;

#[test]
fn this_machine_and_its_recording_are_alike() {
    let folder = tempfile::tempdir().unwrap();
    let host = RealHost::new();
    let captured = capture(&host, folder.path()).unwrap();
    assert!(captured.files > 10, "{captured:?}");
    let recorded = RecordedHost::open(folder.path()).unwrap();
    assert_eq!(Topology::discover(&recorded).unwrap(), Topology::discover(&host).unwrap());
    assert_eq!(Permissions::probe(&recorded), Permissions::probe(&host));
    assert_eq!(recorded.affinity_get(), host.affinity_get());
    assert_eq!(recorded.user_hz(), host.user_hz());
    assert_eq!(recorded.cpu_times().unwrap().cpus.len(), host.cpu_times().unwrap().cpus.len());
}

#[test]
fn a_recording_of_a_recording_is_alike() {
    for listing in [
        include_str!("../machines/arm-big-little.txt"),
        include_str!("../machines/intel-hybrid.txt"),
        include_str!("../machines/amd-smt.txt"),
        include_str!("../machines/apple-m1.txt"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let host = RecordedHost::from_listing(listing).unwrap();
        capture(&host, folder.path()).unwrap();
        let recorded = RecordedHost::open(folder.path()).unwrap();
        assert_eq!(Topology::discover(&recorded).unwrap(), Topology::discover(&host).unwrap());
        assert_eq!(Permissions::probe(&recorded), Permissions::probe(&host));
    }
}

#[test]
fn refused_files_are_recorded_as_refused() {
    let text = include_str!("../machines/amd-smt.txt");
    let inner: Arc<dyn Host> = Arc::new(RecordedHost::from_listing(text).unwrap());
    let host =
        FaultyHost::parse(inner, "read:/proc/cpuinfo=EACCES,list:/sys/class/hwmon=EIO").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let captured = capture(&host, folder.path()).unwrap();
    assert_eq!(captured.unreadable, 2);
    let recorded = RecordedHost::open(folder.path()).unwrap();
    let (ours, theirs) = (Topology::discover(&recorded), Topology::discover(&host));
    assert_eq!(ours.unwrap(), theirs.unwrap());
}

#[test]
fn a_machine_of_which_nothing_is_seen_is_no_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let error = capture(&RecordedHost::from_listing("").unwrap(), folder.path()).unwrap_err();
    assert!(matches!(error, SnapshotError::Nothing), "{error}");
    assert!(error.to_string().contains("/proc and /sys") && error.hint().is_some());
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let host = RecordedHost::from_listing("/sys/devices/system/cpu/online = 0").unwrap();
    capture(&host, folder.path()).unwrap();
    let error = capture(&host, folder.path()).unwrap_err();
    assert!(matches!(error, SnapshotError::NotEmpty { .. }));
    assert!(error.to_string().contains("expected an empty or a new folder"));
    assert!(error.hint().is_some());
    let error = capture(&host, Path::new("/proc/no-such-folder/x")).unwrap_err();
    assert!(error.to_string().contains("/proc/no-such-folder"), "{error}");
}

#[test]
fn long_files_are_shortened_and_private_ones_stay_out() {
    let long = "x".repeat(2 << 20);
    let text = format!(
        "/proc/cpuinfo = {long}\n/sys/class/dmi/id/product_serial = 1234\n\
         /sys/class/power_supply/hid-a0:b1:c2:d3:e4:f5/type = Battery\n\
         /proc/sys/kernel/hostname = me\n/proc/cmdline = root=/dev/me nohz=off\n"
    );
    let host = RecordedHost::from_listing(&text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    capture(&host, folder.path()).unwrap();
    let recorded = RecordedHost::open(folder.path()).unwrap();
    assert_eq!(recorded.manifest().shortened, ["/proc/cpuinfo"]);
    assert_eq!(recorded.read(Path::new("/proc/cpuinfo")).unwrap().len(), 1 << 20);
    assert_eq!(recorded.read(Path::new("/proc/cmdline")).unwrap(), "nohz=off\n");
    for path in ["/sys/class/dmi", "/sys/class/power_supply", "/proc/sys/kernel/hostname"] {
        assert!(!recorded.exists(Path::new(path)), "{path}");
    }
}
