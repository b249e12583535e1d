//! Imports of others' data: what is taken, what is left out, and what each bad file is told.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test writes, damages and mounts its own files, and fails by panicking"
)]

use flyball_units::ErrorKind;
use std::path::{Path, PathBuf};

use flyball_import::{ColumnMap, Format, Options, detect, import};
use flyball_run::{Columns, Error, Result, Run};
use proptest::prelude::*;

const GOOD: &str = r#"{"run_id":"1","plugin":"car","window_index":20,"release_ts_ns":1000,"deadline_ts_ns":501000,"start_ts_ns":1200,"end_ts_ns":21200,"deadline_missed":0,"W":160,"H":80,"C":64,"Fs":160,"warmup":0,"repeat":1}"#;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn data(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        println!("skipped: {} is not here", path.display());
    }
    path.exists().then_some(path)
}

fn read(path: impl AsRef<Path>) -> Result<Run> {
    import(path, &Options::default())
}

fn read_text(name: &str, text: impl AsRef<[u8]>, map: &str) -> Result<Run> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    import(&path, &Options { map: map.parse().unwrap(), ..Options::default() })
}

/// A last line without its end may be a number without its last digits: it is left out, and said.
#[test]
fn a_cut_last_line_is_not_believed() {
    let csv = "latency_us\n100\n101\n102\n10";
    let run = read_text("d.csv", csv, "latency_us=latency_us").unwrap();
    assert_eq!(run.tables.windows.len(), 3);
    assert!(run.warnings.iter().any(|it| it.message.contains("may be cut")), "{:?}", run.warnings);
    let verbose =
        "       0:       0:      12\n       0:       1:      14\n       0:       2:      1";
    let run = read_text("c.txt", verbose, "").unwrap();
    assert_eq!(run.tables.windows.len(), 2);
    assert!(run.warnings.iter().any(|it| it.message.contains("may be cut")), "{:?}", run.warnings);
    let histogram = "# Histogram\n000010 000003\n000011 00000";
    let run = read_text("h.txt", histogram, "").unwrap();
    assert_eq!(run.tables.windows.len(), 3);
    assert!(run.warnings.iter().any(|it| it.message.contains("may be cut")), "{:?}", run.warnings);
}

/// What a histogram of a few bytes counts is refused before it is laid out.
#[test]
fn a_histogram_of_billions_is_refused_at_once() {
    let text =
        "# Histogram\n000010 4000000000\n# Max Latencies: 00010\n# Histogram Overflows: 00000\n";
    let error = read_text("h.txt", text, "").unwrap_err().to_string();
    assert!(error.contains("at most 10000000 samples, found 4000000000"), "{error}");
}

fn median_us(run: &Run, workload: &str, condition: &str) -> f64 {
    let windows = &run.tables.windows;
    let mut cell: Vec<u64> = (0..windows.len())
        .filter(|&row| {
            windows.workload.get(row) == Some(workload)
                && windows.condition.get(row) == Some(condition)
        })
        .map(|row| windows.exec_ns[row])
        .collect();
    cell.sort_unstable();
    cell[cell.len() / 2] as f64 / 1000.0
}

#[test]
fn cortex_linux_is_as_published() {
    let Some(path) = data("cortex-linux-2025-12-05") else { return };
    let run = read(&path).unwrap();
    assert_eq!(run.tables.windows.len(), 4 * 4 * 1205);
    for (condition, car, bandpass) in [
        ("powersave", 68.54, 7493.18),
        ("performance", 14.12, 2968.44),
        ("schedutil", 96.95, 10262.70),
    ] {
        assert!((median_us(&run, "car", condition) - car).abs() < 0.006);
        assert!((median_us(&run, "bandpass_fir", condition) - bandpass).abs() < 0.006);
        let record = run.manifest.condition(condition).unwrap();
        assert_eq!((record.governor.as_deref(), &record.load), (Some(condition), &None));
    }
    let boosted = run.manifest.condition("schedutil-boosted").unwrap();
    assert_eq!(boosted.governor.as_deref(), Some("schedutil"));
    assert_eq!(boosted.load.as_ref().unwrap().proven, Some(false));
    assert_eq!(run.manifest.order.len(), 4 * 4 * 5);
    assert!(run.manifest.order.windows(2).all(|pair| pair[0].trial + 1 == pair[1].trial));
    assert!(run.manifest.clocks.iter().all(|clock| clock.offset_ns.is_none()));
    // The manifest says it, and the report from there: no warning beside that.
    assert!(!run.warnings.iter().any(|warning| warning.message.contains("CLOCK_REALTIME")));
    let workload = run.manifest.workload("car").unwrap();
    assert_eq!((workload.period_ns, workload.deadline_ns), (Some(500_000_000), Some(500_000_000)));
    let machine = run.manifest.machine.as_ref().unwrap();
    assert_eq!((&machine.cpu_model, machine.cpu_count), (&None, Some(8)));
}

