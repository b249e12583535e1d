//! What a thread did from sleep to sleep.

use super::clocks::Clocks;
use super::readings::Readings;
use flyball_events::Recording;
use flyball_events::recording::{Ended, Ran, Woken};

/// Work from one sleep to the next, on one CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The CPU.
    pub cpu: u32,
    /// When its task woke up.
    pub woken_ns: u64,
    /// Cycles.
    pub cycles: f64,
    /// Of these those after its task had left its queue.
    pub way: f64,
    /// Those after its CPU's frequency changed, where that did.
    pub rest: Option<f64>,
    /// Whether a sampler may have been called for which a worker of its CPU then wakes up.
    pub is_call: bool,
    /// Whether its task then moved to another CPU, with its utilisation, and went on there.
    pub moves: bool,
}

impl Stretch {
    /// What is recorded of its wake-up is later than the clock's reading, with which its task is in the queue.
    pub(super) fn begin_at_reading(&mut self, readings: &Readings, clocks: &Clocks<'_>) {
        let before = readings.before_wakeup(self.cpu, self.woken_ns, clocks);
        self.woken_ns = self.woken_ns.saturating_sub(before);
    }
}

/// What a thread did from sleep to sleep, on each CPU for itself if these are told `apart`; times are the recording's.
pub(super) fn stretches(
    slices: &[Ran],
    wakeups: &[Woken],
    apart: bool,
    (readings, clocks): (&Readings, &Clocks<'_>),
) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    // The slice before, if the thread did not sleep after it, and when it last did.
    let (mut goes_on_from, mut slept_ns): (Option<u32>, u64) = (None, 0);
    for slice in slices {
        let cycles = clocks.cycles(slice.cpu, slice.from_ns, slice.to_ns);
        let way = readings.way_to_sleep(slice);
        let change = clocks.next_change(slice.cpu, slice.from_ns + 1);
        let change = change.filter(|&t_ns| t_ns < slice.to_ns);
        let rest = change.map(|t_ns| clocks.cycles(slice.cpu, t_ns, slice.to_ns));
        let goes_on = goes_on_from.is_some_and(|cpu| !apart || cpu == slice.cpu);
        match found.last_mut().filter(|_| goes_on) {
            Some(stretch) => {
                (stretch.cycles, stretch.way) = (stretch.cycles + cycles, way);
                stretch.rest = rest.or(stretch.rest.map(|before| before + cycles));
            }
            None => {
                let woken = wakeups.iter().rev().map(|woken| woken.t_ns);
                let mut woken = woken.filter(|t_ns| (slept_ns..=slice.from_ns).contains(t_ns));
                let moved = goes_on_from.is_some();
                if let Some(before) = found.last_mut().filter(|_| moved) {
                    before.moves = true;
                }
                let woken_ns = woken.next().filter(|_| !moved).unwrap_or(slice.from_ns);
                found.push(Stretch {
                    cpu: slice.cpu,
                    woken_ns,
                    cycles,
                    way,
                    rest,
                    is_call: false,
                    moves: false,
                });
            }
        }
        let slept = matches!(slice.ended, Ended::Slept | Ended::Exited);
        goes_on_from = (!slept).then_some(slice.cpu);
        if slept {
            slept_ns = slice.to_ns;
        }
    }
    found
}

/// The wake-ups of a task, in order.
pub(super) fn wakeups_of(recording: &Recording<'_>, tid: u32) -> Vec<Woken> {
    let mut wakeups: Vec<Woken> = recording.wakeups_of(tid).collect();
    wakeups.sort_unstable_by_key(|woken| woken.t_ns);
    wakeups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::clocks::x86_at;
    use crate::compare::given::tests::ran;
    use flyball_run::Slice;

    #[test]
    fn threads_go_on_where_they_did_not_sleep() {
        let platform = flyball_platform::Platform::named("board-x86").unwrap();
        let mut run = x86_at(1_000_000);
        run.tables.slices.push(Slice { to_ns: 100, ..Slice::default() });
        let recording = Recording::of(&run);
        let clocks = Clocks::of(&platform, &run, &recording);
        let readings = Readings::default();
        let slices = [
            ran(0, 10, 20, Ended::Preempted),
            ran(0, 25, 30, Ended::Migrated),
            ran(1, 30, 40, Ended::Slept),
            ran(1, 60, 70, Ended::Unknown),
        ];
        let woken = |t_ns: u64| Woken { t_ns, ran_ns: None, cpu: 0, tid: 1, waker: None };
        let wakeups = [woken(8), woken(58)];
        let of = |apart: bool| -> Vec<(u32, u64, u64)> {
            let stretches = stretches(&slices, &wakeups, apart, (&readings, &clocks));
            stretches.iter().map(|of| (of.cpu, of.woken_ns, of.cycles as u64)).collect()
        };
        assert_eq!(of(false), [(0, 8, 25), (1, 58, 10)]);
        assert_eq!(of(true), [(0, 8, 15), (1, 30, 10), (1, 58, 10)]);
        let moves =
            stretches(&slices, &wakeups, true, (&readings, &clocks)).into_iter().map(|of| of.moves);
        assert_eq!(moves.collect::<Vec<_>>(), [true, false, false]);
    }
}
