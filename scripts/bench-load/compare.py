#!/usr/bin/env python3
"""Flyball's load generator beside stress-ng: how close to the wanted load, and how steady.

Both are measured from outside in the same way: the run time that the scheduler accounts to every
thread of the generator's process tree (/proc/PID/task/TID/schedstat), read every 100 ms at
absolute times. The difference of two readings, over the time between them, is one slice.

- The sampler shares the generator's CPU under SCHED_FIFO where that is allowed: a running thread's
  account is only brought up to date at a tick or a switch, and being preempted is a switch. It
  costs a reading or so, 0.1 % of the CPU. Elsewhere it samples from another CPU, and the figures
  of both generators carry an error of up to one tick (4 ms at 250 Hz).
- "Quiet CPU" is checked, not assumed: a second in which the generator's threads waited for the CPU
  for more than WAIT_LIMIT of it (second field of schedstat), or of which the hypervisor took more
  than STEAL_LIMIT, counts as disturbed. (Whole seconds: single slices in which a generator happens to
  sleep would always look quiet.) A bar met over all slices is met; otherwise the quiet seconds decide, of
  which MIN_SECONDS are needed; the measurement is repeated until it has them, or gives up.
- --nice gives both generators an own session and that nice value in it and for it (the scheduler's
  autogroups make a nice value count inside its session only), so that a CPU which others use is
  nearly quiet for them.

Exit code: 0 when every bar is met, 1 when one is missed, 2 for wrong use, 4 when something is not
installed, 5 when the CPU was not quiet enough to judge.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

MEAN_BAR = 1.0      # points
SD_BAR = 3.0        # points, over slices
SLICE = 0.1         # s
BLOCK = 10          # slices in a second
WAIT_LIMIT = 0.01   # of a second
STEAL_LIMIT = 0.01  # of a second: one tick of /proc/stat
MIN_SECONDS = 5


def tree(root):
    """The process ROOT and all its descendants."""
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    todo.extend(int(child) for child in file.read().split())
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def account(files):
    """Run time and waiting time of all threads together, in seconds."""
    run = waited = 0
    for file in files:
        fields = os.pread(file, 100, 0).split()
        run += int(fields[0])
        waited += int(fields[1])
    return run / 1e9, waited / 1e9


def open_tree(root):
    files = []
    for pid in tree(root):
        for task in os.listdir(f"/proc/{pid}/task"):
            files.append(os.open(f"/proc/{pid}/task/{task}/schedstat", os.O_RDONLY))
    return files


def steal(cpu):
    with open("/proc/stat") as file:
        for line in file:
            fields = line.split()
            if fields[0] == f"cpu{cpu}":
                return int(fields[8]) / os.sysconf("SC_CLK_TCK")
    raise SystemExit(f"cpu{cpu} is not in /proc/stat")


def sleep_until(moment):
    while (rest := moment - time.monotonic()) > 0:
        time.sleep(rest)


def measure(command, cpu, seconds):
    """Slices of COMMAND: (percent, waited share, steal in seconds)."""
    # Not pinned from here: each generator is told itself where to run.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=release)
    try:
        time.sleep(1.5)
        if process.poll() is not None:
            raise SystemExit(f"{command[0]} ended: {process.stderr.read().decode().strip()}")
        files = open_tree(process.pid)
        slices = []
        start = time.monotonic()
        before = (start, *account(files), steal(cpu))
        for number in range(1, round(seconds / SLICE) + 1):
            sleep_until(start + number * SLICE)
            now = (time.monotonic(), *account(files), steal(cpu))
            span = now[0] - before[0]
            slices.append((100 * (now[1] - before[1]) / span, (now[2] - before[2]) / span,
                           now[3] - before[3]))
            before = now
        for file in files:
            os.close(file)
        return slices
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def release():
    """In the child: the class and the CPUs that a program normally starts with."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.sched_setaffinity(0, range(os.cpu_count()))
    if NICE:
        os.setsid()
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
        if os.path.exists("/proc/self/autogroup"):
            with open("/proc/self/autogroup", "w") as file:
                file.write(str(NICE))


def commands(args, percent):
    cpu, nice = args.cpu, args.nice
    kind = f",nice={nice}" if nice else ""
    return {
        "flyball": args.flyball + [f"cpu={cpu},{percent}%,{args.kind}{kind}"],
        "stress-ng": ["stress-ng", "--quiet", "--cpu", "1", "--cpu-load", str(percent),
                      "--taskset", str(cpu), "--timeout", "0"],
    }


