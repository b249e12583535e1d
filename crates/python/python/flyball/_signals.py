"""Load tracking and governors as objects that are called."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union, overload

from . import _flyball


class Pelt:
    """Load tracking (PELT) of one task that has a CPU to itself, bit for bit as in Linux 6.12.

    Parameters
    ----------
    capacity : int
        Capacity of the CPU at its highest frequency, 1 to 1024.
    max_khz : int
        Its highest frequency in kHz; 0: the frequency does not count.
    util : int
        Utilisation at the start, 0 to 1024, as if it had been so for ever.
    multiplier : int
        1, 2 or 4: time passes so many times as fast for load tracking (half-life 32, 16 or 8 ms).

    Examples
    --------
    >>> task = flyball.Pelt()
    >>> task(100_000_000)            # runs for 100 ms
    >>> task(32_000_000, running=False)
    >>> task([1_000_000] * 50)       # 50 values, one per ms
    """

    def __init__(self, capacity: int = 1024, max_khz: int = 0, util: int = 0, multiplier: int = 1) -> None:
        self._inner = _flyball.Pelt(capacity, max_khz, util, multiplier)
        self._max_khz = max_khz

    @overload
    def __call__(self, ns: int, running: bool = ..., khz: Optional[int] = ...) -> int: ...

    @overload
    def __call__(
        self,
        ns: Sequence[int],
        running: Union[bool, Sequence[bool]] = ...,
        khz: Union[None, int, Sequence[int]] = ...,
    ) -> List[int]: ...

    def __call__(self, ns: Any, running: Any = True, khz: Any = None) -> Any:
        """Accounts time, and returns the utilisation (0 to 1024) at its end.

        Parameters
        ----------
        ns : int, or sequence of shape (n,)
            Time that passed, in ns.
        running : bool, or sequence of shape (n,)
            Whether the task ran; else it slept and the CPU was idle.
        khz : int, or sequence of shape (n,)
            Frequency of the CPU in kHz; by default the highest.

        Returns
        -------
        int, or list of shape (n,)
        """
        single = not hasattr(ns, "__len__")
        times = [ns] if single else list(ns)
        ran = list(running) if hasattr(running, "__len__") else [running] * len(times)
        khz = self._max_khz if khz is None else khz
        speeds = list(khz) if hasattr(khz, "__len__") else [khz] * len(times)
        if not len(times) == len(ran) == len(speeds):
            raise ValueError(
                f"expected ns, running and khz of one length, found {len(times)}, {len(ran)}, {len(speeds)}"
            )
        utils = self._inner.steps(times, [bool(r) for r in ran], speeds)
        return utils[0] if single else utils

    @property
    def util(self) -> int:
        """Utilisation, 0 to 1024."""
        return self._inner.signals()[0]

    @property
    def runnable(self) -> int:
        """Runnable tasks, times 1024."""
        return self._inner.signals()[1]

    @property
    def load(self) -> int:
        """Load on the scale of weights; 1024 at nice 0."""
        return self._inner.signals()[2]

    def __repr__(self) -> str:
        return f"<flyball.Pelt util={self.util}>"


class Decision(NamedTuple):
    """What a governor answers."""

    #: The operating point that it asks for, in kHz; None where it leaves things as they are, or asks for
    #: something else than a frequency.
    khz: Optional[int]
    #: When it wants to be woken, in ns; None keeps an earlier wish.
    wake_at_ns: Optional[int]
    #: The rule that led here, in a few words.
    why: str
    #: The request as it is.
    request: Optional[Dict[str, Any]]


class Governor:
    """A frequency governor on a clock domain of a platform of the model: the rule itself, without a clock.

    It is called with a time in ns, which never goes back, and an event::

        g = flyball.governor("schedutil", platform="apple-m1", rate_limit_us=500)
        g(1_000_000, util=600)                                   # the scheduler's update
        g(2_000_000, util=[600, 20, 0, 0], iowait=True)          # shape (CPUs of the domain,)
        h = flyball.governor("ondemand")
        h(10_000_000, times=[{"busy_ns": 8_000_000, "idle_ns": 2_000_000}] * 8)    # its poll
        g(3_000_000, {"event": "limits", "min": 600_000, "max": 1_000_000})        # kHz

    Other events: ``timer``; ``tick`` (``cpu``, ``busy``); ``idle`` (``cpu``, ``enter``); ``applied``
    (``frequency``, kHz); ``cpus`` (``cpus``); ``temperature`` (``millicelsius``).
    """

    def __init__(
        self,
        name: str,
        platform: str = "laptop-x86",
        kernel: Optional[str] = None,
        domain: Optional[str] = None,
        **tunables: int,
    ) -> None:
        self._inner = _flyball.Governor(name, platform, kernel, domain, list(tunables.items()))
        told = json.loads(self._inner.describe())
        #: Its name.
        self.name: str = told["name"]
        #: CPUs of its domain.
        self.cpus: List[int] = told["cpus"]
        #: Operating points of its domain in kHz, ascending.
        self.khz: List[int] = told["khz"]
        #: Which events it has to be given.
        self.needs: Dict[str, Any] = told["needs"]
        self._idle: Dict[str, Any] = told["idle"]

    def __call__(
        self,
        t_ns: int,
        event: Optional[Mapping[str, Any]] = None,
        *,
        util: Union[None, int, Sequence[int]] = None,
        times: Optional[Sequence[Mapping[str, int]]] = None,
        cpu: Optional[int] = None,
        iowait: bool = False,
        **signals: int,
    ) -> Decision:
        """Decides on an event at ``t_ns`` (ns).

        Parameters
        ----------
        event
            An event as a dictionary; or one of the following.
        util : int, or sequence of shape (CPUs,)
            Utilisation of the domain's CPUs, 0 to 1024: an update by the scheduler, of the first CPU or of
            ``cpu``. ``signals`` sets other signals of all of them: ``runnable``, ``util_est``, ``rt``, ``dl``,
            ``irq``, ``uclamp_min``, ``uclamp_max`` (0 to 1024), ``nr_running``, ``slice_ns``.
        times : sequence of shape (CPUs,)
            Cumulative ``busy_ns``, ``nice_ns``, ``idle_ns`` and ``iowait_ns`` of each CPU: a poll.
        """
        if times is not None:
            zero = {"busy_ns": 0, "nice_ns": 0, "idle_ns": 0, "iowait_ns": 0}
            event = {"event": "poll", "times": [{**zero, **each} for each in times]}
        elif event is None:
            each = util if isinstance(util, Sequence) else [util or 0] * len(self.cpus)
            event = {
                "event": "util",
                "cpu": self.cpus[0] if cpu is None else cpu,
                "signals": [{**self._idle, **signals, "util": int(one)} for one in each],
                "flags": {"iowait": iowait, "deadline_bandwidth": False},
            }
        return Decision(**json.loads(self._inner.on(t_ns, json.dumps(event))))

    @property
    def tunables(self) -> Dict[str, int]:
        """Its tunables with their present values; :func:`flyball.governors` has units and ranges."""
        told = json.loads(self._inner.describe())["tunables"]
        return {tunable["name"]: tunable["value"] for tunable in told}

    def set(self, name: str, value: int) -> None:
        """Sets a tunable; takes effect with the next event."""
        self._inner.set(name, value)

    def __repr__(self) -> str:
        return f"<flyball.Governor {self.name}>"


def governor(name: str, platform: str = "laptop-x86", **options: Any) -> Governor:
    """A governor by name (:func:`flyball.governors`) on the last clock domain of a platform, or on ``domain``,
    as it starts on ``kernel``; other keywords are tunables, such as ``rate_limit_us=500``."""
    return Governor(name, platform, **options)
