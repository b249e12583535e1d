//! What the responses were made of.

use maud::html;

use super::events::list;
use super::page::Section;
use crate::model::Report;
use crate::sheets::{Detail, blame};

/// The section; none where no run has events beside its windows.
pub(super) fn section(report: &Report) -> Option<Section> {
    if report.blame.is_empty() {
        return None;
    }
    let body = html! {
        p.lead {
            "Each response, from the scheduled release to the end, cut into parts that sum to it \
             exactly. Work is the task's own running time as long as the highest frequency would have \
             needed; below max is what a lower frequency added, at most, for what memory takes does not \
             scale. A dash means that nothing recorded could show the part: its time is in another one."
        }
        @for table in blame::sheets(report, Detail::Full) { (table.panel()) }
        (list("Not recorded", &blame::remarks(report)))
    };
    Some(Section::new("blame", "Blame", "Blame", body))
}
