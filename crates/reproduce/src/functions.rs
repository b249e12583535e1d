//! The functions that a catalogue's `how` may call, by name, with their parameters checked.

use crate::context::Context;
use crate::expression::Expression;
use crate::quantity::{Outcome, Quantity, Undecided};

/// Kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// A name.
    Text,
    /// A number.
    Number,
}

/// What an evaluator rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The source's own recordings, its printed numbers, or its formulas and rules carried out.
    Source,
    /// A simulated machine: what it leaves out may be why ours differs.
    Model,
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
    texts: Vec<String>,
    numbers: Vec<Quantity>,
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

/// All functions, room by room, with what each room rests on.
fn rooms() -> impl Iterator<Item = (Basis, &'static [Function])> {
    let of_source = [
        crate::arithmetic::FUNCTIONS,
        crate::data::FUNCTIONS,
        crate::load_tracking::FUNCTIONS,
        crate::model::RULES,
    ];
    let of_model = crate::model::FUNCTIONS.iter().copied();
    let source = of_source.into_iter().map(|room| (Basis::Source, room));
    source.chain(
        std::iter::once(crate::ramp::FUNCTIONS).chain(of_model).map(|room| (Basis::Model, room)),
    )
}

/// All functions.
pub(crate) fn all() -> impl Iterator<Item = &'static Function> {
    rooms().flat_map(|(_, room)| room)
}

/// What a formula rests on: on a model where any of its functions does.
pub(crate) fn basis(expression: &Expression) -> Basis {
    let of_function = |name: &str| {
        let found = rooms().find(|(_, room)| room.iter().any(|function| function.name == name));
        found.map_or(Basis::Source, |(basis, _)| basis)
    };
    let any = |parts: &[&Expression]| match parts.iter().any(|part| basis(part) == Basis::Model) {
        true => Basis::Model,
        false => Basis::Source,
    };
    match expression {
        Expression::Number(_) | Expression::Text(_) => Basis::Source,
        Expression::Binary(_, sides) => any(&[&sides.0, &sides.1]),
        Expression::Call(name, arguments) => match of_function(name) {
            Basis::Model => Basis::Model,
            Basis::Source => any(&arguments.iter().collect::<Vec<_>>()),
        },
    }
}

/// Checks names, numbers and kinds of parameters without evaluating anything.
///
/// # Errors
/// Expected and found.
pub(crate) fn check(expression: &Expression) -> Result<(), String> {
    match expression {
        Expression::Number(_) => Ok(()),
        Expression::Text(text) => Err(format!("expected a number, found '{text}'")),
        Expression::Binary(_, sides) => check(&sides.0).and_then(|()| check(&sides.1)),
        Expression::Call(name, arguments) => {
            let found = all().find(|function| function.name == name);
            let Some(function) = found else { return Err(format!("no function `{name}`")) };
            let (least, most) = (function.parameters.len(), function.repeats);
            if arguments.len() < least || (arguments.len() > least && !most) {
                return Err(format!(
                    "{name}: expected {least} arguments, found {}",
                    arguments.len()
                ));
            }
            let kinds =
                function.parameters.iter().chain(function.parameters.last().into_iter().cycle());
            for (argument, kind) in arguments.iter().zip(kinds) {
                match (argument, kind) {
                    (Expression::Text(_), Parameter::Text) => {}
                    (Expression::Text(text), Parameter::Number) => {
                        return Err(format!("{name}: expected a number, found '{text}'"));
                    }
                    (_, Parameter::Text) => return Err(format!("{name}: expected a text")),
                    (argument, Parameter::Number) => check(argument)?,
                }
            }
            Ok(())
        }
    }
}

/// The value of a checked expression.
pub(crate) fn evaluate(expression: &Expression, context: &Context<'_>) -> Outcome {
    match expression {
        Expression::Number(value) => Ok(Quantity::of(*value)),
        Expression::Text(text) => Err(Undecided::Reason(format!("'{text}' is no number"))),
        Expression::Binary(operator, sides) => {
            let (a, b) = (evaluate(&sides.0, context)?, evaluate(&sides.1, context)?);
            finite(a.combine(b, |a, b| operator.apply(a, b)))
        }
        Expression::Call(name, arguments) => {
            let found = all().find(|function| function.name == name);
            let Some(function) = found else {
                return Err(Undecided::Reason(format!("no function `{name}`")));
            };
            let mut given = Arguments::default();
            for argument in arguments {
                match argument {
                    Expression::Text(text) => given.texts.push(text.clone()),
                    number => given.numbers.push(evaluate(number, context)?),
                }
            }
            (function.run)(context, &given).and_then(finite)
        }
    }
}

fn finite(quantity: Quantity) -> Outcome {
    if quantity.value.is_finite() {
        return Ok(quantity);
    }
    Err(Undecided::Reason(format!("the formula gives {}", quantity.value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::parse;

    #[test]
    fn one_simulated_number_makes_a_formula_a_model_s() {
        for (text, want) in [
            ("160 * 1024 / 1280", Basis::Source),
            ("mean('idle', 'car') / mean('medium', 'car')", Basis::Source),
            ("powerd_decay('hadp', 'maximum')", Basis::Source),
            ("ramp_reach('default', 450) / 1000", Basis::Model),
            ("mean_of(1, job('tick-4', 'mean'))", Basis::Model),
        ] {
            assert_eq!(basis(&parse(text).unwrap()), want, "{text}");
        }
    }
}
