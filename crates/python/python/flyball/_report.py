"""Reports and verdicts."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from . import _flyball, _html
from ._errors import BadInput
from ._run import PathLike, Run


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval of 95 %; an end is None where it cannot be estimated."""

    value: float
    low: Optional[float] = None
    high: Optional[float] = None

    @property
    def interval(self) -> Tuple[Optional[float], Optional[float]]:
        """Both ends."""
        return (self.low, self.high)


@dataclass(frozen=True)
class Reason:
    """Why a verdict is what it is."""

    #: A stable name: ``mixture``, ``placement_unrecorded``, ``unproven_load`` and so on.
    kind: str
    #: In plain words, with figures.
    text: str
    #: Whether it rests on inference, not on a record.
    inferred: bool = False


@dataclass(frozen=True)
class Comparison:
    """Two conditions, or two runs under one condition, with the verdict.

    Ratios are the subject's median latency over the baseline's: above 1, the subject is slower.
    """

    #: What is compared: ``schedutil against powersave``.
    title: str
    #: ``effect``, ``equivalent``, ``undecided``, ``confounded`` or ``unproven``.
    verdict: str
    #: The verdict for a person.
    sentence: str
    #: Subject over baseline.
    ratio: Estimate
    #: Why, those that count most first.
    reasons: List[Reason]
    #: Where the difference comes from, in us: ``parts`` (each with ``part``, ``us`` and ``who``) that sum to
    #: ``total_us``; None where the order of the sides was not drawn at random.
    cause: Optional[Dict[str, Any]]
    #: All of it, as ``flyball report --format json`` prints it.
    model: Dict[str, Any] = field(repr=False)

    @property
    def interval(self) -> Tuple[Optional[float], Optional[float]]:
        """The interval of 95 % of the ratio."""
        return self.ratio.interval

    @property
    def reason(self) -> Optional[str]:
        """The first reason in plain words."""
        return self.reasons[0].text if self.reasons else None

    def __str__(self) -> str:
        return f"{self.verdict.upper()}: {self.sentence}"

    def _repr_html_(self) -> str:
        return _html.card(self.verdict, self.title, self.sentence, [r.text for r in self.reasons])


def _comparison(model: Dict[str, Any]) -> Comparison:
    return Comparison(
        title=model["title"],
        verdict=model["verdict"],
        sentence=model["sentence"],
        ratio=Estimate(**model["ratio"]),
        reasons=[Reason(**reason) for reason in model["reasons"]],
        cause=model.get("cause"),
        model=model,
    )


class Figure:
    """A figure: SVG that a notebook shows."""

    def __init__(self, name: str, svg: str) -> None:
        self.name = name
        self.svg = svg

    def save(self, path: PathLike) -> None:
        """Writes the SVG."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<flyball.Figure {self.name}>"


class Report:
    """A report on one or more runs. Latencies are in us, frequencies in MHz, shares from 0 to 1."""

    def __init__(self, inner: _flyball.Report) -> None:
        self._inner = inner
        #: The whole report, as ``flyball report --format json`` prints it.
        self.model: Dict[str, Any] = json.loads(inner.json())

    @property
    def comparisons(self) -> List[Comparison]:
        """The comparisons, the most important first."""
        return [_comparison(model) for model in self.model["comparisons"]]

    @property
    def figures(self) -> Dict[str, Figure]:
        """The figures that there are data for."""
        return {name: Figure(name, svg) for name, svg in self._inner.figures()}

    def __getitem__(self, key: str) -> Any:
        return self.model[key]

    def keys(self) -> Iterator[str]:
        """The keys of :attr:`model`, so that ``dict(report)`` is it."""
        return iter(self.model)

    def text(self, width: int = 100, verbose: bool = False) -> str:
        """What a terminal shows."""
        return self._inner.text(width, verbose)

    def markdown(self) -> str:
        """Markdown for a pull request."""
        return self._inner.markdown()

    def page(self, path: Optional[PathLike] = None) -> str:
        """The page, one file without references to others; written to ``path`` where that is given."""
        page = self._inner.page()
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        names = ", ".join(run["name"] for run in self.model["runs"])
        return f"<flyball.Report on {names}>"

    def _repr_html_(self) -> str:
        cards = "".join(comparison._repr_html_() for comparison in self.comparisons[:3])
        figure = next(iter(self.figures.values()), None)
        shown = cards + (figure.svg if figure else "")
        return shown or _html.pre(self.text())


def report(
    *runs: Union[Run, PathLike],
    baseline: Optional[str] = None,
    task: Optional[str] = None,
    marker: Optional[str] = None,
) -> Report:
    """The report on runs, as ``flyball report`` makes it; the first is the one that others are compared with.

    Parameters
    ----------
    runs
        Runs, run directories, or files of other tools.
    baseline
        The condition that others are judged against; by default chosen by name and order.
    task, marker
        The task that is looked at in runs with scheduler events, and the mark at which its time begins.
    """
    if not runs:
        raise BadInput("expected a run, found none", "name a run directory", "bad input")
    paths = [os.fspath(run) for run in runs]
    return Report(_flyball.report(paths, baseline, task, marker))


def compare(a: Union[Run, PathLike], b: Union[Run, PathLike], **options: Any) -> Comparison:
    """Judges ``b`` against ``a``: the most important comparison of :func:`report`, with its verdict.

    An *effect* is a difference that nothing recorded explains away; *confounded* says that something else
    than the condition may explain it; *undecided* that the data do not decide.
    """
    made = report(a, b, **options)
    if not made.comparisons:
        raise BadInput(
            "expected runs with windows under conditions that can be compared, found none",
            "flyball.report(a, b) sets runs of other kinds side by side",
            "bad input",
        )
    return made.comparisons[0]
