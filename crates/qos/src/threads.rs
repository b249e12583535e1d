//! The threads that are watched, and the clamp of each.

mod asked;
mod counts;
mod lent;

use crate::burst::Burst;
use crate::floors::{Floors, cpu_of};
use crate::journal::{Journal, Lent, Own};
use crate::kernel::KernelRamp;
use crate::means::Means;
use crate::recover::{give_back, is_gone};
use crate::{Rules, Treatment};
use flyball_governors::{ClampRamp, ClampStep, ResponseRamp};
use flyball_host::{
    Errno, FairShare, Host, HostError, Listen, Switch, SwitchRecord, SwitchWatch, Task,
    ThreadIdentity, Watched as What,
};
use flyball_units::Nanos;
use std::path::Path;

use asked::Asked;
pub use asked::AskedThread;
pub(crate) use asked::Asker;
pub use counts::Counts;
use lent::Loan;

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
    /// What the lower limit of its CPU has for it.
    floor: u32,
    /// What a rule gives it; none where it is only watched for what it makes.
    treatment: Option<Treatment>,
    /// The ramp that the kernel follows by itself; then there is none in `treatment`.
    inside: Option<ResponseRamp>,
    /// The other share of its CPU that it is to have, or has.
    loan: Option<Loan>,
    /// When it was taken in.
    since: Nanos,
    /// What its program asks for.
    asked: Option<Asked>,
    /// Whether it is here for that alone.
    guest: bool,
}

/// What a thread has from the one that made it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inherited {
    /// The clamp that its maker had before it was treated.
    pub least: u32,
    /// Its maker's share before.
    pub share: Option<FairShare>,
}

/// Threads name themselves in their first moments.
const YOUNG: Nanos = Nanos::from_secs(1);
/// How often the names of young ones are read again; those of all, every [`YOUNG`].
const NAMES: Nanos = Nanos::from_millis(100);

/// All of them.
#[derive(Debug)]
pub(crate) struct Threads {
    rules: Rules,
    means: Means,
    all: Vec<Watched>,
    /// Filled at each look, kept to be filled again.
    records: Vec<SwitchRecord>,
    /// When names were read last: of young ones, of all.
    named: [Nanos; 2],
    /// The lowest nice value that may be given back; none before it was looked up.
    lowest: Option<i32>,
    pub counts: Counts,
}

/// What a look found.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// Threads and processes that were made: the maker, then the process and the number of the new one.
    pub made: Vec<(ThreadIdentity, u32, u32)>,
    /// Whether clamps are to grow further, or threads with the whole clamp switch so often that listening costs
    /// more than looking again.
    pub busy: bool,
    /// The shortest time until a clamp is to change; none where a thread with the whole clamp lost its CPU for a moment,
    /// which may have been to the controller itself.
    pub lasts: Option<Nanos>,
    /// When a thread is to be looked at again: for a clamp that grows, its piece of work, or what it has while it sleeps.
    pub next: Option<Nanos>,
    /// Whether there was a record.
    pub heard: bool,
    /// Whether a thread went that was here because its program asked.
    pub guests_left: bool,
}

