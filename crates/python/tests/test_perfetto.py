"""The time line as a trace: read by the message definitions of perfetto's own Python package."""

import collections
import subprocess

import flyball
import pytest

pyarrow = pytest.importorskip("pyarrow")
perfetto_trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")


def test_a_trace_holds_what_the_tables_hold(tmp_path):
    run = flyball.sim("rampup-m1", phases=1, record="full", out=str(tmp_path / "run"))
    file = tmp_path / "run.pftrace"
    command = [flyball.program(), "-q", "report", str(tmp_path / "run"), "--timeline", str(file)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(file.read_bytes())
    counts = collections.Counter()
    ran = collections.Counter()
    since = {}
    for packet in trace.packet:
        for event in packet.ftrace_events.event:
            kind = event.WhichOneof("event")
            counts[kind] += 1
            if kind == "sched_switch":
                switch = event.sched_switch
                cpu = packet.ftrace_events.cpu
                if switch.prev_pid:
                    ran[switch.prev_pid] += event.timestamp - since[cpu]
                since[cpu] = event.timestamp
        if packet.HasField("track_event"):
            counts[packet.track_event.type] += 1
    tables = run.tables
    assert counts["sched_waking"] == tables["wakeups"]
    stays = pyarrow.table(run.idle).to_pydict()
    # A stay of no length has no events.
    lasting = sum(begin < end for begin, end in zip(stays["from_ns"], stays["to_ns"]))
    assert tables["idle"] - lasting <= 1
    assert counts["cpu_idle"] == 2 * lasting
    expected = collections.Counter()
    slices = pyarrow.table(run.slices).to_pydict()
    for tid, begin, end in zip(slices["tid"], slices["from_ns"], slices["to_ns"]):
        expected[tid] += end - begin
    assert ran == expected
    counter = perfetto_trace_pb2.TrackEvent.TYPE_COUNTER
    assert counts[counter] > 0
