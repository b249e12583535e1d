//! Counters that are readings of utilisation, as sched-analyzer names its tracks:
//! `CPU3 util_avg`, `CPU3 util_est.enqueued`, `NAME-TID runnable_avg`, `NAME-TID util_est.ewma`.

use crate::event::Event;

/// A reading of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    pub t_ns: u64,
    /// Number of the track in [`Tracks`].
    pub track: usize,
    pub value: f64,
}

/// What a counter is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    Cpu(u32),
    Task { name: String, tid: u32 },
}

/// What it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Util,
    Runnable,
    Estimate,
}

/// A track by its name; none where it is not a signal of load tracking.
pub(super) fn track(name: &str) -> Option<(Subject, Signal)> {
    let (subject, signal) = name.rsplit_once(' ')?;
    let cpu = subject.strip_prefix("CPU").and_then(|number| number.parse().ok());
    let subject = match cpu {
        Some(cpu) => Subject::Cpu(cpu),
        None => {
            let (name, tid) = subject.rsplit_once('-')?;
            Subject::Task { name: name.to_owned(), tid: tid.parse().ok()? }
        }
    };
    // A task's `enqueued` is the last sample alone; the estimate is the average over them.
    let signal = match (signal, &subject) {
        ("util_avg", _) => Signal::Util,
        ("runnable_avg", _) => Signal::Runnable,
        ("util_est.enqueued" | "util_est_enqueued", Subject::Cpu(_)) => Signal::Estimate,
        ("util_est" | "util_est.ewma" | "util_est_ewma", _) => Signal::Estimate,
        _ => return None,
    };
    Some((subject, signal))
}

/// What was read last of a subject.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Last {
    util: Option<u32>,
    runnable: Option<u32>,
    estimate: Option<u32>,
}

impl Last {
    /// Takes over a reading; the event that it makes, where utilisation is known.
    pub fn reading(
        &mut self,
        subject: &Subject,
        signal: Signal,
        value: f64,
    ) -> Option<Event<'static>> {
        // As the tracks of perfetto are numbers of any kind; what is none counts as not read.
        let value = (value.is_finite() && (0.0..=4e9).contains(&value)).then_some(value as u32)?;
        match signal {
            Signal::Util => self.util = Some(value),
            Signal::Runnable => self.runnable = Some(value),
            Signal::Estimate => self.estimate = Some(value),
        }
        match (subject, signal) {
            (Subject::Cpu(cpu), _) => Some(Event::QueueAverages {
                cpu: *cpu,
                util: self.util?,
                runnable: self.runnable,
                estimate: self.estimate,
                contrib: None,
            }),
            (Subject::Task { tid, .. }, Signal::Estimate) => {
                Some(Event::EntityEstimate { tid: *tid, util: self.util, estimate: value })
            }
            (Subject::Task { tid, .. }, _) => Some(Event::EntityAverages {
                tid: Some(*tid),
                util: self.util?,
                runnable: self.runnable,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sched_analyzers_names() {
        assert_eq!(track("CPU3 util_avg"), Some((Subject::Cpu(3), Signal::Util)));
        assert_eq!(track("CPU0 util_est.enqueued"), Some((Subject::Cpu(0), Signal::Estimate)));
        let task = Subject::Task { name: "a b-c".to_owned(), tid: 17 };
        assert_eq!(track("a b-c-17 util_est.ewma"), Some((task, Signal::Estimate)));
        for other in ["CPU0 nr_running", "x-17 util_est.enqueued", "batt.charge_uah", "x util_avg"]
        {
            assert_eq!(track(other), None, "{other}");
        }
    }

    #[test]
    fn signals_of_one_subject_stand_together() {
        let (cpu, mut last) = (Subject::Cpu(1), Last::default());
        assert_eq!(last.reading(&cpu, Signal::Runnable, 40.0), None, "no utilisation yet");
        let event = Event::QueueAverages {
            cpu: 1,
            util: 30,
            runnable: Some(40),
            estimate: None,
            contrib: None,
        };
        assert_eq!(last.reading(&cpu, Signal::Util, 30.0), Some(event));
        assert_eq!(last.reading(&cpu, Signal::Util, f64::NAN), None);
    }
}