def judge(slices, wanted):
    """Figures over the quiet seconds, and over all."""
    blocks = [slices[start:start + BLOCK] for start in range(0, len(slices), BLOCK)]
    calm = [block for block in blocks
            if statistics.fmean(waited for _, waited, _ in block) <= WAIT_LIMIT
            and sum(stolen for _, _, stolen in block) <= STEAL_LIMIT * 1.5]
    quiet = [percent for block in calm for percent, _, _ in block]
    every = [percent for percent, _, _ in slices]
    figures = {"wanted": wanted, "slices": len(every), "quiet": len(quiet),
               "mean_error_all": statistics.fmean(every) - wanted,
               "sd_all": statistics.stdev(every)}
    if len(calm) >= MIN_SECONDS:
        figures["mean_error"] = statistics.fmean(quiet) - wanted
        figures["sd"] = statistics.stdev(quiet)
    return figures


def bar(row):
    """A bar met over all slices is met, disturbed or not; else the quiet seconds decide."""
    if abs(row["mean_error_all"]) <= MEAN_BAR and row["sd_all"] <= SD_BAR:
        return "met", 0
    if "sd" not in row:
        return "not quiet enough to judge", 5
    if abs(row["mean_error"]) <= MEAN_BAR and row["sd"] <= SD_BAR:
        return "met in the quiet seconds", 0
    return f"missed: mean within {MEAN_BAR}, sd at most {SD_BAR}", 1


def sampler_place(cpu):
    """Puts this process onto CPU under FIFO, or beside it; returns a sentence."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        os.sched_setaffinity(0, {cpu})
        return f"sampled from cpu{cpu} itself under SCHED_FIFO"
    except PermissionError:
        others = set(range(os.cpu_count())) - {cpu}
        os.sched_setaffinity(0, others or {cpu})
        return "sampled from another CPU: up to a tick of error in each slice"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--flyball", nargs="+", required=True, metavar="WORD",
                        help="command that takes a profile, such as: flyball hold --load")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--percent", type=int, nargs="+", default=[10, 50, 90])
    parser.add_argument("--kind", default="integer", choices=["integer", "float", "memory"])
    parser.add_argument("--seconds", type=float, default=10, help="per measurement")
    parser.add_argument("--rounds", type=int, default=2, help="alternations per percentage")
    parser.add_argument("--attempts", type=int, default=3, help="tries for enough quiet slices")
    parser.add_argument("--nice", type=int, default=0,
                        help="nice value of both generators: a negative one keeps a CPU quiet that others use")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    global NICE
    NICE = args.nice
    for program, hint in (("stress-ng", "sudo apt install stress-ng"),
                          (args.flyball[0], "cargo build --release")):
        if shutil.which(program) is None:
            print(f"{program} is not there\nhint: {hint}", file=sys.stderr)
            return 4
    place = sampler_place(args.cpu)
    print(f"cpu{args.cpu}, nice {args.nice}, {place}", file=sys.stderr)
    rows, verdict = [], 0
    if not args.json:
        print("wanted generator  mean error     sd   quiet slices   over all slices: error     sd")
    for wanted in args.percent:
        pooled = {"flyball": [], "stress-ng": []}
        for attempt in range(max(args.rounds, args.attempts)):
            if attempt >= args.rounds and bar(judge(pooled["flyball"], wanted))[1] != 5:
                break
            for name, command in commands(args, wanted).items():
                pooled[name] += measure(command, args.cpu, args.seconds)
        for name, slices in pooled.items():
            row = {"generator": name, **judge(slices, wanted)}
            if name == "flyball":
                row["verdict"], code = bar(row)
                verdict = 1 if 1 in (code, verdict) else max(code, verdict)
            rows.append(row)
            if not args.json:
                show(row)
    if args.json:
        print(json.dumps({"cpu": args.cpu, "nice": args.nice, "sampler": place, "rows": rows}, indent=1))
    return verdict


def show(row):
    figure = lambda key: f"{row[key]:+7.2f}" if key in row else "      -"
    print(f"{row['wanted']:4} % {row['generator']:9}    {figure('mean_error')} "
          f"{figure('sd').replace('+', ' ')}   {row['quiet']:4} of {row['slices']:4}             "
          f"{figure('mean_error_all')} {figure('sd_all').replace('+', ' ')}  {row.get('verdict', '')}",
          flush=True)


if __name__ == "__main__":
    sys.exit(main())
