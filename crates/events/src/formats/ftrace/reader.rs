//! Streams lines of any length in one buffer and counts what became of them.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use super::fields::NAME_BYTES;
use super::header::Header;
use super::line::{self, Line, Malformed, NAME_COLUMNS};
use crate::event::{Event, Record, TaskRef};
use crate::stream::{Counts, Item, SHOWN_BYTES};

/// Bytes read at a time; a longer line is torn.
const BLOCK_BYTES: usize = 256 * 1024;

/// Reads a trace in one pass and constant memory.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    header: Header,
    counts: Counts,
    broken: Broken,
}

/// Lines of which one does not read alone: the name of a task in it may hold line ends.
#[derive(Debug, Default)]
struct Broken {
    text: Vec<u8>,
    /// The number of the first.
    line: u64,
    lines: usize,
    expected: &'static str,
}

/// A record has at most two names of tasks beside its head, of 15 bytes each.
const BROKEN_LINES_MAX: usize = 3 * NAME_BYTES + 1;

impl<R: Read> Reader<R> {
    /// Of any source of text.
    pub fn new(source: R) -> Reader<R> {
        let broken = Broken::default();
        Reader { source, header: Header::default(), counts: Counts::default(), broken }
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
        self.give_up();
        let rest = buffer.get(..filled).unwrap_or_default();
        if !rest.is_empty() && !skipping {
            self.counts.lines += 1;
            self.counts.torn(Malformed { expected: "an end of the last line", found: rest });
        }
        Ok(())
    }

