//! A fault at every call of every hold, and a crash at every call: each has a clear error, and
//! nothing is left changed.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use flyball_control::{ControlError, recover};
use flyball_host::Host;
use std::path::Path;
use std::sync::Arc;

/// Every kind of hold, on machines small enough to try every call of it.
fn small() -> Vec<(&'static str, String, flyball_control::Settings)> {
    cases().into_iter().filter(|(_, listing, _)| listing.len() < 8_000).collect()
}

const EFFECTS: [&str; 7] = ["EBUSY", "EPERM", "EINVAL", "ENOENT", "EIO", "short", "lost"];

#[test]
fn one_fault_anywhere_leaves_nothing_changed() {
    let (mut faults, mut errors) = (0, 0);
    for (name, listing, request) in small() {
        let host = root(&listing);
        let before = settings(host.as_ref());
        let counting = faulty(&host, "");
        through(Arc::clone(&counting) as Arc<dyn Host>, &request).unwrap();
        let calls = counting.calls();
        for call in 1..=calls {
            for effect in EFFECTS {
                let host = root(&listing);
                let result = through(faulty(&host, &format!("any#{call}={effect}")), &request);
                let what = format!("{name}: call {call} of {calls}, {effect}");
                faults += 1;
                if let Err(error) = result {
                    errors += 1;
                    assert!(!matches!(error, ControlError::Restore { .. }), "{what}: {error}");
                    let text = error.to_string();
                    assert!(
                        text.contains('/') || text.contains("policy") || text.contains("CPU"),
                        "{what}: {text}"
                    );
                }
                assert_eq!(settings(host.as_ref()), before, "{what}");
                let left = host.exists(Path::new("/var/lib/flyball/hold.json"));
                assert!(!left, "{what}: the journal is still there");
            }
        }
    }
    assert!(faults > 5_000 && errors > 1_000, "{faults} faults, {errors} errors");
    println!("{faults} faults, {errors} ended in an error, nothing left changed");
}

#[test]
fn a_crash_anywhere_is_recovered() {
    let mut crashes = 0;
    for (name, listing, request) in small() {
        let counting = faulty(&root(&listing), "");
        through(Arc::clone(&counting) as Arc<dyn Host>, &request).unwrap();
        for call in 1..=counting.calls() {
            let host = root(&listing);
            let before = settings(host.as_ref());
            // From here on the program is dead: not even its restoring does anything.
            let _ = through(faulty(&host, &format!("any#{call}+=EIO")), &request);
            recover(host.as_ref(), Path::new(STATE))
                .unwrap_or_else(|error| panic!("{name}: call {call}: {error}"));
            assert_eq!(settings(host.as_ref()), before, "{name}: crash at call {call}");
            assert!(!host.exists(Path::new("/var/lib/flyball/hold.json")));
            crashes += 1;
        }
    }
    println!("{crashes} crashes, all recovered");
}

#[test]
fn a_crash_of_the_recovery_is_recovered() {
    let mut crashes = 0;
    for (name, listing, request) in small() {
        let counting = faulty(&root(&listing), "");
        through(Arc::clone(&counting) as Arc<dyn Host>, &request).unwrap();
        // Killed in the midst of it, then the recovery is killed at every call.
        let killed_at = counting.calls() / 2;
        for call in 1.. {
            let host = root(&listing);
            let before = settings(host.as_ref());
            let _ = through(faulty(&host, &format!("any#{killed_at}+=EIO")), &request);
            let dying = faulty(&host, &format!("any#{call}+=EIO"));
            let first = recover(dying.as_ref(), Path::new(STATE));
            recover(host.as_ref(), Path::new(STATE))
                .unwrap_or_else(|error| panic!("{name}: call {call}: {error}"));
            assert_eq!(settings(host.as_ref()), before, "{name}: crash at call {call}");
            crashes += 1;
            if first.is_ok() && dying.calls() < call {
                break;
            }
        }
    }
    println!("{crashes} crashes of a recovery, all recovered");
}
