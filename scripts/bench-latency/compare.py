#!/usr/bin/env python3
"""Release lateness of Flyball's measured loop against cyclictest.

Runs alternating pairs of both under the same conditions: one thread pinned to the same CPU,
SCHED_FIFO at the same priority, CLOCK_MONOTONIC, absolute sleeps at the same interval, memory
locked, /dev/cpu_dma_latency not held (cyclictest --default-system). cyclictest's main thread wakes
every 10 ms and by default does so on the measured CPU, which keeps that CPU warmer than the thread
itself would; --main-cpu puts it elsewhere, and gives ours a companion there that wakes as often, so
that both measure the same. Which of the two comes first changes from pair to pair, so that a drift of
the machine favours neither.

A run of --seconds is cut into --slices that alternate with the other program's and are pooled
before percentiles are taken, so that a burst of the host's noise falls on both alike.

For every pair it prints the ratio ours / cyclictest of p50 and p99, and over all pairs the
geometric mean of the ratios with an upper 95 % bound (one-sided, Student's t over the logarithms
of the pairs' ratios; a bootstrap over pairs beside it). p99.9 is printed without a bar: the
host's noise decides it. Exit code 1 when a bound exceeds --bar.

Needs root (or CAP_SYS_NICE and CAP_IPC_LOCK), rt-tests, and a quiet machine:

    cargo build --release -p flyball-lab --example lateness
    scripts/bench-latency/compare.py --pairs 20 --seconds 30 --cpu 1
"""

import argparse
import csv
import json
import math
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = ROOT / "target" / "release" / "examples" / "lateness"
PERCENTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}

# cyclictest's histogram in nanoseconds (-N) is bounded by 1 ms; what lies above is counted as
# overflow and ranks above every bucket, as infinity.
HISTOGRAM_NS = 1_000_000

# One-sided 95 % quantiles of Student's t by degrees of freedom; beyond 30 the normal's 1.645 is
# approached from above by 1.645 + 1.6 / df, good to 0.002.
T95 = [
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812,
    1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725,
    1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697,
]  # fmt: skip


def main() -> int:
    options = parse_arguments()
    pairs = []
    print(f"{'pair':>4}  {'first':<10}" + "".join(f"{name + ' ours/cyc us':>26}" for name in PERCENTILES))
    for number in range(options.pairs):
        ours_first = number % 2 == 0
        pair = run_pair(ours_first, options)
        pairs.append(pair)
        cells = "".join(
            f"{pair[0][name] / 1e3:>10.2f} /{pair[1][name] / 1e3:>7.2f} {ratio(pair, name):>5.3f}x"
            for name in PERCENTILES
        )
        print(f"{number + 1:>4}  {'ours' if ours_first else 'cyclictest':<10}{cells}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(pairs))
    return verdict(pairs, options)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=30, help="length of each run")
    parser.add_argument("--slices", type=int, default=1, help="alternations within each pair")
    parser.add_argument(
        "--null", action="store_true",
        help="cyclictest in both places: what the machine's noise alone makes of the bounds",
    )
    parser.add_argument("--period-us", type=int, default=1000)
    parser.add_argument("--cpu", type=int, default=1)
    parser.add_argument("--main-cpu", type=int, help="for cyclictest's main thread; --cpu by default")
    parser.add_argument("--priority", type=int, default=80)
    parser.add_argument("--bar", type=float, default=1.10, help="allowed upper bound of p50 and p99")
    parser.add_argument("--ours", type=Path, default=OURS, help="the lateness example")
    parser.add_argument("--cyclictest", default="cyclictest")
    parser.add_argument("--seed", type=int, default=1, help="of the bootstrap over pairs")
    parser.add_argument("--json", help="write the percentiles of all runs here")
    options = parser.parse_args()
    if options.slices < 1 or options.seconds % options.slices:
        parser.error("--slices: a divisor of --seconds")
    if options.pairs < 2:
        parser.error("--pairs: at least 2, a bound needs a spread")
    if not options.ours.is_file():
        parser.error(
            f"{options.ours}: no such file\n"
            "hint: cargo build --release -p flyball-lab --example lateness"
        )
    if shutil.which(options.cyclictest) is None:
        parser.error(f"{options.cyclictest}: not found\nhint: apt-get install rt-tests")
    return options


Counts = Counter[float]  # of lateness in nanoseconds; infinity is beyond the histogram


def run_pair(ours_first: bool, options: argparse.Namespace) -> tuple[dict[str, float], ...]:
    """Percentiles of ours and of cyclictest in nanoseconds, slice by slice in turn (ABBA...)."""
    ours, theirs = Counter(), Counter()
    for number in range(options.slices):
        first_here = ours_first == (number % 2 == 0)
        for is_ours in (first_here, not first_here):
            if is_ours:
                ours += run_cyclictest(options) if options.null else run_ours(options)
            else:
                theirs += run_cyclictest(options)
    return percentiles(ours), percentiles(theirs)


