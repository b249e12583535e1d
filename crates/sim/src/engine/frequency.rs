//! Changes of frequency, and hardware that decides by itself.
//!
//! ```text
//!   write ........ acts_at ......... acts_at + effect
//!   |<- write ->|..|<- stall ->|     |
//!                ^ the grid          new frequency holds
//! ```
//! The writing CPU is busy for the write. The hardware takes the change up at once, or at the next
//! multiple of its grid; from then on the domain's CPUs execute nothing for the stall, and the new
//! frequency holds after the effect. A write before the hardware took the last one up replaces it;
//! a later one waits until the last one holds.

use super::Machine;
use super::cpu::Activity;
use super::domain::Change;
use crate::observe::Observer;
use flyball_governors::schedutil::cpuperf_frequency;
use flyball_governors::{Event, Request};
use flyball_pelt::{
    DomainFrequency, PerfLevel, frequency_scale, raw_frequency, reference_frequency,
};
use flyball_platform::FrequencyControl;
use flyball_units::{KiloHertz, Nanos, Relation};

impl Machine {
    /// Does what a governor asked for.
    #[inline]
    pub(super) fn request(&mut self, d: usize, request: Request, writer: usize) {
        let wanted = match request {
            Request::Frequency { target, relation } => (target, relation),
            // Hardware that takes one frequency gets the upper end.
            Request::Range { max, .. } => (max, Relation::H),
            Request::Perf(level) => match self.of_level(d, level) {
                Some(wanted) => wanted,
                None => return,
            },
            _ => return,
        };
        self.domains[d].wanted = wanted;
        self.resolve_wanted(d, writer);
    }

    /// The frequency of a performance level, as schedutil carries out a sched_ext scheduler's:
    /// with headroom, with its rate limit, and at the top while a FIFO task is runnable. A level that
    /// comes too early is kept and counts when a FIFO task next comes or goes; one that changes
    /// nothing leaves the limit open.
    fn of_level(&mut self, d: usize, perf: u32) -> Option<(KiloHertz, Relation)> {
        let domain = &mut self.domains[d];
        domain.level = Some(perf);
        let early = |at: u64| self.now - at < domain.level_limit;
        if domain.level_changed.is_some_and(early) {
            return None;
        }
        let level = PerfLevel { perf, capacity: self.cpus[domain.cpus[0]].capacity };
        let reference = reference_frequency(DomainFrequency {
            highest: domain.opps.max().0,
            current: domain.points[domain.point].frequency.0,
            invariant: domain.frequency_invariant,
        });
        let least = domain.cpus.iter().map(|&c| match self.cpus[c].fifo_count {
            0 => 0,
            _ if self.uclamp_used => self.cpus[c].uclamp_min.min(level.capacity),
            _ => level.capacity,
        });
        let least = PerfLevel { perf: least.max().unwrap_or(0), ..level };
        let raw =
            cpuperf_frequency(level, KiloHertz(reference)).0.max(raw_frequency(reference, least));
        let wanted = (KiloHertz(raw), Relation::LE);
        if domain.resolve(wanted) != domain.destination() {
            domain.level_changed = Some(self.now);
        }
        Some(wanted)
    }

    /// A FIFO task came to CPU `c` or went: a level that was asked for is looked at again.
    pub(super) fn renew_level(&mut self, c: usize) {
        let d = self.cpus[c].domain;
        if let Some(level) = self.domains[d].level {
            self.request(d, Request::Perf(level), c);
        }
    }

    #[inline]
    fn resolve_wanted(&mut self, d: usize, writer: usize) {
        let domain = &self.domains[d];
        let to = domain.resolve(domain.wanted);
        self.change_to(d, to, writer);
    }

    /// The limits of a domain changed: what was asked for is resolved anew, then the governor is
    /// told.
    pub(super) fn limits_changed<O: Observer>(&mut self, d: usize, observer: &mut O) {
        let writer = self.domains[d].cpus[0];
        self.cap_capacities(d);
        self.resolve_wanted(d, writer);
        let domain = &self.domains[d];
        let (min, max) = (domain.min, domain.ceiling());
        if domain.control == FrequencyControl::Software {
            self.tell(d, &Event::Limits { min: min.min(max), max }, writer, observer);
        }
    }

    /// Writes a change to operating point `to`, if the domain is not there or on the way already.
    #[inline]
    pub(super) fn change_to(&mut self, d: usize, to: usize, writer: usize) {
        let domain = &mut self.domains[d];
        if to == domain.destination() || domain.prescribed {
            return;
        }
        match &mut domain.change {
            Some(change @ Change { acting: true, .. }) => {
                change.queued = (to != change.to).then_some((to, writer));
            }
            _ => self.write_change(d, to, writer),
        }
    }

