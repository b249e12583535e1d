#!/usr/bin/env python3
"""Makes a million windows from the CORTEX Linux recordings: every telemetry file 52 times.

    generate.py SOURCE TARGET [--times 52] [--verbatim]

Copy i continues the recording: repeats are numbered on (5 i + r) and times shifted behind the
copy before, so that the result is one long, valid recording. --verbatim repeats the bytes as
they are instead (5 repeats with 52 times the windows; time then jumps back).
"""
import argparse
import pathlib
import re
import shutil

TIMES = re.compile(rb'"(release|deadline|start|end)_ts_ns":(\d+)')
REPEAT = re.compile(rb'"repeat":(\d+)')


def moved(lines, shift_ns, repeats):
    """The lines with times and repeats moved on."""
    text = b"".join(lines)
    text = TIMES.sub(lambda m: b'"%s_ts_ns":%d' % (m[1], int(m[2]) + shift_ns), text)
    return REPEAT.sub(lambda m: b'"repeat":%d' % (int(m[1]) + repeats), text)


def multiply(source, target, times, verbatim):
    lines = source.read_bytes().splitlines(keepends=True)
    head = [line for line in lines if b'"_type"' in line]
    rows = [line for line in lines if b'"_type"' not in line]
    first = int(re.search(rb'"release_ts_ns":(\d+)', rows[0])[1])
    last = int(re.search(rb'"release_ts_ns":(\d+)', rows[-1])[1])
    repeats = max(int(REPEAT.search(line)[1]) for line in rows)
    with target.open("wb") as out:
        out.writelines(head)
        for copy in range(times):
            if verbatim:
                out.writelines(rows)
            else:
                shift_ns = copy * (last - first + 1_000_000_000)
                out.write(moved(rows, shift_ns, copy * repeats))
    return len(rows) * times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=52)
    parser.add_argument("--verbatim", action="store_true")
    arguments = parser.parse_args()
    windows = 0
    for path in sorted(arguments.source.rglob("*")):
        target = arguments.target / path.relative_to(arguments.source)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif path.suffix == ".ndjson":
            target.parent.mkdir(parents=True, exist_ok=True)
            windows += multiply(path, target, arguments.times, arguments.verbatim)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    print(f"{windows} windows in {arguments.target}")


if __name__ == "__main__":
    main()
