"""Every notebook of docs/notebooks runs from its first cell to its last, and holds no outputs."""

import json
import shutil
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
NOTEBOOKS = sorted((REPOSITORY / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, program, tmp_path):
    for package in ("polars", "matplotlib", "ipykernel"):
        pytest.importorskip(package)
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    # What a notebook writes stays out of the repository; what it reads there it finds.
    (tmp_path / "crates").symlink_to(REPOSITORY / "crates")
    shutil.copy(path, tmp_path)
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=where).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None
