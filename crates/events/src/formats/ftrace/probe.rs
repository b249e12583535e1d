//! Probe events on bare tracepoints and on functions. Their names and fields are the user's; the
//! symbol in parentheses tells what was probed, the name only where there is no symbol:
//!
//! ```text
//!   pelt_se: (__probestub_pelt_se_tp+0x4/0x20) pid=163 my_q=0x0 util=1007 runnable=1011
//!   next:    (sugov_update_shared+0x1c0/0x2a0 <- get_next_freq) arg1=1400000
//! ```

use super::fields::{Parsed, after, hex_or_decimal, optional, trim};
use super::line::Malformed;
use crate::event::{Class, Event};
use memchr::{memchr, memchr2};

/// Bit 31 of util_est is a flag: the average did not change since the enqueue.
const ESTIMATE_MASK: u32 = 0x7fff_ffff;

/// What is probed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Point {
    Entity,
    Estimate,
    Queue,
    Class(Class),
    Capacity,
    Asked,
    Answered,
}

/// Reads the text of an event that is not an event of the kernel's own.
pub(crate) fn parse<'a>(event: &'a [u8], text: &'a [u8]) -> Parsed<'a, Event<'a>> {
    let (symbol, text) = symbol(text);
    let point = match symbol {
        Some(symbol) => by_symbol(symbol).or_else(|| by_name(event)),
        None => by_name(event),
    };
    match point {
        None => Ok(Event::Other(event)),
        Some(Point::Entity) => entity(text),
        Some(Point::Estimate) => {
            let tid = need(text, "pid=")?;
            let estimate = ["ue=", "util_est=", "ewma="];
            let estimate = any(text, &estimate).ok_or(missing("ue=", text))? & ESTIMATE_MASK;
            Ok(Event::EntityEstimate { tid, util: any(text, &["util=", "util_avg="]), estimate })
        }
        Some(Point::Queue) => Ok(Event::QueueAverages {
            cpu: need(text, "cpu=")?,
            util: any(text, &["util=", "util_avg="]).ok_or(missing("util=", text))?,
            runnable: any(text, &["runnable=", "runnable_avg="]),
            estimate: any(text, &["ue=", "util_est="]).map(|estimate| estimate & ESTIMATE_MASK),
            contrib: any(text, &["contrib=", "period_contrib="]),
        }),
        Some(Point::Class(class)) => Ok(Event::ClassAverages {
            class,
            cpu: need(text, "cpu=")?,
            util: any(text, &["util=", "util_avg="]).ok_or(missing("util=", text))?,
            contrib: any(text, &["contrib=", "period_contrib="]),
        }),
        Some(Point::Capacity) => Ok(Event::Capacity {
            cpu: need(text, "cpu=")?,
            capacity: any(text, &["cap=", "capacity="]).ok_or(missing("cap=", text))?,
        }),
        Some(Point::Asked) => Ok(Event::GovernorAsked {
            cpu: any(text, &["cpu=", "policy="]),
            util: need(text, "util=")?,
            max: optional(text, b"max="),
        }),
        Some(Point::Answered) => {
            let keys = ["khz=", "freq=", "ret=", "next=", "arg1="];
            let value = keys.iter().find_map(|key| after(text, key.as_bytes()));
            let khz = value.and_then(hex_or_decimal).ok_or(missing("khz=", text))?;
            Ok(Event::GovernorAnswered { khz })
        }
    }
}

fn missing<'a>(expected: &'static str, found: &'a [u8]) -> Malformed<'a> {
    Malformed { expected, found }
}

fn need<'a>(text: &'a [u8], key: &'static str) -> Parsed<'a, u32> {
    optional(text, key.as_bytes()).ok_or(missing(key, text))
}

fn any(text: &[u8], keys: &[&str]) -> Option<u32> {
    keys.iter().find_map(|key| optional(text, key.as_bytes()))
}

/// An entity: a task, or a group where it has a queue of its own.
fn entity(text: &[u8]) -> Parsed<'_, Event<'_>> {
    let util = any(text, &["util=", "util_avg="]).ok_or(missing("util=", text))?;
    let runnable = any(text, &["runnable=", "runnable_avg="]);
    let is_group = after(text, b"my_q=").and_then(hex_or_decimal).is_some_and(|queue| queue != 0)
        || after(text, b"pid=-").is_some();
    let tid = if is_group { None } else { Some(need(text, "pid=")?) };
    Ok(Event::EntityAverages { tid, util, runnable })
}

/// `(symbol+0x4/0x20)` at the begin, and what follows.
fn symbol(text: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let inner = text.strip_prefix(b"(");
    let split = inner.and_then(|inner| Some((inner, memchr(b')', inner)?)));
    match split {
        Some((inner, end)) => (inner.get(..end), trim(inner.get(end + 1..).unwrap_or_default())),
        None => (None, text),
    }
}

