//! A recording from its start to its end: how it is done, and what it cost.

use flyball_stats::nearest_rank;
use std::sync::Arc;

use flyball_host::{Host, Topology};
use flyball_run::ActivitySample;
use flyball_run::manifest::{
    CheckOutcome, CheckRecord, ClockRecord, OverheadRecord, WorkloadRecord,
};
use flyball_units::Nanos;

use super::sampled::Sampled;
use super::source::Counting;
use super::traced::Traced;
use crate::trace::CaptureError;

/// Share of one CPU that a recording may cost, in percent.
const COST_PERCENT: f64 = 0.2;

/// How to record.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Length of an interval.
    pub interval: Nanos,
    /// What is counted; the best that there is where none.
    pub counting: Option<Counting>,
}

/// A recording that goes on.
pub struct Recorder {
    host: Arc<dyn Host>,
    way: Way,
    counting: Counting,
    interval: Nanos,
    /// CPUs of which no frequency is known.
    clockless: bool,
    /// Why something else is counted than what would be best.
    note: Option<String>,
    /// CPU time of the process when it began.
    cpu_before: Option<Nanos>,
}

enum Way {
    Sampled(Box<Sampled>),
    Traced(Box<Traced>),
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
    /// Whether it cost little, and is whole.
    pub checks: Vec<CheckRecord>,
    /// The clock of its table.
    pub clock: ClockRecord,
    /// CPU time of the whole process while it recorded, in percent of one CPU.
    pub cost_percent: f64,
    /// The part of it that counting took; the rest made rows of what was counted.
    pub counting_percent: f64,
    /// Remarks.
    pub notes: Vec<String>,
}

/// What a way of recording says at its end.
pub(super) struct Findings {
    pub elapsed: Nanos,
    /// CPU time of reading what the kernel counted.
    pub counting_cpu: Nanos,
    /// What else the manifest should say.
    pub param: (&'static str, u64),
    pub overhead: OverheadRecord,
    pub checks: Vec<CheckRecord>,
    pub notes: Vec<String>,
}

impl Recorder {
    /// Starts to record.
    ///
    /// # Errors
    /// Nothing to count that is fine enough; nothing that may be read.
    pub fn start(
        host: &Arc<dyn Host>,
        topology: &Topology,
        options: &Options,
    ) -> Result<Recorder, CaptureError> {
        let Options { interval, counting } = *options;
        let cpus: Vec<u32> = topology.online.iter().map(|cpu| cpu.0).collect();
        let traced = || Traced::start(host, topology, &cpus, interval);
        let tried = match counting {
            Some(Counting::Events) => Some(Ok(traced()?)),
            None if Traced::can(host.as_ref(), topology) => Some(traced()),
            _ => None,
        };
        let (counting, way, note) = match tried {
            Some(Ok(traced)) => (Counting::Events, Way::Traced(Box::new(traced)), None),
            refused => {
                let finest = || Counting::finest(host.as_ref(), &cpus, interval);
                let counting = counting.map_or_else(finest, Ok)?;
                let sampled = Sampled::start(host, topology, &cpus, counting, interval)?;
                let why = refused.and_then(Result::err).map(|why| format!("no events: {why}"));
                (counting, Way::Sampled(Box::new(sampled)), why)
            }
        };
        let clocked = |cpu: &u32| {
            topology.policies.iter().any(|policy| policy.cpus.iter().any(|own| own.0 == *cpu))
        };
        Ok(Recorder {
            host: Arc::clone(host),
            way,
            counting,
            interval,
            clockless: !cpus.iter().all(clocked),
            note,
            cpu_before: host.process_cpu_time().ok(),
        })
    }

    /// What is counted.
    pub fn counting(&self) -> Counting {
        self.counting
    }

    /// Gives the rows that are known by now to `sink`; to be called every second or so.
    ///
    /// # Errors
    /// What was counted could not be read.
    pub fn drain(&mut self, sink: &mut dyn FnMut(ActivitySample)) -> Result<(), CaptureError> {
        match &mut self.way {
            Way::Sampled(way) => {
                way.drain(sink);
                Ok(())
            }
            Way::Traced(way) => way.drain(sink),
        }
    }

    /// Ends the recording; `sink` gets the last rows.
    ///
    /// # Errors
    /// What was counted could not be read to its end.
    pub fn stop(&mut self, sink: &mut dyn FnMut(ActivitySample)) -> Result<Recorded, CaptureError> {
        let findings = match &mut self.way {
            Way::Sampled(way) => way.stop(sink),
            Way::Traced(way) => way.stop(sink),
        }?;
        let cpu = self.host.process_cpu_time().ok();
        let cpu = cpu.zip(self.cpu_before).map(|(now, before)| Nanos(now.since(before).0));
        let cpu = cpu.unwrap_or(findings.counting_cpu);
        Ok(self.recorded(findings, cpu))
    }

    fn recorded(&self, findings: Findings, process: Nanos) -> Recorded {
        let Findings { elapsed, counting_cpu, param, overhead, checks, notes } = findings;
        let share = |cpu: Nanos| 100.0 * cpu.as_secs_f64() / elapsed.as_secs_f64().max(1e-9);
        let (cost_percent, counting_percent) = (share(process), share(counting_cpu));
        let resolution = self.counting.resolution(self.host.user_hz());
        let mut params = WorkloadRecord::default().params;
        for (key, value) in
            [("interval_ns", self.interval.0), ("resolution_ns", resolution.0), param]
        {
            params.insert(key.to_owned(), i64::try_from(value).unwrap_or(i64::MAX).into());
        }
        params.insert("source".to_owned(), self.counting.name().into());
        let clockless = "no frequency for some CPUs: cpufreq says nothing about them".to_owned();
        let clockless = self.clockless.then_some(clockless);
        let cost = check(
            "cost of the recording",
            cost_percent < COST_PERCENT,
            format!("under {COST_PERCENT} % of one CPU"),
            format!("{cost_percent:.3} %, {counting_percent:.3} % of it counting"),
            "record with a longer interval, or from the source events where that may be",
        );
        Recorded {
            counting: self.counting,
            workload: WorkloadRecord {
                name: "load".to_owned(),
                description: "what this machine did".to_owned(),
                params,
                ..WorkloadRecord::default()
            },
            overheads: vec![overhead],
            checks: std::iter::once(cost).chain(checks).collect(),
            clock: ClockRecord {
                table: "activity".to_owned(),
                clock: "monotonic".to_owned(),
                ..ClockRecord::default()
            },
            cost_percent,
            counting_percent,
            notes: self.note.iter().cloned().chain(clockless).chain(notes).collect(),
        }
    }
}

/// Median and 99 % of times in ns, which are sorted by this.
pub(super) fn overhead(name: &str, times: &mut [u64]) -> OverheadRecord {
    times.sort_unstable();
    let time = |share| nearest_rank(times, share).map(|ns| ns as f64);
    OverheadRecord {
        name: name.to_owned(),
        median_ns: time(0.5).unwrap_or_default(),
        p99_ns: time(0.99),
        n: times.len() as u64,
    }
}

pub(super) fn check(
    name: &str,
    good: bool,
    expected: String,
    found: String,
    hint: &str,
) -> CheckRecord {
    CheckRecord {
        name: name.to_owned(),
        outcome: if good { CheckOutcome::Passed } else { CheckOutcome::Failed },
        object: "load recorder".to_owned(),
        expected,
        found,
        hint: (!good).then(|| hint.to_owned()),
    }
}
