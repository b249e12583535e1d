//! Whether the load ran: what each load thread and each CPU did, second by second.
//!
//! A published result said "the load had no effect"; nothing in its data shows that it ran. Here
//! every load is judged by the CPU time that the kernel accounts to its threads, and a load that
//! did not run fails its condition.

use super::Profile;
use super::place::{Placement, Slot};
use flyball_host::CpuTimes;
use flyball_run::LoadSample;
use flyball_units::{CpuId, CpuSet, Nanos};
use std::fmt;

/// What a proof demands of each load thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// How far the mean may lie from what was wanted, in percent of one CPU.
    pub mean_points: f64,
    /// Share of the wanted load that no whole second may fall below.
    pub floor: f64,
}

impl Default for Tolerance {
    /// The mean within 5 points, and no second below half.
    fn default() -> Tolerance {
        Tolerance { mean_points: 5.0, floor: 0.5 }
    }
}

/// An interval shorter than this is not judged on its own, only as part of the mean.
const WHOLE: Nanos = Nanos::from_millis(500);

/// One CPU in one interval of about a second: a row of the table `load`.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadRow {
    /// End of the interval, CLOCK_MONOTONIC.
    pub end: Nanos,
    /// Its length.
    pub interval: Nanos,
    /// The CPU.
    pub cpu: CpuId,
    /// Load asked for, percent of this CPU; of an unpinned thread an equal share on each CPU.
    pub wanted: f64,
    /// CPU time of the load threads on this CPU, percent.
    pub achieved: f64,
    /// All that ran on it, percent; from /proc/stat, so good to about a point over a second.
    pub busy: Option<f64>,
    /// What the hypervisor took, percent.
    pub steal: Option<f64>,
    /// Where the achieved figure comes from.
    pub source: &'static str,
}

impl LoadRow {
    /// The row of the run's table.
    pub fn sample(&self, condition: &str, trial: Option<u32>) -> LoadSample {
        LoadSample {
            t_ns: self.end.0,
            interval_ns: self.interval.0,
            condition: condition.to_owned(),
            trial,
            cpu: self.cpu.0,
            wanted_percent: self.wanted,
            achieved_percent: self.achieved,
            busy_percent: self.busy,
            steal_percent: self.steal,
            source: self.source.to_owned(),
        }
    }
}

/// The clocks of one load thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadReading {
    /// CPU time so far.
    pub cpu_time: Nanos,
    /// Time spent ready, waiting for a CPU; none where the kernel does not say.
    pub waited: Option<Nanos>,
    /// CPU time by CPU. Only its proportions matter; nothing where they are not known.
    pub by_cpu: Vec<(CpuId, Nanos)>,
}

/// All clocks at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// When, CLOCK_MONOTONIC.
    pub at: Nanos,
    /// One entry for each slot of the placement.
    pub threads: Vec<ThreadReading>,
    /// /proc/stat; none where it can't be read.
    pub machine: Option<CpuTimes>,
}

/// One load thread over the whole time.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadProof {
    /// Where it was allowed to run.
    pub cpus: CpuSet,
    /// Load asked for, percent of one CPU.
    pub wanted: f64,
    /// Mean, percent of one CPU.
    pub achieved: f64,
    /// The lowest interval of at least half a second, percent; none if there was no such interval.
    pub lowest: Option<f64>,
    /// Share of the time that it was ready, but something else had the CPU, percent.
    pub waited: Option<f64>,
}

/// One CPU over the whole time.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuProof {
    /// The CPU.
    pub cpu: CpuId,
    /// Load asked for, percent of it.
    pub wanted: f64,
    /// Mean of the load threads, percent.
    pub achieved: f64,
    /// Mean of all that ran on it, percent.
    pub busy: Option<f64>,
    /// Mean of what the hypervisor took, percent.
    pub steal: Option<f64>,
}

