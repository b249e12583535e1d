//! One window's response, cut into its parts.
//!
//! The response is cut where the task's state changes, then each stretch at what its CPU did. Of
//! several things at one time the first of this list counts: a gap in the recording, an interrupt,
//! another task, the idle loop. What is left is unexplained. So the parts sum to the response by
//! construction.

use std::collections::BTreeMap;

use super::culprits::{Culprits, Who};
use super::frequency::{Basis, Frequencies, Share};
use super::index::{CpuLines, Index};
use super::line::{Line, carve};
use super::parts::{Part, Parts};
use super::state::{State, States, Stretch};

/// A window's times on the events' clock, and what the window itself recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub release_ns: u64,
    pub dispatch_ns: u64,
    pub end_ns: u64,
    pub steal_ns: Option<u64>,
    /// Frequency from the window's own cycles.
    pub delivered_khz: Option<u64>,
    /// From the probes around it: mean frequency, else mean speed in thousandths of the best.
    pub probe_khz: Option<u64>,
    pub probe_permille: Option<u64>,
}

/// What became of a window.
#[derive(Clone, Debug, Default)]
pub(super) struct Split {
    pub parts: Parts,
    /// The task's own running time since it was free for this window.
    pub running_ns: u64,
    /// Its CPU's interrupts while it ran.
    pub interrupted_ns: u64,
    /// Mean frequency of the part of it of which it is known, in kHz.
    pub khz: Option<u64>,
    pub basis: Option<Basis>,
    pub culprits: Culprits,
}

/// Wakers of wakers that are followed: tasks that wake each other end nowhere.
const DEPTH: u32 = 32;

/// What a window is cut with.
pub(super) struct Splitter<'a> {
    pub index: &'a Index<'a>,
    pub frequencies: &'a Frequencies,
    /// The tasks that a window may wait for.
    pub tasks: &'a BTreeMap<u32, States>,
    /// How far the two clocks may be apart.
    pub uncertainty_ns: u64,
}

/// The task's own running time, gathered piece by piece.
#[derive(Default)]
struct Own {
    pieces: Vec<(u64, u64, u32)>,
}