    fn overlong(&mut self, begin: &[u8]) {
        self.give_up();
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
            if self.broken.lines > 0 {
                match self.broken.with(line) {
                    Joined::Whole(record) => {
                        self.counts.records += 1;
                        each(Item::Record(&record))?;
                        self.broken.lines = 0;
                        continue;
                    }
                    Joined::Part => continue,
                    Joined::Not => self.give_up(),
                }
            }
            let parsed = line::parse(line);
            let is_blank = || !line.is_empty() && line.iter().all(|byte| *byte == b' ');
            match parsed {
                Ok(Line::Preamble) if is_blank() => {
                    self.broken.begin(line, self.counts.lines, "");
                }
                Err(Malformed { expected, .. }) if may_go_on(line) => {
                    self.broken.begin(line, self.counts.lines, expected);
                }
                _ => {}
            }
            match parsed {
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
                Err(malformed) if self.broken.lines == 0 => self.counts.torn(malformed),
                Ok(Line::Stack | Line::Preamble) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// What was kept is torn; but blank lines are nothing.
    fn give_up(&mut self) {
        let Broken { text, line, lines, expected } = &mut self.broken;
        for (number, found) in text.split(|byte| *byte == b'\n').enumerate().take(*lines) {
            if !found.iter().all(|byte| *byte == b' ') {
                self.counts.torn_at(*line + number as u64, expected, found);
            }
        }
        *lines = 0;
    }
}

/// What a further line makes of those before it.
enum Joined<'a> {
    Whole(Record<'a>),
    /// More lines are missing.
    Part,
    /// The line is one of its own.
    Not,
}

impl Broken {
    fn begin(&mut self, line: &[u8], number: u64, expected: &'static str) {
        self.text.clear();
        self.text.extend_from_slice(line);
        (self.line, self.lines, self.expected) = (number, 1, expected);
    }

    fn with(&mut self, line: &[u8]) -> Joined<'_> {
        let length = self.text.len();
        self.text.push(b'\n');
        self.text.extend_from_slice(line);
        let whole = matches!(
            line::parse(&self.text),
            Ok(Line::Record(record)) if is_of_names(&record, &self.text)
        );
        if !whole && (self.lines >= BROKEN_LINES_MAX || !may_go_on(&self.text)) {
            self.text.truncate(length);
            return Joined::Not;
        }
        self.lines += 1;
        match line::parse(&self.text) {
            Ok(Line::Record(record)) if whole => Joined::Whole(record),
            _ => Joined::Part,
        }
    }
}

/// Whether a text may end within a task's name: that of its head, or one of the event's.
fn may_go_on(text: &[u8]) -> bool {
    const KEY: &[u8] = b"comm=";
    match line::head(text) {
        Some((record, event)) => {
            let tail = event.get(event.len().saturating_sub(KEY.len() + NAME_BYTES)..);
            let ends_in_name =
                tail.is_some_and(|tail| tail.windows(KEY.len()).any(|bytes| bytes == KEY));
            ends_in_name && is_name_of_head(&record, text)
        }
        None => text.len() <= NAME_COLUMNS,
    }
}

/// Whether a name with line ends has the columns of one, so that it is no torn line and the next.
fn is_name_of_head(record: &Record<'_>, text: &[u8]) -> bool {
    let blanks = text.iter().take_while(|byte| **byte == b' ').count();
    !record.task.contains(&b'\n') || blanks + record.task.len() == NAME_COLUMNS
}

/// Whether the line ends in a record are those of names, which are no longer than the kernel's: else it is
/// one torn line and another.
fn is_of_names(record: &Record<'_>, text: &[u8]) -> bool {
    let named: [Option<TaskRef<'_>>; 2] = match record.event {
        Event::Switch { prev, next, .. } => [Some(prev), Some(next)],
        Event::Waking(task) | Event::Fork(task) | Event::Exit(task) => [Some(task), None],
        Event::Wakeup { task, .. } | Event::Migrate { task, .. } => [Some(task), None],
        _ => [None, None],
    };
    let ends = |text: &[u8]| memchr_iter(b'\n', text).count();
    let mut names = named.iter().flatten().map(|task| task.name);
    // A fork also has its parent's name, which is not kept.
    let counted = ends(record.task) + names.clone().map(ends).sum::<usize>();
    let parent = matches!(record.event, Event::Fork(_));
    is_name_of_head(record, text)
        && names.all(|name| name.len() <= NAME_BYTES)
        && (counted == ends(text) || (parent && ends(text) - counted <= NAME_BYTES))
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

    /// A user may give a thread any name: it must not cost root a record, nor forge one.
    #[test]
    fn a_record_survives_any_name() {
        for name in [
            "a\nb",
            "\n",
            "a\n",
            "\nb",
            "\n\n\n\n",
            "\n# clock: boo",
            "x pid=7 prio=1",
            "prev_pid=3 x",
            " next_pid=1 ",
            "a-1[0] 1: x:y",
            "=> a\n=> b",
            "CPU:1 [LOST\n",
            "a\r\n",
            "\\x1b[31m",
            "a\n\tb",
            "x\n next_pid=1",
        ] {
            let mut trace = "# tracer: nop\n# clock: mono\n".to_owned();
            for at in 1..4 {
                trace += &format!(
                    "{name:>16}-123     [001] d..2.     {at}.000001: sched_switch: prev_comm={name} \
                     prev_pid=123 prev_prio=120 prev_state=S ==> next_comm={name} next_pid=124 \
                     next_prio=119\n\
                     {name:>16}-123     [001] d..2.     {at}.000002: sched_wakeup: comm={name} pid=125 \
                     prio=120 target_cpu=002\n"
                );
            }
            let mut reader = Reader::new(trace.as_bytes());
            let mut found = Vec::new();
            let outcome = reader.for_each(|item| -> io::Result<()> {
                if let Item::Record(record) = item {
                    found.push(match record.event {
                        Event::Switch { prev, next, .. } => {
                            (prev.tid, next.tid, prev.name.to_vec())
                        }
                        Event::Wakeup { task, cpu } => (task.tid, cpu, task.name.to_vec()),
                        ref other => panic!("{name:?}: {other:?}"),
                    });
                }
                Ok(())
            });
            outcome.unwrap();
            let as_they_are =
                [(123, 124, name.as_bytes().to_vec()), (125, 2, name.as_bytes().to_vec())];
            assert_eq!(found, [&as_they_are[..]; 3].concat(), "{name:?}");
            let counts = reader.counts();
            assert_eq!((counts.torn, counts.records, counts.unknown.len()), (0, 6, 0), "{name:?}");
            assert_eq!(reader.header().clock.as_deref(), Some("mono"), "{name:?}");
        }
    }

    #[test]
    fn two_torn_lines_are_not_one_record() {
        let torn = "  a-3 [001] d..2 1.5: sched_wakeup: comm=a\n  b-7 [002] d..2 1.6: sched_wakeup: comm=b \
                    pid=9 prio=120 target_cpu=002\nnothing\n  b-7 [002] d..2 1.7: cpu_idle: state=1 cpu_id=1\n";
        let (counts, items) = read(torn.as_bytes());
        assert_eq!((counts.records, counts.torn, items), (2, 2, 2));
        let named: Vec<u64> = counts.first_torn.iter().map(|torn| torn.line).collect();
        assert_eq!(named, [1, 3]);
    }

    #[test]
    fn a_line_without_end_costs_no_memory() {
        let mut text = vec![b'x'; 3 * BLOCK_BYTES];
        text.extend_from_slice(b"\n  <idle>-0 [001] d..1. 1.000000: cpu_idle: state=1 cpu_id=1\n");
        let (counts, items) = read(text.as_slice());
        assert_eq!((counts.lines, counts.torn, items), (2, 1, 1));
    }
}
