//! When a thread took its class, which is another one than the fair class in which it was created: from then on its utilisation is no
//! longer part of its CPU's, and a deadline task's periods begin. And how it comes to a CPU in each of these.
//!
//! ```text
//!   queue's utilisation   ____________            falls by the thread's own: the class changed some cycles before
//!                                     \______
//!   deadline task moves        |  |        |        |        |     each time that its next period begins, a way after that:
//!                              period      +1       +2       +3    their median tells the begin to some 10 us
//! ```

use super::clocks::Clocks;
use super::median;
use flyball_events::Recording;
use flyball_events::recording::{Ended, Ran, Subject};
use flyball_sim::setup::Class;
use flyball_units::Nanos;

/// What a CPU executes from when it reads the clock for a thread that takes its class until that is seen in its queue's utilisation.
const CLASS_CHANGE_CYCLES: f64 = 220_000.0;

/// What a CPU executes from when a deadline task's period begins until that is seen to move to another CPU: 70,000 in 390 cases on
/// x86, 80,000 in 450 on arm64.
pub(super) const PERIOD_CYCLES: u64 = 70_000;

/// The last cycles before a task is seen to run that count as its own: with these, and 80,000 from a tick's reading of the clock to the
/// switch, 8 of 456 turns of a task on x86 end otherwise than its time tells.
const OWN_CYCLES: f64 = 36_000.0;

/// Fewer begins of periods than these tell nothing.
const LEAST_BEGINS: usize = 4;

/// When a thread of this class took it; None of the fair class, and where nothing tells.
pub(super) fn class_changed(
    recording: &Recording<'_>,
    class: Class,
    (tid, slices): (u32, &[Ran]),
    clocks: &Clocks<'_>,
) -> Option<u64> {
    if matches!(class, Class::Fair { .. }) {
        return None;
    }
    let begin = recording.span().from_ns;
    let first = recording.items().filter(|item| item.tid == tid).map(|item| item.released_ns).min();
    let last = first.unwrap_or(u64::MAX);
    let in_set_up = slices.iter().filter(|slice| slice.from_ns >= begin && slice.from_ns < last);
    let seen = in_set_up.clone().find_map(|slice| {
        let own = recording.signals_of(Subject::Task(tid));
        let own = own.filter(|of| (slice.from_ns..=slice.to_ns).contains(&of.t_ns));
        let queue = recording.signals_of(Subject::Cpu(slice.cpu));
        let mut queue: Vec<(u64, u32)> = queue
            .filter(|of| of.t_ns <= slice.to_ns.min(last))
            .filter_map(|of| Some((of.t_ns, of.util_avg?)))
            .collect();
        queue.sort_unstable();
        let mut falls = queue.windows(2).filter(|two| two[1].0 >= slice.from_ns);
        // Where its own is not recorded, it was all that its queue had.
        let own =
            own.filter_map(|of| of.util_avg).max().or(falls.clone().next().map(|two| two[0].1))?;
        let fall = falls.find(|two| two[1].1.saturating_add(own / 2) < two[0].1)?[1].0;
        let rate = clocks.cycles_per_ns(slice.cpu, fall)?;
        Some(fall.saturating_sub((CLASS_CHANGE_CYCLES / rate) as u64).max(slice.from_ns))
    })?;
    let Class::Deadline { period, .. } = class else { return Some(seen) };
    let begins = pushes(recording, (tid, slices)).filter_map(|push| {
        let rate = clocks.cycles_per_ns(push.from, push.t_ns)?;
        Some(push.t_ns.saturating_sub((PERIOD_CYCLES as f64 / rate) as u64))
    });
    let begins: Vec<u64> = begins.collect();
    let earliest = in_set_up.map(|slice| slice.from_ns).min().unwrap_or(begin);
    Some(in_step(seen, &begins, period).max(earliest))
}

/// A deadline task that had used up its time, and that its next period pushed to another CPU.
struct Push {
    t_ns: u64,
    /// Where it was.
    from: u32,
    /// Where it then ran, and when.
    ran: Ran,
}

