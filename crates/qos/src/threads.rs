//! The threads that are watched, and the clamp of each.

use crate::burst::Burst;
use crate::journal::{Journal, Own};
use crate::recover::{give_back, is_gone};
use flyball_governors::ResponseRamp;
use flyball_host::{
    Errno, Host, HostError, Switch, SwitchRecord, SwitchWatch, Task, ThreadIdentity,
};
use std::path::Path;

/// The demand of a thread that can ask for no more.
const FULL: Option<u32> = Some(1024);

/// A thread, and the clamp that it has from us.
#[derive(Debug)]
struct Watched {
    task: Task,
    watch: SwitchWatch,
    burst: Burst,
    /// The clamp that it had before.
    own: u32,
    /// The clamp that it has.
    now: u32,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Threads {
    ramp: ResponseRamp,
    all: Vec<Watched>,
    /// Filled at each look, kept to be filled again.
    records: Vec<SwitchRecord>,
    pub counts: Counts,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Threads that were taken in.
    pub threads: u64,
    /// Switches to one of them.
    pub switches: u64,
    /// Clamps that were set.
    pub set: u64,
    /// Clamps that were removed.
    pub removed: u64,
    /// Threads that were left alone, because another program set their clamp meanwhile.
    pub foreign: u64,
    /// Threads that could not be taken in.
    pub left_out: u64,
    /// Why the first of them could not.
    pub left_out_because: Option<String>,
}

/// What a look found.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// Threads and processes that were made: the maker, then the process and the number of the new one.
    pub made: Vec<(ThreadIdentity, u32, u32)>,
    /// Whether clamps are to grow further, or threads switch so often that listening costs more than
    /// looking again.
    pub busy: bool,
    /// Whether that is for another reason than that a thread with the whole clamp lost its CPU for a
    /// moment, which may have been to the controller itself.
    pub growing: bool,
}

