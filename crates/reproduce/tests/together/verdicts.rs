//! What holds of the whole table.
#![allow(clippy::expect_used, missing_docs)]

use flyball_reproduce::{Catalogue, Kind, Options, Reproduction, Verdict, reproduce};
use std::sync::OnceLock;

fn all() -> &'static Reproduction {
    static ALL: OnceLock<Reproduction> = OnceLock::new();
    ALL.get_or_init(|| reproduce(&Options::default(), &|_, _| {}).expect("a sound catalogue"))
}

#[test]
fn what_is_not_decidable_is_known() {
    let catalogue = Catalogue::load().expect("the catalogue");
    let undecided = || all().rows.iter().filter(|row| row.verdict == Verdict::NotDecidable);
    assert!(undecided().count() <= 60, "{}", undecided().count());
    let new: Vec<String> = undecided()
        .filter(|row| catalogue.undecidable(&row.id).is_none())
        .map(|row| format!("{}: {}", row.id, row.why))
        .collect();
    assert!(new.is_empty(), "not decidable and not listed:\n{}", new.join("\n"));
    let listed = |pattern: &str, id: &str| match pattern.strip_suffix('*') {
        Some(prefix) => id.starts_with(prefix),
        None => id == pattern,
    };
    let stale: Vec<&String> = catalogue
        .undecidable
        .keys()
        .filter(|pattern| !undecided().any(|row| listed(pattern, &row.id)))
        .collect();
    assert!(stale.is_empty(), "listed and decided, or no such number: {stale:?}");
}

#[test]
fn what_is_not_reproduced_has_a_written_cause() {
    let told = [Verdict::Refuted, Verdict::NotReproduced, Verdict::NotDecidable];
    let differing = all().rows.iter().filter(|row| told.contains(&row.verdict));
    let silent: Vec<String> = differing
        .filter(|row| {
            row.why.is_empty() || row.why == "cause not known" || row.why == "no evaluator"
        })
        .map(|row| format!("{} {} {:?} {:?}", row.id, row.published, row.ours, row.ours_range))
        .collect();
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn the_margin_table_is_exact() {
    let rows: Vec<_> = all().rows.iter().filter(|row| row.id.starts_with("E.margin.")).collect();
    let cells = rows.iter().filter(|row| !row.id.contains("eighty")).count();
    assert_eq!(cells, 29 * 5);
    let inputs = rows.iter().filter(|row| row.verdict == Verdict::Input).count();
    assert_eq!(inputs, 29, "the capacities");
    let differs = [Verdict::Refuted, Verdict::NotReproduced];
    assert!(rows.iter().all(|row| !differs.contains(&row.verdict)));
}

#[test]
fn the_ramp_at_maximum_performance_is_exact() {
    let of_run = |end: &str| {
        let rows = all().rows.iter().filter(move |row| row.id.starts_with("E.max.util."));
        rows.filter(|row| row.id.ends_with(end) && row.verdict == Verdict::Reproduced).count()
    };
    assert_eq!((of_run(".level"), of_run(".time")), (28, 27));
    let fitted = all().rows.iter().find(|row| row.id == "E.max.util.245.time").expect("the row");
    assert!(fitted.fitted.is_some(), "a fitted start is told");
}

#[test]
fn powerd_takes_93_polls_and_115_from_its_ceiling() {
    let row = all().rows.iter().find(|row| row.id == "C.old-rule.decay").expect("the row");
    assert_eq!(row.ours, Some(23.25));
    let row = all().rows.iter().find(|row| row.id == "C.check.ceiling").expect("the row");
    assert_eq!(row.ours, Some(28.75));
}

#[test]
fn the_json_names_its_schema_and_counts_its_rows() {
    let json: serde_json::Value =
        serde_json::from_str(&all().json().expect("numbers")).expect("JSON");
    assert_eq!(json["schema"], "flyball-reproduction/1");
    let rows = json["rows"].as_array().expect("rows").len();
    let counted: u64 = json["summary"]
        .as_array()
        .expect("a summary")
        .iter()
        .flat_map(|sum| {
            ["reproduced", "refuted", "not_reproduced", "not_decidable", "inputs"]
                .map(|key| sum[key].as_u64())
        })
        .flatten()
        .sum();
    assert_eq!(rows as u64, counted);
}

#[test]
fn two_evaluations_agree() {
    let options = Options { sources: vec!["C".to_owned()], ..Options::default() };
    let once = || reproduce(&options, &|_, _| {}).expect("a sound catalogue");
    assert_eq!(once(), once());
}

#[test]
fn figures_are_drawn() {
    let figures = flyball_reproduce::figures::all().expect("models that run");
    assert_eq!(figures.len(), 7);
    for figure in &figures {
        let svg = figure.svg();
        assert!(svg.contains("<svg") && svg.contains("</svg>"), "{}", figure.name);
        for line in &figure.lines {
            let ascending = line.points.windows(2).all(|pair| pair[0].0 <= pair[1].0);
            assert!(ascending && line.points.len() > 1, "{}: {}", figure.name, line.name);
        }
    }
    let decay = &figures[4].lines[0].points;
    assert!(decay.iter().any(|point| point.1 == 75.0), "{decay:?}");
}

#[test]
fn a_source_is_refuted_only_by_what_is_its_own() {
    let simulated = ["ramp_", "job(", "page_", "windowed_method(", "model_"];
    for row in all().rows.iter().filter(|row| row.verdict == Verdict::Refuted) {
        let how = row.how.as_deref().unwrap_or_default();
        assert!(!simulated.iter().any(|name| how.contains(name)), "{row:?}");
        assert_eq!(row.kind, Kind::Result, "{row:?}");
    }
    let verdict = |id: &str| all().rows.iter().find(|row| row.id == id).map(|row| row.verdict);
    assert_eq!(verdict("C.new-rule.n"), Some(Verdict::Refuted));
    assert_eq!(verdict("C.table1.new.mean.tick-4"), Some(Verdict::NotReproduced));
    assert_eq!(verdict("E.default.running.little"), Some(Verdict::NotReproduced));
}

#[test]
fn the_trap_is_in_the_mixtures_and_not_like_for_like() {
    let figures = flyball_reproduce::figures::all().expect("models that run");
    let trap = figures.iter().find(|figure| figure.name == "cortex-trap-by-e-share");
    let lines = &trap.expect("the figure").lines;
    let near = |value: f64| move |point: &&(f64, f64)| (point.1 / value - 1.0).abs() < 0.05;
    assert_eq!(lines[0].points.len(), 101, "0 to 100 %");
    let shares: Vec<f64> = lines[0].points.iter().filter(near(1.42)).map(|point| point.0).collect();
    assert!(shares.contains(&73.0) && shares.contains(&94.0), "{shares:?}");
    // Where the median jumps, at one half, a few fast windows decide.
    let steady = lines[1].points.iter().filter(|point| !(50.0..=55.0).contains(&point.0));
    assert!(steady.clone().all(|point| near(1.0)(&point)), "like for like: {:?}", lines[1].points);
}
