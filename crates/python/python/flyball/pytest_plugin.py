"""``pytest --flyball``: beside each number of pytest-benchmark, whether it may be believed.

The verdict and what it rests on are in ``extra_info["flyball"]`` of the saved JSON, and those that are not
trusted are listed at the end.
"""

from __future__ import annotations

from typing import Any, Dict, Generator, List, Tuple

import pytest


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("flyball")
    group.addoption(
        "--flyball",
        action="store_true",
        help="record what the machine did during each benchmark, and whether its numbers may be believed",
    )


def pytest_configure(config: Any) -> None:
    if config.getoption("flyball"):
        config.pluginmanager.register(Validity(), "flyball-validity")


class Validity:
    """Watches each test that uses the fixture ``benchmark``."""

    def __init__(self) -> None:
        from .validity import Watch

        self.watch = Watch()
        self.seen: List[Tuple[str, Dict[str, Any]]] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, None, None]:
        benchmark = getattr(item, "funcargs", {}).get("benchmark")
        extra = getattr(benchmark, "extra_info", None)
        if extra is None:
            yield
            return
        self.watch.begin()
        yield
        seen = self.watch.end()
        extra["flyball"] = seen
        self.seen.append((item.nodeid, seen))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.seen:
            return
        doubted = [(name, seen) for name, seen in self.seen if seen["why"]]
        terminalreporter.section("flyball")
        trusted = len(self.seen) - len(doubted)
        terminalreporter.line(f"{trusted} of {len(self.seen)} benchmarks are trusted")
        for name, seen in doubted:
            terminalreporter.line(f"  {name}: {'; '.join(seen['why'])}")
        unknown = sorted({text for _, seen in self.seen for text in seen["not_checked"]})
        for text in unknown:
            terminalreporter.line(f"  not checked: {text}")
