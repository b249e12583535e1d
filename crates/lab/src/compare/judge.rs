//! Whether a model agrees with a kernel: each figure of the one within what was seen of the other.

use super::figures::{Figures, Quantity};
use flyball_sim::record::{Spread, spread};
use flyball_units::Nanos;
use serde::Serialize;
use std::collections::BTreeSet;

/// Percent of the time that shares may lie apart.
pub const POINTS: f64 = 5.0;

/// How the two stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// The model's median time lies within the board's range, widened by a tick; its mean share lies
    /// within [`POINTS`] of the board's.
    Agrees,
    /// It does not.
    Differs,
}

/// One figure of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// What it is.
    #[serde(flatten)]
    pub quantity: Quantity,
    /// Over the board's playings; None where it never came to be.
    pub board: Option<Spread>,
    /// Playings in which it never came to be.
    pub board_never: usize,
    /// Over the model's phases.
    pub model: Option<Spread>,
    /// Phases in which it never came to be.
    pub model_never: usize,
    /// Over the phases of a model that was given nothing of the guest.
    pub alone: Option<Spread>,
    /// Of those, the ones in which it never came to be.
    pub alone_never: usize,
    /// What becomes of it.
    pub agreement: Agreement,
}

/// Sets the figures of the board beside those of the model, in the order of [`Quantity`], and says
/// whether they agree; `alone` is shown beside them. `tick` is the kernel's.
pub fn judge(board: &[Figures], model: &[Figures], alone: &[Figures], tick: Nanos) -> Vec<Line> {
    let quantities: BTreeSet<&Quantity> =
        board.iter().chain(model).flat_map(|figures| figures.keys()).collect();
    quantities.into_iter().map(|quantity| line(quantity, [board, model, alone], tick)).collect()
}

fn line(quantity: &Quantity, [board, model, alone]: [&[Figures]; 3], tick: Nanos) -> Line {
    // An operating point that one of them never names was never in force there.
    let absent = match quantity {
        Quantity::TimeToUtilization { .. } => None,
        Quantity::Residency { .. } | Quantity::BusyResidency { .. } | Quantity::Running { .. } => {
            Some(0.0)
        }
    };
    let values = |of: &[Figures]| -> Vec<Option<f64>> {
        of.iter().map(|figures| figures.get(quantity).copied().unwrap_or(absent)).collect()
    };
    let (board, model, alone) = (values(board), values(model), values(alone));
    let never = |values: &[Option<f64>]| values.iter().filter(|value| value.is_none()).count();
    let (board_never, model_never) = (never(&board), never(&model));
    let (of_board, of_model) =
        (spread(board.iter().copied().flatten()), spread(model.iter().copied().flatten()));
    let agrees = match (&of_board, &of_model) {
        (None, None) => true,
        (Some(board), Some(model)) => match quantity {
            Quantity::TimeToUtilization { .. } => {
                let tick = tick.0 as f64;
                let range = board.min - tick..=board.max + tick;
                // What comes in some runs only, must in some phases only.
                range.contains(&model.median) && (board_never == 0) == (model_never == 0)
            }
            Quantity::Residency { .. }
            | Quantity::BusyResidency { .. }
            | Quantity::Running { .. } => (board.mean - model.mean).abs() <= POINTS,
        },
        _ => false,
    };
    Line {
        quantity: quantity.clone(),
        board: of_board,
        board_never,
        model: of_model,
        model_never,
        alone: spread(alone.iter().copied().flatten()),
        alone_never: never(&alone),
        agreement: if agrees { Agreement::Agrees } else { Agreement::Differs },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Nanos = Nanos::from_millis(4);

    fn time(value: Option<f64>) -> Figures {
        let task = "rampup".to_owned();
        Figures::from([(Quantity::TimeToUtilization { task, level: 450 }, value)])
    }

    fn share(value: f64) -> Figures {
        let domain = "big".to_owned();
        Figures::from([(Quantity::Residency { domain, khz: 600_000 }, Some(value))])
    }

    fn agreement(board: &[Figures], model: &[Figures]) -> Agreement {
        judge(board, model, &[], TICK)[0].agreement
    }

    #[test]
    fn a_time_must_lie_in_the_range_widened_by_a_tick() {
        let board = [time(Some(100e6)), time(Some(110e6))];
        let model = |ms: f64| [time(Some(ms * 1e6))];
        assert_eq!(agreement(&board, &model(96.5)), Agreement::Agrees);
        assert_eq!(agreement(&board, &model(114.5)), Agreement::Differs);
        assert_eq!(agreement(&board, &[time(None)]), Agreement::Differs);
        assert_eq!(agreement(&[time(None)], &[time(None)]), Agreement::Agrees);
        let sometimes = [time(Some(100e6)), time(None)];
        assert_eq!(agreement(&sometimes, &model(100.0)), Agreement::Differs);
    }

    #[test]
    fn a_share_must_lie_within_five_points_of_the_mean() {
        let board = [share(40.0), share(50.0)];
        assert_eq!(agreement(&board, &[share(49.9)]), Agreement::Agrees);
        assert_eq!(agreement(&board, &[share(50.1)]), Agreement::Differs);
        assert_eq!(agreement(&board, &[Figures::new()]), Agreement::Differs, "never there: 0");
    }
}
