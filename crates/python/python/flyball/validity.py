"""Whether the numbers of a benchmark may be believed: what the machine did while it ran.

The plug-ins for pytest-benchmark and pyperf record this beside their numbers.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Dict, List, Optional, Type

from . import _flyball

#: Share of the CPUs' time that others may use.
OTHERS = 0.05
#: Share of the CPUs' time that the hypervisor may take.
STEAL = 0.01
#: Speed at the end, as a share of the best that was seen on this CPU.
SPEED = 0.9
#: Shorter than this, the accounts of processes (10 ms) tell nothing.
SHORTEST_S = 0.1


class Watch:
    """Watches the machine while something is measured::

        watch = flyball.validity.Watch()
        with watch:
            measure()
        watch.seen["verdict"], watch.seen["why"]
    """

    def __init__(self, most_cpus: int = 16) -> None:
        """Calibrates the frequency probe on ``most_cpus`` CPUs at most; some 50 ms each."""
        self._inner = _flyball.Watch(most_cpus)
        #: What was seen in the last block; see :func:`judge`.
        self.seen: Dict[str, Any] = {}

    def begin(self) -> None:
        """Something begins to be measured."""
        self._inner.begin()

    def end(self) -> Dict[str, Any]:
        """It has ended: what was seen, with the verdict."""
        self.seen = judge(json.loads(self._inner.end()))
        return self.seen

    def __enter__(self) -> "Watch":
        self.begin()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.end()


def judge(seen: Dict[str, Any]) -> Dict[str, Any]:
    """Adds ``verdict`` (``trusted`` or ``not trusted``), ``why`` and ``not_checked`` to what was seen.

    What is seen: ``seconds``; ``own_share``, ``others_share`` and ``steal_share`` of all CPUs' time, 0 to 1;
    ``others`` by name; ``throttled``, how often heat slowed a core or package meanwhile; ``before`` and
    ``after``: ``cpu``, ``governors`` in force, ``claimed_khz`` by the system, ``delivered_khz`` and
    ``delivered_permille`` (of the best seen) by the frequency probe.
    """
    why: List[str] = []
    unknown: List[str] = []
    if seen["seconds"] < SHORTEST_S:
        unknown.append(f"other load: {1e3 * seen['seconds']:.0f} ms are too short to tell")
    else:
        if seen["steal_share"] > STEAL:
            why.append(f"the hypervisor took {_percent(seen['steal_share'])} of the CPUs")
        if seen["others_share"] > OTHERS:
            named = ", ".join(f"{other['name']} {_percent(other['share'])}" for other in seen["others"])
            why.append(f"others used {_percent(seen['others_share'])} of the CPUs ({named})")
    if seen["throttled"] is None:
        unknown.append("throttling: nothing counts it here")
    elif seen["throttled"]:
        why.append(f"heat slowed the CPUs {seen['throttled']} times")
    before, after = seen["before"]["governors"], seen["after"]["governors"]
    if not after:
        unknown.append("governor: the system does not tell")
    elif before != after:
        why.append(f"the governor changed from {', '.join(before)} to {', '.join(after)}")
    speed = seen["after"]["delivered_permille"]
    if speed is None:
        unknown.append("delivered frequency: the probe was disturbed or knows no such CPU")
    elif speed < 1e3 * SPEED:
        why.append(f"the CPU ran at {_percent(speed / 1e3)} of its best speed seen here")
    return {**seen, "verdict": "not trusted" if why else "trusted", "why": why, "not_checked": unknown}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
