//! From the loop to the writer: a ring of fixed cells, made beforehand. The loop never waits and
//! never allocates; what does not fit is dropped, counted and told.

use crate::{Entry, Note, Sink};
use flyball_governors::{CpuTimes, Decision, Event};
use flyball_units::{CpuId, KiloHertz, Nanos};
use rtrb::{Consumer, Producer, RingBuffer};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Cells: 40 polls of 8 domains with 64 CPUs together, or 5 s of polls every 20 ms on 8 CPUs.
const CELLS: usize = 4_000;

/// What a governor was told, without what follows in cells of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventHead {
    Poll,
    Timer,
    Tick { cpu: CpuId, busy: bool },
    Applied { frequency: KiloHertz },
    Limits { min: KiloHertz, max: KiloHertz },
    Cpus,
    Temperature { millicelsius: i32 },
}

/// A step of a governor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub at: Nanos,
    pub domain: u16,
    pub told: EventHead,
    pub decision: Decision,
    pub resolved: Option<KiloHertz>,
    pub written: bool,
    pub machine: Option<KiloHertz>,
    pub cost: u32,
}

#[derive(Debug)]
enum Cell {
    Step {
        step: Step,
        more: u16,
    },
    Times(CpuTimes),
    Cpu(CpuId),
    Note {
        at: Nanos,
        domain: Option<u16>,
        note: Note,
    },
    /// Rare: made on the heap.
    Whole(Box<Entry<'static>>),
}

/// The loop's end of the ring.
#[derive(Debug)]
pub struct Trail {
    cells: Option<Producer<Cell>>,
    dropped: Arc<AtomicU64>,
}

/// The writer's end of the ring.
#[derive(Debug)]
pub struct Writer {
    cells: Consumer<Cell>,
    dropped: Arc<AtomicU64>,
    told: u64,
    domains: Vec<String>,
    /// Entries written so far.
    pub entries: u64,
}

/// A ring for the log of `domains`, by their names.
pub fn trail(domains: Vec<String>) -> (Trail, Writer) {
    let (producer, consumer) = RingBuffer::new(CELLS);
    let dropped = Arc::new(AtomicU64::new(0));
    let writer =
        Writer { cells: consumer, dropped: Arc::clone(&dropped), told: 0, domains, entries: 0 };
    (Trail { cells: Some(producer), dropped }, writer)
}

impl Trail {
    /// A trail that keeps nothing.
    pub fn none() -> Trail {
        Trail { cells: None, dropped: Arc::new(AtomicU64::new(0)) }
    }

    /// Records that did not fit so far.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Whether anybody reads it.
    pub(crate) fn is_kept(&self) -> bool {
        self.cells.is_some()
    }

    pub(crate) fn step(&mut self, step: Step, times: &[CpuTimes], cpus: &[CpuId]) {
        let more = match step.told {
            EventHead::Poll => times.len(),
            EventHead::Cpus => cpus.len(),
            _ => 0,
        };
        let more = u16::try_from(more).unwrap_or(u16::MAX);
        let rest = times.iter().map(|&times| Cell::Times(times));
        let cells = match step.told {
            EventHead::Poll => self.push(Cell::Step { step, more }, rest.take(more.into())),
            _ => {
                let cpus = cpus.iter().map(|&cpu| Cell::Cpu(cpu));
                self.push(Cell::Step { step, more }, cpus.take(more.into()))
            }
        };
        self.count(cells);
    }

    pub(crate) fn note(&mut self, at: Nanos, domain: Option<u16>, note: Note) {
        let pushed = self.push(Cell::Note { at, domain, note }, std::iter::empty());
        self.count(pushed);
    }

    pub(crate) fn whole(&mut self, entry: Entry<'static>) {
        if self.cells.is_some() {
            let pushed = self.push(Cell::Whole(Box::new(entry)), std::iter::empty());
            self.count(pushed);
        }
    }

    /// All of it, or nothing.
    fn push(&mut self, first: Cell, rest: impl ExactSizeIterator<Item = Cell>) -> bool {
        let Some(cells) = &mut self.cells else { return true };
        if cells.slots() <= rest.len() {
            return false;
        }
        // There is room: nobody else pushes.
        cells.push(first).is_ok() && rest.into_iter().all(|cell| cells.push(cell).is_ok())
    }

