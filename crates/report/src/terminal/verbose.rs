//! What `--verbose` adds: modes, sample sizes, both kinds of test, strata, frequency logs, loads.

use super::Style;
use crate::model::{Comparison, Report};
use crate::sheets::{cells, comparisons, evidence};
use crate::table::Table;
use crate::{text, view};

/// The additional blocks, each a title and its lines.
pub(super) fn blocks(report: &Report, width: usize, style: Style) -> Vec<Vec<String>> {
    let titled = |table: Table| table.terminal(width, style);
    let mut distributions = cells::shown(report).pick(&cells::DISTRIBUTIONS);
    let measured = text::capital(view::measured(&report.cells));
    distributions.title = format!("{measured} (ESS: effective sample size)");
    let mut blocks = vec![titled(distributions), titled(cells::modes(report))];
    blocks.extend(report.comparisons.iter().map(|c| comparison(c, width, style)));
    blocks.push(titled(evidence::geometric_means(report)));
    blocks.push(titled(evidence::frequencies(report)));
    blocks.push(titled(evidence::loads(report)));
    blocks.push(titled(evidence::overruns(report)));
    blocks.push(method(report, width, style));
    blocks
}

fn comparison(c: &Comparison, width: usize, style: Style) -> Vec<String> {
    let mut lines = vec![style.bold(&text::plain(&c.title))];
    for reason in &c.reasons {
        let inferred = if reason.inferred { " (inferred)" } else { "" };
        let body = format!("- {}{inferred}", text::plain(&reason.text));
        lines.extend(text::wrap(&body, width - 2).into_iter().map(|l| format!("  {l}")));
    }
    lines.extend(comparisons::one(c).pick(&comparisons::TESTS).lines(width, style));
    lines
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
