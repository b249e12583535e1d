#!/usr/bin/env python3
"""Writes a trace.dat (version 6, as trace-cmd.dat(5) describes it) of a busy made-up scheduler.

    make_dat.py OUT.dat [--events 1000000] [--cpus 4] [--seed 1]

For machines without tracefs. Tasks wake each other, run for some microseconds and sleep; CPUs go
idle between them and change their frequency now and then. The events have the kernel's fields, so
`trace-cmd report` prints them as it prints those of a real one. The same seed gives the same bytes.
"""

import argparse
import heapq
import random
import struct
import sys
from pathlib import Path

PAGE = 4096
DATA = PAGE - 16
HEADER_PAGE = (
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    f"\tfield: char data;\toffset:16;\tsize:{DATA};\tsigned:1;\n"
)
HEADER_EVENT = (
    "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n"
    "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n"
)
COMMON = [("unsigned short", "common_type", 2), ("unsigned char", "common_flags", 1),
          ("unsigned char", "common_preempt_count", 1), ("int", "common_pid", 4)]  # fmt: skip
# Name, system, fields (type, name, bytes), print format and its arguments.
EVENTS = {
    "sched_switch": (
        "sched",
        [("char", "prev_comm[16]", 16), ("pid_t", "prev_pid", 4), ("int", "prev_prio", 4), ("long", "prev_state", 8),
         ("char", "next_comm[16]", 16), ("pid_t", "next_pid", 4), ("int", "next_prio", 4)],
        '"%s:%d [%d] %ld ==> %s:%d [%d]", REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->prev_state, '
        "REC->next_comm, REC->next_pid, REC->next_prio",
    ),
    "sched_waking": (
        "sched",
        [("char", "comm[16]", 16), ("pid_t", "pid", 4), ("int", "prio", 4), ("int", "target_cpu", 4)],
        '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu',
    ),
    "sched_wakeup": (
        "sched",
        [("char", "comm[16]", 16), ("pid_t", "pid", 4), ("int", "prio", 4), ("int", "target_cpu", 4)],
        '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu',
    ),
    "cpu_idle": ("power", [("u32", "state", 4), ("u32", "cpu_id", 4)],
                 '"state=%lu cpu_id=%lu", (unsigned long)REC->state, (unsigned long)REC->cpu_id'),
    "cpu_frequency": ("power", [("u32", "state", 4), ("u32", "cpu_id", 4)],
                      '"state=%lu cpu_id=%lu", (unsigned long)REC->state, (unsigned long)REC->cpu_id'),
}  # fmt: skip
IDS = {name: 300 + at for at, name in enumerate(EVENTS)}
AWAKE = 0xFFFFFFFF
TASK = struct.Struct("<HBBi16siii")
SWITCH = struct.Struct("<HBBi16siiq16sii")
POWER = struct.Struct("<HBBiII")