#[test]
fn cortex_frequency_log_means_are_as_published() {
    let Some(path) = data("cortex-linux-2025-12-05") else { return };
    let run = read(path).unwrap();
    let log = &run.tables.frequency;
    let mean = |domain: &str| {
        let picked: Vec<f64> = (0..log.len())
            .filter(|&row| {
                log.domain.get(row) == Some(domain) && log.condition.get(row) == Some("schedutil")
            })
            .filter_map(|row| log.claimed_khz.get(row).map(|khz| khz as f64 / 1000.0))
            .collect();
        picked.iter().sum::<f64>() / picked.len() as f64
    };
    assert!((mean("policy0") - 1288.2).abs() < 0.05, "{}", mean("policy0"));
    assert!((mean("policy4") - 1363.4).abs() < 0.05, "{}", mean("policy4"));
}

#[test]
fn cortex_macos_loads_are_unproven() {
    let Some(path) = data("cortex-macos-2025-11-15") else { return };
    let run = read(path).unwrap();
    // The n of every cell as published.
    let cells = [1203, 1204, 1203, 1203, 1204, 1202, 1203, 1203, 1200, 1202, 1200, 1202];
    assert_eq!(run.tables.windows.len(), cells.iter().sum::<usize>());
    let proven = |name: &str| run.manifest.condition(name).unwrap().load.as_ref().unwrap().proven;
    assert_eq!(
        (proven("idle"), proven("medium"), proven("heavy")),
        (None, Some(false), Some(false))
    );
    assert_eq!(run.manifest.machine.as_ref().unwrap().cpu_model.as_deref(), Some("Apple M1"));
}

#[test]
fn an_imported_run_survives_its_directory() {
    let Some(path) = data("cortex-linux-2025-12-05") else { return };
    let root = tempfile::tempdir().unwrap();
    let run = read(&path).unwrap();
    let read_back = Run::open(run.write(root.path().join("r")).unwrap()).unwrap();
    assert_eq!(read_back.tables, run.tables);
    let single = read(path.join("run-001-powersave/kernel-data/car/telemetry.ndjson")).unwrap();
    assert_eq!(single.tables.windows.condition.names(), ["powersave".into()]);
    assert_eq!(single.tables.windows.len(), 1205);
    let columns = [("windows", "exec_ns")];
    let options = Options { columns: Columns::Only(&columns), ..Options::default() };
    let projected = import(path, &options).unwrap();
    assert_eq!(projected.tables.windows.exec_ns, run.tables.windows.exec_ns);
    assert!(
        projected.tables.windows.release_ns.is_empty()
            && projected.tables.windows.workload.is_empty()
    );
}

#[test]
fn repeated_recordings_are_said() {
    let text = format!("{GOOD}\n{}\n", GOOD.replace("1000,", "900,"));
    let run = read_text("t.ndjson", text.repeat(2), "").unwrap();
    assert_eq!(run.tables.windows.len(), 4);
    assert!(
        run.warnings.iter().any(|warning| warning.message.contains("go back in time 2 times")),
        "{:?}",
        run.warnings
    );
    assert_eq!(run.tables.windows.seq, [0, 1, 2, 3]);
}

/// Nineteen good lines and one bad one: it is left out, counted, and named with its line.
fn one_bad(bad: &str) -> Run {
    let text =
        format!("{}{bad}\n{}", format!("{GOOD}\n").repeat(9), format!("{GOOD}\n").repeat(10));
    let run = read_text("t.ndjson", text, "").unwrap();
    assert_eq!(run.tables.windows.len(), 19);
    run
}

#[test]
fn one_bad_line_of_telemetry_is_left_out_and_named() {
    let cases = [
        (GOOD[..GOOD.len() / 2].to_owned(), "EOF while parsing"),
        (GOOD.replace("21200", "\"21200\""), "invalid type: string"),
        (GOOD.replace("21200", "-1"), "invalid value: integer `-1`"),
        (GOOD.replace("21200", "1e99"), "floating point"),
        (GOOD.replace("21200", "99999999999999999999"), "floating point"),
        (GOOD.replace("\"end_ts_ns\":21200,", ""), "missing field `end_ts_ns`"),
        (GOOD.replace("\"plugin\":\"car\",", ""), "missing field `plugin`"),
        (GOOD.replace("21200", "1100"), "clock going backwards"),
        (GOOD.replace("21200", "86400000002000"), "out of range"),
        (GOOD.replace("501000", "500"), "before release"),
        (GOOD.replace("\"car\"", "null"), "invalid type: null"),
        ("[1,2".to_owned(), "invalid"),
        ("\u{0}\u{0}".to_owned(), "expected value"),
        ("{}".to_owned(), "missing field"),
    ];
    for (bad, why) in cases {
        let run = one_bad(&bad);
        let warning =
            run.warnings.iter().find(|warning| warning.message.contains("line 10")).expect(why);
        assert!(warning.message.contains(why), "{why}: {}", warning.message);
        assert_eq!(run.manifest.source.as_ref().unwrap().files[0].skipped, 1);
        assert_eq!(run.tables.notes.len(), run.warnings.len());
    }
}

