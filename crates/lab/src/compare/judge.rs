//! Whether a model agrees with a kernel: each figure beside what was seen of the other, and how far apart
//! they are.

use super::cause::Because;
use super::chance;
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
    pub(super) fn bar(&self) -> Bar {
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
    pub(super) fn typical(&self, runs: &[Option<f64>]) -> Option<f64> {
        let spread = spread_of(runs)?;
        Some(if self.is_by_median() { spread.median } else { spread.mean })
    }

    /// Whether what is typical of several runs is their median.
    pub(super) fn is_by_median(&self) -> bool {
        matches!(self, Quantity::Response { .. } | Quantity::TimeToUtilization { .. })
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
    /// Half the 95 % interval of the distance, in its unit: each playing beside the phases that were given it
    /// is one value. None of a single playing, or where fewer than two have the figure.
    pub plus_minus: Option<f64>,
    /// What the distance may be.
    pub bar: Bar,
    /// What becomes of it.
    pub agreement: Agreement,
    /// The interval reaches over the bar, so that with other playings it may be the other way.
    pub chance: bool,
    /// Share of the ways to halve the board's playings in which one half agrees with the other.
    pub among_playings: Option<f64>,
    /// Where it differs, what that comes from, if that was tried.
    pub because: Option<Because>,
}

/// What is set beside each other, each by runs.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// The playings on the board.
    pub board: &'a [Figures],
    /// The model's phases.
    pub model: &'a [Figures],
    /// Phases of a model that was given nothing of the guest.
    pub alone: &'a [Figures],
    /// The model's phases are these playings in turn.
    pub again: bool,
}

/// Sets the figures of the board beside those of the model, in the order of [`Quantity`], and says
/// whether they agree. `tick` is the kernel's. Left out is what hardly is on either side ([`LEAST_SHARE`]).
pub fn judge(of: Sides<'_>, tick: Nanos) -> Vec<Line> {
    let Sides { board, model, .. } = of;
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
    counted.map(|quantity| line(quantity, of, tick)).collect()
}

/// Mean over runs of the sum of the figures that are `wanted`.
fn mean_of(runs: &[Figures], wanted: impl Fn(&Quantity) -> bool) -> f64 {
    let all = runs.iter().flatten().filter(|(quantity, _)| wanted(quantity));
    all.filter_map(|(_, value)| *value).sum::<f64>() / runs.len().max(1) as f64
}

fn line(quantity: &Quantity, of: Sides<'_>, tick: Nanos) -> Line {
    let bar = quantity.bar();
    let values = |of| values(quantity, of);
    let (board, model, alone) = (values(of.board), values(of.model), values(of.alone));
    let apart = Apart::of(quantity, &board, &model);
    let plus_minus = chance::plus_minus(quantity, &board, &model, of.again);
    Line {
        quantity: quantity.clone(),
        board: spread_of(&board),
        board_never: never(&board),
        model: spread_of(&model),
        model_never: never(&model),
        alone: spread_of(&alone),
        alone_never: never(&alone),
        distance: apart.distance.filter(|distance| distance.is_finite()),
        plus_minus,
        bar,
        agreement: apart.agreement(tick),
        chance: chance::may_be(&apart, plus_minus, tick),
        among_playings: chance::among(quantity, &board, tick),
        because: None,
    }
}

/// A figure by runs.
fn values(quantity: &Quantity, of: &[Figures]) -> Vec<Option<f64>> {
    // A share that one of them never names is none of the time there.
    let absent = matches!(quantity.bar(), Bar::Points(_)).then_some(0.0);
    of.iter().map(|figures| figures.get(quantity).copied().unwrap_or(absent)).collect()
}

/// One side's figure beside the other's.
pub(super) struct Apart {
    bar: Bar,
    /// What is typical of the board and of the model, where both have it.
    both: Option<(f64, f64)>,
    /// From the board to the model, in the unit of the bar.
    pub(super) distance: Option<f64>,
    /// On neither side, or on both, some runs are without it.
    alike: bool,
}