    fn count(&self, pushed: bool) {
        if !pushed {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Writer {
    /// Writes what has come so far.
    ///
    /// # Errors
    /// The sink's.
    pub fn drain(&mut self, now: Nanos, sink: &mut dyn Sink) -> Result<(), String> {
        let dropped = self.dropped.load(Ordering::Relaxed);
        if dropped > self.told {
            let note = Note::Dropped { records: dropped - self.told };
            sink.entry(&Entry::Note { t_ns: now, domain: None, note })?;
            self.told = dropped;
        }
        // A step is pushed before what follows it: it may be half there, which the next time ends.
        while self.is_whole() {
            let Ok(cell) = self.cells.pop() else { break };
            self.one(cell, sink)?;
        }
        sink.flush()
    }

    /// Records that did not fit so far.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Whether the next record is there with all that belongs to it.
    fn is_whole(&self) -> bool {
        match self.cells.peek() {
            Ok(Cell::Step { more, .. }) => self.cells.slots() > usize::from(*more),
            Ok(_) => true,
            Err(_) => false,
        }
    }

    fn one(&mut self, cell: Cell, sink: &mut dyn Sink) -> Result<(), String> {
        self.entries += 1;
        let name = |domains: &[String], at: u16| domains.get(usize::from(at)).cloned();
        match cell {
            Cell::Step { step, more } => {
                let event = self.event(step.told, more);
                let domain = name(&self.domains, step.domain).unwrap_or_default();
                sink.entry(&Entry::Step {
                    t_ns: step.at,
                    domain: &domain,
                    event,
                    decision: step.decision,
                    resolved_khz: step.resolved,
                    written: step.written,
                    machine_khz: step.machine,
                    cost_ns: step.cost,
                })
            }
            Cell::Note { at, domain, note } => {
                let domain = domain.and_then(|at| name(&self.domains, at));
                sink.entry(&Entry::Note { t_ns: at, domain: domain.as_deref(), note })
            }
            Cell::Whole(entry) => sink.entry(&entry),
            // What follows a step is taken with it.
            Cell::Times(_) | Cell::Cpu(_) => Ok(()),
        }
    }

    fn event(&mut self, told: EventHead, more: u16) -> Event<'static> {
        match told {
            EventHead::Poll => {
                let times = (0..more).filter_map(|_| match self.cells.pop() {
                    Ok(Cell::Times(times)) => Some(times),
                    _ => None,
                });
                Event::Poll { times: Cow::Owned(times.collect()) }
            }
            EventHead::Cpus => {
                let cpus = (0..more).filter_map(|_| match self.cells.pop() {
                    Ok(Cell::Cpu(cpu)) => Some(cpu),
                    _ => None,
                });
                Event::Cpus { cpus: Cow::Owned(cpus.collect()) }
            }
            EventHead::Timer => Event::Timer,
            EventHead::Tick { cpu, busy } => Event::Tick { cpu, busy },
            EventHead::Applied { frequency } => Event::Applied { frequency },
            EventHead::Limits { min, max } => Event::Limits { min, max },
            EventHead::Temperature { millicelsius } => Event::Temperature { millicelsius },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lines;

    fn step(told: EventHead) -> Step {
        Step {
            at: Nanos(5),
            domain: 0,
            told,
            decision: Decision::NONE,
            resolved: None,
            written: false,
            machine: None,
            cost: 7,
        }
    }

    #[test]
    fn a_poll_comes_out_with_its_times() {
        let (mut trail, mut writer) = trail(vec!["policy0".to_owned()]);
        let times = [CpuTimes::ZERO.busy(Nanos(1)); 2];
        trail.step(step(EventHead::Poll), &times, &[CpuId(0)]);
        trail.step(step(EventHead::Cpus), &times, &[CpuId(3)]);
        trail.note(Nanos(6), Some(0), Note::GovernorTaken);
        let mut lines = Lines::new(Vec::new());
        writer.drain(Nanos(9), &mut lines).unwrap();
        let text = String::from_utf8(lines.into_inner()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains(r#""busy_ns":1"#) && lines[0].contains(r#""domain":"policy0""#));
        assert!(lines[1].contains(r#"{"event":"cpus","cpus":[3]}"#), "{}", lines[1]);
        assert!(lines[2].contains(r#""note":"governor_taken""#), "{}", lines[2]);
        assert_eq!(writer.entries, 3);
    }

    #[test]
    fn what_does_not_fit_is_dropped_whole_counted_and_told() {
        let (mut trail, mut writer) = trail(vec!["policy0".to_owned()]);
        let times = [CpuTimes::default(); 9];
        for _ in 0..CELLS / 10 + 5 {
            trail.step(step(EventHead::Poll), &times, &[]);
        }
        assert_eq!(trail.dropped(), 5);
        let mut lines = Lines::new(Vec::new());
        writer.drain(Nanos(9), &mut lines).unwrap();
        let text = String::from_utf8(lines.into_inner()).unwrap();
        assert!(
            text.starts_with(
                r#"{"kind":"note","t_ns":9,"domain":null,"note":"dropped","records":5}"#
            )
        );
        assert_eq!(text.lines().count(), CELLS / 10 + 1);
        writer.drain(Nanos(10), &mut Lines::new(std::io::sink())).unwrap();
        assert_eq!(writer.entries as usize, CELLS / 10);
    }
}
