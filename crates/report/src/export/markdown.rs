//! The report for a pull request: verdicts first, one table, the rest folded away.

use std::fmt::Write as _;

use crate::model::{Comparison, Finding, Report, VerdictWord};
use crate::sheets::{self, Detail};
use crate::{text, view};

/// GitHub-flavoured Markdown; names from files cannot start markup or a mention.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut out = String::from("### Latency under frequency scaling\n\n");
    if !report.cells.is_empty() || sheets::runs(report).is_empty() {
        verdicts(&mut out, &report.comparisons);
        cells(&mut out, report);
    }
    events(&mut out, report);
    findings(&mut out, "Disturbed", &report.disturbances);
    findings(&mut out, "Not checked", &report.not_checked);
    provenance(&mut out, report);
    out
}

fn verdicts(out: &mut String, comparisons: &[Comparison]) {
    if comparisons.is_empty() {
        out.push_str("No comparison: one condition only.\n\n");
        return;
    }
    out.push_str("| | verdict | median | because |\n|---|---|---:|---|\n");
    for c in comparisons {
        let _ = writeln!(
            out,
            "| {} | {} **{}** | {} | {} |",
            escape(&c.title),
            symbol(c.verdict),
            text::verdict(c.verdict),
            text::change_interval(&c.ratio),
            escape(&c.sentence)
        );
        for s in &c.like_for_like {
            let inferred = if s.inferred { ", inferred" } else { "" };
            let _ = writeln!(
                out,
                "| &nbsp;&nbsp;like for like: {}{inferred} | | {} | |",
                escape(&s.stratum),
                text::factor_interval(&s.ratio)
            );
        }
    }
    out.push('\n');
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

fn cells(out: &mut String, report: &Report) {
    let _ = writeln!(
        out,
        "<details><summary>{}</summary>\n",
        text::count(report.cells.len() as u64, "cell")
    );
    out.push_str("| workload | condition | median us [95 %] | p99 [95 %] | lateness p99 us | delivered | where | modes |\n");
    out.push_str("|---|---|---:|---:|---:|---:|---|---:|\n");
    let labels = view::groups(report);
    for cell in &report.cells {
        let label = labels
            .iter()
            .find(|g| g.run == cell.run && g.condition == cell.condition)
            .map_or(cell.condition.as_str(), |g| g.label.as_str());
        let lateness =
            cell.lateness.as_ref().map_or_else(String::new, |l| text::micros(l.p99_us.value));
        let delivered = cell.delivered.as_ref().map_or_else(
            || "unknown".to_owned(),
            |d| text::delivered(d) + if text::is_percent(d) { "" } else { " GHz" },
        );
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {lateness} | {delivered} | {} | {} |",
            escape(&cell.workload),
            escape(label),
            text::micros_interval(&cell.execution.median_us),
            text::micros_interval(&cell.execution.p99_us),
            escape(&cell.placement.summary),
            cell.modes.modes.len()
        );
    }
    out.push_str("\n</details>\n\n");
}

/// What ran and what came of it, for runs with tables of events.
fn events(out: &mut String, report: &Report) {
    for run in sheets::runs(report) {
        let facts = run.facts.iter().map(|f| format!("{} {}", escape(&f.name), escape(&f.value)));
        let facts = facts.collect::<Vec<_>>().join("; ");
        let _ = writeln!(out, "**{}**: {facts}\n", escape(&run.run));
    }
    let blame = sheets::blame::sheets(report, Detail::Short);
    for sheet in blame.into_iter().chain(sheets::all(report, Detail::Short)) {
        let _ = writeln!(out, "**{}**\n", escape(&sheet.title));
        let heads = sheet.columns.iter().map(|(name, _)| escape(name));
        let _ = writeln!(out, "| {} |", heads.collect::<Vec<_>>().join(" | "));
        let rules = sheet.columns.iter().map(|(_, number)| if *number { "---:" } else { "---" });
        let _ = writeln!(out, "|{}|", rules.collect::<Vec<_>>().join("|"));
        for row in &sheet.rows {
            let cells = row.iter().map(|cell| escape(&cell.text));
            let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        out.push('\n');
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

/// Escapes what Markdown and its inline HTML would act upon, mentions and issue links included.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text::plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// An inline code span whose fence is longer than any run of backticks inside.
fn code(text: &str) -> String {
    let text = text::plain(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}
