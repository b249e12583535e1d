#!/usr/bin/env python3
"""A run's windows as a polars frame, by Flyball and by polars itself: frames.py RUN [TIMES].

Needs the packages flyball, polars and pyarrow. Both sides read the same file from the page cache, in turns: first TIMES (11)
times each in a process of its own, then as often in one process. Time is that of the wall and that of all CPUs,
medians, in ms. Flyball also reads the manifest and checks the file's sum. Exit code 1 where a column was copied.
"""
import json
import resource
import statistics
import subprocess
import sys
import time


def sides(run):
    import flyball
    import polars

    return {
        "flyball": lambda: flyball.open(run).windows.to_polars(),
        "polars": lambda: polars.read_parquet(f"{run}/windows.parquet"),
    }


def timed(read):
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    frame = read()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return frame.height, wall * 1e3, cpu * 1e3


def alone(run, name):
    """The first reading of a process whose libraries are loaded."""
    asked = [sys.executable, __file__, run, "0", name]
    return json.loads(subprocess.run(asked, check=True, stdout=subprocess.PIPE).stdout)


def tell(what, taken):
    for at, clock in enumerate(("wall", "CPU")):
        own, other = (statistics.median(cost[at + 1] for cost in taken[name]) for name in ("flyball", "polars"))
        print(f"{what}, {clock}: flyball {own:.1f} ms, polars {other:.1f} ms, ratio {own / other:.2f}")


def main():
    run, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 11
    both = sides(run)
    if times == 0:
        print(json.dumps(timed(both[sys.argv[3]])))
        return 0
    first, later = ({name: [] for name in both} for _ in range(2))
    for _ in range(times):
        for name in both:
            first[name].append(alone(run, name))
    for turn in range(times + 3):
        for name, read in both.items():
            cost = timed(read)
            if turn >= 3:
                later[name].append(cost)
    print(f"{later['polars'][0][0]} windows")
    tell("first reading", first)
    tell("later ones", later)
    import flyball

    table = flyball.open(run).windows
    frame, copied = table.to_polars(), []
    for name, kind in frame.schema.items():
        if kind.is_numeric() and frame[name].null_count() < frame.height:
            if frame[name].to_arrow().buffers()[1].address != table.address(name):
                copied.append(name)
    print(f"numbers that were copied: {', '.join(copied) or 'none'}")
    return 1 if copied else 0


if __name__ == "__main__":
    sys.exit(main())
