//! Performance levels by two thresholds, as schedulers written in sched_ext set them.

use crate::tunables::{TunableSpec, Tunables};
use crate::{CpuSignals, Decision, Domain, Event, Governor, Needs, Request, Tunable, TunableError};
use flyball_units::Nanos;

/// The rule of sched_ext schedulers such as scx_bpfland: utilisation at or above `high_threshold`
/// asks for all performance, at or below `low_threshold` for `low_perf`, and in between for the
/// utilisation itself.
///
/// The answer is a performance level ([`Request::Perf`], scx_bpf_cpuperf_set) on the absolute
/// capacity scale, with no headroom: what carries it out adds schedutil's. It is given at *every*
/// update, changed or not, since a level that falls to a rate limit is lost otherwise. On a CPU
/// smaller than `high_threshold` the upper rule is out of reach: that is the trap of thresholds on
/// an absolute scale.
#[derive(Debug)]
pub struct Threshold {
    tunables: Tunables<3>,
    capacity: Option<u32>,
}

const HIGH: usize = 0;
const LOW: usize = 1;
const LOW_PERF: usize = 2;

const SPECS: [TunableSpec; 3] = [
    TunableSpec {
        name: "high_threshold",
        doc: "utilisation from which on the level is 1024; not below low_threshold",
        default: 768,
        min: 256,
        max: 1024,
    },
    TunableSpec {
        name: "low_threshold",
        doc: "utilisation up to which the level is low_perf; not above high_threshold",
        default: 256,
        min: 0,
        max: 768,
    },
    TunableSpec {
        name: "low_perf",
        doc: "level at low utilisation",
        default: 512,
        min: 0,
        max: 1024,
    },
];

impl Threshold {
    /// Name.
    pub const NAME: &'static str = "threshold";

    fn decide(&self, signals: &[CpuSignals], capacity: u32) -> Decision {
        let of_cpu = |cpu: &CpuSignals| {
            let sum = cpu.util.saturating_add(cpu.rt).saturating_add(cpu.dl);
            sum.saturating_add(cpu.irq).min(capacity)
        };
        let Some(util) = signals.iter().map(of_cpu).max() else { return Decision::NONE };
        let knob = |at| u32::try_from(self.tunables.get(at)).unwrap_or(0);
        let (perf, why) = if util >= knob(HIGH) {
            (1024, "at or above high_threshold")
        } else if util <= knob(LOW) {
            (knob(LOW_PERF), "at or below low_threshold")
        } else {
            (util, "between the thresholds")
        };
        Decision { request: Some(Request::Perf(perf)), wake_at: None, why }
    }
}

impl Default for Threshold {
    fn default() -> Threshold {
        Threshold { tunables: Tunables::new(Threshold::NAME, SPECS), capacity: None }
    }
}

impl Governor for Threshold {
    fn name(&self) -> &'static str {
        Threshold::NAME
    }

    fn needs(&self) -> Needs {
        Needs { utilization: true, ..Needs::default() }
    }

    fn start(&mut self, domain: &Domain, _now: Nanos) -> Decision {
        self.capacity = Some(domain.capacity);
        // What sched_ext starts every CPU with.
        Decision { request: Some(Request::Perf(1024)), wake_at: None, why: "at the start" }
    }

    fn on(&mut self, event: &Event<'_>, _now: Nanos) -> Decision {
        match (event, self.capacity) {
            (Event::Util { signals, .. }, Some(capacity)) => self.decide(signals, capacity),
            _ => Decision::NONE,
        }
    }

    fn tunables(&self) -> Vec<Tunable> {
        self.tunables.list()
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError> {
        self.tunables.set(name, value)?;
        self.tunables.narrow(HIGH, self.tunables.get(LOW), 1024);
        self.tunables.narrow(LOW, 0, self.tunables.get(HIGH));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::domain;

    #[test]
    fn the_high_threshold_is_not_below_the_low_one() {
        let mut governor = Threshold::default();
        let error = governor.set("high_threshold", 255).unwrap_err();
        assert_eq!(error.to_string(), "threshold: high_threshold = 255 is outside 256..=1024");
        assert!(governor.set("low_threshold", 769).is_err());
        governor.set("low_threshold", 100).unwrap();
        governor.set("high_threshold", 100).unwrap();
        assert!(governor.set("low_threshold", 101).is_err());
    }

    #[test]
    fn three_bands_and_an_answer_each_time() {
        let mut governor = Threshold::default();
        governor.start(&domain(&[600_000, 1_200_000]), Nanos::ZERO);
        let perf = |util| {
            let signals = [CpuSignals { util, ..CpuSignals::default() }];
            match governor.decide(&signals, 1024).request {
                Some(Request::Perf(perf)) => perf,
                other => panic!("no level: {other:?}"),
            }
        };
        assert_eq!(
            [perf(0), perf(256), perf(257), perf(767), perf(768), perf(1024)],
            [512, 512, 257, 767, 1024, 1024]
        );
        assert_eq!(perf(768), 1024, "again");
    }
}
