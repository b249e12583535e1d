//! The comparisons: one row per scope (all, each stratum, each workload and each of its strata).

use crate::model::{
    Comparison, Estimate, Judged, Report, StratumRatio, VerdictWord, Welch, quantile_name,
};
use crate::table::{Cell, Column, Table, Tone};
use crate::text;

/// What a program wants.
pub(crate) const EXACT: [&str; 20] = [
    "title",
    "subject_run",
    "subject_condition",
    "baseline_run",
    "baseline_condition",
    "scope",
    "workload",
    "stratum",
    "inferred",
    "verdict",
    "ratio",
    "p99_ratio",
    "margin",
    "welch_t",
    "welch_df",
    "welch_p",
    "repeat_t",
    "repeat_df",
    "repeat_p",
    "reasons",
];

/// The ratios and the tests behind them.
pub(crate) const TESTS: [&str; 6] =
    ["what", "verdict_of", "ratio", "p99_ratio", "welch", "repeats"];

/// Where one row belongs.
#[derive(Clone, Copy)]
struct Scope<'a> {
    name: &'static str,
    workload: &'a str,
    stratum: Option<&'a StratumRatio>,
    verdict: Option<VerdictWord>,
}

/// Figures of one row.
#[derive(Clone, Copy)]
struct Ratios<'a> {
    ratio: &'a Estimate,
    p99: Option<&'a Estimate>,
    tests: [Option<&'a Welch>; 2],
}

impl<'a> Ratios<'a> {
    fn of(ratio: &'a Estimate) -> Self {
        Self { ratio, p99: None, tests: [None; 2] }
    }
}

/// Every comparison.
pub(crate) fn all(report: &Report) -> Table {
    Table::new("comparisons", "Comparisons", columns())
        .rows(report.comparisons.iter().flat_map(rows))
}

/// One comparison.
pub(crate) fn one(comparison: &Comparison) -> Table {
    Table::new("", comparison.title.as_str(), columns()).rows(rows(comparison))
}

/// The total effects of every comparison whose order was random.
pub(crate) fn effects(report: &Report) -> Table {
    let columns = vec![
        Column::words("comparison").once(),
        Column::words("workload").once(),
        Column::words("of"),
        Column::number("baseline"),
        Column::number("subject"),
        Column::number("change [95 % of all at once]"),
        Column::words("verdict"),
    ];
    let rows = report.comparisons.iter().flat_map(|c| {
        c.effects.iter().map(|effect| {
            let level = |value: f64| match effect.of {
                Judged::Missed => Cell::keyed(text::share(value), value),
                _ => Cell::keyed(format!("{} us", text::micros(value)), value),
            };
            let change = match (&effect.ratio, &effect.difference) {
                (Some(ratio), _) => Cell::factor(ratio),
                (None, Some(by)) if effect.of == Judged::Missed => {
                    let points = |share: f64| format!("{} points", text::number(100.0 * share, 2));
                    Cell::number(Some(by.value), points)
                }
                (None, Some(by)) => Cell::text(format!("{} us", text::micros_interval(by))),
                (None, None) => Cell::default(),
            };
            vec![
                Cell::text(c.title.as_str()),
                Cell::text(effect.workload.as_deref().unwrap_or("all")),
                Cell::text(effect.name()),
                level(effect.baseline),
                level(effect.subject),
                change,
                Cell::text(text::verdict(effect.verdict)),
            ]
        })
    });
    Table::new("effects", "Total effects", columns).rows(rows)
}

/// What the differences are made of.
pub(crate) fn causes(report: &Report) -> Table {
    let columns = vec![
        Column::words("comparison").once(),
        Column::words("difference").once(),
        Column::words("part"),
        Column::number("us").key("part_us").interval("95 %"),
        Column::words("who"),
    ];
    let mut table = Table::new("causes", "Where the differences come from", columns);
    for c in &report.comparisons {
        let Some(cause) = &c.cause else { continue };
        let what = format!("{} {}", cause.of.name(), quantile_name(cause.quantile));
        let missing = cause.missing.iter();
        table.notes.extend(missing.map(|what| format!("{}: not recorded: {what}", c.title)));
        table.rows.extend(cause.parts.iter().map(|part| {
            vec![
                Cell::text(c.title.as_str()),
                Cell::text(what.as_str()),
                Cell::text(part.part.name()),
                Cell::micros(&part.us),
                Cell::text(
                    (part.who.iter())
                        .map(|who| format!("{} {} us", who.name, text::micros(who.us)))
                        .collect::<Vec<_>>()
                        .join(", "),
                ),
            ]
        }));
    }
    table
}

/// Ratios inside strata beside the pooled one.
pub(crate) fn like_for_like(report: &Report) -> Table {
    let columns = vec![
        Column::words("comparison"),
        Column::words("group"),
        Column::number("pooled ratio [95 %]"),
        Column::number("like for like [95 %]"),
        Column::words("windows"),
    ];
    let rows = report.comparisons.iter().flat_map(|c| {
        c.like_for_like.iter().chain(&c.equal_frequency).map(|s| {
            vec![
                Cell::text(c.title.as_str()),
                Cell::text(stratum(s)),
                Cell::factor(&c.ratio),
                Cell::factor(&s.ratio),
                windows(s),
            ]
        })
    });
    Table::new("", "Like for like ratios", columns).rows(rows)
}

