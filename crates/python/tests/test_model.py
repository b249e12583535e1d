import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import flyball

LONG = 'flyball.sim("page-load", phases=100_000)'


def test_sim_leaves_the_tables_of_the_program(program, tmp_path):
    flyball.sim("rampup-m1", out=tmp_path / "a", phases=4, record="full", governor__rate_limit_us=500)
    subprocess.run(
        [program, "sim", "rampup-m1", "--phases", "4", "--record", "full", "--quiet",
         "--set", "governor.rate_limit_us=500", "--out", str(tmp_path / "b")],
        check=True, capture_output=True,
    )
    tables = sorted(path.name for path in (tmp_path / "b").glob("*.parquet"))
    assert len(tables) > 5
    for name in tables:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_a_run_without_a_place_goes_with_its_object():
    run = flyball.sim("bursts", phases=2)
    path = run.path
    assert Path(path, "run.toml").exists()
    assert run.result["phases"] == 2
    assert "bursts" in str(run)
    del run
    assert not Path(path).exists()


def test_changes_are_checked():
    with pytest.raises(flyball.NotFound) as caught:
        flyball.sim("rampup-m2")
    assert "rampup-m1" in caught.value.hint
    with pytest.raises(flyball.Error):
        flyball.sim("bursts", no_such_key=1)
    with pytest.raises(flyball.Error):
        flyball.sim("bursts", governor="shedutil")


def test_a_sweep_has_every_point(tmp_path):
    seen = []
    run = flyball.sweep(
        "rampup-m1",
        {"governor.rate_limit_us": [500, 1000, 2000], "seed": [1, 2]},
        out=tmp_path / "sweep",
        phases=2,
        progress=seen.append,
    )
    pl = pytest.importorskip("polars")
    points = run.sweep.to_polars().filter(pl.col("name") == "governor.rate_limit_us")
    assert points["point"].to_list() == list(range(12))
    assert points["value"].unique().sort().to_list() == [500, 1000, 2000]
    assert not (tmp_path / "sweep.partial").exists()
    assert seen == sorted(seen)


def test_an_interrupted_sweep_goes_on(tmp_path):
    class Enough(Exception):
        pass

    def stop(done):
        raise Enough

    axes = {"seed": list(range(1, 401))}
    with pytest.raises(Enough):
        flyball.sweep("page-load", axes, out=tmp_path / "a", phases=1, progress=stop)
    assert (tmp_path / "a.partial").exists()
    axes = {"seed": list(range(1, 41))}
    with pytest.raises(flyball.Error):  # another sweep at that place
        flyball.sweep("page-load", axes, out=tmp_path / "a", phases=1)


def test_replay_sets_governors_side_by_side(run):
    replayed = flyball.replay(run, ["schedutil", "powersave"], platform="apple-m1")
    assert list(replayed.outcomes) == ["schedutil", "powersave"]
    assert replayed.outcomes["powersave"]["energy_mj"] > 0
    with pytest.raises(flyball.Error):
        flyball.replay(run, "shedutil")


def test_ctrl_c_ends_a_simulation_within_a_second(tmp_path):
    code = f"import flyball, sys\nprint('go', flush=True)\n{LONG}"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == b"go\n"
    time.sleep(1)
    assert child.poll() is None
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, stderr = child.communicate(timeout=20)
    assert time.monotonic() - began < 1
    assert b"KeyboardInterrupt" in stderr


def test_the_interpreter_is_free_meanwhile():
    ticks = []

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    done = threading.Event()
    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    flyball.sim("page-load", phases=64)
    took = time.monotonic() - began
    done.set()
    thread.join()
    assert len(ticks) > took / 0.1


def _child(_):
    return len(flyball.sim("bursts", phases=2).sweep)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_it_works_in_forked_processes(run):
    len(run.slices)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert len(set(pool.map_async(_child, range(4)).get(timeout=60))) == 1


def test_import_takes_less_than_100_ms():
    code = "import time; t = time.perf_counter(); import flyball; print(time.perf_counter() - t)"
    took = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    assert min(took) < 0.1, took


def test_python_m_is_the_program(program):
    told = subprocess.check_output([sys.executable, "-m", "flyball", "--version"], text=True)
    assert told == subprocess.check_output([program, "--version"], text=True)
