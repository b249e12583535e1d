//! The fair run queue of one CPU: who waits on it, and the average of that.

use std::collections::{BTreeSet, HashMap};

use super::LAG_NS;
use flyball_governors::Domain;
use flyball_pelt::{ClockPelt, CpuSpeed, PeltMultiplier, QueueLoad, SchedAvg, frequency_scale};

use flyball_events::event::{Class, TaskRef};

/// Priorities from here on are fair tasks'.
const FAIR: i32 = 100;
/// Scale of frequencies and capacities.
const SCALE: u32 = 1024;

/// Who runs and who waits on a CPU.
#[derive(Debug)]
pub(super) struct Queue {
    domain: usize,
    /// At the highest frequency until a change tells.
    speed: CpuSpeed,
    /// None where utilisation is not frequency-invariant.
    highest_khz: Option<u64>,
    clock: ClockPelt,
    /// `runnable_avg` of this counts waiting tasks.
    average: SchedAvg,
    last_ns: Option<u64>,
    /// The running task, 0 for the idle loop; none where unknown.
    running: Option<u32>,
    /// Whether that is a real-time task.
    urgent: bool,
    /// Fair tasks that are enqueued.
    enqueued: BTreeSet<u32>,
    /// Real-time tasks that are enqueued.
    urgents: BTreeSet<u32>,
    /// Who left last, where that left nobody: an idle CPU keeps its upper clamp.
    last: Option<u32>,
    /// The utilisation of real-time tasks, calculated where no probe shows it.
    rt: SchedAvg,
    /// The same when the kernel last updated it.
    rt_seen: u32,
    /// What a probe shows of it, and of deadline tasks'.
    told: [Option<ClassTold>; 2],
    /// When the clock was last read, and how much of a period had passed.
    read: Option<(u64, u32)>,
    /// Since when a real-time task is awake, for which somebody has to give way.
    stands_since: Option<u64>,
}

/// What a probe showed of a class.
#[derive(Clone, Copy, Debug)]
struct ClassTold {
    t_ns: u64,
    /// The utilisation until then.
    before: u32,
    util: u32,
    contrib: Option<u32>,
}

fn is_urgent(task: TaskRef<'_>) -> bool {
    task.tid != 0 && task.priority.is_some_and(|own| (1..FAIR).contains(&own))
}

impl Queue {
    /// An empty queue of a CPU of domain number `number`, at the highest frequency until a change
    /// tells.
    pub fn new(number: usize, domain: &Domain) -> Queue {
        let highest_khz = domain.frequency_invariant.then(|| domain.opps.max().0);
        Queue {
            domain: number,
            speed: CpuSpeed { capacity: domain.capacity, frequency_scale: SCALE },
            highest_khz,
            clock: ClockPelt::starting_at(0, PeltMultiplier::X1),
            average: SchedAvg::starting_at(0),
            last_ns: None,
            running: None,
            urgent: false,
            enqueued: BTreeSet::new(),
            urgents: BTreeSet::new(),
            last: None,
            rt: SchedAvg::starting_at(0),
            rt_seen: 0,
            told: [None; 2],
            read: None,
            stands_since: None,
        }
    }

    /// Whether it executes a task.
    pub fn is_busy(&self) -> bool {
        self.running.is_some_and(|tid| tid != 0)
    }

    /// Whether a real-time task is runnable.
    pub fn is_urgent(&self) -> bool {
        !self.urgents.is_empty()
    }

    /// How many fair tasks are enqueued.
    pub fn fair(&self) -> usize {
        self.enqueued.len()
    }

    /// Whether it executes a real-time task.
    pub fn runs_urgent(&self) -> bool {
        self.urgent
    }

    /// Utilisation of real-time tasks, as old as the kernel's.
    pub fn rt(&self) -> u32 {
        self.told[Class::RealTime as usize].map_or(self.rt_seen, |told| told.util)
    }

    /// The same before it was updated for who gives the CPU up at `t_ns`: the kernel asks its governor first.
    pub fn rt_before(&self, t_ns: u64) -> u32 {
        let just_now = |at: u64| t_ns.saturating_sub(at) < LAG_NS;
        match self.told[Class::RealTime as usize] {
            Some(told) if just_now(told.t_ns) => told.before,
            _ => self.rt(),
        }
    }

    /// Utilisation of deadline tasks; 0 where no probe shows it.
    pub fn dl(&self) -> u32 {
        self.told[Class::Deadline as usize].map_or(0, |told| told.util)
    }

    /// A probe shows what a class used. Whether that of both was just brought up to date.
    pub fn tell(&mut self, t_ns: u64, class: Class, util: u32, contrib: Option<u32>) -> bool {
        let before = self.told[class as usize].map_or(0, |told| told.util);
        self.told[class as usize] = Some(ClassTold { t_ns, before, util, contrib });
        let rt = self.told[Class::RealTime as usize];
        class == Class::Deadline && rt.is_some_and(|rt| t_ns.saturating_sub(rt.t_ns) < LAG_NS)
    }