impl Threads {
    pub fn new(ramp: ResponseRamp) -> Threads {
        Threads { ramp, all: Vec::new(), records: Vec::new(), counts: Counts::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn watches(&self) -> Vec<&SwitchWatch> {
        self.all.iter().map(|thread| &thread.watch).collect()
    }

    /// Takes every thread of a process in that is not yet; threads that had a clamp of their own are added
    /// to `own`. True where there was one.
    ///
    /// # Errors
    /// The first thread's, where none could be taken in.
    pub fn take_process(
        &mut self,
        host: &dyn Host,
        pid: u32,
        own: &mut Vec<Own>,
    ) -> Result<bool, HostError> {
        let mut refused = None;
        let mut any = false;
        // Threads that were made while others were being taken in are found by another round.
        loop {
            let before = self.all.len();
            let names = host.list(Path::new(&format!("/proc/{pid}/task")))?;
            for tid in names.iter().filter_map(|name| name.parse().ok()) {
                match self.take(host, pid, tid, None) {
                    Ok(found) => {
                        any = true;
                        own.extend(found);
                    }
                    Err(error) if is_gone(&error) => {}
                    Err(error) => refused = Some(error),
                }
            }
            if self.all.len() == before {
                break;
            }
        }
        match refused {
            Some(error) if !any => Err(error),
            Some(error) => {
                self.leave_out(&error);
                Ok(any)
            }
            None => Ok(any),
        }
    }

    /// Takes a thread in, unless it is already. One that a watched thread made has its maker's clamp, which
    /// is `inherited` and not its own. The clamp of its own that it had, where it had one.
    pub fn take(
        &mut self,
        host: &dyn Host,
        pid: u32,
        tid: u32,
        inherited: Option<u32>,
    ) -> Result<Option<Own>, HostError> {
        if self.all.iter().any(|thread| thread.task.identity().tid == tid) {
            return Ok(None);
        }
        let task = host.open_task(pid, tid)?;
        let now = host.least_utilization(&task)?;
        let own = inherited.unwrap_or(now);
        let watch = host.watch_switches(&task)?;
        // After the watch has begun: whatever it does from here on is in a record.
        let (identity, runs) = ThreadIdentity::read(host, pid, tid)?;
        let burst = Burst::new(runs, host.now());
        self.counts.threads += 1;
        self.all.push(Watched { task, watch, burst, own, now });
        Ok((own > 0).then_some(Own { thread: identity, least: Some(own) }))
    }

    pub fn leave_out(&mut self, error: &HostError) {
        self.counts.left_out += 1;
        self.counts.left_out_because.get_or_insert_with(|| error.to_string());
    }

    /// What a thread had before, where it is watched.
    pub fn own_of(&self, thread: ThreadIdentity) -> Option<u32> {
        let found = self.all.iter().find(|watched| watched.task.identity() == thread);
        found.map(|watched| watched.own)
    }

    /// Reads the records, and gives every thread the clamp of its ramp. Threads that another program
    /// gave one meanwhile are left alone from then on, and added to the journal as they are.
    ///
    /// # Errors
    /// A clamp that could not be set.
    pub fn look(&mut self, host: &dyn Host, journal: &mut Journal) -> Result<Look, HostError> {
        let mut look = Look::default();
        let ramp = self.ramp;
        let mut failed = None;
        let Threads { all, records, counts, .. } = self;
        all.retain_mut(|thread| {
            records.clear();
            thread.watch.read(records);
            let mut ended = false;
            for record in records.iter() {
                thread.burst.take(record);
                match record.what {
                    Switch::Made { pid, tid } => {
                        look.made.push((thread.task.identity(), pid, tid));
                    }
                    Switch::Ended => ended = true,
                    _ => {}
                }
            }
            if ended {
                return false;
            }
            let starts = thread.burst.starts();
            counts.switches += u64::from(starts);
            // Read now and not before: the time since the record counts.
            let demand = thread.burst.demand(ramp, host.now());
            let awake = thread.burst.is_awake();
            look.busy |= starts > 1 || (awake && (starts > 0 || demand != FULL));
            look.growing |= demand != FULL && (awake || starts > 0);
            match thread.set(host, demand.unwrap_or(0), counts) {
                Ok(true) => true,
                Ok(false) => {
                    counts.foreign += 1;
                    journal.own.push(Own { thread: thread.task.identity(), least: None });
                    false
                }
                Err(error) if is_gone(&error) => false,
                Err(error) => {
                    failed = Some(error);
                    true
                }
            }
        });
        failed.map_or(Ok(look), Err)
    }

    /// Drops the threads that have ended without a record of it.
    pub fn drop_ended(&mut self, host: &dyn Host) {
        self.all.retain(|thread| thread.task.is_alive(host));
    }

    /// Gives every thread what it had. Those are returned of which that is sure: what they have from
    /// here on is their own.
    pub fn release(&mut self, host: &dyn Host) -> Vec<Own> {
        let mut sure = Vec::new();
        for thread in &mut self.all {
            let changed = thread.now != thread.own;
            let ours = changed && host.least_utilization(&thread.task).as_ref() == Ok(&thread.now);
            // What fails is looked at again by the journal.
            if ours && give_back(host, &thread.task, thread.own).is_ok() {
                (thread.now, self.counts.removed) = (thread.own, self.counts.removed + 1);
            }
            if thread.now == thread.own {
                sure.push(Own { thread: thread.task.identity(), least: None });
            }
        }
        sure
    }
}

impl Watched {
    /// Gives the thread the clamp of `demand`, or what it had where that is less. False where another
    /// program gave it one: then that stays, and is noted.
    fn set(
        &mut self,
        host: &dyn Host,
        demand: u32,
        counts: &mut Counts,
    ) -> Result<bool, HostError> {
        let wanted = demand.max(self.own);
        if wanted == self.now {
            return Ok(true);
        }
        let found = host.least_utilization(&self.task)?;
        if found != self.now {
            self.now = found;
            return Ok(false);
        }
        match host.least_utilization_set(&self.task, (wanted > 0).then_some(wanted)) {
            // Above its upper clamp, which is another program's.
            Err(error) if error.errno() == Some(Errno::EINVAL) && wanted > self.own => {
                give_back(host, &self.task, self.own)?;
                self.now = self.own;
                return Ok(false);
            }
            result => result?,
        }
        match wanted == self.own {
            true => counts.removed += 1,
            false => counts.set += 1,
        }
        self.now = wanted;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::{ProcessIdentity, RecordedHost};
    use flyball_units::Nanos;

    /// A process of two threads that run for ever.
    fn machine() -> RecordedHost {
        let stat = |tid: u32| format!("{tid} (game) R 1 {}90{}", "0 ".repeat(17), " 0".repeat(20));
        let listing = format!(
            "/proc/self/stat = {}\n/proc/50/task/50/stat = {}\n/proc/50/task/51/stat = {}\n\
             /proc/sys/kernel/random/boot_id = one",
            stat(7),
            stat(50),
            stat(51)
        );
        RecordedHost::from_listing(&listing).unwrap()
    }

    fn pass(host: &RecordedHost, ms: u64) {
        host.sleep_until(host.now() + Nanos::from_millis(ms)).unwrap();
    }

    #[test]
    fn what_another_program_sets_meanwhile_is_left_alone() {
        let host = machine();
        let mut journal = Journal::new(&host, 4).unwrap();
        let mut threads = Threads::new(ResponseRamp::new(4));
        assert!(threads.take_process(&host, 50, &mut journal.own).unwrap());
        pass(&host, 4);
        threads.look(&host, &mut journal).unwrap();
        let task = host.open_task(50, 51).unwrap();
        let clamp = || host.least_utilization(&task).unwrap();
        assert_eq!((clamp() > 200, threads.counts.set), (true, 2));
        host.least_utilization_set(&task, Some(77)).unwrap();
        pass(&host, 4);
        threads.look(&host, &mut journal).unwrap();
        assert_eq!((clamp(), threads.counts.foreign, threads.all.len()), (77, 1, 1));
        assert_eq!(journal.own(task.identity()), None);
        // Nor does a recovery touch it.
        journal.processes.push(ProcessIdentity { pid: 50, start: 90 });
        threads.release(&host);
        crate::recover::sweep(&host, &journal).unwrap();
        assert_eq!(clamp(), 77);
        let other = host.open_task(50, 50).unwrap();
        assert_eq!(host.least_utilization(&other).unwrap(), 0);
    }

    #[test]
    fn a_new_thread_has_what_its_maker_had_before() {
        let host = machine();
        let mut threads = Threads::new(ResponseRamp::new(4));
        // It was made while its maker had a clamp of ours.
        let task = host.open_task(50, 51).unwrap();
        host.least_utilization_set(&task, Some(400)).unwrap();
        assert_eq!(threads.take(&host, 50, 51, Some(0)).unwrap(), None);
        let mut journal = Journal::new(&host, 4).unwrap();
        threads.look(&host, &mut journal).unwrap();
        assert_eq!(host.least_utilization(&task).unwrap(), 0);
        assert_eq!((threads.counts.removed, threads.counts.foreign), (1, 0));
    }

    #[test]
    fn threads_that_are_refused_are_told_once_others_are_in() {
        let host = machine();
        let faults = "watch_switches:51=EMFILE";
        let faulty =
            flyball_host::FaultyHost::parse(std::sync::Arc::new(machine()), faults).unwrap();
        let mut threads = Threads::new(ResponseRamp::new(4));
        assert!(threads.take_process(&faulty, 50, &mut Vec::new()).unwrap());
        assert_eq!((threads.counts.threads, threads.counts.left_out), (1, 1));
        let all = flyball_host::FaultyHost::parse(std::sync::Arc::new(host), "open_task=EPERM");
        let mut none = Threads::new(ResponseRamp::new(4));
        assert!(none.take_process(&all.unwrap(), 50, &mut Vec::new()).is_err());
    }
}
