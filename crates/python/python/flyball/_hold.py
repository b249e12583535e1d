"""Settings of this machine held for as long as a block of Python runs."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from types import TracebackType
from typing import IO, Any, Dict, List, Optional, Type

from ._errors import Error
from ._program import program

# It says that all is held, and ends when nobody can write to its input any more: when the block ends, or when
# the interpreter dies, however it dies.
_UNTIL_CLOSED = "echo held; exec cat >/dev/null"

_KINDS = {4: "unsupported", 6: "restore"}


class Hold:
    """A context in which settings are held; see :func:`hold`."""

    def __init__(self, settings: Dict[str, object]) -> None:
        self._settings = settings
        self._child: Optional[subprocess.Popen[bytes]] = None
        self._told: List[str] = []
        self._reader: Optional[threading.Thread] = None
        #: What was held and how it ended, when the block has ended: as ``flyball hold --format json`` says.
        self.result: Optional[Dict[str, Any]] = None

    def __enter__(self) -> "Hold":
        command = [program(), "hold", "--format", "json", "--quiet", *_flags(self._settings)]
        # A session of its own: Ctrl-C is for the block, which may go on measuring in its handler.
        child = subprocess.Popen(
            [*command, "--", "sh", "-c", _UNTIL_CLOSED],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert child.stdin is not None and child.stdout is not None and child.stderr is not None
        self._child = child
        _forget_in_forks(child.stdin)
        self._reader = threading.Thread(target=self._read, args=(child.stderr,), daemon=True)
        self._reader.start()
        try:
            held = child.stdout.readline()
        except BaseException:
            self._end()
            raise
        if held != b"held\n":
            code = self._end()
            raise self._error(code)
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        code = self._end()
        for line in reversed(self._told):
            if line.startswith("{"):
                self.result = json.loads(line)
                break
        if code != 0 and error is None:
            raise self._error(code)

    def _read(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._told.append(line.decode("utf-8", "replace").rstrip("\n"))

    def _end(self) -> int:
        child = self._child
        assert child is not None and child.stdin is not None and self._reader is not None
        child.stdin.close()
        code = child.wait()
        self._reader.join()
        assert child.stdout is not None and child.stderr is not None
        child.stdout.close()
        child.stderr.close()
        return code

    def _error(self, code: int) -> Error:
        message, hint = f"expected the settings to be held and restored, found exit code {code}", None
        for line in self._told:
            if line.startswith("error: "):
                message = line[len("error: ") :]
            elif line.startswith("hint: "):
                hint = line[len("hint: ") :]
        return Error(message, hint, _KINDS.get(code, "own"))


def hold(**settings: object) -> Hold:
    """Holds settings of this machine for a block, and restores them whatever happens: at its end, at an
    exception, and when the interpreter is killed. Mostly needs root.

    Each keyword is a flag of ``flyball hold``, ``_`` for a dash: ``governor="performance"``,
    ``frequency="max"`` or ``"1.4GHz"``, ``min="1GHz"``, ``max="2GHz"``, ``epp="performance"``,
    ``boost=False``, ``idle_latency=0`` (us), ``cpus="0-3"``, ``load="medium"``; ``flyball hold --help`` has all of them.

    Examples
    --------
    >>> with flyball.hold(frequency="max"):
    ...     measure()
    """
    return Hold(settings)


def _flags(settings: Dict[str, object]) -> List[str]:
    flags: List[str] = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if name == "no_verify":
            flags.extend([flag] if value else [])
        elif value is not None:
            flags.append(f"{flag}={_text(value)}")
    return flags


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _forget_in_forks(stream: IO[bytes]) -> None:
    """A process that is forked from this one must not keep the settings held when this one has died."""

    def close() -> None:
        try:
            os.close(number)
        except OSError:
            pass

    def forked() -> None:
        if not stream.closed:
            close()

    number = stream.fileno()
    os.register_at_fork(after_in_child=forked)
