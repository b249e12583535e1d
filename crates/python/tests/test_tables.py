import gc

import pytest

import flyball


def filled(run):
    return [name for name, rows in run.tables.items() if rows]


def test_a_run_has_tables_with_units(run):
    assert {"sweep", "slices", "wakeups", "frequency"} <= set(filled(run))
    assert run.kind == "sim"
    assert run.manifest["tables"][0]["name"] in run.tables
    assert run.frequency.units["claimed_khz"] == "kHz"
    assert run.slices.units["start_ns"] == "ns" if "start_ns" in run.slices.units else True
    assert run.windows.units["workload"] is None
    assert "one row per" in run.windows.doc.lower()
    assert len(run.windows) == 0
    assert "windows" in dir(run)


def test_polars_reads_every_table(run):
    pl = pytest.importorskip("polars")
    for name in filled(run):
        frame = pl.DataFrame(run[name])
        disk = pl.read_parquet(f"{run.path}/{name}.parquet")
        texts = [c for c, t in disk.schema.items() if t == pl.String]
        assert frame.height == run.tables[name]
        assert frame.with_columns(pl.col(texts).cast(pl.String)).equals(disk), name


def test_pyarrow_reads_every_table_without_a_copy(run):
    pa = pytest.importorskip("pyarrow")
    compared = 0
    for name in filled(run):
        table = run[name]
        arrow = pa.table(table)
        assert arrow.num_rows == len(table)
        for column in arrow.column_names:
            array = arrow[column].chunk(0)
            if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
                assert array.buffers()[1].address == table.address(column), (name, column)
                assert arrow.field(column).metadata[b"doc"]
                compared += 1
    assert compared > 20


def test_polars_does_not_copy(run):
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    table = run.slices
    frame = pl.DataFrame(table)
    for column, kind in frame.schema.items():
        if kind.is_numeric():
            assert frame[column].to_arrow().buffers()[1].address == table.address(column), column


def test_what_is_lent_outlives_the_run(tmp_path):
    pl = pytest.importorskip("polars")
    frame = flyball.sim("bursts", phases=2).sweep.to_polars()
    gc.collect()
    assert frame.height > 0
    assert frame["point"].max() == 1


def test_duckdb_asks_a_table(run):
    duckdb = pytest.importorskip("duckdb")
    sweep = run.sweep
    found = duckdb.sql("select count(*), count(distinct name) from sweep").fetchall()[0]
    assert found[0] == len(run.sweep)
    assert found[1] > 5
    assert sweep is run.sweep


def test_pandas_reads_a_table(run):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = run.wakeups.to_pandas()
    assert len(frame) == run.tables["wakeups"]


def test_some_columns_are_read_alone(run):
    pa = pytest.importorskip("pyarrow")
    names = list(run.slices.columns)[:2]
    assert pa.table(run.table("slices", names)).column_names == names
    with pytest.raises(flyball.NotFound) as caught:
        run.table("slices", ["cpus"])
    assert "cpu" in caught.value.hint


def test_a_table_is_scanned_lazily(run):
    pl = pytest.importorskip("polars")
    frame = run.scan("slices").select("cpu").collect()
    assert frame["cpu"].to_list() == pl.DataFrame(run.slices)["cpu"].to_list()


def test_another_tools_file_is_a_run(measured):
    run = flyball.open(measured)
    assert run.kind == "import"
    assert len(run.windows) == run.tables["windows"] > 0
    assert len(run.table("windows", ["exec_ns"])) == len(run.windows)


def test_what_is_not_there_has_a_hint(run, tmp_path):
    with pytest.raises(flyball.NotFound) as caught:
        flyball.open(tmp_path / "none")
    assert caught.value.hint and "hint: " in str(caught.value)
    with pytest.raises(flyball.NotFound) as caught:
        run["window"]
    assert caught.value.hint == "did you mean `windows`?"
    assert isinstance(caught.value, LookupError)
    with pytest.raises(AttributeError):
        run.no_such_thing


def test_a_damaged_table_is_bad_input(tmp_path):
    run = flyball.sim("bursts", out=tmp_path / "run", phases=2)
    (tmp_path / "run" / "sweep.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(flyball.BadInput) as caught:
        len(flyball.open(run.path).sweep)
    assert caught.value.hint