impl Apart {
    pub(super) fn of(quantity: &Quantity, board: &[Option<f64>], model: &[Option<f64>]) -> Apart {
        let bar = quantity.bar();
        let both = quantity.typical(board).zip(quantity.typical(model));
        // What comes in some runs only, must in some phases only.
        let alike = match both {
            Some(_) => (never(board) == 0) == (never(model) == 0),
            None => board.iter().chain(model).all(Option::is_none),
        };
        Apart { bar, both, distance: both.map(|both| bar.distance(both)), alike }
    }

    /// The same of all figures of both.
    pub(super) fn of_figures(quantity: &Quantity, board: &[Figures], model: &[Figures]) -> Apart {
        Apart::of(quantity, &values(quantity, board), &values(quantity, model))
    }

    /// How far the distance may be from 0, in its unit.
    pub(super) fn allowed(&self, tick: Nanos) -> f64 {
        let ticks = self.both.map_or(0.0, |(board, _)| 100.0 * tick.0 as f64 / board.abs());
        match self.bar {
            Bar::Points(bar) | Bar::Percent(bar) => bar,
            Bar::PercentOrTick(bar) => bar.max(ticks),
        }
    }

    pub(super) fn agreement(&self, tick: Nanos) -> Agreement {
        let near = self.distance.is_none_or(|distance| distance.abs() <= self.allowed(tick));
        if near && self.alike { Agreement::Agrees } else { Agreement::Differs }
    }
}

impl Bar {
    /// From the board's figure to the model's: percent of the board's, or points.
    pub(super) fn distance(self, (board, model): (f64, f64)) -> f64 {
        match (self, model - board) {
            (Bar::Points(_), apart) => apart,
            (_, 0.0) => 0.0,
            (_, apart) => 100.0 * apart / board,
        }
    }
}

fn never(values: &[Option<f64>]) -> usize {
    values.iter().filter(|value| value.is_none()).count()
}

fn spread_of(values: &[Option<f64>]) -> Option<Spread> {
    spread(values.iter().copied().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(board: &[Figures], model: &[Figures]) -> Vec<Line> {
        judge(Sides { board, model, alone: &[], again: true }, TICK)
    }

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
        assert_eq!(judged(&[time(None)], &[time(None)]), []);
        assert_eq!(agreement(&[time(None)], &[time(Some(9e6))]), Agreement::Differs);
        assert_eq!(agreement(&[time(Some(1e7))], &[time(Some(1.149e7))]), Agreement::Agrees);
        assert_eq!(agreement(&[time(Some(1e7))], &[time(Some(8.49e6))]), Agreement::Differs);
        assert_eq!(agreement(&[time(Some(0.0))], &[time(Some(0.0))]), Agreement::Agrees);
        assert_eq!(agreement(&[time(Some(0.0))], &[time(Some(1.0))]), Agreement::Differs);
    }

    fn agreement(board: &[Figures], model: &[Figures]) -> Agreement {
        judged(board, model)[0].agreement
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
        let line = &judged(&board, &[share(50.1)])[0];
        assert!((line.distance.unwrap() - 5.1).abs() < 1e-9 && line.bar == Bar::Points(5.0));
    }

    #[test]
    fn what_hardly_is_says_nothing() {
        assert_eq!(judged(&[share(0.4), share(1.2)], &[share(0.9)]), []);
        assert_eq!(judged(&[share(0.4)], &[share(1.0)]).len(), 1);
        let idle = |khz: f64| {
            let domain = "big".to_owned();
            let mut figures = share(0.1);
            figures.insert(Quantity::BusyFrequency { domain }, Some(khz));
            figures
        };
        assert_eq!(judged(&[idle(600_000.0)], &[idle(1_200_000.0)]), []);
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