#[test]
fn torn_telemetry_reads_at_every_byte() {
    let text = format!("{GOOD}\n{GOOD}\n");
    for cut in GOOD.len() + 1..text.len() {
        let run = read_text("t.ndjson", &text[..cut], "").unwrap();
        let whole = cut >= text.len() - 1;
        assert_eq!(run.tables.windows.len(), 1 + usize::from(whole), "cut at {cut}");
        let torn = run.manifest.source.as_ref().unwrap().files[0].torn_lines;
        assert_eq!(torn, u64::from(!whole && cut > GOOD.len() + 1), "cut at {cut}");
    }
}

#[test]
fn system_lines_may_be_anywhere_odd_or_absent() {
    let system =
        r#"{"_type":"system_info","os":"Linux 6","cpu":"Unknown","cpu_count":8,"later":1}"#;
    let run =
        read_text("t.ndjson", format!("{GOOD}\n{system}\n{{\"_type\":\"else\"}}\n"), "").unwrap();
    let machine = run.manifest.machine.unwrap();
    assert_eq!(
        (machine.cpu_model, machine.kernel.as_deref(), machine.hostname),
        (None, Some("Linux 6"), None)
    );
    let run = read_text("t.ndjson", GOOD, "").unwrap();
    assert!(run.manifest.machine.is_none());
    assert!(
        run.warnings
            .iter()
            .any(|warning| warning.message.contains("no line describes the machine"))
    );
}

fn refused(result: Result<Run>) -> Error {
    let error = result.unwrap_err();
    assert!(
        !error.hint().is_empty() && !error.expected().is_empty() && !error.found().is_empty(),
        "{error:?}"
    );
    error
}

#[test]
fn files_without_good_rows_are_refused_with_line_and_hint() {
    let latency = "latency_us=lat";
    let bad = GOOD.replace("21200", "1");
    let cases: Vec<(&str, String, &str, &str)> = vec![
        ("t.ndjson", format!("{bad}\n{bad}\n"), "", "t.ndjson:1"),
        (
            "t.ndjson",
            format!("{GOOD}\n").repeat(3) + &format!("{bad}\n").repeat(3),
            "",
            "t.ndjson:4",
        ),
        ("empty", String::new(), "", "empty:1"),
        ("zeros", "\0\0\0".to_owned(), "", "zeros:1"),
        ("prose", "nothing to see\nhere\n".to_owned(), "", "prose:1"),
        ("x.json", "{\"some\": 1}".to_owned(), "", "x.json:1"),
        ("h.json", "{\"results\":[{\"command\":\"a\"}]}".to_owned(), "", "h.json:1"),
        (
            "h.json",
            "{\"results\":[{\"command\":\"a\",\"times\":[-1.0, null]}]}".to_owned(),
            "",
            "h.json:1",
        ),
        ("h.json", "{\"results\":[\n{\"command\":1,\"times\":[1]}]}".to_owned(), "", "h.json:2"),
        (
            "c.json",
            "{\"rt_test_version:\":\"2\",\"thread\":{\"0\":{\"cycles\":9,\"max\":3}}}".to_owned(),
            "",
            "c.json",
        ),
        ("c.json", "{\"rt_test_version:\":\"2\",\"thread\":\n[]}".to_owned(), "", "c.json:2"),
        ("a.csv", "lat,core\n1,2\n".to_owned(), "", "a.csv:1"),
        ("a.csv", "latt,core\n1,2\n".to_owned(), latency, "a.csv:1"),
        ("a.csv", "lat,core\nx,2\n".to_owned(), latency, "a.csv:2"),
        ("a.csv", "lat,core\n-1,2\n".to_owned(), latency, "a.csv:2"),
        ("a.csv", "lat,core\nNaN,2\n".to_owned(), latency, "a.csv:2"),
        ("a.csv", "lat,core\n1e30,2\n".to_owned(), latency, "a.csv:2"),
        ("a.csv", "lat,core\n1\n".to_owned(), latency, "a.csv:2"),
        ("a.csv", "lat,core\n".to_owned(), latency, "a.csv"),
    ];
    for (name, text, map, object) in cases {
        let error = refused(read_text(name, &text, map));
        assert_eq!(error.kind(), ErrorKind::BadInput);
        assert!(error.object().ends_with(object), "{object}: {error:?} for {text:?}");
    }
    assert_eq!(refused(read("/no/such/file")).kind(), ErrorKind::NotFound);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(refused(read(empty.path())).kind(), ErrorKind::BadInput);
}

