#!/usr/bin/env python3
"""The model beside a real kernel, over all scenarios of a folder.

Runs `flyball board compare` on each scenario, keeps what it found in OUT/NAME, and writes a table
of every figure. Needs `flyball board setup --arch aarch64 --program FILE` once, and a machine that
has nothing else to do: 64 scenarios with 4 playings each take some 30 minutes on 2 cores.

    cargo build --release
    scripts/board-vs-model/compare.py --out compared
    scripts/board-vs-model/compare.py --out compared --table-only > table.md

With --at-most N a scenario is played up to N times where it is open whether a response, a frequency or a power
agrees: where the 95 % interval of its distance reaches over the bar. These are in OUT/NAME.more.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--flyball", type=Path, default=ROOT / "target" / "release" / "flyball")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scenarios", type=Path, default=HERE / "scenarios", metavar="DIR")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--at-most", type=int, metavar="N", help="playings where a figure is open")
    parser.add_argument("--table-only", action="store_true", help="of what is in OUT already")
    parser.add_argument("--again", type=Path, metavar="EARLIER", help="judge an earlier OUT's playings")
    parser.add_argument("--brief", action="store_true", help="counts, times, and what differs while CPUs are busy")
    parser.add_argument("names", nargs="*", help="some scenarios only")
    options = parser.parse_args()
    scenarios = in_folder(options.scenarios, options.names)
    if not scenarios or {path.stem for path in scenarios} < set(options.names):
        known = ", ".join(path.stem for path in in_folder(options.scenarios, [])) or "none"
        parser.error(f"expected scenarios of {options.scenarios}, which has {known}; found {' '.join(options.names) or 'none'}")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--out: {error}")
    found = {}
    for path in scenarios:
        out = options.out / path.stem
        more = options.out / (path.stem + MORE)
        if not options.table_only:
            again, repeats = (latest(options.again, path.stem), None) if options.again else (None, options.repeats)
            compare(options.flyball, path, out, again, repeats)
            first = read(out)
            if options.at_most and is_open(first) and len(first["playings"]) < options.at_most:
                compare(options.flyball, path, more, out, options.at_most)
        if result := read(latest(options.out, path.stem)):
            found[path.stem] = result
    print(counts(found) + "\n\n" + table(found, brief) if options.brief else table(found, worth_a_line))
    missing = [path.stem for path in scenarios if path.stem not in found and not options.table_only]
    if missing:
        print(f"not compared: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


def in_folder(folder: Path, names: list[str]) -> list[Path]:
    return [path for path in sorted(folder.glob("*.toml")) if not names or path.stem in names]


# What a scenario with more playings than the others has behind its name.
MORE = ".more"


def latest(out: Path, name: str) -> Path:
    more = out / (name + MORE)
    return more if read(more) else out / name


def compare(flyball: Path, scenario: Path, out: Path, again: Path | None, repeats: int | None) -> None:
    """Compares once: nothing is done where the result is there."""
    if read(out):
        return
    print(f"{out.name} ...", file=sys.stderr, flush=True)
    command = [flyball, "board", "compare", scenario, "--out", out, "--format", "json"]
    command += ["--again", again] if again else []
    command += ["--repeats", str(repeats)] if repeats else []
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, text=True)
    if ended.returncode not in (0, 1):
        print(f"{out.name}: exit code {ended.returncode}", file=sys.stderr)


def read(out: Path) -> dict | None:
    result = out / "comparison.json"
    return json.loads(result.read_text()) if result.is_file() else None


def is_open(comparison: dict | None) -> bool:
    """Whether other playings may say something else of what a person asks."""
    asked = (line for line in (comparison or {"lines": []})["lines"] if line["quantity"] in ASKED)
    return any(line["chance"] for line in asked)


# What a person asks.
ASKED = ("response", "busy_frequency", "busy_power")
QUANTITIES = {
    "response": "responses",
    "time_to_utilization": "times to a utilisation",
    "time_to_speed": "times to 80 % of the highest frequency",
    "busy_frequency": "frequency while busy",
    "busy_power": "power while busy",
    "running": "shares of the time on a kind of core",
    "busy_residency": "busy time at an operating point",
}
# Nanoseconds to ms, kHz to MHz.
SCALES = {"response": 1e6, "time_to_utilization": 1e6, "time_to_speed": 1e6, "busy_frequency": 1e3}


def counts(found: dict[str, dict]) -> str:
    """Figures that agree, of how many, by what they are."""
    ahead = {"frequency": "next frequency, % of busy time", "placement": "next CPU, % of running time"}
    columns = [*QUANTITIES.values(), *ahead.values()]
    lines = ["| scenario | playings | " + " | ".join(columns) + " |", "|---" * (2 + len(columns)) + "|"]
    sums = dict.fromkeys(QUANTITIES, (0, 0))
    for name, comparison in found.items():
        cells = [name, str(len(comparison["playings"]))]
        for quantity in QUANTITIES:
            those = [line for line in comparison["lines"] if line["quantity"] == quantity]
            agree = sum(line["agreement"] == "agrees" for line in those)
            sums[quantity] = (sums[quantity][0] + agree, sums[quantity][1] + len(those))
            cells.append(f"{agree} of {len(those)}")
        cells += [one_step(comparison["one_step"][kind]) for kind in ahead]
        lines.append("| " + " | ".join(cells) + " |")
    whole = [one_step(added(comparison["one_step"][kind] for comparison in found.values())) for kind in ahead]
    lines.append("| **all** | | " + " | ".join([*(f"{agree} of {of}" for agree, of in sums.values()), *whole]) + " |")
    told = {"of what a person asks (responses, frequency, power)": ASKED, "of all figures": tuple(QUANTITIES)}
    lines.append("")
    for words, quantities in told.items():
        agree, of = (sum(sums[quantity][at] for quantity in quantities) for at in (0, 1))
        lines.append(f"{agree} of {of} {words} agree, {100 * agree / max(of, 1):.1f} %.")
        those = [line for found_in in found.values() for line in found_in["lines"] if line["quantity"] in quantities]
        lines.append(f"  {of_chance(those)}")
    return "\n".join(lines)


def of_chance(lines: list[dict]) -> str:
    """How much of it is chance: where a distance's interval reaches over the bar, and the kernel beside itself."""
    certain = {word: sum(line["agreement"] == word and not line["chance"] for line in lines) for word in ("agrees", "differs")}
    decided = sum(certain.values())
    among = [line["among_playings"] for line in lines if line["among_playings"] is not None]
    halves = f"{sum(among):.1f} of {len(among)} ({100 * sum(among) / max(len(among), 1):.1f} %)"
    return (
        f"Certain are {decided}: {certain['agrees']} agree ({100 * certain['agrees'] / max(decided, 1):.1f} %), "
        f"{certain['differs']} differ. Halves of the kernel's playings agree with each other in {halves}."
    )


