//! Work as it was recorded: how much became due when, and on which CPU it was done.

use flyball_units::Nanos;

/// One item of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// When it became due, from the beginning of the recording.
    pub released: Nanos,
    /// CPU time that it had.
    pub busy: Nanos,
    /// Cycles of the recorded machine's fastest kind of core; None where no frequency was recorded.
    pub cycles: Option<u64>,
}

/// What one CPU or one task did, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Its name.
    pub name: String,
    /// The recorded CPU: of a task, the one where it ran longest.
    pub cpu: u32,
    /// Its items, ascending by release.
    pub items: Vec<Item>,
}

/// A recording as work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The recording's name.
    pub name: String,
    /// Its length.
    pub duration: Nanos,
    /// Length of the intervals where each item is what one CPU did in one interval; None where items
    /// are those of tasks, from wake-up to sleep.
    pub interval: Option<Nanos>,
    /// The recorded CPUs, ascending.
    pub cpus: Vec<u32>,
    /// Who did what.
    pub streams: Vec<Stream>,
    /// What was assumed or left out.
    pub notes: Vec<String>,
}

impl Work {
    /// Number of items.
    pub fn items(&self) -> usize {
        self.streams.iter().map(|stream| stream.items.len()).sum()
    }

    /// CPU time recorded, over all CPUs.
    pub fn busy(&self) -> Nanos {
        let items = self.streams.iter().flat_map(|stream| &stream.items);
        Nanos(items.map(|item| item.busy.0).fold(0, u64::saturating_add))
    }

    /// What was released from `from` on and before `to`, as a recording of its own.
    #[must_use]
    pub fn between(&self, from: Nanos, to: Nanos) -> Work {
        let to = to.min(self.duration);
        let inside = |item: &&Item| from <= item.released && item.released < to;
        let moved = |item: &Item| Item { released: Nanos(item.released.since(from).0), ..*item };
        let cut = |stream: &Stream| Stream {
            items: stream.items.iter().filter(inside).map(moved).collect(),
            name: stream.name.clone(),
            cpu: stream.cpu,
        };
        Work {
            name: self.name.clone(),
            duration: Nanos(to.since(from).0),
            interval: self.interval,
            cpus: self.cpus.clone(),
            streams: self.streams.iter().map(cut).collect(),
            notes: self.notes.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_begins_at_zero() {
        let item = |ms| Item { released: Nanos::from_millis(ms), ..Item::default() };
        let items = vec![item(0), item(10), item(20), item(30)];
        let work = Work {
            duration: Nanos::from_millis(40),
            streams: vec![Stream { items, ..Stream::default() }],
            ..Work::default()
        };
        let part = work.between(Nanos::from_millis(10), Nanos::from_millis(30));
        assert_eq!((part.duration, part.items()), (Nanos::from_millis(20), 2));
        assert_eq!(part.streams[0].items, [item(0), item(10)]);
    }
}
