#!/usr/bin/env python3
"""Random scenarios for the model beside a real kernel: nobody chose them, so nobody fitted a rule to them.

    scripts/board-vs-model/generate.py --seed 7 --count 20 --out drawn
    scripts/board-vs-model/compare.py --scenarios drawn --out compared --repeats 8
    scripts/board-vs-model/triage.py --scenarios drawn --out compared

The same seed draws the same scenarios: of N, the first ones are those of a smaller N.
"""

import argparse
import random
import sys
from pathlib import Path

# CPUs by kind of core.
CORES = {"board-aarch64": {"little": (0, 1), "big": (2, 3)}, "board-x86": {"equal": (0, 1, 2, 3)}}
# How often each is drawn. Debian's 6.12 has no probes for utilisation on arm64.
BOARDS = {("board-aarch64", "debian-7.3"): 50, ("board-x86", "debian-6.12"): 25, ("board-x86", "debian-7.3"): 25}
# Debian's kernels that were built without utilisation clamps.
WITHOUT_CLAMPS = {("board-x86", "debian-6.12")}
# What all tasks together may ask for, in CPUs of the largest kind at their highest frequency: above it queues only grow.
MOST_LOAD = 1.6
# The player begins after it has set up its threads.
FIRST_RELEASE_MS = (200, 260)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if options.count < 1:
        parser.error(f"--count: expected a number from 1 on, found {options.count}")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        for number in range(1, options.count + 1):
            name = f"seed-{options.seed}-{number:02}"
            (options.out / f"{name}.toml").write_text(scenario(random.Random(f"{options.seed}/{number}"), name))
    except OSError as error:
        parser.error(f"--out: {error}")
    return 0


def scenario(rng: random.Random, name: str) -> str:
    board = rng.choices(list(BOARDS), list(BOARDS.values()))[0]
    platform, kernel = board
    governor = rng.choices(("schedutil", "ondemand", "conservative"), (70, 15, 15))[0]
    tasks = drawn_tasks(rng, CORES[platform], board not in WITHOUT_CLAMPS)
    longest = max(task.get("period", 0) or task.get("every", 0) for task in tasks)
    lines = [
        f'question = "Drawn at random: {name}."',
        f'platform = "{platform}"',
        f'kernel = "{kernel}"',
        f'duration = "{min(2000, max(1000, 260 + 8 * longest))}ms"',
        "phases = 40",
        "utilization = [100, 450]",
        "",
        "[governor]",
        f'name = "{governor}"',
    ]
    if governor == "schedutil" and rng.random() < 0.25:
        lines.append(f"rate_limit_us = {rng.choice((500, 2000, 5000, 10000, 20000))}")
    for task in tasks:
        lines += ["", "[[task]]", *(f"{key} = {literal(key, value)}" for key, value in task.items())]
    return "\n".join(lines) + "\n"


def drawn_tasks(rng: random.Random, cores: dict[str, tuple[int, ...]], clamps: bool) -> list[dict]:
    count = rng.choices((1, 2, 3, 4, 6), (25, 30, 20, 15, 10))[0]
    tasks: list[dict] = []
    room = MOST_LOAD
    for number in range(1, count + 1):
        kind = rng.choices(("periodic", "bursty", "poisson", "spin", "rampup"), (55, 15, 10, 12, 8))[0]
        load = min(logarithmic(rng, 0.02, 0.7), room)
        # What never sleeps needs a CPU; and beside a ramp-up the others are periodic, so that it is one.
        if any(task["kind"] == "rampup" for task in tasks) or (kind in ("spin", "rampup") and room < 1):
            kind = "periodic"
        task: dict = {"kind": kind, "name": f"{kind}-{number}"}
        match kind:
            case "periodic":
                task["phase"] = rng.randint(*FIRST_RELEASE_MS)
                task["period"] = round(logarithmic(rng, 4, 150))
                task["work"] = round(1000 * load * task["period"])
            case "bursty":
                task["phase"] = rng.randint(*FIRST_RELEASE_MS)
                task["every"] = round(logarithmic(rng, 60, 500))
                task["work"] = round(1000 * load * task["every"])
            case "poisson":
                task["mean"] = round(logarithmic(rng, 8, 100))
                task["work"] = round(1000 * load * task["mean"])
            case "rampup":
                task["sleeps"], task["gap"], load = 30, 10, 1
            case "spin":
                task["start"], load = rng.randint(*FIRST_RELEASE_MS), 1
        room = max(room - load, 0.02)
        special(rng, task, cores, clamps)
        tasks.append(task)
    return tasks


def special(rng: random.Random, task: dict, cores: dict[str, tuple[int, ...]], clamps: bool) -> None:
    """A class, CPUs and clamps, mostly none of them."""
    word = rng.choices(("fair", "nice", "fifo"), (80, 10, 10))[0]
    if word == "nice":
        task["class"] = f"nice:{rng.choice((-10, -5, 3, 5, 10))}"
    elif word == "fifo" and task["kind"] in ("periodic", "bursty", "poisson"):
        task["class"] = f"fifo:{rng.randint(1, 90)}"
    where = rng.choices(("anywhere", "one", "kind"), (75, 18, 7))[0]
    cpus = rng.choice(list(cores.values()))
    if where == "one":
        task["cpus"] = str(rng.choice(cpus))
    elif where == "kind" and len(cores) > 1:
        task["cpus"] = f"{cpus[0]}-{cpus[-1]}"
    clamp = rng.choices((None, "uclamp_min", "uclamp_max"), (80, 10, 10))[0]
    if clamp and clamps and not task.get("class", "").startswith("fifo"):
        task[clamp] = rng.randrange(100, 1000, 50)


def logarithmic(rng: random.Random, low: float, high: float) -> float:
    return low * (high / low) ** rng.random()


def literal(key: str, value: object) -> str:
    unit = "us" if key == "work" else "ms"
    if isinstance(value, int) and key not in ("sleeps", "uclamp_min", "uclamp_max"):
        return f'"{value}{unit}"'
    return str(value) if isinstance(value, int) else f'"{value}"'


if __name__ == "__main__":
    sys.exit(main())