/// Why a load counts as not having run as asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Shortfall {
    /// Less than half a second was observed.
    TooShort(Nanos),
    /// A thread's mean is off.
    Mean {
        /// Number of the thread.
        thread: usize,
        /// The thread.
        proof: ThreadProof,
        /// How far off it might have been, in points.
        tolerance: f64,
    },
    /// A thread fell far below what was wanted for a whole second.
    Second {
        /// Number of the thread.
        thread: usize,
        /// The thread.
        proof: ThreadProof,
        /// The lowest that would have been accepted, percent.
        floor: f64,
    },
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waited = |proof: &ThreadProof| match proof.waited {
            Some(waited) if waited >= 1.0 => {
                format!(" (ready but without a CPU for {waited:.0} % of the time)")
            }
            _ => String::new(),
        };
        match self {
            Shortfall::TooShort(length) => {
                write!(
                    f,
                    "observed for {:.3} s only; expected at least 0.5 s",
                    length.as_secs_f64()
                )
            }
            Shortfall::Mean { thread, proof, tolerance } => write!(
                f,
                "thread {thread} on CPUs {}: expected {:.0} +- {tolerance:.0} %, found {:.1} % on average{}",
                proof.cpus,
                proof.wanted,
                proof.achieved,
                waited(proof)
            ),
            Shortfall::Second { thread, proof, floor } => write!(
                f,
                "thread {thread} on CPUs {}: expected at least {floor:.0} % in every second, found {:.1} % in one{}",
                proof.cpus,
                proof.lowest.unwrap_or_default(),
                waited(proof)
            ),
        }
    }
}

/// The proof that a load ran, or that it did not.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadProof {
    /// What was asked for.
    pub profile: Profile,
    /// The time observed.
    pub observed: Nanos,
    /// One row per CPU and interval, in order of time.
    pub rows: Vec<LoadRow>,
    /// One entry per load thread.
    pub threads: Vec<ThreadProof>,
    /// One entry per CPU of the machine.
    pub cpus: Vec<CpuProof>,
    /// What was demanded.
    pub tolerance: Tolerance,
    /// Whether the load ran as asked.
    pub proven: bool,
    /// Why not; empty where it is proven.
    pub why: Vec<Shortfall>,
    /// Decisions and remarks worth keeping in the run's notes.
    pub notes: Vec<String>,
}

impl LoadProof {
    /// The proof itself, or the error that fails the condition.
    pub fn require(self) -> Result<LoadProof, super::LoadError> {
        if self.proven { Ok(self) } else { Err(super::LoadError::NotProven(Box::new(self))) }
    }

    /// Whether it was observed too briefly to be judged.
    pub fn is_too_short(&self) -> bool {
        self.why.iter().any(|why| matches!(why, Shortfall::TooShort(_)))
    }

    /// What may have kept the load from running.
    pub fn hint(&self) -> Option<String> {
        let steal = self.cpus.iter().filter_map(|cpu| cpu.steal).fold(0.0, f64::max);
        let waited = self.threads.iter().filter_map(|thread| thread.waited).fold(0.0, f64::max);
        match () {
            () if self.proven => None,
            () if self.is_too_short() => Some("let it run for at least a second".to_owned()),
            () if steal >= 2.0 => Some(format!(
                "the hypervisor took up to {steal:.0} % of a CPU: use a quieter host or dedicated CPUs"
            )),
            () if waited >= 2.0 => Some(
                "other programs wanted the same CPUs: stop them, or ask for a load that fits beside them, such \
                 as half of one CPU: load = \"cpu=1,50%\""
                    .to_owned(),
            ),
            () => None,
        }
    }
}

/// Turns readings into rows and, in the end, into a proof.
#[derive(Clone, Debug)]
pub struct Recorder {
    placement: Placement,
    source: Vec<&'static str>,
    cpus: Vec<CpuId>,
    first: Reading,
    last: Reading,
    lowest: Vec<Option<f64>>,
    rows: Vec<LoadRow>,
}

impl Recorder {
    /// Starts at `first`. `usable` are the CPUs to report on; `source` says for each slot where
    /// its figures come from.
    pub fn new(
        placement: Placement,
        usable: &CpuSet,
        source: Vec<&'static str>,
        first: Reading,
    ) -> Recorder {
        let lowest = vec![None; placement.slots.len()];
        let cpus = usable.iter().collect();
        Recorder { placement, source, cpus, last: first.clone(), first, lowest, rows: Vec::new() }
    }

