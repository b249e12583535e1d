"""Runs and their tables."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Union

from . import _flyball, _html
from ._catalogue import registry

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._report import Report

PathLike = Union[str, "os.PathLike[str]"]


class Table:
    """A table of a run: columns of equal length that other libraries read without a copy.

    Anything that takes an Arrow stream takes it: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``, ``duckdb.sql("select max(exec_ns) from windows")`` where ``windows`` is it. Times are in ns on the clock
    that the manifest names, frequencies in kHz; :attr:`units` has the unit of each column. Texts are
    dictionaries (polars: categorical).
    """

    def __init__(self, name: str, inner: _flyball.Table) -> None:
        self.name = name
        self._inner = inner

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self._inner.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._inner.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._inner)

    @property
    def doc(self) -> str:
        """What one row is."""
        return str(registry()[self.name]["doc"])

    @property
    def columns(self) -> Dict[str, Dict[str, Any]]:
        """The columns of such a table by name: ``kind``, ``unit``, ``nullable`` and ``doc``."""
        return {column["name"]: column for column in registry()[self.name]["columns"]}

    @property
    def units(self) -> Dict[str, Optional[str]]:
        """The unit of each column; None of one that has none."""
        return {name: column["unit"] for name, column in self.columns.items()}

    def address(self, column: str) -> Optional[int]:
        """Where the values of a column lie in memory; to see that nothing was copied."""
        return self._inner.address(column)

    def to_polars(self) -> "polars.DataFrame":
        """As a polars frame; nothing is copied but truth values."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> "pyarrow.Table":
        """As a pyarrow table; nothing is copied but truth values."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """As a pandas frame; pandas copies."""
        return self.to_arrow().to_pandas()

    def __repr__(self) -> str:
        return f"<flyball.Table {self.name}: {len(self)} rows>"

    def _repr_html_(self) -> str:
        rows = [(name, c["kind"], c["unit"] or "", c["doc"]) for name, c in self.columns.items()]
        return _html.table(f"{self.name}: {len(self)} rows", ("column", "kind", "unit", ""), rows)


class Run:
    """A run: what was done on which machine, and the tables that it left.

    ``run.windows`` or ``run["windows"]`` is a :class:`Table`; one that the run does not have is empty.
    """

    def __init__(self, path: Optional[PathLike], inner: _flyball.Run, **more: Any) -> None:
        self._inner = inner
        self._tables: Dict[str, Table] = {}
        self._manifest: Optional[Dict[str, Any]] = None
        #: Where it lies.
        self.path = None if path is None else os.fspath(path)
        #: What the model says of it (of :func:`flyball.sim` and :func:`flyball.sweep`), as
        #: ``flyball sim --format json`` prints it.
        self.result: Optional[Dict[str, Any]] = more.get("result")
        self._text: Optional[str] = more.get("text")
        self._keep = more.get("keep")
        _tell(inner.warnings())

    @property
    def name(self) -> str:
        """Its name: its directory's."""
        return self._inner.name()

    @property
    def kind(self) -> str:
        """What it is a run of: ``bench``, ``sim``, ``capture`` and so on."""
        return str(self.manifest["kind"])

    @property
    def manifest(self) -> Dict[str, Any]:
        """Everything about the run that is not a row."""
        if self._manifest is None:
            self._manifest = json.loads(self._inner.manifest())
        return self._manifest

    @property
    def tables(self) -> Dict[str, Optional[int]]:
        """The tables that it has, with their rows; None where the run has not ended."""
        return dict(self._inner.tables())

    @property
    def unfinished(self) -> Optional[str]:
        """What is missing of a run that is not whole; nothing is decided on such a run."""
        return self._inner.unfinished()

    def table(self, name: str, columns: Optional[Sequence[str]] = None) -> Table:
        """A table, with some of its columns where they are named: the others are not read."""
        if columns is None and name in self._tables:
            return self._tables[name]
        inner, told = self._inner.table(name, None if columns is None else list(columns))
        _tell(told)
        table = Table(name, inner)
        if columns is None:
            self._tables[name] = table
        return table

    def scan(self, name: str) -> "polars.LazyFrame":
        """A table of a run directory as polars' lazy frame: rows and columns that a query does not need are
        not read."""
        import polars

        return polars.scan_parquet(os.path.join(os.fspath(self), f"{name}.parquet"))

    def __getitem__(self, name: str) -> Table:
        return self.table(name)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name not in registry():
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return self.table(name)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *registry()]

    def report(self) -> "Report":
        """The report on this run alone."""
        from ._report import report

        return report(self)

    def __fspath__(self) -> str:
        if self.path is None:
            raise TypeError("this run lies nowhere")
        return self.path

    def __repr__(self) -> str:
        tables = ", ".join(f"{name} {'?' if n is None else n}" for name, n in self.tables.items())
        return f"<flyball.Run {self.name}: {self.kind}; {tables or 'no tables'}>"

    def __str__(self) -> str:
        return self._text or repr(self)

    def _repr_html_(self) -> str:
        rows = [(name, "" if n is None else f"{n:,}") for name, n in self.tables.items()]
        card = _html.table(f"{self.name} ({self.kind})", ("table", "rows"), rows)
        text = self._text or ""
        return _html.warned(self.unfinished) + card + (_html.pre(text) if text else "")


def open(path: PathLike) -> Run:
    """Opens a run directory, or imports another tool's file: what ``flyball report PATH`` reads (traces of
    ftrace, trace-cmd, perfetto and perf; results of pyperf, pytest-benchmark, hyperfine, Criterion, Google
    Benchmark, JMH, cyclictest and others).

    A directory's tables are read when they are asked for.
    """
    return Run(path, _flyball.open(os.fspath(path)))


def _tell(told: Sequence[str]) -> None:
    for text in told:
        warnings.warn(text, stacklevel=3)
