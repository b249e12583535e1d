//! What the verdicts rest on: strata, frequency, load, checks, method.

use std::fmt::Write as _;

use super::markup::{escape, number_cell, optional_cell};
use crate::model::{Comparison, Finding, Report, StratumRatio, VerdictWord, Welch};
use crate::text;

/// Ratios inside strata, explained.
pub(super) fn like_for_like(out: &mut String, report: &Report) {
    let strata =
        |c: &'_ Comparison| c.like_for_like.len() + usize::from(c.equal_frequency.is_some());
    if report.comparisons.iter().all(|c| strata(c) == 0) {
        return;
    }
    out.push_str(
        "<section id=\"like-for-like\" aria-labelledby=\"h-like\"><h2 id=\"h-like\">Like for like</h2>\
         <p class=\"lead\">A pooled ratio compares everything under one condition with everything under another. \
         If the two ran on different kinds of core, or at different speeds in different shares, that ratio says \
         more about where the windows ran than about the condition. So each ratio is formed again inside groups \
         that are alike. Where the group was guessed from the modes and not recorded, it says inferred. At equal \
         delivered frequency only windows of the same speed are compared, in steps of 2 %: what is left there has \
         another cause than frequency.</p>\
         <div class=\"panel\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Like for like ratios\"><table><thead><tr>\
         <th>Comparison</th><th>Group</th><th class=\"num\">Pooled ratio [95 %]</th><th class=\"num\">Like for like [95 %]</th>\
         <th class=\"num\">Windows</th></tr></thead><tbody>",
    );
    for c in &report.comparisons {
        for s in c.like_for_like.iter().chain(&c.equal_frequency) {
            let _ = write!(
                out,
                "<tr><td class=\"name\" title=\"{0}\">{0}</td><td>{1}{2}</td>{3}{4}{5}</tr>",
                escape(&c.title),
                escape(&s.stratum),
                inferred(s),
                number_cell(
                    c.ratio.value,
                    &format!(
                        "<span class=\"ci\">{}</span>",
                        escape(&text::factor_interval(&c.ratio))
                    )
                ),
                number_cell(s.ratio.value, &escape(&text::factor_interval(&s.ratio))),
                number_cell(s.n_subject as f64, &format!("{} / {}", s.n_subject, s.n_baseline)),
            );
        }
    }
    out.push_str("</tbody></table></div></div></section>\n");
}

fn inferred(s: &StratumRatio) -> &'static str {
    if s.inferred { " <span class=\"tag\">inferred</span>" } else { "" }
}

/// Frequency logs and proof of load.
pub(super) fn frequency_and_load(out: &mut String, report: &Report) {
    out.push_str(
        "<section id=\"evidence\" aria-labelledby=\"h-evidence\"><h2 id=\"h-evidence\">Evidence</h2>\
         <p class=\"lead\">What shows that each condition was in force: the frequency that was delivered, not only claimed, \
         and the load that really ran.</p><div class=\"panel\"><h3>Frequency</h3>",
    );
    if report.frequencies.is_empty() {
        out.push_str("<p class=\"muted\">No frequency was recorded.</p>");
    } else {
        frequencies(out, report);
    }
    out.push_str("</div><div class=\"panel\"><h3>Load</h3>");
    if report.loads.is_empty() {
        out.push_str("<p class=\"muted\">No load was recorded.</p>");
    } else {
        loads(out, report);
    }
    out.push_str("</div></section>\n");
}

fn frequencies(out: &mut String, report: &Report) {
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Frequency\"><table><thead><tr><th>Condition</th><th>Clock domain</th><th>Governor</th>\
         <th class=\"num\">Claimed, mean MHz</th><th class=\"num\">Delivered, mean MHz</th><th class=\"num\">Samples</th>\
         <th>Source</th><th>Most claimed</th></tr></thead><tbody>",
    );
    let mhz = |v: f64| text::number(v, 1);
    for f in &report.frequencies {
        let top = f.levels.iter().max_by(|a, b| a.share.total_cmp(&b.share));
        let top = top.map_or_else(String::new, |l| {
            format!("{} MHz in {}", text::number(l.mhz, 0), text::share(l.share))
        });
        let _ = write!(
            out,
            "<tr><td class=\"name\">{}</td><td>{}</td><td>{}</td>{}{}{}<td>{}</td><td>{}</td></tr>",
            escape(f.condition.as_deref().unwrap_or("not assigned")),
            escape(&f.domain),
            escape(f.governor.as_deref().unwrap_or("unknown")),
            optional_cell(f.claimed_mean_mhz, mhz),
            optional_cell(f.delivered_mean_mhz, mhz),
            number_cell(f.n as f64, &f.n.to_string()),
            escape(&f.source),
            escape(&top),
        );
    }
    out.push_str("</tbody></table></div>");
}

fn loads(out: &mut String, report: &Report) {
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Load\"><table><thead><tr><th>Condition</th><th>Profile</th><th class=\"num\">Asked</th>\
         <th class=\"num\">Achieved</th><th class=\"num\">Highest steal</th><th>Proven</th><th>Because</th></tr></thead><tbody>",
    );
    let percent = |v: f64| format!("{} %", text::number(v, 1));
    for l in &report.loads {
        let _ = write!(
            out,
            "<tr><td class=\"name\">{}</td><td class=\"name\" title=\"{profile}\">{profile}</td>{}{}{}<td>{}</td><td class=\"wrap\">{}</td></tr>",
            escape(&l.condition),
            optional_cell(l.wanted_percent, percent),
            optional_cell(l.achieved_percent, percent),
            optional_cell(l.steal_max_percent, percent),
            if l.proven {
                "<span class=\"yes\">yes</span>"
            } else {
                "<span class=\"no\">no</span>"
            },
            escape(&l.why),
            profile = escape(&l.profile),
        );
    }
    out.push_str("</tbody></table></div>");
}

