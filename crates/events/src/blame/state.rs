//! What a task did over time: it ran, it wanted to, or it slept; and on which CPU.

use super::index::{Index, Wakeup};
use crate::recording::Ended;

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It runs.
    Running,
    /// It wants to run.
    Waiting,
    /// It wants nothing.
    Sleeping,
    /// Nobody saw.
    Unknown,
}

/// From when a task does something, and where. It holds until the next.
#[derive(Clone, Copy, Debug)]
struct Point {
    from_ns: u64,
    state: State,
    cpu: Option<u32>,
    /// When it last stopped sleeping; none where that was not seen.
    rose_ns: Option<u64>,
    /// The task that woke it then; none where no task did, or nobody saw.
    waker: Option<u32>,
}

/// A stretch of time in which a task did one thing on one CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub from_ns: u64,
    pub to_ns: u64,
    pub state: State,
    /// Where it runs, or waits, or ran last.
    pub cpu: Option<u32>,
    /// When it last stopped sleeping; none where that was not seen.
    pub rose_ns: Option<u64>,
}

/// A task over time.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    points: Vec<Point>,
    /// From the first to the last that was seen of it.
    known: Option<(u64, u64)>,
}

/// What happens to a task, in the order that counts at one and the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Ends(Ended),
    Wakes(Option<u32>, Option<u32>),
    /// It runs and ends at one and the same time.
    Blinks(u32, Ended),
    /// It is woken behind all that it ran at that time.
    WakesAgain(Option<u32>, Option<u32>),
    Moves(u32),
    Runs(u32),
}

impl Change {
    fn rank(self) -> u8 {
        match self {
            Change::Ends(_) => 0,
            Change::Wakes(..) => 1,
            Change::Blinks(..) => 2,
            Change::WakesAgain(..) => 3,
            Change::Moves(_) => 4,
            Change::Runs(_) => 5,
        }
    }
}

impl States {
    /// Of one task.
    pub fn of(index: &Index<'_>, tid: u32) -> States {
        let mut changes: Vec<(u64, Change)> = Vec::new();
        for slice in index.slices_of(tid) {
            if slice.from_ns == slice.to_ns {
                changes.push((slice.from_ns, Change::Blinks(slice.cpu, slice.ended)));
            } else {
                changes.push((slice.from_ns, Change::Runs(slice.cpu)));
                changes.push((slice.to_ns, Change::Ends(slice.ended)));
            }
        }
        changes.extend(index.wakeups_of(tid).map(|Wakeup { t_ns, cpu, waker, at_once }| {
            match at_once {
                true => (t_ns, Change::Wakes(cpu, waker)),
                false => (t_ns, Change::WakesAgain(cpu, waker)),
            }
        }));
        changes.extend(index.moves_of(tid).map(|(t, cpu)| (t, Change::Moves(cpu))));
        changes.sort_by_key(|&(t, change)| (t, change.rank()));
        let known = changes.first().zip(changes.last()).map(|(first, last)| (first.0, last.0));
        States { points: points(&changes), known }
    }

    /// Whether the recording saw the task from before `from` until after `to`.
    pub fn cover(&self, from_ns: u64, to_ns: u64) -> bool {
        self.known.is_some_and(|(first, last)| first <= from_ns && to_ns <= last)
    }

    /// The task that next woke it, or made it, at `t_ns` or later; none where no task did.
    pub fn waker_after(&self, t_ns: u64) -> Option<u32> {
        let next = self.points.partition_point(|point| point.from_ns < t_ns);
        let mut later = self.points.get(next..).unwrap_or_default().iter();
        later.find(|point| matches!(point.state, State::Running | State::Waiting))?.waker
    }

    /// What it did from `from` to `to`, without a hole.
    pub fn within(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = Stretch> + '_ {
        let behind = self.points.partition_point(|point| point.from_ns <= from_ns);
        let mut next = behind;
        let unseen =
            Point { from_ns: 0, state: State::Unknown, cpu: None, rose_ns: None, waker: None };
        let last = behind.checked_sub(1).and_then(|last| self.points.get(last));
        let mut now = last.copied().unwrap_or(unseen);
        let mut at = from_ns;
        std::iter::from_fn(move || {
            while at < to_ns {
                let point = self.points.get(next).copied().filter(|point| point.from_ns < to_ns);
                let until = point.map_or(to_ns, |point| point.from_ns);
                let Point { state, cpu, rose_ns, .. } = now;
                let stretch = Stretch { from_ns: at, to_ns: until, state, cpu, rose_ns };
                at = until;
                if let Some(point) = point {
                    now = point;
                    next += 1;
                }
                if stretch.from_ns < stretch.to_ns {
                    return Some(stretch);
                }
            }
            None
        })
    }
}

fn points(changes: &[(u64, Change)]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(changes.len());
    let (mut state, mut cpu, mut rose, mut waker) = (State::Unknown, None, None, None);
    for &(t, change) in changes {
        let before = state;
        state = match (change, state) {
            (Change::Runs(_), _)
            | (Change::Wakes(..) | Change::WakesAgain(..) | Change::Moves(_), State::Running) => {
                State::Running
            }
            (Change::Wakes(..) | Change::WakesAgain(..), _) => State::Waiting,
            // A task that sleeps moves while it is being woken: it sleeps until it is.
            (Change::Moves(_), state) => state,
            (Change::Ends(ended) | Change::Blinks(_, ended), _) => after(ended),
        };
        match change {
            Change::Runs(to) | Change::Blinks(to, _) => cpu = Some(to),
            Change::Moves(to) if state != State::Running => cpu = Some(to),
            Change::Wakes(to, _) | Change::WakesAgain(to, _) if state != State::Running => {
                cpu = to.or(cpu);
            }
            Change::Moves(_) | Change::Wakes(..) | Change::WakesAgain(..) | Change::Ends(_) => {}
        }
        let awake = matches!(state, State::Running | State::Waiting);
        match before {
            State::Sleeping if awake => rose = Some(t),
            // Before that it may have slept or not: only a wake-up tells.
            State::Unknown if awake => {
                rose = matches!(change, Change::Wakes(..) | Change::WakesAgain(..)).then_some(t);
            }
            _ => {}
        }
        match change {
            Change::Wakes(_, by) | Change::WakesAgain(_, by) => waker = by,
            // It woke, and nobody saw by whom.
            _ if awake && !matches!(before, State::Running | State::Waiting) => waker = None,
            _ => {}
        }
        if state == State::Unknown {
            rose = None;
        }
        points.push(Point { from_ns: t, state, cpu, rose_ns: rose, waker });
    }
    points
}

/// What a task does behind the end of a slice.
fn after(ended: Ended) -> State {
    match ended {
        Ended::Slept | Ended::Exited => State::Sleeping,
        Ended::Preempted | Ended::Yielded | Ended::Migrated => State::Waiting,
        Ended::Unknown => State::Unknown,
    }
}
