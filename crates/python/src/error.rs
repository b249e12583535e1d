//! Errors of the libraries as exceptions of `flyball`.

use flyball_units::{Diagnostic, ErrorKind};
use pyo3::prelude::*;
use std::fmt::Display;

/// The exception for an error that says its kind and its hint.
pub fn raise(error: impl Diagnostic) -> PyErr {
    exception(error.kind(), &error, error.hint())
}

/// The exception for a value that is wrong.
pub fn wrong(message: impl Display, hint: Option<String>) -> PyErr {
    exception(ErrorKind::BadInput, message, hint)
}

/// The exception for what is not there.
pub fn missing(message: impl Display, hint: Option<String>) -> PyErr {
    exception(ErrorKind::NotFound, message, hint)
}

fn exception(kind: ErrorKind, message: impl Display, hint: Option<String>) -> PyErr {
    Python::attach(|py| {
        let made = py.import("flyball._errors").and_then(|module| {
            module.call_method1("of", (format!("{kind:?}"), message.to_string(), hint))
        });
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

/// Text that serde cannot make; this is our own fault.
pub fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| exception(ErrorKind::Own, error, None))
}