    /// Whether the real-time task that runs gives the CPU up, of which a switch tells only later: its class's signal and then the fair
    /// queue's are brought up to date at one time, and not the deadline tasks' between them.
    pub fn is_left(&self, t_ns: u64, contrib: Option<u32>) -> bool {
        let rt = self.told[Class::RealTime as usize];
        let dl = self.told[Class::Deadline as usize].map_or(0, |dl| dl.t_ns);
        let now = |rt: ClassTold| {
            let same = contrib.is_some() && rt.contrib == contrib;
            same && dl < rt.t_ns && t_ns.saturating_sub(rt.t_ns) < LAG_NS
        };
        self.urgent && self.urgents.len() < 2 && rt.is_some_and(now)
    }

    /// When the clock was read for an update of the fair queue: not again where as much of a period has passed as at the one before, nor
    /// between the wake-up of a real-time task and the switch to it.
    pub fn clock_of_update(&mut self, t_ns: u64, contrib: Option<u32>) -> u64 {
        let before = self.read.filter(|&(at, _)| t_ns.saturating_sub(at) < LAG_NS);
        let same = before.filter(|&(_, before)| contrib == Some(before)).map(|(at, _)| at);
        let stands = self.stands_since.filter(|&at| t_ns.saturating_sub(at) < LAG_NS);
        let at = stands.or(same).unwrap_or(t_ns);
        self.read = contrib.map(|contrib| (at, contrib));
        at
    }

    /// The kernel updates that utilisation now.
    pub fn see_rt(&mut self, t_ns: u64) {
        self.advance(t_ns);
        self.rt_seen = self.rt.util_avg();
    }

    /// The largest lower and upper clamp of its tasks; none where it has no task.
    pub fn clamps(&self, of: &HashMap<u32, (u32, u32)>) -> (u32, u32) {
        let own = |tid: &u32| of.get(tid).copied().unwrap_or((0, SCALE));
        let all = self.enqueued.iter().map(own);
        all.reduce(|(low, high), (min, max)| (low.max(min), high.max(max)))
            .unwrap_or_else(|| (0, self.last.map_or(SCALE, |tid| own(&tid).1)))
    }

    pub fn domain(&self) -> usize {
        self.domain
    }

    pub fn last_ns(&self) -> u64 {
        self.last_ns.unwrap_or(0)
    }

    /// Brings the average up to `t_ns`. A task that is woken on an idle CPU does not wait: the
    /// kernel skips the clock's update between the wake-up and the switch that follows.
    fn advance(&mut self, t_ns: u64) {
        let delta = t_ns.saturating_sub(self.last_ns.unwrap_or(t_ns));
        self.last_ns = Some(t_ns.max(self.last_ns()));
        let idle = matches!(self.running, None | Some(0));
        if idle {
            self.clock.advance_idle(delta);
        } else {
            self.clock.advance(delta, self.speed);
        }
        let running = self.running.is_some_and(|tid| self.enqueued.contains(&tid));
        let waiting = if idle { 0 } else { self.enqueued.len() - usize::from(running) };
        let runnable = waiting as u64;
        let load = runnable * u64::from(SCALE);
        self.average.update(self.clock.now(), QueueLoad { load, runnable, running: false });
        if self.urgent || !self.rt.is_zero() {
            self.rt.update_class(self.clock.now(), self.urgent);
        }
    }

    /// The average number of waiting tasks, times 1024.
    pub fn waiting(&mut self, t_ns: u64) -> u32 {
        self.advance(t_ns);
        u32::try_from(self.average.runnable_avg()).unwrap_or(u32::MAX)
    }

    pub fn frequency(&mut self, t_ns: u64, khz: u64) {
        self.advance(t_ns);
        if let Some(highest) = self.highest_khz {
            self.speed.frequency_scale = frequency_scale(khz, highest);
        }
    }

    pub fn switch(&mut self, t_ns: u64, prev: TaskRef<'_>, state: &[u8], next: TaskRef<'_>) {
        self.advance(t_ns);
        if state.first() == Some(&b'R') {
            self.enqueue(prev);
        } else {
            let left = self.enqueued.remove(&prev.tid) | self.urgents.remove(&prev.tid);
            if left && self.enqueued.is_empty() && self.urgents.is_empty() {
                self.last = Some(prev.tid);
            }
        }
        self.running = Some(next.tid);
        self.stands_since = None;
        // Priority 0 is that of the kernel's stopping threads, for which nobody asks a governor.
        self.urgent = is_urgent(next);
        if next.tid == 0 {
            self.enqueued.clear();
            self.urgents.clear();
            self.clock.enter_idle(0);
        } else {
            self.enqueue(next);
        }
    }

    fn enqueue(&mut self, task: TaskRef<'_>) {
        if task.tid != 0 && task.priority.is_some_and(|priority| priority >= FAIR) {
            self.enqueued.insert(task.tid);
        } else if is_urgent(task) {
            self.urgents.insert(task.tid);
        }
    }

