//! The top of the page: what was measured, and the verdicts as cards.

use std::fmt::Write as _;

use super::charts;
use super::markup::{escape, verdict_class, verdict_sign};
use crate::model::{Comparison, Report, VerdictWord};
use crate::{text, view};

/// When a model's runs say that they were made.
const VIRTUAL: &str = "1970-01-01T00:00:00Z";

/// Headline and facts.
pub(super) fn header(out: &mut String, report: &Report, title: &str) {
    let mut machines: Vec<&str> =
        report.runs.iter().map(|r| r.machine.as_str()).filter(|m| !m.is_empty()).collect();
    machines.dedup();
    let machine = match machines.as_slice() {
        [] if super::tells_only_events(report) => super::events::platforms(report),
        [] => "machine not recorded".to_owned(),
        [one] => (*one).to_owned(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    let mut title = title.to_owned();
    // A headline starts with a capital letter, whatever the condition's name is.
    if let Some(first) = title.get(..1) {
        title.replace_range(..1, &first.to_uppercase());
    }
    let _ = write!(
        out,
        "<header class=\"top\"><p class=\"eyebrow\">{}</p><h1>{}</h1><p class=\"facts\">",
        escape(&machine),
        escape(&title)
    );
    let windows: u64 = report.runs.iter().map(|r| r.windows).sum();
    let seconds: f64 = report.runs.iter().map(|r| r.duration_s).sum();
    let mut fact = |name: &str, value: &str| {
        let _ = write!(out, "<span><b>{}</b> {name}</span>", escape(value));
    };
    if super::tells_only_events(report) {
        let trials: usize = report.events.iter().map(|run| run.trials.len()).sum();
        fact(if report.runs.len() == 1 { "run" } else { "runs" }, &report.runs.len().to_string());
        fact(if trials == 1 { "recording" } else { "recordings" }, &trials.to_string());
    } else {
        let cells = report.cells.len();
        fact(if windows == 1 { "window" } else { "windows" }, &windows.to_string());
        fact("measured", &text::duration(seconds));
        fact(if cells == 1 { "cell" } else { "cells" }, &cells.to_string());
    }
    if let Some(run) = report.runs.first() {
        // Virtual time begins in 1970 and says nothing of when.
        if !run.created.is_empty() && run.created != VIRTUAL {
            fact("", run.created.get(..16).unwrap_or(&run.created).replace('T', " ").as_str());
        }
        let more = if report.runs.len() > 1 {
            format!(" and {} more", report.runs.len() - 1)
        } else {
            String::new()
        };
        fact("", &(run.name.clone() + &more));
    }
    out.push_str("</p>");
    for run in report.runs.iter().filter(|r| r.state != "complete") {
        let _ = write!(
            out,
            "<p class=\"warning\">Run {} is {}: figures cover what was measured.</p>",
            escape(&run.name),
            escape(&run.state)
        );
    }
    for warning in &report.warnings {
        let _ = write!(out, "<p class=\"warning\">{}</p>", escape(warning));
    }
    out.push_str("</header>\n");
}

/// One card per comparison.
pub(super) fn verdicts(out: &mut String, report: &Report) {
    out.push_str("<section id=\"verdicts\" aria-labelledby=\"h-verdicts\"><h2 id=\"h-verdicts\">Verdicts</h2>\n");
    if report.comparisons.is_empty() {
        out.push_str("<p class=\"lead\">There is one condition, so there is nothing to compare.</p></section>\n");
        return;
    }
    out.push_str("<p class=\"lead\">Each is what the data support, in the words of the verdict: an effect, an equivalence, undecided, or confounded by something other than the condition.</p><div class=\"cards\">\n");
    for comparison in &report.comparisons {
        card(out, comparison, view::measured(&report.cells), report.comparisons.len() == 1);
    }
    out.push_str("</div></section>\n");
}

fn card(out: &mut String, c: &Comparison, measured: &str, only: bool) {
    let doubtful = matches!(c.verdict, VerdictWord::Confounded | VerdictWord::Unproven);
    let _ = write!(
        out,
        "<article class=\"card {}{}{}\"><div><p class=\"badge\"><span aria-hidden=\"true\">{}</span>{}</p><h3>{}</h3>",
        verdict_class(c.verdict),
        if doubtful { " doubtful" } else { "" },
        if only { " only" } else { "" },
        verdict_sign(c.verdict),
        text::verdict(c.verdict),
        escape(&c.title)
    );
    let bounds = text::change_bounds(&c.ratio).unwrap_or_else(|| "no interval".to_owned());
    let what = match doubtful {
        true => "pooled, not to be read alone".to_owned(),
        false => format!("in median {measured}"),
    };
    let _ = write!(
        out,
        "<p class=\"effect\"><b>{}</b><span>{} {what}</span></p><p class=\"sentence\">{}</p>",
        escape(&text::change(c.ratio.value)),
        escape(&bounds),
        escape(&c.sentence)
    );
    if !c.reasons.is_empty() {
        out.push_str("<ul class=\"reasons\">");
        for reason in &c.reasons {
            let inferred =
                if reason.inferred { " <span class=\"tag\">inferred</span>" } else { "" };
            let _ = write!(out, "<li>{}{inferred}</li>", escape(&reason.text));
        }
        out.push_str("</ul>");
    }
    out.push_str("</div>");
    charts::figure(
        out,
        "Ratios",
        "subject / baseline, log axis; band: margin of equivalence",
        &charts::forest(c),
    );
    out.push_str("</article>\n");
}
