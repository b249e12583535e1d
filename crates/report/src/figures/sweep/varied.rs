//! The parameters of a sweep that have several values.

use crate::model::{EventRun, Fact, PointResults, Report};

/// A parameter with its values in order: numbers ascending, words as they come.
pub(super) struct Varied {
    pub name: String,
    pub values: Vec<String>,
}

/// A point, with its run as a parameter where there are several.
pub(super) struct Placed<'a> {
    pub parameters: Vec<Fact>,
    pub point: &'a PointResults,
}

impl Placed<'_> {
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let fact = self.parameters.iter().find(|fact| fact.name == name)?;
        Some(&fact.value)
    }

    /// What distinguishes it: `hz 100, governor schedutil`.
    pub(super) fn label(&self, varied: &[Varied]) -> String {
        let one = |of: &Varied| Some(format!("{} {}", of.name, self.value(&of.name)?));
        varied.iter().filter_map(one).collect::<Vec<_>>().join(", ")
    }

    /// The median of a result.
    pub(super) fn median(&self, (subject, name): (&str, &str)) -> Option<f64> {
        let mut results = self.point.results.iter();
        let found = results.find(|result| result.subject == subject && result.name == name)?;
        Some(found.median).filter(|median| median.is_finite())
    }
}

/// All points of the report's sweeps.
pub(super) fn placed(report: &Report) -> Vec<Placed<'_>> {
    let runs = super::sweeps(report);
    let several = runs.len() > 1;
    let of_run =
        |run: &EventRun| several.then(|| Fact { name: "run".into(), value: run.run.clone() });
    runs.into_iter()
        .flat_map(|run| run.points.iter().map(move |point| (of_run(run), point)))
        .map(|(run, point)| {
            let parameters = point.parameters.iter().cloned().chain(run).collect();
            Placed { parameters, point }
        })
        .collect()
}

/// The parameters with several values, in their order.
pub(super) fn varied(points: &[Placed<'_>]) -> Vec<Varied> {
    let Some(first) = points.first() else { return Vec::new() };
    let of = |fact: &Fact| {
        let mut values: Vec<String> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for value in points.iter().filter_map(|point| point.value(&fact.name)) {
            if seen.insert(value) {
                values.push(value.to_owned());
            }
        }
        if values.iter().all(|value| quantity(value).is_some()) {
            let number = |value: &str| quantity(value).map_or(0.0, |(number, _)| number);
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        Varied { name: fact.name.clone(), values }
    };
    first.parameters.iter().map(of).filter(|varied| varied.values.len() > 1).collect()
}

/// A number and its unit: `2ms`.
fn quantity(text: &str) -> Option<(f64, &str)> {
    if let Ok(number) = text.parse::<f64>() {
        return Some((number, "")).filter(|(number, _)| number.is_finite());
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-')))?;
    let (digits, unit) = text.split_at(end);
    let is_unit = unit.chars().all(|c| c.is_alphabetic() || c == '%');
    Some((digits.parse().ok()?, unit)).filter(|_| is_unit)
}

/// A parameter of a point as number, with its unit.
pub(super) fn number<'a>(point: &'a PointResults, name: &str) -> Option<(f64, &'a str)> {
    quantity(&point.parameters.iter().find(|fact| fact.name == name)?.value)
}

/// The first parameter that has several values, all of them numbers of one unit; and the unit.
pub(super) fn numbers<'a>(
    points: impl Iterator<Item = &'a PointResults>,
) -> Option<(String, String)> {
    let points: Vec<&PointResults> = points.collect();
    let of = |name: &str| -> Option<Vec<(f64, &str)>> {
        points.iter().map(|point| number(point, name)).collect()
    };
    let several = |fact: &Fact| {
        let values = of(&fact.name)?;
        let (first, unit) = *values.first()?;
        let one_unit = values.iter().all(|(_, other)| *other == unit);
        let differ = values.iter().any(|(value, _)| *value != first);
        (one_unit && differ).then(|| (fact.name.clone(), unit.to_owned()))
    };
    points.first()?.parameters.iter().find_map(several)
}
