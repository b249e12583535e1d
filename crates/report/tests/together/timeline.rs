//! Ramps in a terminal, as SVG and as JSON: known answers, width, charsets, honesty about gaps.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::ramp;

use flyball_events::Recording;
use flyball_report::text::width;
use flyball_report::timeline::{Ask, Charset, Options, RunView, figure, json, render};
use flyball_run::{Loss, Run};

fn view(name: &str, run: &Run) -> RunView {
    let ask = Ask { marker: Some("starts".to_owned()), ..Ask::default() };
    RunView::of(name, &Recording::of(run), &ask).unwrap()
}

fn pair() -> Vec<RunView> {
    vec![view("default", &ramp::ramp(2)), view("series x2", &ramp::ramp(1))]
}

fn with(width: usize, charset: Charset) -> Options {
    Options { width: Some(width), charset, ..Options::default() }
}

#[test]
fn one_run_reads_as_kept() {
    insta::assert_snapshot!("timeline-one", render(&pair()[..1], &Options::default()));
}

#[test]
fn two_runs_stand_side_by_side_as_kept() {
    insta::assert_snapshot!("timeline-pair", render(&pair(), &with(110, Charset::Blocks)));
}

#[test]
fn two_runs_stand_beneath_one_another_where_it_is_narrow() {
    insta::assert_snapshot!("timeline-narrow", render(&pair(), &with(80, Charset::Ascii)));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in [60, 80, 100, 137, 200] {
        for charset in [Charset::Blocks, Charset::Braille, Charset::Ascii] {
            let text = render(&pair(), &with(columns, charset));
            let widest = text.lines().max_by_key(|line| width(line)).unwrap();
            assert!(width(widest) <= columns, "{columns}: {widest}");
            assert_eq!(text.is_ascii(), charset == Charset::Ascii, "{charset:?}");
        }
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    let plain = render(&pair(), &Options::default());
    let coloured = render(&pair(), &Options { color: true, ..Options::default() });
    assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
    let stripped: Vec<String> = coloured
        .replace("\u{1b}[0m", "")
        .replace("\u{1b}[1m", "")
        .replace("\u{1b}[2m", "")
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    let plain: Vec<&str> = plain.lines().map(str::trim_end).collect();
    assert_eq!(stripped, plain);
}

#[test]
fn gaps_and_missing_tables_are_said() {
    let mut run = ramp::ramp(1);
    let (from_ns, to_ns) = (ramp::ms(60), ramp::ms(70));
    run.tables.lost.push(Loss { from_ns, to_ns, events: Some(12), ..Loss::default() });
    run.tables.wakeups = Default::default();
    let text = render(&[view("torn", &run)], &Options::default());
    assert!(text.contains("70.0?"), "{text}");
    assert!(text.contains("1 gap, 12 events or more lost"), "{text}");
    assert!(text.contains("expected rows of the table `wakeups`"), "{text}");
    assert!(text.contains("never above 1000 in 90.0 ms"), "{text}");
}

#[test]
fn nothing_recorded_is_no_panic() {
    let empty = RunView::of("empty", &Recording::of(&Run::default()), &Ask::default()).unwrap();
    let text = render(std::slice::from_ref(&empty), &Options::default());
    assert!(text.contains("Not answered"), "{text}");
    assert!(render(&[], &Options::default()).contains("No runs"));
    assert!(figure(&[empty], f64::NAN).svg().contains("no curves were recorded"));
    let ask = Ask { task: Some("nobody".to_owned()), ..Ask::default() };
    assert!(RunView::of("x", &Recording::of(&ramp::ramp(1)), &ask).is_err());
}

#[test]
fn the_figure_and_json_hold_the_same_data() {
    let runs = pair();
    let svg = figure(&runs, 960.0).svg();
    for wanted in [
        "task runs",
        "frequency of little, GHz",
        "frequency of big, GHz",
        "series x2",
        "<desc>default: 180 ms",
    ] {
        assert!(svg.contains(wanted), "{wanted}");
    }
    let value: serde_json::Value = serde_json::from_str(&json(&runs).unwrap()).unwrap();
    let run = &value["runs"][1];
    assert_eq!(run["rise"]["times"][0]["outcome"]["reached"]["after_ns"], 45_000_000);
    assert_eq!(run["stages"]["stages"][0]["ran_ns"], 38_000_000);
    assert_eq!(run["utilization"]["points"][1], serde_json::json!({ "t_ms": 5.0, "value": 100.0 }));
    let shares = run["running"]["points"].as_array().unwrap();
    assert!(shares.iter().all(|point| (0.0..=1.0).contains(&point["value"].as_f64().unwrap())));
    assert_eq!(run["frequency"][1]["points"][1]["value"], 3.0);
    assert!(figure(&runs, 960.0).png(1.0).is_ok());
}
