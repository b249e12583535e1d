//! A recording from its start to rows of the table `activity`.

use std::path::PathBuf;
use std::sync::Arc;

use flyball_host::{Host, Topology};
use flyball_run::ActivitySample;
use flyball_run::manifest::{
    CheckOutcome, CheckRecord, ClockRecord, OverheadRecord, WorkloadRecord,
};
use flyball_units::Nanos;

use super::attribution::{Attribution, Interval};
use super::sampler::{HEAD, Sampler, Tally};
use super::source::{Counters, Counting, UNREADABLE, policies};
use crate::capture::CaptureError;

/// Share of one CPU that a recording may cost, in percent.
const COST_PERCENT: f64 = 0.2;

/// How to record.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Time between two samples.
    pub interval: Nanos,
    /// Which counters; the finest ones where none.
    pub counting: Option<Counting>,
}

/// A recording that goes on.
pub struct Recorder {
    host: Arc<dyn Host>,
    sampler: Sampler,
    counting: Counting,
    interval: Nanos,
    cpus: Vec<u32>,
    /// Per CPU its place among the clocks of a sample.
    clocks: Vec<Option<usize>>,
    attributions: Vec<Attribution>,
    last: Vec<u64>,
    /// How long each sample took to read, in ns.
    costs: Vec<u64>,
    /// CPU time of the process when it began.
    cpu_before: Option<Nanos>,
}

/// What a recording was.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What was counted.
    pub counting: Counting,
    /// How it was recorded, for the manifest.
    pub workload: WorkloadRecord,
    /// Its cost, for the manifest.
    pub overheads: Vec<OverheadRecord>,
    /// Whether it cost little, and was in time.
    pub checks: Vec<CheckRecord>,
    /// The clock of its table.
    pub clock: ClockRecord,
    /// CPU time of the whole process while it recorded, in percent of one CPU.
    pub cost_percent: f64,
    /// The part of it that the sampling took; the rest made rows of the samples.
    pub sampling_percent: f64,
    /// Remarks.
    pub notes: Vec<String>,
}

impl Recorder {
    /// Starts to record.
    ///
    /// # Errors
    /// No counter that is fine enough; none that may be read.
    pub fn start(
        host: &Arc<dyn Host>,
        topology: &Topology,
        options: &Options,
    ) -> Result<Recorder, CaptureError> {
        let cpus: Vec<u32> = topology.online.iter().map(|cpu| cpu.0).collect();
        let counting = match options.counting {
            Some(counting) => counting,
            None => Counting::finest(host.as_ref(), &cpus, options.interval)?,
        };
        let readable = |path: &PathBuf| host.read(&path.join("scaling_cur_freq")).is_ok();
        let clocks: Vec<_> =
            policies(topology).into_iter().filter(|(_, path, _)| readable(path)).collect();
        let place = |cpu: &u32| clocks.iter().position(|(_, _, own)| own.contains(cpu));
        let paths: Vec<PathBuf> = clocks.iter().map(|(_, path, _)| path.clone()).collect();
        let counters = Counters::open(host.as_ref(), counting, &cpus, &paths, options.interval)?;
        let sampler = Sampler::start(host, counters, &cpus, options.interval)?;
        Ok(Recorder {
            host: Arc::clone(host),
            sampler,
            counting,
            interval: options.interval,
            clocks: cpus.iter().map(place).collect(),
            attributions: vec![Attribution::default(); cpus.len()],
            cpus,
            last: Vec::new(),
            costs: Vec::new(),
            cpu_before: host.process_cpu_time().ok(),
        })
    }

    /// What is counted.
    pub fn counting(&self) -> Counting {
        self.counting
    }

    /// Gives the rows that are known by now to `sink`; to be called every second or so.
    pub fn drain(&mut self, sink: &mut dyn FnMut(ActivitySample)) {
        let Recorder { sampler, last, attributions, cpus, clocks, costs, counting, .. } = self;
        sampler.drain(&mut |sample| {
            costs.extend(sample.get(1));
            let before = std::mem::replace(last, sample.to_vec());
            let (Some(&from), Some(&to)) = (before.first(), sample.first()) else { return };
            for (at, attribution) in attributions.iter_mut().enumerate() {
                let Some(&cpu) = cpus.get(at) else { continue };
                let clock = clocks.get(at).copied().flatten();
                let step = Step { before: &before, sample, at, count: cpus.len(), clock };
                let interval = step.interval(to, to.saturating_sub(from));
                let counting = *counting;
                let (grown, rest) = step.grown();
                attribution.add(interval, grown, rest, &mut |interval| {
                    sink(row(cpu, &interval, counting));
                });
            }
        });
    }

    /// Ends the recording; `sink` gets the last rows.
    ///
    /// # Errors
    /// The sampling thread's.
    pub fn stop(&mut self, sink: &mut dyn FnMut(ActivitySample)) -> Result<Recorded, CaptureError> {
        let tally = self.sampler.stop()?;
        self.drain(sink);
        let cpu = self.host.process_cpu_time().ok();
        let cpu = cpu.zip(self.cpu_before).map(|(now, before)| Nanos(now.since(before).0));
        for (attribution, &cpu) in self.attributions.iter_mut().zip(&self.cpus) {
            let counting = self.counting;
            attribution.end(&mut |interval| sink(row(cpu, &interval, counting)));
        }
        Ok(self.recorded(&tally, cpu.unwrap_or(tally.cpu)))
    }

