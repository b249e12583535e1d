//! Imports of others' data: what is taken, what is left out, and what each bad file is told.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test writes, damages and mounts its own files, and fails by panicking"
)]

use std::path::{Path, PathBuf};

use flyball_run::import::{ColumnMap, Format, Options, detect, import};
use flyball_run::{Columns, Error, ErrorKind, Result, Run};
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
