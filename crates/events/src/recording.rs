//! A run's event tables as typed events: one trial, one stretch of time.

mod events;
mod gaps;
mod rows;
mod scan;
mod steps;
mod topology;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use flyball_run::{Manifest, Run, Tables};
use serde::{Deserialize, Serialize};

use crate::Missing;

pub use events::{Decided, Ended, InTime, Mark, Ran, Signals, Subject, Woken, Worked};
pub use gaps::Gaps;
use rows::{RowsBySubject, RowsByTask};
pub use steps::{Segment, Steps};
pub use topology::{Cpu, Topology};

/// A stretch of time on the tables' clock, `from` included, `to` excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Its begin.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

impl Span {
    /// Its length.
    pub fn length_ns(self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    /// What `from` to `to` has in common with it; none where that is nothing.
    pub fn clip(self, from_ns: u64, to_ns: u64) -> Option<(u64, u64)> {
        let (from, to) = (from_ns.max(self.from_ns), to_ns.min(self.to_ns));
        (from < to).then_some((from, to))
    }

    /// As [`Span::clip`], but something without a length stays: that a task ran so shortly that the
    /// clock did not move still tells that it sleeps again.
    pub fn clip_or_moment(self, from_ns: u64, to_ns: u64) -> Option<(u64, u64)> {
        let moment = (from_ns == to_ns && self.holds(from_ns)).then_some((from_ns, to_ns));
        self.clip(from_ns, to_ns).or(moment)
    }

    /// Whether an event at `t_ns` counts; one at the very end does.
    pub fn holds(self, t_ns: u64) -> bool {
        (self.from_ns..=self.to_ns).contains(&t_ns)
    }
}

/// A task: its number and the last name it had.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Task {
    /// Its number.
    pub tid: u32,
    /// Its name.
    pub name: String,
}

/// A task's name as the kernel keeps it, in traces and elsewhere: its first 15 characters.
pub fn comm(name: &str) -> String {
    name.chars().take(15).collect()
}

/// The event tables of one trial (or of a run without trials), seen through one stretch of time.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    tables: &'a Tables,
    trial: Option<u32>,
    span: Span,
    topology: Topology,
    gaps: Gaps,
    tasks: BTreeMap<u32, String>,
    found: Arc<Found>,
}

/// What was found out once somebody asked: the same through every stretch of time.
#[derive(Debug, Default)]
struct Found {
    by_task: OnceLock<RowsByTask>,
    by_subject: OnceLock<RowsBySubject>,
    /// By domain.
    steps: Mutex<BTreeMap<String, Arc<Steps<u64>>>>,
}

impl<'a> Recording<'a> {
    /// All events of a run.
    pub fn of(run: &'a Run) -> Recording<'a> {
        Recording::new(&run.tables, &run.manifest, None)
    }

    /// The events of one trial of a run.
    pub fn of_trial(run: &'a Run, trial: u32) -> Recording<'a> {
        Recording::new(&run.tables, &run.manifest, Some(trial))
    }

    /// The events in `tables`; of one trial, or all where `trial` is none. The span is that of all
    /// scheduling and frequency events.
    pub fn new(tables: &'a Tables, manifest: &Manifest, trial: Option<u32>) -> Recording<'a> {
        let topology = Topology::of(tables, manifest, trial);
        let span = scan::whole(tables, trial);
        let gaps = Gaps::of(tables, trial);
        let tasks = scan::names(tables, trial);
        Recording { tables, trial, span, topology, gaps, tasks, found: Arc::default() }
    }

    /// The numbers of the trials that have events, ascending; none where events belong to the run.
    pub fn trials(run: &Run) -> Vec<u32> {
        scan::trials(&run.tables)
    }

    /// The same recording through another stretch of time.
    #[must_use]
    pub fn between(&self, from_ns: u64, to_ns: u64) -> Recording<'a> {
        let whole = self.span;
        let from_ns = from_ns.clamp(whole.from_ns, whole.to_ns);
        let span = Span { from_ns, to_ns: to_ns.clamp(from_ns, whole.to_ns) };
        Recording { span, ..self.clone() }
    }

    /// The stretch of time that is looked at.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The CPUs as far as they are known.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The gaps in the recording.
    pub fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// All tasks that are mentioned, by number.
    pub fn tasks(&self) -> impl Iterator<Item = Task> + '_ {
        self.tasks.iter().map(|(&tid, name)| Task { tid, name: name.clone() })
    }

    /// The task with this number.
    pub fn task(&self, tid: u32) -> Task {
        let name = self.tasks.get(&tid).cloned().unwrap_or_default();
        Task { tid, name }
    }

    /// The task that `wanted` names: a number, a name, or `name-number` as traces write it. Among
    /// several of one name, the one that ran longest.
    ///
    /// # Errors
    /// No such task.
    pub fn find(&self, wanted: &str) -> Result<Task, Missing> {
        let fits = |(tid, name): &(&u32, &String)| {
            name.as_str() == wanted
                || wanted.parse() == Ok(**tid)
                || wanted
                    .strip_prefix(name.as_str())
                    .and_then(|rest| rest.strip_prefix('-'))
                    .is_some_and(|number| number.parse() == Ok(**tid))
        };
        let candidates: Vec<u32> = self.tasks.iter().filter(fits).map(|(&tid, _)| tid).collect();
        let mut ran = BTreeMap::<u32, u64>::new();
        if candidates.len() > 1 {
            for slice in candidates.iter().flat_map(|tid| self.slices_in_table(*tid)) {
                let sum = ran.entry(slice.tid).or_default();
                *sum = sum.saturating_add(slice.length_ns());
            }
        }
        let longest = |tid: &u32| ran.get(tid).copied().unwrap_or_default();
        match candidates.into_iter().rev().max_by_key(longest) {
            Some(tid) => Ok(self.task(tid)),
            None => Err(Missing::new(
                format!("task `{wanted}`"),
                "a task of the recording",
                format!("{} other tasks", self.tasks.len()),
                "name a task by its name, its number, or name-number",
            )),
        }
    }

    /// The first mark whose text contains `text`.
    ///
    /// # Errors
    /// No such mark.
    pub fn marker(&self, text: &str) -> Result<Mark<'a>, Missing> {
        self.marks().find(|mark| mark.text.contains(text)).ok_or_else(|| {
            Missing::new(
                format!("marker `{text}`"),
                "a marker with this text",
                format!("{} others", self.marks().count()),
                "see the table `markers` for those that were written",
            )
        })
    }

    /// The steps of a clock domain's frequency over all of the recording, in kHz.
    pub fn frequency(&self, domain: &str) -> Arc<Steps<u64>> {
        let mut known = self.found.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(steps) = known.get(domain) {
            return Arc::clone(steps);
        }
        let steps = Arc::new(scan::frequency(self.tables, self.trial, domain));
        known.insert(domain.to_owned(), Arc::clone(&steps));
        steps
    }

    /// The names of the clock domains with frequency rows, in order of appearance.
    pub fn domains(&self) -> Vec<String> {
        scan::domains(self.tables, self.trial)
    }

    /// The steps of the frequency of the domain that a CPU belongs to; none where nobody recorded
    /// it.
    pub fn frequency_of_cpu(&self, cpu: u32) -> Option<Arc<Steps<u64>>> {
        let own = format!("cpu{cpu}");
        let domain = self.topology.cpu(cpu).and_then(|cpu| cpu.domain.clone());
        [domain, Some(own)]
            .into_iter()
            .flatten()
            .map(|domain| self.frequency(&domain))
            .find(|steps| !steps.is_empty())
    }
}
