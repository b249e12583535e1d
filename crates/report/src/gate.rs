//! Conditions for continuous integration: `--fail-if 'p99 > +5%'`.
//!
//! ```text
//! rules    := rule (';' rule)*
//! rule     := metric selector? operator value selector?  |  'verdict' selector? ('=='|'!=') word
//! metric   := median | mean | p90 | p95 | p99 | p999 | max | sd      of the execution time
//!           | lateness.METRIC | response.METRIC
//!           | cpu.median                                       CPU time of a program, as a change
//!           | missed | disturbed                              windows, or a share with %
//!           | ratio | ratio.p99                               subject / baseline
//! selector := '[' key '=' name (',' key '=' name)* ']'         key: workload, condition, run,
//!                                                              figure (of events, ramp-ups, switches)
//! operator := > | >= | < | <= | == | !=
//! value    := 2ms | 500us | 10ns | 1s                         absolute latency
//!           | +5% | -5%                                        relative to the baseline
//!           | 3 | 1%                                           count, ratio or share
//! ```
//! A rule **fails** where the estimate meets it; the text says whether the interval excludes the
//! limit. A rule that **cannot be decided** (nothing matches, the figure was not recorded, the
//! comparison is confounded or unproven) counts as a finding too: a gate that silently passes
//! because it saw nothing is worse than none.

mod evaluate;
mod parse;

use crate::model::{Report, VerdictWord};

/// Parsed rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    rules: Vec<Rule>,
}

/// What became of a rule for one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The rule is not met.
    Pass,
    /// The estimate meets the rule.
    Fail,
    /// The data do not tell.
    CannotDecide,
}

/// One rule applied to one cell or comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The rule as written.
    pub rule: String,
    /// The cell or comparison.
    pub object: String,
    /// What became of it.
    pub status: Status,
    /// In plain words, with the figures.
    pub text: String,
}

/// Why a rule cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule, column {column}: expected {expected}, found {found}")]
pub struct GateError {
    /// Column of the first character that does not fit, from 1.
    pub column: usize,
    /// What would fit.
    pub expected: String,
    /// What is there.
    pub found: String,
    /// The nearest word that would fit.
    pub nearest: Option<String>,
}

impl GateError {
    /// What to write instead.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.nearest {
            Some(word) => format!("did you mean `{word}`?"),
            None => "for example: p99 > +5%; lateness.p99[condition=heavy] > 200us".to_owned(),
        }
    }
}

impl Gate {
    /// Reads rules joined by `;`.
    ///
    /// # Errors
    /// [`GateError`] with the column and the nearest word.
    pub fn parse(text: &str) -> Result<Self, GateError> {
        parse::rules(text).map(|rules| Self { rules })
    }

    /// Applies every rule to every object that its selector names; at least one outcome per rule.
    #[must_use]
    pub fn evaluate(&self, report: &Report) -> Vec<Outcome> {
        self.rules.iter().flat_map(|rule| evaluate::rule(rule, report)).collect()
    }
}

/// What became of the rules, a line each; those that hold only where it is `verbose`. Objects of which
/// the same is to be said share a line.
#[must_use]
pub fn lines(outcomes: &[Outcome], verbose: bool) -> Vec<String> {
    let alike = |a: &Outcome, b: &Outcome| (a.status, &a.text) == (b.status, &b.text);
    let line = |group: &[Outcome]| {
        let first = group.first()?;
        let word = match first.status {
            Status::Pass if !verbose => return None,
            Status::Pass => "pass",
            Status::Fail => "FAIL",
            Status::CannotDecide => "CANNOT DECIDE",
        };
        let more = match group.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("{word}  {}{more}: {}", first.object, first.text))
    };
    outcomes.chunk_by(alike).filter_map(line).collect()
}

/// How many of each.
#[must_use]
pub fn summary(outcomes: &[Outcome]) -> String {
    let count = |status| outcomes.iter().filter(|outcome| outcome.status == status).count();
    format!(
        "{} failed, {} cannot be decided, {} passed",
        count(Status::Fail),
        count(Status::CannotDecide),
        count(Status::Pass)
    )
}

/// What all outcomes come to: one that fails outranks one that cannot be decided.
#[must_use]
pub fn overall(outcomes: &[Outcome]) -> Status {
    let any = |status| outcomes.iter().any(|outcome| outcome.status == status);
    match () {
        () if any(Status::Fail) => Status::Fail,
        () if any(Status::CannotDecide) => Status::CannotDecide,
        () => Status::Pass,
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    text: String,
    metric: Metric,
    selector: Vec<(Key, String)>,
    operator: Operator,
    value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    Latency(Quantity, Statistic),
    Missed,
    Disturbed,
    Ratio,
    RatioP99,
    Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Execution,
    Lateness,
    Response,
    CpuTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statistic {
    Median,
    Mean,
    Sd,
    P90,
    P95,
    P99,
    P999,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Workload,
    Condition,
    Run,
    /// A figure of a comparison of runs of events.
    Figure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
    Unequal,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    /// Microseconds.
    Latency(f64),
    /// Change against the baseline, as a fraction.
    Change(f64),
    /// A share from 0 to 1.
    Share(f64),
    /// A count or a ratio.
    Plain(f64),
    Word(VerdictWord),
}

impl Operator {
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Above => left > right,
            Self::AtLeast => left >= right,
            Self::Below => left < right,
            Self::AtMost => left <= right,
            Self::Equal => left == right,
            Self::Unequal => left != right,
        }
    }
}
