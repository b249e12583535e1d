//! Merges the CPUs of a file by time and counts what became of their pages.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::path::Path;

use super::Broken;
use super::decode::{Decoder, Names};
use super::head::{Head, Scale};
use super::stream::{Step, Stream};
use crate::event::{Event, Record};
use crate::ftrace::Header;
use crate::ring::page::Layout;
use crate::source::Source;
use crate::stream::{Counts, Item, Unit};

/// What to do about a file that cannot be read.
pub(crate) const HINT: &str =
    "record it again, or try what trace-cmd makes of it: trace-cmd report -i FILE > trace.txt";

/// Reads a trace.dat in one pass, in memory of some blocks per CPU.
#[derive(Debug)]
pub struct Reader<S> {
    source: S,
    layout: Layout,
    streams: Vec<Stream>,
    scale: Scale,
    /// By the number in a record's `common_type`.
    decoders: Vec<Option<Decoder>>,
    /// Names of tasks.
    tasks: HashMap<u32, Vec<u8>>,
    names: Names,
    header: Header,
    counts: Counts,
}

impl<S: Source> Reader<S> {
    /// Reads all that stands before the pages.
    ///
    /// # Errors
    /// The source cannot be read, is torn there, or of another version.
    pub fn of(source: S) -> flyball_run::Result<Reader<S>> {
        Reader::open(source).map_err(|broken| broken.of_file(Path::new("trace.dat"), HINT))
    }

    /// The same with what is wrong told apart.
    pub(crate) fn open(source: S) -> Result<Reader<S>, Broken> {
        let mut head = Head::read(&source)?;
        let Some(layout) = head.layout.take() else {
            return Err(Broken::Wrong {
                at: None,
                expected: "a description of the pages".to_owned(),
                found: "none".to_owned(),
            });
        };
        let mut streams = Vec::new();
        for region in &head.regions {
            streams.push(Stream::new(&source, &head, &layout, *region)?);
        }
        let most = head.formats.iter().map(|format| format.id).max().unwrap_or(0);
        let mut decoders: Vec<Option<Decoder>> = Vec::new();
        decoders.resize_with(usize::from(most) + 1, || None);
        for format in &head.formats {
            if let Some(slot) = decoders.get_mut(usize::from(format.id)) {
                *slot = Decoder::of(format);
            }
        }
        let counts = Counts { unit: Unit::Page, bytes: source.length()?, ..Counts::default() };
        Ok(Reader {
            source,
            layout,
            streams,
            scale: head.scale,
            decoders,
            tasks: head.names,
            names: Names { symbols: head.symbols, strings: head.strings },
            header: head.header,
            counts,
        })
    }

    /// What the file says of the recording.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What became of the pages read so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Calls `each` for everything that the trace tells, by time, until the end.
    ///
    /// # Errors
    /// The operating system's, and those of `each`, which end the reading.
    pub fn for_each<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut queue = BinaryHeap::with_capacity(self.streams.len());
        // Events that a CPU lost before its next record.
        let mut lost = vec![None; self.streams.len()];
        for number in 0..self.streams.len() {
            if let Some(t) = self.step(number, &mut lost)? {
                queue.push(Reverse((t, number)));
            }
        }
        let mut scratch = Vec::new();
        while let Some(mut next) = queue.peek_mut() {
            let Reverse((t, number)) = *next;
            if let Some(events) = lost.get_mut(number).and_then(Option::take) {
                let cpu = self.streams.get(number).map_or(0, |stream| stream.cpu);
                self.counts.gap(events);
                each(Item::Lost { cpu, events })?;
            }
            self.tell(number, t, &mut scratch, &mut each)?;
            match self.step(number, &mut lost)? {
                Some(t) => *next = Reverse((t, number)),
                None => {
                    std::collections::binary_heap::PeekMut::pop(next);
                }
            }
        }
        Ok(())
    }

    /// Goes on to the next record of a CPU: its time, or none at the end.
    fn step(
        &mut self,
        number: usize,
        lost: &mut [Option<Option<u64>>],
    ) -> Result<Option<u64>, io::Error> {
        let Some(stream) = self.streams.get_mut(number) else { return Ok(None) };
        loop {
            let before = stream.pages;
            let step = stream.step(&self.source, &self.layout);
            self.counts.lines += stream.pages - before;
            match step {
                Ok(Step::Record(gap)) => {
                    if let (Some(slot), Some(gap)) = (lost.get_mut(number), gap) {
                        *slot = Some(gap);
                    }
                    return Ok(Some(stream.place.t));
                }
                Ok(Step::End) => return Ok(None),
                Ok(Step::Torn((expected, found))) => {
                    let found = format!("{found} (CPU {})", stream.cpu);
                    self.counts.torn_at(stream.pages, expected, found.as_bytes());
                    // Nobody knows what the rest of the page held.
                    if let Some(slot) = lost.get_mut(number) {
                        *slot = Some(None);
                    }
                }
                Err(Broken::Io(error)) => return Err(error),
                Err(Broken::Wrong { found, .. } | Broken::Unsupported { found, .. }) => {
                    self.counts.torn_at(stream.pages, "pages", found.as_bytes());
                    return Ok(None);
                }
            }
        }
    }

    /// Hands out the record that a CPU is at.
    fn tell<E>(
        &mut self,
        number: usize,
        t: u64,
        scratch: &mut Vec<u8>,
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(stream) = self.streams.get(number) else { return Ok(()) };
        let bytes = stream.record();
        let kind = bytes.first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes));
        let decoder = self.decoders.get(usize::from(kind)).and_then(Option::as_ref);
        let Some((decoder, (tid, flags))) = decoder.and_then(|d| Some((d, d.head(bytes)?))) else {
            self.counts.unknown(format!("event {kind}").as_bytes());
            return Ok(());
        };
        let event = match decoder.event(bytes, &self.names, scratch) {
            Ok(Event::Other(name)) => {
                self.counts.unknown(name);
                return Ok(());
            }
            Ok(event) => event,
            Err(malformed) => {
                let found = format!("a record of {} of {} bytes", decoder.name, bytes.len());
                self.counts.torn_at(stream.pages, malformed.expected, found.as_bytes());
                return Ok(());
            }
        };
        let task = match tid {
            0 => b"<idle>".as_slice(),
            tid => self.tasks.get(&tid).map_or(b"<...>".as_slice(), Vec::as_slice),
        };
        self.counts.records += 1;
        let t_ns = self.scale.ns(t);
        each(Item::Record(&Record { t_ns, cpu: stream.cpu, tid, task, flags, event }))
    }
}
