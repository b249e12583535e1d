//! The page of the zoomable time line without a browser: what is on it, what is said to be missing.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::ramp;

use flyball_report::analysis::RunData;
use flyball_report::lanes::{LanesError, LanesOptions, LanesPage, render};
use flyball_run::manifest::{ClockRecord, CpuRecord, Machine};
use flyball_run::{Loss, Run, Window};
use flyball_units::Diagnostic;
use serde_json::Value;

fn page(runs: &[RunData]) -> (LanesPage, Value) {
    let page = render(runs, &LanesOptions::default()).unwrap();
    let from = page.html.find("id=\"description\">").unwrap() + 17;
    let to = from + page.html[from..].find("</script>").unwrap();
    let description = serde_json::from_str(&page.html[from..to]).unwrap();
    (page, description)
}

fn names(description: &Value) -> Vec<String> {
    let lanes = description["lanes"].as_array().unwrap();
    lanes.iter().map(|lane| lane["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_ramp_has_all_its_lanes() {
    let mut run = ramp::ramp(1);
    let (from_ns, to_ns) = (ramp::ms(60), ramp::ms(70));
    run.tables.lost.push(Loss { from_ns, to_ns, events: Some(12), ..Loss::default() });
    let (page, description) = page(&[RunData::new("ramp", "ramp", run)]);
    assert_eq!(
        names(&description),
        [
            "little",
            "big",
            "cpu0",
            "cpu1",
            "cpu0 idle",
            "cpu1 idle",
            "ramp util_avg",
            "marks",
            "lost"
        ]
    );
    assert_eq!(description["cores"], serde_json::json!(["little", "big"]));
    let group = &description["groups"][0];
    assert_eq!((&group["length"], &group["zero"]), (&100_000_000.into(), &0.into()));
    assert_eq!(group["tasks"][0]["name"], "ramp");
    assert_eq!(group["tasks"][0]["ran"], 87_000_000);
    assert_eq!(page.rows, 5 + 4 + 3 + 6 + 1 + 1);
    assert_eq!(description["lanes"][0]["shape"], "steps");
    assert!(page.html.contains("Content-Security-Policy"));
}

#[test]
fn time_zero_is_the_mark_that_was_named() {
    let options = LanesOptions { marker: Some("starts".to_owned()), ..LanesOptions::default() };
    let page = render(&[RunData::new("ramp", "ramp", ramp::ramp(1))], &options).unwrap();
    assert!(page.html.contains("\"zero\":10000000,"));
}

#[test]
fn windows_without_a_common_clock_are_left_out_and_named() {
    let with_windows = |clock: Option<&str>| {
        let mut run = ramp::ramp(1);
        run.tables.windows.push(Window {
            workload: "car".into(),
            condition: "idle".into(),
            dispatch_ns: ramp::ms(20),
            end_ns: ramp::ms(21),
            missed: true,
            ..Window::default()
        });
        for table in ["windows", "slices", "frequency"] {
            run.manifest.clocks.extend(clock.map(|clock| ClockRecord {
                table: table.to_owned(),
                clock: clock.to_owned(),
                ..ClockRecord::default()
            }));
        }
        RunData::new("run", "run", run)
    };
    let (lost, described) = page(&[with_windows(None)]);
    assert!(lost.notes[0].contains("windows on an unknown clock"), "{:?}", lost.notes);
    assert!(!names(&described).contains(&"windows".to_owned()));
    let (whole, described) = page(&[with_windows(Some("monotonic"))]);
    assert!(whole.notes.is_empty(), "{:?}", whole.notes);
    assert_eq!(names(&described)[0], "windows");
    assert_eq!(described["groups"][0]["texts"][0], "car, idle, missed its deadline");
}

#[test]
fn names_from_a_file_cannot_leave_their_element() {
    let mut run = ramp::ramp(1);
    run.tables.markers.push(flyball_run::Marker {
        t_ns: ramp::ms(30),
        name: "</script><script>alert(1)</script>".into(),
        ..flyball_run::Marker::default()
    });
    let (page, description) = page(&[RunData::new("</title><b>", "x", run)]);
    assert!(!page.html.contains("<script>alert") && !page.html.contains("<b>"));
    let texts = description["groups"][0]["texts"].to_string();
    assert!(texts.contains("alert(1)"), "{texts}");
}

#[test]
fn nothing_to_show_is_an_error_with_a_hint() {
    let empty = RunData::new("empty", "empty", Run::default());
    let error = render(&[empty], &LanesOptions::default()).unwrap_err();
    assert_eq!(error, LanesError::Nothing);
    assert!(error.to_string().contains("expected runs with windows or with events"));
    assert!(error.hint().unwrap().contains("record the scheduler's events"));
}

#[test]
fn a_trace_for_perfetto_reads_back_as_it_was() {
    use flyball_events::import::{Options, import};
    use flyball_report::lanes::for_file;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ramp.pftrace");
    let mut run = ramp::ramp(1);
    let cpu = |cpu, domain: &str| CpuRecord {
        cpu,
        domain: Some(domain.to_owned()),
        ..CpuRecord::default()
    };
    let cpus = vec![cpu(0, "little"), cpu(1, "big")];
    run.manifest.machine = Some(Machine { cpus, ..Machine::default() });
    let written = for_file(&[RunData::from(run.clone())], &LanesOptions::default(), &file).unwrap();
    assert_eq!(written.notes, Vec::<String>::new());
    fs_err::write(&file, &written.bytes).unwrap();
    let read = import(&file, &Options::default()).unwrap();
    let slices = |run: &Run| {
        let rows = &run.tables.slices;
        let mut all: Vec<_> = (0..rows.len())
            .map(|row| {
                let place = (rows.cpu.get(row), rows.from_ns.get(row), rows.to_ns.get(row));
                (place, rows.tid.get(row), rows.task.get(row).map(str::to_owned))
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(slices(&read), slices(&run));
    let why = |run: &Run| {
        (0..3).map(|row| run.tables.slices.why.get(row).map(str::to_owned)).collect::<Vec<_>>()
    };
    // The event of a switch says that a task stayed runnable, not that it went elsewhere.
    assert_eq!(why(&read), ["preempted", "slept", "preempted"].map(|why| Some(why.to_owned())));
    let woken = |run: &Run| {
        let rows = &run.tables.wakeups;
        (0..rows.len())
            .map(|row| (rows.woken_ns.get(row), rows.tid.get(row), rows.cpu.get(row)))
            .collect::<Vec<_>>()
    };
    assert_eq!(woken(&read), woken(&run));
    let idle = |run: &Run| {
        let rows = &run.tables.idle;
        let mut all: Vec<_> = (0..rows.len())
            .map(|row| (rows.cpu.get(row), rows.state.get(row), rows.from_ns.get(row)))
            .collect();
        all.sort_unstable();
        all
    };
    assert_eq!(idle(&read), idle(&run));
    let khz = |run: &Run, cpu| {
        let recording = flyball_events::Recording::of(run);
        recording.frequency_of_cpu(cpu).map(|steps| steps.points().collect::<Vec<_>>())
    };
    for cpu in [0, 1] {
        assert!(khz(&run, cpu).is_some_and(|points| points.len() > 1));
        assert_eq!(khz(&read, cpu), khz(&run, cpu));
    }

    // Two recordings from the same moment on: the second comes behind the first.
    let both = [RunData::from(run.clone()), RunData::from(run)];
    let written = for_file(&both, &LanesOptions::default(), &file).unwrap();
    assert!(written.notes[0].contains("moved by 110000000 ns"), "{:?}", written.notes);
    assert!(for_file(&[RunData::from(Run::default())], &LanesOptions::default(), &file).is_err());
}
