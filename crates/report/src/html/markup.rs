//! Small pieces of HTML; every one escapes what it is given.

use crate::model::{Estimate, VerdictWord};
use crate::text;

pub(crate) use crate::draw::svg::escape;

/// `10.9 <span class=ci>[10.8, 11.0]</span>`.
pub(super) fn with_interval(estimate: &Estimate) -> String {
    let bounds = text::interval(estimate).unwrap_or_else(|| "[no interval]".to_owned());
    format!("{} <span class=\"ci\">{}</span>", text::micros(estimate.value), escape(&bounds))
}

/// A right-aligned table cell that sorts by `value`.
pub(super) fn number_cell(value: f64, shown: &str) -> String {
    let key = if value.is_finite() { value } else { f64::MAX };
    format!("<td class=\"num\" data-value=\"{key}\">{shown}</td>")
}

/// A cell for a number that may be missing.
pub(super) fn optional_cell(value: Option<f64>, shown: impl FnOnce(f64) -> String) -> String {
    value.map_or_else(
        || "<td class=\"num muted\" data-value=\"-1\">–</td>".to_owned(),
        |v| number_cell(v, &escape(&shown(v))),
    )
}

/// The class that gives a verdict its colour.
pub(super) fn verdict_class(word: VerdictWord) -> String {
    format!("v-{}", text::verdict(word))
}

/// A sign beside the word, so that colour is never alone.
pub(super) fn verdict_sign(word: VerdictWord) -> &'static str {
    match word {
        VerdictWord::Effect => "▲",
        VerdictWord::Equivalent => "≈",
        VerdictWord::Undecided => "○",
        VerdictWord::Confounded => "≠",
        VerdictWord::Unproven => "✗",
    }
}
