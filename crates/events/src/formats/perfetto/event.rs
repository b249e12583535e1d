//! perfetto's ftrace events as ours.

use std::io::Write;

use prost::Message;
use prost::bytes::Bytes;

use super::index::kind_of_event;
use super::messages::{Bundle, Compact, FtraceEvent, Kind, Switch, Wakeup};
use crate::event::{Event, InterruptRef, TaskRef};
use crate::ftrace::{SOFTIRQS, parse_probe, state_letters};
use crate::stream::Counts;

/// `cpu_idle`'s state for leaving idle.
const AWAKE: u32 = u32::MAX;

/// An event of a bundle.
#[derive(Debug)]
pub(super) struct BundledEvent {
    pub t_ns: u64,
    /// The thread that the CPU ran; none where only the switches before tell.
    pub tid: Option<u32>,
    pub flags: u32,
    pub kind: Kind,
}

/// Who runs on a CPU by its last switch: number, name, priority.
pub(super) type Current = (i32, Bytes, i32);

/// Decodes a bundle: its events by time, and whether events were lost before it.
pub(super) fn bundle(
    bytes: Bytes,
    current: &mut Option<Current>,
    counts: &mut Counts,
) -> (Vec<BundledEvent>, bool) {
    let bundle = match Bundle::decode(bytes) {
        Ok(bundle) => bundle,
        Err(error) => {
            counts.torn_at(counts.lines, "events of a CPU", error.to_string().as_bytes());
            return (Vec::new(), true);
        }
    };
    let mut told = Vec::with_capacity(bundle.event.len());
    for bytes in bundle.event {
        match FtraceEvent::decode(bytes.clone()) {
            Ok(FtraceEvent { timestamp: Some(t_ns), kind: Some(kind), pid, common_flags }) => {
                let (tid, flags) = (Some(pid.unwrap_or(0)), common_flags.unwrap_or(0));
                told.push(BundledEvent { t_ns, tid, flags, kind });
            }
            Ok(_) => match kind_of_event(&bytes) {
                // What perfetto's own examples record beside the scheduler.
                Some(235) => counts.unknown(b"task_newtask"),
                Some(236) => counts.unknown(b"task_rename"),
                Some(number) => counts.unknown(format!("ftrace event {number}").as_bytes()),
                None => counts.torn_at(counts.lines, "an event with its time", b"one without"),
            },
            Err(error) => counts.torn_at(counts.lines, "an event", error.to_string().as_bytes()),
        }
    }
    if let Some(compact) = bundle.compact {
        columns(&compact, current, &mut told);
    }
    if let (Some(own), Some(boot)) = (bundle.ftrace_timestamp, bundle.boot_timestamp) {
        for event in &mut told {
            event.t_ns = event.t_ns.wrapping_add_signed(boot.wrapping_sub(own));
        }
    }
    // Columns and messages stand one behind the other.
    told.sort_by_key(|event| event.t_ns);
    (told, bundle.lost_events.unwrap_or(false))
}

/// Switches and wake-ups in columns; each time is the difference to the one above.
fn columns(compact: &Compact, current: &mut Option<Current>, told: &mut Vec<BundledEvent>) {
    let name = |column: &[u32], row: usize| {
        let number = column.get(row).map(|number| *number as usize);
        number.and_then(|number| compact.intern_table.get(number)).cloned().unwrap_or_default()
    };
    let mut t_ns = 0_u64;
    for (row, delta) in compact.switch_timestamp.iter().enumerate() {
        t_ns = t_ns.wrapping_add(*delta);
        let Some(&next_pid) = compact.switch_next_pid.get(row) else { break };
        let next_prio = compact.switch_next_prio.get(row).copied().unwrap_or_default();
        let next_comm = name(&compact.switch_next_comm_index, row);
        let next = (next_pid, next_comm.clone(), next_prio);
        // Who gives the CPU up is who got it before; of the first one nobody knows, and the idle
        // loop claims nothing.
        let (prev_pid, prev_comm, prev_prio) = current.replace(next).unwrap_or_default();
        told.push(BundledEvent {
            t_ns,
            tid: u32::try_from(prev_pid).ok(),
            flags: 0,
            kind: Kind::Switch(Switch {
                prev_comm: Some(prev_comm),
                prev_pid: Some(prev_pid),
                prev_prio: Some(prev_prio),
                prev_state: compact.switch_prev_state.get(row).copied(),
                next_comm: Some(next_comm),
                next_pid: Some(next_pid),
                next_prio: Some(next_prio),
            }),
        });
    }
    let mut t_ns = 0_u64;
    for (row, delta) in compact.waking_timestamp.iter().enumerate() {
        t_ns = t_ns.wrapping_add(*delta);
        let Some(&pid) = compact.waking_pid.get(row) else { break };
        told.push(BundledEvent {
            t_ns,
            tid: None,
            flags: compact.waking_common_flags.get(row).copied().unwrap_or_default(),
            kind: Kind::Waking(Wakeup {
                comm: Some(name(&compact.waking_comm_index, row)),
                pid: Some(pid),
                prio: compact.waking_prio.get(row).copied(),
                target_cpu: None,
            }),
        });
    }
}