    pub fn wake(&mut self, t_ns: u64, task: TaskRef<'_>) {
        self.advance(t_ns);
        if is_urgent(task) && self.is_busy() {
            self.stands_since.get_or_insert(t_ns);
        }
        self.enqueue(task);
    }

    /// A task moves away with the waiting that it did; whether it was enqueued.
    pub fn leave(&mut self, t_ns: u64, task: TaskRef<'_>, waited: u32) -> bool {
        self.advance(t_ns);
        self.average.set_runnable_avg(self.average.runnable_avg().saturating_sub(waited.into()));
        self.enqueued.remove(&task.tid)
    }

    /// A task arrives.
    pub fn join(&mut self, t_ns: u64, task: TaskRef<'_>, waited: u32, enqueued: bool) {
        self.advance(t_ns);
        self.average.set_runnable_avg(self.average.runnable_avg().saturating_add(waited.into()));
        if enqueued {
            self.enqueue(task);
        }
    }

    /// Events were lost: nobody knows who runs and who waits.
    pub fn forget(&mut self) {
        self.running = None;
        self.urgent = false;
        self.enqueued.clear();
        self.urgents.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::{CpuId, OppTable};

    const IDLE: TaskRef<'static> = TaskRef { name: b"swapper", tid: 0, priority: Some(120) };

    fn queue() -> Queue {
        let opps = OppTable::from_khz(&[1_000_000, 2_000_000]).unwrap();
        Queue::new(0, &Domain::new(vec![CpuId(0)], opps))
    }

    /// A half life at the highest frequency: half of 1024. It is seen only when the kernel updates it.
    #[test]
    fn real_time_tasks_have_a_utilisation() {
        let (mut queue, fifo) = (queue(), TaskRef { name: b"fifo", tid: 7, priority: Some(49) });
        queue.switch(1_000_000, fifo, b"S", IDLE);
        queue.wake(2_000_000, fifo);
        assert!(queue.is_urgent() && !queue.runs_urgent());
        queue.switch(2_000_000, IDLE, b"R", fifo);
        queue.switch(2_000_000 + 32 * 1_048_576, fifo, b"S", IDLE);
        assert_eq!((queue.rt(), queue.is_urgent()), (0, false));
        queue.see_rt(2_000_000 + 32 * 1_048_576);
        assert!(queue.rt().abs_diff(512) < 24, "{}", queue.rt());
    }

    /// A probe tells it: before the update for who gives the CPU up, the governor was asked with what there was.
    #[test]
    fn what_a_probe_tells_of_a_class_counts() {
        let (mut queue, fifo) = (queue(), TaskRef { name: b"fifo", tid: 7, priority: Some(49) });
        assert!(!queue.tell(1_000_000, Class::RealTime, 150, Some(10)));
        assert!(queue.tell(1_010_000, Class::Deadline, 3, Some(10)), "both");
        assert_eq!((queue.rt(), queue.dl()), (150, 3));
        queue.switch(2_000_000, IDLE, b"R", fifo);
        queue.tell(3_000_000, Class::RealTime, 200, Some(99));
        assert!(queue.is_left(3_020_000, Some(99)) && !queue.is_left(3_020_000, Some(98)));
        assert_eq!((queue.rt_before(3_050_000), queue.rt_before(4_000_000)), (150, 200));
    }

    /// The clock is not read again where no more of a period has passed, nor before a switch to a real-time task that was woken.
    #[test]
    fn two_updates_may_have_one_reading() {
        let (mut queue, fifo) = (queue(), TaskRef { name: b"fifo", tid: 7, priority: Some(49) });
        let fair = TaskRef { name: b"fair", tid: 8, priority: Some(120) };
        assert_eq!(queue.clock_of_update(1_000_000, Some(5)), 1_000_000);
        assert_eq!(queue.clock_of_update(1_080_000, Some(5)), 1_000_000);
        assert_eq!(queue.clock_of_update(1_160_000, Some(6)), 1_160_000);
        queue.switch(2_000_000, IDLE, b"R", fair);
        queue.wake(3_000_000, fifo);
        assert_eq!(queue.clock_of_update(3_060_000, Some(7)), 3_000_000);
        assert_eq!(queue.clock_of_update(7_000_000, Some(9)), 7_000_000, "it has to wait");
        queue.switch(3_070_000, fair, b"R", fifo);
        assert_eq!(queue.clock_of_update(3_900_000, Some(8)), 3_900_000);
    }

    #[test]
    fn an_idle_cpu_keeps_its_upper_clamp() {
        let clamps = HashMap::from([(7, (300, 600))]);
        let (mut queue, fair) = (queue(), TaskRef { name: b"fair", tid: 7, priority: Some(120) });
        assert_eq!(queue.clamps(&clamps), (0, 1024));
        queue.wake(1_000_000, fair);
        assert_eq!((queue.clamps(&clamps), queue.fair()), ((300, 600), 1));
        queue.switch(1_000_000, IDLE, b"R", fair);
        queue.switch(2_000_000, fair, b"S", IDLE);
        assert_eq!(queue.clamps(&clamps), (0, 600));
    }
}
