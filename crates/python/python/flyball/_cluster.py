"""Points of a sweep in other processes: whoever takes a function and gives a future."""

from __future__ import annotations

import fcntl
import math
import os
import pickle
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import IO, Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple

from . import _flyball
from ._errors import Error

#: A point's number and parameters.
Point = Tuple[int, List[Tuple[str, str]]]
#: Points that are simulated together, and how often they were lost.
Batch = Tuple[List[Point], int]

#: Batches per thread of the cluster that are given out: one is simulated, one waits there.
AHEAD = 2
#: How often the size of the cluster is looked at, in s.
LOOK_S = 1.0


class Spread:
    """Gives points out in batches, and writes what comes back."""

    def __init__(self, client: Any, batch_seconds: float, retries: int) -> None:
        self._client = client
        # Dask's client has futures of its own; this is its view as an executor.
        self._pool = client.get_executor(pure=False) if hasattr(client, "get_executor") else client
        self._batch_seconds = batch_seconds
        self._retries = retries
        self._looked = -math.inf
        self._threads = 1

    def run(
        self,
        job: Any,
        points: Sequence[Point],
        done: int,
        journal: str,
        told: Optional[Callable[[int], object]],
    ) -> None:
        """Simulates ``points``; the lines of those that are finished go to ``journal``."""
        left = deque(points)
        lost: Deque[Batch] = deque()
        running: Dict[Future[Any], Batch] = {}
        simulated, seconds = 0, 0.0
        with open(journal, "a", encoding="utf-8") as file:
            _lock(file)
            try:
                while left or lost or running:
                    threads = self._look()
                    while (left or lost) and len(running) < AHEAD * threads:
                        size = self._size(simulated, seconds, len(left), threads)
                        batch = lost.popleft() if lost else ([left.popleft() for _ in range(size)], 0)
                        running[self._pool.submit(simulate, pickle.dumps((job, batch[0])))] = batch
                    ended, _ = wait(running, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                    for future in ended:
                        batch = running.pop(future)
                        try:
                            lines, took = future.result()
                        except Error:
                            raise
                        except Exception as error:
                            lost.append(self._again(batch, error))
                            continue
                        file.writelines(line + "\n" for line in lines)
                        file.flush()
                        simulated, seconds = simulated + len(lines), seconds + took
                        if told is not None:
                            told(done + simulated)
            finally:
                for future in running:
                    future.cancel()

    def _look(self) -> int:
        """Threads of the cluster; it may grow and shrink."""
        now = time.monotonic()
        if now - self._looked >= LOOK_S:
            self._looked = now
            if hasattr(self._client, "nthreads"):
                self._threads = max(1, sum(self._client.nthreads().values()))
            else:
                self._threads = getattr(self._pool, "_max_workers", None) or os.cpu_count() or 1
        return self._threads

    def _size(self, simulated: int, seconds: float, left: int, threads: int) -> int:
        """Points of the next batch: what fills its time, but at the end less, so that all end together."""
        if seconds == 0.0:
            return min(1, left)
        fills = int(self._batch_seconds * simulated / seconds)
        return min(left, max(1, min(fills, math.ceil(left / (AHEAD * threads)))))

    def _again(self, batch: Batch, error: Exception) -> Batch:
        points, tries = batch
        if tries >= self._retries:
            raise Error(
                f"expected points {points[0][0]} to {points[-1][0]} from the cluster, lost them"
                f" {tries + 1} times: {error!r}",
                "what was finished is kept: call it again with the same `out`",
            ) from error
        return points, tries + 1


def _lock(file: IO[str]) -> None:
    """Nobody else may write the journal meanwhile; a file system without locks is no reason to refuse."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        hint = "wait for the other one, or choose another `out`"
        raise Error(f"{file.name}: expected a journal of our own, found one in use", hint) from None
    except OSError:
        pass


def simulate(task: bytes) -> Tuple[List[str], float]:
    """Simulates points where this is called; how long it took in s. They come as bytes, because Dask looks
    into each list and tuple of a task for others' results."""
    began = time.perf_counter()
    job, points = pickle.loads(task)
    return _flyball.batch(job, points), time.perf_counter() - began
