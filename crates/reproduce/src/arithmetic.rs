//! Numbers that follow from other numbers.

use crate::context::Context;
use crate::function::Parameter::{Number, Text};
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};

/// The functions of this room.
pub(crate) const FUNCTIONS: &[Function] = &[
    function("published", &[Text], "the published number of an id", published),
    Function {
        repeats: true,
        ..function("mean_of", &[Number], "arithmetic mean of its arguments", |_, given| {
            fold(given, |values| values.iter().sum::<f64>() / values.len() as f64)
        })
    },
    Function {
        repeats: true,
        ..function("min_of", &[Number], "smallest of its arguments", |_, given| {
            fold(given, |values| values.iter().copied().fold(f64::INFINITY, f64::min))
        })
    },
    Function {
        repeats: true,
        ..function("max_of", &[Number], "largest of its arguments", |_, given| {
            fold(given, |values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        })
    },
    function("truncate", &[Number, Number], "a number cut to so many decimals", truncate),
    function(
        "published_max",
        &[Text],
        "largest published number whose id starts with the text",
        published_max,
    ),
];

fn published(context: &Context<'_>, given: &Arguments) -> Outcome {
    let id = given.text(0)?;
    let entry = context.catalogue.get(id);
    let entry = entry.ok_or_else(|| Undecided::Reason(format!("no published number {id}")))?;
    Ok(Quantity::of(entry.published.value))
}

fn published_max(context: &Context<'_>, given: &Arguments) -> Outcome {
    let prefix = given.text(0)?;
    let of_prefix = context.catalogue.entries.iter().filter(|entry| entry.id.starts_with(prefix));
    let values: Vec<f64> = of_prefix.map(|entry| entry.published.value).collect();
    let largest = values.into_iter().reduce(f64::max);
    let missing = || Undecided::Reason(format!("no published number {prefix}*"));
    largest.map(Quantity::of).ok_or_else(missing)
}

/// Notes and fitted constants of the arguments go along; ranges do not.
fn fold(given: &Arguments, apply: impl Fn(&[f64]) -> f64) -> Outcome {
    let values: Vec<f64> = given.numbers().iter().map(|quantity| quantity.value).collect();
    let mut result = Quantity::of(apply(&values));
    for quantity in given.numbers() {
        if let Some(fitted) = &quantity.fitted {
            result = result.fitted(fitted.clone());
        }
        if let Some(note) = &quantity.note {
            result = result.note(note.clone());
        }
    }
    Ok(result)
}

fn truncate(_: &Context<'_>, given: &Arguments) -> Outcome {
    let scale = 10f64.powf(given.number(1)?);
    // The noise keeps 12.5 * 100 from being cut to 1249.
    Ok(Quantity::of((given.number(0)? * scale + 1e-9).floor() / scale))
}
