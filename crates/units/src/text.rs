//! For serde: a field that stands in a file as the text that people write.
//!
//! `#[serde(with = "flyball_units::text")]` reads by [`FromStr`] and writes by [`Display`];
//! `text::option` does so for a field that may be absent.

use crate::Mismatch;
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

/// Writes what `Display` prints.
///
/// # Errors
/// The serialiser's own.
pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Reads what `FromStr` reads; the hint of a [`Mismatch`] stands behind its message, because a
/// deserialiser passes on nothing else.
///
/// # Errors
/// No text, or one that is no such quantity.
pub fn deserialize<'de, T: FromStr<Err = Mismatch>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(Text(PhantomData))
}

struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err = Mismatch>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What an empty text is told says what the quantity looks like.
        match "".parse::<T>() {
            Err(slip) => write!(f, "{}", slip.expected),
            Ok(_) => f.write_str("a text"),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(|slip: Mismatch| E::custom(slip.line()))
    }
}

/// As [`self`], for a field that may be absent; with `#[serde(default)]`.
pub mod option {
    use super::*;

    /// Writes what `Display` prints.
    ///
    /// # Errors
    /// The serialiser's own.
    pub fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    /// Reads what `FromStr` reads.
    ///
    /// # Errors
    /// No text, or one that is no such quantity.
    pub fn deserialize<'de, T: FromStr<Err = Mismatch>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }
}

/// `Serialize` and `Deserialize` as the text, for a type that always stands in files as one.
#[macro_export]
macro_rules! as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::text::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$type, D::Error> {
                $crate::text::deserialize(deserializer)
            }
        }
    };
}
