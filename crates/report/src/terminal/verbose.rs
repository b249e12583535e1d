//! What `--verbose` adds: modes, sample sizes, both kinds of test, strata, frequency logs, loads.

use super::columns::{Align, Table};
use super::style::Style;
use crate::model::{Comparison, Report, Welch};
use crate::{text, view};

/// The additional blocks, each a title and its lines.
pub(super) fn blocks(report: &Report, width: usize, style: Style) -> Vec<Vec<String>> {
    let mut blocks = vec![distributions(report, width, style), modes(report, width, style)];
    blocks.extend(report.comparisons.iter().map(|c| comparison(c, width, style)));
    blocks.push(geometric_means(report, width, style));
    blocks.push(frequencies(report, width, style));
    blocks.push(loads(report, width, style));
    blocks.push(method(report, width, style));
    blocks
}

fn titled(title: &str, table: &Table, width: usize, style: Style) -> Vec<String> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![style.bold(title)];
    lines.extend(table.lines(width, style));
    lines
}

fn distributions(report: &Report, width: usize, style: Style) -> Vec<String> {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("workload", Left),
        ("condition", Left),
        ("n", Right),
        ("ESS", Right),
        ("lag 1", Right),
        ("mean us", Right),
        ("sd", Right),
        ("min", Right),
        ("p95", Right),
        ("p99.9", Right),
        ("max", Right),
        ("missed", Right),
        ("disturbed", Right),
        ("class", Left),
    ])
    .expendable(&["min", "lag 1", "sd", "mean us", "class", "missed", "p95"]);
    for c in &report.cells {
        let e = &c.execution;
        table.rows.push(vec![
            text::plain(&c.workload),
            text::plain(&c.condition),
            c.n.to_string(),
            text::number(c.effective_n, if c.effective_n < 10.0 { 1 } else { 0 }),
            c.lag1_autocorrelation.map_or_else(|| "-".to_owned(), |r| text::number(r, 2)),
            text::micros(e.mean_us),
            text::micros(e.sd_us),
            text::micros(e.min_us),
            text::micros(e.p95_us),
            e.p999_us.map_or_else(|| "-".to_owned(), text::micros),
            text::micros(e.max_us),
            c.missed.to_string(),
            text::share_of(c.disturbed.windows, c.n),
            text::plain(c.scheduling.as_deref().unwrap_or("?")),
        ]);
    }
    let title =
        format!("{} (ESS: effective sample size)", text::capital(view::measured(&report.cells)));
    titled(&title, &table, width, style)
}

fn modes(report: &Report, width: usize, style: Style) -> Vec<String> {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("workload", Left),
        ("condition", Left),
        ("mode", Right),
        ("median us", Right),
        ("from", Right),
        ("to", Right),
        ("share", Right),
        ("seems to be", Left),
    ])
    .expendable(&["from", "to"]);
    for c in report.cells.iter().filter(|c| c.modes.mixture) {
        for (i, mode) in c.modes.modes.iter().enumerate() {
            table.rows.push(vec![
                text::plain(&c.workload),
                text::plain(&c.condition),
                format!("{} of {}", i + 1, c.modes.modes.len()),
                text::micros(mode.median_us),
                text::micros(mode.low_us),
                text::micros(mode.high_us),
                text::share(mode.share),
                text::plain(mode.label.as_deref().unwrap_or("?")),
            ]);
        }
    }
    titled("Modes (a cell with more than one is a mixture)", &table, width, style)
}

fn comparison(c: &Comparison, width: usize, style: Style) -> Vec<String> {
    use Align::Left;
    let mut lines = vec![style.bold(&text::plain(&c.title))];
    for reason in &c.reasons {
        let inferred = if reason.inferred { " (inferred)" } else { "" };
        let body = format!("- {}{inferred}", text::plain(&reason.text));
        lines.extend(text::wrap(&body, width - 2).into_iter().map(|l| format!("  {l}")));
    }
    let mut table = Table::new(&[
        ("workload", Left),
        ("verdict", Left),
        ("ratio of medians", Left),
        ("of p99", Left),
        ("Welch, windows as if independent", Left),
        ("by repeats", Left),
    ])
    .expendable(&["Welch, windows as if independent", "of p99"]);
    let all = vec![
        "all (geo-mean)".to_owned(),
        text::verdict(c.verdict).to_owned(),
        text::factor_interval(&c.ratio),
    ];
    table.rows.push(all.into_iter().chain(std::iter::repeat_n(String::new(), 3)).collect());
    for s in c.like_for_like.iter().chain(&c.equal_frequency) {
        table.rows.push(stratum_row(s));
    }
    for w in &c.workloads {
        table.rows.push(vec![
            text::plain(&w.workload),
            text::verdict(w.verdict).to_owned(),
            text::factor_interval(&w.ratio),
            text::factor_interval(&w.p99_ratio),
            welch(w.welch.as_ref()),
            welch(w.repeat_level.as_ref()),
        ]);
        let strata = w.like_for_like.iter().chain(&w.equal_frequency);
        table.rows.extend(strata.map(stratum_row));
    }
    lines.extend(table.lines(width, style));
    lines
}

