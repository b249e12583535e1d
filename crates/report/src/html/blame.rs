//! What the responses were made of.

use std::fmt::Write as _;

use super::events;
use super::markup::escape;
use crate::model::Report;
use crate::sheets::{Detail, blame};

/// The section; none where no run has events beside its windows.
pub(super) fn section(out: &mut String, report: &Report) {
    if report.blame.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"blame\" aria-labelledby=\"h-blame\"><h2 id=\"h-blame\">Blame</h2>\
         <p class=\"lead\">Each response, from the scheduled release to the end, cut into parts that sum to it \
         exactly. Work is the task's own running time as long as the highest frequency would have needed; \
         below max is what a lower frequency added, at most, for what memory takes does not scale. A dash \
         means that nothing recorded could show the part: its time is in another one.</p>\n",
    );
    for sheet in blame::sheets(report, Detail::Full) {
        let (id, title) = (sheet.id, escape(&sheet.title));
        let _ = write!(out, "<div class=\"panel\" id=\"{id}\"><h3>{title}</h3>");
        events::table(out, &sheet);
        out.push_str("</div>\n");
    }
    let remarks = blame::remarks(report);
    if !remarks.is_empty() {
        out.push_str("<div class=\"panel\"><h3>Not recorded</h3><ul class=\"findings\">");
        for (run, what) in remarks {
            let _ = write!(out, "<li><b>{}</b>: {}</li>", escape(&run), escape(&what));
        }
        out.push_str("</ul></div>\n");
    }
    out.push_str("</section>\n");
}
