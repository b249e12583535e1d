"""The model: scenarios, sweeps and replays in virtual time."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import weakref
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _flyball
from ._errors import Error
from ._run import PathLike, Run

#: True: a line on stderr. A function: called with what is done.
Progress = Union[bool, Callable[[int], object]]


def sim(
    scenario: PathLike,
    *,
    out: Optional[PathLike] = None,
    set: Optional[Mapping[str, object]] = None,
    progress: Progress = False,
    **changes: object,
) -> Run:
    """Runs a scenario on a model, in virtual time: the same scenario and seed give the same bytes anywhere.

    Parameters
    ----------
    scenario
        One that ships (:func:`flyball.scenarios`), or a TOML file.
    out
        A new directory for the run. Without one it lies in a temporary directory that goes with the run.
    set
        Changes by key, such as ``{"governor.rate_limit_us": 500}``.
    progress
        True tells on stderr; a function is called with the phases that are done.
    changes
        The same as ``set`` by keyword, ``__`` for a dot: ``phases=10``, ``seed=3``, ``record="full"``,
        ``platform="apple-m1"``, ``governor="schedutil"``, ``governor__rate_limit_us=500``.

    Returns
    -------
    Run
        ``run.result`` has the figures with their spread over the phases (ns, kHz, mJ, percent: each has its
        ``unit``), ``run.sweep`` those of each phase; with ``record="full"`` the other tables have one phase's
        events.
    """
    dir, kept = _place(out, "sim")
    result, text = _flyball.sim(
        os.fspath(scenario), _changes(set, changes), dir, _progress(progress, "phases")
    )
    return Run(dir, _flyball.open(dir), result=json.loads(result), text=text, keep=kept)


def sweep(
    scenario: PathLike,
    axes: Mapping[str, Sequence[object]],
    *,
    out: Optional[PathLike] = None,
    set: Optional[Mapping[str, object]] = None,
    progress: Progress = False,
    client: Optional[Any] = None,
    batch_seconds: float = 1.0,
    retries: int = 3,
    **changes: object,
) -> Run:
    """Runs every combination of the axes' values, on all cores or on a cluster. The result is the same to the
    byte, whoever simulated which point.

    Parameters
    ----------
    scenario
        One that ships, or a TOML file.
    axes
        Values by key: ``{"governor.rate_limit_us": [500, 1000, 2000]}``; the last one varies fastest.
    out
        A new directory. A sweep that was interrupted goes on where it stopped when it is called again with
        the same ``out``.
    set, progress, changes
        As of :func:`sim`; progress counts points.
    client
        Who simulates: a ``dask.distributed.Client``, or any ``concurrent.futures.Executor`` of processes, on
        machines that have this version of the package. They need no files of this one.
    batch_seconds
        Time that one task takes there, s: points are put together by how long those before took.
    retries
        How often a batch is given out again that was lost, as with a process that died.

    Returns
    -------
    Run
        Its table ``sweep`` has one row per point, phase and parameter or result. Its column ``point`` counts
        points and phases from 0, ``value`` is a number in the unit that ``name`` ends in.
    """
    dir, kept = _place(out, "sweep")
    listed = [(path, [_text(value) for value in values]) for path, values in axes.items()]
    name, changed = os.fspath(scenario), _changes(set, changes)
    told = _progress(progress, "points")
    if client is not None:
        from . import _cluster

        job, points, done, journal = _flyball.begin(name, listed, changed, dir)
        _cluster.Spread(client, batch_seconds, retries).run(job, points, done, journal, told)
        result, text = _flyball.end(journal, dir)
    else:
        result, text = _flyball.sweep(name, listed, changed, dir, told)
    if not result:
        raise Error("expected every point, found that the sweep was stopped", "call it again", "interrupted")
    return Run(dir, _flyball.open(dir), result=json.loads(result), text=text, keep=kept)


class Replay:
    """Recorded work under governors, side by side."""

    def __init__(self, result: str, text: str) -> None:
        #: All of it, as ``flyball replay --format json`` prints it.
        self.model: Dict[str, Any] = json.loads(result)
        self._text = text

    @property
    def outcomes(self) -> Dict[str, Dict[str, Any]]:
        """By governor: ``latency`` (ns), ``energy_mj``, ``late_percent``, ``domains`` and so on."""
        outcomes = (played["outcome"] for played in self.model["governors"])
        return {outcome["governor"]: outcome for outcome in outcomes}

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<flyball.Replay of {self.model['recording']}: {', '.join(self.outcomes)}>"

    def _repr_html_(self) -> str:
        from . import _html

        return _html.pre(self._text)


def replay(
    recording: Union[Run, PathLike],
    governors: Union[None, str, Sequence[str]] = None,
    *,
    platform: str = "laptop-x86",
    kernel: Optional[str] = None,
    scale: float = 1.0,
    assume_khz: Optional[int] = None,
    closed_loop: bool = False,
    free: bool = False,
    out: Optional[PathLike] = None,
    progress: Progress = False,
) -> Replay:
    """Replays recorded work through governors on a platform of the model.

    Parameters
    ----------
    recording
        A run, or a file: what ``flyball replay`` takes.
    governors
        Governors with tunables, such as ``["schedutil:rate_limit_us=500", "powersave"]``; by default the
        kernel's usual one.
    platform, kernel
        Names that ship.
    scale
        What all work is multiplied by.
    assume_khz
        Frequency where none was recorded, in kHz; by default the platform's highest.
    closed_loop
        Whether work becomes due as long after the end of the work before as it did in the recording.
    free
        Whether the model's scheduler places tasks; else each stays on its recorded CPU.
    out
        Keeps a run directory per governor below this one.
    """
    if governors is not None and not isinstance(governors, str):
        governors = ",".join(governors)
    return Replay(
        *_flyball.replay(
            os.fspath(recording),
            governors,
            platform,
            kernel,
            float(scale),
            assume_khz,
            closed_loop,
            free,
            None if out is None else os.fspath(out),
            _progress(progress, "governors"),
        )
    )


def _changes(set: Optional[Mapping[str, object]], changes: Mapping[str, object]) -> List[Tuple[str, str]]:
    return [(path, _text(value)) for path, value in _flat({**(set or {}), **_dotted(changes)})]


def _dotted(changes: Mapping[str, object]) -> Dict[str, object]:
    dotted = {key.replace("__", "."): value for key, value in changes.items()}
    if isinstance(dotted.get("governor"), str):
        dotted["governor.name"] = dotted.pop("governor")
    return dotted


def _flat(changes: Mapping[str, object], prefix: str = "") -> Iterator[Tuple[str, object]]:
    for key, value in changes.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _place(out: Optional[PathLike], name: str) -> Tuple[str, Optional["_Kept"]]:
    """Where a run goes, and what its temporary directory lives as long as."""
    if out is not None:
        return os.fspath(out), None
    kept = _Kept()
    return os.path.join(kept.dir, name), kept


class _Kept:
    """A temporary directory that lives as long as this."""

    def __init__(self) -> None:
        self.dir = tempfile.mkdtemp(prefix="flyball-")
        weakref.finalize(self, shutil.rmtree, self.dir, ignore_errors=True)


def _progress(progress: Progress, what: str) -> Optional[Callable[[int], object]]:
    if callable(progress):
        return progress
    if not progress:
        return None
    return lambda done: print(f"\r{done} {what}", end="", file=sys.stderr, flush=True)
