//! Merges the CPUs and counters of a trace by time.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};
use std::io;

use prost::bytes::Bytes;

use super::counters::{Last, Subject};
use super::event::{BundledEvent, Current, bundle, event};
use super::index::Index;
use super::messages::Kind;
use crate::event::{Event, Record, flag_letters};
use crate::ftrace::Header;
use crate::stream::{Counts, Item};

/// Reads a trace of perfetto's that is held in memory.
#[derive(Debug)]
pub struct Reader {
    cpus: Vec<Cpu>,
    index: Index,
    header: Header,
}

/// The bundles of one CPU.
#[derive(Debug)]
struct Cpu {
    number: u32,
    bundles: std::vec::IntoIter<Bytes>,
    /// Events of the bundle that is decoded, the last first.
    told: Vec<BundledEvent>,
    lost: bool,
    /// Who runs at the end of what is decoded.
    current: Option<Current>,
    /// Who runs at the end of what was told.
    running: Option<Current>,
}

impl Cpu {
    /// The time of the next event; none at the end.
    fn next(&mut self, counts: &mut Counts) -> Option<u64> {
        while self.told.is_empty() {
            let (told, lost) = bundle(self.bundles.next()?, &mut self.current, counts);
            self.told = told;
            self.told.reverse();
            self.lost |= lost;
        }
        self.told.last().map(|told| told.t_ns)
    }
}

impl Reader {
    /// Takes a whole trace; what does not read is counted.
    pub fn of(bytes: impl Into<Bytes>) -> Reader {
        let mut index = Index::of(&bytes.into());
        let cpus = std::mem::take(&mut index.bundles).into_iter().map(|(number, bundles)| Cpu {
            number,
            bundles: bundles.into_iter(),
            told: Vec::new(),
            lost: false,
            current: None,
            running: None,
        });
        let header = Header { clock: Some("boot".to_owned()), ..Header::default() };
        Reader { cpus: cpus.collect(), index, header }
    }

    /// What the file says of the recording.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What became of the packets.
    pub fn counts(&self) -> &Counts {
        &self.index.counts
    }

    /// Calls `each` for everything that the trace tells, by time, until the end.
    ///
    /// # Errors
    /// Those of `each`, which end the reading.
    pub fn for_each<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Index { readings, tracks, names, counts, .. } = &mut self.index;
        let mut queue = BinaryHeap::with_capacity(self.cpus.len());
        for (number, cpu) in self.cpus.iter_mut().enumerate() {
            queue.extend(cpu.next(counts).map(|t_ns| Reverse((t_ns, number))));
        }
        let mut readings = readings.iter().peekable();
        let mut lasts: HashMap<&Subject, Last> = HashMap::new();
        let mut scratch = Vec::new();
        loop {
            let next = queue.peek_mut();
            let until = next.as_ref().map(|next| next.0.0);
            while let Some(reading) =
                readings.next_if(|reading| until.is_none_or(|until| reading.t_ns <= until))
            {
                let Some((subject, signal)) = tracks.get(reading.track) else { continue };
                let last = lasts.entry(subject).or_default();
                if let Some(event) = last.reading(subject, *signal, reading.value) {
                    counts.records += 1;
                    each(Item::Reading(&of_counter(reading.t_ns, subject, event)))?;
                }
            }
            let Some(mut next) = next else { return Ok(()) };
            let Some(cpu) = self.cpus.get_mut(next.0.1) else { return Ok(()) };
            tell(cpu, names, counts, &mut scratch, &mut each)?;
            match cpu.next(counts) {
                Some(t_ns) => next.0.0 = t_ns,
                None => {
                    PeekMut::pop(next);
                }
            }
        }
    }
}

/// Hands out the next event of a CPU.
fn tell<E>(
    cpu: &mut Cpu,
    names: &HashMap<u32, Bytes>,
    counts: &mut Counts,
    scratch: &mut Vec<u8>,
    each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let Some(told) = cpu.told.pop() else { return Ok(()) };
    if std::mem::take(&mut cpu.lost) {
        counts.gap(None);
        each(Item::Lost { cpu: cpu.number, events: None })?;
    }
    let event = match event(&told.kind, scratch) {
        Some(Event::Other(name)) => {
            counts.unknown(name);
            return Ok(());
        }
        Some(event) => event,
        None => {
            counts.torn_at(counts.lines, "an event with its fields", b"one out of range");
            return Ok(());
        }
    };
    let running = cpu.running.as_ref();
    let of_running = || running.and_then(|(pid, ..)| u32::try_from(*pid).ok());
    let tid = told.tid.or_else(of_running).unwrap_or(0);
    let running = running.filter(|(pid, ..)| u32::try_from(*pid) == Ok(tid));
    let task = match tid {
        0 => b"<idle>".as_slice(),
        tid => names
            .get(&tid)
            .or(running.map(|(_, name, _)| name))
            .map_or(b"<...>".as_slice(), Bytes::as_ref),
    };
    counts.records += 1;
    let t_ns = told.t_ns;
    let record =
        Record { t_ns, cpu: cpu.number, tid, task, flags: flag_letters(told.flags), event };
    each(Item::Record(&record))?;
    if let Kind::Switch(switch) = told.kind {
        let name = switch.next_comm.unwrap_or_default();
        cpu.running = Some((switch.next_pid.unwrap_or(0), name, switch.next_prio.unwrap_or(0)));
    }
    Ok(())
}

/// A reading as a record of the subject's own.
fn of_counter<'a>(t_ns: u64, subject: &'a Subject, event: Event<'a>) -> Record<'a> {
    let (cpu, tid, task) = match subject {
        Subject::Cpu(cpu) => (*cpu, 0, b"<...>".as_slice()),
        Subject::Task { name, tid } => (0, *tid, name.as_bytes()),
    };
    Record { t_ns, cpu, tid, task, flags: b"", event }
}
