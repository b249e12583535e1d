//! Rows as small values, without allocation. A column that was not read or is shorter than the
//! others ends the row, never the program.

use std::collections::BTreeMap;

use flyball_run::{Nullable, Slices, UtilizationSamples, Wakeups};
use serde::{Deserialize, Serialize};

use super::rows::{RowsBySubject, RowsByTask};
use super::{Recording, Span, Steps};
use crate::event::Class;

/// Why a task gave a CPU up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It sleeps or waits.
    Slept,
    /// Another task took the CPU; it stays runnable.
    Preempted,
    /// It gave way; it stays runnable.
    Yielded,
    /// It went to another CPU; it stays runnable.
    Migrated,
    /// It ended.
    Exited,
    /// Nobody saw why.
    Unknown,
}

impl Ended {
    fn of(why: &str) -> Ended {
        match why {
            "slept" => Ended::Slept,
            "preempted" => Ended::Preempted,
            "yielded" => Ended::Yielded,
            "migrated" => Ended::Migrated,
            "exited" => Ended::Exited,
            _ => Ended::Unknown,
        }
    }
}

/// A task ran on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The CPU.
    pub cpu: u32,
    /// The task.
    pub tid: u32,
    /// From when.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// Why it ended; unknown where the end was not seen or lies behind the span.
    pub ended: Ended,
}

impl Ran {
    /// For how long.
    pub fn length_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// A task woke up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Woken {
    /// When.
    pub t_ns: u64,
    /// When it then ran; none where that was not seen.
    pub ran_ns: Option<u64>,
    /// The CPU it was placed on.
    pub cpu: u32,
    /// The task.
    pub tid: u32,
    /// Who woke it or created it, where that was recorded.
    pub waker: Option<u32>,
}

impl Woken {
    /// Whether it ran at the very time of its wake-up, by the trace's clock.
    pub fn ran_at_once(&self) -> bool {
        self.ran_ns == Some(self.t_ns)
    }
}

/// Whose signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A task's, by its number.
    Task(u32),
    /// A CPU's root fair run queue.
    Cpu(u32),
    /// What a class besides the fair one used of a CPU.
    Class(Class, u32),
}

/// Load-tracking signals at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signals {
    /// When.
    pub t_ns: u64,
    /// Whose.
    pub subject: Subject,
    /// util_avg.
    pub util_avg: Option<u32>,
    /// runnable_avg.
    pub runnable_avg: Option<u32>,
    /// util_est.
    pub util_est: Option<u32>,
    /// How much of the period of load tracking had passed on a CPU, in units of 1024 ns, 0 to 1023.
    pub period_contrib: Option<u32>,
    /// The CPU on which a run queue's were brought up to date, where that is known.
    pub updater: Option<u32>,
}

/// A mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark<'a> {
    /// When.
    pub t_ns: u64,
    /// Its text.
    pub text: &'a str,
    /// The task that left it.
    pub tid: Option<u32>,
}

/// A governor asked for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided<'a> {
    /// When.
    pub t_ns: u64,
    /// The clock domain.
    pub domain: &'a str,
    /// Kind of the event that it answered.
    pub event: &'a str,
    /// The rule that led there.
    pub why: Option<&'a str>,
    /// Operating point asked for; none where that is not known.
    pub resolved_khz: Option<u64>,
}

/// A work item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// The task.
    pub tid: u32,
    /// When it was due.
    pub released_ns: u64,
    /// When it was done; none where that was not seen.
    pub ended_ns: Option<u64>,
    /// Its deadline.
    pub deadline_ns: Option<u64>,
}

/// Events in order of time: a table mostly has them so, and many millions are not copied for that.
#[derive(Clone, Debug)]
pub enum InTime<I: Iterator> {
    /// As the table has them.
    AsRead(I),
    /// Put in order.
    Sorted(Vec<I::Item>),
}

impl<I: Iterator<Item: Copy> + Clone> InTime<I> {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = I::Item> + Clone + '_ {
        let (read, sorted) = match self {
            InTime::AsRead(own) => (Some(own.clone()), None),
            InTime::Sorted(own) => (None, Some(own.iter().copied())),
        };
        read.into_iter().flatten().chain(sorted.into_iter().flatten())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// Reads rows of the table `slices`: texts are looked at once each, not once per row.
#[derive(Clone)]
struct SliceReader<'a> {
    rows: &'a Slices,
    span: Span,
    /// By the code of `why`.
    ended: Vec<Ended>,
    /// By the code of `cut`, whether the end was not seen.
    open: Vec<bool>,
}

