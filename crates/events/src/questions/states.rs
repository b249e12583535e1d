//! How a task spends its time: running, runnable but waiting, sleeping.

use serde::Serialize;

use crate::Missing;
use crate::recording::{Ended, Ran, Recording, Task, Woken};

/// One task's time by state; the sum is the span.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct States {
    /// The task.
    pub task: Task,
    /// Time on a CPU.
    pub running_ns: u64,
    /// Time wanting a CPU and not having one.
    pub runnable_ns: u64,
    /// Time wanting none.
    pub sleeping_ns: u64,
    /// Time behind its end.
    pub exited_ns: u64,
    /// Time before the first event that tells, behind an end that nobody saw, and in gaps.
    pub unknown_ns: u64,
}

#[derive(Clone, Copy)]
enum State {
    Running,
    Runnable,
    Sleeping,
    Exited,
    Unknown,
}

/// What happens to a task.
#[derive(Clone, Copy)]
enum Change {
    Ends(Ended),
    Wakes,
    /// It runs and ends at one and the same time.
    Blinks(Ended),
    /// It is woken behind all that it ran at that time.
    WakesAgain,
    Runs,
}

impl States {
    /// Of every task that ran or woke up, ascending in number.
    ///
    /// # Errors
    /// Neither slices nor wake-ups in the span.
    pub fn all(recording: &Recording<'_>) -> Result<Vec<States>, Missing> {
        let of = |tid: u32| States::of(recording, tid).ok();
        let found: Vec<States> = recording.seen().into_iter().filter_map(of).collect();
        if found.is_empty() {
            return Err(Missing::rows("the tasks", "slices"));
        }
        Ok(found)
    }

    /// Of one task.
    ///
    /// # Errors
    /// It neither ran nor woke up in the span.
    pub fn of(recording: &Recording<'_>, tid: u32) -> Result<States, Missing> {
        let slices = recording.slices_in_table(tid).flat_map(of_slice);
        let wakeups = recording.wakeups_of(tid).map(|woken| of_wakeup(&woken));
        if slices.clone().next().is_none() && wakeups.clone().next().is_none() {
            let task = recording.task(tid);
            return Err(Missing::rows(format!("task {} ({tid})", task.name), "slices"));
        }
        // At one time: the end of a slice, then a wake-up, then the begin of the next. What has no
        // length lies between the wake-ups that led to it and those that came later.
        let in_order =
            slices.clone().is_sorted_by_key(key) && wakeups.clone().is_sorted_by_key(key);
        if in_order {
            return Ok(states(recording, tid, merged(slices, wakeups)));
        }
        let mut changes: Vec<(u64, Change)> = slices.chain(wakeups).collect();
        changes.sort_by_key(|change| key(*change));
        Ok(states(recording, tid, changes.into_iter()))
    }
}

fn key((t_ns, change): (u64, Change)) -> (u64, u8) {
    (t_ns, rank(change))
}

/// As a stable sort of both would have them, without a copy of millions.
fn merged(
    slices: impl Iterator<Item = (u64, Change)>,
    wakeups: impl Iterator<Item = (u64, Change)>,
) -> impl Iterator<Item = (u64, Change)> {
    let (mut slices, mut wakeups) = (slices.peekable(), wakeups.peekable());
    std::iter::from_fn(move || match (slices.peek(), wakeups.peek()) {
        (Some(slice), Some(wakeup)) if key(*wakeup) < key(*slice) => wakeups.next(),
        (None, _) => wakeups.next(),
        _ => slices.next(),
    })
}

fn of_slice(slice: Ran) -> impl Iterator<Item = (u64, Change)> + Clone {
    let blinks = slice.from_ns == slice.to_ns;
    let first = if blinks { Change::Blinks(slice.ended) } else { Change::Runs };
    let last = (!blinks).then_some((slice.to_ns, Change::Ends(slice.ended)));
    [(slice.from_ns, first)].into_iter().chain(last)
}

fn of_wakeup(woken: &Woken) -> (u64, Change) {
    (woken.t_ns, if woken.ran_at_once() { Change::Wakes } else { Change::WakesAgain })
}

fn states(
    recording: &Recording<'_>,
    tid: u32,
    changes: impl Iterator<Item = (u64, Change)>,
) -> States {
    let span = recording.span();
    let mut answer = States {
        task: recording.task(tid),
        running_ns: 0,
        runnable_ns: 0,
        sleeping_ns: 0,
        exited_ns: 0,
        unknown_ns: 0,
    };
    let mut state = State::Unknown;
    let mut from = span.from_ns;
    for (t, change) in changes {
        spend(recording, &mut answer, state, from, t);
        from = t;
        state = next(state, change);
    }
    spend(recording, &mut answer, state, from, span.to_ns);
    answer
}

fn rank(change: Change) -> u8 {
    match change {
        Change::Ends(_) => 0,
        Change::Wakes => 1,
        Change::Blinks(_) => 2,
        Change::WakesAgain => 3,
        Change::Runs => 4,
    }
}

fn next(state: State, change: Change) -> State {
    match (change, state) {
        (Change::Runs, _) | (Change::Wakes | Change::WakesAgain, State::Running) => State::Running,
        (Change::Wakes | Change::WakesAgain, _) => State::Runnable,
        (Change::Ends(ended) | Change::Blinks(ended), _) => match ended {
            Ended::Slept => State::Sleeping,
            Ended::Preempted | Ended::Yielded | Ended::Migrated => State::Runnable,
            Ended::Exited => State::Exited,
            Ended::Unknown => State::Unknown,
        },
    }
}

fn spend(recording: &Recording<'_>, answer: &mut States, state: State, from: u64, to: u64) {
    let time = to.saturating_sub(from);
    // A running task's own slice tells; of one that does not run, a gap may hide anything.
    let lost = match state {
        State::Running => 0,
        _ => recording.gaps().overlap_ns(None, from, to),
    };
    answer.unknown_ns = answer.unknown_ns.saturating_add(lost);
    let slot = match state {
        State::Running => &mut answer.running_ns,
        State::Runnable => &mut answer.runnable_ns,
        State::Sleeping => &mut answer.sleeping_ns,
        State::Exited => &mut answer.exited_ns,
        State::Unknown => &mut answer.unknown_ns,
    };
    *slot = slot.saturating_add(time - lost);
}
