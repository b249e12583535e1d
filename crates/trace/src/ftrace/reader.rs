//! Streams lines of any length in one buffer and counts what became of them.

use std::collections::HashMap;
use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use super::event::Event;
use super::header::Header;
use super::line::{self, Line, Malformed, Record};

/// Bytes read at a time; a longer line is torn.
const BLOCK_BYTES: usize = 256 * 1024;
/// How many torn lines are named one by one.
const NAMED: usize = 5;
/// How many names of unknown events are told apart.
const NAMES_MAX: usize = 4096;
/// Bytes of a torn line that are shown.
const SHOWN_BYTES: usize = 80;

/// What a trace tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// An event that is understood.
    Record(&'a Record<'a>),
    /// The reading of a counter: its head does not say who ran then.
    Reading(&'a Record<'a>),
    /// Events of a CPU were lost between the event before and the next.
    Lost {
        /// The CPU.
        cpu: u32,
        /// How many, where the kernel says so.
        events: Option<u64>,
    },
}

/// What a trace is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Lines of text.
    #[default]
    Line,
    /// Pages of the ring buffer.
    Page,
    /// Packets of perfetto's.
    Packet,
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unit::Line => "line",
            Unit::Page => "page",
            Unit::Packet => "packet",
        })
    }
}

/// What became of the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What is counted as lines.
    pub unit: Unit,
    /// All lines (pages, packets).
    pub lines: u64,
    /// All bytes.
    pub bytes: u64,
    /// Events that are understood.
    pub records: u64,
    /// Events of other kinds, by name.
    pub unknown: HashMap<String, u64>,
    /// Lines that do not read; of pages also records.
    pub torn: u64,
    /// The first few of these.
    pub first_torn: Vec<TornLine>,
    /// Places where the kernel lost events.
    pub gaps: u64,
    /// Events that it says it lost there; places without a number count nothing.
    pub lost: u64,
}

/// A line that does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornLine {
    /// What it is.
    pub unit: Unit,
    /// Its number from 1.
    pub line: u64,
    /// What should have been there.
    pub expected: &'static str,
    /// What was there.
    pub found: String,
}

impl std::fmt::Display for TornLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TornLine { unit, line, expected, found } = self;
        write!(f, "{unit} {line}: expected {expected}, found {found:?}")
    }
}

impl Counts {
    fn torn(&mut self, malformed: Malformed<'_>) {
        self.torn_at(self.lines, malformed.expected, malformed.found);
    }

    /// Counts a line that does not read, and names the first few.
    pub(crate) fn torn_at(&mut self, line: u64, expected: &'static str, found: &[u8]) {
        self.torn += 1;
        if self.first_torn.len() < NAMED {
            let shown = found.get(..SHOWN_BYTES).unwrap_or(found);
            let found = String::from_utf8_lossy(shown).into_owned();
            self.first_torn.push(TornLine { unit: self.unit, line, expected, found });
        }
    }

    /// Counts a place where events were lost.
    pub(crate) fn gap(&mut self, events: Option<u64>) {
        self.gaps += 1;
        self.lost = self.lost.saturating_add(events.unwrap_or(0));
    }

    /// Counts an event of another kind.
    pub(crate) fn unknown(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name);
        if let Some(count) = self.unknown.get_mut(name.as_ref()) {
            *count += 1;
        } else {
            let name = if self.unknown.len() < NAMES_MAX { &name } else { "others" };
            *self.unknown.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// Events of other kinds, all together.
    pub fn unknown_events(&self) -> u64 {
        self.unknown.values().sum()
    }
}

/// Reads a trace in one pass and constant memory.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    header: Header,
    counts: Counts,
}

impl<R: Read> Reader<R> {
    /// Of any source of text.
    pub fn new(source: R) -> Reader<R> {
        Reader { source, header: Header::default(), counts: Counts::default() }
    }

