//! The events that are understood, and how their texts read: as the kernel prints them, and as
//! trace-cmd's plugins do.

use super::fields::{Parsed, hex_or_decimal, name, need, number, take, trim, word};
use super::interrupt;
use super::line::Malformed;
use super::probe;
use crate::event::{Event, TaskRef};
use memchr::{memchr, memchr2, memrchr};

/// `cpu_idle`'s state for leaving idle.
const AWAKE: u32 = u32::MAX;

/// Reads what follows the time: `event: text`. A tracer's line without an event counts as one of
/// the name `function`.
pub(super) fn parse(text: &[u8]) -> Parsed<'_, Event<'_>> {
    let end = memchr2(b':', b' ', text).filter(|at| text.get(*at) == Some(&b':'));
    let Some(colon) = end else { return Ok(Event::Other(b"function")) };
    let event = text.get(..colon).unwrap_or_default();
    let text = trim(text.get(colon + 1..).unwrap_or_default());
    match event {
        b"sched_switch" => switch(text),
        b"sched_wakeup" | b"sched_wakeup_new" => wakeup(text),
        b"sched_waking" => wakeup(text).map(|event| match event {
            Event::Wakeup { task, .. } => Event::Waking(task),
            other => other,
        }),
        b"cpu_idle" => {
            let (state, rest) = take(text, "state=")?;
            let state = Some(state).filter(|state| *state != AWAKE);
            Ok(Event::Idle { cpu: need(rest, "cpu_id=")?, state })
        }
        b"cpu_frequency" => {
            let (khz, rest) = take(text, "state=")?;
            Ok(Event::Frequency { cpu: need(rest, "cpu_id=")?, khz })
        }
        b"sched_migrate_task" => migrate(text),
        b"sched_process_fork" => {
            let (_, rest) = name(text, "child_comm=")?;
            let (name, rest) = named(rest, "child_comm=", "child_pid=")?;
            Ok(Event::Fork(TaskRef { name, tid: need(rest, "child_pid=")?, priority: None }))
        }
        b"sched_process_exit" => {
            task(text, "comm=", "pid=", "prio=").map(|(task, _)| Event::Exit(task))
        }
        b"tracing_mark_write" => Ok(Event::Mark(text)),
        b"print" | b"bprint" | b"bputs" => Ok(Event::Mark(mark(text))),
        other => interrupt::parse(other, text).unwrap_or_else(|| probe::parse(other, text)),
    }
}

/// A mark without the function that wrote it: its name, or its address where the name is secret.
fn mark(text: &[u8]) -> &[u8] {
    let (function, rest) = match memchr(b':', text) {
        Some(colon) => (text.get(..colon), text.get(colon + 1..)),
        None => (None, None),
    };
    let of_mark = |function: &[u8]| {
        let address = function.strip_prefix(b"0x");
        function == b"tracing_mark_write"
            || address.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    match (function, rest) {
        (Some(function), Some(rest)) if of_mark(function) => trim(rest),
        _ => text,
    }
}

/// The name behind `key` up to ` next`, and what follows from `next` on.
fn named<'a>(
    text: &'a [u8],
    key: &'static str,
    next: &'static str,
) -> Parsed<'a, (&'a [u8], &'a [u8])> {
    let text = text.strip_prefix(key.as_bytes()).ok_or(Malformed { expected: key, found: text })?;
    name(text, next)
}

/// `comm=NAME pid=N prio=N` under the given keys, and what follows.
fn task<'a>(
    text: &'a [u8],
    comm: &'static str,
    pid: &'static str,
    prio: &'static str,
) -> Parsed<'a, (TaskRef<'a>, &'a [u8])> {
    let (name, rest) = named(text, comm, pid)?;
    let (tid, rest) = take(rest, pid)?;
    let (priority, rest) = priority(rest, prio)?;
    Ok((TaskRef { name, tid, priority: Some(priority) }, rest))
}

/// A priority; deadline tasks have -1.
fn priority<'a>(text: &'a [u8], key: &'static str) -> Parsed<'a, (i32, &'a [u8])> {
    let malformed = Malformed { expected: key, found: text };
    let value = trim(text).strip_prefix(key.as_bytes()).ok_or(malformed)?;
    let (sign, digits) = match value.strip_prefix(b"-") {
        Some(digits) => (-1, digits),
        None => (1, value),
    };
    let (value, rest) = number(digits).ok_or(malformed)?;
    Ok((sign * i32::try_from(value).map_err(|_| malformed)?, rest))
}

