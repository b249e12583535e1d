"""The command line program that came with this package."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

from ._errors import NotFound


def program() -> str:
    """Where the program ``flyball`` lies: beside this interpreter, else on the path."""
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
        if sys.version_info >= (3, 10)
        else sysconfig.get_path("scripts", f"{os.name}_user"),
        # Of `pip install --target`.
        os.path.join(os.path.dirname(package), "bin"),
    ]
    for folder in folders:
        path = os.path.join(folder or "", "flyball")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which("flyball")
    if found is None:
        raise NotFound("expected the program flyball, found none", "install the wheel with pip", "not found")
    return found
