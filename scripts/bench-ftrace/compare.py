#!/usr/bin/env python3
"""Our reader of scheduler traces beside trace-cmd and a plain Python reader, alternately.

    cargo build --release -p flyball -p flyball-events --example read_trace --bin flyball
    scripts/bench-ftrace/compare.py (TRACE.dat | --make 1000000) [--rounds 9] [--huge]

TRACE.dat is what `trace-cmd record` wrote; `--record SECONDS` makes one here first (needs root,
tracefs and stress-ng), `--make EVENTS` a made-up one anywhere (make_dat.py). The text that everybody else reads is what `trace-cmd report` prints of this
very file. In each round every contender runs once, in a random order, so that all of them see the
same machine:

  reader      read_trace TEXT        every line parsed, nothing kept
  dat         read_trace TRACE.dat   the binary file itself, every record decoded
  report      flyball report TEXT    every line into columns, every question asked, printed
  import      flyball report TEXT --out DIR  the same into a run directory (NDJSON, then Parquet)
  trace-cmd   trace-cmd report DAT   binary to text, to /dev/null
  python      one regular expression per line, events counted

Printed are medians over the rounds: wall time, CPU time (user and system: what one core does,
whatever else runs), megabytes of text (for dat: of the file) per second of CPU time, peak memory, and CPU time over the
reader's. With --huge the text is repeated to 2 GB, and the reader and the import run once on it.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
HUGE_BYTES = 2_000_000_000

PYTHON_READER = r"""
import re, sys
line = re.compile(rb"^\s*(.+)-(\d+)\s+\[(\d+)\]\s+(?:\S+\s+)?(\d+\.\d+):\s+(\w+):\s+(.*)$")
events = {}
with open(sys.argv[1], "rb") as file:
    for text in file:
        found = line.match(text)
        if found:
            task, tid, cpu, seconds, event, rest = found.groups()
            tid, cpu, seconds = int(tid), int(cpu), float(seconds)
            events[event] = events.get(event, 0) + 1
print(sum(events.values()))
"""


def main() -> int:
    options = parse_arguments()
    with tempfile.TemporaryDirectory(dir=options.scratch, prefix="bench-ftrace-") as folder:
        folder = Path(folder)
        dat = options.dat
        if options.record:
            dat = record(folder, options.record)
        elif options.make:
            dat = folder / "trace.dat"
            subprocess.run([sys.executable, HERE / "make_dat.py", dat, "--events", str(options.make)], check=True)
        text = folder / "trace.txt"
        with text.open("wb") as out:
            subprocess.run(["trace-cmd", "report", "-i", str(dat)], stdout=out, stderr=subprocess.DEVNULL, check=True)
        size = text.stat().st_size
        counts = json.loads(run([options.reader, text])[3])
        print(
            f"{size / 1e6:.1f} MB of text, {counts['lines']} lines: {counts['events']} events read, "
            f"{counts['other']} of other kinds, {counts['torn']} torn; "
            f"trace.dat {dat.stat().st_size / 1e6:.1f} MB; {version()}"
        )
        measure(options, folder, dat, text, size)
        if options.huge:
            huge(options, folder, text, size)
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dat", type=Path, nargs="?", help="written by trace-cmd record")
    parser.add_argument("--record", type=int, metavar="SECONDS", help="make one here")
    parser.add_argument("--make", type=int, metavar="EVENTS", help="make a made-up one")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--python-rounds", type=int, default=3, help="the slow one runs less often")
    parser.add_argument("--huge", action="store_true", help="also a text of 2 GB")
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()), help="room for text and runs")
    parser.add_argument("--reader", type=Path, default=TARGET / "examples" / "read_trace")
    parser.add_argument("--flyball", type=Path, default=TARGET / "flyball")
    parser.add_argument("--seed", type=int, default=1, help="of the order")
    options = parser.parse_args()
    if sum(bool(given) for given in (options.dat, options.record, options.make)) != 1:
        parser.error("name one of TRACE.dat, --record SECONDS and --make EVENTS")
    for program in (options.reader, options.flyball):
        if not program.is_file():
            parser.error(
                f"{program}: no such file\nhint: cargo build --release -p flyball -p flyball-events "
                "--example read_trace --bin flyball"
            )
    if shutil.which("trace-cmd") is None:
        parser.error("trace-cmd: not found\nhint: apt-get install trace-cmd")
    return options


def record(folder: Path, seconds: int) -> Path:
    """A busy scheduler for some seconds."""
    dat = folder / "trace.dat"
    command = ["trace-cmd", "record", "-q", "-o", str(dat), "-b", "65536", "-C", "mono"]
    command += [f"-e{event}" for event in ("sched_switch", "sched_waking", "sched_wakeup", "sched_migrate_task", "power")]
    command += ["stress-ng", "--quiet", "--switch", "4", "--timeout", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexit code {done.returncode}: {done.stderr.strip()}")
    return dat


def version() -> str:
    told = subprocess.run(["trace-cmd"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\S+)", told.stdout + told.stderr)
    return f"trace-cmd {found.group(1)}" if found else "trace-cmd of unknown version"


def run(command: list) -> tuple[float, float, int, str]:
    """Wall seconds, CPU seconds, peak KiB and standard output of a program that must succeed."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}")
        out.seek(0)
        told = out.read(4096).decode(errors="replace")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, told