    /// Adds the interval since the last reading; returns its rows, one per CPU. An empty interval
    /// gives none.
    pub fn add(&mut self, reading: Reading) -> &[LoadRow] {
        let interval = reading.at.since(self.last.at);
        if interval == Nanos::ZERO {
            return &[];
        }
        let from = self.rows.len();
        for &cpu in &self.cpus {
            let row = self.row(cpu, &self.last, &reading);
            self.rows.push(row);
        }
        if interval >= WHOLE {
            for (index, lowest) in self.lowest.iter_mut().enumerate() {
                let share = percent(used(index, &self.last, &reading), interval);
                *lowest = Some(lowest.map_or(share, |lowest: f64| lowest.min(share)));
            }
        }
        self.last = reading;
        &self.rows[from..]
    }

    /// Number of rows so far.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Judges all that was added. `others` is the share of all CPUs, 0 to 1, that was taken by anything but
    /// the load and what is measured, where that is known.
    pub fn finish(self, profile: Profile, tolerance: Tolerance, others: Option<f64>) -> LoadProof {
        let observed = self.last.at.since(self.first.at);
        let threads: Vec<ThreadProof> =
            self.placement.slots.iter().enumerate().map(|(i, slot)| self.thread(i, slot)).collect();
        let cpus = self.cpus.iter().map(|&cpu| {
            let whole = self.row(cpu, &self.first, &self.last);
            let LoadRow { wanted, achieved, busy, steal, .. } = whole;
            CpuProof { cpu, wanted, achieved, busy, steal }
        });
        let cpus: Vec<CpuProof> = cpus.collect();
        let why = judge(&threads, observed, tolerance, others);
        let mut notes = self.placement.notes.clone();
        notes.extend(cpus.iter().filter_map(busy_with_others));
        let squeezed = threads.iter().filter(|thread| gave_way(thread, tolerance, others));
        notes.extend(squeezed.map(|thread| {
            format!(
                "load: {:.0} % on CPUs {} instead of {:.0} %: it was ready all the time, and what it lacks the \
                 measured work had",
                thread.achieved, thread.cpus, thread.wanted
            )
        }));
        LoadProof {
            profile,
            observed,
            proven: why.is_empty(),
            why,
            threads,
            cpus,
            tolerance,
            notes,
            rows: self.rows,
        }
    }

    fn thread(&self, index: usize, slot: &Slot) -> ThreadProof {
        let observed = self.last.at.since(self.first.at);
        let waited =
            |reading: &Reading| reading.threads.get(index).and_then(|thread| thread.waited);
        ThreadProof {
            cpus: slot.cpus.clone(),
            wanted: f64::from(slot.percent),
            achieved: percent(used(index, &self.first, &self.last), observed),
            lowest: self.lowest.get(index).copied().flatten(),
            waited: waited(&self.last)
                .zip(waited(&self.first))
                .map(|(last, first)| percent(last.since(first), observed)),
        }
    }

    /// One CPU between two readings.
    fn row(&self, cpu: CpuId, from: &Reading, to: &Reading) -> LoadRow {
        let interval = to.at.since(from.at);
        let achieved: f64 = (0..self.placement.slots.len())
            .map(|index| {
                percent(used(index, from, to), interval) * self.share(index, cpu, from, to)
            })
            .sum();
        let machine = machine(cpu, from, to);
        let mut sources: Vec<&str> = self.source.clone();
        sources.dedup();
        LoadRow {
            end: to.at,
            interval,
            cpu,
            wanted: self.placement.wanted_on(cpu),
            achieved,
            busy: machine.map(|(busy, _)| busy),
            steal: machine.map(|(_, steal)| steal),
            source: match sources.as_slice() {
                [] => "no load",
                [source] => source,
                _ => "several generators",
            },
        }
    }

    /// Which part of a thread's CPU time between two readings fell on `cpu`, 0 to 1.
    fn share(&self, index: usize, cpu: CpuId, from: &Reading, to: &Reading) -> f64 {
        let Some(slot) = self.placement.slots.get(index).filter(|slot| slot.cpus.contains(cpu))
        else {
            return 0.0;
        };
        if slot.cpus.len() == 1 {
            return 1.0;
        }
        let on = |reading: &Reading, which: Option<CpuId>| -> u64 {
            let by_cpu = reading.threads.get(index).map(|thread| thread.by_cpu.as_slice());
            let by_cpu = by_cpu.unwrap_or_default().iter();
            by_cpu
                .filter(|(id, _)| which.is_none_or(|cpu| cpu == *id))
                .map(|(_, time)| time.0)
                .sum()
        };
        let all = on(to, None).saturating_sub(on(from, None));
        let here = on(to, Some(cpu)).saturating_sub(on(from, Some(cpu)));
        if all == 0 { 0.0 } else { here as f64 / all as f64 }
    }
}

