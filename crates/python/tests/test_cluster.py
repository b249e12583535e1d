import concurrent.futures
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

import flyball

AXES = {"governor.rate_limit_us": [0, 500, 1000, 2000, 4000], "seed": [1, 2, 3, 4, 5, 6, 7, 8]}
CHANGES = {"phases": 2, "duration": "300ms"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The sweep on this machine alone."""
    out = tmp_path_factory.mktemp("whole") / "sweep"
    return flyball.sweep("page-load", AXES, out=out, **CHANGES)


def rows(run):
    return Path(run.path, "sweep.parquet").read_bytes()


def manifest(run):
    return {key: value for key, value in run.manifest.items() if key != "finished"}


def test_an_executor_gives_the_same_bytes(whole, tmp_path):
    seen = []
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        run = flyball.sweep(
            "page-load", AXES, out=tmp_path / "sweep", client=pool, batch_seconds=0.05, progress=seen.append, **CHANGES
        )
    assert rows(run) == rows(whole)
    assert manifest(run) == manifest(whole)
    assert seen == sorted(seen) and 40 in seen
    assert not (tmp_path / "sweep.partial").exists()


def test_dask_with_a_worker_killed_gives_the_same_bytes(whole, tmp_path):
    distributed = pytest.importorskip("distributed")
    killed = []

    def kill(done):
        if done >= 8 and not killed:
            [pid, *_] = client.run(os.getpid).values()
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    with distributed.LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            run = flyball.sweep(
                "page-load", AXES, out=tmp_path / "sweep", client=client, batch_seconds=0.05, progress=kill, **CHANGES
            )
    assert killed
    assert rows(run) == rows(whole)
    assert manifest(run) == manifest(whole)


class Flaky(concurrent.futures.ThreadPoolExecutor):
    """Loses the first batches that it is given."""

    def __init__(self, loses):
        super().__init__(2)
        self.loses = loses

    def submit(self, task, *args):
        if self.loses > 0:
            self.loses -= 1
            return super().submit(int, "lost")
        return super().submit(task, *args)


def test_what_is_lost_is_given_out_again(whole, tmp_path):
    with Flaky(3) as pool:
        run = flyball.sweep("page-load", AXES, out=tmp_path / "sweep", client=pool, **CHANGES)
    assert rows(run) == rows(whole)


def test_what_is_lost_for_good_is_told_and_the_rest_is_kept(whole, tmp_path):
    out = tmp_path / "sweep"

    class Enough(Exception):
        pass

    def stop(done):
        if done > 3:
            raise Enough

    with concurrent.futures.ThreadPoolExecutor(2) as pool, pytest.raises(Enough):
        flyball.sweep("page-load", AXES, out=out, client=pool, batch_seconds=0.0, progress=stop, **CHANGES)
    with Flaky(1000) as pool, pytest.raises(flyball.Error) as caught:
        flyball.sweep("page-load", AXES, out=out, client=pool, retries=1, **CHANGES)
    assert "lost them 2 times" in str(caught.value) and caught.value.hint
    # What was finished is not simulated again.
    seen = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        run = flyball.sweep("page-load", AXES, out=out, client=pool, progress=seen.append, **CHANGES)
    assert min(seen) > 3
    assert rows(run) == rows(whole)


def test_a_wrong_point_is_an_error_at_once(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(1) as pool, pytest.raises(flyball.Error) as caught:
        flyball.sweep("page-load", {"phases": [1, -1]}, out=tmp_path / "sweep", client=pool)
    assert "phases" in str(caught.value)
