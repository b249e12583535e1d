//! Recordings as a trace that perfetto's tools read: who ran where, wake-ups, frequencies and idle states as the
//! kernel's events, what perfetto has no event for (utilisation, windows, marks, gaps) as tracks.

use super::messages::{Bundle, FtraceEvent, Kind, Packet, StateOfCpu, Switch, Wakeup};
use crate::recording::{Ended, Ran, Recording, Subject};
use prost::Message;
use prost::bytes::Bytes;
use std::collections::BTreeMap;

/// The state of a CPU that is in no idle state.
const NOT_IDLE: u32 = u32::MAX;
/// Events of one CPU in one packet.
const BUNDLE: usize = 4096;
/// SEQ_INCREMENTAL_STATE_CLEARED: nothing before this packet is needed.
const FRESH: u32 = 1;

/// A stretch of time on a track of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// From when, on the recording's clock.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// What it is called.
    pub name: String,
}

/// A trace that is being written: a list of packets.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    tracks: u64,
    rows: u64,
}

/// What perfetto calls a track event, as far as it is written.
#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(int32, optional, tag = "9")]
    kind: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    counter_value: Option<i64>,
}

const BEGIN: i32 = 1;
const END: i32 = 2;
const INSTANT: i32 = 3;
const COUNTER: i32 = 4;

#[derive(Clone, PartialEq, Message)]
struct Counter {
    #[prost(string, optional, tag = "6")]
    unit_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Track {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "8")]
    counter: Option<Counter>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackPacket {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    sequence: Option<u32>,
    #[prost(message, optional, tag = "11")]
    event: Option<TrackEvent>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    track: Option<Track>,
}

impl Writer {
    /// Adds a recording whose times are moved by `shift`, with the measured windows that belong to it. `name` is put before the names of
    /// its tracks where it is not empty.
    pub fn add(&mut self, recording: &Recording<'_>, windows: &[Stretch], name: &str, shift: i64) {
        let at = |t_ns: u64| t_ns.saturating_add_signed(shift);
        let named =
            |what: &str| if name.is_empty() { what.to_owned() } else { format!("{name}: {what}") };
        self.kernel(recording, &at);
        let spans: Vec<(u64, u64, String)> =
            windows.iter().map(|w| (at(w.from_ns), at(w.to_ns), w.name.clone())).collect();
        self.stretches(&named("windows"), &spans);
        let gaps = recording.topology().cpus().flat_map(|cpu| {
            let name = format!("cpu{} lost events", cpu.cpu);
            recording
                .gaps()
                .of_cpu(cpu.cpu)
                .map(move |(from, to)| (from, to, name.clone()))
                .collect::<Vec<_>>()
        });
        let gaps: Vec<(u64, u64, String)> =
            gaps.map(|(from, to, name)| (at(from), at(to), name)).collect();
        self.stretches(&named("lost events"), &gaps);
        let marks: Vec<(u64, String)> =
            recording.marks().map(|mark| (at(mark.t_ns), mark.text.to_owned())).collect();
        if !marks.is_empty() {
            let track = self.track(named("marks"), None);
            for (t, text) in marks {
                self.event(track, t, INSTANT, Some(text), None);
            }
        }
        let mut signals = BTreeMap::<String, Vec<(u64, u32)>>::new();
        for signal in recording.signals() {
            let Some(util) = signal.util_avg else { continue };
            let whose = match signal.subject {
                Subject::Cpu(cpu) => format!("cpu{cpu} util_avg"),
                Subject::Class(class, cpu) => format!("cpu{cpu} {} util_avg", class.name()),
                Subject::Task(tid) => format!("{}-{tid} util_avg", recording.task(tid).name),
            };
            signals.entry(whose).or_default().push((at(signal.t_ns), util));
        }
        for (whose, mut points) in signals {
            points.sort_by_key(|point| point.0);
            let track = self.track(named(&whose), Some("capacity scale, 0 to 1024"));
            for (t, util) in points {
                self.event(track, t, COUNTER, None, Some(i64::from(util)));
            }
        }
    }