impl Splitter<'_> {
    /// Cuts one window of the task with these states.
    pub fn split(&self, states: &States, times: &Times) -> Split {
        let mut split = Split::default();
        self.know(&mut split.parts, times);
        let Times { release_ns, dispatch_ns, end_ns, .. } = *times;
        let dispatch_ns = dispatch_ns.clamp(release_ns, end_ns);
        let mut own = Own::default();
        for stretch in states.within(release_ns, dispatch_ns) {
            self.before_dispatch(&mut split, &mut own, stretch, release_ns);
        }
        for stretch in states.within(dispatch_ns, end_ns) {
            self.after_dispatch(&mut split, &mut own, states, stretch);
        }
        self.running(&mut split, &own, times);
        split
    }

    /// The parts that the recording could show: they are zero from here on, not absent.
    fn know(&self, parts: &mut Parts, times: &Times) {
        let recorded = self.index.recorded;
        if recorded.slices {
            for part in [Part::Queue, Part::Preemption, Part::Slept, Part::Backlog] {
                parts.know(part);
            }
        }
        let rest = [
            (Part::IdleExit, recorded.idle),
            (Part::Interrupts, recorded.interrupts),
            (Part::Steal, times.steal_ns.is_some()),
        ];
        rest.iter().filter(|(_, known)| *known).for_each(|(part, _)| parts.know(*part));
    }

    fn before_dispatch(&self, split: &mut Split, own: &mut Own, stretch: Stretch, release_ns: u64) {
        match stretch.state {
            State::Running => {
                // A timer never fires early; two clocks may disagree by a little.
                let free = stretch
                    .rose_ns
                    .is_some_and(|rose| rose.saturating_add(self.uncertainty_ns) >= release_ns);
                match free {
                    true => self.own(split, own, stretch),
                    false => self.inside(split, stretch, |lines, split, pieces| {
                        interrupted(lines, split, pieces);
                        rest(split, pieces, Part::Backlog);
                    }),
                }
            }
            State::Waiting => self.waiting(split, stretch, Part::Queue),
            State::Sleeping => self.inside(split, stretch, |lines, split, pieces| {
                interrupted(lines, split, pieces);
                idle(lines, split, pieces);
            }),
            State::Unknown => split.parts.add(Part::Unexplained, stretch.length_ns()),
        }
    }

    fn after_dispatch(&self, split: &mut Split, own: &mut Own, states: &States, stretch: Stretch) {
        match stretch.state {
            State::Running => self.own(split, own, stretch),
            State::Waiting => self.waiting(split, stretch, Part::Preemption),
            State::Sleeping => self.follow(split, own, (states, stretch), 0),
            State::Unknown => split.parts.add(Part::Unexplained, stretch.length_ns()),
        }
    }

    /// The task sleeps: what its waker did until it woke it is on the window's critical path, and where
    /// that slept or was not yet, what its waker did.
    fn follow(
        &self,
        split: &mut Split,
        own: &mut Own,
        (states, stretch): (&States, Stretch),
        depth: u32,
    ) {
        let waker = states.waker_after(stretch.to_ns).filter(|_| depth < DEPTH);
        let Some(waker) = waker.and_then(|tid| self.tasks.get(&tid)) else {
            split.parts.add(Part::Slept, stretch.length_ns());
            return;
        };
        for stretch in waker.within(stretch.from_ns, stretch.to_ns) {
            match stretch.state {
                State::Running => self.own(split, own, stretch),
                State::Waiting => self.waiting(split, stretch, Part::Preemption),
                State::Sleeping | State::Unknown => {
                    self.follow(split, own, (waker, stretch), depth + 1);
                }
            }
        }
    }

    /// The task runs for this window.
    fn own(&self, split: &mut Split, own: &mut Own, stretch: Stretch) {
        let Some(cpu) = stretch.cpu else {
            split.parts.add(Part::Unexplained, stretch.length_ns());
            return;
        };
        self.inside(split, stretch, |lines, split, pieces| {
            let length =
                |pieces: &[(u64, u64)]| pieces.iter().map(|(from, to)| to - from).sum::<u64>();
            let whole = length(pieces);
            interrupted(lines, split, pieces);
            split.interrupted_ns += whole - length(pieces);
            own.pieces.extend(pieces.drain(..).map(|(from, to)| (from, to, cpu)));
        });
    }

    /// The task wants to run: `behind` is the part of others' running time.
    fn waiting(&self, split: &mut Split, stretch: Stretch, behind: Part) {
        self.inside(split, stretch, |lines, split, pieces| {
            interrupted(lines, split, pieces);
            take(split, pieces, &lines.slices, behind, Who::Task);
            idle(lines, split, pieces);
        });
    }

    /// Hands a stretch to `cut` with what its CPU did; what `cut` leaves is unexplained, and so is
    /// what lies in a gap.
    fn inside(
        &self,
        split: &mut Split,
        stretch: Stretch,
        cut: impl FnOnce(&CpuLines, &mut Split, &mut Vec<(u64, u64)>),
    ) {
        let mut pieces = vec![(stretch.from_ns, stretch.to_ns)];
        if let Some(lines) = stretch.cpu.and_then(|cpu| self.index.cpus.get(&cpu)) {
            carve(&mut pieces, &lines.gaps, |from, to, ()| {
                split.parts.add(Part::Unexplained, to - from);
            });
            cut(lines, split, &mut pieces);
        }
        rest(split, &mut pieces, Part::Unexplained);
    }

    /// Splits the task's own running time by frequency.
    fn running(&self, split: &mut Split, own: &Own, times: &Times) {
        let running = own.pieces.iter().map(|(from, to, _)| to - from).sum::<u64>();
        split.running_ns = running;
        let steal = times.steal_ns.unwrap_or_default().min(running);
        split.parts.add(Part::Steal, steal);
        let tally = self.tally(own, times);
        // Steal comes out of the whole, for nobody knows when it was.
        let left = running - steal;
        let part_of = |ns: u64, whole: u64, of: u64| -> u64 {
            let scaled = u128::from(ns) * u128::from(of) / u128::from(whole.max(1));
            u64::try_from(scaled).unwrap_or(of).min(of)
        };
        let known = part_of(tally.known_ns, running, left);
        let work = part_of(tally.work_ns, tally.known_ns, known);
        if tally.basis.is_some() {
            split.parts.know(Part::Work);
            split.parts.know(Part::Frequency);
        }
        split.parts.add(Part::Work, work);
        split.parts.add(Part::Frequency, known - work);
        split.parts.add(Part::Unexplained, left - known);
        split.basis = tally.basis;
        split.khz = tally.khz();
    }

    /// Running time at known frequencies: recorded changes where they are delivered ones, else the
    /// window's own cycles, else what the kernel claims, else the probes.
    fn tally(&self, own: &Own, times: &Times) -> Tally {
        let Some(&(.., cpu)) = own.pieces.first() else { return Tally::default() };
        let changes = self.frequencies.changes(cpu);
        let cycles = || {
            let share = self.frequencies.share(cpu, times.delivered_khz?)?;
            Some(Tally::whole(own, share, Basis::Cycles))
        };
        let probe = || {
            let khz = times.probe_khz.and_then(|khz| self.frequencies.share(cpu, khz));
            let permille = || Some(Share { of: times.probe_permille?, max: 1000, khz: None });
            Some(Tally::whole(own, khz.or_else(permille)?, Basis::Probe))
        };
        let by_changes = |basis| {
            let tally = self.over_changes(own, basis);
            (tally.known_ns > 0).then_some(tally)
        };
        let found = match changes {
            Some(Basis::Changes) => by_changes(Basis::Changes).or_else(cycles).or_else(probe),
            Some(basis) => cycles().or_else(|| by_changes(basis)).or_else(probe),
            None => cycles().or_else(probe),
        };
        found.unwrap_or_default()
    }

    fn over_changes(&self, own: &Own, basis: Basis) -> Tally {
        let mut tally = Tally { basis: Some(basis), ..Tally::default() };
        for &(from, to, cpu) in &own.pieces {
            for (ns, share) in self.frequencies.over(cpu, from, to) {
                if let Some(share) = share {
                    tally.add(ns, share);
                }
            }
        }
        tally
    }
}

