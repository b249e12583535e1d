"""What ships: governors, platforms, kernels, scenarios, tables."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Dict

from . import _flyball


def _named(items: Any) -> Dict[str, Dict[str, Any]]:
    return {item["name"]: item for item in items}


def governors() -> Dict[str, Dict[str, Any]]:
    """Every governor by name: ``summary``, ``source``, ``needs`` and ``tunables`` (each with its unit in
    ``doc``, ``default``, ``min`` and ``max``)."""
    return _named(json.loads(_flyball.governors()))


def platforms() -> Dict[str, Dict[str, Any]]:
    """Every platform of the model by name: ``title``, its usual ``kernel``, ``cpus`` (with capacities, 1 to
    1024) and clock ``domains`` (operating points in kHz, ascending)."""
    return _named(json.loads(_flyball.platforms())["platforms"])


def kernels() -> Dict[str, Dict[str, Any]]:
    """Every kernel of the model by name: ``hz`` and its usual ``governor``."""
    return _named(json.loads(_flyball.platforms())["kernels"])


def scenarios() -> Dict[str, str]:
    """Every scenario that ships, with what it shows."""
    return {item["name"]: item["shows"] for item in json.loads(_flyball.scenarios())}


@lru_cache(maxsize=None)
def registry() -> Dict[str, Dict[str, Any]]:
    """Every table of a run by name: ``doc`` and ``columns`` (``name``, ``kind``, ``unit``, ``nullable``,
    ``doc``)."""
    return _named(json.loads(_flyball.registry()))