fn switch(text: &[u8]) -> Parsed<'_, Event<'_>> {
    if !text.starts_with(b"prev_comm=") {
        return plugin_switch(text);
    }
    let (prev, rest) = task(text, "prev_comm=", "prev_pid=", "prev_prio=")?;
    let malformed = Malformed { expected: "prev_state=", found: rest };
    let text = trim(rest).strip_prefix(b"prev_state=").ok_or(malformed)?;
    let written = word(text);
    let state = letters(written);
    let behind = text.get(written.len()..).unwrap_or_default();
    let rest = match behind.strip_prefix(b" ==> ") {
        Some(rest) if rest.starts_with(b"next_comm=") => rest,
        _ => name(rest, "next_comm=")?.1,
    };
    let (next, _) = task(rest, "next_comm=", "next_pid=", "next_prio=")?;
    Ok(Event::Switch { prev, state, next })
}

/// A state as `trace-cmd report -R` prints it, a number, in the kernel's letters. The values are
/// those of the field since 4.14 (include/linux/sched.h, TASK_*).
fn letters(state: &[u8]) -> &[u8] {
    if !state.first().is_some_and(u8::is_ascii_digit) {
        return state;
    }
    hex_or_decimal(state).map_or(b"?", state_letters)
}

/// A state as the event holds it, in the kernel's letters.
pub(crate) fn state_letters(state: u64) -> &'static [u8] {
    match state {
        0 => b"R",
        256 => b"R+",
        1 => b"S",
        2 => b"D",
        4 => b"T",
        8 => b"t",
        16 => b"X",
        32 => b"Z",
        64 => b"P",
        128 => b"I",
        _ => b"?",
    }
}

/// trace-cmd: `swapper/2:0 [120] R ==> ksoftirqd/2:27 [120]`.
fn plugin_switch(text: &[u8]) -> Parsed<'_, Event<'_>> {
    let (_, right) = name(text, "==>")?;
    let left = text.get(..text.len() - right.len()).unwrap_or_default();
    let (prev, rest) = plugin_task(left)?;
    let next = trim(right.strip_prefix(b"==>").unwrap_or_default());
    let (next, _) = plugin_task(next)?;
    Ok(Event::Switch { prev, state: letters(word(trim(rest))), next })
}

/// trace-cmd: `ksoftirqd/2:27 [120]`, and what follows.
fn plugin_task(text: &[u8]) -> Parsed<'_, (TaskRef<'_>, &[u8])> {
    let malformed = Malformed { expected: "NAME:PID [PRIO]", found: text };
    let open = memrchr(b'[', text).ok_or(malformed)?;
    let (priority, rest) = priority(text.get(open..).unwrap_or_default(), "[")?;
    let named = text.get(..open).unwrap_or_default().trim_ascii_end();
    let colon = memrchr(b':', named).ok_or(malformed)?;
    let (tid, _) = number(named.get(colon + 1..).unwrap_or_default()).ok_or(malformed)?;
    let tid = u32::try_from(tid).map_err(|_| malformed)?;
    let name = named.get(..colon).unwrap_or_default();
    let rest = rest.strip_prefix(b"]").ok_or(malformed)?;
    Ok((TaskRef { name, tid, priority: Some(priority) }, rest))
}

fn wakeup(text: &[u8]) -> Parsed<'_, Event<'_>> {
    if text.starts_with(b"comm=") {
        let (task, rest) = task(text, "comm=", "pid=", "prio=")?;
        return Ok(Event::Wakeup { task, cpu: need(rest, "target_cpu=")? });
    }
    // trace-cmd: `ksoftirqd/2:27 [120] success=1 CPU:002`, the middle one of old kernels.
    let (task, rest) = plugin_task(text)?;
    let malformed = Malformed { expected: "CPU:", found: rest };
    let cpu = rest.windows(4).position(|window| window == b"CPU:").ok_or(malformed)?;
    let cpu = rest.get(cpu + 4..).and_then(number).ok_or(malformed)?.0;
    Ok(Event::Wakeup { task, cpu: u32::try_from(cpu).map_err(|_| malformed)? })
}