#[test]
fn csv_takes_quotes_units_and_names() {
    let text =
        "\u{feff}lat,core,gov,note\n12.5,3,\"a \"\"b\"\", c\",\"two\nlines\"\n7,,schedutil,\n";
    let run = read_text("a.csv", text, "latency_us=lat,cpu=core,condition=gov").unwrap();
    let windows = &run.tables.windows;
    assert_eq!(windows.exec_ns, [12_500, 7_000]);
    assert_eq!(windows.cpu_before.iter().collect::<Vec<_>>(), [Some(3), None]);
    assert_eq!(windows.condition.iter().collect::<Vec<_>>(), ["a \"b\", c", "schedutil"]);
    assert_eq!(run.manifest.source.unwrap().map["latency_us"], "lat");
    let same = read_text("b.csv", "exec_ms;condition\n1.5;x\n", "").unwrap();
    assert_eq!(same.tables.windows.exec_ns, [1_500_000]);
    let times =
        read_text("c.csv", "a\tb\tc\n1000\t1001\t1003\n", "release_us=a,start_us=b,end_us=c")
            .unwrap();
    let row = times.tables.windows.row(0).unwrap();
    assert_eq!(
        (row.lateness_ns, row.exec_ns, row.response_ns, row.release_ns),
        (1_000, 2_000, 3_000, 1_000_000)
    );
}

#[test]
fn csv_mistakes_name_line_column_and_the_nearest_name() {
    let error = refused(read_text("a.csv", "lat,core\nx,2\n", "latency_us=lat"));
    assert!(error.found().contains("column 1 (lat): expected a number, found \"x\""), "{error:?}");
    let error = refused(read_text("a.csv", "latency,core\n1,2\n", "latency_us=latancy"));
    assert!(error.hint().contains("did you mean `latency`"), "{error:?}");
    let text = format!("lat\n{}\"two\nlines\"\n", "1\n".repeat(20));
    let run = read_text("a.csv", text, "latency_us=lat").unwrap();
    assert!(
        run.warnings.iter().any(|warning| warning.message.contains("line 22")),
        "{:?}",
        run.warnings
    );
    assert!("latncy_us=lat".parse::<ColumnMap>().unwrap_err().hint().contains("latency_us"));
}

#[test]
fn hyperfine_commands_are_conditions() {
    let run = read(golden("hyperfine.json")).unwrap();
    let windows = &run.tables.windows;
    assert_eq!(
        windows.condition.iter().collect::<Vec<_>>(),
        ["sleep 0.01", "sleep 0.01", "sleep 0.01", "true", "true", "true"]
    );
    assert_eq!((windows.exec_ns[0], windows.exec_ns[3]), (10_936_921, 0));
    assert_eq!(windows.exit_status.get(5), Some(0));
    assert_eq!(run.manifest.clocks[0].clock, "none");
}

/// Written by Google Benchmark 1.7.1 (`--benchmark_repetitions=12`, and 3 with
/// `--benchmark_report_aggregates_only=true`).
#[test]
fn google_benchmarks_repetitions_are_repeats() {
    let run = read(golden("google-benchmark.json")).unwrap();
    let windows = &run.tables.windows;
    assert_eq!(windows.workload.names(), ["BM_sort/1000".into(), "BM_sum/4096".into()]);
    assert_eq!((windows.len(), windows.repeat[11], windows.repeat[12]), (24, 12, 1));
    assert_eq!((windows.exec_ns[0], windows.exec_ns[12]), (51_669, 66_299));
    assert_eq!(windows.cpu_time_ns.get(0), Some(5_807), "of one iteration, as the time is");
    assert_eq!(run.manifest.source.as_ref().unwrap().tool, "google-benchmark");
    assert!(run.warnings.iter().any(|warning| warning.message.contains("built for debugging")));
    let error = read(golden("google-benchmark-aggregates.json")).unwrap_err();
    assert!(error.found().contains("aggregates"), "{error}");
    assert!(error.hint().contains("--benchmark_repetitions"), "{error:?}");
}

/// Names of the workloads, and the number of windows under each.
fn counted(run: &Run) -> Vec<(String, usize)> {
    let windows = &run.tables.windows;
    let names = windows.workload.names().iter();
    let of = |name: &str| windows.workload.iter().filter(|own| *own == name).count();
    names.map(|name| (name.to_string(), of(name))).collect()
}

/// Nanoseconds of one iteration in a row.
fn ns(run: &Run, row: usize) -> f64 {
    let windows = &run.tables.windows;
    windows.exec_ns[row] as f64 / windows.iterations.get(row).unwrap_or(1) as f64
}

