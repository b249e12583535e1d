//! Text to rules.

use super::{GateError, Key, Metric, Operator, Quantity, Rule, Statistic, Value};
use crate::model::VerdictWord;
use flyball_units::nearest;

const STATISTICS: [(&str, Statistic); 8] = [
    ("median", Statistic::Median),
    ("mean", Statistic::Mean),
    ("sd", Statistic::Sd),
    ("p95", Statistic::P95),
    ("p99", Statistic::P99),
    ("p999", Statistic::P999),
    ("max", Statistic::Max),
    ("p90", Statistic::P90),
];
const QUANTITIES: [(&str, Quantity); 4] = [
    ("execution.", Quantity::Execution),
    ("lateness.", Quantity::Lateness),
    ("cpu.", Quantity::CpuTime),
    ("response.", Quantity::Response),
];
const OTHERS: [(&str, Metric); 5] = [
    ("missed", Metric::Missed),
    ("disturbed", Metric::Disturbed),
    ("ratio", Metric::Ratio),
    ("ratio.p99", Metric::RatioP99),
    ("verdict", Metric::Verdict),
];
const KEYS: [(&str, Key); 4] = [
    ("workload", Key::Workload),
    ("condition", Key::Condition),
    ("run", Key::Run),
    ("figure", Key::Figure),
];
/// Longer ones first, so that `>=` is not read as `>`.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    (">", Operator::Above),
    ("<", Operator::Below),
];
const UNITS: [(&str, f64); 5] = [("ns", 1e-3), ("us", 1.0), ("µs", 1.0), ("ms", 1e3), ("s", 1e6)];
const WORDS: [(&str, VerdictWord); 5] = [
    ("effect", VerdictWord::Effect),
    ("equivalent", VerdictWord::Equivalent),
    ("undecided", VerdictWord::Undecided),
    ("confounded", VerdictWord::Confounded),
    ("unproven", VerdictWord::Unproven),
];

/// All rules of `text`.
pub(super) fn rules(text: &str) -> Result<Vec<Rule>, GateError> {
    let mut reader = Reader { text, at: 0 };
    let mut rules = Vec::new();
    loop {
        reader.skip_space();
        if reader.rest().is_empty() && !rules.is_empty() {
            return Ok(rules);
        }
        rules.push(rule(&mut reader)?);
        reader.skip_space();
        if !reader.rest().is_empty() && !reader.take(";") {
            return Err(reader.error("`;` and another rule, or the end", &[]));
        }
    }
}

fn rule(reader: &mut Reader<'_>) -> Result<Rule, GateError> {
    let start = reader.at;
    let metric = metric(reader)?;
    let mut selector = selector(reader)?;
    let operator = operator(reader, metric)?;
    let value = value(reader, metric)?;
    let end = reader.at;
    selector.extend(self::selector(reader)?);
    let end = if selector.is_empty() { end } else { reader.at };
    Ok(Rule { text: reader.text[start..end].trim().to_owned(), metric, selector, operator, value })
}

fn metric(reader: &mut Reader<'_>) -> Result<Metric, GateError> {
    let from = reader.at;
    let word = reader.word(|c| c.is_alphanumeric() || c == '.' || c == '_');
    if let Some((_, metric)) = OTHERS.iter().find(|(name, _)| *name == word) {
        return Ok(*metric);
    }
    let split = QUANTITIES.iter().find_map(|(p, q)| word.strip_prefix(p).map(|rest| (*q, rest)));
    let (quantity, rest) = split.unwrap_or((Quantity::Execution, word));
    match STATISTICS.iter().find(|(name, _)| *name == rest) {
        Some((_, statistic)) => Ok(Metric::Latency(quantity, *statistic)),
        None => {
            reader.at = from;
            Err(reader.error("a metric", &metric_names()))
        }
    }
}

fn metric_names() -> Vec<String> {
    let plain = STATISTICS.iter().map(|s| s.0.to_owned());
    let dotted =
        QUANTITIES.iter().flat_map(|q| STATISTICS.iter().map(move |s| format!("{}{}", q.0, s.0)));
    plain.chain(dotted).chain(OTHERS.iter().map(|o| o.0.to_owned())).collect()
}