fn migrate(text: &[u8]) -> Parsed<'_, Event<'_>> {
    let (task, rest) = task(text, "comm=", "pid=", "prio=")?;
    let (from, rest) = take(rest, "orig_cpu=")?;
    Ok(Event::Migrate { task, from, to: need(rest, "dest_cpu=")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Event<'_> {
        parse(text.as_bytes()).unwrap()
    }

    fn task<'a>(name: &'a str, tid: u32, priority: i32) -> TaskRef<'a> {
        TaskRef { name: name.as_bytes(), tid, priority: Some(priority) }
    }

    #[test]
    fn switches_as_the_kernel_and_as_trace_cmd_print_them() {
        let prev = task("a b", 12, 120);
        let next = task("x", 27, 98);
        let expected = Event::Switch { prev, state: b"R+", next };
        assert_eq!(
            of(
                "sched_switch: prev_comm=a b prev_pid=12 prev_prio=120 prev_state=R+ ==> next_comm=x next_pid=27 next_prio=98"
            ),
            expected
        );
        assert_eq!(of("sched_switch:         a b:12 [120] R+ ==> x:27 [98]"), expected);
        assert_eq!(of("sched_switch:         a b:12 [120] 256 ==> x:27 [98]"), expected);
        assert_eq!(
            of(
                "sched_switch: prev_comm=a b prev_pid=12 prev_prio=120 prev_state=256 next_comm=x next_pid=27 next_prio=98"
            ),
            expected
        );
        let deadline = of(
            "sched_switch: prev_comm=a prev_pid=1 prev_prio=-1 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120",
        );
        assert!(matches!(deadline, Event::Switch { prev: TaskRef { priority: Some(-1), .. }, .. }));
    }

    #[test]
    fn wake_ups_as_the_kernel_and_as_trace_cmd_print_them() {
        let expected = Event::Wakeup { task: task("k:s", 27, 120), cpu: 2 };
        assert_eq!(of("sched_wakeup: comm=k:s pid=27 prio=120 target_cpu=002"), expected);
        assert_eq!(of("sched_wakeup: comm=k:s pid=27 prio=120 success=1 target_cpu=002"), expected);
        assert_eq!(of("sched_wakeup:   k:s:27 [120] CPU:002"), expected);
        assert_eq!(of("sched_wakeup:   k:s:27 [120] success=1 CPU:002"), expected);
        assert_eq!(
            of("sched_waking: comm=k:s pid=27 prio=120 target_cpu=002"),
            Event::Waking(task("k:s", 27, 120))
        );
    }

    #[test]
    fn the_other_events() {
        assert_eq!(of("cpu_idle: state=4294967295 cpu_id=1"), Event::Idle { cpu: 1, state: None });
        assert_eq!(
            of("cpu_frequency: state=1400000 cpu_id=0"),
            Event::Frequency { cpu: 0, khz: 1_400_000 }
        );
        assert_eq!(
            of("sched_migrate_task: comm=a pid=1 prio=120 orig_cpu=1 dest_cpu=2"),
            Event::Migrate { task: task("a", 1, 120), from: 1, to: 2 }
        );
        let child = TaskRef { name: b"c", tid: 2, priority: None };
        assert_eq!(
            of("sched_process_fork: comm=p pid=1 child_comm=c child_pid=2"),
            Event::Fork(child)
        );
        assert_eq!(
            of("sched_process_exit: comm=a pid=1 prio=120 group_dead=true"),
            Event::Exit(task("a", 1, 120))
        );
        assert_eq!(of("tracing_mark_write: ramp: start"), Event::Mark(b"ramp: start"));
        assert_eq!(of("print: tracing_mark_write: ramp"), Event::Mark(b"ramp"));
        assert_eq!(of("print: 0xffffffff81234f9f: ramp: a"), Event::Mark(b"ramp: a"));
        assert_eq!(of("print: do_it: ramp"), Event::Mark(b"do_it: ramp"), "the kernel's own");
        assert!(matches!(of("irq_handler_entry: irq=1 name=x"), Event::Enters(_)));
        assert_eq!(of("workqueue_execute_end: x"), Event::Other(b"workqueue_execute_end"));
        assert_eq!(of("do_idle <-cpu_startup_entry"), Event::Other(b"function"));
    }
}