    #[inline]
    fn write_change(&mut self, d: usize, to: usize, writer: usize) {
        let domain = &mut self.domains[d];
        let (from, costs) = (domain.point, &domain.transition);
        let write = costs.write.of(from, to).0;
        let written = self.now.saturating_add(write);
        let on_grid = |grid: Nanos| written.checked_next_multiple_of(grid.0).unwrap_or(u64::MAX);
        let acts_at = costs.grid.map_or(written, on_grid);
        let holds_at = acts_at.saturating_add(costs.effect.of(from, to).0);
        let stall = costs.stall.of(from, to).0;
        // Back to where it is before the hardware looked: nothing happens.
        domain.change = (to != from).then_some(Change {
            to,
            acts_at,
            stall,
            holds_at,
            acting: false,
            queued: None,
        });
        self.requeue_domain(d);
        if write > 0 {
            let until = self.cpus[writer].frozen_until.max(self.now).saturating_add(write);
            self.freeze(writer, until);
        }
    }

    /// The part of a domain's events that concerns its change in flight.
    pub(super) fn advance_change<O: Observer>(&mut self, d: usize, observer: &mut O) {
        let Some(change) = &mut self.domains[d].change else { return };
        if !change.acting && change.acts_at <= self.now {
            change.acting = true;
            if change.stall > 0 {
                let until = change.acts_at.saturating_add(change.stall);
                for at in 0..self.domains[d].cpus.len() {
                    self.freeze(self.domains[d].cpus[at], until);
                }
            }
        }
        let Some(Change { to, holds_at, acting: true, queued, .. }) = self.domains[d].change else {
            return;
        };
        if holds_at > self.now {
            return;
        }
        self.domains[d].change = None;
        self.set_point(d, to, observer);
        if let Some((next, writer)) = queued {
            self.change_to(d, next, writer);
        }
    }

    /// Operating point `to` holds from now on.
    pub(super) fn set_point<O: Observer>(&mut self, d: usize, to: usize, observer: &mut O) {
        let domain = &mut self.domains[d];
        for at in 0..domain.cpus.len() {
            let cpu = &mut self.cpus[domain.cpus[at]];
            cpu.flush(self.now, domain);
            cpu.progress(self.now, &mut self.tasks);
        }
        let from = domain.point;
        domain.residency[domain.point] += self.now - domain.since;
        domain.since = self.now;
        domain.be_at(to);
        domain.transitions += 1;
        let frequency = domain.points[to].frequency;
        let scale = if domain.frequency_invariant {
            frequency_scale(frequency.0, domain.opps.max().0)
        } else {
            flyball_pelt::CAPACITY_SCALE
        };
        for at in 0..self.domains[d].cpus.len() {
            let c = self.domains[d].cpus[at];
            self.cpus[c].frequency_scale = scale;
            self.cpus[c].be_at(to);
            self.set_power(c);
            match self.cpus[c].activity {
                Activity::Busy => self.set_completion(c),
                Activity::Waking | Activity::Leaving => {
                    self.cpus[c].hurry(self.now, from, to);
                    self.requeue(c);
                }
                Activity::Idle(_) => {}
            }
        }
        self.hurry_interrupts(d, (from, to));
        observer.frequency(Nanos(self.now), d, frequency);
        if self.domains[d].control == FrequencyControl::Software {
            self.tell(d, &Event::Applied { frequency }, self.domains[d].cpus[0], observer);
        }
    }

    /// Hardware that decides by demand looks at its busiest CPU.
    pub(super) fn decide_by_demand(&mut self, d: usize) {
        let FrequencyControl::Demand { period, up_percent, down_percent } = self.domains[d].control
        else {
            return;
        };
        self.domains[d].demand_at = self.now.saturating_add(period.0);
        let mut busiest = 0;
        for at in 0..self.domains[d].cpus.len() {
            let c = self.domains[d].cpus[at];
            self.flush(c);
            let total = self.cpus[c].totals.busy;
            let before = std::mem::replace(&mut self.domains[d].demand_busy[at], total);
            busiest = busiest.max(total - before);
        }
        let percent = u128::from(busiest) * 100 / u128::from(period.0);
        let domain = &mut self.domains[d];
        let present = domain.destination();
        let frequency = if percent > u128::from(up_percent) {
            domain.opps.max()
        } else if percent < u128::from(down_percent) {
            domain.points[present.saturating_sub(1)].frequency
        } else {
            domain.points[present].frequency
        };
        domain.wanted = (frequency, Relation::H);
        self.resolve_wanted(d, self.domains[d].cpus[0]);
    }
}
