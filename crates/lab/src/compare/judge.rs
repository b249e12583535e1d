//! Whether a model agrees with a kernel: each figure beside what was seen of the other, and how far apart
//! they are.

use super::figures::{Figures, Quantity};
use flyball_sim::record::{Spread, spread};
use flyball_units::Nanos;
use serde::Serialize;
use std::collections::BTreeSet;

/// Percent of the time that shares may lie apart.
pub const POINTS: f64 = 5.0;

/// What is busy, or runs, for less of the time than this on both sides, in percent, is left out: it
/// would agree whatever the model did.
pub const LEAST_SHARE: f64 = 1.0;

/// How far apart the two may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    /// Percent of the board's figure.
    Percent(f64),
    /// Percent of the board's figure, or a tick of the kernel.
    PercentOrTick(f64),
    /// Percentage points.
    Points(f64),
}

impl Quantity {
    /// The bar of such a figure.
    fn bar(&self) -> Bar {
        match self {
            Quantity::Response { percentile: 50, .. } => Bar::Percent(5.0),
            Quantity::Response { .. } => Bar::Percent(10.0),
            Quantity::TimeToUtilization { .. } => Bar::PercentOrTick(5.0),
            Quantity::TimeToSpeed { .. } => Bar::Percent(15.0),
            Quantity::BusyFrequency { .. } => Bar::Percent(3.0),
            Quantity::BusyPower { .. } => Bar::Percent(5.0),
            Quantity::BusyResidency { .. } | Quantity::Running { .. } => Bar::Points(POINTS),
        }
    }

    /// What of several runs is held against it: of times the median, of the rest the mean.
    fn typical(&self, spread: &Spread) -> f64 {
        match self {
            Quantity::Response { .. } | Quantity::TimeToUtilization { .. } => spread.median,
            _ => spread.mean,
        }
    }
}

/// How the two stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// The distance is within the bar.
    Agrees,
    /// It is not.
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
    /// From the board's median or mean to the model's: percent of the board's, or points where the
    /// bar is in points. None where one of them never came to be.
    pub distance: Option<f64>,
    /// What it may be.
    pub bar: Bar,
    /// What becomes of it.
    pub agreement: Agreement,
}

/// Sets the figures of the board beside those of the model, in the order of [`Quantity`], and says
/// whether they agree; `alone` is shown beside them. `tick` is the kernel's. Left out is what hardly
/// is on either side ([`LEAST_SHARE`]).
pub fn judge(board: &[Figures], model: &[Figures], alone: &[Figures], tick: Nanos) -> Vec<Line> {
    let quantities: BTreeSet<&Quantity> =
        board.iter().chain(model).flat_map(|figures| figures.keys()).collect();
    let sides = [board, model];
    let counts = |quantity: &&&Quantity| match quantity {
        Quantity::BusyFrequency { domain } | Quantity::BusyPower { domain } => {
            let busy = |of: &[Figures]| {
                mean_of(
                    of,
                    |q| matches!(q, Quantity::BusyResidency { domain: own, .. } if own == domain),
                )
            };
            sides.into_iter().any(|side| busy(side) >= LEAST_SHARE)
        }
        Quantity::BusyResidency { .. } | Quantity::Running { .. } => {
            sides.into_iter().any(|side| mean_of(side, |q| q == **quantity) >= LEAST_SHARE)
        }
        // A light task never comes to the high frequencies, whatever the model did.
        Quantity::TimeToSpeed { .. } => {
            let mut came = sides.into_iter().flatten().filter_map(|figures| figures.get(quantity));
            came.any(Option::is_some)
        }
        Quantity::Response { .. } | Quantity::TimeToUtilization { .. } => true,
    };
    let counted = quantities.iter().filter(counts);
    counted.map(|quantity| line(quantity, [board, model, alone], tick)).collect()
}

/// Mean over runs of the sum of the figures that are `wanted`.
fn mean_of(runs: &[Figures], wanted: impl Fn(&Quantity) -> bool) -> f64 {
    let all = runs.iter().flatten().filter(|(quantity, _)| wanted(quantity));
    all.filter_map(|(_, value)| *value).sum::<f64>() / runs.len().max(1) as f64
}

