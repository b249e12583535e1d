#!/usr/bin/env python3
"""Makes the fixtures of crates/signal: a recording, and what numpy and scipy make of it.

Usage: python3 scripts/oracle/make_fixtures.py        (needs numpy and scipy)

Everything is written to crates/signal/tests/fixtures: raw little-endian arrays (`.f32`, `.f64`),
and `fixtures.json` with the parameters, the shapes and the versions used. The recordings are drawn
from a fixed seed; running the script again changes nothing but the versions.
"""

import json
import platform
from pathlib import Path

import numpy as np
import scipy
from scipy import signal

OUT = Path(__file__).resolve().parents[2] / "crates" / "signal" / "tests" / "fixtures"

# The sources' parameters on a recording of 20 s, and a set in which every number is another one:
# channels that fill no block of eight, a hop that does not divide the window, an even number of
# taps, two pass bands, several Welch segments, more history than a hop.
CASES = {
    "sources": dict(
        rate_hz=160.0, window=160, hop=80, channels=8, seconds=20.0, f0_hz=60.0, q=30.0,
        goertzel_bands=[[8.0, 13.0], [13.0, 30.0]], fir_bands=[[8.0, 30.0]], taps=129, n_fft=256,
    ),
    "general": dict(
        rate_hz=250.0, window=301, hop=110, channels=11, seconds=8.0, f0_hz=50.0, q=12.5,
        goertzel_bands=[[0.0, 4.0], [3.5, 20.2], [30.0, 125.0]],
        fir_bands=[[7.0, 14.0], [22.0, 40.0]], taps=200, n_fft=128,
    ),
}


def recording(rng, case):
    """Microvolts [t][c]: a random walk that decays, alpha, power line, offsets, and some NaN."""
    frames = int(case["seconds"] * case["rate_hz"])
    shape = (frames, case["channels"])
    t = np.arange(frames)[:, None] / case["rate_hz"]
    slow = signal.lfilter([1.0], [1.0, -0.995], rng.normal(size=shape), axis=0)
    x = 3.0 * slow + 4.0 * rng.normal(size=shape)
    x += rng.uniform(2, 15, shape[1]) * np.sin(2 * np.pi * (10.3 * t + rng.uniform(size=shape[1])))
    x += rng.uniform(5, 40, shape[1]) * np.sin(2 * np.pi * (case["f0_hz"] * t + rng.uniform(size=shape[1])))
    x += rng.uniform(-50, 50, shape[1])
    x = x.astype(np.float32)
    x[rng.uniform(size=shape) < 0.002] = np.nan
    x[300:320, 2] = np.nan  # a drop-out
    x[777, :] = np.nan  # a sample without any channel
    return x


def windows(x, case):
    last = len(x) - case["window"]
    return [x[start : start + case["window"]] for start in range(0, last + 1, case["hop"])]


def expected(x, case):
    """What each kernel must give, in double precision, by another way than ours where there is one."""
    clean = np.where(np.isnan(x), 0.0, x).astype(np.float64)
    result = {}

    count = np.maximum(np.sum(~np.isnan(x), axis=1, keepdims=True), 1)
    mean = np.nansum(x.astype(np.float64), axis=1, keepdims=True) / count
    result["car"] = np.where(np.isnan(x), 0.0, x - mean)

    b, a = signal.iirnotch(case["f0_hz"], case["q"], fs=case["rate_hz"])
    result["notch_ba"] = np.concatenate([b, a])
    result["notch_iir"] = signal.lfilter(b, a, clean, axis=0)

    edges = np.ravel(case["fir_bands"])
    taps = signal.firwin(case["taps"], edges, fs=case["rate_hz"], window="hamming", pass_zero=False)
    result["fir_taps"] = taps
    result["bandpass_fir"] = signal.lfilter(taps, [1.0], clean, axis=0)

    cut = windows(clean, case)
    result["goertzel"] = np.stack([goertzel(w, case) for w in cut])
    result["welch_psd"] = np.stack([welch(w, case) for w in cut])

    # The original harness: each window continues from the end of the one before.
    result["notch_iir_source"] = continued(cut[:6], lambda w, z: signal.lfilter(b, a, w, axis=0, zi=z), 2)
    result["bandpass_fir_source"] = continued(
        cut[:6], lambda w, z: signal.lfilter(taps, [1.0], w, axis=0, zi=z), len(taps) - 1
    )
    return result


def goertzel(window, case):
    """Band sums of |X_k|^2 by the fast Fourier transform."""
    n = len(window)
    power = np.abs(np.fft.rfft(window, axis=0)) ** 2
    bins = [[int(np.floor(f * n / case["rate_hz"] + 0.5)) for f in band] for band in case["goertzel_bands"]]
    return np.stack([power[low : min(high, n // 2) + 1].sum(axis=0) for low, high in bins])


def welch(window, case):
    length = min(len(window), case["n_fft"])
    _, psd = signal.welch(
        window, fs=case["rate_hz"], window="hann", nperseg=length, noverlap=length // 2,
        nfft=case["n_fft"], detrend=False, scaling="density", axis=0,
    )
    return psd


def continued(cut, run, order):
    state = np.zeros((order, cut[0].shape[1]))
    out = []
    for window in cut:
        y, state = run(window, state)
        out.append(y)
    return np.stack(out)


# Stored in double precision where the tolerance is tested near it; single precision (6e-8) is
# enough for the looser ones and halves the size.
DOUBLE = {"notch_ba", "fir_taps", "goertzel"}


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    index = {"numpy": np.__version__, "scipy": scipy.__version__, "python": platform.python_version(), "cases": {}}
    for number, (name, case) in enumerate(CASES.items()):
        x = recording(np.random.default_rng(20251205 + number), case)
        arrays = {}
        for key, values in {"input": x, **expected(x, case)}.items():
            kind = "f64" if key in DOUBLE else "f32"
            values.astype("<f8" if kind == "f64" else "<f4").tofile(OUT / f"{name}_{key}.{kind}")
            arrays[key] = {"type": kind, "shape": list(values.shape)}
        index["cases"][name] = {"params": case, "arrays": arrays}
    (OUT / "fixtures.json").write_text(json.dumps(index, indent=1) + "\n")
    total = sum(path.stat().st_size for path in OUT.iterdir())
    print(f"{OUT}: {total} bytes")


if __name__ == "__main__":
    main()
