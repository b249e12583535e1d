//! Values that are checked while they are read, so that an error carries its line and column.

use flyball_units::Nanos;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{
    Deserialize, Deserializer, Error, MapAccess, Visitor, value::MapAccessDeserializer,
};
#[cfg(feature = "schema")]
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Longest time that a description may name: an hour, above which it is a typing error.
const LONGEST_US: f64 = 3.6e9;

/// A value and where in the text it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) span: Range<usize>,
    pub(crate) value: T,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<At<T>, D::Error> {
        let spanned = toml::Spanned::<T>::deserialize(deserializer)?;
        Ok(At { span: spanned.span(), value: spanned.into_inner() })
    }
}

#[cfg(feature = "schema")]
impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The source of figures; `assumed: ...` for figures that were not measured.
#[derive(Clone, Debug)]
pub(crate) struct Source(pub(crate) String);

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Source, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim().is_empty() {
            return Err(D::Error::custom(
                "expected where the figures come from, or \"assumed: why\", found an empty text",
            ));
        }
        Ok(Source(text.split_whitespace().collect::<Vec<_>>().join(" ")))
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Source {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Source".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1 })
    }
}

/// A time in microseconds, fractions allowed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Micros(pub(crate) Nanos);

impl<'de> Deserialize<'de> for Micros {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Micros, D::Error> {
        let us = deserializer.deserialize_any(NumberVisitor("a time in microseconds"))?;
        micros(us).map(Micros).map_err(D::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Micros {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Micros".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

/// A finite number of at least 0: powers, voltages, percentages.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct Amount(pub(crate) f64);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
        let number = deserializer.deserialize_any(NumberVisitor("a number"))?;
        if number.is_finite() && (0.0..=1e9).contains(&number) {
            return Ok(Amount(number));
        }
        Err(D::Error::custom(format!("expected a number of 0 to 1e9, found {number}")))
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Amount {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1e9 })
    }
}

/// A declared latency: a time, or cpufreq's `"eternal"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared(pub(crate) Option<Nanos>);

impl<'de> Deserialize<'de> for Declared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Declared, D::Error> {
        struct DeclaredVisitor;
        impl<'de> Visitor<'de> for DeclaredVisitor {
            type Value = Declared;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time in microseconds or \"eternal\"")
            }
            fn visit_i64<E: Error>(self, us: i64) -> Result<Declared, E> {
                self.visit_f64(us as f64)
            }
            fn visit_f64<E: Error>(self, us: f64) -> Result<Declared, E> {
                micros(us).map(|time| Declared(Some(time))).map_err(E::custom)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Declared, E> {
                match text {
                    "eternal" => Ok(Declared(None)),
                    _ => Err(E::custom(format!(
                        "expected a time in microseconds or \"eternal\", found \"{text}\""
                    ))),
                }
            }
        }
        deserializer.deserialize_any(DeclaredVisitor)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Declared {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Declared".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number", "minimum": 0 }, { "const": "eternal" }] })
    }
}

/// A cost in microseconds: a number, or a table that depends on the two operating points.
#[derive(Clone, Debug)]
pub(crate) enum CostValue {
    Constant(Nanos),
    Direction { up: Nanos, down: Nanos },
    ByDistance { base: Nanos, per_point: Nanos },
    Matrix(Vec<Vec<Nanos>>),
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct CostTable {
    up: Option<Micros>,
    down: Option<Micros>,
    base: Option<Micros>,
    per_point: Option<Micros>,
    matrix: Option<Vec<Vec<Micros>>>,
}

impl CostTable {
    fn cost(self) -> Option<CostValue> {
        match self {
            CostTable {
                up: Some(up),
                down: Some(down),
                base: None,
                per_point: None,
                matrix: None,
            } => Some(CostValue::Direction { up: up.0, down: down.0 }),
            CostTable {
                up: None,
                down: None,
                base: Some(base),
                per_point: Some(per_point),
                matrix: None,
            } => Some(CostValue::ByDistance { base: base.0, per_point: per_point.0 }),
            CostTable { up: None, down: None, base: None, per_point: None, matrix: Some(rows) } => {
                let row = |row: Vec<Micros>| row.into_iter().map(|cell| cell.0).collect();
                Some(CostValue::Matrix(rows.into_iter().map(row).collect()))
            }
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for CostValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CostValue, D::Error> {
        struct CostVisitor;
        const SHAPES: &str = "a time in microseconds, { up, down }, { base, per_point } or \
                              { matrix = [[from][to]] }";
        impl<'de> Visitor<'de> for CostVisitor {
            type Value = CostValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(SHAPES)
            }
            fn visit_i64<E: Error>(self, us: i64) -> Result<CostValue, E> {
                self.visit_f64(us as f64)
            }
            fn visit_f64<E: Error>(self, us: f64) -> Result<CostValue, E> {
                micros(us).map(CostValue::Constant).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CostValue, A::Error> {
                CostTable::deserialize(MapAccessDeserializer::new(map))?
                    .cost()
                    .ok_or_else(|| A::Error::custom(format!("expected {SHAPES}")))
            }
        }
        deserializer.deserialize_any(CostVisitor)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for CostValue {
    fn schema_name() -> Cow<'static, str> {
        "Cost".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let time = json_schema!({ "type": "number", "minimum": 0 });
        let row = json_schema!({ "type": "array", "items": time });
        let table = |properties: serde_json::Value, required: serde_json::Value| {
            json_schema!({ "type": "object", "properties": properties, "required": required,
                           "additionalProperties": false })
        };
        let pair = table(
            serde_json::json!({ "up": time, "down": time }),
            serde_json::json!(["up", "down"]),
        );
        let distance = table(
            serde_json::json!({ "base": time, "per_point": time }),
            serde_json::json!(["base", "per_point"]),
        );
        let matrix = table(
            serde_json::json!({ "matrix": { "type": "array", "items": row } }),
            serde_json::json!(["matrix"]),
        );
        json_schema!({ "anyOf": [time, pair, distance, matrix] })
    }
}

struct NumberVisitor(&'static str);

impl Visitor<'_> for NumberVisitor {
    type Value = f64;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }
}

fn micros(us: f64) -> Result<Nanos, String> {
    if us.is_finite() && (0.0..=LONGEST_US).contains(&us) {
        return Ok(Nanos((us * 1000.0).round() as u64));
    }
    Err(format!("expected a time of 0 to {LONGEST_US:.0} us, found {us}"))
}
