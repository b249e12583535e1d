//! The report for a pull request: verdicts first, one table, the rest folded away.

use std::fmt::Write as _;

use crate::kinds::Kind;
use crate::model::{Finding, Report, VerdictWord};
use crate::sheets::{self, Detail};
use crate::table::{Cell, Column, Table, Tone, code, escape};
use crate::text;

/// GitHub-flavoured Markdown; names from files cannot start markup or a mention.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut out = format!("### {}\n\n", escape(&crate::html::headline(report)));
    for sentence in report.unfinished() {
        let _ = writeln!(out, "**Not whole:** {}\n", escape(&sentence));
    }
    let kinds = Kind::of(report);
    if kinds.contains(&Kind::Windows) {
        out += &verdicts(report);
        out += &cells(report);
    }
    for kind in kinds.iter().filter(|kind| **kind != Kind::Windows && **kind != Kind::Events) {
        kind.tables(report, Detail::Short).iter().for_each(|table| out += &table.markdown());
    }
    events(&mut out, report);
    findings(&mut out, "Disturbed", &report.disturbances);
    findings(&mut out, "Not checked", &report.not_checked);
    provenance(&mut out, report);
    out
}

fn verdicts(report: &Report) -> String {
    if report.comparisons.is_empty() {
        return "No comparison: one condition only.\n\n".to_owned();
    }
    let columns = vec![
        Column::words("comparison"),
        Column::words("verdict"),
        Column::number("median"),
        Column::words("because"),
    ];
    let mut table = Table::new("", "", columns);
    for c in &report.comparisons {
        table.rows.push(vec![
            Cell::text(c.title.as_str()),
            Cell::text(format!("{} {}", symbol(c.verdict), text::verdict(c.verdict)))
                .tone(Tone::Strong),
            Cell::keyed(text::change_interval(&c.ratio), c.ratio.value),
            Cell::text(c.sentence.as_str()),
        ]);
        for s in &c.like_for_like {
            let inferred = if s.inferred { ", inferred" } else { "" };
            table.rows.push(vec![
                Cell::text(format!("\u{a0}\u{a0}like for like: {}{inferred}", s.stratum)),
                Cell::default(),
                Cell::factor(&s.ratio),
                Cell::default(),
            ]);
        }
    }
    table.markdown()
}

fn symbol(word: VerdictWord) -> &'static str {
    match word {
        VerdictWord::Effect => "\u{25b2}",
        VerdictWord::Equivalent => "\u{2248}",
        VerdictWord::Undecided => "?",
        VerdictWord::Confounded => "\u{26a0}",
        VerdictWord::Unproven => "\u{2717}",
    }
}

fn cells(report: &Report) -> String {
    let mut keys = sheets::cells::MAIN.to_vec();
    keys.push("modes");
    let table = sheets::cells::shown(report).pick(&keys).without_empty_columns().markdown();
    let count = text::count(report.cells.len() as u64, "cell");
    format!("<details><summary>{count}</summary>\n\n{table}</details>\n\n")
}

/// What ran and what came of it, for runs with tables of events.
fn events(out: &mut String, report: &Report) {
    for run in sheets::runs(report) {
        let facts = run.facts.iter().map(|f| format!("{} {}", escape(&f.name), escape(&f.value)));
        let facts = facts.collect::<Vec<_>>().join("; ");
        let _ = writeln!(out, "**{}**: {facts}\n", escape(&run.run));
    }
    let blame = sheets::blame::sheets(report, Detail::Short);
    for table in blame.into_iter().chain(sheets::all(report, Detail::Short)) {
        out.push_str(&table.markdown());
    }
    let missing = sheets::missing(report);
    for (whose, what) in &missing {
        let _ = writeln!(out, "- {}: {}", escape(whose), escape(what));
    }
    if !missing.is_empty() {
        out.push('\n');
    }
}

fn findings(out: &mut String, title: &str, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    let _ = writeln!(out, "**{title}**\n");
    for f in findings {
        let _ = write!(out, "- {}: {}", escape(&f.object), escape(&f.text));
        if let Some(hint) = &f.hint {
            let _ = write!(out, " {}", code(hint));
        }
        out.push('\n');
    }
    out.push('\n');
}

fn provenance(out: &mut String, report: &Report) {
    let told = sheets::runs(report);
    for run in &report.runs {
        if told.iter().any(|events| events.run == run.name) {
            let _ =
                writeln!(out, "<sub>{}: state {}.</sub>\n", escape(&run.name), escape(&run.state));
            continue;
        }
        let _ = writeln!(
            out,
            "<sub>{}: {}; {} over {}; state {}. Intervals: 95 %, {} replicates, seed {}.</sub>\n",
            escape(&run.name),
            escape(&run.machine),
            text::count(run.windows, "window"),
            text::duration(run.duration_s),
            escape(&run.state),
            report.bootstrap.replicates,
            report.bootstrap.seed
        );
    }
}