    /// Rows of tables that were written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The trace.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// What the kernel would have recorded.
    fn kernel(&mut self, recording: &Recording<'_>, at: &dyn Fn(u64) -> u64) {
        let mut cpus = BTreeMap::<u32, Vec<(u64, u32, Kind)>>::new();
        let mut rows = 0;
        let names = Names { recording, priorities: recording.priorities() };
        let mut ran = BTreeMap::<u32, Vec<Ran>>::new();
        for slice in recording.slices() {
            ran.entry(slice.cpu).or_default().push(slice);
            rows += 1;
        }
        for (cpu, mut slices) in ran {
            slices.sort_by_key(|slice| (slice.from_ns, slice.to_ns));
            cpus.entry(cpu).or_default().extend(switches(&names, &slices, at));
        }
        for woken in recording.wakeups() {
            let task = names.of(woken.tid);
            let waking = Wakeup {
                comm: Some(task.comm),
                pid: Some(task.pid),
                prio: task.priority,
                target_cpu: i32::try_from(woken.cpu).ok(),
            };
            let event = (at(woken.t_ns), woken.waker.unwrap_or(0), Kind::Waking(waking));
            cpus.entry(woken.cpu).or_default().push(event);
            rows += 1;
        }
        for (cpu, state, from, to) in recording.idle() {
            let idle = |state| Kind::CpuIdle(StateOfCpu { state: Some(state), cpu_id: Some(cpu) });
            let events = [(at(from), 0, idle(state)), (at(to), 0, idle(NOT_IDLE))];
            cpus.entry(cpu).or_default().extend(events);
            rows += 1;
        }
        for cpu in recording.topology().cpus().map(|cpu| cpu.cpu) {
            let Some(steps) = recording.frequency_of_cpu(cpu) else { continue };
            for (t_ns, khz) in steps.points() {
                let state = Some(u32::try_from(khz).unwrap_or(u32::MAX));
                let event = Kind::CpuFrequency(StateOfCpu { state, cpu_id: Some(cpu) });
                cpus.entry(cpu).or_default().push((at(t_ns), 0, event));
                rows += 1;
            }
        }
        for (cpu, mut events) in cpus {
            // At the same time a stay in an idle state ends, then a task wakes up, then it is switched to.
            let rank = |kind: &Kind| match kind {
                Kind::CpuIdle(_) => 0,
                Kind::Waking(_) => 1,
                _ => 2,
            };
            events.sort_by_key(|(t, _, kind)| (*t, rank(kind)));
            for events in events.chunks(BUNDLE) {
                let event = |(t, pid, kind): &(u64, u32, Kind)| {
                    let event = FtraceEvent {
                        timestamp: Some(*t),
                        pid: Some(*pid),
                        kind: Some(kind.clone()),
                        ..FtraceEvent::default()
                    };
                    Bytes::from(event.encode_to_vec())
                };
                let event = events.iter().map(event).collect();
                let bundle = Bundle { cpu: Some(cpu), event, ..Bundle::default() };
                let events = Some(Bytes::from(bundle.encode_to_vec()));
                self.packet(&Packet { ftrace_events: events, ..Packet::default() });
            }
        }
        self.rows += rows;
    }

    /// Stretches as tracks: one, or several where they overlap.
    fn stretches(&mut self, name: &str, stretches: &[(u64, u64, String)]) {
        let mut sorted: Vec<&(u64, u64, String)> = stretches.iter().collect();
        sorted.sort_by_key(|(from, to, _)| (*from, *to));
        let mut tracks: Vec<(u64, u64)> = Vec::new();
        for (from, to, what) in sorted {
            let free = tracks.iter().position(|(_, end)| end <= from);
            let place = free.unwrap_or_else(|| {
                let track = self.track(name.to_owned(), None);
                tracks.push((track, 0));
                tracks.len() - 1
            });
            let Some((track, end)) = tracks.get_mut(place) else { continue };
            *end = *to;
            let track = *track;
            self.event(track, *from, BEGIN, Some(what.clone()), None);
            self.event(track, *to, END, None, None);
            // One row of the table.
            self.rows -= 1;
        }
    }

