//! What a sweep goes through: `governor.rate_limit_us=50..200..50`, `governor.name=schedutil,powerd`.

use std::collections::HashSet;

/// Points above which a typing error is more likely than a wish.
pub const MAX_POINTS: usize = 1_000_000;

/// One parameter and its values, as they would stand in the scenario.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Axis {
    /// Its path: `governor.rate_limit_us`.
    pub path: String,
    /// Its values.
    pub values: Vec<String>,
    /// As it was written.
    pub text: String,
}

/// An axis that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}: {expected}")]
pub struct AxisError {
    /// What was given.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

/// One point: a value for each parameter.
pub type Point = Vec<(String, String)>;

impl Axis {
    /// Reads `PATH=a..b`, `PATH=a..b..step` or `PATH=a,b,c`. The ends of a range may carry a unit
    /// (`1ms..5ms..1ms`), the same in all parts.
    ///
    /// # Errors
    /// Anything else; a range without a step to its end, or one of more than a million values.
    pub fn parse(text: &str) -> Result<Axis, AxisError> {
        let wrong = |expected: &str| AxisError {
            found: text.to_owned(),
            expected: format!("expected {expected}"),
        };
        let (path, values) = text
            .split_once('=')
            .map(|(path, values)| (path.trim(), values.trim()))
            .filter(|(path, values)| !path.is_empty() && !values.is_empty())
            .ok_or_else(|| wrong("PARAMETER=a..b, PARAMETER=a..b..step or PARAMETER=a,b,c"))?;
        let parts: Vec<&str> = values.split("..").collect();
        let values = match parts.as_slice() {
            [list] => list.split(',').map(|value| value.trim().to_owned()).collect(),
            [first, last] => range(first, last, None).map_err(|e| wrong(&e))?,
            [first, last, step] => range(first, last, Some(step)).map_err(|e| wrong(&e))?,
            _ => return Err(wrong("at most a..b..step")),
        };
        if values.iter().any(String::is_empty) {
            return Err(wrong("a value between the commas"));
        }
        let mut seen = HashSet::with_capacity(values.len());
        if !values.iter().all(|value| seen.insert(value)) {
            return Err(wrong("each value once"));
        }
        Ok(Axis { path: path.to_owned(), values, text: text.to_owned() })
    }
}

/// From `first` to `last`, both included where the step leads there.
fn range(first: &str, last: &str, step: Option<&str>) -> Result<Vec<String>, String> {
    let (from, unit) = number(first)?;
    let (to, to_unit) = number(last)?;
    let (by, by_unit) = match step {
        Some(step) => number(step)?,
        None => (Decimal { digits: 1, scale: 0 }, unit),
    };
    if unit != to_unit || unit != by_unit {
        return Err(format!("one unit throughout, found `{unit}`, `{to_unit}`, `{by_unit}`"));
    }
    let scale = from.scale.max(to.scale).max(by.scale);
    let digits = |decimal: Decimal| decimal.digits * 10_i128.pow(scale - decimal.scale);
    let (from, to, by) = (digits(from), digits(to), digits(by));
    if by <= 0 || to < from {
        return Err("an ascending range and a step above 0".to_owned());
    }
    let count = (to - from) / by + 1;
    if count > MAX_POINTS as i128 {
        return Err(format!("at most {MAX_POINTS} values, found {count}"));
    }
    Ok((0..count).map(|n| format!("{}{unit}", show(from + n * by, scale))).collect())
}

/// An exact decimal number: digits / 10^scale.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i128,
    scale: u32,
}

fn number(text: &str) -> Result<(Decimal, &str), String> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-'))).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let joined = format!("{whole}{fraction}");
    let parsed = joined.parse().ok().filter(|_| joined.len() <= 18 && !fraction.contains('-'));
    let digits = parsed.ok_or_else(|| format!("a number, found `{text}`"))?;
    Ok((Decimal { digits, scale: fraction.len() as u32 }, unit))
}

fn show(digits: i128, scale: u32) -> String {
    if scale == 0 {
        return digits.to_string();
    }
    let unit = 10_i128.pow(scale);
    let sign = if digits < 0 { "-" } else { "" };
    let (whole, fraction) = (digits.abs() / unit, digits.abs() % unit);
    format!("{sign}{whole}.{fraction:0width$}", width = scale as usize)
}

/// Every combination of values, the last axis fastest. No axis gives one point without parameters.
///
/// # Errors
/// More than a million points.
pub fn points(axes: &[Axis]) -> Result<Vec<Point>, AxisError> {
    let count =
        axes.iter().try_fold(1_usize, |product, axis| product.checked_mul(axis.values.len()));
    if count.is_none_or(|count| count > MAX_POINTS) {
        let paths: Vec<&str> = axes.iter().map(|axis| axis.path.as_str()).collect();
        return Err(AxisError {
            found: paths.join(" x "),
            expected: format!("expected at most {MAX_POINTS} points"),
        });
    }
    for (number, axis) in axes.iter().enumerate() {
        let earlier = &axes[..number];
        if earlier.iter().any(|other| other.path == axis.path) {
            return Err(AxisError {
                found: axis.path.clone(),
                expected: "expected each parameter once".to_owned(),
            });
        }
    }
    let mut points: Vec<Point> = vec![Vec::new()];
    for axis in axes {
        points = points
            .into_iter()
            .flat_map(|point| {
                axis.values.iter().map(move |value| {
                    let mut longer = point.clone();
                    longer.push((axis.path.clone(), value.clone()));
                    longer
                })
            })
            .collect();
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        Axis::parse(text).unwrap().values
    }

    #[test]
    fn ranges_lists_and_units() {
        assert_eq!(values("a=1..3"), ["1", "2", "3"]);
        assert_eq!(values("a=0..100..50"), ["0", "50", "100"]);
        assert_eq!(values("a=1ms..2ms..0.5ms"), ["1.0ms", "1.5ms", "2.0ms"]);
        assert_eq!(values("a=-1..1"), ["-1", "0", "1"]);
        assert_eq!(values("a.b=x, y"), ["x", "y"]);
        assert_eq!(values("a=70"), ["70"]);
    }

    #[test]
    fn what_is_no_axis() {
        for text in [
            "",
            "a",
            "a=",
            "=1",
            "a=3..1",
            "a=1..3..0",
            "a=1..x",
            "a=1..2..3..4",
            "a=1ms..2s",
            "a=1,,2",
            "a=0..9999999",
        ] {
            assert!(Axis::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn points_are_every_combination() {
        let axes = [Axis::parse("a=1..2").unwrap(), Axis::parse("b=x,y").unwrap()];
        let points = points(&axes).unwrap();
        assert_eq!(points.len(), 4);
        assert_eq!(points[1], [("a".into(), "1".into()), ("b".into(), "y".into())]);
        let huge = vec![Axis::parse("a=1..1000").unwrap(); 4];
        assert!(super::points(&huge).is_err());
    }
}
