//! Counts what a reader took and what it left out, with the first few line numbers.

use crate::error::Error;

/// How many left-out lines are named one by one.
const NAMED: usize = 5;

/// Bad lines above this share of a file mean that it is not the file it is taken for.
pub const BAD_SHARE_MAX: f64 = 0.10;

/// Why the last line of a text is not taken: a number may have been cut.
pub const CUT: &str = "the last line has no line end: it may be cut";

/// A line that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Line number from 1.
    pub line: u64,
    /// What was wrong with it.
    pub why: String,
}

/// What became of the lines of one file, or of one block of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// All lines.
    pub lines: u64,
    /// Lines that became rows.
    pub rows: u64,
    /// Lines that ended early.
    pub torn: u64,
    /// Whole lines with something wrong.
    pub skipped: u64,
    /// The first few of the torn and skipped ones.
    pub first: Vec<BadLine>,
}

impl Tally {
    /// Notes the current line (the one counted last) as left out.
    pub fn bad(&mut self, torn: bool, why: impl Into<String>) {
        if torn {
            self.torn += 1;
        } else {
            self.skipped += 1;
        }
        if self.first.len() < NAMED {
            self.first.push(BadLine { line: self.lines, why: why.into() });
        }
    }

    /// Adds the tally of the block that follows this one.
    pub fn absorb(&mut self, next: Tally) {
        let shifted =
            next.first.into_iter().map(|bad| BadLine { line: bad.line + self.lines, ..bad });
        self.first.extend(shifted);
        self.first.truncate(NAMED);
        self.lines += next.lines;
        self.rows += next.rows;
        self.torn += next.torn;
        self.skipped += next.skipped;
    }

    /// All lines that were left out.
    pub fn left_out(&self) -> u64 {
        self.torn + self.skipped
    }

    /// One sentence on what was left out; `None` where nothing was.
    pub fn remark(&self) -> Option<String> {
        if self.left_out() == 0 {
            return None;
        }
        let named: Vec<String> =
            self.first.iter().map(|bad| format!("line {}: {}", bad.line, bad.why)).collect();
        let more = if self.left_out() > self.first.len() as u64 { "; ..." } else { "" };
        Some(format!(
            "{} torn and {} wrong of {} lines left out ({}{more})",
            self.torn,
            self.skipped,
            self.lines,
            named.join("; ")
        ))
    }

    /// Refuses a file with no good line or with too many bad ones. `object` names the file,
    /// `what` a good line.
    pub fn check(&self, object: &str, what: &str) -> Result<(), Error> {
        let object_line = match self.first.first() {
            Some(bad) => format!("{object}:{}", bad.line),
            None => object.to_owned(),
        };
        let hint = "check that this is the right file and format";
        if self.rows == 0 {
            let found = match self.first.first() {
                Some(bad) => {
                    format!("none in {} lines (line {}: {})", self.lines, bad.line, bad.why)
                }
                None => format!("none in {} lines", self.lines),
            };
            return Err(Error::bad_input(object_line, format!("at least one {what}"), found, hint));
        }
        // One line may always be torn: the last one of a killed run.
        let bad = self.left_out().saturating_sub(1) as f64;
        if bad > BAD_SHARE_MAX * (self.rows + self.left_out()) as f64 {
            return Err(Error::bad_input(
                object_line,
                format!("at most {:.0} % bad lines", BAD_SHARE_MAX * 100.0),
                self.remark().unwrap_or_default(),
                hint,
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_shift_with_the_blocks() {
        let mut whole = Tally { lines: 10, rows: 10, ..Tally::default() };
        let mut next = Tally { lines: 3, rows: 2, ..Tally::default() };
        next.bad(false, "no number");
        whole.absorb(next);
        assert_eq!(whole.first, [BadLine { line: 13, why: "no number".into() }]);
        assert!(whole.remark().unwrap().contains("line 13: no number"));
        assert!(whole.check("f", "window").is_ok());
    }

    #[test]
    fn too_many_bad_lines_fail() {
        let mut tally = Tally { lines: 100, rows: 80, ..Tally::default() };
        (0..20).for_each(|_| tally.bad(false, "x"));
        assert!(tally.check("f", "window").unwrap_err().expected().contains("10 %"));
        assert!(Tally::default().check("f", "window").is_err());
    }
}
