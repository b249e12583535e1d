//! A comparison for people.

use super::cause::Cause;
use super::figures::Quantity;
use super::guest::Rehearsed;
use super::judge::{Agreement, Bar, Line};
use super::one_step::{Decisions, FREQUENCIES, OneStep, PLACEMENTS};
use flyball_sim::record::Spread;
use flyball_sim::scenario::Scenario;
use std::fmt::Write;
use std::path::Path;

/// The verdict, and the figures.
pub(super) fn text(
    scenario: &Scenario,
    rehearsed: &Rehearsed,
    (phases, predicted): (usize, bool),
    lines: &[Line],
    ahead: &OneStep,
    dir: &Path,
) -> String {
    let differing = lines.iter().filter(|line| line.agreement == Agreement::Differs).count();
    let verdict = match differing {
        0 => format!("model and kernel agree in all {} figures", lines.len()),
        _ => format!(
            "model and kernel agree in {} of {} figures",
            lines.len() - differing,
            lines.len()
        ),
    };
    let largest = rehearsed.playings.iter().map(|playing| playing.lost_share).fold(0.0, f64::max);
    let mut text = format!(
        "{}: {verdict}\n{} phases of the model ({}), {} playings on the board (Linux {}), at most {:.1} % \
         of a CPU's time lost",
        scenario.name,
        phases,
        scenario.kernel.name,
        rehearsed.playings.len(),
        rehearsed.release.as_deref().unwrap_or("?"),
        100.0 * largest
    );
    if !rehearsed.slow.is_empty() {
        let _ = write!(text, "; {} more were too slow and do not count", rehearsed.slow.len());
    }
    let board = rehearsed.release.as_deref().and_then(|release| release.parse().ok());
    if let (Some(model), Some(board)) = (scenario.kernel.version, board)
        && model != board
    {
        let _ = write!(
            text,
            "\nThe model's kernel is {model}, the board's {board}: what differs may be that"
        );
    }
    let model = if predicted { "predicted: mean (range)" } else { "model: mean (range)" };
    let head = ["", "kernel: mean (range)", model, "model alone", "distance", ""];
    let head = head.map(str::to_owned);
    let mut rows = vec![head];
    for line in lines {
        let mark = match (line.agreement, line.chance) {
            (Agreement::Agrees, false) => "",
            (Agreement::Agrees, true) => "agrees?",
            (Agreement::Differs, false) => "differs",
            (Agreement::Differs, true) => "differs?",
        };
        let unit = unit(line);
        let within = line.plus_minus.map(|half| format!(" ±{half:.1}")).unwrap_or_default();
        let distance =
            line.distance.map(|by| format!("{by:+.1}{within} {unit}")).unwrap_or_default();
        let (name, scale, digits) = name(&line.quantity);
        rows.push([
            name,
            of(line.board.as_ref(), line.board_never, scale, digits),
            of(line.model.as_ref(), line.model_never, scale, digits),
            of(line.alone.as_ref(), line.alone_never, scale, digits),
            distance,
            mark.to_owned(),
        ]);
    }
    text.push_str("\n\n");
    text.push_str(&columns(&rows));
    text.push_str(&of_chance(lines));
    text.push_str(&of_causes(lines));
    let _ = writeln!(text, "\nOne step ahead, from the kernel's own state at each decision:");
    if let Some(frequency) = ahead.frequency {
        let _ =
            writeln!(text, "  frequency   {}", of_decisions(&frequency, FREQUENCIES, "busy time"));
    }
    let _ = writeln!(
        text,
        "  placement   {}",
        of_decisions(&ahead.placement, PLACEMENTS, "running time")
    );
    // The commonest first; of others the file has all.
    let mut elsewhere: Vec<_> = ahead.elsewhere.iter().collect();
    elsewhere.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (of, count) in elsewhere.into_iter().take(3) {
        let _ = writeln!(
            text,
            "              {count} times {} woke up on CPU {} (from {}), where the model takes {}",
            of.task, of.kernel, of.previous, of.model
        );
    }
    let _ = writeln!(text, "\nRuns  {}", dir.display());
    text
}

