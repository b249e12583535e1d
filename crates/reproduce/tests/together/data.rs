//! Numbers from recordings: the tables that ship, and the recordings themselves where they are.
#![allow(clippy::expect_used, clippy::print_stderr, missing_docs)]

use flyball_reproduce::{Kind, Options, Reproduction, Row, Verdict, reproduce};
use std::path::PathBuf;

fn reproduced(source: &str, data: Option<PathBuf>) -> Reproduction {
    let options = Options { data, sources: vec![source.to_owned()], ids: vec![] };
    reproduce(&options, &|_, _| {}).expect("a sound catalogue")
}

fn row<'a>(all: &'a Reproduction, id: &str) -> &'a Row {
    all.rows.iter().find(|row| row.id == id).expect("the row")
}

#[test]
fn twelve_of_sixteen_linux_deviations_are_refuted() {
    let all = reproduced("A", None);
    let refuted: Vec<&Row> = all
        .rows
        .iter()
        .filter(|row| row.id.ends_with(".sd") && row.verdict == Verdict::Refuted)
        .collect();
    assert_eq!(refuted.len(), 12, "{refuted:?}");
    for row in &all.rows {
        let other = row.verdict == Verdict::Refuted && !row.id.ends_with(".sd");
        let known = ["A.hypothesis.h1", "A.kernel.car.schedutil.ratio"];
        assert!(!other || known.contains(&row.id.as_str()), "{row:?}");
    }
    let trap = row(&all, "A.geo-mean-ratio.schedutil.powersave");
    assert_eq!(trap.verdict, Verdict::Reproduced);
    assert!(trap.note.as_deref().is_some_and(|note| note.contains("confounded")));
    assert!((trap.ours.expect("a ratio") - 762.84 / 537.71).abs() < 1e-4);
}

#[test]
fn nine_of_twelve_macos_deviations_are_refuted() {
    let all = reproduced("B", None);
    let deviations = |row: &&Row| row.id.ends_with(".sd") && row.verdict == Verdict::Refuted;
    assert_eq!(all.rows.iter().filter(deviations).count(), 9);
    assert_eq!(row(&all, "B.idle.notch_iir.mean").verdict, Verdict::Refuted);
    assert_eq!(row(&all, "B.overhead").verdict, Verdict::Refuted);
}

#[test]
fn switching_latencies_follow_from_the_scores() {
    let all = reproduced("D", None);
    let near = |id: &str, want: f64| {
        let ours = row(&all, id).ours.expect("a latency");
        assert!((ours - want).abs() < 1.0, "{id}: {ours}");
    };
    near("D.latency.device-tree", 170.0);
    near("D.latency.ends", 214.0);
}

#[test]
fn the_tables_that_ship_give_what_the_recordings_give() {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        eprintln!("skipped: no recordings at {}", data.display());
        return;
    }
    for source in ["A", "B", "D"] {
        let (shipped, recorded) =
            (reproduced(source, None), reproduced(source, Some(data.clone())));
        for (shipped, recorded) in shipped.rows.iter().zip(&recorded.rows) {
            assert_eq!((&shipped.id, shipped.verdict), (&recorded.id, recorded.verdict));
            assert_eq!((&shipped.why, &shipped.note), (&recorded.why, &recorded.note));
            let pair = shipped.ours.zip(recorded.ours);
            // The mean of a table's scores is rounded once, that of the recordings at every sum.
            assert!(pair.is_none_or(|(a, b)| (a - b).abs() <= 1e-9 * b.abs()), "{pair:?}");
            assert_eq!(shipped.ours.is_some(), recorded.ours.is_some());
        }
        assert_eq!(shipped.rows.len(), recorded.rows.len());
    }
}

#[test]
fn a_folder_without_the_recordings_decides_nothing_of_theirs() {
    let all = reproduced("A", Some(env!("CARGO_MANIFEST_DIR").into()));
    for row in all.rows.iter().filter(|row| row.kind == Kind::Result) {
        assert_eq!(row.verdict, Verdict::NotDecidable, "{row:?}");
        assert!(row.why.contains("published: https://"), "{}", row.why);
    }
}