    fn recorded(&mut self, tally: &Tally, process: Nanos) -> Recorded {
        let share = |cpu: Nanos| 100.0 * cpu.as_secs_f64() / tally.elapsed.as_secs_f64().max(1e-9);
        let (percent, sampling_percent) = (share(process), share(tally.cpu));
        let resolution = self.counting.resolution(self.host.user_hz());
        let mut params = WorkloadRecord::default().params;
        let mut put = |key: &str, value: i64| {
            params.insert(key.to_owned(), value.into());
        };
        put("interval_ns", i64::try_from(self.interval.0).unwrap_or(i64::MAX));
        put("resolution_ns", i64::try_from(resolution.0).unwrap_or(i64::MAX));
        put("files_per_sample", tally.reads.ceil() as i64);
        params.insert("source".to_owned(), self.counting.name().into());
        let mut notes = Vec::new();
        if self.clocks.iter().any(Option::is_none) {
            notes.push("no frequency for some CPUs: cpufreq says nothing about them".to_owned());
        }
        let excess: u64 = self.attributions.iter().map(Attribution::excess_ns).sum();
        if excess > 0 {
            notes.push(format!("{} us were counted beyond their intervals", excess / 1000));
        }
        if tally.stale > 0 {
            notes.push(format!(
                "{} CPUs could not be visited at the end: their last intervals may lack idle time",
                tally.stale
            ));
        }
        Recorded {
            counting: self.counting,
            workload: WorkloadRecord {
                name: "load".to_owned(),
                description: "what this machine did".to_owned(),
                params,
                ..WorkloadRecord::default()
            },
            overheads: vec![self.overhead(tally)],
            checks: checks(tally, percent, sampling_percent, self.interval),
            clock: ClockRecord {
                table: "activity".to_owned(),
                clock: "monotonic".to_owned(),
                ..ClockRecord::default()
            },
            cost_percent: percent,
            sampling_percent,
            notes,
        }
    }

    /// How long it takes to read one sample.
    fn overhead(&mut self, tally: &Tally) -> OverheadRecord {
        self.costs.sort_unstable();
        let rank = |percent: usize| self.costs.len().saturating_sub(1) * percent / 100;
        let cost = |percent: usize| self.costs.get(rank(percent)).map(|&ns| ns as f64);
        OverheadRecord {
            name: "load recorder, time of a reading".to_owned(),
            median_ns: cost(50).unwrap_or_default(),
            p99_ns: cost(99),
            n: tally.samples,
        }
    }
}

/// One CPU from one sample to the next.
struct Step<'a> {
    before: &'a [u64],
    sample: &'a [u64],
    at: usize,
    count: usize,
    clock: Option<usize>,
}

impl Step<'_> {
    /// A number of the sample, where it could be read.
    fn value(sample: &[u64], at: usize) -> Option<u64> {
        sample.get(HEAD + at).copied().filter(|&value| value != UNREADABLE)
    }

    fn difference(&self, at: usize) -> Option<u64> {
        let (before, now) = (Step::value(self.before, at)?, Step::value(self.sample, at)?);
        Some(now.saturating_sub(before))
    }

    /// What the CPU's counter grew by, without and with what is rarely read; one that could not be
    /// read stands still.
    fn grown(&self) -> (u64, Option<u64>) {
        let rare = Step::value(self.sample, 2 * self.count + self.at).unwrap_or(0);
        let grown = self.difference(self.at).unwrap_or(0).saturating_sub(rare);
        (grown, (self.sample.get(2) == Some(&1)).then_some(rare))
    }

    fn interval(&self, end_ns: u64, length_ns: u64) -> Interval {
        let of = |at: usize| Step::value(self.sample, at);
        Interval {
            end_ns,
            length_ns,
            counted_ns: 0,
            khz: self.clock.and_then(|clock| of(3 * self.count + 1 + clock)),
            waiting_ns: self.difference(self.count + self.at),
            runnable: of(3 * self.count).and_then(|count| u32::try_from(count).ok()),
        }
    }
}

fn row(cpu: u32, interval: &Interval, counting: Counting) -> ActivitySample {
    let rest = interval.length_ns - interval.counted_ns;
    let (idle_ns, busy_ns) = match counting.is_idle() {
        true => (interval.counted_ns, rest),
        false => (rest, interval.counted_ns),
    };
    ActivitySample {
        t_ns: interval.end_ns,
        interval_ns: interval.length_ns,
        cpu,
        busy_ns,
        idle_ns,
        claimed_khz: interval.khz,
        waiting_ns: interval.waiting_ns,
        runnable: interval.runnable,
        trial: None,
    }
}

fn checks(tally: &Tally, percent: f64, sampling: f64, interval: Nanos) -> Vec<CheckRecord> {
    let check = |name: &str, good: bool, expected: String, found: String, hint: &str| CheckRecord {
        name: name.to_owned(),
        outcome: if good { CheckOutcome::Passed } else { CheckOutcome::Failed },
        object: "load recorder".to_owned(),
        expected,
        found,
        hint: (!good).then(|| hint.to_owned()),
    };
    let missed = tally.missed as f64 / tally.samples.max(1) as f64;
    vec![
        check(
            "cost of the recording",
            percent < COST_PERCENT,
            format!("under {COST_PERCENT} % of one CPU"),
            format!("{percent:.3} %, {sampling:.3} % of it for {} samples", tally.samples),
            "record with a longer --interval",
        ),
        check(
            "samples in time",
            missed < 0.01,
            format!("one every {} ms", interval.0 as f64 / 1e6),
            format!("{} of {} missed", tally.missed, tally.samples + tally.missed),
            "the machine is overloaded: intervals are longer there, and stored as they were",
        ),
    ]
}
