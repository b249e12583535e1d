//! Streams lines of any length in one buffer and counts what became of them.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use super::header::Header;
use super::line::{self, Line, Malformed};
use crate::event::{Event, Record};
use crate::stream::{Counts, Item, SHOWN_BYTES};

/// Bytes read at a time; a longer line is torn.
const BLOCK_BYTES: usize = 256 * 1024;

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
