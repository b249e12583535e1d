import pytest

import flyball


def test_utilisation_is_the_kernels():
    # As in the documentation of the library: 100 ms at 600 of 2064 MHz on a CPU of capacity 459.
    task = flyball.Pelt(capacity=459, max_khz=2_064_000)
    utils = task([1_000_000] * 100, khz=600_000)
    assert utils[-1] == task.util == 234 - 0 or abs(task.util - 234) <= 4
    assert utils == sorted(utils)


def test_one_call_is_many_steps():
    a, b = flyball.Pelt(), flyball.Pelt()
    assert a([1_000_000, 2_000_000], running=[True, False]) == [b(1_000_000), b(2_000_000, running=False)]
    with pytest.raises(ValueError):
        a([1, 2], running=[True])
    with pytest.raises(flyball.BadInput):
        flyball.Pelt(capacity=0)


def test_utilisation_halves_in_32_ms():
    task = flyball.Pelt(util=1000)
    assert abs(task(32 * 1_048_576, running=False) - 500) < 10
    fast = flyball.Pelt(util=1000, multiplier=4)
    assert abs(fast(8 * 1_048_576, running=False) - 500) < 10


def test_schedutil_follows_utilisation():
    rule = flyball.governor("schedutil", platform="apple-m1", rate_limit_us=500)
    assert rule.tunables["rate_limit_us"] == 500
    low = rule(1_000_000, util=20)
    high = rule(20_000_000, util=[1000] * len(rule.cpus))
    assert low.khz in rule.khz and high.khz in rule.khz
    assert high.khz > low.khz
    assert high.why
    with pytest.raises(flyball.BadInput):
        rule(0, util=0)  # time never goes back


def test_ondemand_polls():
    rule = flyball.governor("ondemand")
    n = len(rule.cpus)
    rule(0, times=[{}] * n)
    busy = [{"busy_ns": 100_000_000}] * n
    assert rule(100_000_000, times=busy).khz == rule.khz[-1]
    rule.set("up_threshold", 99)
    assert rule.tunables["up_threshold"] == 99


def test_what_is_unknown_has_a_hint():
    with pytest.raises(flyball.NotFound) as caught:
        flyball.governor("shedutil")
    assert "schedutil" in caught.value.hint
    with pytest.raises(flyball.Error):
        flyball.governor("schedutil", platform="no-such")
    with pytest.raises(flyball.Error):
        flyball.governor("schedutil", rate_limit=5)
    with pytest.raises(flyball.BadInput):
        flyball.governor("schedutil")(0, {"event": "sneeze"})


def test_what_ships_is_listed():
    assert flyball.governors()["schedutil"]["tunables"]
    assert flyball.platforms()["apple-m1"]["domains"][0]["khz"]
    assert flyball.kernels()["linux-6.12"]["hz"] > 0
    assert "page-load" in flyball.scenarios()
    assert flyball.registry()["windows"]["columns"]
