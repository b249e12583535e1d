//! The report as test results: KTAP, which the kernel's own tests and their tools speak
//! (Documentation/dev-tools/ktap.rst).

use std::fmt::Write as _;

use crate::gate::{Outcome, Status};
use crate::model::{Comparison, Relation, Report, VerdictWord};
use crate::text;

/// One test per rule of `outcomes`; without rules one per comparison, which fails where the subject is
/// slower. What is not decided is skipped, with the reason.
#[must_use]
pub fn ktap(report: &Report, outcomes: &[Outcome]) -> String {
    let tests: Vec<Test> = match outcomes.is_empty() {
        false => outcomes.iter().map(of_rule).collect(),
        true => report.comparisons.iter().map(of_comparison).collect(),
    };
    let mut out = format!("KTAP version 1\n1..{}\n", tests.len());
    for (number, test) in (1..).zip(&tests) {
        let word = if test.passed { "ok" } else { "not ok" };
        let skip = test.skip.as_deref().map(|why| format!(" # SKIP {}", line(why)));
        for remark in &test.remarks {
            let _ = writeln!(out, "# {}", line(remark));
        }
        let _ = writeln!(out, "{word} {number} {}{}", name(&test.name), skip.unwrap_or_default());
    }
    out
}

struct Test {
    name: String,
    passed: bool,
    skip: Option<String>,
    remarks: Vec<String>,
}

fn of_rule(outcome: &Outcome) -> Test {
    let undecided = outcome.status == Status::CannotDecide;
    Test {
        name: format!("{}: {}", outcome.object, outcome.rule),
        passed: outcome.status != Status::Fail,
        skip: undecided.then(|| outcome.text.clone()),
        remarks: if undecided { Vec::new() } else { vec![outcome.text.clone()] },
    }
}

fn of_comparison(comparison: &Comparison) -> Test {
    let word = text::verdict(comparison.verdict);
    let slower = comparison.relation() == Relation::Slower;
    let decided = matches!(comparison.verdict, VerdictWord::Effect | VerdictWord::Equivalent);
    Test {
        name: comparison.title.clone(),
        passed: !slower,
        skip: (!decided).then(|| format!("{word}: {}", comparison.sentence)),
        remarks: if decided {
            vec![format!("{word}: {}", comparison.sentence)]
        } else {
            Vec::new()
        },
    }
}

/// A test's name: on one line, and without what would begin a directive.
fn name(text: &str) -> String {
    line(text).replace('#', "_")
}

fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: Status, object: &str) -> Outcome {
        let text = "1.2x [1.1, 1.3]".to_owned();
        Outcome { rule: "p99 > +5%".to_owned(), object: object.to_owned(), status, text }
    }

    #[test]
    fn rules_are_tests() {
        let outcomes = [
            outcome(Status::Pass, "a"),
            outcome(Status::Fail, "b # SKIP\nnot ok"),
            outcome(Status::CannotDecide, "c"),
        ];
        assert_eq!(
            ktap(&Report::default(), &outcomes),
            "KTAP version 1\n1..3\n# 1.2x [1.1, 1.3]\nok 1 a: p99 > +5%\n\
             # 1.2x [1.1, 1.3]\nnot ok 2 b _ SKIP not ok: p99 > +5%\n\
             ok 3 c: p99 > +5% # SKIP 1.2x [1.1, 1.3]\n"
        );
        assert_eq!(ktap(&Report::default(), &[]), "KTAP version 1\n1..0\n");
    }
}