/// CPU time of a slot's thread between two readings.
fn used(index: usize, from: &Reading, to: &Reading) -> Nanos {
    match (from.threads.get(index), to.threads.get(index)) {
        (Some(from), Some(to)) => to.cpu_time.since(from.cpu_time),
        _ => Nanos::ZERO,
    }
}

/// Busy and steal of a CPU between two readings, percent of the time that /proc/stat accounts
/// for. None where it is not there, or no tick has passed.
fn machine(cpu: CpuId, from: &Reading, to: &Reading) -> Option<(f64, f64)> {
    let spent = to.machine.as_ref()?.of(cpu)?.since(from.machine.as_ref()?.of(cpu)?);
    let all = spent.total() as f64;
    (all > 0.0).then(|| (spent.busy() as f64 * 100.0 / all, spent.steal as f64 * 100.0 / all))
}

fn percent(part: Nanos, whole: Nanos) -> f64 {
    if whole == Nanos::ZERO { 0.0 } else { part.0 as f64 * 100.0 / whole.0 as f64 }
}

/// Whether a thread fell short because it left the CPU to what is measured: it was ready for as long
/// as it fell short, and nobody else took more than the tolerance. That is what a load on the same CPU does,
/// and no load that is missing.
fn gave_way(thread: &ThreadProof, tolerance: Tolerance, others: Option<f64>) -> bool {
    let short = thread.wanted - thread.achieved;
    short > tolerance.mean_points
        && others.is_some_and(|share| 100.0 * share <= tolerance.mean_points)
        && thread.waited.is_some_and(|waited| waited + tolerance.mean_points >= short)
}

/// Holds each thread against the tolerance.
fn judge(
    threads: &[ThreadProof],
    observed: Nanos,
    tolerance: Tolerance,
    others: Option<f64>,
) -> Vec<Shortfall> {
    if threads.is_empty() {
        return Vec::new(); // idle: there is nothing to prove
    }
    if observed < WHOLE {
        return vec![Shortfall::TooShort(observed)];
    }
    let mut why = Vec::new();
    for (thread, proof) in threads.iter().enumerate() {
        let off = (proof.achieved - proof.wanted).abs() > tolerance.mean_points;
        if off && !gave_way(proof, tolerance, others) {
            let (proof, tolerance) = (proof.clone(), tolerance.mean_points);
            why.push(Shortfall::Mean { thread, proof, tolerance });
            continue;
        }
        let floor = proof.wanted * tolerance.floor;
        if proof.lowest.is_some_and(|lowest| lowest < floor) {
            why.push(Shortfall::Second { thread, proof: proof.clone(), floor });
        }
    }
    why
}