fn stratum_row(s: &crate::model::StratumRatio) -> Vec<String> {
    let inferred = if s.inferred { " (inferred)" } else { "" };
    vec![
        format!("  {}{inferred}", text::plain(&s.stratum)),
        "like for like".to_owned(),
        text::factor_interval(&s.ratio),
        format!("n {} / {}", s.n_subject, s.n_baseline),
        String::new(),
        String::new(),
    ]
}

fn welch(test: Option<&Welch>) -> String {
    test.map_or_else(
        || "-".to_owned(),
        |t| {
            let p = text::p_value(t.p);
            let p = if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") };
            format!("t = {}, df = {}, {p}", text::number(t.t, 1), text::number(t.df, 1))
        },
    )
}

fn geometric_means(report: &Report, width: usize, style: Style) -> Vec<String> {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("run", Left),
        ("condition", Left),
        ("geo-mean us", Right),
        ("95 %", Left),
        ("workloads", Right),
    ]);
    for g in &report.geometric_means {
        table.rows.push(vec![
            text::plain(&g.run),
            text::plain(&g.condition),
            text::micros(g.median_us.value),
            text::interval(&g.median_us).unwrap_or_else(|| "[none]".to_owned()),
            g.workloads.len().to_string(),
        ]);
    }
    titled("Geometric mean of medians", &table, width, style)
}

fn frequencies(report: &Report, width: usize, style: Style) -> Vec<String> {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("condition", Left),
        ("domain", Left),
        ("governor", Left),
        ("claimed MHz", Right),
        ("delivered MHz", Right),
        ("samples", Right),
        ("source", Left),
        ("most claimed", Left),
    ])
    .expendable(&["source", "samples", "governor"]);
    let mhz = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |m| text::number(m, 1));
    for f in &report.frequencies {
        let top = f.levels.iter().max_by(|a, b| a.share.total_cmp(&b.share));
        table.rows.push(vec![
            text::plain(f.condition.as_deref().unwrap_or("-")),
            text::plain(&f.domain),
            text::plain(f.governor.as_deref().unwrap_or("?")),
            mhz(f.claimed_mean_mhz),
            mhz(f.delivered_mean_mhz),
            f.n.to_string(),
            text::plain(&f.source),
            top.map_or_else(String::new, |l| {
                format!("{} MHz {}", text::number(l.mhz, 0), text::share(l.share))
            }),
        ]);
    }
    titled(
        "Frequency log (claimed is what the system says, delivered is what was measured)",
        &table,
        width,
        style,
    )
}

fn loads(report: &Report, width: usize, style: Style) -> Vec<String> {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("condition", Left),
        ("profile", Left),
        ("wanted", Right),
        ("achieved", Right),
        ("steal max", Right),
        ("proven", Left),
        ("why", Left),
    ]);
    let percent =
        |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |p| format!("{} %", text::number(p, 1)));
    for l in &report.loads {
        table.rows.push(vec![
            text::plain(&l.condition),
            text::plain(&l.profile),
            percent(l.wanted_percent),
            percent(l.achieved_percent),
            percent(l.steal_max_percent),
            if l.proven { "yes" } else { "no" }.to_owned(),
            text::plain(&l.why),
        ]);
    }
    titled("Load", &table, width, style)
}

fn method(report: &Report, width: usize, style: Style) -> Vec<String> {
    let mut lines = vec![style.bold("Method")];
    let b = &report.bootstrap;
    let mut say = |line: String| {
        lines.extend(text::wrap(&line, width - 2).into_iter().map(|l| format!("  {l}")))
    };
    say(format!(
        "intervals: 95 %, {}; {} replicates, seed {}",
        text::plain(&b.method),
        b.replicates,
        b.seed
    ));
    for run in &report.runs {
        let seed = run.seed.map_or_else(String::new, |s| format!(", seed {s}"));
        say(format!(
            "{}: {}; {}, {}{seed}, {}",
            text::plain(&run.name),
            text::plain(&run.machine),
            text::count(run.windows, "window"),
            text::duration(run.duration_s),
            text::plain(&run.state)
        ));
        if let Some(core_types) = &run.core_types {
            say(format!("core types: {}", text::plain(core_types)));
        }
        for o in &run.overheads {
            say(format!(
                "overhead of {}: median {} us, p99 {} us",
                text::plain(&o.name),
                text::micros(o.median_us),
                text::micros(o.p99_us)
            ));
        }
    }
    lines
}
