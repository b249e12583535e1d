//! A clock domain whose costs are known, in virtual time: where the methods are tried.
//!
//! The rules are those of the simulated machine (`flyball_sim`): the writer is busy for the write;
//! the hardware acts at once, or at the next multiple of its grid; then nothing executes for the
//! stall, and the new frequency holds after the effect. A write before the hardware took the last one
//! up replaces it; a later one waits until the last one holds. A test runs both beside each other.

use crate::protocol::switches::TransitionError;
use crate::protocol::switches::device::Device;
use flyball_platform::{ClockDomain, Platform, Transition};
use flyball_run::manifest::{DomainRecord, Machine};
use flyball_units::{KiloHertz, Mismatch, Nanos};

/// How long a write takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteRule {
    /// As the platform says.
    Platform,
    /// A driver that waits in a loop it calibrated at the source's speed and runs at the
    /// destination's: `overhead + wait f_source / f_destination`.
    BusyWait {
        /// Everything else.
        overhead: Nanos,
        /// The wait as it was meant.
        wait: Nanos,
    },
}

/// Loops on a model may be this short: its clock is exact.
const SHORTEST_LOOP: Nanos = Nanos(200);

/// A clock domain in virtual time.
#[derive(Clone, Debug)]
pub struct Model {
    domain: String,
    cpu: Option<u32>,
    /// What is asked for, and the speed that it gives.
    points: Vec<(KiloHertz, KiloHertz)>,
    costs: Transition,
    rule: WriteRule,
    /// Nanoseconds; fractions matter where a loop is short.
    now: f64,
    point: usize,
    change: Option<Change>,
}

/// A change on its way.
#[derive(Clone, Copy, Debug)]
struct Change {
    to: usize,
    acts_at: f64,
    stall: f64,
    holds_at: f64,
    queued: Option<usize>,
}

impl Model {
    /// A domain of a platform, at its lowest point.
    ///
    /// # Errors
    /// Fewer than two levels.
    pub fn new(domain: &ClockDomain) -> Result<Model, TransitionError> {
        let points: Vec<_> =
            domain.points.iter().map(|point| (point.frequency, point.effective)).collect();
        if points.len() < 2 {
            return Err(TransitionError::Unsupported(
                Mismatch::value("two levels or more", format!("{}", points.len()))
                    .at(domain.name.clone()),
            ));
        }
        Ok(Model {
            domain: domain.name.clone(),
            cpu: domain.cpus.first().map(|cpu| cpu.0),
            points,
            costs: domain.transition.clone(),
            rule: WriteRule::Platform,
            now: 0.0,
            point: 0,
            change: None,
        })
    }

    /// The same with another rule for the write.
    #[must_use]
    pub fn with_write(mut self, rule: WriteRule) -> Model {
        self.rule = rule;
        self
    }

    /// What its switches cost: the truth.
    pub fn costs(&self) -> &Transition {
        &self.costs
    }

    fn write_time(&self, from: usize, to: usize) -> f64 {
        match self.rule {
            WriteRule::Platform => self.costs.write.of(from, to).0 as f64,
            WriteRule::BusyWait { overhead, wait } => {
                overhead.0 as f64 + wait.0 as f64 * self.speed(from) / self.speed(to)
            }
        }
    }

    /// Cycles per nanosecond.
    fn speed(&self, point: usize) -> f64 {
        self.points.get(point).map_or(f64::MIN_POSITIVE, |(_, khz)| khz.0 as f64 * 1e-6)
    }

    /// Takes up what is due by `now`.
    fn settle(&mut self) {
        while let Some(change) = self.change.filter(|change| change.holds_at <= self.now) {
            self.point = change.to;
            self.change = None;
            if let Some(next) = change.queued {
                self.begin(next, change.holds_at);
            }
        }
    }

    /// A write that begins at `at`; the writer is busy until its end.
    fn begin(&mut self, to: usize, at: f64) {
        let from = self.point;
        let written = at + self.write_time(from, to);
        let grid = self.costs.grid.map_or(0.0, |grid| grid.0 as f64);
        let acts_at = if grid > 0.0 { (written / grid).ceil() * grid } else { written };
        self.change = (to != from).then(|| Change {
            to,
            acts_at,
            stall: self.costs.stall.of(from, to).0 as f64,
            holds_at: acts_at + self.costs.effect.of(from, to).0 as f64,
            queued: None,
        });
        self.now = self.now.max(written);
        self.skip_stall();
    }

    /// Nothing executes in a stall, the clock's reading included.
    fn skip_stall(&mut self) {
        if let Some(change) = self.change
            && (change.acts_at..change.acts_at + change.stall).contains(&self.now)
        {
            self.now = change.acts_at + change.stall;
        }
    }
}

impl Device for Model {
    fn levels(&self) -> Vec<KiloHertz> {
        self.points.iter().map(|(khz, _)| *khz).collect()
    }

    fn domain(&self) -> String {
        self.domain.clone()
    }

    fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    fn now(&mut self) -> Nanos {
        Nanos(self.now.round() as u64)
    }

    fn set(&mut self, to: KiloHertz) -> Result<(), TransitionError> {
        let position = self.points.iter().position(|(khz, _)| *khz == to);
        let Some(to) = position else {
            return Err(TransitionError::BadInput(
                Mismatch::value("a level of this domain", format!("{} kHz", to.0))
                    .at(self.domain.clone()),
            ));
        };
        self.settle();
        let destination =
            self.change.map_or(self.point, |change| change.queued.unwrap_or(change.to));
        if to == destination {
            return Ok(());
        }
        match &mut self.change {
            Some(change) if change.acts_at <= self.now => {
                change.queued = (to != change.to).then_some(to);
            }
            _ => self.begin(to, self.now),
        }
        Ok(())
    }

    fn work(&mut self, units: u64) {
        let mut cycles = units as f64;
        while cycles > 0.0 {
            self.settle();
            self.skip_stall();
            self.settle();
            let speed = self.speed(self.point);
            let end = self.now + cycles / speed;
            let next = self.change.map_or(f64::INFINITY, |change| {
                if change.stall > 0.0 && change.acts_at > self.now {
                    change.acts_at.min(change.holds_at.max(self.now))
                } else {
                    change.holds_at
                }
            });
            if end <= next {
                self.now = end;
                return;
            }
            cycles -= (next - self.now) * speed;
            self.now = next;
        }
    }

    fn busy_for(&mut self, time: Nanos) {
        let until = self.now + time.0 as f64;
        while let Some(change) = self.change.filter(|change| change.holds_at <= until) {
            self.now = self.now.max(change.holds_at);
            self.settle();
        }
        self.now = self.now.max(until);
        self.skip_stall();
    }

    fn shortest_loop(&self) -> Nanos {
        SHORTEST_LOOP
    }
}

/// What a run's manifest says of a model.
pub fn describe(platform: &Platform) -> Machine {
    let domain = |domain: &ClockDomain| DomainRecord {
        name: domain.name.clone(),
        cpus: domain.cpus.iter().map(|cpu| cpu.0).collect(),
        driver: Some("model".to_owned()),
        min_khz: Some(domain.opps.min().0),
        max_khz: Some(domain.opps.max().0),
        available_khz: domain.points.iter().map(|point| point.frequency.0).collect(),
        declared_latency_ns: domain.transition.declared_latency.map(|latency| latency.0),
        ..DomainRecord::default()
    };
    Machine {
        cpu_model: Some(format!("model of {}", platform.title)),
        virtualisation: Some("none".to_owned()),
        domains: platform.domains.iter().map(domain).collect(),
        ..Machine::default()
    }
}