/// How much of this is chance, where there are playings to tell.
fn of_chance(lines: &[Line]) -> String {
    let among: Vec<f64> = lines.iter().filter_map(|line| line.among_playings).collect();
    if among.is_empty() {
        return String::new();
    }
    let certain = |agreement| {
        let of = lines.iter().filter(|line| line.agreement == agreement && !line.chance);
        of.count()
    };
    format!(
        "\n?: the 95 % interval of the distance (±, over playings) reaches over the bar; {} figures agree and {} \
         differ for certain.\nHalves of the playings agree with each other in {:.1} of {} figures.\n",
        certain(Agreement::Agrees),
        certain(Agreement::Differs),
        among.iter().sum::<f64>(),
        among.len()
    )
}

fn unit(line: &Line) -> &'static str {
    if matches!(line.bar, Bar::Points(_)) { "pts" } else { "%" }
}

/// What distances come from, where that was tried.
fn of_causes(lines: &[Line]) -> String {
    let head = [
        "",
        "model's own",
        "placements",
        "frequencies",
        "both",
        "care",
        "placements, care",
        "it comes from",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    for line in lines {
        let Some(because) = &line.because else { continue };
        let distance = |by: Option<f64>| match by {
            Some(by) => format!("{by:+.1} {}", unit(line)),
            None => "never".to_owned(),
        };
        let cause = match because.cause {
            Cause::Placement => "where tasks run",
            Cause::Frequency => "which frequency holds",
            Cause::Care => "when idle CPUs are looked after",
            Cause::Either => "either of the first two",
            Cause::Both => "both together",
            Cause::Else => "neither of the first two",
        };
        rows.push([
            name(&line.quantity).0,
            distance(line.distance),
            distance(because.placements),
            distance(because.frequencies),
            distance(because.both),
            distance(because.care),
            distance(because.placements_care),
            cause.to_owned(),
        ]);
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!(
        "\nWhat differs, where phases have these of the kernel instead of the model's:\n{}",
        columns(&rows)
    )
}

fn of_decisions(of: &Decisions, bar: f64, weight: &str) -> String {
    let Some(share) = of.share() else { return "nothing to decide".to_owned() };
    let mark = if share < bar { "  differs" } else { "" };
    format!(
        "the same for {:.1} % of the {weight} (bar {:.0} %), {} of {} decisions{mark}",
        100.0 * share,
        100.0 * bar,
        of.same,
        of.count
    )
}

/// Rows below each other: the first column and the last to the left, all others to the right.
fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let wide = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let wide: [usize; N] = std::array::from_fn(wide);
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(wide).enumerate().map(|(at, (cell, wide))| match at {
            0 => format!("{cell:<wide$}"),
            _ if at == N - 1 => cell.clone(),
            _ => format!("{cell:>wide$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// What it is, what its values are divided by to be shown, and digits behind the point.
fn name(quantity: &Quantity) -> (String, f64, usize) {
    match quantity {
        Quantity::TimeToUtilization { task, level } => {
            (format!("{task}: ms to utilisation {level}"), 1e6, 1)
        }
        Quantity::Response { task, percentile } => {
            (format!("{task}: p{percentile} response, ms"), 1e6, 2)
        }
        Quantity::TimeToSpeed { task, percent } => {
            (format!("{task}: ms to {percent} % of the speed"), 1e6, 1)
        }
        Quantity::BusyFrequency { domain } => (format!("{domain}: MHz while busy"), 1e3, 0),
        Quantity::BusyPower { domain } => (format!("{domain}: mW of busy CPUs"), 1.0, 1),
        Quantity::BusyResidency { domain, khz } => {
            (format!("{domain}: % of a CPU busy at {} MHz", khz / 1000), 1.0, 1)
        }
        Quantity::Running { task, core_type } => {
            (format!("{task}: % of the time on {core_type}"), 1.0, 1)
        }
    }
}

fn of(spread: Option<&Spread>, never: usize, scale: f64, digits: usize) -> String {
    let Some(spread) = spread else { return "never".to_owned() };
    let at = |value: f64| format!("{:.digits$}", value / scale);
    let mut text = format!("{} ({} to {})", at(spread.mean), at(spread.min), at(spread.max));
    if never > 0 {
        let _ = write!(text, ", {never} never");
    }
    text
}
