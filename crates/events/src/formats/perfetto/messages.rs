//! The messages of perfetto's that are read, by the numbers of its trace_packet.proto and
//! ftrace_event.proto; all other fields are skipped.
#![allow(missing_docs, reason = "the names are those of perfetto's own description")]

use prost::Message;
use prost::bytes::Bytes;

#[derive(Clone, PartialEq, Message)]
pub struct Packet {
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "58")]
    pub timestamp_clock_id: Option<u32>,
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub ftrace_events: Option<Bytes>,
    #[prost(message, optional, tag = "2")]
    pub process_tree: Option<ProcessTree>,
    #[prost(message, optional, tag = "6")]
    pub clock_snapshot: Option<ClockSnapshot>,
    #[prost(uint32, optional, tag = "10")]
    pub sequence: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    #[prost(bool, optional, tag = "41")]
    pub incremental_state_cleared: Option<bool>,
    #[prost(bytes = "bytes", optional, tag = "50")]
    pub compressed_packets: Option<Bytes>,
    #[prost(message, optional, tag = "59")]
    pub defaults: Option<Defaults>,
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ProcessTree {
    #[prost(message, repeated, tag = "2")]
    pub threads: Vec<Thread>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Thread {
    #[prost(int32, optional, tag = "1")]
    pub tid: Option<i32>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub name: Option<Bytes>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    pub clocks: Vec<Clock>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Clock {
    #[prost(uint32, optional, tag = "1")]
    pub clock_id: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    pub timestamp: Option<u64>,
    #[prost(bool, optional, tag = "3")]
    pub is_incremental: Option<bool>,
    #[prost(uint64, optional, tag = "4")]
    pub unit_multiplier_ns: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    #[prost(int32, optional, tag = "9")]
    pub kind: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Defaults {
    #[prost(uint32, optional, tag = "58")]
    pub timestamp_clock_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEventDefaults>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TrackEventDefaults {
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub name: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "10")]
    pub static_name: Option<Bytes>,
    #[prost(message, optional, tag = "4")]
    pub thread: Option<ThreadDescriptor>,
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ThreadDescriptor {
    #[prost(int64, optional, tag = "2")]
    pub tid: Option<i64>,
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub thread_name: Option<Bytes>,
}

#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    #[prost(int64, optional, tag = "4")]
    pub unit_multiplier: Option<i64>,
    #[prost(bool, optional, tag = "5")]
    pub is_incremental: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Bundle {
    #[prost(uint32, optional, tag = "1")]
    pub cpu: Option<u32>,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub event: Vec<Bytes>,
    #[prost(bool, optional, tag = "3")]
    pub lost_events: Option<bool>,
    #[prost(message, optional, tag = "4")]
    pub compact: Option<Compact>,
    #[prost(int64, optional, tag = "6")]
    pub ftrace_timestamp: Option<i64>,
    #[prost(int64, optional, tag = "7")]
    pub boot_timestamp: Option<i64>,
}

/// The head of a bundle alone.
#[derive(Clone, PartialEq, Message)]
pub struct BundleHead {
    #[prost(uint32, optional, tag = "1")]
    pub cpu: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Compact {
    #[prost(uint64, repeated, tag = "1")]
    pub switch_timestamp: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub switch_prev_state: Vec<i64>,
    #[prost(int32, repeated, tag = "3")]
    pub switch_next_pid: Vec<i32>,
    #[prost(int32, repeated, tag = "4")]
    pub switch_next_prio: Vec<i32>,
    #[prost(bytes = "bytes", repeated, tag = "5")]
    pub intern_table: Vec<Bytes>,
    #[prost(uint32, repeated, tag = "6")]
    pub switch_next_comm_index: Vec<u32>,
    #[prost(uint64, repeated, tag = "7")]
    pub waking_timestamp: Vec<u64>,
    #[prost(int32, repeated, tag = "8")]
    pub waking_pid: Vec<i32>,
    #[prost(int32, repeated, tag = "10")]
    pub waking_prio: Vec<i32>,
    #[prost(uint32, repeated, tag = "11")]
    pub waking_comm_index: Vec<u32>,
    #[prost(uint32, repeated, tag = "12")]
    pub waking_common_flags: Vec<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct FtraceEvent {
    #[prost(uint64, optional, tag = "1")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "2")]
    pub pid: Option<u32>,
    #[prost(uint32, optional, tag = "5")]
    pub common_flags: Option<u32>,
    #[prost(
        oneof = "Kind",
        tags = "3, 4, 11, 13, 17, 20, 21, 22, 24, 25, 36, 37, 114, 238, 239, 327, 491, 559, 560"
    )]
    pub kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    #[prost(message, tag = "3")]
    Print(Print),
    #[prost(message, tag = "4")]
    Switch(Switch),
    #[prost(message, tag = "11")]
    CpuFrequency(StateOfCpu),
    #[prost(message, tag = "13")]
    CpuIdle(StateOfCpu),
    #[prost(message, tag = "17")]
    Wakeup(Wakeup),
    #[prost(message, tag = "20")]
    Waking(Wakeup),
    #[prost(message, tag = "21")]
    IpiEntry(Named),
    #[prost(message, tag = "22")]
    IpiExit(Named),
    #[prost(message, tag = "24")]
    SoftirqEntry(Numbered),
    #[prost(message, tag = "25")]
    SoftirqExit(Numbered),
    #[prost(message, tag = "36")]
    IrqEntry(Handler),
    #[prost(message, tag = "37")]
    IrqExit(Numbered),
    #[prost(message, tag = "114")]
    WakeupNew(Wakeup),
    #[prost(message, tag = "238")]
    Exit(Exit),
    #[prost(message, tag = "239")]
    Fork(Fork),
    #[prost(message, tag = "327")]
    Generic(Generic),
    #[prost(message, tag = "491")]
    Migrate(Migrate),
    #[prost(message, tag = "559")]
    TimerEntry(Numbered),
    #[prost(message, tag = "560")]
    TimerExit(Numbered),
}

#[derive(Clone, PartialEq, Message)]
pub struct Print {
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub buf: Option<Bytes>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Switch {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub prev_comm: Option<Bytes>,
    #[prost(int32, optional, tag = "2")]
    pub prev_pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub prev_prio: Option<i32>,
    #[prost(int64, optional, tag = "4")]
    pub prev_state: Option<i64>,
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub next_comm: Option<Bytes>,
    #[prost(int32, optional, tag = "6")]
    pub next_pid: Option<i32>,
    #[prost(int32, optional, tag = "7")]
    pub next_prio: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct StateOfCpu {
    #[prost(uint32, optional, tag = "1")]
    pub state: Option<u32>,
    #[prost(uint32, optional, tag = "2")]
    pub cpu_id: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Wakeup {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub comm: Option<Bytes>,
    #[prost(int32, optional, tag = "2")]
    pub pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub prio: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub target_cpu: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Migrate {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub comm: Option<Bytes>,
    #[prost(int32, optional, tag = "2")]
    pub pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub prio: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub orig_cpu: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub dest_cpu: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Fork {
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub child_comm: Option<Bytes>,
    #[prost(int32, optional, tag = "4")]
    pub child_pid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Exit {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub comm: Option<Bytes>,
    #[prost(int32, optional, tag = "2")]
    pub pid: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub prio: Option<i32>,
}

/// `irq`, `vec` or `vector`.
#[derive(Clone, PartialEq, Message)]
pub struct Numbered {
    #[prost(uint32, optional, tag = "1")]
    pub number: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Handler {
    #[prost(uint32, optional, tag = "1")]
    pub irq: Option<u32>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub name: Option<Bytes>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Named {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub reason: Option<Bytes>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Generic {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub event_name: Option<Bytes>,
    #[prost(message, repeated, tag = "2")]
    pub field: Vec<GenericField>,
}

#[derive(Clone, PartialEq, Message)]
pub struct GenericField {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub name: Option<Bytes>,
    #[prost(int64, optional, tag = "4")]
    pub int_value: Option<i64>,
    #[prost(uint64, optional, tag = "5")]
    pub uint_value: Option<u64>,
}
