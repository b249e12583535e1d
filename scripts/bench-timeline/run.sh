#!/bin/sh
# The zoomable time line with ten million events in headless Chromium, held against its limits:
# loaded in under 3 s, zoom and pan under 50 ms per frame (median). For a quiet machine.
#   scripts/bench-timeline/run.sh [EVENTS]
set -eu
cd "$(dirname "$0")/../.."
export FLYBALL_LANES_EVENTS="${1:-10000000}"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
cargo test --release -p flyball-report --test lanes_browser ten_million -- --nocapture >"$out" 2>&1 || {
    cat "$out"
    exit 1
}
cat "$out"
python3 - "$out" <<'PY'
import json
import re
import sys

text = open(sys.argv[1]).read()
found = re.search(r"^\{.*?^\}", text, re.M | re.S)
if not found:
    sys.exit("bench-timeline: no figures: is Chromium installed?")
figures = json.loads(found[0])
slow = [] if figures["load_ms"] < 3000 else [f"loading took {figures['load_ms']:.0f} ms, limit 3000"]
for name, frames in figures.items():
    if isinstance(frames, dict) and frames["frame_ms"] >= 50:
        slow.append(f"{name}: {frames['frame_ms']:.1f} ms per frame (median), limit 50")
print("; ".join(slow) or f"within the limits: loaded in {figures['load_ms']:.0f} ms")
sys.exit(1 if slow else 0)
PY