def run_ours(options: argparse.Namespace) -> Counts:
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "windows.csv"
        output = run([
            str(options.ours),
            "--seconds", str(options.seconds // options.slices),
            "--period-us", str(options.period_us),
            "--cpu", str(options.cpu),
            "--scheduling", f"fifo:{options.priority}",
            "--probe", "off", "--raw", str(raw),
            *([] if options.main_cpu is None else ["--companion", str(options.main_cpu)]),
        ])  # fmt: skip
        result = json.loads(output)
        if result["ended"] != "Complete" or result["degraded"] or result["dropped"]:
            sys.exit(f"ours did not run as asked: {output.strip()}")
        with raw.open() as file:
            rows = csv.DictReader(file)
            return Counter(float(row["dispatch_ns"]) - float(row["release_ns"]) for row in rows)


def run_cyclictest(options: argparse.Namespace) -> Counts:
    with tempfile.TemporaryDirectory() as folder:
        histogram = Path(folder) / "histogram"
        run([
            options.cyclictest, "--default-system", "--quiet", "--mlockall", "--nsecs",
            "--threads=1", f"--affinity={options.cpu}", "--policy=fifo",
            f"--priority={options.priority}", "--clock=0", f"--interval={options.period_us}",
            f"--mainaffinity={options.cpu if options.main_cpu is None else options.main_cpu}",
            f"--duration={options.seconds // options.slices}", f"--histogram={HISTOGRAM_NS}",
            f"--histfile={histogram}",
        ])  # fmt: skip
        return histogram_counts(histogram.read_text())


def histogram_counts(text: str) -> Counts:
    """`VALUE COUNT` lines; overflows rank last, as infinity."""
    counts = Counter()
    for line in text.splitlines():
        if line.startswith("# Histogram Overflows:"):
            counts[math.inf] += sum(int(word) for word in line.split(":")[1].split())
        elif line and not line.startswith("#"):
            value, count = line.split()[:2]
            if int(count):
                counts[float(value)] += int(count)
    if not counts.total():
        sys.exit("cyclictest's histogram is empty")
    return counts


def percentiles(counts: Counts) -> dict[str, float]:
    """Nearest rank."""
    total, ordered, result = counts.total(), sorted(counts.items()), {}
    for name, share in PERCENTILES.items():
        rank, seen = max(1, math.ceil(share * total)), 0
        for value, count in ordered:
            seen += count
            if seen >= rank:
                result[name] = value
                break
    return result


def run(command: list[str]) -> str:
    """Standard output of a program that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def ratio(pair: tuple[dict[str, float], dict[str, float]], name: str) -> float:
    return pair[0][name] / pair[1][name]


def verdict(pairs: list, options: argparse.Namespace) -> int:
    print(f"\n{len(pairs)} pairs of {options.seconds} s at {options.period_us} us on cpu{options.cpu}")
    failed = False
    for name in PERCENTILES:
        if any(math.isinf(pair[1][name]) for pair in pairs):
            beyond = f"{HISTOGRAM_NS / 1e6:.0f} ms, where cyclictest's histogram ends"
            print(f"{name:<6} not comparable: beyond {beyond}; the machine is not quiet")
            failed |= name != "p99.9"
            continue
        logs = [math.log(ratio(pair, name)) for pair in pairs]
        mean = statistics.fmean(logs)
        bound = math.exp(mean + t95(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs)))
        words = "no bar"
        if name != "p99.9":
            words = f"at most {options.bar:.2f}: {'yes' if bound <= options.bar else 'NO'}"
            failed |= bound > options.bar
        print(
            f"{name:<6} ratio {math.exp(mean):.3f}, upper 95 % bound {bound:.3f} "
            f"(bootstrap {bootstrap_bound(logs, options.seed):.3f}); {words}"
        )
    return 1 if failed else 0


def t95(degrees: int) -> float:
    return T95[degrees - 1] if degrees <= len(T95) else 1.645 + 1.6 / degrees


def bootstrap_bound(logs: list[float], seed: int, replicates: int = 10_000) -> float:
    """95th percentile of the resampled mean ratio (percentile bootstrap over pairs)."""
    source = random.Random(seed)
    means = sorted(statistics.fmean(source.choices(logs, k=len(logs))) for _ in range(replicates))
    return math.exp(means[math.ceil(0.95 * replicates) - 1])


if __name__ == "__main__":
    sys.exit(main())