class Cpu:
    """One CPU's ring buffer, page by page."""

    def __init__(self) -> None:
        self.pages, self.data, self.begin, self.last = [], bytearray(), 0, 0

    def write(self, t_ns: int, record: bytes) -> None:
        record += b"\0" * (-len(record) % 4)
        if len(self.data) + len(record) + 12 > DATA:
            self.flush()
        if not self.data:
            self.begin = self.last = t_ns
        delta = t_ns - self.last
        self.last = t_ns
        if delta >= 1 << 27:
            self.data += struct.pack("<II", 30 | (delta & 0x7FFFFFF) << 5, delta >> 27)
            delta = 0
        self.data += struct.pack("<I", len(record) // 4 | delta << 5) + record

    def flush(self) -> None:
        if self.data:
            page = struct.pack("<QQ", self.begin, len(self.data)) + self.data
            self.pages.append(page + b"\0" * (PAGE - len(page)))
            self.data = bytearray()


def simulate(events: int, cpus: int, seed: int) -> tuple[list[Cpu], dict[int, str]]:
    """Each CPU switches from task to idle loop and back; who sleeps wakes somebody elsewhere."""
    source = random.Random(seed)
    names = {1000 + at: f"{kind}-{at}" for at in range(200) for kind in [source.choice(["worker", "kworker/u", "render", "audio", "db writer"])]}
    buffers, ready = [Cpu() for _ in range(cpus)], [(1_000_000_000 + 997 * cpu, cpu) for cpu in range(cpus)]
    pids, written = list(names), 0
    comm = {pid: name.encode()[:15] for pid, name in names.items()}
    heapq.heapify(ready)
    while written < events:
        now, cpu = heapq.heappop(ready)
        out, idle = buffers[cpu], f"swapper/{cpu}".encode()
        pid, other = source.choice(pids), source.choice(pids)
        flags, target = 1, source.randrange(cpus)

        def power(event: str, t: int, who: int, state: int, of: int) -> None:
            out.write(t, POWER.pack(IDS[event], flags, 1, who, state, of))

        power("cpu_idle", now, 0, AWAKE, cpu)
        out.write(now + 900, TASK.pack(IDS["sched_waking"], 5, 2, 0, comm[pid], pid, 120, cpu))
        out.write(now + 1700, TASK.pack(IDS["sched_wakeup"], 5, 3, 0, comm[pid], pid, 120, cpu))
        out.write(now + 2600, SWITCH.pack(IDS["sched_switch"], flags, 2, 0, idle, 0, 120, 0, comm[pid], pid, 120))
        ran = source.randrange(5_000, 400_000)
        if source.random() < 0.1:
            power("cpu_frequency", now + 2600 + ran // 3, pid, source.randrange(6, 31) * 100_000, cpu)
            written += 1
        out.write(now + 2600 + ran // 2, TASK.pack(IDS["sched_waking"], flags, 1, pid, comm[other], other, 120, target))
        end = now + 2600 + ran
        state = source.choice([1, 1, 1, 2, 0])
        out.write(end, SWITCH.pack(IDS["sched_switch"], flags, 2, pid, comm[pid], pid, 120, state, idle, 0, 120))
        power("cpu_idle", end + 800, 0, source.randrange(3), cpu)
        written += 7
        heapq.heappush(ready, (end + source.randrange(2_000, 300_000), cpu))
    for buffer in buffers:
        buffer.flush()
    return buffers, names


def format_of(name: str) -> str:
    _, fields, printed = EVENTS[name]
    text, offset = f"name: {name}\nID: {IDS[name]}\nformat:\n", 0
    for at, (kind, field, size) in enumerate(COMMON + fields):
        offset = -(-offset // min(size, 8)) * min(size, 8) if "[" not in field else offset
        signed = int(kind in ("int", "pid_t", "long", "char") and "[" not in field)
        text += f"\tfield:{kind} {field};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n"
        offset += size
        if at == len(COMMON) - 1:
            text += "\n"
    return f"{text}\nprint fmt: {printed}\n"


def write(path: Path, buffers: list[Cpu], names: dict[int, str]) -> None:
    def sized(text: str, size: str = "<Q") -> bytes:
        return struct.pack(size, len(text)) + text.encode()

    head = b"\x17\x08\x44tracing6\0" + struct.pack("<BBI", 0, 8, PAGE)
    head += b"header_page\0" + sized(HEADER_PAGE) + b"header_event\0" + sized(HEADER_EVENT)
    head += struct.pack("<I", 0)
    systems = sorted({system for system, *_ in EVENTS.values()})
    head += struct.pack("<I", len(systems))
    for system in systems:
        own = [name for name, (of, *_) in EVENTS.items() if of == system]
        head += system.encode() + b"\0" + struct.pack("<I", len(own))
        head += b"".join(sized(format_of(name)) for name in own)
    head += struct.pack("<II", 0, 0)  # neither symbols nor printk formats
    head += sized("".join(f"{pid} {name}\n" for pid, name in names.items()))
    head += struct.pack("<I", len(buffers))
    head += b"options  \0" + struct.pack("<H", 0) + b"flyrecord\0"
    at = -(-(len(head) + 16 * len(buffers)) // PAGE) * PAGE
    with path.open("wb") as out:
        for buffer in buffers:
            head += struct.pack("<QQ", at, len(buffer.pages) * PAGE)
            at += len(buffer.pages) * PAGE
        out.write(head + b"\0" * (-len(head) % PAGE))
        for buffer in buffers:
            out.writelines(buffer.pages)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write(options.out, *simulate(options.events, options.cpus, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
