#!/usr/bin/env python3
"""What differs between the model and a real kernel, sorted by where to look first.

    scripts/board-vs-model/triage.py --scenarios drawn --out compared
    scripts/board-vs-model/triage.py --scenarios drawn --out compared --shrink seed-7-04

The first prints each response, frequency and power that differs, with a reason to expect it where there is one, and
how many agree by what the scenarios have. The second looks for the shortest scenario that still differs for certain:
it leaves out one task or one key after the other, and plays what is left on the board.
"""

import argparse
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

from compare import ASKED, ROOT, compare, figure, in_folder, latest, read

# The bars of a decision one step ahead, of docs/board-vs-model.md.
BARS = {"frequency": 0.95, "placement": 0.90}
# A domain with less of the machine's energy.
LITTLE_POWER = 0.01


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scenarios", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, help="where compare.py has put what it found")
    parser.add_argument("--shrink", metavar="NAME", help="find the shortest scenario that still differs for certain")
    parser.add_argument("--repeats", type=int, default=8, help="playings of each shorter scenario")
    parser.add_argument("--flyball", type=Path, default=ROOT / "target" / "release" / "flyball")
    options = parser.parse_args()
    scenarios = {path.stem: path for path in in_folder(options.scenarios, [])}
    if not scenarios:
        parser.error(f"--scenarios: expected a folder of scenarios, found none in {options.scenarios}")
    if options.shrink:
        if options.shrink not in scenarios:
            parser.error(f"expected a scenario of {options.scenarios}, found {options.shrink}")
        return shrink(options, scenarios[options.shrink])
    found = {name: result for name in scenarios if (result := read(latest(options.out, name)))}
    if not found:
        parser.error(f"expected what compare.py found of {options.scenarios}, found none in {options.out}")
    print(differences(found))
    print()
    print(by_feature(found, scenarios))
    return 0


def asked(comparison: dict) -> list[dict]:
    return [line for line in comparison["lines"] if line["quantity"] in ASKED]


def certain(comparison: dict) -> list[dict]:
    return [line for line in asked(comparison) if line["agreement"] == "differs" and not line["chance"]]


def differences(found: dict[str, dict]) -> str:
    rows = [
        (bool(line["chance"]), -abs(line["distance"] or 0), name, line)
        for name, comparison in found.items()
        for line in asked(comparison)
        if line["agreement"] == "differs"
    ]
    lines = ["| scenario | figure | distance | | look at |", "|---|---|---|---|---|"]
    for is_open, _, name, line in sorted(rows, key=lambda row: row[:3]):
        within = "" if line["plus_minus"] is None else f" ±{line['plus_minus']:.1f}"
        distance = "" if line["distance"] is None else f"{line['distance']:+.1f}{within} %"
        word = "open" if is_open else "**certain**"
        lines.append(f"| {name} | {figure(line)} | {distance} | {word} | {'; '.join(reasons(found[name], line))} |")
    count = sum(len(asked(comparison)) for comparison in found.values())
    agree = count - len(rows)
    sure = sum(not row[0] for row in rows)
    head = f"{agree} of {count} responses, frequencies and powers agree ({100 * agree / max(count, 1):.1f} %); {sure} differ for certain."
    return "\n".join([head, "", *lines])


def reasons(comparison: dict, line: dict) -> list[str]:
    """Where a difference comes from: by experiment, and as far as the figures themselves tell."""
    told = [because(line["because"])] if line.get("because") else []
    for kind, bar in BARS.items():
        steps = comparison["one_step"][kind]
        if steps and steps["ns"] and steps["same_ns"] < bar * steps["ns"]:
            told.append(f"a rule: next {kind} the same for {100 * steps['same_ns'] / steps['ns']:.0f} %")
    among = line["among_playings"]
    if among is not None and among < 0.5:
        told.append(f"the kernel beside itself agrees in {100 * among:.0f} %")
    if line["quantity"] == "busy_power" and line["board"]:
        whole = sum(other["board"]["mean"] for other in comparison["lines"] if other["quantity"] == "busy_power" and other["board"])
        if line["board"]["mean"] < LITTLE_POWER * whole:
            told.append("less than 1 % of the machine's power")
    return told