fn task<'a>(
    name: &'a Option<Bytes>,
    tid: Option<i32>,
    priority: Option<i32>,
) -> Option<TaskRef<'a>> {
    let name = name.as_deref().unwrap_or_default();
    Some(TaskRef { name, tid: u32::try_from(tid?).ok()?, priority })
}

fn cpu(number: Option<i32>) -> Option<u32> {
    u32::try_from(number.unwrap_or(0)).ok()
}

fn numbered(
    kind: &'static str,
    number: Option<u32>,
    name: Option<&'static str>,
) -> InterruptRef<'static> {
    let number = Some(number.unwrap_or(0));
    InterruptRef { kind, number, name: name.map(str::as_bytes) }
}

fn soft(number: Option<u32>) -> InterruptRef<'static> {
    let name = SOFTIRQS.get(number.unwrap_or(0) as usize).copied();
    numbered("softirq", number, name)
}

/// An event in our terms; none where a field is out of range. `scratch` holds the text of a probe.
pub(super) fn event<'a>(kind: &'a Kind, scratch: &'a mut Vec<u8>) -> Option<Event<'a>> {
    Some(match kind {
        Kind::Print(print) => {
            Event::Mark(print.buf.as_deref().unwrap_or_default().trim_ascii_end())
        }
        Kind::Switch(s) => Event::Switch {
            prev: task(&s.prev_comm, Some(s.prev_pid.unwrap_or(0)), s.prev_prio)?,
            state: state_letters(s.prev_state.unwrap_or(0) as u64),
            next: task(&s.next_comm, Some(s.next_pid.unwrap_or(0)), s.next_prio)?,
        },
        Kind::CpuFrequency(f) => {
            Event::Frequency { cpu: f.cpu_id.unwrap_or(0), khz: f.state.unwrap_or(0).into() }
        }
        Kind::CpuIdle(idle) => Event::Idle {
            cpu: idle.cpu_id.unwrap_or(0),
            state: Some(idle.state.unwrap_or(0)).filter(|state| *state != AWAKE),
        },
        Kind::Wakeup(w) | Kind::WakeupNew(w) => {
            Event::Wakeup { task: task(&w.comm, w.pid, w.prio)?, cpu: cpu(w.target_cpu)? }
        }
        Kind::Waking(w) => Event::Waking(task(&w.comm, w.pid, w.prio)?),
        Kind::Migrate(m) => Event::Migrate {
            task: task(&m.comm, m.pid, m.prio)?,
            from: cpu(m.orig_cpu)?,
            to: cpu(m.dest_cpu)?,
        },
        Kind::Fork(fork) => Event::Fork(task(&fork.child_comm, fork.child_pid, None)?),
        Kind::Exit(exit) => Event::Exit(task(&exit.comm, exit.pid, exit.prio)?),
        Kind::IpiEntry(ipi) | Kind::IpiExit(ipi) => {
            let name = ipi.reason.as_deref();
            let ipi = InterruptRef { kind: "vector", number: None, name };
            if matches!(kind, Kind::IpiEntry(_)) { Event::Enters(ipi) } else { Event::Leaves(ipi) }
        }
        Kind::SoftirqEntry(n) => Event::Enters(soft(n.number)),
        Kind::SoftirqExit(n) => Event::Leaves(soft(n.number)),
        Kind::IrqEntry(irq) => {
            let (number, name) = (Some(irq.irq.unwrap_or(0)), irq.name.as_deref());
            Event::Enters(InterruptRef { kind: "irq", number, name })
        }
        Kind::IrqExit(n) => Event::Leaves(numbered("irq", n.number, None)),
        Kind::TimerEntry(n) => Event::Enters(numbered("vector", n.number, Some("local_timer"))),
        Kind::TimerExit(n) => Event::Leaves(numbered("vector", n.number, Some("local_timer"))),
        Kind::Generic(generic) => {
            scratch.clear();
            for field in &generic.field {
                let name = String::from_utf8_lossy(field.name.as_deref().unwrap_or_default());
                // What cannot be written to memory cannot be written anywhere.
                let _ = match (field.uint_value, field.int_value) {
                    (Some(value), _) => write!(scratch, " {name}={value}"),
                    (None, Some(value)) => write!(scratch, " {name}={value}"),
                    (None, None) => Ok(()),
                };
            }
            let name = generic.event_name.as_deref().unwrap_or(b"generic");
            parse_probe(name, scratch).ok()?
        }
    })
}
