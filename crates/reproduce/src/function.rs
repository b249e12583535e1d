//! A function that a catalogue's `how` may call.

use crate::context::Context;
use crate::quantity::{Outcome, Quantity, Undecided};

/// Kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// A name.
    Text,
    /// A number.
    Number,
}

/// One function.
pub(crate) struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its parameters; the last one may repeat where `repeats` says so.
    pub parameters: &'static [Parameter],
    /// Whether the last parameter may be given several times.
    pub repeats: bool,
    /// What it gives, with the unit.
    pub doc: &'static str,
    /// The evaluator.
    pub run: fn(&Context<'_>, &Arguments) -> Outcome,
}

/// A function of fixed parameters.
pub(crate) const fn function(
    name: &'static str,
    parameters: &'static [Parameter],
    doc: &'static str,
    run: fn(&Context<'_>, &Arguments) -> Outcome,
) -> Function {
    Function { name, parameters, repeats: false, doc, run }
}

/// The arguments of a call, in order.
#[derive(Default)]
pub(crate) struct Arguments {
    pub texts: Vec<String>,
    pub numbers: Vec<Quantity>,
}

impl Arguments {
    /// The text argument at `position` among the texts.
    pub(crate) fn text(&self, position: usize) -> Result<&str, Undecided> {
        self.texts
            .get(position)
            .map(String::as_str)
            .ok_or_else(|| Undecided::Reason(format!("expected a text argument {position}")))
    }

    /// The value of the number at `position` among the numbers.
    pub(crate) fn number(&self, position: usize) -> Result<f64, Undecided> {
        self.numbers
            .get(position)
            .map(|quantity| quantity.value)
            .ok_or_else(|| Undecided::Reason(format!("expected a number argument {position}")))
    }

    /// A number that is a count or an integer setting.
    pub(crate) fn whole(&self, position: usize) -> Result<u64, Undecided> {
        let value = self.number(position)?;
        if value.fract() == 0.0 && (0.0..=1e15).contains(&value) {
            return Ok(value as u64);
        }
        Err(Undecided::Reason(format!("expected a whole number, found {value}")))
    }

    /// All numbers.
    pub(crate) fn numbers(&self) -> &[Quantity] {
        &self.numbers
    }
}
