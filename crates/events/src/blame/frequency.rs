//! At what share of its highest frequency a CPU ran.

use std::collections::BTreeMap;

use flyball_run::{Manifest, Tables};
use serde::Serialize;

use crate::recording::{Recording, Steps};

/// What tells a window's frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Changes of the delivered frequency, each with its time.
    Changes,
    /// The window's own cycles over its execution time.
    Cycles,
    /// Changes of what the kernel asked for, each with its time.
    Claimed,
    /// The frequency probes before and after the window.
    Probe,
}

impl Basis {
    /// Its name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Basis::Changes => "recorded changes",
            Basis::Cycles => "the windows' own cycles",
            Basis::Claimed => "changes that the kernel claims",
            Basis::Probe => "probes around the windows",
        }
    }
}

/// A frequency as a share of the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// The frequency, in kHz or thousandths.
    pub of: u64,
    /// The highest, in the same unit; not zero.
    pub max: u64,
    /// In kHz, where that is known.
    pub khz: Option<u64>,
}

impl Share {
    /// The part of `ns` that the highest frequency would have needed, rounded down.
    pub fn scaled(self, ns: u64) -> u64 {
        let scaled =
            u128::from(ns) * u128::from(self.of.min(self.max)) / u128::from(self.max.max(1));
        // Not above `ns`.
        u64::try_from(scaled).unwrap_or(ns)
    }
}

/// What is known of one CPU's clock.
#[derive(Clone, Debug, Default)]
struct Clock {
    steps: Steps<u64>,
    /// Whether the steps are delivered frequencies.
    delivered: bool,
    max_khz: Option<u64>,
    core_type: Option<String>,
}

/// The clocks of all CPUs.
#[derive(Clone, Debug, Default)]
pub(super) struct Frequencies {
    clocks: BTreeMap<u32, Clock>,
    /// The best that any window of a kind of core was delivered.
    best: BTreeMap<Option<String>, u64>,
}

impl Frequencies {
    /// From the run's tables; `joined`: whether the table `frequency` is on the events' clock.
    pub fn of(
        recording: &Recording<'_>,
        tables: &Tables,
        manifest: &Manifest,
        joined: bool,
    ) -> Frequencies {
        let mut of_domain = BTreeMap::<&str, (Steps<u64>, bool)>::new();
        if joined {
            for domain in tables.frequency.domain.names() {
                of_domain.insert(domain, steps(tables, domain));
            }
        }
        let machine = manifest.machine.as_ref();
        let mut clocks = BTreeMap::new();
        for cpu in recording.topology().cpus() {
            let own = [format!("cpu{}", cpu.cpu), format!("policy{}", cpu.cpu)];
            let names = cpu.domain.iter().chain(&own);
            let (steps, delivered) = names
                .filter_map(|name| of_domain.get(name.as_str()))
                .find(|(steps, _)| !steps.is_empty())
                .cloned()
                .unwrap_or_default();
            let record = machine.and_then(|m| m.cpus.iter().find(|record| record.cpu == cpu.cpu));
            let domain = machine.and_then(|m| m.domains.iter().find(|d| d.cpus.contains(&cpu.cpu)));
            let hardware = record.and_then(|cpu| cpu.max_khz).or(domain.and_then(|d| d.max_khz));
            let seen = steps.points().map(|point| point.1).max();
            clocks.insert(
                cpu.cpu,
                Clock {
                    max_khz: hardware.or(seen).filter(|max| *max > 0),
                    steps,
                    delivered,
                    core_type: recording.topology().core_type(cpu.cpu),
                },
            );
        }
        let mut frequencies = Frequencies { clocks, best: BTreeMap::new() };
        frequencies.see_windows(tables);
        frequencies
    }

