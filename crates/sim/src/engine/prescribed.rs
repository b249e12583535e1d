//! Decisions that are not the machine's own, at their times: which frequency holds, and on which CPU a task is.
//!
//! A domain whose frequencies are prescribed has its governor decide, and do the work of that, as ever; what it asks for is not
//! done. Where it is prescribed when idle CPUs are looked after, nobody else does that. A task that is prescribed a CPU is allowed on no other from then on, so that whoever wakes or balances tasks comes to that
//! one; where it moves without having slept, it goes there at that time.

use super::Machine;
use super::task::State;
use crate::observe::Observer;
use crate::setup::{Placed, Prescribed};
use flyball_units::{KiloHertz, Nanos};

/// What is prescribed.
#[derive(Clone, Copy, Debug)]
enum Decision {
    /// An operating point of a clock domain.
    Point { domain: usize, point: usize },
    /// Where a task is.
    Placement { task: usize, placed: Placed },
    /// CPU `by` brings the signals of CPU `cpu` up to date, if that is idle.
    Care { cpu: usize, by: usize },
}

/// What is prescribed from now on, the latest first: the next one is at the end.
#[derive(Debug)]
pub(super) struct Prescriptions(Vec<(Nanos, Decision)>);

impl Prescriptions {
    /// Those of a setup; `point` gives the place of a frequency in the table of a domain.
    pub(super) fn of(
        prescribed: &Prescribed,
        point: impl Fn(usize, KiloHertz) -> Option<usize>,
    ) -> Prescriptions {
        let mut all = Vec::new();
        for (domain, changes) in prescribed.frequencies.iter().enumerate() {
            let points = changes.iter().filter_map(|&(at, khz)| Some((at, point(domain, khz)?)));
            all.extend(points.map(|(at, point)| (at, Decision::Point { domain, point })));
        }
        for (task, placements) in prescribed.placements.iter().enumerate() {
            let of_task = |&placed: &Placed| (placed.at, Decision::Placement { task, placed });
            all.extend(placements.iter().map(of_task));
        }
        let care = prescribed.care.iter();
        all.extend(
            care.map(|of| (of.at, Decision::Care { cpu: of.cpu.0 as usize, by: of.by.0 as usize })),
        );
        // Of those at one time the first that is listed comes first.
        all.reverse();
        all.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        Prescriptions(all)
    }

    /// When the next one counts; `u64::MAX` where there is none.
    pub(super) fn next(&self) -> u64 {
        self.0.last().map_or(u64::MAX, |(at, _)| at.0)
    }

    fn pop(&mut self, now: u64) -> Option<Decision> {
        if self.next() > now {
            return None;
        }
        Some(self.0.pop()?.1)
    }
}

impl Machine {
    /// Carries out what is due.
    pub(super) fn do_prescribed<O: Observer>(&mut self, observer: &mut O) {
        while let Some(decision) = self.prescriptions.pop(self.now) {
            match decision {
                Decision::Point { domain, point } => {
                    if self.domains[domain].point != point {
                        self.set_point(domain, point, observer);
                        self.requeue_domain(domain);
                    }
                }
                Decision::Placement { task, placed } => self.place_at(task, placed, observer),
                Decision::Care { cpu, by } => self.care_for(cpu, by, observer),
            }
        }
    }

    fn care_for<O: Observer>(&mut self, c: usize, by: usize, observer: &mut O) {
        if self.cpus[c].is_idle() {
            self.caller = Some(by);
            self.tick_wakes_cpu = self.cpus[by].is_idle();
            self.update_blocked(c, observer);
            self.tick_wakes_cpu = false;
            self.caller = None;
        }
    }

    fn place_at<O: Observer>(&mut self, t: usize, placed: Placed, observer: &mut O) {
        let (to, task) = (placed.cpu.0 as usize, &mut self.tasks[t]);
        task.allow_only(to);
        let from = task.cpu;
        let has_cpu = matches!(task.state, State::Runnable | State::Running);
        if !placed.awake || !has_cpu || from == to {
            return;
        }
        let cpu = &self.cpus[from];
        if cpu.current == Some(t) && task.is_fair() || cpu.fair.contains(&t) {
            self.move_task(t, (from, to), to, observer);
        } else if cpu.urgent.contains(&t) {
            self.move_urgent(t, (from, to), to, observer);
        }
        self.requeue(from);
    }
}
