//! A side's recordings as units of resampling: whole recordings where there are several, else the one's
//! repetitions, else equal blocks of its time.

use std::collections::BTreeMap;

use flyball_events::Recording;

use super::super::events::numbers;
use super::super::source::Context;

/// Blocks that a recording is cut into: enough for an interval, and neighbours can still be joined
/// where they resemble each other.
const BLOCKS: u64 = 24;
/// Least length of a block, ns: the slowest tick is 10 ms, and a block without an event tells nothing.
const LEAST_NS: u64 = 10_000_000;
/// Repetitions from which on they are the units.
const REPETITIONS: usize = 3;

/// What a unit is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum UnitKind {
    /// A run, with all of its repetitions: they resemble each other more than another run.
    Recording,
    /// A repetition within the only run.
    Repetition,
    /// A stretch of the only run's time.
    #[default]
    Block,
}

/// What one unit holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Unit {
    /// Its length.
    pub length_ns: u64,
    /// Time at each frequency in kHz, per clock domain.
    pub frequency: BTreeMap<String, BTreeMap<u64, u64>>,
    /// Running time on each kind of core: of all tasks, and of the task that is looked at.
    pub cores: [BTreeMap<String, u64>; 2],
    /// Wake-up latencies in ns: of all tasks, and of the task that is looked at.
    pub wakeups: [Vec<f64>; 2],
    /// Latencies of work items in ns, per task.
    pub items: BTreeMap<String, Vec<f64>>,
    /// How often a task ran on another CPU than before.
    pub migrations: u64,
}

/// All units of one side, and what they must have in common with the other's.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// In order of time, or of the repetitions.
    pub units: Vec<Unit>,
    /// What they are.
    pub kind: UnitKind,
    /// Mean length of a recording, ns.
    pub length_ns: u64,
    /// Running time per task's name, ns.
    pub tasks: BTreeMap<String, u64>,
    /// Share of the CPUs' time in which events were lost, 0 to 1.
    pub lost: f64,
}

impl Units {
    /// Each run as one unit; `task` is looked at on its own.
    pub(super) fn of_recordings(contexts: &[&Context<'_>], task: Option<&str>) -> Units {
        let mut all = Units { kind: UnitKind::Recording, ..Units::default() };
        let count = contexts.len().max(1) as f64;
        let mut length = 0.0;
        for context in contexts {
            let one = Units::of_one(context, task);
            all.units.push(one.units.into_iter().fold(Unit::default(), Unit::and));
            length += one.length_ns as f64 / count;
            for (name, ns) in one.tasks {
                *all.tasks.entry(name).or_default() += ns;
            }
            all.lost += one.lost / count;
        }
        all.length_ns = length as u64;
        all
    }

    /// Cuts a run into its repetitions, or into blocks where it has too few of them.
    pub(super) fn of_one(context: &Context<'_>, task: Option<&str>) -> Units {
        let (tables, manifest) = (&context.run.tables, &context.run.manifest);
        let trials = numbers(tables);
        let recordings: Vec<Recording<'_>> =
            trials.iter().map(|trial| Recording::new(tables, manifest, *trial)).collect();
        let kind = match trials.len() >= REPETITIONS {
            true => UnitKind::Repetition,
            false => UnitKind::Block,
        };
        let mut found = Units { kind, ..Units::default() };
        let (mut length, mut lost, mut cpu_time) = (0_u64, 0_u64, 0_u64);
        for recording in &recordings {
            let own = recording.span().length_ns();
            length = length.saturating_add(own);
            let cpus: Vec<u32> = recording.topology().cpus().map(|cpu| cpu.cpu).collect();
            let span = recording.span();
            for &cpu in &cpus {
                lost += recording.gaps().overlap_ns(Some(cpu), span.from_ns, span.to_ns);
                cpu_time = cpu_time.saturating_add(own);
            }
            if cpus.is_empty() {
                lost += recording.gaps().overlap_ns(None, span.from_ns, span.to_ns);
                cpu_time = cpu_time.saturating_add(own);
            }
            let blocks = match kind {
                UnitKind::Block => (own / LEAST_NS).clamp(1, BLOCKS),
                _ => 1,
            };
            let cut = Cut { from_ns: span.from_ns, length_ns: own.max(1), blocks };
            found.units.extend(cut.units(recording, task, &mut found.tasks));
        }
        found.length_ns = length / (recordings.len() as u64).max(1);
        found.lost = lost as f64 / (cpu_time.max(1)) as f64;
        found
    }
}

impl Unit {
    /// Both as one.
    fn and(mut self, other: Unit) -> Unit {
        fn add(into: &mut BTreeMap<String, u64>, from: BTreeMap<String, u64>) {
            for (name, ns) in from {
                *into.entry(name).or_default() += ns;
            }
        }
        self.length_ns += other.length_ns;
        self.migrations += other.migrations;
        for (domain, levels) in other.frequency {
            let own = self.frequency.entry(domain).or_default();
            for (khz, ns) in levels {
                *own.entry(khz).or_default() += ns;
            }
        }
        for (own, others) in self.cores.iter_mut().zip(other.cores) {
            add(own, others);
        }
        for (own, others) in self.wakeups.iter_mut().zip(other.wakeups) {
            own.extend(others);
        }
        for (task, others) in other.items {
            self.items.entry(task).or_default().extend(others);
        }
        self
    }
}

/// Equal blocks of a stretch of time.
struct Cut {
    from_ns: u64,
    length_ns: u64,
    blocks: u64,
}

impl Cut {
    /// The block of a time.
    fn block(&self, t_ns: u64) -> usize {
        let since = u128::from(t_ns.saturating_sub(self.from_ns));
        let at = since * u128::from(self.blocks) / u128::from(self.length_ns);
        at.min(u128::from(self.blocks) - 1) as usize
    }

