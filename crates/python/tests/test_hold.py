import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import flyball

POLICY = Path("/sys/devices/system/cpu/cpufreq/policy0")


def test_a_load_is_held_for_a_block(program):
    # So little that it runs on a busy machine, too: one that is not proven is an error.
    with flyball.hold(load="1x1%") as held:
        time.sleep(0.5)
    assert held.result["exit_code"] == 0
    assert held.result["load"]


def test_what_cannot_be_held_is_an_error(program):
    with pytest.raises(flyball.Error) as caught:
        with flyball.hold(frequency="900THz"):
            pytest.fail("this cannot be held")
    assert caught.value.hint
    with pytest.raises(flyball.Error):
        with flyball.hold():
            pytest.fail("nothing is held")


def test_a_block_that_raises_ends_the_hold(program):
    with pytest.raises(KeyError):
        with flyball.hold(load="1x1%") as held:
            raise KeyError
    assert held.result["exit_code"] == 0


def test_the_hold_ends_with_a_killed_interpreter(program):
    code = (
        "import flyball, time, os\n"
        "with flyball.hold(load='1x30%') as held:\n"
        "    if os.fork() == 0: time.sleep(30)\n"
        "    print(held._child.pid, flush=True); time.sleep(30)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    held = int(child.stdout.readline())
    child.kill()
    child.wait()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{held}").exists() and "Z" not in Path(f"/proc/{held}/stat").read_text():
        assert time.monotonic() < deadline, "still held"
        time.sleep(0.05)


@pytest.mark.skipif(
    not os.access(POLICY / "scaling_governor", os.W_OK), reason="no cpufreq here that may be set"
)
def test_settings_are_restored(program):
    before = (POLICY / "scaling_min_freq").read_text()
    highest = (POLICY / "cpuinfo_max_freq").read_text()
    with flyball.hold(frequency="max"):
        assert (POLICY / "scaling_min_freq").read_text() == highest
    assert (POLICY / "scaling_min_freq").read_text() == before