fn by_symbol(symbol: &[u8]) -> Option<Point> {
    let called = memchr(b'<', symbol).and_then(|at| symbol.get(at..)).unwrap_or_default();
    if called.starts_with(b"<- get_next_freq") {
        return Some(Point::Answered);
    }
    // A bare tracepoint has a prefix: `__probestub_`, `__traceiter_`.
    let function = memchr2(b'+', b' ', symbol).and_then(|end| symbol.get(..end)).unwrap_or(symbol);
    match function {
        function if function.ends_with(b"pelt_se_tp") => Some(Point::Entity),
        function if function.ends_with(b"sched_util_est_se_tp") => Some(Point::Estimate),
        function if function.ends_with(b"pelt_cfs_tp") => Some(Point::Queue),
        function if function.ends_with(b"pelt_rt_tp") => Some(Point::Class(Class::RealTime)),
        function if function.ends_with(b"pelt_dl_tp") => Some(Point::Class(Class::Deadline)),
        function if function.ends_with(b"sched_cpu_capacity_tp") => Some(Point::Capacity),
        function if function.starts_with(b"get_next_freq") => Some(Point::Asked),
        _ => None,
    }
}

/// Whether an event of this name is taken for a probe that is understood.
pub(crate) fn is_probe_name(event: &[u8]) -> bool {
    by_name(event).is_some()
}

/// Names in use where a tool prints an address instead of the symbol.
fn by_name(event: &[u8]) -> Option<Point> {
    match event {
        b"pelt_se" | b"sched_pelt_se" => Some(Point::Entity),
        b"uest_se" | b"sched_util_est_se" => Some(Point::Estimate),
        b"pelt_cfs" | b"sched_pelt_cfs" => Some(Point::Queue),
        b"pelt_rt" | b"sched_pelt_rt" => Some(Point::Class(Class::RealTime)),
        b"pelt_dl" | b"sched_pelt_dl" => Some(Point::Class(Class::Deadline)),
        b"cap" | b"sched_cpu_capacity" => Some(Point::Capacity),
        b"get_next_freq" => Some(Point::Asked),
        b"get_next_freq_ret" => Some(Point::Answered),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_symbol_tells_what_was_probed() {
        let se = parse(
            b"mine",
            b"(__probestub_pelt_se_tp+0x4/0x20) pid=163 my_q=0x0 util=1007 runnable=1011",
        );
        let expected = Event::EntityAverages { tid: Some(163), util: 1007, runnable: Some(1011) };
        assert_eq!(se, Ok(expected));
        assert_eq!(
            parse(b"pelt_se", b"(ffffffff81) pid=163 util=1007 runnable=1011"),
            Ok(expected)
        );
        let group = parse(b"pelt_se", b"pid=0 my_q=0xffff util=3");
        assert_eq!(group, Ok(Event::EntityAverages { tid: None, util: 3, runnable: None }));
    }

    #[test]
    fn estimates_come_without_their_flag() {
        let text = b"(__probestub_sched_util_est_se_tp+0x4/0x20) pid=27 util=0 ue=0x8000000c";
        let expected = Event::EntityEstimate { tid: 27, util: Some(0), estimate: 12 };
        assert_eq!(parse(b"uest_se", text), Ok(expected));
    }

    #[test]
    fn classes_have_averages() {
        let text = b"(__probestub_pelt_rt_tp+0x4/0x20) cpu=2 util=197 contrib=1023";
        let used = |class, util, contrib| Event::ClassAverages { class, cpu: 2, util, contrib };
        assert_eq!(parse(b"mine", text), Ok(used(Class::RealTime, 197, Some(1023))));
        assert_eq!(parse(b"pelt_dl", b"cpu=2 util=3"), Ok(used(Class::Deadline, 3, None)));
        assert!(parse(b"pelt_dl", b"cpu=2").is_err());
    }

    #[test]
    fn the_governors_question_and_answer() {
        let asked = parse(b"q", b"(get_next_freq+0x0/0x90) cpu=2 util=655 max=1024");
        assert_eq!(asked, Ok(Event::GovernorAsked { cpu: Some(2), util: 655, max: Some(1024) }));
        let answered =
            parse(b"a", b"(sugov_update_shared+0x1c0/0x2a0 <- get_next_freq) arg1=0x249f00");
        assert_eq!(answered, Ok(Event::GovernorAnswered { khz: 2_400_000 }));
    }

    #[test]
    fn others_keep_their_name() {
        assert_eq!(parse(b"myprobe", b"(do_sys_open+0x0/0x90) x=1"), Ok(Event::Other(b"myprobe")));
        assert!(parse(b"pelt_cfs", b"(x) cpu=1").is_err());
    }
}
