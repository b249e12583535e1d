//! Removing instances and probes, one's own at the end and those of owners that were killed.

use std::collections::BTreeSet;

use flyball_host::{Errno, Host, HostError};
use flyball_units::Nanos;

use super::CaptureError;
use super::names::Owner;
use super::tracefs;

/// How often a removal is tried while the kernel says that something is busy: a reader that is just
/// being closed, a grace period that has not ended.
const TRIES: u32 = 50;
/// The time between two tries.
const PAUSE: Nanos = Nanos(20_000_000);

/// What was found and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// What a killed owner had left and is gone now, in words.
    pub removed: Vec<String>,
    /// Captures that are running: theirs was left alone.
    pub running: Vec<String>,
}

impl Recovered {
    /// In words, a line each.
    pub fn lines(&self) -> Vec<String> {
        let removed = self.removed.iter().map(|what| format!("removed {what}"));
        let left = |owner| format!("left alone: the capture of {owner}, which is running");
        let lines: Vec<String> = removed.chain(self.running.iter().map(left)).collect();
        match lines.is_empty() {
            true => vec!["nothing was left in tracefs".to_owned()],
            false => lines,
        }
    }
}

/// Removes what killed captures left in tracefs. What belongs to a running process stays.
///
/// # Errors
/// tracefs is not there or not ours to use; something could not be removed.
pub fn recover(host: &dyn Host) -> Result<Recovered, CaptureError> {
    tracefs::check(host)?;
    leftovers(host)
}

/// As [`recover`], of a tracefs that was looked at.
pub(super) fn leftovers(host: &dyn Host) -> Result<Recovered, CaptureError> {
    let failed = CaptureError::host("looking for what killed captures left");
    let instances = host.list(&tracefs::path("instances")).map_err(&failed)?;
    let owners = instances.iter().filter_map(|name| Owner::of_instance(name));
    let mut owners: BTreeSet<Owner> = owners.collect();
    let probes = probes(host).map_err(&failed)?;
    owners.extend(probes.iter().map(|(owner, _)| *owner));
    let mut recovered = Recovered::default();
    let mut left = Vec::new();
    for owner in owners {
        if owner.is_alive(host) {
            recovered.running.push(owner.to_string());
            continue;
        }
        let own = probes.iter().filter(|(of, _)| *of == owner).map(|(_, event)| event.clone());
        let own: Vec<String> = own.collect();
        let has_instance = instances.contains(&owner.instance());
        let failures = remove(host, owner, has_instance, &own);
        if failures.is_empty() {
            let instance = if has_instance { "an instance and " } else { "" };
            recovered.removed.push(format!("{instance}{} probes of {owner}, killed", own.len()));
        }
        left.extend(failures);
    }
    if left.is_empty() { Ok(recovered) } else { Err(CaptureError::Restore { left }) }
}

/// All probes of ours that there are, with their owners: `GROUP/EVENT`.
fn probes(host: &dyn Host) -> Result<Vec<(Owner, String)>, HostError> {
    let list = match host.read(&tracefs::dynamic_events()) {
        Ok(list) => list,
        Err(error) if error.is_absent() => String::new(),
        Err(error) => return Err(error),
    };
    let of_line = |line: &str| {
        let (_, event) = line.split_whitespace().next()?.split_once(':')?;
        let (group, _) = event.split_once('/')?;
        Some((Owner::of_group(group)?, event.to_owned()))
    };
    Ok(list.lines().filter_map(of_line).collect())
}

/// Removes an owner's instance and probes, in this order: what is on is busy. Goes on where a step
/// fails, and returns what is left and why.
pub(super) fn remove(
    host: &dyn Host,
    owner: Owner,
    has_instance: bool,
    probes: &[String],
) -> Vec<String> {
    let mut left = Vec::new();
    if has_instance {
        let instance = tracefs::instance(owner);
        // Both may fail without harm: the removal below switches everything off itself.
        let _ = host.write(&instance.join("tracing_on"), "0");
        let _ = host.write(&instance.join("events/enable"), "0");
        if let Err(error) = patiently(host, || host.remove_dir(&instance)) {
            left.push(error.to_string());
        }
    }
    let list = tracefs::dynamic_events();
    for event in probes {
        if let Err(error) = patiently(host, || host.write(&list, &format!("-:{event}"))) {
            left.push(format!("probe {event}: {error}"));
        }
    }
    left
}

/// Tries until it is no longer busy. What is not there any more is gone.
fn patiently(host: &dyn Host, act: impl Fn() -> Result<(), HostError>) -> Result<(), HostError> {
    let mut tries = 0;
    loop {
        match act() {
            Err(error) if error.errno() == Some(Errno::ENOENT) => return Ok(()),
            Err(error) if error.errno() == Some(Errno::EBUSY) && tries < TRIES => {
                tries += 1;
                pause(host);
            }
            other => return other,
        }
    }
}

/// Waits even while the program is being asked to end: an interrupt cuts every sleep of the host
/// short, but not the time that the kernel needs.
fn pause(host: &dyn Host) {
    let _ = host.wait_streams(&[], host.now() + PAUSE);
}