/// What disturbed, and what was not checked.
pub(super) fn findings(out: &mut String, report: &Report) {
    out.push_str("<section id=\"checks\" aria-labelledby=\"h-checks\"><h2 id=\"h-checks\">Checks</h2><p class=\"lead\">Disturbed windows are kept and marked, never dropped.</p><div class=\"two\">");
    let none = match report.disturbances_recorded() {
        true => "Nothing was seen.",
        false => "Nothing that would show it was recorded.",
    };
    list(out, "What disturbed the measurement", none, &report.disturbances);
    list(out, "What could not be checked", "Everything was checked.", &report.not_checked);
    out.push_str("</div></section>\n");
}

fn list(out: &mut String, title: &str, none: &str, findings: &[Finding]) {
    let _ = write!(out, "<div class=\"panel\"><h3>{title}</h3>");
    if findings.is_empty() {
        let _ = write!(out, "<p class=\"muted\">{none}</p>");
    } else {
        out.push_str("<ul class=\"findings\">");
        for f in findings {
            let _ = write!(out, "<li><b>{}</b>: {}", escape(&f.object), escape(&f.text));
            if let Some(hint) = &f.hint {
                let _ = write!(
                    out,
                    "<div class=\"cmd\"><code tabindex=\"0\">{}</code><button class=\"copy\" type=\"button\" hidden>Copy</button></div>",
                    escape(hint)
                );
            }
            out.push_str("</li>");
        }
        out.push_str("</ul>");
    }
    out.push_str("</div>");
}

/// How it was measured, and the tests behind the intervals.
pub(super) fn method(out: &mut String, report: &Report) {
    let measured = !super::tells_only_events(report);
    let title = if measured { "How it was measured" } else { "Where it comes from" };
    let _ = write!(
        out,
        "<section id=\"method\" aria-labelledby=\"h-method\"><h2 id=\"h-method\">{title}</h2><div class=\"panel\"><dl>"
    );
    let b = &report.bootstrap;
    let mut term = |name: &str, value: String| {
        let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    };
    if measured {
        let how = format!("95 %; {}; {} replicates, seed {}", b.method, b.replicates, b.seed);
        term("Intervals", how);
    } else {
        term("Ranges", "1 to 99 % of the phases; what is recorded is one of them".to_owned());
    }
    if let Some(cell) = report.cells.first() {
        term("Percentiles", cell.execution.estimator.clone());
        term("Modes", cell.modes.test.clone());
    }
    for run in &report.runs {
        let seed = run.seed.map_or_else(String::new, |s| format!(", seed {s}"));
        let tool = run.tool.as_ref().map_or_else(String::new, |t| format!(", made by {t}"));
        term(
            "Run",
            format!("{} ({}, {}{seed}{tool}): {}", run.name, run.kind, run.state, run.path),
        );
        if let Some(command) = &run.command {
            term("Command", command.clone());
        }
        if let Some(core_types) = &run.core_types {
            term("Core types", core_types.clone());
        }
        for o in &run.overheads {
            term(
                "Overhead",
                format!(
                    "{}: median {} us, p99 {} us",
                    o.name,
                    text::micros(o.median_us),
                    text::micros(o.p99_us)
                ),
            );
        }
    }
    out.push_str("</dl>");
    tests(out, report);
    out.push_str("</div></section>\n");
}

fn tests(out: &mut String, report: &Report) {
    if report.comparisons.iter().all(|c| c.workloads.is_empty()) {
        return;
    }
    out.push_str(
        "<details><summary>Welch’s test, as commonly computed, beside the one over repeats</summary>\
         <p class=\"small muted\">The first takes every window as independent. Windows of one repeat are not, so its p-values are far too small; \
         the second compares repeats.</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Tests\"><table><thead><tr><th>Comparison</th><th>Workload</th><th>Verdict</th>\
         <th class=\"num\">Ratio [95 %]</th><th class=\"num\">Ratio of p99 [95 %]</th><th class=\"num\">Welch, windows</th><th class=\"num\">Welch, repeats</th></tr></thead><tbody>",
    );
    for c in &report.comparisons {
        for w in &c.workloads {
            let doubtful = matches!(w.verdict, VerdictWord::Confounded | VerdictWord::Unproven);
            let _ = write!(
                out,
                "<tr><td class=\"name\" title=\"{0}\">{0}</td><td class=\"name\">{1}</td><td class=\"{2}\">{3}</td>{4}{5}{6}{7}</tr>",
                escape(&c.title),
                escape(&w.workload),
                if doubtful { "no" } else { "" },
                text::verdict(w.verdict),
                number_cell(w.ratio.value, &escape(&text::factor_interval(&w.ratio))),
                number_cell(w.p99_ratio.value, &escape(&text::factor_interval(&w.p99_ratio))),
                welch(w.welch.as_ref()),
                welch(w.repeat_level.as_ref()),
            );
        }
    }
    out.push_str("</tbody></table></div></details>");
}

fn welch(test: Option<&Welch>) -> String {
    test.map_or_else(
        || "<td class=\"num muted\">–</td>".to_owned(),
        |t| {
            let p = text::p_value(t.p);
            let p = if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") };
            number_cell(
                t.p,
                &escape(&format!(
                    "t = {}, df = {}, {p}",
                    text::number(t.t, 1),
                    text::number(t.df, 1)
                )),
            )
        },
    )
}
