//! The energy of what is measured, trial by trial, by the machine's own counters.

use crate::session::{Progress, SideRecorder};
use flyball_host::{EnergyCounter, EnergyKind, Host, Topology};
use flyball_run::manifest::CheckRecord;
use flyball_run::{EnergyShare, Manifest, RunWriter};
use flyball_units::Nanos;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Kind of the rows: a counter of a whole package, over one trial.
const PACKAGE: &str = "package";
/// Their state: everything that happened meanwhile.
const MEASURED: &str = "measured";

/// What the counters said of each trial.
pub struct EnergyLog<'a> {
    host: &'a dyn Host,
    counters: Vec<EnergyCounter>,
    seen: RefCell<Seen>,
}

#[derive(Default)]
struct Seen {
    running: Option<Running>,
    done: Vec<TrialEnergy>,
}

struct Running {
    trial: u32,
    condition: String,
    since: Nanos,
    before: Vec<u64>,
}

/// Energy of a trial: from its step to the next one, changing over included.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialEnergy {
    /// Its number.
    pub trial: u32,
    /// Its condition.
    pub condition: String,
    /// Length.
    pub length: Nanos,
    /// In microjoules.
    pub uj: u64,
}

impl<'a> EnergyLog<'a> {
    /// Of whole packages: their parts are in them, and a battery counts too coarsely.
    pub fn new(host: &'a dyn Host, topology: &Topology) -> EnergyLog<'a> {
        let is_whole = |counter: &&EnergyCounter| {
            matches!(counter.kind, EnergyKind::Powercap { .. }) && counter.name.starts_with(PACKAGE)
        };
        let counters = topology.energy.iter().filter(is_whole);
        let counters = counters.filter(|counter| counter.read_uj(host).is_ok()).cloned().collect();
        EnergyLog { host, counters, seen: RefCell::default() }
    }

    /// Whether there is a counter.
    pub fn counts(&self) -> bool {
        !self.counters.is_empty()
    }

    /// What was seen of each trial.
    pub fn trials(&self) -> Vec<TrialEnergy> {
        self.seen.borrow().done.clone()
    }

    /// Mean power of each condition in watts; none where the machine has no counter.
    pub fn powers(&self) -> BTreeMap<String, f64> {
        let mut sums: BTreeMap<String, (u64, Nanos)> = BTreeMap::new();
        for trial in &self.seen.borrow().done {
            let sum = sums.entry(trial.condition.clone()).or_default();
            *sum = (sum.0 + trial.uj, sum.1 + trial.length);
        }
        let measured = sums.into_iter().filter(|(_, (_, time))| time.0 > 0);
        measured.map(|(name, (uj, time))| (name, uj as f64 / 1e6 / time.as_secs_f64())).collect()
    }

    /// Ends what runs, and begins `next`.
    fn turn(&self, next: Option<(usize, &str)>) {
        if !self.counts() {
            return;
        }
        let now = self.host.now();
        let read = self.counters.iter().map(|counter| counter.read_uj(self.host).ok());
        let values: Option<Vec<u64>> = read.collect();
        let mut seen = self.seen.borrow_mut();
        if let (Some(run), Some(values)) = (seen.running.take(), &values) {
            let used = self.counters.iter().zip(run.before.iter().zip(values));
            let used: Option<u64> =
                used.map(|(counter, (before, after))| counter.used_uj(*before, *after)).sum();
            let length = now.since(run.since);
            let Running { trial, condition, .. } = run;
            seen.done.extend(used.map(|uj| TrialEnergy { trial, condition, length, uj }));
        }
        seen.running = next.zip(values).map(|((trial, condition), before)| Running {
            trial: u32::try_from(trial).unwrap_or(u32::MAX),
            condition: condition.to_owned(),
            since: now,
            before,
        });
    }
}

/// A measurement's progress, which tells the log what runs.
pub struct Metered<'a, 'b, 'c> {
    /// The log.
    pub log: &'a EnergyLog<'b>,
    /// Who watches.
    pub progress: &'c mut dyn Progress,
}

impl Progress for Metered<'_, '_, '_> {
    fn planned(&mut self, steps: usize, what: &'static str, total: Nanos, order: &str) {
        self.progress.planned(steps, what, total, order);
    }

    fn step(&mut self, done: usize, now: &str, condition: &str) {
        self.log.turn(Some((done, condition)));
        self.progress.step(done, now, condition);
    }

    fn note(&mut self, text: &str) {
        self.progress.note(text);
    }

    fn closing(&mut self) {
        self.log.turn(None);
        self.progress.closing();
    }
}

/// Writes what the log saw behind the rows of another recorder, where there is one.
pub struct EnergySide<'a, 'b, 'c> {
    /// The log.
    pub log: &'a EnergyLog<'b>,
    /// The other one.
    pub other: Option<&'c mut dyn SideRecorder>,
}

impl SideRecorder for EnergySide<'_, '_, '_> {
    fn finish(
        &mut self,
        writer: &mut RunWriter,
        manifest: &mut Manifest,
    ) -> flyball_run::Result<Vec<CheckRecord>> {
        let checks =
            self.other.as_mut().map_or(Ok(Vec::new()), |other| other.finish(writer, manifest))?;
        for trial in self.log.trials() {
            writer.append(&EnergyShare {
                kind: PACKAGE.to_owned(),
                state: MEASURED.to_owned(),
                residency_ns: trial.length.0,
                energy_mj: trial.uj as f64 / 1e3,
                trial: Some(trial.trial),
                ..EnergyShare::default()
            })?;
        }
        Ok(checks)
    }
}
