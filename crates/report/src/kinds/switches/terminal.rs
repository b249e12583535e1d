//! Findings as text.

use super::analysis::Findings;
use super::tables;
use crate::terminal::Style;
use crate::text;

/// The findings, `width` columns wide; every line ends in a line end.
#[must_use]
pub fn render(findings: &Findings, width: usize) -> String {
    let blocks = blocks(findings, width, Style::PLAIN);
    blocks.iter().map(|lines| lines.join("\n")).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// The same as blocks of lines: what it was measured on, the tables, what was refused, notes.
pub(crate) fn blocks(findings: &Findings, width: usize, style: Style) -> Vec<Vec<String>> {
    let mut blocks = vec![title(findings).lines().map(str::to_owned).collect()];
    blocks.extend(tables::all(findings).iter().map(|table| table.terminal(width, style)));
    blocks.push(list("Refused", &findings.refused, width, style));
    blocks.push(list("Notes", &findings.notes, width, style));
    if findings.switches.is_empty() && findings.windowed.is_empty() {
        blocks.push(vec!["No switch was measured.".to_owned()]);
    }
    blocks.retain(|lines| !lines.is_empty());
    blocks
}

/// What it was measured on, and what the drivers declare.
pub(crate) fn title(findings: &Findings) -> String {
    let machine = findings.machine.as_deref().map_or(String::new(), |name| format!("  {name}"));
    let declared: Vec<String> = findings
        .declared
        .iter()
        .map(|of| format!("{} {:.0} us", of.domain, of.latency_us))
        .collect();
    let declared = match declared.is_empty() {
        true => String::new(),
        false => format!(
            "\ndeclared by the driver (cpuinfo_transition_latency): {}",
            declared.join(", ")
        ),
    };
    text::plain(&findings.name) + &text::plain(&machine) + &declared
}

fn list(heading: &str, items: &[String], width: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for item in items {
        let wrapped = text::wrap(&text::plain(item), width.saturating_sub(4).max(20));
        for (number, line) in wrapped.iter().enumerate() {
            lines.push(format!("{}{line}", if number == 0 { "  - " } else { "    " }));
        }
    }
    if !lines.is_empty() {
        lines.insert(0, style.bold(heading));
    }
    lines
}
