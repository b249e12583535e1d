//! The functions that a catalogue's `how` may call, by name, with their parameters checked.

use crate::context::Context;
use crate::expression::Expression;
use crate::function::{Arguments, Function, Parameter};
use crate::quantity::{Outcome, Quantity, Undecided};

/// What an evaluator rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// The source's own recordings, its printed numbers, or its formulas and rules carried out.
    Source,
    /// A simulated machine: what it leaves out may be why ours differs.
    Model,
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
