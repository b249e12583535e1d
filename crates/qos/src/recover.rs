//! Removing the clamps that a controller left, by its journal.

use crate::QosError;
use crate::journal::{Journal, State, boot_id, read};
use flyball_control::{ControlError, Recovered as Limits, recover as recover_limits, state_folder};
use flyball_host::{Errno, Host, HostError, ProcessIdentity, Task};
use flyball_units::Nanos;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What a recovery found and did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "found")]
pub enum Recovered {
    /// No controller had been killed.
    Nothing,
    /// It was killed before the machine was started anew: its clamps went with that boot.
    EarlierBoot {
        /// The controller.
        owner: ProcessIdentity,
    },
    /// No clamp of its is left.
    Removed {
        /// The controller.
        owner: ProcessIdentity,
        /// Processes that still run.
        processes: usize,
        /// Threads whose clamp was removed.
        threads: usize,
        /// Limits of frequencies that were restored, where those were raised.
        #[serde(skip_serializing_if = "is_none")]
        limits: usize,
    },
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Removes what a controller that was killed left, by the journal in `folder`.
///
/// # Errors
/// A controller that runs; a journal that is not ours; threads that keep their clamp.
pub fn recover(host: &dyn Host, folder: &Path) -> Result<Recovered, QosError> {
    // No folder, no journal: and none is made for asking.
    if !host.exists(folder) {
        return Ok(Recovered::Nothing);
    }
    leftovers(host, folder, &State::lock(host, folder)?)
}

/// As [`recover`], in a folder that is locked.
pub(crate) fn leftovers(
    host: &dyn Host,
    folder: &Path,
    state: &State,
) -> Result<Recovered, QosError> {
    let Some(journal) = read(host, folder)? else { return Ok(Recovered::Nothing) };
    let owner = journal.owner;
    let boot = boot_id(host).map_err(QosError::host("recovering"))?;
    if journal.boot_id != boot {
        state.clear(host)?;
        return Ok(Recovered::EarlierBoot { owner });
    }
    if owner.is_alive(host) && ProcessIdentity::this(host).as_ref() != Ok(&owner) {
        return Err(QosError::Busy(Some(owner)));
    }
    let limits = if journal.limits { limits(host, owner) } else { Ok(0) };
    // Whatever became of the limits, threads have theirs.
    let (processes, threads) = sweep(host, &journal)?;
    let limits = limits?;
    state.clear(host)?;
    Ok(Recovered::Removed { owner, processes, threads, limits })
}

/// Restores the limits that a controller raised: how many.
fn limits(host: &dyn Host, controller: ProcessIdentity) -> Result<usize, ControlError> {
    match recover_limits(host, &state_folder(host)) {
        Ok(Limits::Restored { files, .. }) => Ok(files),
        Ok(Limits::Nothing | Limits::EarlierBoot { .. }) => Ok(0),
        // Whoever holds settings now restored what was left before it began.
        Err(ControlError::Busy { owner: Some(owner), .. }) if owner != controller => Ok(0),
        Err(error) => Err(error),
    }
}

/// The guardian: waits for the end of the controller that the journal in `folder` names, however it
/// ends, then removes what is left.
///
/// # Errors
/// As [`recover`].
pub fn guard(host: &dyn Host, folder: &Path) -> Result<Recovered, QosError> {
    let Some(journal) = read(host, folder)? else { return Ok(Recovered::Nothing) };
    let owner = journal.owner;
    // Until it is needed its code would lie on the disk.
    let _ = host.load_program();
    // Where it has ended already, or its number means another, there is nothing to wait for.
    if let Ok(task) = host.open_task(owner.pid, owner.pid)
        && task.identity().start == owner.start
    {
        while task.is_alive(host) {
            host.wait_tasks(&[], &[&task], None, None, host.interrupted())
                .map_err(QosError::host("waiting for the controller"))?;
            if host.interrupted() > 0 {
                return Ok(Recovered::Nothing);
            }
        }
    }
    // The kernel frees the controller's lock when it frees its files, a moment after its end.
    recover(host, folder)
}

/// Looks at every thread of the journal's processes, and of what they started since, and gives each
/// what it had before; how many processes there were, and how many threads had something else.
///
/// # Errors
/// Threads that keep their clamp.
pub(crate) fn sweep(host: &dyn Host, journal: &Journal) -> Result<(usize, usize), QosError> {
    let mut left = Vec::new();
    let (mut removed, mut alive) = (0, 0);
    for process in with_descendants(host, journal) {
        let folder = format!("/proc/{}/task", process.pid);
        let threads = match host.list(Path::new(&folder)) {
            Ok(threads) => threads,
            Err(error) if is_gone(&error) => continue,
            Err(error) => {
                left.push(error.to_string());
                continue;
            }
        };
        if !process.is_alive(host) {
            continue;
        }
        alive += 1;
        for tid in threads.iter().filter_map(|tid| tid.parse().ok()) {
            match restore(host, journal, process, tid) {
                Ok(true) => removed += 1,
                Ok(false) => {}
                Err(error) if is_gone(&error) => {}
                Err(error) => left.push(error.to_string()),
            }
        }
    }
    match left.is_empty() {
        true => Ok((alive, removed)),
        false => Err(QosError::Left(left)),
    }
}

/// Gives a thread what it had; whether it had something else.
pub(crate) fn restore(
    host: &dyn Host,
    journal: &Journal,
    process: ProcessIdentity,
    tid: u32,
) -> Result<bool, HostError> {
    let task = host.open_task(process.pid, tid)?;
    let asked = journal.asked.iter().find(|asked| asked.process == process);
    let concerned = asked.is_none_or(|asked| asked.concerns(task.identity()));
    if !concerned && !journal.processes.contains(&process) {
        return Ok(false);
    }
    let taken = take_back(host, journal, &task)?;
    let own = journal.own(task.identity()).filter(|_| !journal.limits);
    let Some(own) = own else { return Ok(taken) };
    // A real-time thread has the whole by its class; ours is below that.
    let now = host.least_utilization(&task)?;
    if now == own || (own == 0 && is_real_time(host, &task)) {
        return Ok(taken);
    }
    give_back(host, &task, own)?;
    Ok(true)
}

/// Gives a thread the share of its CPU that it had, where it has the one from us: its own, or as a thread
/// that was made since, its maker's. Whether it had.
pub(crate) fn take_back(
    host: &dyn Host,
    journal: &Journal,
    task: &Task,
) -> Result<bool, HostError> {
    if journal.lent.is_empty() {
        return Ok(false);
    }
    let now = match host.fair_share(task) {
        // Another class has none.
        Err(error) if error.errno() == Some(Errno::EINVAL) => return Ok(false),
        found => found?,
    };
    let thread = task.identity();
    let mut latest = journal.lent.iter().rev();
    let own = latest.clone().find(|lent| lent.thread == thread);
    let is_later = thread.start >= journal.began_ticks;
    let made = || latest.find(|lent| lent.set == now && lent.set != lent.before && is_later);
    let Some(lent) = own.or_else(made) else { return Ok(false) };
    // What it has otherwise is another program's.
    if now != lent.set || lent.set == lent.before {
        return Ok(false);
    }
    let mut tries = 0;
    loop {
        match host.fair_share_set(task, lent.before) {
            Err(error) if tries < 3 && !is_gone(&error) => tries += 1,
            result => return result.map(|()| true),
        }
        let _ = host.wait_streams(&[], host.now() + Nanos::from_millis(5));
    }
}

/// Gives a thread what it had before, tried again where that fails for the moment.
pub(crate) fn give_back(host: &dyn Host, task: &Task, own: u32) -> Result<(), HostError> {
    let mut tries = 0;
    loop {
        let set = host.least_utilization_set(task, (own > 0).then_some(own));
        // None is not read back by the host, because a class may have one of its own.
        match set.and_then(|()| host.least_utilization(task)) {
            Ok(found) if found == own || is_real_time(host, task) => return Ok(()),
            Err(error) if is_gone(&error) => return Ok(()),
            Ok(found) if tries >= 3 => {
                return Err(HostError::malformed(task, format!("clamp {own}"), &found.to_string()));
            }
            Err(error) if tries >= 3 => return Err(error),
            _ => tries += 1,
        }
        let _ = host.wait_streams(&[], host.now() + Nanos::from_millis(5));
    }
}

/// Whether its class has a priority of real time: field 40 of its numbers.
fn is_real_time(host: &dyn Host, task: &Task) -> bool {
    let thread = task.identity();
    let text = host.read(Path::new(&format!("/proc/{}/task/{}/stat", thread.pid, thread.tid)));
    let text = text.unwrap_or_default();
    let rest = text.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
    rest.split_ascii_whitespace().nth(37).is_some_and(|priority| priority != "0")
}

/// Whether the thread has ended.
pub(crate) fn is_gone(error: &HostError) -> bool {
    error.is_absent() || error.errno() == Some(Errno::ESRCH)
}

/// The journal's processes, and those that came from them since it began: a child that was made while its
/// parent had a clamp has the same.
fn with_descendants(host: &dyn Host, journal: &Journal) -> Vec<ProcessIdentity> {
    let mut found = journal.processes.clone();
    let asked = journal.asked.iter().map(|asked| asked.process);
    found.extend(asked.filter(|process| !journal.processes.contains(process)));
    let names = host.list(Path::new("/proc")).unwrap_or_default();
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in names.iter().filter_map(|name| name.parse::<u32>().ok()) {
        let text = host.read(Path::new(&format!("/proc/{pid}/stat"))).unwrap_or_default();
        let rest = text.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
        if let Some(parent) =
            rest.split_ascii_whitespace().nth(1).and_then(|ppid| ppid.parse().ok())
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        // The number of one that has ended may mean another by now.
        let own = if parent.is_alive(host) { children.remove(&parent.pid) } else { None };
        for pid in own.unwrap_or_default() {
            let known = found.iter().any(|process| process.pid == pid);
            if let Ok(child) = ProcessIdentity::of(host, pid)
                && !known
                && child.start >= journal.began_ticks
            {
                found.push(child);
            }
        }
    }
    found
}
