//! Entries into interrupts and exits from them.

use super::fields::{Parsed, need, trim};
use crate::event::{Event, InterruptRef};

/// The kernel's soft interrupts by their number (include/linux/interrupt.h).
pub(crate) const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// The CPU's own interrupts on x86: events `NAME_entry` and `NAME_exit`.
const VECTORS: [&str; 11] = [
    "local_timer",
    "reschedule",
    "call_function",
    "call_function_single",
    "irq_work",
    "x86_platform_ipi",
    "spurious_apic",
    "error_apic",
    "thermal_apic",
    "threshold_apic",
    "deferred_error_apic",
];

/// The name of one of these, where it is one.
pub(crate) fn known_vector(stem: &[u8]) -> Option<&'static str> {
    VECTORS.into_iter().find(|name| name.as_bytes() == stem)
}

/// Reads an event of an interrupt; none where it is another one.
pub(super) fn parse<'a>(event: &'a [u8], text: &'a [u8]) -> Option<Parsed<'a, Event<'a>>> {
    let (stem, enters) = match (event.strip_suffix(b"_entry"), event.strip_suffix(b"_exit")) {
        (Some(stem), _) => (stem, true),
        (_, Some(stem)) => (stem, false),
        _ => return None,
    };
    let found = match stem {
        b"irq_handler" => handler(text),
        b"softirq" => softirq(text),
        b"ipi" => Ok(InterruptRef { kind: "vector", number: None, name: Some(in_brackets(text)) }),
        stem => {
            let known = known_vector(stem)?;
            vector(text, known)
        }
    };
    Some(found.map(|found| if enters { Event::Enters(found) } else { Event::Leaves(found) }))
}

/// `irq=12 name=virtio0-input.0`, `irq=12 ret=handled`.
fn handler(text: &[u8]) -> Parsed<'_, InterruptRef<'_>> {
    let number = Some(need(text, "irq=")?);
    let key = b" name=";
    let at = text.windows(key.len()).position(|window| window == key);
    let name = at.and_then(|at| text.get(at + key.len()..)).map(trim);
    Ok(InterruptRef { kind: "irq", number, name: name.filter(|name| !name.is_empty()) })
}

/// `vec=1 [action=TIMER]`.
fn softirq(text: &[u8]) -> Parsed<'_, InterruptRef<'_>> {
    let number = Some(need(text, "vec=")?);
    let key = b"[action=";
    let at = text.windows(key.len()).position(|window| window == key);
    let name = at.and_then(|at| text.get(at + key.len()..));
    let name = name.and_then(|rest| rest.split(|byte| *byte == b']').next());
    Ok(InterruptRef { kind: "softirq", number, name: name.filter(|name| !name.is_empty()) })
}

/// `vector=236`.
fn vector<'a>(text: &'a [u8], name: &'static str) -> Parsed<'a, InterruptRef<'a>> {
    let number = Some(need(text, "vector=")?);
    Ok(InterruptRef { kind: "vector", number, name: Some(name.as_bytes()) })
}

/// `(Rescheduling interrupts)`.
fn in_brackets(text: &[u8]) -> &[u8] {
    let text = trim(text).trim_ascii_end();
    text.strip_prefix(b"(").and_then(|text| text.strip_suffix(b")")).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(event: &'a str, text: &'a str) -> Option<Event<'a>> {
        parse(event.as_bytes(), text.as_bytes()).map(Result::unwrap)
    }

    #[test]
    fn the_kernel_s_texts() {
        let irq =
            |name: Option<&'static [u8]>| InterruptRef { kind: "irq", number: Some(12), name };
        let expected = Event::Enters(irq(Some(b"virtio0-input.0")));
        assert_eq!(of("irq_handler_entry", "irq=12 name=virtio0-input.0"), Some(expected));
        assert_eq!(of("irq_handler_exit", "irq=12 ret=handled"), Some(Event::Leaves(irq(None))));
        let timer = InterruptRef { kind: "softirq", number: Some(1), name: Some(b"TIMER") };
        assert_eq!(of("softirq_entry", "vec=1 [action=TIMER]"), Some(Event::Enters(timer)));
        let tick = InterruptRef { kind: "vector", number: Some(236), name: Some(b"local_timer") };
        assert_eq!(of("local_timer_exit", "vector=236"), Some(Event::Leaves(tick)));
        let ipi =
            InterruptRef { kind: "vector", number: None, name: Some(b"Function call interrupts") };
        assert_eq!(of("ipi_entry", "(Function call interrupts)"), Some(Event::Enters(ipi)));
        assert_eq!(of("sys_entry", "x"), None);
        assert_eq!(of("softirq_raise", "vec=1 [action=TIMER]"), None);
        assert!(parse(b"softirq_entry", b"nonsense").unwrap().is_err());
    }
}