/// Written by Criterion 0.8.2 (20 samples; `sort` with flat sampling).
#[test]
fn criterions_samples_are_windows() {
    let run = read(golden("criterion")).unwrap();
    assert_eq!(counted(&run), [("fib 12".to_owned(), 20), ("sort/vec/1000".to_owned(), 20)]);
    // 12,319,039 ns of 1074 iterations.
    assert!((ns(&run, 20) - 12_319_039.0 / 1074.0).abs() < 0.5, "{}", ns(&run, 20));
    let single = read(golden("criterion/fib 12/new/sample.json")).unwrap();
    assert_eq!(counted(&single), [("fib 12".to_owned(), 20)]);
    assert_eq!(single.tables.windows.exec_ns, run.tables.windows.exec_ns[..20]);

    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str, file: &str, text: &str| {
        let dir = dir.path().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(file), text).unwrap();
    };
    place("a/new", "estimates.json", "{\"mean\":{}}");
    let error = refused(read(dir.path()));
    assert!(error.found().contains("only summaries"), "{error}");
    place("a/new", "sample.json", "{\"iters\":[1.0,2.0],\"times\":[5.5,11.0]}");
    place("a/base", "sample.json", "{\"iters\":[1.0],\"times\":[9.0]}");
    place("a/old1", "sample.json", "{\"iters\":[1.0],\"times\":[9.0]}");
    let run = read(dir.path()).unwrap();
    assert_eq!((counted(&run), ns(&run, 0)), (vec![("a".to_owned(), 2)], 5.5));
    assert!(run.warnings.iter().any(|warning| warning.message.ends_with("not read: old1")));
    place("a/new", "sample.json", "{\"iters\":[1.0,2.0],\"times\":[5.5]}");
    assert!(refused(read(dir.path())).found().contains("1 and 2"));
}

/// Written by pyperf 2.10.0 (`-p 4 -n 3 -w 1`): a process that calibrates, and four that measure.
#[test]
fn pyperfs_processes_are_repeats() {
    let run = read(golden("pyperf.json")).unwrap();
    let windows = &run.tables.windows;
    assert_eq!(counted(&run), [("loop".to_owned(), 16), ("sort".to_owned(), 16)]);
    assert_eq!(windows.repeat[..5], [1, 1, 1, 1, 2]);
    assert_eq!(windows.warmup[..5], [true, false, false, false, true]);
    assert_eq!(windows.exec_ns[1], 21_442);
    let machine = run.manifest.machine.as_ref().unwrap();
    assert_eq!((machine.cpu_model.as_deref(), machine.cpu_count), (Some("AMD EPYC"), Some(2)));
    let text = std::fs::read_to_string(golden("pyperf.json")).unwrap();
    let bytes = text.replace("\"unit\": \"second\"", "\"unit\": \"byte\"");
    assert!(refused(read_text("p.json", bytes, "")).found().contains("\"byte\""));
    assert!(refused(read_text("p.json", &text[..text.len() / 2], "")).found().contains("EOF"));
    let empty = text.replace("\"values\"", "\"later\"");
    assert_eq!(refused(read_text("p.json", empty, "")).found(), "none");
}

/// Written by pytest-benchmark 5.3.1 (`--benchmark-json`); the other one without its times.
#[test]
fn pytest_benchmarks_rounds_are_windows() {
    let run = read(golden("pytest-benchmark.json")).unwrap();
    let of = |name: &str| (format!("test_b.py::{name}"), 8);
    let mut names = counted(&run);
    names.sort();
    assert_eq!(names, [of("test_loop"), of("test_param[1000]"), of("test_param[10]")]);
    assert!(ns(&run, 0) > 100.0 && ns(&run, 0) < 1e6, "{}", ns(&run, 0));
    let error = refused(read(golden("pytest-benchmark-summaries.json")));
    assert!(error.found().contains("only summaries"), "{error}");
    assert!(error.hint().contains("--benchmark-save-data"), "{error:?}");
}

/// Written by Go 1.26.8 (`-count 5`), and as events by `go test -json` (`-count 2`).
#[test]
fn go_benchmarks_lines_are_repeats() {
    let run = read(golden("go-benchmark.txt")).unwrap();
    let names = ["Fib-2", "Add-2", "Sort/n=100-2", "Sort/n=1000-2"];
    assert_eq!(counted(&run), names.map(|name| (name.to_owned(), 5)));
    assert_eq!((ns(&run, 0), ns(&run, 5)), (45_411.0, 65.17));
    assert_eq!(run.tables.windows.repeat[..6], [1, 2, 3, 4, 5, 1]);
    let machine = run.manifest.machine.as_ref().unwrap();
    assert_eq!(machine.cpu_model.as_deref(), Some("AMD EPYC"));
    let events = read(golden("go-benchmark-events.json")).unwrap();
    assert_eq!(counted(&events), names.map(|name| (name.to_owned(), 2)));
    assert_eq!((ns(&events, 0), ns(&events, 1)), (3_053.0, 3_262.0));

    let text = std::fs::read_to_string(golden("go-benchmark.txt")).unwrap();
    let torn = read_text("g.txt", &text[..text.find(" ns/op\nBenchmarkAdd").unwrap()], "").unwrap();
    assert_eq!(torn.tables.windows.len(), 4);
    assert!(torn.warnings.iter().any(|warning| warning.message.contains("ns/op, found none")));
    let none = refused(read_text("g.txt", "goos: linux\nPASS\n", ""));
    assert!(none.hint().contains("-count"), "{none:?}");
    let failed = read_text("g.txt", format!("{text}FAIL\n"), "").unwrap();
    assert!(failed.warnings.iter().any(|warning| warning.message.contains("failed")));
    let two = "pkg: a\nBenchmarkX-2 1 5000 ns/op\npkg: b\nBenchmarkX-2 1 7000 ns/op\n".to_owned();
    let two = counted(&read_text("g.txt", two, "").unwrap());
    assert_eq!(two, [("a: X-2".to_owned(), 1), ("b: X-2".to_owned(), 1)]);
}

