//! Back to how it was.

use crate::NotRestored;
use crate::journal::Entry;
use crate::settle::{read, wait};
use flyball_host::Host;
use flyball_units::Nanos;
use serde::Serialize;
use std::path::PathBuf;

/// Time after each round of writes, before the next one looks: the kernel's worker needs some.
const ROUNDS: [Nanos; 7] = [
    Nanos::ZERO,
    Nanos::from_millis(1),
    Nanos::from_millis(5),
    Nanos::from_millis(20),
    Nanos::from_millis(100),
    Nanos::from_millis(500),
    Nanos::from_millis(1_500),
];

/// A setting that had neither the hold's value nor the one before: somebody else had written it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Foreign {
    /// The file.
    pub path: PathBuf,
    /// What it had; it is overwritten.
    pub found: String,
    /// What it has now: the value from before the hold.
    pub restored: String,
}

/// What came of restoring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub foreign: Vec<Foreign>,
    /// Files that are gone with their CPUs: there is nothing to restore in them.
    pub gone: Vec<PathBuf>,
    pub left: Vec<NotRestored>,
}

/// Restores the old values, from the last file to the first. Setting one may move another one, and
/// a write may fail for the moment, so what differs is written again, now in the order of the plan,
/// until all is as it was or two seconds have passed.
pub(crate) fn restore(host: &dyn Host, files: &[Entry]) -> Outcome {
    let mut outcome = Outcome::default();
    let written =
        files.iter().rev().filter_map(|it| Some((it, it.old.as_ref()?, it.new.as_ref()?)));
    for (entry, old, new) in written {
        let found = read(host, &entry.path);
        if found.as_ref() == Ok(old) {
            continue;
        }
        // Read twice, so that a slip does not accuse anybody.
        if let Ok(found) = &found
            && found != new
            && read(host, &entry.path).as_ref() == Ok(found)
        {
            outcome.foreign.push(Foreign {
                path: entry.path.clone(),
                found: found.clone(),
                restored: old.clone(),
            });
        }
        // Whether it worked is seen below.
        let _ = host.write(&entry.path, old);
    }
    // The kernel shows what was written a moment later: what its owner has just written may look as it was.
    for (entry, old) in files.iter().rev().filter_map(|it| Some((it, it.old.as_ref()?))) {
        if entry.moves {
            let _ = host.write(&entry.path, old);
        }
    }
    for pause in ROUNDS {
        wait(host, pause);
        if write_again(host, files) == 0 {
            return outcome;
        }
    }
    for (entry, old) in files.iter().filter_map(|it| Some((it, it.old.as_ref()?))) {
        let found = match read(host, &entry.path) {
            Ok(found) if found == *old => continue,
            Err(error) if error.is_absent() && !host.exists(&entry.path) => {
                outcome.gone.push(entry.path.clone());
                continue;
            }
            Ok(found) => found,
            Err(error) => error.to_string(),
        };
        let refused = host.write(&entry.path, old).err();
        let found = match refused {
            Some(error) if !found.contains(&error.to_string()) => format!("{found} ({error})"),
            _ => found,
        };
        outcome.left.push(NotRestored { path: entry.path.clone(), expected: old.clone(), found });
    }
    outcome
}

/// Writes what differs; returns how many.
fn write_again(host: &dyn Host, files: &[Entry]) -> usize {
    let mut differ = 0;
    for (entry, old) in files.iter().filter_map(|it| Some((it, it.old.as_ref()?))) {
        if read(host, &entry.path).as_ref() != Ok(old) {
            let _ = host.write(&entry.path, old);
            differ += 1;
        }
    }
    differ
}
