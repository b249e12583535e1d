"""Errors: what was expected and found, and a hint at what to do."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """An error of Flyball.

    Attributes
    ----------
    hint : str or None
        What to do about it.
    kind : str
        The family: ``bad input``, ``not found``, ``permission``, ``unsupported`` and so on.
    """

    def __init__(self, message: str, hint: Optional[str] = None, kind: str = "own") -> None:
        super().__init__(message)
        self.hint = hint
        self.kind = kind

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\nhint: {self.hint}" if self.hint else message


class BadInput(Error, ValueError):
    """A file or a value is wrong."""


class NotFound(Error, LookupError):
    """No such run, table, scenario, governor or platform."""


_CLASSES = {"BadInput": BadInput, "Usage": BadInput, "NotFound": NotFound}


def of(kind: str, message: str, hint: Optional[str]) -> Error:
    """The exception for an error of the libraries."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in kind).strip()
    return _CLASSES.get(kind, Error)(message, hint, words)