impl<'a> SliceReader<'a> {
    fn new(rows: &'a Slices, span: Span) -> SliceReader<'a> {
        let ended = rows.why.names().iter().map(|why| Ended::of(why)).collect();
        let open = rows.cut.names().iter().map(|cut| matches!(&**cut, "end" | "both")).collect();
        SliceReader { rows, span, ended, open }
    }

    #[inline]
    fn read(&self, row: usize) -> Option<Ran> {
        let rows = self.rows;
        let (from_ns, end) = (rows.from_ns.get(row)?, rows.to_ns.get(row)?);
        let (from_ns, to_ns) = self.span.clip_or_moment(from_ns, end)?;
        let open = rows.cut.code(row).and_then(|code| self.open.get(code as usize));
        let why = rows.why.code(row).and_then(|code| self.ended.get(code as usize));
        let unseen = open == Some(&true) || to_ns < end;
        let ended = if unseen { Ended::Unknown } else { why.copied().unwrap_or(Ended::Unknown) };
        Some(Ran { cpu: rows.cpu.get(row)?, tid: rows.tid.get(row)?, from_ns, to_ns, ended })
    }
}

/// Whose the signals of a row are.
#[inline]
pub(super) fn subject(rows: &UtilizationSamples, row: usize) -> Option<Subject> {
    match rows.kind.get(row)? {
        "task" => Some(Subject::Task(rows.tid.get(row)?)),
        "cpu" => Some(Subject::Cpu(rows.cpu.get(row)?)),
        "rt" => Some(Subject::Class(Class::RealTime, rows.cpu.get(row)?)),
        "dl" => Some(Subject::Class(Class::Deadline, rows.cpu.get(row)?)),
        _ => None,
    }
}

#[inline(always)] // what nobody asks for of them is not read then
fn signals(rows: &UtilizationSamples, subject: Subject, row: usize) -> Option<Signals> {
    Some(Signals {
        t_ns: rows.t_ns.get(row)?,
        subject,
        util_avg: rows.util_avg.get(row),
        runnable_avg: rows.runnable_avg.get(row),
        util_est: rows.util_est.get(row),
        period_contrib: rows.period_contrib.get(row),
        updater: rows.updater_cpu.get(row),
    })
}

fn wakeup(rows: &Wakeups, span: Span, row: usize) -> Option<Woken> {
    let t_ns = rows.woken_ns.get(row)?;
    let woken = Woken {
        t_ns,
        ran_ns: rows.ran_ns.get(row),
        cpu: rows.cpu.get(row)?,
        tid: rows.tid.get(row)?,
        waker: rows.waker_tid.get(row),
    };
    span.holds(t_ns).then_some(woken)
}

impl<'a> Recording<'a> {
    /// Who ran where, cut to the span, in the order of the table; also tasks whose running took no
    /// time by the trace's clock.
    pub fn slices(&self) -> impl Iterator<Item = Ran> + use<'a> {
        let (rows, trial) = (&self.tables.slices, self.trial);
        let reader = SliceReader::new(rows, self.span);
        (0..rows.len())
            .filter(move |&row| of_trial(&rows.trial, row, trial))
            .filter_map(move |row| reader.read(row))
    }

    /// The kernel's priority of each task where it first ran with a known one.
    pub fn priorities(&self) -> BTreeMap<u32, i32> {
        let rows = &self.tables.slices;
        let mut known = BTreeMap::new();
        for row in (0..rows.len()).filter(|&row| of_trial(&rows.trial, row, self.trial)) {
            if let (Some(tid), Some(priority)) = (rows.tid.get(row), rows.priority.get(row)) {
                known.entry(tid).or_insert(priority);
            }
        }
        known
    }

    fn by_task(&self) -> &RowsByTask {
        self.found.by_task.get_or_init(|| RowsByTask::of(self.tables, self.trial))
    }

    /// The numbers of all tasks that ran or woke up at any time, ascending.
    pub fn seen(&self) -> Vec<u32> {
        self.by_task().tasks()
    }

