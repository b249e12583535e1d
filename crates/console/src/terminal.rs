//! What stdout is shown on.

use flyball_host::Host;
use flyball_report::timeline::Charset;
use std::io::IsTerminal;

/// Whether it is a terminal that wants colour.
#[must_use]
pub fn color(host: &dyn Host) -> bool {
    let refused = host.env("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = host.env("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !refused && !dumb
}

/// Columns to use: the terminal's, or `COLUMNS`; a file has room for whole tables.
#[must_use]
pub fn width(host: &dyn Host) -> usize {
    let columns = host.env("COLUMNS").and_then(|text| text.parse().ok());
    columns
        .or_else(|| terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0)))
        .unwrap_or(100)
        .clamp(60, 200)
}

/// What plots are drawn with: blocks where the locale says UTF-8.
#[must_use]
pub fn charset(host: &dyn Host) -> Charset {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| host.env(name).filter(|value| !value.is_empty()));
    match locale.is_some_and(|value| value.to_lowercase().replace('-', "").contains("utf8")) {
        true => Charset::Blocks,
        false => Charset::Ascii,
    }
}
