//! The table `sweep`: results of every point, over its phases.

use std::collections::BTreeMap;

use flyball_run::SweepValues;
use flyball_stats::{quantile, sort};

use crate::model::{Fact, PhaseResult, PointResults};

/// The parameter that tells phases of one point apart.
const PHASE: &str = "phase";

/// One combination of parameters: its position, and per result (by the number of its name, which
/// follows the order of first appearance) the values of the phases in which it came to be.
#[derive(Default)]
struct Point {
    at: usize,
    phases: u64,
    values: BTreeMap<u32, Vec<f64>>,
}

/// One entry per combination of parameters other than the phase, in the order of the table.
pub(super) fn results(table: &SweepValues) -> Vec<PointResults> {
    let parameters = parameters(table);
    let mut points = BTreeMap::<&[Fact], Point>::new();
    for (at, facts) in parameters.values().enumerate() {
        let point = points.entry(facts).or_insert_with(|| Point { at, ..Point::default() });
        point.phases += 1;
    }
    let result = table.kind.code_of("result");
    for (row, number) in table.point.iter().enumerate() {
        let is_result = table.kind.codes().get(row) == result;
        let facts = parameters.get(number).filter(|_| is_result);
        let point = facts.and_then(|facts| points.get_mut(facts.as_slice()));
        let (Some(point), Some(name)) = (point, table.name.codes().get(row)) else { continue };
        let values = point.values.entry(name).or_default();
        values.extend(table.value.get(row).filter(|value| value.is_finite()));
    }
    let mut points: Vec<(&[Fact], Point)> = points.into_iter().collect();
    points.sort_by_key(|(_, point)| point.at);
    let finish = |(parameters, point): (&[Fact], Point)| PointResults {
        parameters: parameters.to_vec(),
        phases: point.phases,
        results: point
            .values
            .into_iter()
            .filter_map(|(code, values)| over_phases(table.name.name(code)?, values))
            .collect(),
    };
    points.into_iter().map(finish).collect()
}

/// The parameters of every point of the table, the phase left out.
fn parameters(table: &SweepValues) -> BTreeMap<u64, Vec<Fact>> {
    let mut parameters = BTreeMap::<u64, Vec<Fact>>::new();
    let code = table.kind.code_of("parameter");
    for (row, number) in table.point.iter().enumerate() {
        let facts = parameters.entry(*number).or_default();
        if table.kind.codes().get(row) != code {
            continue;
        }
        let Some(name) = table.name.get(row).filter(|name| *name != PHASE) else { continue };
        let text = table.text.get(row).map(str::to_owned);
        let value = text.or_else(|| table.value.get(row).map(|value| value.to_string()));
        facts.push(Fact { name: name.to_owned(), value: value.unwrap_or_default() });
    }
    parameters
}

/// The spread of one result; `None` where it never came to be.
fn over_phases(path: &str, mut values: Vec<f64>) -> Option<PhaseResult> {
    sort(&mut values);
    let (min, max) = (*values.first()?, *values.last()?);
    let at = |p| quantile(&values, p);
    let (subject, name) = path.rsplit_once('.').unwrap_or(("", path));
    Some(PhaseResult {
        subject: subject.to_owned(),
        name: name.to_owned(),
        n: values.len() as u64,
        median: at(0.5),
        p1: at(0.01),
        p99: at(0.99),
        min,
        max,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::SweepValue;

    fn table(rows: &[(u64, &str, &str, Option<f64>)]) -> SweepValues {
        let mut table = SweepValues::default();
        for &(point, kind, name, value) in rows {
            let (kind, name) = (kind.to_owned(), name.to_owned());
            table.push(SweepValue { point, kind, name, value, text: None });
        }
        table
    }

    #[test]
    fn phases_of_a_point_are_put_together() {
        let mut rows = Vec::new();
        for point in 0..4_u64 {
            let limit = if point < 2 { 70.0 } else { 10_000.0 };
            rows.push((point, "parameter", "rate_limit_us", Some(limit)));
            rows.push((point, "parameter", "phase", Some((point % 2) as f64)));
            rows.push((point, "result", "audio.response_p99_ns", Some(limit + point as f64)));
            rows.push((point, "result", "audio.util_900_ns", None));
        }
        let found = results(&table(&rows));
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].phases, found[1].phases), (2, 2));
        assert_eq!(found[1].parameters[0].value, "10000");
        let result = &found[0].results;
        assert_eq!(result.len(), 1, "what never came to be has no spread");
        assert_eq!(
            (result[0].subject.as_str(), result[0].name.as_str()),
            ("audio", "response_p99_ns")
        );
        assert_eq!((result[0].n, result[0].median, result[0].max), (2, 70.5, 71.0));
        assert!(results(&SweepValues::default()).is_empty());
    }

    #[test]
    fn a_simulation_without_a_sweep_is_one_point() {
        let found = results(&table(&[
            (0, "parameter", "phase", Some(0.0)),
            (0, "result", "machine.energy_mj", Some(5.0)),
            (1, "parameter", "phase", Some(1.0)),
            (1, "result", "machine.energy_mj", Some(7.0)),
        ]));
        assert_eq!(found.len(), 1);
        assert!(found[0].parameters.is_empty());
        assert_eq!((found[0].results[0].min, found[0].results[0].median), (5.0, 6.0));
    }
}
