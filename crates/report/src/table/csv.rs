//! A table as CSV (RFC 4180, comma, LF): one header line, units in the names, full precision, empty
//! where unknown. An interval is two more columns.

use std::fmt::Write as _;

use super::{Align, Column, Table};
use crate::text::harmless;

impl Table {
    /// The table for a program.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut out = String::new();
        let mut line = Line { out: &mut out, begun: false };
        for column in &self.columns {
            let name = column.name();
            line.word(&name);
            if column.interval.is_some() {
                line.word(&bound(&name, "low"));
                line.word(&bound(&name, "high"));
            }
        }
        line.end();
        for row in &self.rows {
            let mut line = Line { out: &mut out, begun: false };
            for (cell, column) in row.iter().zip(&self.columns) {
                match column.align {
                    // What a person reads of what is not known.
                    Align::Left if matches!(cell.text.as_str(), "?" | "-") => line.word(""),
                    Align::Left => line.word(&cell.text),
                    Align::Right => line.number(cell.number),
                }
                let bounds = cell.bounds.iter().filter(|_| column.interval.is_some());
                bounds.for_each(|bound| line.number(*bound));
            }
            line.end();
        }
        out
    }
}

/// `median_low_us` of `median_us`.
fn bound(name: &str, which: &str) -> String {
    match name.rsplit_once('_').filter(|(_, unit)| Column::UNITS.contains(unit)) {
        Some((name, unit)) => format!("{name}_{which}_{unit}"),
        None => format!("{name}_{which}"),
    }
}

impl Column {
    /// What a name may end in.
    const UNITS: [&str; 6] = ["ns", "us", "ms", "s", "mhz", "percent"];
}

/// A line under construction.
struct Line<'a> {
    out: &'a mut String,
    begun: bool,
}

impl Line<'_> {
    fn separate(&mut self) {
        if self.begun {
            self.out.push(',');
        }
        self.begun = true;
    }

    fn word(&mut self, field: &str) {
        self.separate();
        let field = harmless(field, false);
        // A spreadsheet takes these for formulas; a leading apostrophe is its own way to say "text".
        let formula = field.starts_with(['=', '+', '@', '\t', '\r'])
            || (field.starts_with('-') && field.len() > 1);
        let guard = if formula { "'" } else { "" };
        if formula || field.contains([',', '"', '\n', '\r']) {
            let _ = write!(self.out, "\"{guard}{}\"", field.replace('"', "\"\""));
        } else {
            self.out.push_str(&field);
        }
    }

    fn number(&mut self, number: Option<f64>) {
        self.separate();
        if let Some(number) = number.filter(|number| number.is_finite()) {
            let _ = write!(self.out, "{number}");
        }
    }

    fn end(self) {
        self.out.push('\n');
    }
}
