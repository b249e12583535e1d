//! What a capture cost, by what can be counted while it runs. What an event costs where it happens
//! cannot: `scripts/try-capture` measures that by comparison.

use flyball_host::Host;
use flyball_run::manifest::{CheckOutcome, CheckRecord, OverheadRecord};
use flyball_units::Nanos;

use super::reader::Tally;
use super::setup::Setup;

/// The cost of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// From switching on to switching off.
    pub elapsed: Nanos,
    /// CPU time of the thread that read the buffers, with what the kernel did for it.
    pub reader_cpu: Nanos,
    /// How often it emptied the buffers while the capture went on; once more at the end.
    pub drains: u64,
    /// Bytes of text.
    pub bytes: u64,
    /// Events that were read.
    pub events: u64,
    /// Events that were lost: overwritten before they were read, or dropped.
    pub lost: u64,
    /// Bytes of the buffers of all CPUs together.
    pub buffer_bytes: u64,
}

impl Cost {
    /// Adds up the buffers' own counts; call it when everything was read.
    pub(super) fn of(host: &dyn Host, setup: &Setup, tally: &Tally, elapsed: Nanos) -> Cost {
        let mut cost = Cost {
            elapsed,
            reader_cpu: tally.cpu,
            drains: tally.drains,
            bytes: tally.bytes,
            ..Cost::default()
        };
        let folder = setup.instance().join("per_cpu");
        for cpu in host.list(&folder).unwrap_or_default() {
            let text = host.read(&folder.join(cpu).join("stats")).unwrap_or_default();
            for (name, count) in text.lines().filter_map(|line| line.split_once(": ")) {
                let count = count.trim().parse().unwrap_or(0);
                match name {
                    "read events" => cost.events += count,
                    "overrun" | "commit overrun" | "dropped events" => cost.lost += count,
                    _ => {}
                }
            }
        }
        cost
    }

    /// Events per second.
    pub fn events_per_s(&self) -> f64 {
        self.events as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// The reader's share of one CPU, in percent.
    pub fn reader_percent(&self) -> f64 {
        100.0 * self.reader_cpu.as_secs_f64() / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// For the manifest: the reader's CPU time per event.
    pub fn overhead(&self) -> OverheadRecord {
        OverheadRecord {
            name: "capture reader per event".to_owned(),
            median_ns: self.reader_cpu.0 as f64 / self.events.max(1) as f64,
            p99_ns: None,
            n: self.events,
        }
    }

    /// For the manifest: whether events were lost.
    pub fn check(&self) -> CheckRecord {
        let whole = self.lost == 0;
        CheckRecord {
            name: "capture buffers".to_owned(),
            outcome: if whole { CheckOutcome::Passed } else { CheckOutcome::Failed },
            object: "per_cpu/cpu*/stats".to_owned(),
            expected: "0 lost events".to_owned(),
            found: format!("{} lost of {}", self.lost, self.events + self.lost),
            hint: (!whole).then(|| "larger buffers, or fewer groups of events".to_owned()),
        }
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} events in {:.2} s ({:.0}/s), {:.1} MB of text; the reader took {:.0} ms of CPU time \
             ({:.1} % of one CPU), {} times while CMD ran; {} lost",
            self.events,
            self.elapsed.as_secs_f64(),
            self.events_per_s(),
            self.bytes as f64 / 1e6,
            self.reader_cpu.as_secs_f64() * 1e3,
            self.reader_percent(),
            self.drains,
            self.lost
        )
    }
}