    /// As [`Recording::slices`], of one task.
    pub fn slices_in_table(&self, tid: u32) -> impl Iterator<Item = Ran> + Clone + '_ {
        let reader = SliceReader::new(&self.tables.slices, self.span);
        self.by_task().slices(tid).filter_map(move |row| reader.read(row))
    }

    /// Who ran where, of one task, ascending in time.
    pub fn slices_of(&self, tid: u32) -> Vec<Ran> {
        self.slices_in_time(tid).iter().collect()
    }

    /// The same without a copy of them, unless the table has them in another order.
    pub fn slices_in_time(&self, tid: u32) -> InTime<impl Iterator<Item = Ran> + Clone + '_> {
        let own = self.slices_in_table(tid);
        if own.clone().is_sorted_by_key(|slice| slice.from_ns) {
            return InTime::AsRead(own);
        }
        let mut slices: Vec<Ran> = own.collect();
        slices.sort_by_key(|slice| slice.from_ns);
        InTime::Sorted(slices)
    }

    /// As [`Recording::wakeups`], of one task.
    pub fn wakeups_of(&self, tid: u32) -> impl Iterator<Item = Woken> + Clone + '_ {
        let (rows, span) = (&self.tables.wakeups, self.span);
        self.by_task().wakeups(tid).filter_map(move |row| wakeup(rows, span, row))
    }

    /// When a task moved to a CPU, in the span, in the order of the table.
    pub fn moves(&self, tid: u32) -> impl Iterator<Item = (u64, u32)> + use<'a> {
        let (rows, span, trial) = (&self.tables.migrations, self.span, self.trial);
        (0..rows.len())
            .filter(move |&row| of_trial(&rows.trial, row, trial))
            .filter(move |&row| rows.tid.get(row) == Some(tid))
            .filter_map(move |row| Some((rows.t_ns.get(row)?, rows.to_cpu.get(row)?)))
            .filter(move |&(t_ns, _)| span.holds(t_ns))
    }

    /// Wake-ups in the span.
    pub fn wakeups(&self) -> impl Iterator<Item = Woken> + use<'a> {
        let (rows, span, trial) = (&self.tables.wakeups, self.span, self.trial);
        (0..rows.len())
            .filter(move |&row| of_trial(&rows.trial, row, trial))
            .filter_map(move |row| wakeup(rows, span, row))
    }

    /// Signals of the whole recording, in the order of the table: the value in force at the
    /// span's begin lies before it.
    pub fn signals(&self) -> impl Iterator<Item = Signals> + use<'a> {
        let (rows, trial) = (&self.tables.utilization, self.trial);
        (0..rows.len())
            .filter(move |&row| of_trial(&rows.trial, row, trial))
            .filter_map(move |row| signals(rows, subject(rows, row)?, row))
    }

    /// The same of one task or CPU.
    pub fn signals_of(&self, subject: Subject) -> impl Iterator<Item = Signals> + Clone + '_ {
        let rows = &self.tables.utilization;
        let found = || RowsBySubject::of(self.tables, self.trial);
        let own = self.found.by_subject.get_or_init(found).rows(subject);
        own.filter_map(move |row| signals(rows, subject, row))
    }

    /// The steps of a subject's util_avg over all of the recording.
    pub fn utilization(&self, subject: Subject) -> Steps<u32> {
        Steps::from_points(self.signals_of(subject).filter_map(|s| Some((s.t_ns, s.util_avg?))))
    }

    /// Stays in idle states, cut to the span: CPU, state, from, to.
    pub fn idle(&self) -> impl Iterator<Item = (u32, u32, u64, u64)> + use<'a> {
        let (rows, span, trial) = (&self.tables.idle, self.span, self.trial);
        (0..rows.len()).filter(move |&row| of_trial(&rows.trial, row, trial)).filter_map(
            move |row| {
                let (from, to) = span.clip(rows.from_ns.get(row)?, rows.to_ns.get(row)?)?;
                Some((rows.cpu.get(row)?, rows.state.get(row)?, from, to))
            },
        )
    }

    /// The names of the idle states, by CPU and number.
    pub fn idle_names(&self) -> BTreeMap<(u32, u32), &'a str> {
        let rows = &self.tables.idle;
        let name = |row| Some(((rows.cpu.get(row)?, rows.state.get(row)?), rows.name.get(row)?));
        (0..rows.len())
            .filter(|&row| of_trial(&rows.trial, row, self.trial))
            .filter_map(name)
            .collect()
    }

    /// Marks in the span.
    pub fn marks(&self) -> impl Iterator<Item = Mark<'a>> + use<'a> {
        let (rows, span, trial) = (&self.tables.markers, self.span, self.trial);
        (0..rows.len()).filter(move |&row| of_trial(&rows.trial, row, trial)).filter_map(
            move |row| {
                let t_ns = rows.t_ns.get(row)?;
                let mark = Mark { t_ns, text: rows.name.get(row)?, tid: rows.tid.get(row) };
                span.holds(t_ns).then_some(mark)
            },
        )
    }

    /// What governors asked for, over all of the recording.
    pub fn decisions(&self) -> impl Iterator<Item = Decided<'a>> + use<'a> {
        let (rows, trial) = (&self.tables.governor, self.trial);
        (0..rows.len()).filter(move |&row| of_trial(&rows.trial, row, trial)).filter_map(
            move |row| {
                let resolved_khz = rows.resolved_khz.get(row);
                let asked = resolved_khz.is_some()
                    || rows.decision_khz.get(row).is_some()
                    || rows.range_min_khz.get(row).is_some()
                    || rows.perf.get(row).is_some();
                asked.then_some(Decided {
                    t_ns: rows.t_ns.get(row)?,
                    domain: rows.domain.get(row)?,
                    event: rows.event.get(row)?,
                    why: rows.why.get(row),
                    resolved_khz,
                })
            },
        )
    }

    /// Work items that were released in the span.
    pub fn items(&self) -> impl Iterator<Item = Worked> + use<'a> {
        let (rows, span, trial) = (&self.tables.items, self.span, self.trial);
        (0..rows.len()).filter(move |&row| of_trial(&rows.trial, row, trial)).filter_map(
            move |row| {
                let released_ns = rows.released_ns.get(row)?;
                let item = Worked {
                    tid: rows.tid.get(row)?,
                    released_ns,
                    ended_ns: rows.ended_ns.get(row),
                    deadline_ns: rows.deadline_ns.get(row),
                };
                span.holds(released_ns).then_some(item)
            },
        )
    }
}

/// Whether row `row` belongs to what is looked at.
pub(super) fn of_trial(trials: &Nullable<u32>, row: usize, wanted: Option<u32>) -> bool {
    wanted.is_none() || trials.get(row) == wanted
}
