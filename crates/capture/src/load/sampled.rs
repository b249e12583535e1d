//! Counters of the kernel, read at regular times: a recording that works everywhere.

use std::path::PathBuf;
use std::sync::Arc;

use flyball_host::{Host, Topology};
use flyball_run::ActivitySample;
use flyball_run::manifest::CheckRecord;
use flyball_units::Nanos;

use super::attribution::{Attribution, Interval};
use super::recorder::{Findings, check, overhead};
use super::sampler::{HEAD, Sampler, Tally};
use super::source::{Counters, Counting, UNREADABLE, policies};
use crate::trace::CaptureError;

/// A recording by samples.
pub(super) struct Sampled {
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
}

impl Sampled {
    /// Starts to record.
    ///
    /// # Errors
    /// No counter that may be read.
    pub(super) fn start(
        host: &Arc<dyn Host>,
        topology: &Topology,
        cpus: &[u32],
        counting: Counting,
        interval: Nanos,
    ) -> Result<Sampled, CaptureError> {
        let readable = |path: &PathBuf| host.read(&path.join("scaling_cur_freq")).is_ok();
        let clocks: Vec<_> =
            policies(topology).into_iter().filter(|(_, path, _)| readable(path)).collect();
        let place = |cpu: &u32| clocks.iter().position(|(_, _, own)| own.contains(cpu));
        let paths: Vec<PathBuf> = clocks.iter().map(|(_, path, _)| path.clone()).collect();
        let counters = Counters::open(host.as_ref(), counting, cpus, &paths, interval)?;
        Ok(Sampled {
            sampler: Sampler::start(host, counters, cpus, interval)?,
            counting,
            interval,
            clocks: cpus.iter().map(place).collect(),
            attributions: vec![Attribution::default(); cpus.len()],
            cpus: cpus.to_vec(),
            last: Vec::new(),
            costs: Vec::new(),
        })
    }

    /// Gives the rows that are known by now to `sink`.
    pub(super) fn drain(&mut self, sink: &mut dyn FnMut(ActivitySample)) {
        let Sampled { sampler, last, attributions, cpus, clocks, costs, counting, .. } = self;
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
    pub(super) fn stop(
        &mut self,
        sink: &mut dyn FnMut(ActivitySample),
    ) -> Result<Findings, CaptureError> {
        let tally = self.sampler.stop()?;
        self.drain(sink);
        for (attribution, &cpu) in self.attributions.iter_mut().zip(&self.cpus) {
            let counting = self.counting;
            attribution.end(&mut |interval| sink(row(cpu, &interval, counting)));
        }
        let mut notes = Vec::new();
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
        Ok(Findings {
            elapsed: tally.elapsed,
            counting_cpu: tally.cpu,
            param: ("files_per_sample", tally.reads.ceil() as u64),
            overhead: overhead("load recorder, time of a reading", &mut self.costs),
            checks: vec![in_time(&tally, self.interval)],
            notes,
        })
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

fn in_time(tally: &Tally, interval: Nanos) -> CheckRecord {
    let missed = tally.missed as f64 / tally.samples.max(1) as f64;
    check(
        "samples in time",
        missed < 0.01,
        format!("one every {} ms", interval.0 as f64 / 1e6),
        format!("{} of {} missed", tally.missed, tally.samples + tally.missed),
        "the machine is overloaded: intervals are longer there, and stored as they were",
    )
}
