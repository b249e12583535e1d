//! What `--verbose` adds: modes, sample sizes, both kinds of test, strata, frequency logs, loads.

use super::Style;
use crate::kinds::Kind;
use crate::model::Report;
use crate::sheets::Detail;
use crate::text;

/// The additional blocks, each a title and its lines.
pub(super) fn blocks(report: &Report, width: usize, style: Style) -> Vec<Vec<String>> {
    let tables = Kind::Windows.tables(report, Detail::Full);
    let mut blocks: Vec<Vec<String>> =
        tables.iter().map(|table| table.terminal(width, style)).collect();
    blocks.push(method(report, width, style));
    blocks
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
