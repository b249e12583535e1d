#!/usr/bin/env python3
"""The bare medians of the same windows with another tool: medians.py polars|duckdb FOLDER."""
import glob
import sys


def polars(files):
    import polars as pl

    columns = {"plugin": pl.String, "start_ts_ns": pl.Int64, "end_ts_ns": pl.Int64, "warmup": pl.Int64}
    frame = pl.scan_ndjson(files, schema=columns, include_file_paths="file", ignore_errors=True)
    frame = frame.filter(pl.col("warmup") == 0)
    frame = frame.group_by("file", "plugin")
    print(frame.agg((pl.col("end_ts_ns") - pl.col("start_ts_ns")).median()).collect())


def duckdb(files):
    import duckdb

    print(
        duckdb.sql(
            f"""select filename, plugin, median(end_ts_ns - start_ts_ns)
            from read_json({files!r}, format = 'newline_delimited', filename = true,
              columns = {{plugin: 'varchar', start_ts_ns: 'bigint', end_ts_ns: 'bigint',
                          warmup: 'bigint'}})
            where warmup = 0 group by all"""
        )
    )


if __name__ == "__main__":
    tool, folder = sys.argv[1:]
    found = sorted(glob.glob(f"{folder}/**/*.ndjson", recursive=True))
    {"polars": polars, "duckdb": duckdb}[tool](found)
