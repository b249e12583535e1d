//! One line: what kind it is, and its head.

use super::event;
use super::fields::{NAME_BYTES, number, trim};
use crate::event::{Event, Record};
use memchr::{memchr, memchr_iter};

/// The kernel's own limit lies below (`NR_CPUS` is at most 8192).
const CPUS_MAX: u64 = 1 << 16;

/// Columns of a task's name as the kernel and trace-cmd print it, before a dash and the thread's number.
pub(super) const NAME_COLUMNS: usize = 16;

/// A line that reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Line<'a> {
    /// An event.
    Record(Record<'a>),
    /// The kernel lost events of a CPU here; how many, where it says so.
    Lost {
        /// The CPU.
        cpu: u32,
        /// Number of events.
        events: Option<u64>,
    },
    /// A comment, without its `#`.
    Comment(&'a [u8]),
    /// A line of a stack trace, which belongs to the event before it.
    Stack,
    /// Nothing, or a tool's line before the first event.
    Preamble,
}

/// What a line lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed<'a> {
    /// What should have been there.
    pub expected: &'static str,
    /// The rest of the line from there.
    pub found: &'a [u8],
}

/// Reads one line, without its line end.
///
/// # Errors
/// What was expected where, and what was found.
pub fn parse(line: &[u8]) -> Result<Line<'_>, Malformed<'_>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.first() {
        None => return Ok(Line::Preamble),
        Some(b'#') => return Ok(Line::Comment(line.get(1..).unwrap_or_default())),
        Some(b'C') if line.starts_with(b"CPU") => {
            if let Some(line) = about_cpu(line) {
                return Ok(line);
            }
        }
        _ => {}
    }
    match head(line) {
        Some((head, text)) => {
            event::parse(text).map(|event| Line::Record(Record { event, ..head }))
        }
        None => unheaded(line),
    }
}

/// `CPU:3 [LOST 12 EVENTS]`, `CPU:3 [LOST EVENTS]`, trace-cmd's `CPU:3 [12 EVENTS DROPPED]` and
/// `CPU 3 is empty`.
fn about_cpu(line: &[u8]) -> Option<Line<'_>> {
    let rest = line.strip_prefix(b"CPU")?;
    if rest.first() == Some(&b' ') && rest.ends_with(b"is empty") {
        return Some(Line::Preamble);
    }
    let (cpu, rest) = number(rest.strip_prefix(b":")?)?;
    let cpu = u32::try_from(cpu).ok().filter(|_| cpu < CPUS_MAX)?;
    let rest = trim(rest).strip_prefix(b"[")?.strip_suffix(b"]")?;
    let count = rest.strip_prefix(b"LOST").unwrap_or(rest);
    let (events, rest) = match number(trim(count)) {
        Some((events, rest)) => (Some(events), trim(rest)),
        None => (None, trim(count)),
    };
    matches!(rest, b"EVENTS" | b"EVENTS DROPPED").then_some(Line::Lost { cpu, events })
}

/// A line without a head: part of a stack trace, of a tool's preamble, or torn.
fn unheaded(line: &[u8]) -> Result<Line<'_>, Malformed<'_>> {
    let text = trim(line);
    // perf's begin with a tab and an address.
    let address = || text.trim_ascii_start().split(|byte| *byte == b' ').next().unwrap_or_default();
    let is_stack = text.starts_with(b"=>")
        || text.starts_with(b"<stack trace>")
        || (line.first() == Some(&b'\t') && address().iter().all(u8::is_ascii_hexdigit));
    let preamble = [b"cpus=".as_slice(), b"version =", b"trace-cmd", b"tracer:"];
    if is_stack {
        Ok(Line::Stack)
    } else if text.is_empty() || preamble.iter().any(|begin| text.starts_with(begin)) {
        Ok(Line::Preamble)
    } else {
        Err(Malformed { expected: "TASK-PID [CPU] FLAGS SECONDS: EVENT: TEXT", found: line })
    }
}

/// The head of a line and what follows its time. A task's name may hold brackets, so the first
/// bracket from which everything reads counts, behind the name where that has its columns.
pub(super) fn head(line: &[u8]) -> Option<(Record<'_>, &[u8])> {
    if let Some(found) = head_in_columns(line) {
        return Some(found);
    }
    let number = line.get(NAME_COLUMNS..).and_then(|rest| rest.strip_prefix(b"-"));
    let in_columns = number.and_then(<[u8]>::first).is_some_and(u8::is_ascii_digit);
    let from = if in_columns { NAME_COLUMNS } else { 0 };
    let brackets = memchr_iter(b'[', line.get(from..).unwrap_or_default());
    brackets.map(|at| from + at).find_map(|at| head_at(line, at))
}

