#!/bin/sh
# A million windows, read and fully reported: time and memory of `flyball report`, and of DuckDB
# and polars for the bare medians, where they are installed (pip install duckdb polars).
#
#   scripts/bench-million/run.sh [RECORDING] [-- COMMAND...]
#
# RECORDING: the CORTEX Linux recording (default: ../shared/data/cortex-linux-2025-12-05).
# COMMAND: what is timed, with the folder added (default: target/release/flyball report).
# Needs GNU time (Debian: apt-get install time) and python3.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
recording=$root/../shared/data/cortex-linux-2025-12-05
if [ $# -gt 0 ] && [ "$1" != "--" ]; then
    recording=$1
    shift
fi
[ "${1:-}" = "--" ] && shift
[ $# -gt 0 ] || set -- "${CARGO_TARGET_DIR:-$root/target}/release/flyball" report

if [ ! -d "$recording" ]; then
    echo "bench-million: no recording at $recording" >&2
    echo "hint: name the folder that holds run-001-powersave and the others" >&2
    exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
timed() {
    name=$1
    shift
    for _ in 1 2 3; do
        if /usr/bin/time -f '%e s, %U s user, %M KB' -o "$work/time" "$@" >"$work/out" 2>"$work/err"; then
            printf '%-22s %s\n' "$name" "$(cat "$work/time")"
        else
            printf '%-22s failed: %s\n' "$name" "$(tail -n 1 "$work/err")"
            return 1
        fi
    done
}

python3 "$here/generate.py" "$recording" "$work/continued"
python3 "$here/generate.py" "$recording" "$work/verbatim" --verbatim
du -sh --apparent-size "$work/continued"
cat "$work"/*/*/kernel-data/*/telemetry.ndjson >/dev/null # into the page cache, for everybody

status=0
timed "260 repeats a cell" "$@" "$work/continued" || status=1
timed "5 repeats a cell" "$@" "$work/verbatim" || status=1
for tool in duckdb polars; do
    if python3 -c "import $tool" 2>/dev/null; then
        timed "$tool, medians only" python3 "$here/medians.py" "$tool" "$work/continued" || true
    else
        echo "$tool: not installed"
    fi
done
exit $status
