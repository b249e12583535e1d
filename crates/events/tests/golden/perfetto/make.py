#!/usr/bin/env python3
"""Makes the traces of this folder with perfetto's own trace builder: pip install perfetto; make.py

`ramp.pftrace` is the recording of ../dat/ramp.txt.gz event by event, in bundles of each CPU as
traced_probes writes them; `compact.pftrace` its switches in columns and packed packets;
`sched-analyzer.pftrace` counters named and timed as sched-analyzer's, whose clock is incremental.
"""

import gzip
import re
import zlib
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackEvent
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

HERE = Path(__file__).resolve().parent
LINE = re.compile(r"^\s*(.+)-(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d+): (\w+):\s+(.*)$")
TASK = r"(.+):(\d+) \[(\d+)\]"
STATES = {"R": 0, "R+": 256, "S": 1, "D": 2, "X": 16, "Z": 16, "W": 128, "I": 128}
BUNDLE = 60


def fill(event, name: str, text: str) -> bool:
    """One event's own fields; whether it is one that perfetto knows."""
    if name == "sched_switch":
        prev, state, rest = re.match(rf"^{TASK} (\S+) ==> ", text), None, None
        state = prev.group(4)
        rest = re.match(rf"^{TASK}", text[prev.end():])
        own = event.sched_switch
        own.prev_comm, own.prev_pid, own.prev_prio = prev.group(1), int(prev.group(2)), int(prev.group(3))
        own.prev_state = STATES[state]
        own.next_comm, own.next_pid, own.next_prio = rest.group(1), int(rest.group(2)), int(rest.group(3))
    elif name in ("sched_wakeup", "sched_wakeup_new"):
        found = re.match(rf"^{TASK}(?: success=1)? CPU:(\d+)", text)
        own = getattr(event, name)
        own.comm, own.pid, own.prio, own.target_cpu = found.group(1), int(found.group(2)), int(found.group(3)), int(found.group(4))
    elif name in ("cpu_idle", "cpu_frequency"):
        own = getattr(event, name)
        own.state, own.cpu_id = map(int, re.match(r"state=(\d+) cpu_id=(\d+)", text).groups())
    elif name == "print":
        event.print.buf = text.split(": ", 1)[1] + "\n"
    elif name in ("softirq_entry", "softirq_exit"):
        getattr(event, name).vec = int(re.match(r"vec=(\d+)", text).group(1))
    elif name in ("local_timer_entry", "local_timer_exit"):
        getattr(event, name).vector = int(re.match(r"vector=(\d+)", text).group(1))
    elif name in ("irq_handler_entry", "irq_handler_exit"):
        own = getattr(event, name)
        own.irq = int(re.match(r"irq=(\d+)", text).group(1))
        if name.endswith("entry"):
            own.name = text.split("name=", 1)[1]
        else:
            own.ret = int(text.endswith("ret=handled"))
    elif name == "sched_waking":
        found = re.match(r"comm=(.*) pid=(\d+) prio=(\d+) target_cpu=(\d+)", text)
        own = event.sched_waking
        own.comm, own.pid, own.prio, own.target_cpu = found.group(1), *map(int, found.groups()[1:])
    elif name == "sched_migrate_task":
        found = re.match(r"comm=(.*) pid=(\d+) prio=(\d+) orig_cpu=(\d+) dest_cpu=(\d+)", text)
        own = event.sched_migrate_task
        own.comm, own.pid, own.prio, own.orig_cpu, own.dest_cpu = found.group(1), *map(int, found.groups()[1:])
    elif name == "sched_process_fork":
        found = re.match(r"comm=(.*) pid=(\d+) child_comm=(.*) child_pid=(\d+)", text)
        own = event.sched_process_fork
        own.parent_comm, own.parent_pid, own.child_comm, own.child_pid = found.group(1), int(found.group(2)), found.group(3), int(found.group(4))
    elif name == "sched_process_exit":
        found = re.match(r"comm=(.*) pid=(\d+) prio=(\d+)", text)
        own = event.sched_process_exit
        own.comm, own.pid, own.tgid, own.prio = found.group(1), int(found.group(2)), int(found.group(2)), int(found.group(3))
    else:
        return False
    return True


def events() -> list:
    found = []
    with gzip.open(HERE.parent / "dat" / "ramp.txt.gz", "rt") as file:
        for line in file:
            if match := LINE.match(line):
                task, tid, cpu, seconds, part, name, text = match.groups()
                found.append((int(seconds) * 10**9 + int(part), int(cpu), int(tid), task, name, text))
    return found