fn stratum(s: &StratumRatio) -> String {
    if s.inferred { format!("{} (inferred)", s.stratum) } else { s.stratum.clone() }
}

fn windows(s: &StratumRatio) -> Cell {
    Cell::keyed(format!("{} / {}", s.n_subject, s.n_baseline), s.n_subject as f64)
}

fn columns() -> Vec<Column> {
    use Column as C;
    vec![
        C::words("comparison").key("title").once(),
        C::words("subject run"),
        C::words("subject condition"),
        C::words("baseline run"),
        C::words("baseline condition"),
        C::words("scope"),
        C::words("workload"),
        C::words("stratum"),
        C::words("inferred"),
        C::words("verdict"),
        C::number("ratio of medians").key("ratio").interval(""),
        C::number("of p99").key("p99_ratio").interval("").expendable(1),
        C::number("margin"),
        C::number("welch t"),
        C::number("welch df"),
        C::number("welch p"),
        C::number("repeat t"),
        C::number("repeat df"),
        C::number("repeat p"),
        C::words("reasons"),
        C::words("workload").key("what"),
        C::words("verdict").key("verdict_of"),
        C::words("Welch, windows as if independent").key("welch").expendable(2),
        C::words("by repeats").key("repeats"),
    ]
}

fn rows(c: &Comparison) -> Vec<Vec<Cell>> {
    let in_stratum = |workload, s| {
        let scope = Scope { name: "like_for_like", workload, stratum: Some(s), verdict: None };
        row(c, scope, Ratios::of(&s.ratio))
    };
    let all = Scope { name: "all", workload: "", stratum: None, verdict: Some(c.verdict) };
    let mut rows = vec![row(c, all, Ratios::of(&c.ratio))];
    rows.extend(c.like_for_like.iter().chain(&c.equal_frequency).map(|s| in_stratum("", s)));
    for w in &c.workloads {
        let workload = w.workload.as_str();
        let scope = Scope { name: "workload", workload, stratum: None, verdict: Some(w.verdict) };
        let tests = [w.welch.as_ref(), w.repeat_level.as_ref()];
        rows.push(row(c, scope, Ratios { ratio: &w.ratio, p99: Some(&w.p99_ratio), tests }));
        let strata = w.like_for_like.iter().chain(&w.equal_frequency);
        rows.extend(strata.map(|s| in_stratum(workload, s)));
    }
    rows
}

fn row(c: &Comparison, scope: Scope<'_>, of: Ratios<'_>) -> Vec<Cell> {
    let what = match (scope.stratum, scope.workload) {
        (Some(s), _) => format!("  {}", stratum(s)),
        (None, "") if c.workloads.len() == 1 => "all".to_owned(),
        (None, "") => "all (geo-mean)".to_owned(),
        (None, workload) => workload.to_owned(),
    };
    let doubtful = matches!(scope.verdict, Some(VerdictWord::Confounded | VerdictWord::Unproven));
    let verdict = scope.verdict.map_or("like for like", text::verdict);
    let exact = |value: Option<f64>| Cell::number(value, |value| value.to_string());
    let numbers = |test: Option<&Welch>| {
        [test.map(|t| t.t), test.map(|t| t.df), test.map(|t| t.p)].map(exact)
    };
    let mut row = [
        c.title.as_str(),
        &c.subject.run,
        &c.subject.condition,
        &c.baseline.run,
        &c.baseline.condition,
        scope.name,
        scope.workload,
        scope.stratum.map_or("", |s| s.stratum.as_str()),
        scope.stratum.map_or("", |s| if s.inferred { "true" } else { "false" }),
        scope.verdict.map_or("", text::verdict),
    ]
    .map(Cell::text)
    .to_vec();
    row.push(Cell::factor(of.ratio));
    row.push(match (of.p99, scope.stratum) {
        (Some(p99), _) => Cell::factor(p99),
        // A stratum has no figure here, but a size.
        (None, Some(s)) => Cell::text(format!("n {} / {}", s.n_subject, s.n_baseline)),
        (None, None) => Cell::default(),
    });
    row.push(exact(Some(c.margin)));
    row.extend(of.tests.into_iter().flat_map(numbers));
    let reasons: Vec<&str> = c.reasons.iter().map(|reason| reason.kind.as_str()).collect();
    row.push(Cell::text(reasons.join(";")));
    row.push(Cell::text(what));
    let tone = if doubtful { Tone::Bad } else { Tone::Plain };
    row.push(Cell::text(verdict).tone(tone));
    let of_workload = scope.name == "workload";
    row.extend(of.tests.map(|test| if of_workload { welch(test) } else { Cell::default() }));
    row
}

fn welch(test: Option<&Welch>) -> Cell {
    let Some(t) = test else { return Cell::text("-") };
    let p = text::p_value(t.p);
    let p = if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") };
    Cell::text(format!("t = {}, df = {}, {p}", text::number(t.t, 1), text::number(t.df, 1)))
}