/// Written by JMH 1.37 (`-f 2 -i 3 -bm avgt -tu ns`).
#[test]
fn jmhs_forks_are_repeats() {
    let run = read(golden("jmh.json")).unwrap();
    let names = ["x.B.sum (n=10)", "x.B.sum (n=100)"];
    assert_eq!(counted(&run), names.map(|name| (name.to_owned(), 6)));
    assert_eq!(run.tables.windows.repeat[..6], [1, 1, 1, 2, 2, 2]);
    assert_eq!((ns(&run, 0), ns(&run, 4)), (1_588.0, 386.916));
    let text = std::fs::read_to_string(golden("jmh.json")).unwrap();
    let rate = text.replace("\"avgt\"", "\"thrpt\"").replace("ns/op", "ops/us");
    let rate = read_text("j.json", rate, "").unwrap();
    assert_eq!(counted(&rate)[0].0, "x.B.sum (n=10, thrpt)");
    assert!((ns(&rate, 4) - 1_000.0 / 386.9157603125238).abs() < 0.001, "{}", ns(&rate, 4));
    let error = refused(read_text("j.json", text.replace("\"rawData\"", "\"later\""), ""));
    assert!(error.found().contains("only summaries"), "{error}");
    assert!(
        refused(read_text("j.json", text.replace("ns/op", "B/op"), "")).found().contains("B/op")
    );
    let sampled = r#"[{"jmhVersion":"1.37","benchmark":"a","mode":"sample","primaryMetric":{
        "scoreUnit":"us/op","rawDataHistogram":[[[[1.5,2],[7.0,1]]]]}}]"#;
    let sampled = read_text("j.json", sampled, "").unwrap();
    assert_eq!(sampled.tables.windows.exec_ns, [1_500, 1_500, 7_000]);
}

/// A window as CORTEX writes it since 2026.
const DEVICE: &str = r#"{"run_id":"1","plugin":"car","window_index":10,"release_ts_ns":1000000,"deadline_ts_ns":501000000,"start_ts_ns":1000250,"end_ts_ns":1373250,"deadline_missed":0,"W":160,"H":80,"C":64,"Fs":160,"warmup":0,"repeat":0,"device_tin_ns":77,"device_tstart_ns":100,"device_tend_ns":18100,"device_tfirst_tx_ns":19000,"device_tlast_tx_ns":19000,"adapter_name":"native","window_failed":0,"error_code":0,"cpu_freq_mhz":2064,"pmu_cycle_count":57600,"pmu_instruction_count":144347,"pmu_backend_stall_cycles":0,"osnoise_total_ns":0,"stage_index":4294967295,"dtype":2}"#;

#[test]
fn device_times_split_transport_from_execution() {
    let system = r#"{"_type":"system_info","os":"Linux 6","hostname":"a","governor":"powersave","device_hostname":"b","device_cpu":"aarch64","device_os":"Linux 5"}"#;
    let run = read_text("t.ndjson", format!("{system}\n{DEVICE}\n"), "").unwrap();
    let row = run.tables.windows.row(0).unwrap();
    assert_eq!((row.exec_ns, row.transport_ns), (18_000, Some(355_000)));
    assert_eq!((row.lateness_ns, row.response_ns), (250, 373_250), "as the harness saw them");
    assert_eq!((row.cycles, row.delivered_khz), (Some(57_600), Some(3_200_000)));
    assert_eq!((row.instructions, row.stalled_cycles), (Some(144_347), None));
    assert_eq!((row.noise_ns, row.exit_status), (Some(0), None));
    assert_eq!(run.tables.frequency.claimed_khz.get(0), Some(2_064_000));
    assert_eq!(run.manifest.conditions[0].governor.as_deref(), Some("powersave"));
    let machine = run.manifest.machine.as_ref().unwrap();
    assert_eq!((machine.hostname.as_deref(), machine.cpu_count), (Some("b"), None));
    assert!(run.manifest.clocks.iter().all(|clock| clock.clock == "monotonic"));

    let of = |line: &str| read_text("t.ndjson", format!("{line}\n{DEVICE}\n"), "").unwrap();
    let first = |line: &str| of(line).tables.windows.row(0).unwrap();
    let bare = DEVICE.replace("device_tstart_ns", "later");
    assert_eq!((first(&bare).exec_ns, first(&bare).delivered_khz), (373_000, None));
    assert!(of(&bare).warnings.iter().any(|warning| warning.message.contains("1 windows have no")));
    let uncounted = DEVICE.replace("57600", "0");
    assert_eq!((first(&uncounted).cycles, first(&uncounted).exec_ns), (None, 18_000));
    let short = DEVICE.replace("18100", "1017");
    assert_eq!(first(&short).delivered_khz, None, "too short for the device's clock");
    let failed = DEVICE
        .replace("\"window_failed\":0,\"error_code\":0", "\"window_failed\":1,\"error_code\":7");
    assert_eq!(first(&failed).exit_status, Some(7));
    for bad in [DEVICE.replace("18100", "99"), DEVICE.replace("18100", "900000")] {
        let text = format!("{DEVICE}\n").repeat(19) + &bad + "\n";
        let run = read_text("t.ndjson", text, "").unwrap();
        assert_eq!(run.tables.windows.len(), 19);
    }
}