    /// Where a block begins.
    fn begin(&self, block: usize) -> u64 {
        let since = u128::from(self.length_ns) * block as u128;
        self.from_ns + since.div_ceil(u128::from(self.blocks)) as u64
    }

    /// Calls `each` with every block that `from` to `to` touches, and the time in it.
    fn split(&self, from_ns: u64, to_ns: u64, mut each: impl FnMut(usize, u64)) {
        for block in self.block(from_ns)..=self.block(to_ns) {
            let last = block as u64 + 1 == self.blocks;
            let end = if last { to_ns } else { self.begin(block + 1) };
            let (begin, end) = (self.begin(block).max(from_ns), end.min(to_ns));
            if begin < end {
                each(block, end - begin);
            }
        }
    }

    fn units(
        &self,
        recording: &Recording<'_>,
        task: Option<&str>,
        tasks: &mut BTreeMap<String, u64>,
    ) -> Vec<Unit> {
        let unit = |block| {
            let end = self.begin(block + 1);
            Unit { length_ns: end - self.begin(block), ..Unit::default() }
        };
        let mut units: Vec<Unit> = (0..self.blocks as usize).map(unit).collect();
        let wanted = task.and_then(|task| recording.find(task).ok()).map(|task| task.tid);
        self.running(recording, wanted, &mut units, tasks);
        let span = recording.span();
        for domain in recording.domains() {
            for segment in recording.frequency(&domain).segments(span.from_ns, span.to_ns) {
                let Some(khz) = segment.value else { continue };
                self.split(segment.from_ns, segment.to_ns, |block, ns| {
                    let levels = units[block].frequency.entry(domain.clone()).or_default();
                    *levels.entry(khz).or_default() += ns;
                });
            }
        }
        // A latency below the clock's step is one step: figures are compared on their logarithm.
        let latency = |from: u64, to: u64| to.saturating_sub(from).max(1) as f64;
        for woken in recording.wakeups() {
            let Some(ran) = woken.ran_ns else { continue };
            if recording.gaps().touch(woken.t_ns, ran) {
                continue;
            }
            let unit = &mut units[self.block(woken.t_ns)];
            unit.wakeups[0].push(latency(woken.t_ns, ran));
            if wanted == Some(woken.tid) {
                unit.wakeups[1].push(latency(woken.t_ns, ran));
            }
        }
        for item in recording.items() {
            let Some(ended) = item.ended_ns else { continue };
            let unit = &mut units[self.block(item.released_ns)];
            let name = recording.task(item.tid).name;
            unit.items.entry(name).or_default().push(latency(item.released_ns, ended));
        }
        units
    }

    /// Who ran where: time per kind of core, moves, time per task.
    fn running(
        &self,
        recording: &Recording<'_>,
        wanted: Option<u32>,
        units: &mut [Unit],
        tasks: &mut BTreeMap<String, u64>,
    ) {
        let names: BTreeMap<u32, String> =
            recording.tasks().map(|task| (task.tid, family(&task.name))).collect();
        let mut slices: Vec<_> = recording.slices().collect();
        slices.sort_by_key(|ran| ran.from_ns);
        let mut cores = BTreeMap::<u32, String>::new();
        let mut last_cpu = BTreeMap::<u32, u32>::new();
        for ran in slices {
            let core = cores.entry(ran.cpu).or_insert_with(|| {
                let known = recording.topology().core_type(ran.cpu);
                known.unwrap_or_else(|| "cores of unknown type".to_owned())
            });
            self.split(ran.from_ns, ran.to_ns, |block, ns| {
                let unit = &mut units[block];
                *unit.cores[0].entry(core.clone()).or_default() += ns;
                if wanted == Some(ran.tid) {
                    *unit.cores[1].entry(core.clone()).or_default() += ns;
                }
            });
            if last_cpu.insert(ran.tid, ran.cpu).is_some_and(|cpu| cpu != ran.cpu) {
                units[self.block(ran.from_ns)].migrations += 1;
            }
            if let Some(name) = names.get(&ran.tid) {
                *tasks.entry(name.clone()).or_default() += ran.length_ns();
            }
        }
    }
}

/// The kernel's threads of one kind are one task to a comparison: `kworker/0:1` is `kworker`.
fn family(name: &str) -> String {
    let kernel = ["kworker", "ksoftirqd", "migration", "cpuhp", "rcuop", "rcuog", "swapper", "irq"];
    let stem = name.split(['/', ':', '-']).next().unwrap_or(name);
    match kernel.contains(&stem) {
        true => stem.to_owned(),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_share_the_time_without_a_hole() {
        let cut = Cut { from_ns: 1000, length_ns: 1001, blocks: 7 };
        for (from, to) in [(1000, 2001), (1000, 1001), (1142, 1144), (1999, 2001), (1500, 1500)] {
            let mut sum = 0;
            cut.split(from, to, |block, ns| {
                assert!(block < 7);
                sum += ns;
            });
            assert_eq!(sum, to - from, "{from} to {to}");
        }
        for block in 0..7 {
            assert_eq!(cut.block(cut.begin(block)), block);
            assert_eq!(cut.block(cut.begin(block + 1) - 1), block);
        }
    }

    #[test]
    fn kernel_threads_of_one_kind_are_one_task() {
        assert_eq!(family("kworker/0:1H"), "kworker");
        assert_eq!(family("irq/24-nvme"), "irq");
        assert_eq!(family("my-program"), "my-program");
    }
}