CAUSES = {
    "placement": "where tasks run",
    "frequency": "which frequency holds",
    "care": "when idle CPUs are looked after",
    "either": "where tasks run or which frequency holds",
    "both": "where tasks run and which frequency holds",
    "else": "neither where tasks run nor which frequency holds",
}


def because(of: dict) -> str:
    """The decisions of the kernel's with which a distance is gone."""
    with_these = (f"{'never' if of[kind] is None else format(of[kind], '+.1f')}" for kind in ("placements", "frequencies", "both", "care", "placements_care"))
    return f"{CAUSES[of['cause']]} ({' / '.join(with_these)} with the kernel's)"


def by_feature(found: dict[str, dict], scenarios: dict[str, Path]) -> str:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for name, comparison in found.items():
        lines = asked(comparison)
        agree = sum(line["agreement"] == "agrees" for line in lines)
        for feature in features(tomllib.loads(scenarios[name].read_text())):
            for at, add in enumerate((1, len(lines), agree, len(certain(comparison)))):
                counts[feature][at] += add
    lines = ["| scenarios with | of them | figures agree | | differ for certain |", "|---|---|---|---|---|"]
    for feature, (these, of, agree, sure) in sorted(counts.items(), key=lambda item: item[1][2] / max(item[1][1], 1)):
        lines.append(f"| {feature} | {these} | {agree} of {of} | {100 * agree / max(of, 1):.0f} % | {sure} |")
    return "\n".join(lines)


def features(scenario: dict) -> set[str]:
    tasks = scenario["task"]
    told = {scenario["platform"], scenario["kernel"], scenario["governor"]["name"]}
    told |= {f"a {task['kind']} task" for task in tasks}
    told |= {f"class {task['class'].split(':')[0]}" for task in tasks if "class" in task}
    told |= {key for key in ("uclamp_min", "uclamp_max") if any(key in task for task in tasks)}
    told |= {"a task on some CPUs only" for task in tasks if "cpus" in task}
    told |= {"a rate limit" for key in scenario["governor"] if key == "rate_limit_us"}
    count = sum(task.get("count", 1) for task in tasks)
    told.add("one task" if count == 1 else "two or three tasks" if count < 4 else "four tasks or more")
    return told


def shrink(options: argparse.Namespace, path: Path) -> int:
    """Leaves out what is not needed for a certain difference, one part at a time."""
    before = read(latest(options.out, path.stem))
    if not before or not certain(before):
        print(f"{path.stem}: expected a figure that differs for certain, found none", file=sys.stderr)
        return 1
    folder = options.out / f"{path.stem}.shrunk"
    folder.mkdir(parents=True, exist_ok=True)
    blocks, tried, at = parts(path.read_text()), 0, 0
    while at < len(shorter := list(without_one(blocks))):
        tried += 1
        what, fewer = shorter[at]
        candidate = folder / f"{path.stem}-{tried:02}.toml"
        candidate.write_text("\n".join("\n".join(block) for block in fewer))
        out = folder / candidate.stem
        compare(options.flyball, candidate, out, None, options.repeats)
        still = certain(read(out) or {"lines": []})
        told = "; ".join(f"{figure(line)} {line['distance']:+.1f} %" for line in still if line["distance"] is not None)
        print(f"without {what}: {told or 'nothing differs for certain'}", flush=True)
        if still:
            blocks, shortest = fewer, candidate
            print(f"  kept: {shortest}", flush=True)
        else:
            at += 1
    print("\n".join("\n".join(block) for block in blocks))
    return 0


# Keys that a scenario does without.
OPTIONAL = ("rate_limit_us", "class", "cpus", "uclamp_min", "uclamp_max")


def parts(text: str) -> list[list[str]]:
    """The head, and each table with its lines."""
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("["):
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def without_one(blocks: list[list[str]]):
    """What could be left out, and what is then left: tasks first."""
    tasks = [block for block in blocks if block[0] == "[[task]]"]
    if len(tasks) > 1:
        for task in tasks:
            name = next((line for line in task if line.startswith("name")), "a task")
            yield name, [block for block in blocks if block is not task]
    for block in blocks:
        for line in block:
            if line.split(" = ")[0] in OPTIONAL:
                fewer = [other for other in block if other is not line]
                yield line, [fewer if other is block else other for other in blocks]


if __name__ == "__main__":
    sys.exit(main())