def to_null(command: list) -> tuple[float, float, int, str]:
    """The same for a program that prints much: to /dev/null, as nobody reads it."""
    begin = time.monotonic()
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, ""


def imported(options: argparse.Namespace, folder: Path, text: Path) -> tuple[float, float, int, str]:
    out = folder / "run"
    try:
        return run([options.flyball, "--quiet", "report", text, "--no-page", "--out", out])
    finally:
        shutil.rmtree(out, ignore_errors=True)


def measure(options: argparse.Namespace, folder: Path, dat: Path, text: Path, size: int) -> None:
    contenders = {
        "reader": lambda: run([options.reader, text]),
        "dat": lambda: run([options.reader, dat]),
        "report": lambda: run([options.flyball, "--quiet", "report", text, "--no-page"]),
        "import": lambda: imported(options, folder, text),
        "trace-cmd": lambda: to_null(["trace-cmd", "report", "-i", dat]),
        "python": lambda: run([sys.executable, "-c", PYTHON_READER, text]),
    }
    order, source = list(contenders), random.Random(options.seed)
    found = {name: [] for name in contenders}
    for number in range(options.rounds):
        source.shuffle(order)
        for name in order:
            if name != "python" or number < options.python_rounds:
                found[name].append(contenders[name]())
    print(f"\nmedians of {options.rounds} rounds ({options.python_rounds} of python)")
    print(f"{'':<10} {'wall s':>8} {'CPU s':>8} {'MB/s':>8} {'peak MB':>8} {'CPU / reader':>13}")
    binary = dat.stat().st_size
    middle = {name: [statistics.median(run[at] for run in runs) for at in range(3)] for name, runs in found.items()}
    for name, (wall, cpu, peak) in middle.items():
        print(
            f"{name:<10} {wall:>8.3f} {cpu:>8.3f} {(binary if name == 'dat' else size) / 1e6 / cpu:>8.0f} {peak / 1024:>8.0f} "
            f"{cpu / middle['reader'][1]:>12.1f}x"
        )


def huge(options: argparse.Namespace, folder: Path, text: Path, size: int) -> None:
    """The same lines again and again: time goes back at each seam, which a reader must bear."""
    times = -(-HUGE_BYTES // size)
    free = shutil.disk_usage(folder).free
    if free < 4 * HUGE_BYTES:
        print(f"\n--huge: {free / 1e9:.1f} GB free below {folder}, 8 wanted; left out")
        return
    large = folder / "huge.txt"
    with large.open("wb") as out:
        for _ in range(times):
            with text.open("rb") as source:
                shutil.copyfileobj(source, out, 1 << 20)
    size *= times
    print(f"\n{size / 1e9:.2f} GB of text, once each")
    for name, result in (
        ("reader", run([options.reader, large])),
        ("import", imported(options, folder, large)),
    ):
        wall, cpu, peak, _ = result
        print(f"{name:<10} {wall:>8.1f} s wall, {cpu:.1f} s CPU, {size / 1e6 / cpu:.0f} MB/s, peak {peak / 1024:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
