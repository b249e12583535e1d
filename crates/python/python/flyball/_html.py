"""What a notebook shows: no scripts, no files, readable on light and dark."""

from __future__ import annotations

from html import escape
from typing import Iterable, Optional, Sequence

_COLORS = {
    "effect": "#b45309",
    "equivalent": "#15803d",
    "undecided": "#6b7280",
    "confounded": "#b91c1c",
    "unproven": "#b91c1c",
}


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = "".join(f"<th style='text-align:left'>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(str(c))}</td>" for c in row) + "</tr>"
        for row in rows
    )
    return f"<div><b>{escape(title)}</b><table><tr>{cells}</tr>{lines}</table></div>"


def pre(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def warned(text: Optional[str]) -> str:
    return f"<p style='color:#b91c1c'>not whole: {escape(text)}</p>" if text else ""


def card(verdict: str, title: str, sentence: str, reasons: Iterable[str]) -> str:
    color = _COLORS.get(verdict, "#6b7280")
    why = "".join(f"<li>{escape(reason)}</li>" for reason in reasons)
    return (
        f"<div style='border-left:5px solid {color};padding:.4em 1em;margin:.4em 0'>"
        f"<b style='color:{color}'>{escape(verdict.upper())}</b> {escape(title)}"
        f"<p style='margin:.3em 0'>{escape(sentence)}</p>"
        + (f"<ul style='margin:.2em 0'>{why}</ul>" if why else "")
        + "</div>"
    )