fn pushes<'a>(
    recording: &'a Recording<'_>,
    (tid, slices): (u32, &'a [Ran]),
) -> impl Iterator<Item = Push> + 'a {
    recording.moves(tid).filter_map(move |(t_ns, _)| {
        let before = slices.iter().filter(|slice| slice.from_ns < t_ns);
        let before = before.max_by_key(|slice| slice.from_ns)?;
        let ran = *slices.iter().find(|slice| slice.from_ns >= t_ns)?;
        let waited = before.to_ns < t_ns && before.ended == Ended::Preempted;
        waited.then_some(Push { t_ns, from: before.cpu, ran })
    })
}

/// Cycles from when a deadline task is pushed to a CPU until that reads its clock for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pushed {
    /// An idle one.
    pub idle: Vec<f64>,
    /// One where another task ran.
    pub busy: Vec<f64>,
}

/// Those of a task; `all` are the slices of everybody.
pub(super) fn pushed(
    recording: &Recording<'_>,
    (tid, slices): (u32, &[Ran]),
    all: &[Ran],
    clocks: &Clocks<'_>,
) -> Pushed {
    let mut found = Pushed::default();
    for Push { t_ns, ran, .. } in pushes(recording, (tid, slices)) {
        let here = |of: &&Ran| of.cpu == ran.cpu && of.tid != tid;
        let was_busy = all.iter().filter(here).any(|of| of.from_ns < t_ns && of.to_ns > t_ns);
        let cycles = clocks.cycles(ran.cpu, t_ns, ran.from_ns) - OWN_CYCLES;
        if was_busy { &mut found.busy } else { &mut found.idle }.push(cycles.max(0.0));
    }
    found
}

/// The time nearest to `seen` from which on periods are in step with their `begins`, in the middle.
fn in_step(seen: u64, begins: &[u64], period: Nanos) -> u64 {
    if begins.len() < LEAST_BEGINS || period.0 == 0 {
        return seen;
    }
    // From half a period before.
    let from = seen.saturating_sub(period.0 / 2);
    let mut later: Vec<u64> = begins.iter().map(|&at| at.saturating_sub(from) % period.0).collect();
    median(&mut later).map_or(seen, |later| from + later)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::clocks::x86_at;
    use crate::compare::given::tests::ran;
    use flyball_platform::Platform;
    use flyball_run::{Migration, Slice};

    /// At 1 GHz the task ran until 10 ms, moves to CPU 2 at 50 ms and runs there 0.2 ms later; from 60 ms on it moves to CPU 1, where another one
    /// runs, and runs there 0.3 ms later; at 80 ms it moves after it slept.
    #[test]
    fn a_push_is_a_move_of_who_has_used_up_his_time() {
        const US: u64 = 1_000;
        let platform = Platform::named("board-x86").unwrap();
        let mut run = x86_at(1_000_000);
        run.tables.slices.push(Slice { to_ns: 100_000 * US, ..Slice::default() });
        for (us, to_cpu) in [(50_000, 2), (60_000, 1), (80_000, 3)] {
            let moved = Migration { t_ns: us * US, tid: 1, to_cpu, ..Migration::default() };
            run.tables.migrations.push(moved);
        }
        let slice = |cpu: u32, from_us: u64, to_us: u64, ended: Ended| {
            ran(cpu, from_us * US, to_us * US, ended)
        };
        let own = [
            slice(0, 0, 10_000, Ended::Preempted),
            slice(2, 50_200, 55_000, Ended::Preempted),
            slice(1, 60_300, 65_000, Ended::Slept),
            slice(3, 80_100, 81_000, Ended::Slept),
        ];
        let mut all = own.to_vec();
        all.push(Ran { tid: 2, ..slice(1, 58_000, 60_300, Ended::Preempted) });
        let recording = Recording::of(&run);
        let clocks = Clocks::of(&platform, &run, &recording);
        let found = pushed(&recording, (1, &own), &all, &clocks);
        assert_eq!(found, Pushed { idle: vec![164_000.0], busy: vec![264_000.0] });
    }

    #[test]
    fn periods_are_in_step_with_the_middle_of_their_begins() {
        let period = Nanos(50);
        // 3 behind what was seen, but for one that is far behind, and before it.
        assert_eq!(in_step(1000, &[1053, 1103, 1153, 1223, 1253], period), 1003);
        assert_eq!(in_step(1000, &[1048, 1098, 1148, 1198], period), 998);
        assert_eq!(in_step(1000, &[1053, 1103, 1153], period), 1000, "too few");
    }
}