#[test]
fn cortex_of_2026_is_read_whole() {
    let Some(path) = data("cortex-linux-2026-02-28") else { return };
    let run = read(path).unwrap();
    assert_eq!((run.tables.windows.len(), run.warnings.len()), (9 * 132, 0), "{:?}", run.warnings);
    let condition = "cortex-linux-2026-02-28";
    assert!((median_us(&run, "car", condition) - 18.17).abs() < 0.01);
    assert_eq!(run.manifest.condition(condition).unwrap().governor.as_deref(), Some("performance"));
    let delivered: Vec<u64> = run.tables.windows.delivered_khz.iter().flatten().collect();
    assert_eq!(delivered.len(), 8 * 132, "all but noop, which is too short");
    let near = |khz: &&u64| (2_940_000..=3_250_000).contains(*khz);
    assert!(delivered.iter().filter(near).count() as f64 > 0.99 * delivered.len() as f64);
}

#[test]
fn cyclictest_in_three_forms() {
    let run = read(golden("cyclictest.json")).unwrap();
    let windows = &run.tables.windows;
    assert_eq!(windows.len(), 200, "overflows included");
    assert_eq!((windows.lateness_ns[0], windows.cpu_before.get(0)), (27_000, Some(0)));
    assert_eq!(windows.lateness_ns.iter().max(), Some(&1_780_000));
    assert!(
        run.warnings.iter().any(|warning| warning.message.contains("above the histogram's end"))
    );

    let run = read(golden("cyclictest-v.txt")).unwrap();
    assert_eq!(run.tables.windows.condition.names(), ["thread 0".into(), "thread 1".into()]);
    assert_eq!(run.tables.windows.lateness_ns[..2], [92_000, 102_000]);

    let run = read(golden("cyclictest-h.txt")).unwrap();
    assert_eq!(run.tables.windows.len(), 40, "20 overflows of each of two threads");
    assert_eq!(run.tables.windows.lateness_ns.iter().max(), Some(&3_369_000));
}

#[test]
fn formats_are_known_by_content() {
    let of = |name: &str| detect(golden(name)).unwrap();
    assert_eq!(of("hyperfine.json"), Format::Hyperfine);
    assert_eq!(of("google-benchmark.json"), Format::GoogleBenchmark);
    assert_eq!(of("cyclictest.json"), Format::CyclictestJson);
    assert_eq!((of("criterion"), of("jmh.json")), (Format::Criterion, Format::Jmh));
    assert_eq!(
        (of("pyperf.json"), of("pytest-benchmark.json")),
        (Format::Pyperf, Format::PytestBenchmark)
    );
    let go = (of("go-benchmark.txt"), of("go-benchmark-events.json"));
    assert_eq!(go, (Format::GoBenchmark, Format::GoBenchmark));
    assert_eq!(
        (of("cyclictest-v.txt"), of("cyclictest-h.txt")),
        (Format::CyclictestText, Format::CyclictestText)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, &bytes).unwrap();
        let map: ColumnMap = "latency_us=a".parse().unwrap();
        let _ = read(&path);
        for (_, format) in Format::NAMES {
            let _ = import(&path, &Options { format: Some(format), map: map.clone(), ..Options::default() });
        }
    }

    #[test]
    fn any_numbers_never_panic(a in any::<i128>(), b in any::<f64>(), c in any::<u64>(), text in "[ -~]{0,20}") {
        let csv = format!("a,b,c,d\n{a},{b},{c},{text}\n{c},{c},{a},x\n");
        for map in ["release_s=a,end_ms=b,start_ns=c", "response_us=b,lateness_s=c", "latency_s=c,deadline_us=a,cpu=d"] {
            let _ = read_text("a.csv", &csv, map);
        }
        let _ = read_text("t.ndjson", GOOD.replace("21200", &c.to_string()).replace("1200,", &format!("{a},")), "");
        let _ = read_text("v.txt", format!("0: {c}: {a}\n1: 0: {c}\n"), "");
    }
}