    fn track(&mut self, name: String, unit: Option<&str>) -> u64 {
        self.tracks += 1;
        let counter = unit.map(|unit| Counter { unit_name: Some(unit.to_owned()) });
        let track = Track { uuid: Some(self.tracks), name: Some(name), counter };
        self.packet(&TrackPacket {
            sequence: Some(1),
            sequence_flags: (self.tracks == 1).then_some(FRESH),
            track: Some(track),
            ..TrackPacket::default()
        });
        self.tracks
    }

    fn event(&mut self, track: u64, t: u64, kind: i32, name: Option<String>, value: Option<i64>) {
        let event =
            TrackEvent { kind: Some(kind), track_uuid: Some(track), name, counter_value: value };
        self.packet(&TrackPacket {
            timestamp: Some(t),
            sequence: Some(1),
            event: Some(event),
            ..TrackPacket::default()
        });
        self.rows += 1;
    }

    /// A trace is a message with each packet in field 1, of the wire type of messages.
    fn packet(&mut self, packet: &impl Message) {
        self.bytes.push(1 << 3 | 2);
        self.bytes.extend(packet.encode_length_delimited_to_vec());
    }
}

/// A task as events name it.
#[derive(Clone)]
struct Named {
    comm: Bytes,
    pid: i32,
    /// None where it was not recorded.
    priority: Option<i32>,
}

/// The tasks of a recording.
struct Names<'a> {
    recording: &'a Recording<'a>,
    priorities: BTreeMap<u32, i32>,
}

impl Names<'_> {
    fn of(&self, tid: u32) -> Named {
        Named {
            comm: Bytes::from(self.recording.task(tid).name.into_bytes()),
            pid: i32::try_from(tid).unwrap_or(i32::MAX),
            priority: self.priorities.get(&tid).copied(),
        }
    }
}

/// The switches of one CPU whose slices are in order: into each task, and to idle where nobody follows.
fn switches(names: &Names<'_>, slices: &[Ran], at: &dyn Fn(u64) -> u64) -> Vec<(u64, u32, Kind)> {
    let idle = || Named { comm: Bytes::from_static(b"swapper"), pid: 0, priority: Some(120) };
    let mut events = Vec::with_capacity(slices.len() * 2);
    for (place, slice) in slices.iter().enumerate() {
        let task = names.of(slice.tid);
        let before = place.checked_sub(1).and_then(|before| slices.get(before));
        let follows = before.is_some_and(|before| before.to_ns >= slice.from_ns);
        if !follows {
            events.push((at(slice.from_ns), 0, switch(idle(), 0, task.clone())));
        }
        let next = slices.get(place + 1).filter(|next| next.from_ns <= slice.to_ns);
        let next = next.map_or_else(idle, |next| names.of(next.tid));
        events.push((at(slice.to_ns), slice.tid, switch(task, state(slice.ended), next)));
    }
    events
}

fn switch(prev: Named, state: i64, next: Named) -> Kind {
    Kind::Switch(Switch {
        prev_comm: Some(prev.comm),
        prev_pid: Some(prev.pid),
        prev_prio: prev.priority,
        prev_state: Some(state),
        next_comm: Some(next.comm),
        next_pid: Some(next.pid),
        next_prio: next.priority,
    })
}

/// The kernel's number of the state in which a task leaves its CPU (include/linux/sched.h; 256 is how the event tells
/// of preemption).
fn state(ended: Ended) -> i64 {
    match ended {
        Ended::Slept => 1,
        Ended::Preempted => 256,
        Ended::Exited => 16,
        Ended::Yielded | Ended::Migrated | Ended::Unknown => 0,
    }
}