    /// What the comments read so far said.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What became of the lines read so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Calls `each` for everything that the trace tells, in its order, until the end. A last line
    /// without an end is torn: nobody knows whether its last number is whole.
    ///
    /// # Errors
    /// The source's, and those of `each`, which end the reading.
    pub fn for_each<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut buffer = vec![0; BLOCK_BYTES];
        let (mut filled, mut skipping) = (0, false);
        loop {
            let free = buffer.get_mut(filled..).unwrap_or_default();
            let read = match self.source.read(free) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            if read == 0 {
                break;
            }
            self.counts.bytes += read as u64;
            filled = (filled + read).min(buffer.len());
            let whole =
                memrchr(b'\n', buffer.get(..filled).unwrap_or_default()).map_or(0, |at| at + 1);
            let mut lines = buffer.get(..whole).unwrap_or_default();
            if skipping && whole > 0 {
                let rest = memchr(b'\n', lines).map_or(0, |at| at + 1);
                lines = lines.get(rest..).unwrap_or_default();
                skipping = false;
            }
            self.lines(lines, &mut each)?;
            buffer.copy_within(whole..filled, 0);
            filled -= whole;
            if filled == buffer.len() {
                if !skipping {
                    self.overlong(buffer.get(..SHOWN_BYTES).unwrap_or_default());
                }
                (filled, skipping) = (0, true);
            }
        }
        let rest = buffer.get(..filled).unwrap_or_default();
        if !rest.is_empty() && !skipping {
            self.counts.lines += 1;
            self.counts.torn(Malformed { expected: "an end of the last line", found: rest });
        }
        Ok(())
    }

    fn overlong(&mut self, begin: &[u8]) {
        self.counts.lines += 1;
        self.counts.torn(Malformed { expected: "a line of at most 256 KiB", found: begin });
    }

    fn lines<E>(
        &mut self,
        block: &[u8],
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut from = 0;
        for end in memchr_iter(b'\n', block) {
            let line = block.get(from..end).unwrap_or_default();
            from = end + 1;
            self.counts.lines += 1;
            match line::parse(line) {
                Ok(Line::Record(Record { event: Event::Other(name), .. })) => {
                    self.counts.unknown(name);
                }
                Ok(Line::Record(record)) => {
                    self.counts.records += 1;
                    each(Item::Record(&record))?;
                }
                Ok(Line::Lost { cpu, events }) => {
                    self.counts.gap(events);
                    each(Item::Lost { cpu, events })?;
                }
                Ok(Line::Comment(comment)) => self.header.read(comment),
                Ok(Line::Stack | Line::Preamble) => {}
                Err(malformed) => self.counts.torn(malformed),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(to.len()).min(self.0.len());
            let (now, later) = self.0.split_at(n);
            to[..n].copy_from_slice(now);
            self.0 = later;
            Ok(n)
        }
    }

    fn read(source: impl Read) -> (Counts, usize) {
        let mut reader = Reader::new(source);
        let mut items = 0;
        reader
            .for_each(|_| -> io::Result<()> {
                items += 1;
                Ok(())
            })
            .unwrap();
        (reader.counts().clone(), items)
    }

    const TRACE: &str = "# tracer: nop\n  <idle>-0 [001] d..1. 1.000000: cpu_idle: state=1 cpu_id=1\n\
        CPU:1 [LOST 7 EVENTS]\n  a-3 [001] d..1. 1.5: irq_entry: irq=1\n  a-3 [001] torn\n\
        a-3 [001] ..... 2.0: cpu_idle: state=1 cpu_id=1";

    #[test]
    fn everything_is_counted_however_the_bytes_come() {
        for size in [1, 7, 64, 1 << 20] {
            let (counts, items) = read(Drip(TRACE.as_bytes(), size));
            assert_eq!((counts.lines, counts.records, counts.torn, items), (6, 1, 2, 2), "{size}");
            assert_eq!((counts.gaps, counts.lost, counts.unknown["irq_entry"]), (1, 7, 1));
            let named: Vec<u64> = counts.first_torn.iter().map(|torn| torn.line).collect();
            assert_eq!(named, [5, 6], "the last line has no end");
        }
    }

    #[test]
    fn a_line_without_end_costs_no_memory() {
        let mut text = vec![b'x'; 3 * BLOCK_BYTES];
        text.extend_from_slice(b"\n  <idle>-0 [001] d..1. 1.000000: cpu_idle: state=1 cpu_id=1\n");
        let (counts, items) = read(text.as_slice());
        assert_eq!((counts.lines, counts.torn, items), (2, 1, 1));
    }
}