/// What an import tells: whether it is taken, its rows, and its remarks.
fn told(path: &Path) -> Option<(Vec<u64>, Vec<String>)> {
    let map = "condition=condition,latency_us=latency_us";
    let map = if path.extension().is_some_and(|it| it == "csv") { map } else { "" };
    let options = Options { map: map.parse().unwrap(), ..Options::default() };
    let run = import(path, &options).ok()?;
    let windows = &run.tables.windows;
    let times = [&windows.exec_ns, &windows.response_ns.iter().map(|ns| *ns as u64).collect()];
    let rows = times.into_iter().flatten().copied().collect();
    Some((rows, run.warnings.iter().map(|it| format!("{}: {}", it.object, it.message)).collect()))
}

/// Cuts a file at every `step`-th byte. A cut is refused, or said, or costs no row; but texts of one line per
/// sample may end after any of their lines.
fn cut_everywhere(name: &str, bytes: &[u8], step: usize, ends_anywhere: bool) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let (rows, remarks) = told(&path).unwrap();
    let mut cuts = 0;
    for at in (0..bytes.len()).step_by(step) {
        std::fs::write(&path, &bytes[..at]).unwrap();
        cuts += 1;
        let Some((cut_rows, cut_remarks)) = told(&path) else { continue };
        let line_end = ends_anywhere && bytes[..at].ends_with(b"\n");
        let said = cut_remarks.iter().any(|remark| !remarks.contains(remark));
        assert!(
            cut_rows == rows || said || line_end,
            "{name} cut at {at} of {}: {} of {} values, {cut_remarks:?}",
            bytes.len(),
            cut_rows.len(),
            rows.len()
        );
    }
    cuts
}

fn cut_all(step: usize) -> usize {
    let mut cuts = 0;
    for (name, ends_anywhere) in [
        ("cyclictest-h.txt", false),
        ("cyclictest-v.txt", true),
        ("cyclictest.json", false),
        ("go-benchmark-events.json", false),
        ("go-benchmark.txt", false),
        ("google-benchmark.json", false),
        ("hyperfine.json", false),
        ("jmh.json", false),
        ("pyperf.json", false),
        ("pytest-benchmark.json", false),
    ] {
        let bytes = std::fs::read(golden(name)).unwrap();
        // Long files repeat themselves.
        cuts += cut_everywhere(name, &bytes, step.max(bytes.len() / 20_000), ends_anywhere);
    }
    let csv = b"condition,latency_us\na,10\na,11\nb,\"12\"\nb,130\n";
    cuts + cut_everywhere("d.csv", csv, 1, true)
}

#[test]
fn no_cut_is_silent() {
    assert!(cut_all(31) > 500);
}

#[test]
#[ignore = "takes minutes: every byte of every golden file"]
fn no_cut_is_silent_at_any_byte() {
    println!("{} cuts", cut_all(1));
}

/// What became of flipped files: refused, said, the same rows, other rows in silence.
type Became = [usize; 4];

/// Flips a random bit of a file so many times. These formats hold no checksums: a digit that became another
/// digit is a measurement like any other, and is read as one. It is counted here, and told in
/// docs/importing.md.
fn flip(name: &str, bytes: &[u8], flips: usize, random: &mut u64) -> Became {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let whole = told(&path).unwrap();
    let mut became = Became::default();
    for _ in 0..flips {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let bit = (*random >> 33) as usize % (bytes.len() * 8);
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, flipped).unwrap();
        became[match told(&path) {
            None => 0,
            Some((_, remarks)) if remarks != whole.1 => 1,
            Some((rows, _)) if rows == whole.0 => 2,
            Some(_) => 3,
        }] += 1;
    }
    became
}

/// Whatever is flipped, a file is read or refused: nothing panics, nothing hangs.
fn flip_all(flips: usize) {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    println!("seed {random:#x}; refused, said, the same, other values");
    for name in [
        "cyclictest-h.txt",
        "cyclictest-v.txt",
        "cyclictest.json",
        "go-benchmark-events.json",
        "go-benchmark.txt",
        "google-benchmark.json",
        "hyperfine.json",
        "jmh.json",
        "pyperf.json",
        "pytest-benchmark.json",
    ] {
        let bytes = std::fs::read(golden(name)).unwrap();
        println!("{name}: {:?}", flip(name, &bytes, flips, &mut random));
    }
}

#[test]
fn flips_are_read_or_refused() {
    flip_all(20);
}

#[test]
#[ignore = "half a minute: 1,000 flips of every golden file"]
fn flips_are_read_or_refused_often() {
    flip_all(1_000);
}
