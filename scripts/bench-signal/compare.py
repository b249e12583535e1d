#!/usr/bin/env python3
"""Our kernels beside plain C (-O2) and numpy/scipy, alternately within one run.

Usage: python3 scripts/bench-signal/compare.py [--rounds 200]

Needs numpy, scipy, cc and cargo. W = 160, C = 64, 160 Hz. Every round times every contender once
for about a millisecond, in a random order, so that all of them see the same machine. Printed are
the best times over the rounds and their ratio (what the code costs when nothing disturbs it: other
programs only ever add), then the median of the ratios within each round and the share of rounds
that we win. Threads of numpy's BLAS are held at one: a kernel is one thread.
"""

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402  (the thread limits must be set before)
import scipy  # noqa: E402
from scipy import signal  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
W, C, RATE, TAPS = 160, 64, 160.0, 129
ROUND_NS = 1e6


def fir_taps():
    return signal.firwin(TAPS, [8, 30], fs=RATE, window="hamming", pass_zero=False)


def make_window():
    rng = np.random.default_rng(1)
    return (20 * rng.normal(size=(W, C))).astype(np.float32)


class InC:
    """kernels.c, compiled with -O2."""

    NAMES = ["car", "notch_iir", "notch_iir rows", "goertzel", "goertzel rows", "bandpass_fir", "bandpass_fir rows"]

    def __init__(self, folder, window):
        library = Path(folder) / "kernels.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "kernels.c", "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.run_kernel.restype = ctypes.c_double
        self.window = window
        self.output = np.zeros((W, C), np.float32)
        taps = fir_taps()
        self.library.set_taps(taps.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))

    def run(self, name, repeats):
        float_p = ctypes.POINTER(ctypes.c_float)
        return self.library.run_kernel(
            self.NAMES.index(name), self.window.ctypes.data_as(float_p), self.output.ctypes.data_as(float_p), repeats
        )


class InPython:
    """The formulations one would choose in numpy and scipy, tables prepared beforehand."""

    def __init__(self, window):
        self.window = window
        self.ba = signal.iirnotch(60, 30, fs=RATE)
        taps = fir_taps()
        lags = np.arange(W)[:, None] + TAPS - 1 - np.arange(W + TAPS - 1)[None, :]
        toeplitz = np.where((lags >= 0) & (lags < TAPS), taps[np.clip(lags, 0, TAPS - 1)], 0.0)
        self.toeplitz = {np.float32: toeplitz.astype(np.float32), np.float64: toeplitz}
        bins = np.arange(8, 31)
        angle = 2 * np.pi * np.outer(bins, np.arange(W)) / W
        matrix = np.concatenate([np.cos(angle), np.sin(angle)])
        self.fourier = {np.float32: matrix.astype(np.float32), np.float64: matrix}
        self.long = {kind: np.zeros((TAPS - 1 + W, C), kind) for kind in self.toeplitz}
        self.zi = np.zeros((2, C))
        self.functions = {
            "car": self.car,
            "notch_iir lfilter": self.notch,
            "goertzel f32 matrix": lambda: self.goertzel(np.float32),
            "goertzel f64 matrix": lambda: self.goertzel(np.float64),
            "bandpass_fir f32 toeplitz": lambda: self.fir(np.float32),
            "bandpass_fir f64 toeplitz": lambda: self.fir(np.float64),
            "bandpass_fir lfilter": self.fir_lfilter,
            "welch_psd welch": self.welch,
        }

    def car(self):
        # Without NaN: `nanmean` is several times slower.
        return self.window - self.window.mean(axis=1, dtype=np.float64, keepdims=True).astype(np.float32)

    def notch(self):
        return signal.lfilter(*self.ba, self.window, axis=0, zi=self.zi)[0]

    def goertzel(self, kind):
        parts = self.fourier[kind] @ self.window.astype(kind, copy=False)
        power = parts[:23] ** 2 + parts[23:] ** 2
        return np.stack([power[:6].sum(axis=0), power[5:].sum(axis=0)])

    def fir(self, kind):
        self.long[kind][TAPS - 1 :] = self.window
        return self.toeplitz[kind] @ self.long[kind]

    def fir_lfilter(self):
        return signal.lfilter(self.toeplitz[np.float64][0, :TAPS][::-1], [1.0], self.window, axis=0)

    def welch(self):
        return signal.welch(
            self.window, fs=RATE, nperseg=W, noverlap=W // 2, nfft=256, detrend=False, axis=0
        )[1]

    def run(self, name, repeats):
        function = self.functions[name]
        start = time.perf_counter_ns()
        for _ in range(repeats):
            function()
        return (time.perf_counter_ns() - start) / repeats


class Ours:
    """The example binary, which waits for requests."""

    def __init__(self):
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        build = ["cargo", "build", "--release", "-q", "-p", "flyball-signal", "--example", "kernel_times"]
        subprocess.run(build, cwd=ROOT, check=True)
        self.process = subprocess.Popen(
            [target / "release/examples/kernel_times"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, name, repeats):
        self.process.stdin.write(f"{name} {repeats}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


# (ours, rival, rival's contender); the first rival of a form is the one of the requirement.
PAIRS = [
    ("car reference", "C", "car"),
    ("notch_iir reference", "C", "notch_iir"),
    ("notch_iir reference", "C", "notch_iir rows"),
    ("goertzel reference", "C", "goertzel"),
    ("goertzel reference", "C", "goertzel rows"),
    ("bandpass_fir reference", "C", "bandpass_fir"),
    ("bandpass_fir reference", "C", "bandpass_fir rows"),
    ("car fast", "numpy", "car"),
    ("notch_iir fast", "numpy", "notch_iir lfilter"),
    ("goertzel fast", "numpy", "goertzel f32 matrix"),
    ("goertzel fast", "numpy", "goertzel f64 matrix"),
    ("bandpass_fir fast", "numpy", "bandpass_fir f32 toeplitz"),
    ("bandpass_fir fast", "numpy", "bandpass_fir f64 toeplitz"),
    ("bandpass_fir fast", "numpy", "bandpass_fir lfilter"),
    ("welch_psd reference", "numpy", "welch_psd welch"),
    ("welch_psd fast", "numpy", "welch_psd welch"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    window = make_window()
    with tempfile.TemporaryDirectory() as folder:
        runners = {"ours": Ours(), "C": InC(folder, window), "numpy": InPython(window)}
        contenders = {("ours", pair[0]) for pair in PAIRS} | {pair[1:] for pair in PAIRS}
        times = {contender: [] for contender in sorted(contenders)}
        repeats = {}
        for who, what in times:
            once = runners[who].run(what, 3)
            repeats[who, what] = max(1, int(ROUND_NS / once))
        order = np.random.default_rng(1)
        for _ in range(rounds):
            for who, what in order.permutation(list(times)):
                times[who, what].append(runners[who].run(what, repeats[who, what]))
    print(f"numpy {np.__version__}, scipy {scipy.__version__}, {rounds} rounds, W {W}, C {C}")
    print(f"{'ours':24} {'best us':>8}   {'rival':32} {'best us':>8}   {'ratio':>6}  {'median':>6}  won")
    for ours, who, what in PAIRS:
        mine, other = np.array(times["ours", ours]), np.array(times[who, what])
        ratios = mine / other
        print(
            f"{ours:24} {mine.min() / 1e3:8.2f}   {who + ' ' + what:32} {other.min() / 1e3:8.2f}"
            f"   {mine.min() / other.min():6.3f}  {np.median(ratios):6.3f}  {np.mean(ratios < 1):4.0%}"
        )


if __name__ == "__main__":
    main()
