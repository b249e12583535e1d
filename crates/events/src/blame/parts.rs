//! The parts of a response.

use serde::{Serialize, Serializer};

/// One part of a response. Every nanosecond of a response belongs to exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The task's own running time, as long as a CPU of that kind at its highest frequency would
    /// have needed if all of it scaled with frequency: running time x f / f_max.
    Work,
    /// The rest of the task's own running time: what was added because the frequency was below its
    /// maximum. An upper bound, for time that memory takes does not scale with frequency.
    Frequency,
    /// From the release until the task runs, while its CPU was in the idle loop: in an idle state,
    /// or on the way from there into the next task.
    IdleExit,
    /// While the task waited, slept towards its release or ran: its CPU was in an interrupt.
    Interrupts,
    /// Before dispatch: the task was runnable and another one ran on its CPU.
    Queue,
    /// After dispatch: the task was runnable and another one ran on its CPU.
    Preemption,
    /// After dispatch: the task slept or waited for something of its own accord.
    Slept,
    /// Before dispatch: the task was still busy with what it began before the release.
    Backlog,
    /// The hypervisor ran something else.
    Steal,
    /// Nothing that was recorded accounts for it.
    Unexplained,
}

impl Part {
    /// All parts, in the order in which they are shown.
    pub const ALL: [Part; 10] = [
        Part::Work,
        Part::Frequency,
        Part::IdleExit,
        Part::Interrupts,
        Part::Queue,
        Part::Preemption,
        Part::Slept,
        Part::Backlog,
        Part::Steal,
        Part::Unexplained,
    ];

    /// Its name in data.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Work => "work",
            Part::Frequency => "frequency",
            Part::IdleExit => "idle_exit",
            Part::Interrupts => "interrupts",
            Part::Queue => "queue",
            Part::Preemption => "preemption",
            Part::Slept => "slept",
            Part::Backlog => "backlog",
            Part::Steal => "steal",
            Part::Unexplained => "unexplained",
        }
    }

    /// Its name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Part::Work => "work at maximum",
            Part::Frequency => "frequency below maximum",
            Part::IdleExit => "idle exit",
            Part::Interrupts => "interrupts",
            Part::Queue => "waiting behind others",
            Part::Preemption => "preemption",
            Part::Slept => "own sleep",
            Part::Backlog => "busy with the window before",
            Part::Steal => "steal",
            Part::Unexplained => "unexplained",
        }
    }
}

/// The parts of one response in nanoseconds. A part that nothing recorded could show is absent,
/// which is not zero: its time is in another part, most often in [`Part::Unexplained`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts([Option<u64>; Part::ALL.len()]);

impl Default for Parts {
    /// Nothing is known: the unexplained part alone is there, with nothing in it.
    fn default() -> Self {
        let mut parts = Parts([None; Part::ALL.len()]);
        parts.know(Part::Unexplained);
        parts
    }
}

impl Parts {
    /// A part's length; none where nothing recorded could show it.
    pub fn get(&self, part: Part) -> Option<u64> {
        self.0[part as usize]
    }

    /// The sum of all parts: the response.
    pub fn sum_ns(&self) -> u64 {
        self.0.iter().flatten().fold(0, |sum, &ns| sum.saturating_add(ns))
    }

    /// The parts that are known, with their lengths.
    pub fn iter(&self) -> impl Iterator<Item = (Part, u64)> + '_ {
        Part::ALL.into_iter().filter_map(|part| Some((part, self.get(part)?)))
    }

    /// The longest part but the work itself, of equal ones the first; none where all are empty.
    pub fn largest_loss(&self) -> Option<(Part, u64)> {
        let losses = self.iter().filter(|(part, ns)| *part != Part::Work && *ns > 0);
        losses.min_by_key(|(_, ns)| std::cmp::Reverse(*ns))
    }

    /// From here on the part's absence means that there was none of it.
    pub(super) fn know(&mut self, part: Part) {
        self.0[part as usize].get_or_insert(0);
    }

    /// Adds time to a part; where the part cannot be known, to the unexplained one.
    pub(super) fn add(&mut self, part: Part, ns: u64) {
        let known = match self.0[part as usize] {
            Some(_) => part,
            None => Part::Unexplained,
        };
        let slot = &mut self.0[known as usize];
        *slot = Some(slot.unwrap_or_default().saturating_add(ns));
    }
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_map(Part::ALL.map(|part| (format!("{}_ns", part.name()), self.get(part))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_a_part_that_cannot_be_known_is_unexplained() {
        let mut parts = Parts::default();
        parts.add(Part::Steal, 5);
        parts.know(Part::Queue);
        parts.add(Part::Queue, 7);
        assert_eq!((parts.get(Part::Steal), parts.get(Part::Queue)), (None, Some(7)));
        assert_eq!((parts.get(Part::Unexplained), parts.sum_ns()), (Some(5), 12));
        assert_eq!(parts.largest_loss(), Some((Part::Queue, 7)));
    }

    #[test]
    fn the_order_of_all_is_that_of_the_numbers() {
        assert!(Part::ALL.iter().enumerate().all(|(at, part)| *part as usize == at));
    }
}