impl Threads {
    pub fn new(rules: Rules, means: Means) -> Threads {
        Threads {
            rules,
            means,
            all: Vec::new(),
            records: Vec::new(),
            named: [Nanos::ZERO; 2],
            lowest: None,
            counts: Counts::default(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn watches(&self) -> Vec<&SwitchWatch> {
        self.all.iter().map(|thread| &thread.watch).collect()
    }

    /// Takes every thread of a process in that is not yet; threads that had a clamp of their own are added
    /// to the journal. True where there was one.
    ///
    /// # Errors
    /// The first thread's, where none could be taken in.
    pub fn take_process(
        &mut self,
        host: &dyn Host,
        pid: u32,
        journal: &mut Journal,
    ) -> Result<bool, HostError> {
        let mut refused = None;
        let mut any = false;
        // Threads that were made while others were being taken in are found by another round.
        loop {
            let before = self.all.len();
            let names = match host.list(Path::new(&format!("/proc/{pid}/task"))) {
                Ok(names) => names,
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            };
            for tid in names.iter().filter_map(|name| name.parse().ok()) {
                match self.take(host, pid, tid, None, false, journal) {
                    Ok(_) => any = true,
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

    /// Takes a thread in, unless it is already; a `guest` for nothing but what its program asks. One that a
    /// watched thread made has its maker's clamp, which is `inherited` and not its own. What it had, and is lent, is added to the journal; whether there is
    /// any. It is lent behind the journal, by [`Threads::lend`].
    pub fn take(
        &mut self,
        host: &dyn Host,
        pid: u32,
        tid: u32,
        inherited: Option<Inherited>,
        guest: bool,
        journal: &mut Journal,
    ) -> Result<bool, HostError> {
        if self.has(host, pid, tid)
            && let Some(at) = self.all.iter().position(|it| it.is(pid, tid))
        {
            let becomes = |thread: &mut Watched| std::mem::replace(&mut thread.guest, guest);
            let invited = !guest && self.all.get_mut(at).is_some_and(becomes);
            return Ok(invited && self.treat(host, at, journal));
        }
        let task = host.open_task(pid, tid)?;
        let now = host.least_utilization(&task)?;
        let own = match (&self.means, inherited) {
            (Means::Clamps | Means::Inside(_), Some(inherited)) => inherited.least,
            // No clamp is ours.
            (Means::Limits(_), _) | (_, None) => now,
        };
        let (treatment, inside) = match guest {
            true => (None, None),
            false => self.treatment(host, pid, tid),
        };
        let watch = host.watch_switches(&task, watched(treatment))?;
        // After the watch has begun: whatever it does from here on is in a record.
        let (identity, runs) = ThreadIdentity::read(host, pid, tid)?;
        let burst = Burst::new(runs, host.now());
        self.counts.threads += 1;
        if let (Some(kernel), Some(ramp)) = (self.means.inside_mut(), inside) {
            kernel.tag(identity, ramp)?;
        }
        let before = inherited.and_then(|inherited| inherited.share);
        let loan = self.loan(host, &task, treatment, before);
        let lent =
            loan.map(|Loan { before, wanted, .. }| Lent { thread: identity, before, set: wanted });
        journal.lent.extend(lent);
        let owned = (own > 0).then_some(Own { thread: identity, least: Some(own) });
        owned.into_iter().for_each(|own| journal.note(own));
        let since = host.now();
        self.all.push(Watched {
            task,
            watch,
            burst,
            own,
            now,
            floor: 0,
            treatment,
            inside,
            loan,
            since,
            asked: None,
            guest,
        });
        Ok(owned.is_some() || lent.is_some())
    }

    /// What the rules give a thread by its name and its process', and the ramp that the kernel follows.
    fn treatment(
        &self,
        host: &dyn Host,
        pid: u32,
        tid: u32,
    ) -> (Option<Treatment>, Option<ResponseRamp>) {
        let found = self.found(host, pid, tid);
        match (self.means.inside(), found) {
            (Some(_), Some(treatment)) => {
                (Some(Treatment { ramp: None, ..treatment }), treatment.ramp)
            }
            _ => (found, None),
        }
    }

    fn found(&self, host: &dyn Host, pid: u32, tid: u32) -> Option<Treatment> {
        if self.rules.is_uniform() {
            return self.rules.of("", "");
        }
        let name = |path: String| host.read(Path::new(&path)).unwrap_or_default();
        let process = name(format!("/proc/{pid}/comm"));
        let thread = name(format!("/proc/{pid}/task/{tid}/comm"));
        self.rules.of(process.trim_end_matches('\n'), thread.trim_end_matches('\n'))
    }

    /// Reads names again, where rules go by them; whether the journal changed.
    pub fn rename(&mut self, host: &dyn Host, journal: &mut Journal) -> bool {
        let now = host.now();
        let [young, all] = self.named;
        if self.rules.is_uniform() || now.since(young) < NAMES {
            return false;
        }
        let whole = now.since(all) >= YOUNG;
        self.named = [now, if whole { now } else { all }];
        let mut changed = false;
        for at in 0..self.all.len() {
            let Some(thread) = self.all.get(at) else { break };
            if !whole && now.since(thread.since) >= YOUNG {
                continue;
            }
            changed |= self.treat(host, at, journal);
        }
        changed
    }

    /// Gives the thread at this place what its program asks for, else what the rules give it now; whether the
    /// journal changed.
    fn treat(&mut self, host: &dyn Host, at: usize, journal: &mut Journal) -> bool {
        let Some(thread) = self.all.get(at) else { return false };
        let identity = thread.task.identity();
        let asked = thread.asked.as_ref().and_then(|asked| asked.treatment());
        let (treatment, inside) = match asked {
            Some(treatment) => (Some(treatment), None),
            None if thread.guest => (None, None),
            None => self.treatment(host, identity.pid, identity.tid),
        };
        let differs = |it: &&mut Watched| (it.treatment, it.inside) != (treatment, inside);
        let Some(thread) = self.all.get_mut(at).filter(differs) else { return false };
        if watched(thread.treatment) != watched(treatment) {
            // It keeps what it had where the new one is refused.
            let Ok(watch) = host.watch_switches(&thread.task, watched(treatment)) else {
                return false;
            };
            thread.watch = watch;
        }
        thread.treatment = treatment;
        thread.inside = inside;
        if let Some(kernel) = self.means.inside_mut() {
            // What is not tagged has no ramp: nothing to undo.
            let _ = match inside {
                Some(ramp) => kernel.tag(identity, ramp),
                None => kernel.untag(identity),
            };
        }
        let before = thread.loan.take().map(|loan| loan.before);
        // Out of its place: the rules are asked for it.
        let thread = self.all.swap_remove(at);
        let loan = self.loan(host, &thread.task, treatment, before);
        let lent =
            loan.map(|Loan { before, wanted, .. }| Lent { thread: identity, before, set: wanted });
        let lent = lent.filter(|lent| !journal.lent.contains(lent));
        journal.lent.extend(lent);
        self.all.push(Watched { loan, ..thread });
        let last = self.all.len() - 1;
        self.all.swap(at, last);
        lent.is_some()
    }

    pub fn leave_out(&mut self, error: &HostError) {
        self.counts.leave_out(error);
    }

    /// What a thread had before, where it is watched: its children have what it has now.
    pub fn before(&self, thread: ThreadIdentity) -> Inherited {
        let found = self.all.iter().find(|watched| watched.task.identity() == thread);
        found.map_or_else(Inherited::default, |watched| Inherited {
            least: watched.own,
            share: watched.loan.map(|loan| loan.before),
        })
    }

    /// Reads the records, and gives every thread the clamp of its ramp. Threads that another program
    /// gave one meanwhile are left alone from then on, and added to the journal as they are.
    ///
    /// # Errors
    /// A clamp that could not be set.
    pub fn look(&mut self, host: &dyn Host, journal: &mut Journal) -> Result<Look, HostError> {
        let mut look = Look::default();
        let mut failed = None;
        let Threads { all, records, counts, means, .. } = self;
        all.retain_mut(|thread| {
            records.clear();
            thread.watch.read(records);
            look.heard |= !records.is_empty();
            let mut ended = false;
            for record in records.iter() {
                thread.burst.take(*record);
                match record.what {
                    Switch::Made { pid, tid } => {
                        look.made.push((thread.task.identity(), pid, tid));
                    }
                    Switch::Ended => ended = true,
                    _ => {}
                }
            }
            if ended {
                thread.untag(means.inside());
                look.guests_left |= thread.guest;
                return false;
            }
            let starts = thread.burst.starts();
            counts.switches += u64::from(starts);
            // Read now and not before: the time since the record counts.
            let now = host.now();
            let work = thread.asked.as_mut().and_then(|asked| asked.work(now));
            if let Some((_, next)) = work {
                look.next = look.next.into_iter().chain([next]).min();
            }
            // Work counts whatever its thread does meanwhile.
            let ramp = thread.ramp().filter(|_| work.is_none());
            let step = match (work, ramp) {
                (Some((demand, _)), _) => ClampStep { demand: Some(demand), lasts: None },
                (None, Some(ramp)) => thread.burst.step(ramp, now),
                (None, None) => ClampStep::default(),
            };
            let demand = step.demand;
            let awake = ramp.is_some() && thread.burst.is_awake();
            let whole = awake && step.is_whole();
            // One with the whole clamp has nothing to grow to: its sleep is what is waited for.
            thread.watch.listen(if whole { Listen::ToSwitches } else { Listen::ToRuns });
            look.busy |= whole && starts > 0;
            if let Some(lasts) = step.lasts {
                // From now on and not from when the clamp is set: that takes a slow CPU a millisecond.
                look.next = look.next.into_iter().chain([now + lasts]).min();
                look.busy |= awake;
                look.lasts = look.lasts.into_iter().chain(awake.then_some(lasts)).min();
            }
            let treatment = thread.treatment.unwrap_or_default();
            if let Means::Limits(floors) = means {
                thread.raise(
                    host,
                    floors,
                    demand.map_or(0, |demand| treatment.clamp(Some(demand))),
                );
                let leaves = thread.is_left();
                look.guests_left |= leaves;
                return !leaves;
            }
            match thread.set(host, treatment.clamp(demand), counts) {
                Ok(true) => {
                    let leaves = thread.is_left();
                    look.guests_left |= leaves;
                    !leaves
                }
                Ok(false) => {
                    counts.foreign += 1;
                    journal.note(Own { thread: thread.task.identity(), least: None });
                    false
                }
                Err(error) if is_gone(&error) => {
                    look.guests_left |= thread.guest;
                    false
                }
                // Nothing of ours is there: its program asked for what this service may not give.
                Err(error) if thread.asked.is_some() && thread.now == thread.own => {
                    counts.leave_out(&error);
                    look.guests_left |= thread.guest;
                    thread.asked = None;
                    !thread.guest
                }
                Err(error) => {
                    failed = Some(error);
                    true
                }
            }
        });
        if let Means::Limits(floors) = means {
            match floors.tell() {
                Ok((raised, back)) => {
                    (counts.set, counts.removed) = (counts.set + raised, counts.removed + back)
                }
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(look), Err)
    }

    /// Drops the threads that have ended without a record of it; whether something is to be looked at again for that.
    pub fn drop_ended(&mut self, host: &dyn Host) -> bool {
        let Threads { all, means, .. } = self;
        let before = all.len();
        all.retain(|thread| {
            let alive = thread.task.is_alive(host);
            if !alive {
                thread.untag(means.inside());
            }
            alive
        });
        // A clamp ends with its thread; a limit does not.
        all.len() < before && matches!(means, Means::Limits(_))
    }

    /// Gives every thread what it had. Those are returned of which that is sure: what they have from
    /// here on is their own. And the limits, where they are what is raised: they are restored by their end.
    pub fn release(&mut self, host: &dyn Host) -> (Vec<Own>, Option<Box<Floors>>) {
        let mut sure = Vec::new();
        // With a program in the kernel, its ramps go.
        let floors = match std::mem::replace(&mut self.means, Means::Clamps) {
            Means::Limits(floors) => Some(floors),
            Means::Clamps | Means::Inside(_) => None,
        };
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
        (sure, floors)
    }
}

/// What of a thread's doings the controller has to know.
fn watched(treatment: Option<Treatment>) -> What {
    match treatment.and_then(|treatment| treatment.ramp) {
        Some(_) => What::Switches { every: ClampRamp::SHORTEST },
        None => What::Births,
    }
}

impl Watched {
    fn is(&self, pid: u32, tid: u32) -> bool {
        let thread = self.task.identity();
        (thread.pid, thread.tid) == (pid, tid)
    }

    /// A number that is given to another thread has no ramp inside of the kernel: it knows the start.
    fn untag(&self, kernel: Option<&KernelRamp>) {
        if let (Some(kernel), Some(_)) = (kernel, self.inside) {
            let _ = kernel.untag(self.task.identity());
        }
    }

    fn ramp(&self) -> Option<ResponseRamp> {
        self.treatment.and_then(|treatment| treatment.ramp)
    }

    /// Asks for it by the lower limit of the CPU on which the thread is.
    fn raise(&mut self, host: &dyn Host, floors: &mut Floors, demand: u32) {
        self.floor = demand;
        // Where it is takes a system call: nobody asks for one that has nothing.
        if let Some(cpu) = (demand > 0).then(|| cpu_of(host, &self.task)).flatten() {
            floors.ask(cpu, demand);
        }
    }

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

    fn ramped() -> Rules {
        Rules::all(Treatment::ramp(ResponseRamp::new(4)))
    }

    fn pass(host: &RecordedHost, ms: u64) {
        host.sleep_until(host.now() + Nanos::from_millis(ms)).unwrap();
    }

    #[test]
    fn what_another_program_sets_meanwhile_is_left_alone() {
        let host = machine();
        let mut journal = Journal::new(&host, Some(4)).unwrap();
        let mut threads = Threads::new(ramped(), Means::Clamps);
        assert!(threads.take_process(&host, 50, &mut journal).unwrap());
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
        let mut threads = Threads::new(ramped(), Means::Clamps);
        // It was made while its maker had a clamp of ours.
        let task = host.open_task(50, 51).unwrap();
        host.least_utilization_set(&task, Some(400)).unwrap();
        let mut journal = Journal::new(&host, Some(4)).unwrap();
        let inherited = Some(Inherited::default());
        assert!(!threads.take(&host, 50, 51, inherited, false, &mut journal).unwrap());
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
        let mut threads = Threads::new(ramped(), Means::Clamps);
        let mut journal = Journal::new(&host, Some(4)).unwrap();
        assert!(threads.take_process(&faulty, 50, &mut journal).unwrap());
        assert_eq!((threads.counts.threads, threads.counts.left_out), (1, 1));
        let all = flyball_host::FaultyHost::parse(std::sync::Arc::new(host), "open_task=EPERM");
        let mut none = Threads::new(ramped(), Means::Clamps);
        assert!(none.take_process(&all.unwrap(), 50, &mut journal).is_err());
    }
}