/// The head that nearly every line has: a name in its columns, the thread's number, blanks, the CPU.
#[inline]
fn head_in_columns(line: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let (name, rest) = line.split_first_chunk::<NAME_COLUMNS>()?;
    let task = trim(name);
    // One that fills all columns is longer than the kernel's.
    if task.len() > NAME_BYTES {
        return None;
    }
    let (tid, rest) = number(rest.strip_prefix(b"-")?)?;
    let (cpu, flags, t_ns, rest) = behind_bracket(trim(rest).strip_prefix(b"[")?)?;
    let tid = u32::try_from(tid).ok()?;
    Some((Record { t_ns, cpu, tid, task, flags, event: Event::Other(b"") }, trim(rest)))
}

fn head_at(line: &[u8], bracket: usize) -> Option<(Record<'_>, &[u8])> {
    let (cpu, flags, t_ns, rest) = behind_bracket(line.get(bracket + 1..)?)?;
    let before = line.get(..bracket)?;
    let ((task, tid), of_perf) = match thread(before) {
        Some(thread) => (thread, false),
        None => (perf_thread(before)?, true),
    };
    let text = if of_perf { perf_event(rest) } else { trim(rest) };
    Some((Record { t_ns, cpu, tid, task, flags, event: Event::Other(b"") }, text))
}

/// CPU, flags and time, and what follows: `001] d..2.    10.421724: `.
#[inline]
fn behind_bracket(text: &[u8]) -> Option<(u32, &[u8], u64, &[u8])> {
    let (cpu, rest) = number(text)?;
    let cpu = u32::try_from(cpu).ok().filter(|_| cpu < CPUS_MAX)?;
    // Counts of more than 12 digits leave trace-cmd no blank.
    let rest = rest.strip_prefix(b"]")?;
    if !rest.first().is_some_and(|byte| *byte == b' ' || byte.is_ascii_digit()) {
        return None;
    }
    let rest = trim(rest);
    match time(rest) {
        Some((t_ns, rest)) => Some((cpu, b"", t_ns, rest)),
        None => {
            let end = memchr(b' ', rest)?;
            let (t_ns, behind) = time(trim(rest.get(end..)?))?;
            Some((cpu, rest.get(..end)?, t_ns, behind))
        }
    }
}

/// `perf script`: the name, blanks, `tid` or `pid/tid`.
fn perf_thread(text: &[u8]) -> Option<(&[u8], u32)> {
    let split = |text: &'_ [u8]| {
        let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        (text.len() - digits, digits > 0)
    };
    let text = text.trim_ascii_end();
    let (at, is_number) = split(text);
    let (mut name, tid) = text.split_at_checked(at).filter(|_| is_number)?;
    if let Some(pid) = name.strip_suffix(b"/") {
        let (at, is_number) = split(pid);
        name = pid.get(..at).filter(|_| is_number)?;
    }
    let name = name.strip_suffix(b" ")?.trim_ascii();
    let is_name = (1..=NAME_BYTES).contains(&name.len());
    let tid = u32::try_from(number(tid)?.0).ok()?;
    is_name.then_some((name, tid))
}

/// `perf script`: the event without the count of samples and the system before it.
fn perf_event(text: &[u8]) -> &[u8] {
    let text = match number(trim(text)) {
        Some((_, rest)) if rest.first() == Some(&b' ') => trim(rest),
        _ => trim(text),
    };
    let event = memchr(b':', text).and_then(|colon| text.get(colon + 1..));
    let is_event = |event: &[u8]| {
        memchr(b':', event)
            .is_some_and(|end| end > 0 && memchr(b' ', event).is_none_or(|b| b > end))
    };
    event.filter(|event| is_event(event)).unwrap_or(text)
}

/// `task-pid`, with `(tgid)` or without.
fn thread(text: &[u8]) -> Option<(&[u8], u32)> {
    let mut text = text.trim_ascii_end();
    if text.last() == Some(&b')') {
        let open = text.iter().rposition(|byte| *byte == b'(')?;
        text = text.get(..open)?.trim_ascii_end();
    }
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (name, digits) = text.split_at_checked(text.len() - digits)?;
    let (tid, _) = number(digits)?;
    let name = trim(name.strip_suffix(b"-")?);
    // A line that another one interrupted would give a name that holds the first one's head.
    let interrupted = name.len() > NAME_BYTES && memchr(b'[', name).is_some();
    if interrupted { None } else { Some((name, u32::try_from(tid).ok()?)) }
}

