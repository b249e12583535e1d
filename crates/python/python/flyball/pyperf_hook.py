"""``--hook flyball`` of pyperf: in the metadata of each run, whether its values may be believed."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .validity import Watch


class Validity:
    """A hook of pyperf: it watches a worker from its first value to its last."""

    def __init__(self) -> None:
        self._watch = Watch(most_cpus=2)
        self._begun = False

    def __enter__(self) -> "Validity":
        if not self._begun:
            self._begun = True
            self._watch.begin()
        return self

    def __exit__(self, *error: object) -> None:
        """A value ends; the next one follows."""

    def teardown(self, metadata: Dict[str, Any]) -> None:
        """The worker ends."""
        if not self._begun:
            return
        seen = self._watch.end()
        after = seen["after"]
        told: Dict[str, Optional[object]] = {
            "verdict": seen["verdict"],
            "why": "; ".join(seen["why"]) or None,
            "not_checked": "; ".join(seen["not_checked"]) or None,
            "governor": ", ".join(after["governors"]) or None,
            "claimed_khz": after["claimed_khz"],
            "delivered_khz": after["delivered_khz"],
            "delivered_permille": after["delivered_permille"],
            "steal_percent": round(100 * seen["steal_share"], 3),
            "others_percent": round(100 * seen["others_share"], 3),
            "throttled": seen["throttled"],
        }
        for name, value in told.items():
            if value is not None:
                metadata[f"flyball_{name}"] = value
