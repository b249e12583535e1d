from pathlib import Path

import pytest

import flyball

GOLDEN = Path(__file__).parents[2] / "import" / "tests" / "golden"


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """A simulation with all its events."""
    out = tmp_path_factory.mktemp("runs") / "page-load"
    return flyball.sim("page-load", out=out, phases=4, record="full")


@pytest.fixture(scope="session")
def program():
    try:
        return flyball.program()
    except flyball.NotFound as error:
        pytest.skip(f"no program flyball beside this interpreter: {error}")


@pytest.fixture(scope="session")
def measured():
    """Results of another tool, as two files."""
    return GOLDEN / "pyperf.json"