/// A remark where other work took a good part of a CPU.
fn busy_with_others(cpu: &CpuProof) -> Option<String> {
    let others = cpu.busy? - cpu.achieved;
    (others >= 10.0).then(|| {
        format!(
            "{}: work other than the load took {others:.0} % of it (the measured workload included)",
            cpu.cpu
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::place::Site;
    use super::*;
    use flyball_host::CpuTime;
    use flyball_units::Diagnostic;

    fn site() -> Site {
        Site { usable: "0-1".parse().unwrap(), measured: CpuSet::new() }
    }

    /// Readings one second apart; `used` gives the milliseconds of each thread in each second.
    fn prove(profile: &str, used: &[&[u64]], waited_ms: u64) -> LoadProof {
        prove_beside(profile, used, waited_ms, None)
    }

    fn prove_beside(
        profile: &str,
        used: &[&[u64]],
        waited_ms: u64,
        others: Option<f64>,
    ) -> LoadProof {
        let profile: Profile = profile.parse().unwrap();
        let placement = Placement::of(&profile, &site()).unwrap();
        let threads = placement.slots.len();
        let source = vec!["test"; threads];
        let reading = |second: usize| Reading {
            at: Nanos::from_secs(10 + second as u64),
            threads: (0..threads)
                .map(|index| ThreadReading {
                    cpu_time: Nanos::from_millis(
                        used[..second].iter().map(|used| used[index]).sum(),
                    ),
                    waited: Some(Nanos::from_millis(waited_ms * second as u64)),
                    by_cpu: vec![
                        (CpuId(0), Nanos::from_millis(300 * second as u64)),
                        (CpuId(1), Nanos::from_millis(100 * second as u64)),
                    ],
                })
                .collect(),
            machine: Some(CpuTimes {
                user_hz: 100,
                cpus: (0..2)
                    .map(|cpu| {
                        let user = 60 * second as u64;
                        let (idle, steal) = (35 * second as u64, 5 * second as u64);
                        (CpuId(cpu), CpuTime { user, idle, steal, ..CpuTime::default() })
                    })
                    .collect(),
                running: None,
            }),
        };
        let mut recorder = Recorder::new(placement, &site().usable, source, reading(0));
        for second in 1..=used.len() {
            assert_eq!(recorder.add(reading(second)).len(), 2);
        }
        recorder.finish(profile, Tolerance::default(), others)
    }

    #[test]
    fn a_load_that_gave_way_to_the_measured_work_is_proven() {
        let used: &[&[u64]] = &[&[700], &[720]];
        let proof = prove_beside("cpu=1,90%", used, 200, Some(0.03));
        assert!(proof.proven, "{:?}", proof.why);
        let told = "load: 71 % on CPUs 1 instead of 90 %: it was ready all the time";
        assert!(proof.notes.iter().any(|note| note.starts_with(told)), "{:?}", proof.notes);
        // Others had the CPU, nobody knows who had it, or the load was not ready.
        assert!(!prove_beside("cpu=1,90%", used, 200, Some(0.08)).proven);
        assert!(!prove_beside("cpu=1,90%", used, 200, None).proven);
        assert!(!prove_beside("cpu=1,90%", used, 100, Some(0.0)).proven);
        // In one second it hardly ran.
        assert!(!prove_beside("cpu=1,90%", &[&[1000], &[1000], &[400]], 300, Some(0.0)).proven);
    }

    #[test]
    fn a_load_that_ran_is_proven() {
        let proof = prove("1x50%", &[&[490], &[520], &[500]], 0);
        assert!(proof.proven, "{:?}", proof.why);
        assert_eq!(proof.rows.len(), 6);
        let first = &proof.rows[0];
        assert_eq!((first.cpu, first.wanted), (CpuId(0), 25.0));
        assert!((first.achieved - 49.0 * 0.75).abs() < 1e-9);
        assert_eq!((first.busy, first.steal), (Some(60.0), Some(5.0)));
        assert!((proof.cpus[0].achieved + proof.cpus[1].achieved - 50.333).abs() < 1e-2);
        assert_eq!(proof.threads[0].lowest, Some(49.0));
        assert!(
            proof
                .notes
                .iter()
                .any(|note| note.starts_with("cpu1: work other than the load took 47 %"))
        );
    }

    #[test]
    fn a_load_that_did_not_run_is_refused_with_its_figures() {
        let proof = prove("cpu=1,90%", &[&[600], &[620]], 300);
        assert!(!proof.proven);
        let error = proof.require().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the load did not run as asked: thread 0 on CPUs 1: expected 90 +- 5 %, found 61.0 % on \
             average (ready but without a CPU for 30 % of the time)"
        );
        assert!(error.hint().unwrap().contains("hypervisor"));
    }

    #[test]
    fn one_bad_second_is_enough() {
        let mut used: Vec<&[u64]> = vec![&[500]; 20];
        used[7] = &[240];
        let proof = prove("1x50%", &used, 0);
        assert!(
            matches!(&proof.why[..], [Shortfall::Second { thread: 0, floor, .. }] if *floor == 25.0)
        );
    }

    #[test]
    fn idle_needs_no_proof_and_nothing_is_proven_by_an_instant() {
        assert!(prove("idle", &[&[], &[]], 0).proven);
        assert!(matches!(prove("1x50%", &[], 0).why[..], [Shortfall::TooShort(Nanos::ZERO)]));
    }

    #[test]
    fn rows_become_samples_of_the_run() {
        let proof = prove("1x50%", &[&[500]], 0);
        let sample = proof.rows[1].sample("medium", Some(3));
        assert_eq!((sample.cpu, sample.trial, sample.interval_ns), (1, Some(3), 1_000_000_000));
        assert_eq!(sample.t_ns, 11_000_000_000);
        assert_eq!(sample.source, "test");
    }
}
