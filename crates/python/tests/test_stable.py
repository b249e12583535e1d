"""What a released version offers, later ones with the same first number offer, too (docs/stability.md)."""

import inspect
import pathlib

import flyball

GOLDEN = pathlib.Path(__file__).parent / "golden-names.txt"


def found():
    """Every public name with its parameters, one a line."""
    lines = []
    for name in sorted(flyball.__all__):
        value = getattr(flyball, name)
        members = [(name, value)]
        if inspect.isclass(value):
            own = [key for key in vars(value) if not key.startswith("_")]
            members += [(f"{name}.{key}", inspect.getattr_static(value, key)) for key in sorted(own)]
        for path, member in members:
            plain = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
            takes = ""
            if inspect.isfunction(plain):
                takes = "(" + ", ".join(inspect.signature(plain).parameters) + ")"
            lines.append(path + takes)
    return lines


def test_names_and_parameters_stay():
    now = {line.split("(")[0]: line for line in found()}
    for line in GOLDEN.read_text().splitlines():
        name, _, parameters = line.partition("(")
        assert name in now, f"{name} is gone"
        _, _, offered = now[name].partition("(")
        before = [part for part in parameters.rstrip(")").split(", ") if part]
        after = [part for part in offered.rstrip(")").split(", ") if part]
        # New parameters come behind: what was called by position still is.
        assert after[: len(before)] == before, f"{line} became {now[name]}"