fn line(quantity: &Quantity, [board, model, alone]: [&[Figures]; 3], tick: Nanos) -> Line {
    let bar = quantity.bar();
    let of = |spread| quantity.typical(spread);
    // A share that one of them never names is none of the time there.
    let absent = matches!(bar, Bar::Points(_)).then_some(0.0);
    let values = |of: &[Figures]| -> Vec<Option<f64>> {
        of.iter().map(|figures| figures.get(quantity).copied().unwrap_or(absent)).collect()
    };
    let (board, model, alone) = (values(board), values(model), values(alone));
    let never = |values: &[Option<f64>]| values.iter().filter(|value| value.is_none()).count();
    let (board_never, model_never) = (never(&board), never(&model));
    let (of_board, of_model) =
        (spread(board.iter().copied().flatten()), spread(model.iter().copied().flatten()));
    let both =
        of_board.as_ref().zip(of_model.as_ref()).map(|(board, model)| (of(board), of(model)));
    let percent = |(board, model): (f64, f64)| match model - board {
        0.0 => 0.0,
        apart => 100.0 * apart / board,
    };
    let distance = both.map(|both| match bar {
        Bar::Points(_) => both.1 - both.0,
        Bar::Percent(_) | Bar::PercentOrTick(_) => percent(both),
    });
    let near = both.zip(distance).map(|((board, model), distance)| match bar {
        Bar::Points(bar) | Bar::Percent(bar) => distance.abs() <= bar,
        Bar::PercentOrTick(bar) => distance.abs() <= bar || (model - board).abs() <= tick.0 as f64,
    });
    // What comes in some runs only, must in some phases only.
    let agrees = match near {
        Some(near) => near && (board_never == 0) == (model_never == 0),
        None => of_board.is_none() && of_model.is_none(),
    };
    Line {
        quantity: quantity.clone(),
        board: of_board,
        board_never,
        model: of_model,
        model_never,
        alone: spread(alone.iter().copied().flatten()),
        alone_never: never(&alone),
        distance: distance.filter(|distance| distance.is_finite()),
        bar,
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
        Figures::from([(Quantity::BusyResidency { domain, khz: 600_000 }, Some(value))])
    }

    #[test]
    fn a_speed_that_neither_comes_to_says_nothing() {
        let time = |value: Option<f64>| {
            let task = "frames".to_owned();
            Figures::from([(Quantity::TimeToSpeed { task, percent: 80 }, value)])
        };
        assert_eq!(judge(&[time(None)], &[time(None)], &[], TICK), []);
        assert_eq!(agreement(&[time(None)], &[time(Some(9e6))]), Agreement::Differs);
        assert_eq!(agreement(&[time(Some(1e7))], &[time(Some(1.149e7))]), Agreement::Agrees);
        assert_eq!(agreement(&[time(Some(1e7))], &[time(Some(8.49e6))]), Agreement::Differs);
        assert_eq!(agreement(&[time(Some(0.0))], &[time(Some(0.0))]), Agreement::Agrees);
        assert_eq!(agreement(&[time(Some(0.0))], &[time(Some(1.0))]), Agreement::Differs);
    }

    fn agreement(board: &[Figures], model: &[Figures]) -> Agreement {
        judge(board, model, &[], TICK)[0].agreement
    }

    #[test]
    fn a_median_time_must_lie_within_a_tick_or_five_percent_however_wide_the_range() {
        let board = [time(Some(50e6)), time(Some(100e6)), time(Some(300e6))];
        let model = |ms: f64| [time(Some(ms * 1e6))];
        assert_eq!(agreement(&board, &model(95.5)), Agreement::Agrees);
        assert_eq!(agreement(&board, &model(104.9)), Agreement::Agrees);
        assert_eq!(agreement(&board, &model(106.0)), Agreement::Differs);
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
        let line = &judge(&board, &[share(50.1)], &[], TICK)[0];
        assert!((line.distance.unwrap() - 5.1).abs() < 1e-9 && line.bar == Bar::Points(5.0));
    }

    #[test]
    fn what_hardly_is_says_nothing() {
        assert_eq!(judge(&[share(0.4), share(1.2)], &[share(0.9)], &[], TICK), []);
        assert_eq!(judge(&[share(0.4)], &[share(1.0)], &[], TICK).len(), 1);
        let idle = |khz: f64| {
            let domain = "big".to_owned();
            let mut figures = share(0.1);
            figures.insert(Quantity::BusyFrequency { domain }, Some(khz));
            figures
        };
        assert_eq!(judge(&[idle(600_000.0)], &[idle(1_200_000.0)], &[], TICK), []);
    }

    #[test]
    fn responses_have_a_bar_each() {
        let response = |percentile, us: f64| {
            let task = "frames".to_owned();
            Figures::from([(Quantity::Response { task, percentile }, Some(us * 1e3))])
        };
        for (percentile, near, far) in [(50, 1049.0, 1051.0), (99, 1099.0, 1101.0)] {
            let board = [response(percentile, 1000.0)];
            assert_eq!(agreement(&board, &[response(percentile, near)]), Agreement::Agrees);
            assert_eq!(agreement(&board, &[response(percentile, far)]), Agreement::Differs);
        }
    }
}