def snapshot(packet: TracePacket, boot: int, **more) -> None:
    for clock, ahead in ((6, 0), (3, 5_000), (1, 10**18)):
        own = packet.clock_snapshot.clocks.add()
        own.clock_id, own.timestamp = clock, boot + ahead
    if more:
        own = packet.clock_snapshot.clocks.add()
        own.clock_id, own.timestamp = 64, more["incremental"]
        own.is_incremental, own.unit_multiplier_ns = True, 1000


def ramp() -> bytes:
    builder, waiting, names = TraceProtoBuilder(), {}, {}
    packet = builder.add_packet()
    packet.trusted_packet_sequence_id = 1
    snapshot(packet, 74_000_000_000)

    def flush(cpu: int) -> None:
        packet = builder.add_packet()
        packet.trusted_packet_sequence_id = 2
        packet.ftrace_events.cpu = cpu
        for t, _, tid, _, name, text in waiting.pop(cpu, []):
            event = packet.ftrace_events.event.add()
            event.timestamp, event.pid = t, tid
            if not fill(event, name, text):
                event.suspend_resume.action = name

    for event in events():
        names[event[2]] = event[3]
        waiting.setdefault(event[1], []).append(event)
        if len(waiting[event[1]]) == BUNDLE:
            flush(event[1])
    for cpu in sorted(waiting):
        flush(cpu)
    packet = builder.add_packet()
    for tid, name in sorted(names.items()):
        if tid:
            thread = packet.process_tree.threads.add()
            thread.tid, thread.tgid, thread.name = tid, tid, name
    return builder.serialize()


def compact() -> bytes:
    builder, rows = TraceProtoBuilder(), {}
    for t, cpu, _, _, name, text in events():
        if name == "sched_switch":
            prev = re.match(rf"^{TASK} (\S+) ==> ", text)
            rest = re.match(rf"^{TASK}", text[prev.end():])
            rows.setdefault(cpu, []).append((t, STATES[prev.group(4)], int(rest.group(2)), int(rest.group(3)), rest.group(1)))
    for cpu, own in sorted(rows.items()):
        packet = builder.add_packet()
        packet.ftrace_events.cpu = cpu
        columns, names, last = packet.ftrace_events.compact_sched, [], 0
        for t, state, pid, prio, comm in own:
            if comm not in names:
                names.append(comm)
            columns.switch_timestamp.append(t - last)
            columns.switch_prev_state.append(state)
            columns.switch_next_pid.append(pid)
            columns.switch_next_prio.append(prio)
            columns.switch_next_comm_index.append(names.index(comm))
            last = t
        columns.intern_table.extend(names)
    outer = TraceProtoBuilder()
    outer.add_packet().compressed_packets = zlib.compress(builder.serialize(), 9)
    return outer.serialize()


def sched_analyzer() -> bytes:
    builder = TraceProtoBuilder()
    packet = builder.add_packet()
    packet.trusted_packet_sequence_id = 3
    packet.sequence_flags = 1
    packet.trace_packet_defaults.timestamp_clock_id = 64
    snapshot(packet, 1_000_000_000, incremental=0)
    tracks = {"CPU0 util_avg": 11, "CPU0 util_est.enqueued": 12, "rampup-163 util_avg": 13, "CPU0 nr_running": 14}
    for name, uuid in tracks.items():
        packet = builder.add_packet()
        packet.trusted_packet_sequence_id = 3
        packet.track_descriptor.uuid, packet.track_descriptor.name = uuid, name
        packet.track_descriptor.counter.SetInParent()
    for step in range(1, 101):
        for at, uuid in enumerate(tracks.values()):
            packet = builder.add_packet()
            packet.trusted_packet_sequence_id = 3
            packet.timestamp = 4000 if at == 0 else 0
            packet.track_event.type = TrackEvent.TYPE_COUNTER
            packet.track_event.track_uuid = uuid
            packet.track_event.counter_value = (step * 10, 500, step * 9, 2)[at]
    packet = builder.add_packet()
    packet.ftrace_events.cpu = 0
    for t, khz in ((1_010_000_000, 600_000), (1_200_000_000, 1_800_000)):
        event = packet.ftrace_events.event.add()
        event.timestamp, event.pid = t, 163
        event.cpu_frequency.state, event.cpu_frequency.cpu_id = khz, 0
    return builder.serialize()


if __name__ == "__main__":
    for name, made in (("ramp", ramp()), ("compact", compact()), ("sched-analyzer", sched_analyzer())):
        (HERE / f"{name}.pftrace").write_bytes(made)