impl Stretch {
    fn length_ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }
}

/// Running time of which the frequency is known.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    known_ns: u64,
    work_ns: u64,
    /// Frequency times time, and the time that it covers.
    cycles: (u128, u64),
    basis: Option<Basis>,
}

impl Tally {
    /// All of it at one share.
    fn whole(own: &Own, share: Share, basis: Basis) -> Tally {
        let mut tally = Tally { basis: Some(basis), ..Tally::default() };
        own.pieces.iter().for_each(|(from, to, _)| tally.add(to - from, share));
        tally
    }

    fn add(&mut self, ns: u64, share: Share) {
        self.known_ns += ns;
        self.work_ns += share.scaled(ns);
        if let Some(khz) = share.khz {
            self.cycles.0 += u128::from(khz) * u128::from(ns);
            self.cycles.1 += ns;
        }
    }

    fn khz(&self) -> Option<u64> {
        let (sum, ns) = self.cycles;
        sum.checked_div(u128::from(ns)).and_then(|khz| u64::try_from(khz).ok())
    }
}

fn interrupted(lines: &CpuLines, split: &mut Split, pieces: &mut Vec<(u64, u64)>) {
    take(split, pieces, &lines.interrupts, Part::Interrupts, Who::Interrupt);
}

fn idle(lines: &CpuLines, split: &mut Split, pieces: &mut Vec<(u64, u64)>) {
    take(split, pieces, &lines.idle, Part::IdleExit, Who::Idle);
}

/// Moves what lies in `line` out of `pieces` into `part`, and says whose it was.
fn take(
    split: &mut Split,
    pieces: &mut Vec<(u64, u64)>,
    line: &Line<u32>,
    part: Part,
    who: impl Fn(u32) -> Who,
) {
    carve(pieces, line, |from, to, what| {
        split.parts.add(part, to - from);
        split.culprits.add(part, who(what), to - from);
    });
}

/// Moves all of `pieces` into `part`.
fn rest(split: &mut Split, pieces: &mut Vec<(u64, u64)>, part: Part) {
    for (from, to) in pieces.drain(..) {
        split.parts.add(part, to - from);
    }
}
