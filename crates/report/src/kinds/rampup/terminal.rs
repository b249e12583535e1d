//! The findings as text: one machine, or several side by side.

use super::analysis::Findings;
use super::tables::{self, number};
use crate::terminal::Style;
use crate::text;
use flyball_units::KiloHertz;
use std::fmt::Write;

/// The findings of one run, or of several beside each other, `width` columns wide.
#[must_use]
pub fn render(all: &[Findings], width: usize) -> String {
    let blocks = blocks(all, width, Style::PLAIN);
    blocks.iter().map(|lines| lines.join("\n")).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// The same as blocks of lines: what was measured on what, the tables, the remarks.
pub(crate) fn blocks(all: &[Findings], width: usize, style: Style) -> Vec<Vec<String>> {
    let mut blocks: Vec<Vec<String>> = vec![all.iter().flat_map(title).collect()];
    blocks.extend(tables::all(all).iter().map(|table| table.terminal(width, style)));
    let several = all.len() > 1;
    let remark = |(found, text): (&Findings, &String)| {
        let whose = if several { format!("{}: ", found.name) } else { String::new() };
        let note = text::plain(&format!("note: {whose}{text}"));
        text::wrap(&note, width)
    };
    let remarks = all.iter().flat_map(|found| found.remarks.iter().map(move |text| (found, text)));
    blocks.push(remarks.flat_map(remark).collect());
    blocks.retain(|lines| !lines.is_empty());
    blocks
}

/// What was measured on what.
pub(crate) fn title(found: &Findings) -> Vec<String> {
    let mut line = text::plain(&found.name);
    if let Some(machine) = &found.machine {
        let _ = write!(line, "  {}", text::plain(machine));
    }
    if let Some(name) = &found.virtualisation {
        let _ = write!(line, ", virtual ({})", text::plain(name));
    }
    let highest = match found.highest_khz {
        Some(khz) => format!("{}", KiloHertz(khz)),
        None => "not known as a frequency".to_owned(),
    };
    let _ =
        write!(line, "\nhighest settled rate: {highest}; spins of {} ms", number(found.spin_ms));
    if found.sample_us > 0.0 {
        let _ = write!(
            line,
            "; a sample of the probe takes {} us and resolves {:.1} %",
            number(found.sample_us),
            100.0 * found.resolution
        );
    }
    line.lines().map(str::to_owned).collect()
}
