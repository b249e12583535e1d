//! The top of the page: what was measured, and the verdicts as cards.

use maud::{Markup, html};

use super::charts;
use super::page::{Section, Top};
use crate::kinds::Kind;
use crate::model::{Comparison, Report, VerdictWord, headline, quantile_name};
use crate::{text, view};

/// When a model's runs say that they were made.
const VIRTUAL: &str = "1970-01-01T00:00:00Z";

/// Headline, facts and warnings.
pub(super) fn top(report: &Report, title: String) -> Top {
    let mut machines: Vec<&str> =
        report.runs.iter().map(|r| r.machine.as_str()).filter(|m| !m.is_empty()).collect();
    machines.dedup();
    let machine = match machines.as_slice() {
        [] if Kind::of(report).contains(&Kind::Events) => super::events::platforms(report),
        [] => "machine not recorded".to_owned(),
        [one] => (*one).to_owned(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    let mut facts = Vec::new();
    let mut fact = |value: String, name| facts.push((value, name));
    let counted = |n: u64, one, several| (n.to_string(), if n == 1 { one } else { several });
    let mut count = |n: u64, one, several| {
        let (value, name) = counted(n, one, several);
        fact(value, name);
    };
    if !Kind::of(report).contains(&Kind::Windows) {
        let trials: usize = report.events.iter().map(|run| run.trials.len()).sum();
        count(report.runs.len() as u64, "run", "runs");
        if trials > 0 {
            count(trials as u64, "recording", "recordings");
        }
    } else {
        count(report.runs.iter().map(|r| r.windows).sum(), "window", "windows");
        fact(text::duration(report.runs.iter().map(|r| r.duration_s).sum()), "measured");
        let cells = report.cells.len() as u64;
        fact(cells.to_string(), if cells == 1 { "cell" } else { "cells" });
    }
    if let Some(run) = report.runs.first() {
        // Virtual time begins in 1970 and says nothing of when.
        if !run.created.is_empty() && run.created != VIRTUAL {
            fact(run.created.get(..16).unwrap_or(&run.created).replace('T', " "), "");
        }
        let more = match report.runs.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        fact(run.name.clone() + &more, "");
    }
    let unfinished =
        report.unfinished().into_iter().map(|sentence| format!("Not whole: {sentence}"));
    let warnings = unfinished.chain(report.warnings.iter().cloned()).collect();
    Top { machine, title, facts, warnings }
}

/// One card per comparison.
pub(super) fn verdicts(report: &Report) -> Section {
    let only = report.comparisons.len() == 1;
    let measured = view::measured(&report.cells);
    let body = html! {
        @if report.comparisons.is_empty() {
            p.lead { (text::capital(report.not_compared())) "." }
        } @else {
            p.lead {
                "Each is what the data support, in the words of the verdict: an effect, an equivalence, \
                 undecided, or confounded by something other than the condition."
            }
            div.cards { "\n" @for comparison in &report.comparisons { (card(comparison, measured, only)) } }
        }
    };
    Section::new("verdicts", "Verdicts", "Verdicts", body)
}

fn card(c: &Comparison, measured: &str, only: bool) -> Markup {
    let doubtful = matches!(c.verdict, VerdictWord::Confounded | VerdictWord::Unproven);
    let word = text::verdict(c.verdict);
    // What the verdict rests on: a total effect, or the ratio of medians.
    let first = headline(&c.effects).filter(|_| !doubtful);
    let (size, bounds) = match first.map(|effect| (effect.ratio, effect.difference)) {
        Some((None, Some(by))) => (
            format!("{} us", text::micros(by.value)),
            text::interval(&by).map(|bounds| format!("{bounds} us")),
        ),
        Some((Some(ratio), _)) => (text::change(ratio.value), text::change_bounds(&ratio)),
        _ => (text::change(c.ratio.value), text::change_bounds(&c.ratio)),
    };
    let bounds = bounds.unwrap_or_else(|| "no interval".to_owned());
    let what = match (doubtful, first) {
        (true, _) => "pooled, not to be read alone".to_owned(),
        (false, Some(effect)) => format!("in {}", effect.name()),
        (false, None) => format!("in median {measured}"),
    };
    html! {
        article.card.{ "v-" (word) }.doubtful[doubtful].only[only] {
            div {
                p.badge { span aria-hidden="true" { (sign(c.verdict)) } (word) }
                h3 { (c.title) }
                p.effect { b { (size) } span { (bounds) " " (what) } }
                p.sentence { (c.sentence) }
                @if !c.reasons.is_empty() {
                    ul.reasons { @for reason in &c.reasons {
                        li { (reason.text) @if reason.inferred { " " span.tag { "inferred" } } }
                    } }
                }
            }
            @if let Some(cause) = &c.cause {
                (charts::figure(
                    "Where it comes from",
                    &format!("us at the {} of {}", quantile_name(cause.quantile), cause.of.name()),
                    &charts::waterfall(cause, &c.title),
                ))
            }
            (charts::figure(
                "Ratios",
                "subject / baseline, log axis; band: margin of equivalence",
                &charts::forest(c),
            ))
        }
        "\n"
    }
}

/// A sign beside the word, so that colour is never alone.
fn sign(word: VerdictWord) -> &'static str {
    match word {
        VerdictWord::Effect => "▲",
        VerdictWord::Equivalent => "≈",
        VerdictWord::Undecided => "○",
        VerdictWord::Confounded => "≠",
        VerdictWord::Unproven => "✗",
    }
}