fn selector(reader: &mut Reader<'_>) -> Result<Vec<(Key, String)>, GateError> {
    let mut found = Vec::new();
    reader.skip_space();
    if !reader.take("[") {
        return Ok(found);
    }
    loop {
        reader.skip_space();
        let from = reader.at;
        let word = reader.word(char::is_alphanumeric);
        let Some((_, key)) = KEYS.iter().find(|(name, _)| *name == word) else {
            reader.at = from;
            return Err(reader.error("`workload`, `condition`, `run` or `figure`", &names(&KEYS)));
        };
        reader.skip_space();
        if !reader.take("=") {
            return Err(reader.error("`=`", &[]));
        }
        let name = reader.word(|c| c != ',' && c != ']').trim().to_owned();
        if name.is_empty() {
            return Err(reader.error("a name", &[]));
        }
        found.push((*key, name));
        if reader.take("]") {
            return Ok(found);
        }
        if !reader.take(",") {
            return Err(reader.error("`,` or `]`", &[]));
        }
    }
}

fn operator(reader: &mut Reader<'_>, metric: Metric) -> Result<Operator, GateError> {
    reader.skip_space();
    let from = reader.at;
    let found = OPERATORS.iter().find(|(sign, _)| reader.take(sign)).map(|o| o.1);
    match (found, metric) {
        (Some(Operator::Equal | Operator::Unequal), Metric::Verdict) => {}
        (_, Metric::Verdict) => {
            reader.at = from;
            return Err(reader.error("`==` or `!=`", &[]));
        }
        _ => {}
    }
    found.ok_or_else(|| reader.error("one of > >= < <= == !=", &[]))
}

fn value(reader: &mut Reader<'_>, metric: Metric) -> Result<Value, GateError> {
    reader.skip_space();
    let from = reader.at;
    if metric == Metric::Verdict {
        let word = reader.word(char::is_alphanumeric);
        return WORDS.iter().find(|(name, _)| *name == word).map(|w| Value::Word(w.1)).ok_or_else(
            || {
                reader.at = from;
                reader.error("a verdict", &names(&WORDS))
            },
        );
    }
    let signed = reader.rest().starts_with(['+', '-']);
    let digits = reader.word(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    let Some(number) = digits.parse::<f64>().ok().filter(|n| n.is_finite()) else {
        reader.at = from;
        return Err(reader.error("a number", &[]));
    };
    reader.skip_space();
    let unit = reader.word(|c| c.is_alphabetic() || c == '%');
    match (metric, unit) {
        (Metric::Latency(..), "%") if signed => Ok(Value::Change(number / 100.0)),
        (Metric::Latency(..), "%") => {
            reader.at = from;
            Err(reader.error_with("a signed change", &format!("+{digits}%")))
        }
        (Metric::Latency(..), unit) => match UNITS.iter().find(|(name, _)| *name == unit) {
            Some((_, factor)) => Ok(Value::Latency(number * factor)),
            None => {
                reader.at = from;
                Err(reader.error_with(
                    "a latency with a unit, or a change",
                    &format!("{size}us` or `+{size}%", size = digits.trim_start_matches('+')),
                ))
            }
        },
        (Metric::Missed | Metric::Disturbed, "%") => Ok(Value::Share(number / 100.0)),
        (_, "") => Ok(Value::Plain(number)),
        _ => {
            reader.at = from;
            Err(reader.error_with("a plain number", digits))
        }
    }
}

fn names<T>(table: &[(&str, T)]) -> Vec<String> {
    table.iter().map(|entry| entry.0.to_owned()).collect()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.word(char::is_whitespace);
    }

    fn take(&mut self, sign: &str) -> bool {
        let there = self.rest().starts_with(sign);
        if there {
            self.at += sign.len();
        }
        there
    }

    /// The longest run of characters that `belongs` accepts.
    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The word at the present place, for a message.
    fn found(&self) -> &'a str {
        let rest = self.rest();
        rest.split(|c: char| c.is_whitespace() || matches!(c, ';' | '[' | ']'))
            .next()
            .unwrap_or(rest)
    }

    fn error(&self, expected: &str, words: &[String]) -> GateError {
        let found = self.found();
        GateError {
            column: self.text[..self.at].chars().count() + 1,
            expected: expected.to_owned(),
            found: match (found, self.rest()) {
                ("", "") => "the end".to_owned(),
                ("", rest) => format!("`{}`", rest.chars().take(1).collect::<String>()),
                (word, _) => format!("`{word}`"),
            },
            nearest: nearest(found, words.iter().map(String::as_str)).map(str::to_owned),
        }
    }

    fn error_with(&self, expected: &str, nearest: &str) -> GateError {
        GateError { nearest: Some(nearest.to_owned()), ..self.error(expected, &[]) }
    }
}