def one_step(decisions: dict | None) -> str:
    """The share of the time after decisions that both made alike, and their number."""
    if not decisions or not decisions["ns"]:
        return ""
    return f"{100 * decisions['same_ns'] / decisions['ns']:.1f} ({decisions['same']} of {decisions['count']})"


def added(several: Iterable[dict | None]) -> dict:
    known = [decisions for decisions in several if decisions]
    return {key: sum(decisions[key] for decisions in known) for key in ("same", "count", "same_ns", "ns")}


def brief(line: dict) -> bool:
    if line["quantity"] == "time_to_utilization":
        return line["board"] is not None or line["model"] is not None
    return line["agreement"] == "differs" or line["quantity"] != "busy_residency"


def table(found: dict[str, dict], wanted: Callable[[dict], bool]) -> str:
    lines = [
        "| scenario | playings | figure | kernel: mean (range) | model | model alone | distance | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, comparison in found.items():
        count = len(comparison["playings"])
        for line in comparison["lines"]:
            if not wanted(line):
                continue
            differs = "**differs**" if line["agreement"] == "differs" else ""
            kernel = spread(line["board"], line["board_never"], line)
            model = spread(line["model"], line["model_never"], line)
            alone = spread(line["alone"], line["alone_never"], line)
            unit = "points" if "points" in line["bar"] else "%"
            within = "" if line["plus_minus"] is None else f" ±{line['plus_minus']:.1f}"
            distance = "" if line["distance"] is None else f"{line['distance']:+.1f}{within} {unit}"
            lines.append(f"| {name} | {count} | {figure(line)} | {kernel} | {model} | {alone} | {distance} | {differs} |")
            name, count = "", ""
    return "\n".join(lines)


def worth_a_line(line: dict) -> bool:
    return line["board"] is not None or line["model"] is not None


def figure(line: dict) -> str:
    match line["quantity"]:
        case "time_to_utilization":
            return f"{line['task']}: ms to utilisation {line['level']}"
        case "time_to_speed":
            return f"{line['task']}: ms to {line['percent']} % of the highest frequency"
        case "response":
            return f"{line['task']}: p{line['percentile']} response, ms"
        case "busy_frequency":
            return f"{line['domain']}: MHz while busy"
        case "busy_power":
            return f"{line['domain']}: mW of busy CPUs"
        case "busy_residency":
            return f"{line['domain']}: % of a CPU busy at {line['khz'] // 1000} MHz"
        case _:
            return f"{line['task']}: % on {line['core_type']}"


def spread(side: dict | None, never: int, line: dict) -> str:
    if side is None:
        return "never"
    scale = SCALES.get(line["quantity"], 1.0)
    text = f"{side['mean'] / scale:.1f} ({side['min'] / scale:.1f} to {side['max'] / scale:.1f})"
    return text + (f", {never} never" if never else "")


if __name__ == "__main__":
    sys.exit(main())