/// `SECONDS.FRACTION:` with up to 9 digits of fraction; a clock that only counts has none, and its
/// count is taken as ns.
fn time(text: &[u8]) -> Option<(u64, &[u8])> {
    const SCALE: [u64; 10] =
        [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
    let (whole, rest) = number(text)?;
    if let Some(rest) = rest.strip_prefix(b":") {
        return Some((whole, rest));
    }
    let rest = rest.strip_prefix(b".")?;
    let (fraction, behind) = number(rest)?;
    let scale = SCALE.get(rest.len() - behind.len())?;
    let t_ns = whole.checked_mul(1_000_000_000)?.checked_add(fraction.checked_mul(*scale)?)?;
    Some((t_ns, behind.strip_prefix(b":")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(line: &str) -> Record<'_> {
        match parse(line.as_bytes()) {
            Ok(Line::Record(record)) => record,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn heads_of_any_kernel_and_tool() {
        let idle = Event::Idle { cpu: 1, state: Some(1) };
        for (line, flags) in [
            (
                "          <idle>-0       [001] d..1.    10.421724: cpu_idle: state=1 cpu_id=1",
                "d..1.",
            ),
            ("          <idle>-0     [001] d..1    10.421724: cpu_idle: state=1 cpu_id=1", "d..1"),
            (
                "          <idle>-0     [001]    10.421724: cpu_idle:             state=1 cpu_id=1",
                "",
            ),
            (
                "<idle>-0     (-----) [001] dN.1. 10.421724000: cpu_idle: state=1 cpu_id=1\r",
                "dN.1.",
            ),
            (
                "          <idle>-0     (      0) [001] .....    10.421724: cpu_idle: state=1 cpu_id=1",
                ".....",
            ),
        ] {
            let record = record(line);
            assert_eq!((record.t_ns, record.cpu, record.tid), (10_421_724_000, 1, 0), "{line}");
            assert_eq!((record.flags, record.event), (flags.as_bytes(), idle), "{line}");
        }
    }

    #[test]
    fn a_name_may_look_like_anything() {
        for name in ["a b-1", "[003] x", "x: y", "-", "<...>", "a-2 [1] "] {
            let line =
                format!("{name:>16}-77    [002] d..2.  1.000001: cpu_idle: state=0 cpu_id=2");
            let record = record(&line);
            assert_eq!(
                (record.task, record.tid, record.cpu),
                (name.as_bytes().trim_ascii_start(), 77, 2)
            );
        }
    }

    #[test]
    fn times_of_clocks_that_count() {
        assert_eq!(record("a-1 [000] ..... 123456: x: y").t_ns, 123_456);
        assert_eq!(record("a-1 [000] ..... 1.5: x: y").t_ns, 1_500_000_000);
        assert_eq!(record("a-1    [001]329135156419: x: y").t_ns, 329_135_156_419);
        assert!(parse(b"a-1 [000] ..... 1.0000000001: x: y").is_err());
        assert!(parse(b"a-1 [000] ..... 18446744073.709551616: x: y").is_err());
    }

    #[test]
    fn lines_of_perf_script() {
        let change = Event::Frequency { cpu: 2, khz: 800_000 };
        for line in [
            "          a b-c/0    18 [001]    10.421724: power:cpu_frequency: state=800000 cpu_id=2",
            "a b-c/0   7/18    [001]    10.421724000:          1 power:cpu_frequency: state=800000 cpu_id=2",
        ] {
            let record = record(line);
            assert_eq!((record.task, record.tid, record.cpu), (b"a b-c/0".as_slice(), 18, 1));
            assert_eq!((record.t_ns, record.event), (10_421_724_000, change), "{line}");
        }
        let cycles =
            record("perf 219 [000] 399.68:  1 cycles:  ffffffff81 x+0x1 ([kernel.kallsyms])");
        assert_eq!(cycles.event, Event::Other(b"cycles"));
        assert_eq!(
            parse(b"\tffffffff81a0 try_to_wake_up+0x1 ([kernel.kallsyms])"),
            Ok(Line::Stack)
        );
        assert!(parse(b"a name that is too long 18 [001] 10.4: x: y").is_err());
    }

    #[test]
    fn lost_events_in_every_spelling() {
        let lost = |events| Ok(Line::Lost { cpu: 3, events });
        assert_eq!(parse(b"CPU:3 [LOST 125 EVENTS]"), lost(Some(125)));
        assert_eq!(parse(b"CPU:3 [LOST EVENTS]"), lost(None));
        assert_eq!(parse(b"CPU:3 [125 EVENTS DROPPED]"), lost(Some(125)));
        assert_eq!(parse(b"CPU:3 [EVENTS DROPPED]"), lost(None));
        assert_eq!(parse(b"CPU 3 is empty"), Ok(Line::Preamble));
        assert!(parse(b"CPU:3 [LOST 12").is_err());
    }

    #[test]
    fn a_torn_line_says_what_is_missing() {
        let torn = b"  <idle>-0       [001] d..1.    10.421724: cpu_idle: state=1 cpu";
        assert_eq!(parse(torn), Err(Malformed { expected: "cpu_id=", found: b" cpu" }));
        assert!(parse(b"  <idle>-0       [001] d..1.    10.42").is_err());
        let interrupted = b"  a-3 [001] d..1.    10.42          <idle>-0       [002] d..1.    10.5: cpu_idle: state=1 cpu_id=2";
        assert!(parse(interrupted).is_err());
        assert_eq!(parse(b" => vfs_write"), Ok(Line::Stack));
    }

    #[test]
    fn interrupts_show_in_the_flags() {
        let at = |flags: &str| record(&format!("a-1 [000] {flags} 1.0: x: y")).in_interrupt();
        assert!(at("d.h2.") && at("..s3.") && at("dNH2"));
        assert!(!at("d..3.") && !at("....."));
    }
}
