"""Flyball: what CPU frequency scaling does to latency.

>>> run = flyball.open("flyball-runs/2026-11-23-bench")
>>> run.windows.to_polars()
>>> flyball.compare("before", "after").verdict
>>> flyball.sim("rampup-m1", governor="schedutil").result
>>> with flyball.hold(frequency="max"):
...     measure()
"""

from . import validity
from ._catalogue import governors, kernels, platforms, registry, scenarios
from ._errors import BadInput, Error, NotFound
from ._hold import Hold, hold
from ._model import Replay, replay, sim, sweep
from ._program import program
from ._report import Comparison, Estimate, Figure, Reason, Report, compare, report
from ._run import Run, Table, open
from ._signals import Decision, Governor, Pelt, governor

__all__ = [
    "BadInput",
    "Comparison",
    "Decision",
    "Error",
    "Estimate",
    "Figure",
    "Governor",
    "Hold",
    "NotFound",
    "Pelt",
    "Reason",
    "Replay",
    "Report",
    "Run",
    "Table",
    "compare",
    "governor",
    "governors",
    "hold",
    "kernels",
    "open",
    "platforms",
    "program",
    "registry",
    "replay",
    "report",
    "scenarios",
    "sim",
    "sweep",
    "validity",
]
