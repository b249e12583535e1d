import json
import subprocess
import sys
import textwrap

import pytest

import flyball
from flyball import validity


def seen(**changes):
    state = {
        "cpu": 0,
        "governors": ["schedutil"],
        "claimed_khz": 2_000_000,
        "delivered_khz": 2_000_000,
        "delivered_permille": 1000,
    }
    base = {
        "seconds": 1.0, "cpus": 2, "own_share": 0.4, "steal_share": 0.0, "others_share": 0.0,
        "others": [], "throttled": 0, "before": state, "after": dict(state),
    }
    after = changes.pop("after", {})
    return {**base, **changes, "after": {**state, **after}}


def test_a_quiet_machine_is_trusted():
    found = validity.judge(seen())
    assert found["verdict"] == "trusted" and not found["why"] and not found["not_checked"]


@pytest.mark.parametrize(
    "changes, word",
    [
        ({"steal_share": 0.03}, "hypervisor"),
        ({"others_share": 0.2, "others": [{"name": "cargo", "share": 0.19}]}, "cargo"),
        ({"throttled": 2}, "heat"),
        ({"after": {"governors": ["powersave"]}}, "powersave"),
        ({"after": {"delivered_permille": 600}}, "60.0 %"),
    ],
)
def test_each_disturbance_is_told(changes, word):
    found = validity.judge(seen(**changes))
    assert found["verdict"] == "not trusted"
    assert word in found["why"][0]


def test_what_is_not_known_is_told():
    found = validity.judge(
        seen(seconds=0.01, others_share=0.5, throttled=None,
             after={"governors": [], "delivered_permille": None})
    )
    assert found["verdict"] == "trusted"
    assert len(found["not_checked"]) == 4


def test_a_block_is_watched():
    watch = validity.Watch(most_cpus=1)
    with watch:
        sum(range(3_000_000))
    assert watch.seen["verdict"] in {"trusted", "not trusted"}
    assert watch.seen["seconds"] > 0
    with pytest.raises(flyball.Error):
        watch.end()


def test_pytest_benchmark_records_validity(tmp_path):
    pytest.importorskip("pytest_benchmark")
    (tmp_path / "test_it.py").write_text(textwrap.dedent("""
        def test_sum(benchmark):
            benchmark(sum, range(1000))
        def test_plain():
            pass
    """))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--benchmark-json=it.json"]
    told = subprocess.run([*command, "--flyball"], cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "benchmarks are trusted" in told.stdout
    [result] = json.loads((tmp_path / "it.json").read_text())["benchmarks"]
    assert result["extra_info"]["flyball"]["verdict"] in {"trusted", "not trusted"}
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 0 and "trusted" not in told.stdout
    [result] = json.loads((tmp_path / "it.json").read_text())["benchmarks"]
    assert "flyball" not in result["extra_info"]


def test_pyperf_records_validity(tmp_path):
    pytest.importorskip("pyperf")
    told = subprocess.run(
        [sys.executable, "-m", "pyperf", "timeit", "--fast", "-p", "2", "-o", "it.json",
         "--hook", "flyball", "sum(range(1000))"],
        cwd=tmp_path, capture_output=True, text=True,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "flyball_verdict" in (tmp_path / "it.json").read_text()