    fn see_windows(&mut self, tables: &Tables) {
        let rows = &tables.windows;
        for row in 0..rows.len() {
            let Some(cpu) = rows.cpu_before.get(row) else { continue };
            let core_type = self.clocks.get(&cpu).and_then(|clock| clock.core_type.clone());
            let seen = [
                rows.delivered_khz.get(row),
                rows.probe_before_khz.get(row),
                rows.probe_after_khz.get(row),
            ];
            if let Some(khz) = seen.into_iter().flatten().max() {
                let best = self.best.entry(core_type).or_default();
                *best = (*best).max(khz);
            }
        }
    }

    /// Whether changes of a CPU's frequency were recorded, and whether they were delivered.
    pub fn changes(&self, cpu: u32) -> Option<Basis> {
        let clock = self.clocks.get(&cpu).filter(|clock| !clock.steps.is_empty())?;
        clock.max_khz?;
        Some(if clock.delivered { Basis::Changes } else { Basis::Claimed })
    }

    /// Whether any CPU's changes were recorded.
    pub fn any_changes(&self) -> bool {
        self.clocks.values().any(|clock| !clock.steps.is_empty())
    }

    /// The frequency of a CPU over a stretch of time: length and share of each stretch at one
    /// frequency; none where it is not known yet.
    pub fn over(
        &self,
        cpu: u32,
        from_ns: u64,
        to_ns: u64,
    ) -> impl Iterator<Item = (u64, Option<Share>)> + '_ {
        let clock = self.clocks.get(&cpu);
        let max = clock.and_then(|clock| clock.max_khz);
        let segments =
            clock.into_iter().flat_map(move |clock| clock.steps.segments(from_ns, to_ns));
        segments.map(move |segment| {
            let khz = segment.value;
            let share = khz.zip(max).map(|(of, max)| Share { of, max, khz });
            (segment.to_ns - segment.from_ns, share)
        })
    }

    /// A frequency in kHz on a CPU as a share of its highest.
    pub fn share(&self, cpu: u32, khz: u64) -> Option<Share> {
        let clock = self.clocks.get(&cpu);
        let hardware = clock.and_then(|clock| clock.max_khz);
        let core_type = clock.and_then(|clock| clock.core_type.clone());
        let max = hardware.or_else(|| self.best.get(&core_type).copied()).filter(|max| *max > 0)?;
        Some(Share { of: khz, max, khz: Some(khz) })
    }
}

/// A domain's changes, and whether all of them are delivered frequencies. What held before the
/// first change is the last sample before it. Samples alone tell something where all are alike: a
/// change would have been recorded beside them.
fn steps(tables: &Tables, domain: &str) -> (Steps<u64>, bool) {
    let rows = &tables.frequency;
    let Some(code) = rows.domain.code_of(domain) else { return (Steps::default(), false) };
    let (mut changes, mut samples) = (Vec::new(), Vec::new());
    let mut delivered = true;
    for row in (0..rows.len()).filter(|&row| rows.domain.codes().get(row) == Some(code)) {
        let Some(&t_ns) = rows.t_ns.get(row) else { continue };
        let (got, claimed) = (rows.delivered_khz.get(row), rows.claimed_khz.get(row));
        match rows.source.get(row) {
            Some("model" | "cpu_frequency") => {
                delivered &= got.is_some();
                changes.extend(got.or(claimed).map(|khz| (t_ns, khz)));
            }
            Some("scaling_cur_freq") => samples.extend(claimed.map(|khz| (t_ns, khz))),
            _ => {}
        }
    }
    samples.sort_unstable();
    let first = changes.iter().map(|change| change.0).min();
    let before = samples.iter().rfind(|sample| first.is_none_or(|first| sample.0 < first));
    let constant = samples.windows(2).all(|pair| pair[0].1 == pair[1].1);
    if let Some(&(_, khz)) = before.filter(|_| first.is_some() || constant) {
        changes.push((0, khz));
        delivered = false;
    }
    let delivered = delivered && !changes.is_empty();
    (Steps::from_points(changes), delivered)
}
